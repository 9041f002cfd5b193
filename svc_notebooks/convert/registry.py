"""The conversion registry: maps (native type, media type) to a reader or writer and the engines it needs.

A reader takes the source's bytes and a job and returns a model; a writer takes a model and a job and returns
bytes. A model is one of `MODELS`, and packs and unpacks itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from ..core.http import native_formats as f
from .engines import available as engines
from .engines.available import Engine


class Model(Protocol):
    """The canonical body of a native document, as a value. Made without arguments it is an empty one."""

    def pack(self) -> bytes:
        """The bytes to store."""

    @classmethod
    def unpack(cls, body: bytes) -> Model:
        """The value that `pack` stored."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """One direction between a format and a native type: `function` is "module:name", below convert."""

    native: str
    media_type: str
    function: str
    needs: tuple[Engine, ...] = ()

    @property
    def is_available(self) -> bool:
        """Whether what it needs is installed."""
        return all(engine.is_available() for engine in self.needs)


def load(name: str) -> Any:
    """What "module:name" names; a module that begins with a dot is below convert."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module, __package__), attribute)


MODELS = {
    "document": "document.model:Document",
    "spreadsheet": "spreadsheet.model:Workbook",
    "presentation": "presentation.model:Deck",
    "drawing": "drawing:Drawing",
    "script": "script:Project",
}

_PPT_ENGINES = (engines.OFFICE, engines.PPTX, engines.PILLOW)

# fmt: off
_READERS: tuple[tuple[str, str, str, tuple[Engine, ...]], ...] = (
    # native,        one of the format's types,       function,                     needs
    ("document",     f.DOCX,                          "document.read:docx",         (engines.PANDOC,)),
    ("document",     "application/msword",            "document.read:doc",          (engines.OFFICE, engines.PANDOC)),
    ("document",     f.ODT,                           "document.read:odt",          (engines.PANDOC,)),
    ("document",     f.HTML,                          "document.read:html",         (engines.PANDOC, engines.LXML)),
    ("document",     f.RTF,                           "document.read:rtf",          (engines.PILLOW,)),
    ("document",     f.TEXT,                          "document.read:text",         ()),
    ("document",     f.MARKDOWN,                      "document.read:markdown",     (engines.PANDOC,)),
    ("spreadsheet",  f.XLSX,                          "spreadsheet.sniff:read_xlsx", ()),
    ("spreadsheet",  "application/vnd.ms-excel",      "spreadsheet.sniff:read_by_signature",  (engines.CALAMINE,)),
    ("spreadsheet",  f.ODS,                           "spreadsheet.sniff:read_ods",  ()),
    ("spreadsheet",  f.CSV,                           "spreadsheet.text.read:read_csv", ()),
    ("spreadsheet",  f.TSV,                           "spreadsheet.text.read:read_tsv", ()),
    ("spreadsheet",  f.TEXT,                          "spreadsheet.text.read:read_text", ()),
    ("presentation", f.PPTX,                          "presentation.pptx:read",     (engines.PPTX, engines.PILLOW)),
    ("presentation", "application/vnd.ms-powerpoint", "presentation.ppt:read",      _PPT_ENGINES),
    ("presentation", f.ODP,                           "presentation.odp:read",      (engines.LXML, engines.PILLOW)),
    ("document",     f.JPEG,                          "document.scan:picture",      (engines.PILLOW,)),
    ("document",     f.PNG,                           "document.scan:picture",      (engines.PILLOW,)),
    ("document",     "image/gif",                     "document.scan:picture",      (engines.PILLOW,)),
    ("document",     "image/bmp",                     "document.scan:picture",      (engines.PILLOW,)),
    ("document",     f.PDF,                           "document.scan:pdf",          (engines.PDFIUM, engines.PILLOW)),
    ("script",       f.SCRIPT_TEXT,                   "script:read_text",           ()),
    ("script",       f.JSON,                          "script:read_json",           ()),
    ("drawing",      f.SVG,                           "drawing:read",               (engines.LXML,)),
)

_WRITERS: tuple[tuple[str, str, str, tuple[Engine, ...]], ...] = (
    ("document",     f.HTML,                          "document.write:html",        (engines.PANDOC,)),
    ("document",     f.ZIP,                           "document.write:zipped_html", (engines.PANDOC,)),
    ("document",     f.TEXT,                          "document.write:text",        (engines.PANDOC,)),
    ("document",     f.RTF,                           "document.write:rtf",         (engines.PANDOC,)),
    ("document",     f.ODT,                           "document.write:odt",         (engines.PANDOC,)),
    ("document",     f.PDF,                           "document.pdf:write",         (engines.TYPST,)),
    ("document",     f.DOCX,                          "document.write:docx",        (engines.PANDOC,)),
    ("document",     f.EPUB,                          "document.write:epub",        (engines.PANDOC,)),
    ("document",     f.MARKDOWN,                      "document.write:markdown",    (engines.PANDOC,)),
    ("spreadsheet",  f.XLSX,                          "spreadsheet.xlsx.write:write", (engines.XLSXWRITER,)),
    ("spreadsheet",  f.X_ODS,                         "spreadsheet.ods.write:write", ()),
    ("spreadsheet",  f.ODS,                           "spreadsheet.ods.write:write", ()),
    ("spreadsheet",  f.PDF,                           "spreadsheet.pdf:write", (engines.TYPST,)),
    ("spreadsheet",  f.CSV,                           "spreadsheet.text.write:write_csv", ()),
    ("spreadsheet",  f.TSV,                           "spreadsheet.text.write:write_tsv", ()),
    ("spreadsheet",  f.ZIP,                           "spreadsheet.html.write:write", ()),
    ("drawing",      f.JPEG,                          "drawing:jpeg",               (engines.TYPST, engines.PILLOW)),
    ("drawing",      f.PNG,                           "drawing:png",                (engines.TYPST,)),
    ("drawing",      f.SVG,                           "drawing:svg",                ()),
    ("drawing",      f.PDF,                           "drawing:pdf",                (engines.TYPST,)),
    ("presentation", f.PPTX,                          "presentation.pptx:write",    (engines.PPTX,)),
    ("presentation", f.ODP,                           "presentation.odp:write",     ()),
    ("presentation", f.PDF,                           "presentation.pdf:write",     (engines.TYPST,)),
    ("presentation", f.TEXT,                          "presentation.text:write",    ()),
    ("script",       f.SCRIPT_JSON,                   "script:write_json",          ()),
)
# fmt: on


def importers(*, extended: bool = False) -> tuple[Conversion, ...]:
    """The conversion of each media type that can be read here, in the order of core/http/native_formats.py."""
    return tuple(conversion for conversion in _importers(extended) if conversion.is_available)


def exporters(*, extended: bool = False) -> tuple[Conversion, ...]:
    """The conversion of each export format that can be written here, in the order of core/http/native_formats.py."""
    return tuple(conversion for conversion in _exporters(extended) if conversion.is_available)


def missing_engine(native: str, media_type: str, *, reads: bool, extended: bool = False) -> Engine | None:
    """What would read or write that, and is not here; None where nothing is wanted, or nothing would help."""
    conversions = _importers(extended) if reads else _exporters(extended)
    needs = next(
        (
            conversion.needs
            for conversion in conversions
            if (conversion.native, conversion.media_type) == (native, media_type)
        ),
        (),
    )
    return next((engine for engine in needs if not engine.is_available()), None)


def _importers(extended: bool) -> list[Conversion]:
    return [
        Conversion(native, media_type, function, needs)
        for native, media_type_key, function, needs in _READERS
        for row in f.IMPORTS
        if row.native == native and media_type_key in row.media_types and (extended or not row.extended)
        for media_type in row.media_types
    ]


def _exporters(extended: bool) -> list[Conversion]:
    offered = {(row.native, row.media_type) for row in f.EXPORTS if extended or not row.extended}
    return [Conversion(*row) for row in _WRITERS if row[:2] in offered]
