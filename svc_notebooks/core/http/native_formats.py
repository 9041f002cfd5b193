"""The interface's tables of import and export formats (A5 and A7), which an installation may support in part.

`Names.native` makes media types from native types such as `document`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

NATIVES = ("document", "spreadsheet", "presentation", "drawing", "script")
"""The native types that have content."""

_OPENXML = "application/vnd.openxmlformats-officedocument."
_ODF = "application/vnd.oasis.opendocument."
_X_ODF = "application/x-vnd.oasis.opendocument."
DOCX = _OPENXML + "wordprocessingml.document"
XLSX = _OPENXML + "spreadsheetml.sheet"
PPTX = _OPENXML + "presentationml.presentation"
ODT = _ODF + "text"
ODS = _ODF + "spreadsheet"
ODP = _ODF + "presentation"
X_ODS = _X_ODF + "spreadsheet"
EPUB = "application/epub+zip"
ZIP = "application/zip"
PDF = "application/pdf"
RTF = "application/rtf"
HTML = "text/html"
TEXT = "text/plain"
CSV = "text/csv"
TSV = "text/tab-separated-values"
SVG = "image/svg+xml"
PNG = "image/png"
JPEG = "image/jpeg"
MARKDOWN = "text/markdown"
JSON = "application/json"
SCRIPT_JSON = "script+json"
"""The vendor type of a script project in JSON, without the brand's prefix."""
SCRIPT_TEXT = "script+text/plain"
"""The vendor type of a script as plain text, without the brand's prefix."""
VENDOR_TYPES = (SCRIPT_JSON, SCRIPT_TEXT)
"""Import and export formats with the brand in their media types, which are not native document types."""


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """An export format of a native type, as in table A7. `extended` formats are not in the interface."""

    native: str
    title: str
    extension: str
    media_type: str
    extended: bool = False


@dataclass(frozen=True, slots=True)
class ImportFormat:
    """A format that can be imported as a native type. `extended` formats are not in the interface.

    `by_extension` has the media types by file name extension, and `also` has further ones.
    """

    native: str
    title: str
    by_extension: Mapping[str, str]
    also: Sequence[str] = ()
    extended: bool = False

    @property
    def extensions(self) -> tuple[str, ...]:
        """The file name extensions, without the dot."""
        return tuple(self.by_extension)

    @property
    def media_types(self) -> tuple[str, ...]:
        """All media types of the format. The first one is usual."""
        return tuple(dict.fromkeys((*self.by_extension.values(), *self.also)))


_TABLES = json.loads((files(__package__) / "native_formats.json").read_text("utf-8"))
EXPORTS = tuple(ExportFormat(**fields) for fields in _TABLES["exports"])
IMPORTS = tuple(ImportFormat(**fields) for fields in _TABLES["imports"])

MAX_IMPORT_SIZES = {
    "document": 10_485_760,
    "spreadsheet": 104_857_600,
    "presentation": 104_857_600,
    "drawing": 2_097_152,
}
"""The maximum size in bytes of an imported file, by native type (about.maxImportSizes)."""
