"""The model of a native presentation: slides of shapes with text, tables or pictures.

Lengths are EMU, whole numbers (914,400 to an inch), as slides have them in PowerPoint; sizes of letters are points,
colours six hexadecimal digits. What a shape inherits from layouts and themes is resolved by the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal

from ..input import native_package

INCH = 914_400
POINT = 12_700
MAX_PAGE_SIDE = 56 * INCH
"""The largest page that PowerPoint opens, to each side."""
MAX_SLIDES = 1_000
"""Beyond these python-pptx and typst need minutes: the one counts each new part against all others."""
_MAX_COORDINATE = 4 * MAX_PAGE_SIDE

Role = Literal["", "title", "subtitle", "body", "footer"]
Marker = Literal["", "bullet", "number"]
Align = Literal["", "left", "center", "right", "justify"]
Anchor = Literal["top", "middle", "bottom"]
Outline = Literal["", "rectangle", "round", "ellipse"]


@dataclass(frozen=True, slots=True)
class Box:
    """Where a shape is, before it is turned by `turn` degrees clockwise around its middle."""

    x: int = 0
    y: int = 0
    width: int = 0
    height: int = 0
    turn: float = 0.0

    @classmethod
    def of(cls, x: float, y: float, width: float, height: float, turn: float = 0.0) -> Box:
        """A box with whole numbers that every format can hold, whatever a file says."""
        clamped = (_clamp(x, -_MAX_COORDINATE), _clamp(y, -_MAX_COORDINATE), _clamp(width, 0), _clamp(height, 0))
        return cls(*clamped, turn=round(turn % 360.0, 2))


def _clamp(value: float, minimum: int) -> int:
    return int(max(minimum, min(_MAX_COORDINATE, value)))


@dataclass(frozen=True, slots=True)
class TextRun:
    """Text of one look; a newline in it is a line break inside the paragraph."""

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
    """A line of an outline: `level` from 0, a bullet or a number before it."""

    runs: tuple[TextRun, ...] = ()
    level: int = 0
    marker: Marker = ""
    align: Align = ""
    rtl: bool = False

    @property
    def text(self) -> str:
        """What it says."""
        return "".join(run.text for run in self.runs)


@dataclass(frozen=True, slots=True)
class Text:
    """A box of paragraphs; with an outline, a drawn shape that may be empty."""

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
        """What it says, a line for each paragraph."""
        return "\n".join(paragraph.text for paragraph in self.paragraphs)


@dataclass(frozen=True, slots=True)
class SlidePicture:
    """A picture by the name of its resource; `crop`: the shares cut off left, top, right, bottom."""

    box: Box
    name: str
    alt: str = ""
    crop: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of a table, over so many columns and rows."""

    paragraphs: tuple[Paragraph, ...] = ()
    columns: int = 1
    rows: int = 1
    fill: str | None = None

    @property
    def text(self) -> str:
        """What it says, a line for each paragraph."""
        return "\n".join(paragraph.text for paragraph in self.paragraphs)


@dataclass(frozen=True, slots=True)
class SlideTable:
    """Rows of cells, all of one length; None is a place that a cell beside or above it covers."""

    box: Box
    rows: tuple[tuple[TableCell | None, ...], ...] = ()
    widths: tuple[int, ...] = ()
    heights: tuple[int, ...] = ()
    header: bool = False
    alt: str = ""

    def with_corner(self, text: str) -> SlideTable:
        """The same table with a text in its first cell: the title of a chart whose numbers it holds."""
        first = replace(self.rows[0][0] or TableCell(), paragraphs=(Paragraph((TextRun(text),)),))
        return replace(self, rows=((first, *self.rows[0][1:]), *self.rows[1:]))


Shape = Text | SlidePicture | SlideTable


@dataclass(frozen=True, slots=True)
class Slide:
    """Shapes from the back to the front; `behind` is what the layout draws on every slide, which is not its text."""

    shapes: tuple[Shape, ...] = ()
    behind: tuple[Shape, ...] = ()
    background: str | None = None
    notes: str = ""
    hidden: bool = False

    @property
    def title(self) -> str:
        """The text of its title, on one line."""
        titles = (shape.text for shape in self.shapes if isinstance(shape, Text) and shape.role == "title")
        return " ".join(next(titles, "").split())


@dataclass(frozen=True, slots=True)
class Deck:
    """A presentation; without arguments an empty one: no slides, on widescreen pages.

    >>> Deck.unpack(Deck().pack()) == Deck()
    True
    """

    width: int = 12_192_000
    height: int = 6_858_000
    slides: tuple[Slide, ...] = ()
    title: str = ""
    pictures: Mapping[str, bytes] = field(default_factory=dict)

    def pack(self) -> bytes:
        """The bytes to store."""
        value = {"width": self.width, "height": self.height, "title": self.title, "slides": _to_json(self.slides)}
        return native_package.pack(value, self.pictures)

    @classmethod
    def unpack(cls, body: bytes) -> Deck:
        """The deck that `pack` stored."""
        value, pictures = native_package.unpack(body)
        slides = tuple(_slide_from_json(slide) for slide in value["slides"])
        return cls(value["width"], value["height"], slides, value["title"], pictures)


def clamp_page_size(width: float, height: float) -> tuple[int, int]:
    """The size of a page that PowerPoint opens, nearest to this one."""
    return int(max(INCH, min(MAX_PAGE_SIDE, width))), int(max(INCH, min(MAX_PAGE_SIDE, height)))


_SHAPE_TYPES = {"text": Text, "picture": SlidePicture, "table": SlideTable}
_SHAPE_NAMES = {kind: name for name, kind in _SHAPE_TYPES.items()}


def _to_json(value: Any) -> Any:
    """A value as JSON has it: what is at its default is left out, a shape says which it is."""
    if isinstance(value, tuple):
        return [_to_json(item) for item in value]
    if not is_dataclass(value):
        return value
    values = {f.name: getattr(value, f.name) for f in fields(value)}
    plain = {f.name: _to_json(values[f.name]) for f in fields(value) if values[f.name] != f.default}
    shape_type = _SHAPE_NAMES.get(type(value))
    return {"kind": shape_type, **plain} if shape_type else plain


def _slide_from_json(fields: Mapping[str, Any]) -> Slide:
    shapes = {key: tuple(_shape_from_json(shape) for shape in fields.get(key, ())) for key in ("shapes", "behind")}
    return Slide(**{**fields, **shapes})


def _shape_from_json(fields: Mapping[str, Any]) -> Shape:
    arguments = {key: _FIELD_READERS.get(key, _unchanged)(value) for key, value in fields.items() if key != "kind"}
    shape: Shape = _SHAPE_TYPES[fields["kind"]](**arguments)
    return shape


def _unchanged(value: Any) -> Any:
    return value


def _paragraph_from_json(fields: Mapping[str, Any]) -> Paragraph:
    return Paragraph(**{**fields, "runs": tuple(TextRun(**run) for run in fields.get("runs", ()))})


def _paragraphs_from_json(paragraphs: list[Any]) -> tuple[Paragraph, ...]:
    return tuple(_paragraph_from_json(paragraph) for paragraph in paragraphs)


def _cell_from_json(fields: Mapping[str, Any] | None) -> TableCell | None:
    if fields is None:
        return None
    return TableCell(**{**fields, "paragraphs": _paragraphs_from_json(fields.get("paragraphs", []))})


_FIELD_READERS: dict[str, Callable[[Any], Any]] = {
    "box": lambda fields: Box(**fields),
    "paragraphs": _paragraphs_from_json,
    "rows": lambda rows: tuple(tuple(_cell_from_json(cell) for cell in row) for row in rows),
    "crop": tuple,
    "widths": tuple,
    "heights": tuple,
}
