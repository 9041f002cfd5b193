"""The native model of a presentation, in which slides contain text, tables and pictures as shapes.

Lengths are in EMU (914,400 to an inch) as in PowerPoint, font sizes are in points, and colours are six hexadecimal
digits. The readers resolve the properties that a shape inherits from layouts and themes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal

from ..input import native_package

INCH = 914_400
POINT = 12_700
MAX_PAGE_SIDE = 56 * INCH
"""The maximum width or height of a page in PowerPoint."""
MAX_SLIDES = 1_000
"""The maximum number of slides. More slides take minutes, since python-pptx compares each new part with all parts."""
_MAX_COORDINATE = 4 * MAX_PAGE_SIDE

Role = Literal["", "title", "subtitle", "body", "footer"]
Marker = Literal["", "bullet", "number"]
Align = Literal["", "left", "center", "right", "justify"]
Anchor = Literal["top", "middle", "bottom"]
Outline = Literal["", "rectangle", "round", "ellipse"]


@dataclass(frozen=True, slots=True)
class Box:
    """The position and size of a shape. The shape is then rotated clockwise by `turn` degrees around its center."""

    x: int = 0
    y: int = 0
    width: int = 0
    height: int = 0
    turn: float = 0.0

    @classmethod
    def of(cls, x: float, y: float, width: float, height: float, turn: float = 0.0) -> Box:
        """Create a box from any numbers. Convert lengths to integers in the range that every format allows."""
        clamped = (_clamp(x, -_MAX_COORDINATE), _clamp(y, -_MAX_COORDINATE), _clamp(width, 0), _clamp(height, 0))
        return cls(*clamped, turn=round(turn % 360.0, 2))


def _clamp(value: float, minimum: int) -> int:
    return int(max(minimum, min(_MAX_COORDINATE, value)))


@dataclass(frozen=True, slots=True)
class TextRun:
    """A piece of text with the same format throughout. A newline in `text` is a line break inside the paragraph."""

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
        """The text of all runs, without formatting."""
        return "".join(run.text for run in self.runs)


@dataclass(frozen=True, slots=True)
class Text:
    """A text box with paragraphs. If `outline` is set, the text box is a drawn shape, which may have no text."""

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
        """The text of all paragraphs, separated by newlines."""
        return "\n".join(paragraph.text for paragraph in self.paragraphs)


@dataclass(frozen=True, slots=True)
class SlidePicture:
    """A picture in `Deck.pictures`. `crop` has the fractions (0 to 1) to cut at the left, top, right and bottom."""

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
        """The text of all paragraphs, separated by newlines."""
        return "\n".join(paragraph.text for paragraph in self.paragraphs)


@dataclass(frozen=True, slots=True)
class SlideTable:
    """A table on a slide. All rows have the same length, and None stands for a position that a merged cell covers."""

    box: Box
    rows: tuple[tuple[TableCell | None, ...], ...] = ()
    widths: tuple[int, ...] = ()
    heights: tuple[int, ...] = ()
    header: bool = False
    alt: str = ""

    def with_corner(self, text: str) -> SlideTable:
        """Return a copy of the table whose top left cell contains `text`, such as a chart title."""
        first = replace(self.rows[0][0] or TableCell(), paragraphs=(Paragraph((TextRun(text),)),))
        return replace(self, rows=((first, *self.rows[0][1:]), *self.rows[1:]))


Shape = Text | SlidePicture | SlideTable


@dataclass(frozen=True, slots=True)
class Slide:
    """A slide with its shapes from back to front. `behind` has the background picture and the layout's shapes."""

    shapes: tuple[Shape, ...] = ()
    behind: tuple[Shape, ...] = ()
    background: str | None = None
    notes: str = ""
    hidden: bool = False

    @property
    def title(self) -> str:
        """The text of the first title shape on one line, or "" if the slide has no title."""
        titles = (shape.text for shape in self.shapes if isinstance(shape, Text) and shape.role == "title")
        return " ".join(next(titles, "").split())


@dataclass(frozen=True, slots=True)
class Deck:
    """A presentation. The default page size is widescreen (16:9).

    >>> Deck.unpack(Deck().pack()) == Deck()
    True
    """

    width: int = 12_192_000
    height: int = 6_858_000
    slides: tuple[Slide, ...] = ()
    title: str = ""
    pictures: Mapping[str, bytes] = field(default_factory=dict)

    def pack(self) -> bytes:
        """Serialize the deck as a zip file with JSON and the pictures."""
        value = {"width": self.width, "height": self.height, "title": self.title, "slides": _to_json(self.slides)}
        return native_package.pack(value, self.pictures)

    @classmethod
    def unpack(cls, body: bytes) -> Deck:
        """Restore a deck from the bytes that `pack` returned."""
        value, pictures = native_package.unpack(body)
        slides = tuple(_slide_from_json(slide) for slide in value["slides"])
        return cls(value["width"], value["height"], slides, value["title"], pictures)


def clamp_page_size(width: float, height: float) -> tuple[int, int]:
    """Limit the width and height of a page to the range of PowerPoint (1 to 56 inches), and return both in EMU."""
    return int(max(INCH, min(MAX_PAGE_SIDE, width))), int(max(INCH, min(MAX_PAGE_SIDE, height)))


_SHAPE_TYPES = {"text": Text, "picture": SlidePicture, "table": SlideTable}
_SHAPE_NAMES = {kind: name for name, kind in _SHAPE_TYPES.items()}


def _to_json(value: Any) -> Any:
    """Convert a value of the model to JSON without default values. Each shape gets its type as `kind`."""
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
