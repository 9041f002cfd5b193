"""The media types that the interface names, with the tables of import and export formats (A5 and A7), of which an
installation may support a part; detects the type of content by the file name extension, then by the first bytes.

The machine's own tables are not used, so that a file has the same type everywhere. Unknown content, including plain
text without an extension, is application/octet-stream (U-03). `Names.native` makes media types from native types such
as `document`.
"""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

# The native types that have content.
NATIVES = ("document", "spreadsheet", "presentation", "drawing", "script")

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

# The vendor type of a script project in JSON, without the brand's prefix.
SCRIPT_JSON = "script+json"

# The vendor type of a script as plain text, without the brand's prefix.
SCRIPT_TEXT = "script+text/plain"

# Import and export formats with the brand in their media types, which are not native document types.
VENDOR_TYPES = (SCRIPT_JSON, SCRIPT_TEXT)


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

# The maximum size in bytes of an imported file, by native type (about.maxImportSizes).
MAX_IMPORT_SIZES = {
    "document": 10_485_760,
    "spreadsheet": 104_857_600,
    "presentation": 104_857_600,
    "drawing": 2_097_152,
}


# The media type of content that cannot be detected (U-03).
OCTET_STREAM = "application/octet-stream"

# The number of leading bytes that `sniff` needs.
SNIFFED_BYTES = 16

# fmt: off
SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-",               PDF),
    (b"\x89PNG\r\n\x1a\n",   PNG),
    (b"\xff\xd8\xff",        JPEG),
    (b"GIF87a",              "image/gif"),
    (b"GIF89a",              "image/gif"),
    (b"{\\rtf",              RTF),
    (b"PK\x03\x04",          ZIP),
    (b"\x1f\x8b",            "application/gzip"),
)

EXTENSIONS: dict[str, str] = {
    **{f".{name}": kind for row in IMPORTS for name, kind in row.by_extension.items()},
    ".epub":    EPUB,
    ".parquet": "application/vnd.apache.parquet",
    ".jsonl":   "application/jsonl",
    ".ndjson":  "application/x-ndjson",
    ".ipynb":   "application/x-ipynb+json",
    ".yaml":    "application/yaml",
    ".yml":     "application/yaml",
    ".gz":      "application/gzip",
    ".ics":     "text/calendar",
}
# fmt: on


@lru_cache(maxsize=1)
def _builtin_types() -> dict[str, str]:
    return mimetypes.MimeTypes(filenames=()).types_map[True]


def by_name(name: str) -> str | None:
    """Return the media type for a file name extension, or None if the extension is unknown.

    >>> by_name("survey.CSV"), by_name("README")
    ('text/csv', None)
    """
    dot = name.rfind(".")
    extension = name[dot:].lower() if dot > 0 else ""
    return EXTENSIONS.get(extension) or _builtin_types().get(extension)


def sniff(head: bytes) -> str | None:
    """Return the media type that the first bytes of content identify, or None if unknown.

    >>> sniff(b"%PDF-1.7 ..."), sniff(b"hello")
    ('application/pdf', None)
    """
    return next((media_type for mark, media_type in SIGNATURES if head.startswith(mark)), None)


def detect(name: str | None, head: bytes) -> str:
    """Return the media type by file name, else by the first bytes, else application/octet-stream."""
    return (name and by_name(name)) or sniff(head) or OCTET_STREAM


def extension_of(name: str) -> tuple[str, str]:
    """Return the last and the full extension of a file name without the leading dot, each "" if missing.

    >>> extension_of("data.tar.gz")
    ('gz', 'tar.gz')
    """
    stem, *parts = name.lstrip(".").split(".")
    return (parts[-1], ".".join(parts)) if parts and stem else ("", "")
