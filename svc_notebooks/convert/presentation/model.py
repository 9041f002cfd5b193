"""The model of a native presentation, which has slides of shapes with text, tables or pictures.

Lengths are EMU (914,400 to an inch) as in PowerPoint, font sizes are points, and colours are six hexadecimal digits.
The reader resolves the properties that a shape inherits from layouts and themes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal

from ..input import native_package

INCH = 914_400
POINT = 12_700
MAX_PAGE_SIDE = 56 * INCH
"""The longest side of a page that PowerPoint opens."""
MAX_SLIDES = 1_000
"""More slides take python-pptx and typst minutes: python-pptx compares each new part with all others."""
_MAX_COORDINATE = 4 * MAX_PAGE_SIDE

Role = Literal["", "title", "subtitle", "body", "footer"]
Marker = Literal["", "bullet", "number"]
Align = Literal["", "left", "center", "right", "justify"]
Anchor = Literal["top", "middle", "bottom"]
Outline = Literal["", "rectangle", "round", "ellipse"]


@dataclass(frozen=True, slots=True)
class Box:
    """The position of a shape before it is rotated by `turn` degrees clockwise around its center."""

    x: int = 0
    y: int = 0
    width: int = 0
    height: int = 0
    turn: float = 0.0

    @classmethod
    def of(cls, x: float, y: float, width: float, height: float, turn: float = 0.0) -> Box:
        """Return a box with whole numbers in the range that every format allows."""
        clamped = (_clamp(x, -_MAX_COORDINATE), _clamp(y, -_MAX_COORDINATE), _clamp(width, 0), _clamp(height, 0))
        return cls(*clamped, turn=round(turn % 360.0, 2))


def _clamp(value: float, minimum: int) -> int:
    return int(max(minimum, min(_MAX_COORDINATE, value)))


@dataclass(frozen=True, slots=True)
class TextRun:
    """Text in one format. A newline in it is a line break inside the paragraph."""

    text: str
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    size: float | None = None
    color: str | None = None
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph with its list level (from 0) and its bullet or number."""

    runs: tuple[TextRun, ...] = ()
    level: int = 0
    marker: Marker = ""
    align: Align = ""
    rtl: bool = False

    @property
    def text(self) -> str:
        """The text without its format."""
        return "".join(run.text for run in self.runs)


@dataclass(frozen=True, slots=True)
class Text:
    """A box of paragraphs. With an outline it is a drawn shape, which may be empty."""

    box: Box
    paragraphs: tuple[Paragraph, ...] = ()
    role: Role = ""
    anchor: Anchor = "top"
    outline: Outline = ""
    fill: str | None = None
    line: str | None = None
    alt: str = ""

    @property
    def text(self) -> str:
        """The text with a line for each paragraph."""
        return "\n".join(paragraph.text for paragraph in self.paragraphs)


@dataclass(frozen=True, slots=True)
class SlidePicture:
    """A picture by the name of its resource, with the shares to crop at the left, top, right and bottom."""

    box: Box
    name: str
    alt: str = ""
    crop: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of a table, with the number of columns and rows that it spans."""

    paragraphs: tuple[Paragraph, ...] = ()
    columns: int = 1
    rows: int = 1
    fill: str | None = None

    @property
    def text(self) -> str:
        """The text with a line for each paragraph."""
        return "\n".join(paragraph.text for paragraph in self.paragraphs)


@dataclass(frozen=True, slots=True)
class SlideTable:
    """Rows of cells, all of one length, with None for positions that a span covers."""

    box: Box
    rows: tuple[tuple[TableCell | None, ...], ...] = ()
    widths: tuple[int, ...] = ()
    heights: tuple[int, ...] = ()
    header: bool = False
    alt: str = ""

    def with_corner(self, text: str) -> SlideTable:
        """Return the table with a text in its first cell, such as the title of a chart."""
        first = replace(self.rows[0][0] or TableCell(), paragraphs=(Paragraph((TextRun(text),)),))
        return replace(self, rows=((first, *self.rows[0][1:]), *self.rows[1:]))


Shape = Text | SlidePicture | SlideTable


@dataclass(frozen=True, slots=True)
class Slide:
    """Shapes from back to front. The shapes in `behind` come from the layout and are not part of the text."""

    shapes: tuple[Shape, ...] = ()
    behind: tuple[Shape, ...] = ()
    background: str | None = None
    notes: str = ""
    hidden: bool = False

    @property
    def title(self) -> str:
        """The text of the title on one line."""
        titles = (shape.text for shape in self.shapes if isinstance(shape, Text) and shape.role == "title")
        return " ".join(next(titles, "").split())


@dataclass(frozen=True, slots=True)
class Deck:
    """A presentation, which without arguments has no slides and widescreen pages.

    >>> Deck.unpack(Deck().pack()) == Deck()
    True
    """

    width: int = 12_192_000
    height: int = 6_858_000
    slides: tuple[Slide, ...] = ()
    title: str = ""
    pictures: Mapping[str, bytes] = field(default_factory=dict)

    def pack(self) -> bytes:
        """Return the bytes to store."""
        value = {"width": self.width, "height": self.height, "title": self.title, "slides": _to_json(self.slides)}
        return native_package.pack(value, self.pictures)

    @classmethod
    def unpack(cls, body: bytes) -> Deck:
        """Return the deck that `pack` stored."""
        value, pictures = native_package.unpack(body)
        slides = tuple(_slide_from_json(slide) for slide in value["slides"])
        return cls(value["width"], value["height"], slides, value["title"], pictures)


def clamp_page_size(width: float, height: float) -> tuple[int, int]:
    """Return the nearest page size that PowerPoint opens."""
    return int(max(INCH, min(MAX_PAGE_SIDE, width))), int(max(INCH, min(MAX_PAGE_SIDE, height)))


_SHAPE_TYPES = {"text": Text, "picture": SlidePicture, "table": SlideTable}
_SHAPE_NAMES = {kind: name for name, kind in _SHAPE_TYPES.items()}


def _to_json(value: Any) -> Any:
    """Return a value for JSON, without fields that have their default, and with the kind of each shape."""
    if isinstance(value, tuple):
        return [_to_json(item) for item in value]
    if not is_dataclass(value):
        return value
    values = {f.name: getattr(value, f.name) for f in fields(value)}
    plain = {f.name: _to_json(values[f.name]) for f in fields(value) if values[f.name] != f.default}
    shape_type = _SHAPE_NAMES.get(type(value))
    return {"kind": shape_type, **plain} if shape_type else plain


def _slide_from_json(values: Mapping[str, Any]) -> Slide:
    shapes = {key: tuple(_shape_from_json(shape) for shape in values.get(key, ())) for key in ("shapes", "behind")}
    return Slide(**{**values, **shapes})


def _shape_from_json(values: Mapping[str, Any]) -> Shape:
    arguments = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    arguments["box"] = Box(**values["box"])
    if "paragraphs" in values:
        arguments["paragraphs"] = _paragraphs_from_json(values["paragraphs"])
    if "rows" in values:
        arguments["rows"] = tuple(tuple(_cell_from_json(cell) for cell in row) for row in values["rows"])
    del arguments["kind"]
    shape: Shape = _SHAPE_TYPES[values["kind"]](**arguments)
    return shape


def _paragraphs_from_json(paragraphs: list[Any]) -> tuple[Paragraph, ...]:
    return tuple(
        Paragraph(**{**paragraph, "runs": tuple(TextRun(**run) for run in paragraph.get("runs", ()))})
        for paragraph in paragraphs
    )


def _cell_from_json(values: Mapping[str, Any] | None) -> TableCell | None:
    if values is None:
        return None
    return TableCell(**{**values, "paragraphs": _paragraphs_from_json(values.get("paragraphs", []))})
