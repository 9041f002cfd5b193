"""The conversion registry, which maps a native type and a media type to a function and its required engines.

A reader takes the source's bytes and a job and returns a model. A writer takes a model and a job and returns bytes.
Each class in `MODELS` implements the protocol `Model`.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    CALAMINE,
    LXML,
    OFFICE,
    PANDOC,
    PDFIUM,
    PILLOW,
    PYTHON_PPTX,
    TINYCSS2,
    TYPST,
    XLSXWRITER,
    Engine,
)  # fmt: skip


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
    def is_available(self) -> bool:
        """True if all engines that this conversion needs are available."""
        return all(engine.is_available() for engine in self.needs)


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
    ("document",     ODT,                             "document.read:odt",                     (PANDOC,)),
    ("document",     HTML,                            "document.read:html",                    (PANDOC, LXML)),
    ("document",     RTF,                             "document.read:rtf",                     (PILLOW,)),
    ("document",     TEXT,                            "document.read:text",                    ()),
    ("document",     MARKDOWN,                        "document.read:markdown",                (PANDOC,)),
    ("spreadsheet",  XLSX,                            "spreadsheet.sniff:read_xlsx",           ()),
    ("spreadsheet",  "application/vnd.ms-excel",      "spreadsheet.sniff:read_by_signature",   (CALAMINE,)),
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
    ("drawing",      JPEG,                            "drawing:jpeg",                          (TYPST, PILLOW)),
    ("drawing",      PNG,                             "drawing:png",                           (TYPST,)),
    ("drawing",      SVG,                             "drawing:svg",                           ()),
    ("drawing",      PDF,                             "drawing:pdf",                           (TYPST,)),
    ("presentation", PPTX,                            "presentation.pptx:write",               (PYTHON_PPTX,)),
    ("presentation", ODP,                             "presentation.odp:write",                ()),
    ("presentation", PDF,                             "presentation.pdf:write",                (TYPST,)),
    ("presentation", TEXT,                            "presentation.text:write",               ()),
    ("script",       SCRIPT_JSON,                     "script:write_json",                     ()),
)
# fmt: on


def importers(*, extended: bool = False) -> tuple[Conversion, ...]:
    """Return the available conversions to native types, including extended formats if `extended` is true."""
    return tuple(conversion for conversion in _importers(extended) if conversion.is_available)


def exporters(*, extended: bool = False) -> tuple[Conversion, ...]:
    """Return the available conversions to export formats, including extended formats if `extended` is true."""
    return tuple(conversion for conversion in _exporters(extended) if conversion.is_available)


def missing_engine(native: str, media_type: str, *, reads: bool, extended: bool = False) -> Engine | None:
    """Return the first missing engine of a conversion, or None if no engine is missing or no conversion exists."""
    conversions = _importers(extended) if reads else _exporters(extended)
    needs = (row.needs for row in conversions if (row.native, row.media_type) == (native, media_type))
    return next((engine for engine in next(needs, ()) if not engine.is_available()), None)


def _importers(extended: bool) -> list[Conversion]:
    return [
        Conversion(native, media_type, function, needs)
        for native, media_type_key, function, needs in _READERS
        for row in IMPORTS
        if row.native == native and media_type_key in row.media_types and (extended or not row.extended)
        for media_type in row.media_types
    ]


def _exporters(extended: bool) -> list[Conversion]:
    offered = {(row.native, row.media_type) for row in EXPORTS if extended or not row.extended}
    return [Conversion(*row) for row in _WRITERS if row[:2] in offered]
