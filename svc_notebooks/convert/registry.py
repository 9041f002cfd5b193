"""The conversion registry, which maps a native type and a media type to a function and its required engines.

A reader takes the source's bytes and a job and returns a model. A writer takes a model and a job and returns bytes.
Each class in `MODELS` implements the protocol `Model`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from ..core.http.native_formats import (
    CSV,
    DOCX,
    EPUB,
    EXPORTS,
    HTML,
    IMPORTS,
    JPEG,
    JSON,
    MARKDOWN,
    ODP,
    ODS,
    ODT,
    PDF,
    PNG,
    PPTX,
    RTF,
    SCRIPT_JSON,
    SCRIPT_TEXT,
    SVG,
    TEXT,
    TSV,
    X_ODS,
    XLSX,
    ZIP,
)  # fmt: skip
from .engines.available import (
    LXML,
    OFFICE,
    PANDOC,
    PDFIUM,
    PILLOW,
    PYTHON_PPTX,
    TINYCSS2,
    TYPST,
    XLRD,
    XLSXWRITER,
    Engine,
)  # fmt: skip
from .input.detect import detect_binary
from .job import ConversionError, Job


class Model(Protocol):
    """The content of a native document. A model class called without arguments returns an empty document."""

    def pack(self) -> bytes:
        """Serialize the document to the bytes that the service stores."""

    @classmethod
    def unpack(cls, body: bytes) -> Model:
        """Restore the document from the bytes that `pack` returned."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """A conversion of a native type from or to a media type. `function` is "module:name" in the package `convert`."""

    native: str
    media_type: str
    function: str
    needs: tuple[Engine, ...] = ()

    @property
    def missing_engine(self) -> Engine | None:
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
    "document": "document.model:Document",
    "spreadsheet": "spreadsheet.model:Workbook",
    "presentation": "presentation.model:Deck",
    "drawing": "drawing:Drawing",
    "script": "script:Project",
}

_PPT_ENGINES = (OFFICE, PYTHON_PPTX, PILLOW)

# fmt: off
_READERS: tuple[tuple[str, str, str, tuple[Engine, ...]], ...] = (
    # native,       media type,                      function,                                needs
    ("document",     DOCX,                            "document.read:docx",                    (PANDOC,)),
    ("document",     "application/msword",            "document.read:doc",                     (OFFICE, PANDOC)),
    ("document",     ODT,                             "document.read:odt",                     (PANDOC, LXML)),
    ("document",     HTML,                            "document.read:html",                    (PANDOC, LXML)),
    ("document",     RTF,                             "document.read:rtf",                     (PILLOW,)),
    ("document",     TEXT,                            "document.read:text",                    ()),
    ("document",     MARKDOWN,                        "document.read:markdown",                (PANDOC,)),
    ("spreadsheet",  XLSX,                            "spreadsheet.sniff:read_xlsx",           ()),
    ("spreadsheet",  "application/vnd.ms-excel",      "spreadsheet.sniff:read_by_signature",   (XLRD,)),
    ("spreadsheet",  ODS,                             "spreadsheet.sniff:read_ods",            ()),
    ("spreadsheet",  CSV,                             "spreadsheet.text.read:read_csv",        ()),
    ("spreadsheet",  TSV,                             "spreadsheet.text.read:read_tsv",        ()),
    ("spreadsheet",  TEXT,                            "spreadsheet.text.read:read_tsv",        ()),
    ("presentation", PPTX,                            "presentation.pptx:read",                (PYTHON_PPTX, PILLOW)),
    ("presentation", "application/vnd.ms-powerpoint", "presentation.ppt:read",                 _PPT_ENGINES),
    ("presentation", ODP,                             "presentation.odp:read",                 (LXML, PILLOW)),
    ("document",     JPEG,                            "document.scanned_pages:picture",        (PILLOW,)),
    ("document",     PNG,                             "document.scanned_pages:picture",        (PILLOW,)),
    ("document",     "image/gif",                     "document.scanned_pages:picture",        (PILLOW,)),
    ("document",     "image/bmp",                     "document.scanned_pages:picture",        (PILLOW,)),
    ("document",     PDF,                             "document.scanned_pages:pdf",            (PDFIUM, PILLOW)),
    ("script",       SCRIPT_TEXT,                     "script:read_text",                      ()),
    ("script",       JSON,                            "script:read_json",                      ()),
    ("drawing",      SVG,                             "drawing:read",                          (LXML, TINYCSS2)),
)

_WRITERS: tuple[tuple[str, str, str, tuple[Engine, ...]], ...] = (
    ("document",     HTML,                            "document.write:html",                   (PANDOC,)),
    ("document",     ZIP,                             "document.write:zipped_html",            (PANDOC,)),
    ("document",     TEXT,                            "document.write:text",                   (PANDOC,)),
    ("document",     RTF,                             "document.write:rtf",                    (PANDOC,)),
    ("document",     ODT,                             "document.write:odt",                    (PANDOC,)),
    ("document",     PDF,                             "document.pdf:write",                    (TYPST,)),
    ("document",     DOCX,                            "document.write:docx",                   (PANDOC,)),
    ("document",     EPUB,                            "document.write:epub",                   (PANDOC,)),
    ("document",     MARKDOWN,                        "document.write:markdown",               (PANDOC,)),
    ("spreadsheet",  XLSX,                            "spreadsheet.xlsx.write:write",          (XLSXWRITER,)),
    ("spreadsheet",  X_ODS,                           "spreadsheet.ods.write:write",           ()),
    ("spreadsheet",  ODS,                             "spreadsheet.ods.write:write",           ()),
    ("spreadsheet",  PDF,                             "spreadsheet.pdf:write",                 (TYPST,)),
    ("spreadsheet",  CSV,                             "spreadsheet.text.write:write_csv",      ()),
    ("spreadsheet",  TSV,                             "spreadsheet.text.write:write_tsv",      ()),
    ("spreadsheet",  ZIP,                             "spreadsheet.html.write:write",          ()),
    ("drawing",      JPEG,                            "drawing:jpeg",                          (LXML, TYPST, PILLOW)),
    ("drawing",      PNG,                             "drawing:png",                           (LXML, TYPST)),
    ("drawing",      SVG,                             "drawing:svg",                           (LXML,)),
    ("drawing",      PDF,                             "drawing:pdf",                           (LXML, TYPST)),
    ("presentation", PPTX,                            "presentation.pptx:write",               (PYTHON_PPTX,)),
    ("presentation", ODP,                             "presentation.odp:write",                ()),
    ("presentation", PDF,                             "presentation.pdf:write",                (TYPST,)),
    ("presentation", TEXT,                            "presentation.text:write",               ()),
    ("script",       SCRIPT_JSON,                     "script:write_json",                     ()),
)
# fmt: on


def importers(*, extended: bool = False) -> tuple[Conversion, ...]:
    """Return the available conversions to native types, including extended formats if `extended` is true."""
    return tuple(conversion for conversion in readers(extended=extended).values() if conversion.is_available)


def exporters(*, extended: bool = False) -> tuple[Conversion, ...]:
    """Return the available conversions to export formats, including extended formats if `extended` is true."""
    return tuple(conversion for conversion in writers(extended=extended).values() if conversion.is_available)


@cache
def readers(*, extended: bool) -> dict[tuple[str, str], Conversion]:
    """Return all conversions to native types by (native type, media type), including those that lack an engine."""
    return {
        (native, media_type): Conversion(native, media_type, function, needs)
        for native, media_type_key, function, needs in _READERS
        for row in IMPORTS
        if row.native == native and media_type_key in row.media_types and (extended or not row.extended)
        for media_type in row.media_types
    }


@cache
def writers(*, extended: bool) -> dict[tuple[str, str], Conversion]:
    """Return all conversions to export formats by (native type, media type), including those that lack an engine."""
    offered = {(row.native, row.media_type) for row in EXPORTS if extended or not row.extended}
    return {row[:2]: Conversion(*row) for row in _WRITERS if row[:2] in offered}


_TITLES = {media_type: row.title for row in IMPORTS for media_type in row.media_types} | {
    "": "binary data", ZIP: "a zip archive", "application/gzip": "compressed (gzip)"
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
    actual = detect_binary(source)
    conversion = None if actual is None else readers(extended=True).get((native, actual))
    is_text = title in _CAN_BE_EMPTY or title in ("JSON", "SVG")
    if actual is None or (actual == RTF if is_text else not conversion and _may_be_declared(source, actual, job)):
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
    return actual in ("", ZIP) or is_office or (actual.startswith("image/") and job.media_type.startswith("image/"))
