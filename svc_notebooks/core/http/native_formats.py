"""The interface's tables of import and export formats (A5 and A7), which an installation may support in part.

`Names.native` makes media types from native types such as `document`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
    also: tuple[str, ...] = ()
    extended: bool = False

    @property
    def extensions(self) -> tuple[str, ...]:
        """The file name extensions, without the dot."""
        return tuple(self.by_extension)

    @property
    def media_types(self) -> tuple[str, ...]:
        """All media types of the format. The first one is usual."""
        return tuple(dict.fromkeys((*self.by_extension.values(), *self.also)))


def _open_document(extension: str, template: str, flat: str, media_type: str) -> dict[str, str]:
    return {extension: media_type, template: f"{media_type}-template", flat: f"{media_type}-flat-xml"}


# fmt: off
EXPORTS: tuple[ExportFormat, ...] = (
    ExportFormat("document",     "HTML",                     "html", HTML),
    ExportFormat("document",     "HTML (zipped)",            "zip",  ZIP),
    ExportFormat("document",     "Plain text",               "txt",  TEXT),
    ExportFormat("document",     "Rich text",                "rtf",  RTF),
    ExportFormat("document",     "Open Office doc",          "odt",  ODT),
    ExportFormat("document",     "PDF",                      "pdf",  PDF),
    ExportFormat("document",     "MS Word",                  "docx", DOCX),
    ExportFormat("document",     "EPUB",                     "epub", EPUB),
    ExportFormat("document",     "Markdown",                 "md",   MARKDOWN, extended=True),
    ExportFormat("spreadsheet",  "MS Excel",                 "xlsx", XLSX),
    ExportFormat("spreadsheet",  "Open Office sheet",        "ods",  X_ODS),
    ExportFormat("spreadsheet",  "Open Office sheet",        "ods",  ODS, extended=True),
    ExportFormat("spreadsheet",  "PDF",                      "pdf",  PDF),
    ExportFormat("spreadsheet",  "CSV (first sheet only)",   "csv",  CSV),
    ExportFormat("spreadsheet",  "TSV (first sheet only)",   "tsv",  TSV),
    ExportFormat("spreadsheet",  "HTML (zipped)",            "zip",  ZIP),
    ExportFormat("drawing",      "JPEG",                     "jpg",  JPEG),
    ExportFormat("drawing",      "PNG",                      "png",  PNG),
    ExportFormat("drawing",      "SVG",                      "svg",  SVG),
    ExportFormat("drawing",      "PDF",                      "pdf",  PDF),
    ExportFormat("presentation", "MS PowerPoint",            "pptx", PPTX),
    ExportFormat("presentation", "Open Office presentation", "odp",  ODP),
    ExportFormat("presentation", "PDF",                      "pdf",  PDF),
    ExportFormat("presentation", "Plain text",               "txt",  TEXT),
    ExportFormat("script",       "JSON",                     "json", SCRIPT_JSON),
)

IMPORTS: tuple[ImportFormat, ...] = (
    ImportFormat("document", "MS Word", {
        "docx": DOCX,
        "docm": "application/vnd.ms-word.document.macroenabled.12",
        "dotx": _OPENXML + "wordprocessingml.template",
        "dotm": "application/vnd.ms-word.template.macroenabled.12",
    }),
    ImportFormat("document", "MS Word 97 to 2003", dict.fromkeys(("doc", "dot"), "application/msword")),
    ImportFormat("document", "OpenDocument text", _open_document("odt", "ott", "fodt", ODT), (_X_ODF + "text",)),
    ImportFormat("document", "HTML", {"html": HTML, "htm": HTML}),
    ImportFormat("document", "Rich text", {"rtf": RTF}, ("text/rtf", "text/richtext")),
    ImportFormat("document", "Plain text", {"txt": TEXT}),
    ImportFormat("document", "Markdown", {"md": MARKDOWN}, ("text/x-markdown",), extended=True),
    ImportFormat("spreadsheet", "MS Excel", {
        "xlsx": XLSX,
        "xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
        "xltx": _OPENXML + "spreadsheetml.template",
        "xltm": "application/vnd.ms-excel.template.macroenabled.12",
    }),
    ImportFormat("spreadsheet", "MS Excel 97 to 2003", dict.fromkeys(("xls", "xlt"), "application/vnd.ms-excel")),
    ImportFormat("spreadsheet", "OpenDocument spreadsheet", _open_document("ods", "ots", "fods", ODS), (X_ODS,)),
    ImportFormat("spreadsheet", "CSV", {"csv": CSV}, ("text/comma-separated-values",)),
    ImportFormat("spreadsheet", "TSV", {"tsv": TSV, "tab": TSV}),
    ImportFormat("spreadsheet", "Plain text", {"txt": TEXT}),
    ImportFormat("presentation", "MS PowerPoint", {
        "pptx": PPTX,
        "pptm": "application/vnd.ms-powerpoint.presentation.macroenabled.12",
        "potx": _OPENXML + "presentationml.template",
        "potm": "application/vnd.ms-powerpoint.template.macroenabled.12",
        "ppsx": _OPENXML + "presentationml.slideshow",
        "ppsm": "application/vnd.ms-powerpoint.slideshow.macroenabled.12",
    }),
    ImportFormat(
        "presentation", "MS PowerPoint 97 to 2003",
        dict.fromkeys(("ppt", "pot", "pps"), "application/vnd.ms-powerpoint"),
    ),
    ImportFormat(
        "presentation", "OpenDocument presentation",
        _open_document("odp", "otp", "fodp", ODP), (_X_ODF + "presentation",),
    ),
    ImportFormat("document", "JPEG", {"jpg": JPEG, "jpeg": JPEG}, ("image/jpg", "image/pjpeg")),
    ImportFormat("document", "PNG", {"png": PNG}, ("image/x-png",)),
    ImportFormat("document", "GIF", {"gif": "image/gif"}),
    ImportFormat("document", "BMP", {"bmp": "image/bmp"}, ("image/x-bmp", "image/x-ms-bmp")),
    ImportFormat("document", "PDF", {"pdf": PDF}),
    ImportFormat("script", "Plain text of a script", {}, (SCRIPT_TEXT,)),
    ImportFormat("script", "JSON", {"json": JSON}, (SCRIPT_JSON,)),
    ImportFormat("drawing", "SVG", {"svg": SVG}),
)
# fmt: on

MAX_IMPORT_SIZES = {
    "document": 10_485_760,
    "spreadsheet": 104_857_600,
    "presentation": 104_857_600,
    "drawing": 2_097_152,
}
"""The maximum size in bytes of an imported file, by native type (about.maxImportSizes)."""
