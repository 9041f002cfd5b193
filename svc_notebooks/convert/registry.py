"""The conversion registry, which maps a native type and a media type to a function and its required engines.

A reader takes the source's bytes and a job and returns a model. A writer takes a model and a job and returns bytes.
Each class in `MODELS` has the methods `pack`, which serializes a document to the bytes that the service stores, and
`unpack`, which restores the document. A class that is called without arguments returns an empty document.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from ..core.http import media_types as formats
from .engines import available as engine
from .input.detect import detect_binary
from .job import ConversionError, Job


@dataclass(frozen=True, slots=True)
class Conversion:
    """A conversion of a native type from or to a media type. `function` is "module:name" in the package `convert`."""

    native: str
    media_type: str
    function: str
    needs: tuple[engine.Engine, ...] = ()

    @property
    def missing_engine(self) -> engine.Engine | None:
        """The first missing engine, or None if all engines that this conversion needs are available."""
        return next((engine for engine in self.needs if not engine.is_available()), None)

    @property
    def is_available(self) -> bool:
        """True if no engine is missing."""
        return self.missing_engine is None


def load(name: str) -> Any:
    """Import the attribute "module:name". A module name with a leading dot is relative to the package `convert`."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module, __package__), attribute)


MODELS = {
    "document": "document.model:Document", "spreadsheet": "spreadsheet.model:Workbook",
    "presentation": "presentation.model:Presentation",
    "drawing": "drawing.model:Drawing", "script": "script:ScriptProject",
}  # fmt: skip

# fmt: off
_READERS: tuple[tuple[str, str, str, str], ...] = (
    # native,       media type,                      function,                             needs
    ("document",     formats.DOCX,                    "document.read:docx",                 "PANDOC"),
    ("document",     "application/msword",            "document.read:doc",                  "OFFICE PANDOC"),
    ("document",     formats.ODT,                     "document.read:odt",                  "PANDOC LXML"),
    ("document",     formats.HTML,                    "document.read:html",                 "PANDOC LXML"),
    ("document",     formats.RTF,                     "document.read:rtf",                  "PILLOW"),
    ("document",     formats.TEXT,                    "document.read:text",                 ""),
    ("document",     formats.MARKDOWN,                "document.read:markdown",             "PANDOC"),
    ("spreadsheet",  formats.XLSX,                    "spreadsheet.xls:read_xlsx",          ""),
    ("spreadsheet",  "application/vnd.ms-excel",      "spreadsheet.xls:read_by_signature",  "XLRD"),
    ("spreadsheet",  formats.ODS,                     "spreadsheet.xls:read_ods",           ""),
    ("spreadsheet",  formats.CSV,                     "spreadsheet.delimited:read_csv",     ""),
    ("spreadsheet",  formats.TSV,                     "spreadsheet.delimited:read_tsv",     ""),
    ("spreadsheet",  formats.TEXT,                    "spreadsheet.delimited:read_tsv",     ""),
    ("presentation", formats.PPTX,                    "presentation.pptx.read:read",        "PYTHON_PPTX PILLOW"),
    ("presentation", "application/vnd.ms-powerpoint", "presentation.pptx.read:read_ppt",   "OFFICE PYTHON_PPTX PILLOW"),
    ("presentation", formats.ODP,                     "presentation.odp.read:read",         "LXML PILLOW"),
    ("document",     formats.JPEG,                    "document.scanned_pages:picture",     "PILLOW"),
    ("document",     formats.PNG,                     "document.scanned_pages:picture",     "PILLOW"),
    ("document",     "image/gif",                     "document.scanned_pages:picture",     "PILLOW"),
    ("document",     "image/bmp",                     "document.scanned_pages:picture",     "PILLOW"),
    ("document",     formats.PDF,                     "document.scanned_pages:pdf",         "PDFIUM PILLOW"),
    ("script",       formats.SCRIPT_TEXT,             "script:read_text",                   ""),
    ("script",       formats.JSON,                    "script:read_json",                   ""),
    ("drawing",      formats.SVG,                     "drawing.read:read",                  "LXML TINYCSS2"),
)

_WRITERS: tuple[tuple[str, str, str, str], ...] = (
    ("document",     formats.HTML,                    "document.write:html",                "PANDOC"),
    ("document",     formats.ZIP,                     "document.write:zipped_html",         "PANDOC"),
    ("document",     formats.TEXT,                    "document.write:text",                "PANDOC"),
    ("document",     formats.RTF,                     "document.write:rtf",                 "PANDOC"),
    ("document",     formats.ODT,                     "document.write:odt",                 "PANDOC"),
    ("document",     formats.PDF,                     "document.pdf:write",                 "TYPST"),
    ("document",     formats.DOCX,                    "document.write:docx",                "PANDOC"),
    ("document",     formats.EPUB,                    "document.write:epub",                "PANDOC"),
    ("document",     formats.MARKDOWN,                "document.write:markdown",            "PANDOC"),
    ("spreadsheet",  formats.XLSX,                    "spreadsheet.xlsx.write:write",       "XLSXWRITER"),
    ("spreadsheet",  formats.X_ODS,                   "spreadsheet.ods.write:write",        ""),
    ("spreadsheet",  formats.ODS,                     "spreadsheet.ods.write:write",        ""),
    ("spreadsheet",  formats.PDF,                     "spreadsheet.pages:write_pdf",        "TYPST"),
    ("spreadsheet",  formats.CSV,                     "spreadsheet.delimited:write_csv",    ""),
    ("spreadsheet",  formats.TSV,                     "spreadsheet.delimited:write_tsv",    ""),
    ("spreadsheet",  formats.ZIP,                     "spreadsheet.pages:write_html",       ""),
    ("drawing",      formats.JPEG,                    "drawing.model:jpeg",                 "LXML TYPST PILLOW"),
    ("drawing",      formats.PNG,                     "drawing.model:png",                  "LXML TYPST"),
    ("drawing",      formats.SVG,                     "drawing.model:svg",                  "LXML"),
    ("drawing",      formats.PDF,                     "drawing.model:pdf",                  "LXML TYPST"),
    ("presentation", formats.PPTX,                    "presentation.pptx.write:write",      "PYTHON_PPTX"),
    ("presentation", formats.ODP,                     "presentation.odp.write:write",       ""),
    ("presentation", formats.PDF,                     "presentation.pages:write_pdf",       "TYPST"),
    ("presentation", formats.TEXT,                    "presentation.pages:write_text",      ""),
    ("script",       formats.SCRIPT_JSON,             "script:write_json",                  ""),
)
# fmt: on


def importers(*, extended: bool = False) -> tuple[Conversion, ...]:
    """Return the available conversions to native types, including extended formats if `extended` is true."""
    return tuple(conversion for conversion in readers(extended=extended).values() if conversion.is_available)


def exporters(*, extended: bool = False) -> tuple[Conversion, ...]:
    """Return the available conversions to export formats, including extended formats if `extended` is true."""
    return tuple(conversion for conversion in writers(extended=extended).values() if conversion.is_available)


def _engines(names: str) -> tuple[engine.Engine, ...]:
    return tuple(getattr(engine, name) for name in names.split())


@cache
def readers(*, extended: bool) -> dict[tuple[str, str], Conversion]:
    """Return all conversions to native types by (native type, media type), including those that lack an engine."""
    return {
        (native, media_type): Conversion(native, media_type, function, _engines(needs))
        for native, media_type_key, function, needs in _READERS
        for row in formats.IMPORTS
        if row.native == native and media_type_key in row.media_types and (extended or not row.extended)
        for media_type in row.media_types
    }


@cache
def writers(*, extended: bool) -> dict[tuple[str, str], Conversion]:
    """Return all conversions to export formats by (native type, media type), including those that lack an engine."""
    offered = {(row.native, row.media_type) for row in formats.EXPORTS if extended or not row.extended}
    return {row[:2]: Conversion(*row[:3], _engines(row[3])) for row in _WRITERS if row[:2] in offered}


_TITLES = {media_type: row.title for row in formats.IMPORTS for media_type in row.media_types} | {
    "": "binary data", formats.ZIP: "a zip archive", "application/gzip": "compressed (gzip)"
}  # fmt: skip
_CAN_BE_EMPTY = frozenset({"HTML", "Plain text", "Markdown", "CSV", "TSV", "Plain text of a script"})


def reader_for(source: bytes, native: str, function: str, job: Job) -> str:
    """Return the reader of a source, which is `function` unless the declared media type of the source is wrong.

    Adds a note about the other format. Raises ConversionError if no reader converts the format to this native
    type, and if the source is empty although the format does not allow it.
    """
    title = _TITLES.get(job.media_type, job.media_type)
    if not source and title not in _CAN_BE_EMPTY:
        raise ConversionError(f"the file is empty, and {title} cannot be empty; upload it without conversion.")
    is_text = title in _CAN_BE_EMPTY or title in ("JSON", "SVG")
    actual = detect_binary(source, may_be_text=is_text)
    conversion = None if actual is None else readers(extended=True).get((native, actual))
    if actual is None:
        return function
    if actual == formats.RTF if is_text else not conversion and _may_be_declared(source, actual, job):
        return function
    message = f"the file is {_TITLES.get(actual, actual)}, not {title}"
    if conversion is None:
        natives = [f'with convert_to="{other}"' for other, it in readers(extended=True) if it == actual]
        raise ConversionError(f"{message}; upload it {', or '.join([*natives, 'without conversion'])}.")
    if (reader := f".{conversion.function}") == function:
        return function
    if engine := conversion.missing_engine:
        raise ConversionError(f"{message}; {engine.missing}")
    job.note(f"The file is {_TITLES[actual]}, not {title}, and was read as such.")
    return reader


def _may_be_declared(source: bytes, actual: str, job: Job) -> bool:
    """Return whether content of an unknown or similar format is left to the reader of the declared media type."""
    is_office = actual not in _TITLES and source.startswith(b"PK") and job.media_type.startswith("application/vnd.")
    is_picture = actual.startswith("image/") and job.media_type.startswith("image/")
    return actual in ("", formats.ZIP) or is_office or is_picture
