"""The native model of a presentation, in which slides contain text, tables and pictures as shapes.

Lengths are in EMU (914,400 to an inch) as in PowerPoint, font sizes are in points, and colours are six hexadecimal
digits, or eight with an opacity (fills and lines only). The readers resolve the properties that a shape inherits from
layouts and themes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal

from ..input import native_package
from ..input.numerals import numeral

INCH = 914_400
POINT = 12_700
MAX_PAGE_SIDE = 56 * INCH  # the maximum width or height of a page in PowerPoint
DEFAULT_PAGE = (12_192_000, 6_858_000)
MAX_SLIDES = 1_000  # more take minutes, since python-pptx compares each new part with all parts
_MAX_COORDINATE = 4 * MAX_PAGE_SIDE

Role = Literal["", "title", "subtitle", "body", "footer"]
Marker = Literal["", "bullet", "number"]
Align = Literal["", "left", "center", "right", "justify"]
Baseline = Literal["", "super", "sub"]
Anchor = Literal["top", "middle", "bottom"]
Outline = Literal["", "rectangle", "round", "ellipse"]
Autofit = Literal["", "none", "shrink"]
Direction = Literal["", "down", "up", "stacked"]
Dash = Literal["", "dot", "dash", "dashdot"]
Arrowhead = Literal["", "triangle", "arrow", "stealth", "diamond", "oval"]
PathFill = Literal["", "none"]
PATH_SIDE = 100_000  # the coordinate of the right and the bottom side of the box in the data of a path
INSETS = (91_440, 45_720, 91_440, 45_720)  # the default (left, top, right, bottom) in PowerPoint


@dataclass(frozen=True, slots=True)
class Box:
    """The position and size of a shape, which is flipped, then rotated clockwise by `turn` degrees around its center.

    A flip mirrors pictures and outlines, and never text.
    """

    x: int = 0
    y: int = 0
    width: int = 0
    height: int = 0
    turn: float = 0.0
    flip_x: bool = False
    flip_y: bool = False

    @classmethod
    def default(cls, page: tuple[int, int]) -> Box:
        """Return the box of a shape whose file does not say where it is, on a page of this width and height."""
        return cls(page[0] // 12, page[1] // 6, page[0] * 10 // 12, page[1] * 4 // 6)

    @classmethod
    def of(cls, x: float, y: float, width: float, height: float, turn: float = 0.0, flip: tuple[bool, ...] = ()) -> Box:
        """Create a box from any numbers. Convert lengths to integers in the range that every format allows."""
        clamped = (_clamp(x, -_MAX_COORDINATE), _clamp(y, -_MAX_COORDINATE), _clamp(width, 0), _clamp(height, 0))
        return cls(*clamped, round(turn % 360.0, 2), *flip)


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
    baseline: Baseline = ""
    capitals: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph with its list level (from 0) and its bullet or number.

    `bullet` is the bullet's character or the label of a list's first number such as "a)"; if it is "", the label is "•"
    or "1.". `start` is the first number. `line_spacing` is a multiple of the line height, `before` and `after` are in
    points. `indent` is the distance of the text from the side of the box and `first` that of the first line from the
    others, in EMU; if `indent` is None, both depend on the level.
    """

    runs: tuple[TextRun, ...] = ()
    level: int = 0
    marker: Marker = ""
    align: Align = ""
    rtl: bool = False
    line_spacing: float = 1.0
    before: float = 0.0
    after: float = 0.0
    indent: int | None = None
    first: int = 0
    bullet: str = ""
    start: int = 1

    @property
    def text(self) -> str:
        """The text of all runs, without formatting."""
        return "".join(run.text for run in self.runs)


@dataclass(frozen=True, slots=True)
class ShapePath:
    """A part of an outline as SVG path data with the commands M, L, C and Z. The box's sides are `PATH_SIDE` long."""

    data: str
    fill: PathFill = ""
    stroke: bool = True


@dataclass(frozen=True, slots=True)
class Stroke:
    """The width in EMU and the dashes of a line, and the arrowheads at its start and end."""

    width: int = POINT
    dash: Dash = ""
    start: Arrowhead = ""
    end: Arrowhead = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A text box with paragraphs. If `outline` or `paths` is set, it is a drawn shape, which may have no text.

    `insets` are the distances of the text from the left, top, right and bottom of the box. `autofit` is "shrink" if
    text that is too high becomes smaller; if it is "", that depends on the role. `direction` is that of the lines.
    """

    box: Box
    paragraphs: tuple[Paragraph, ...] = ()
    role: Role = ""
    anchor: Anchor = "top"
    outline: Outline = ""
    fill: str | None = None
    line: str | None = None
    alt: str = ""
    paths: tuple[ShapePath, ...] = ()
    stroke: Stroke = Stroke()
    insets: tuple[int, int, int, int] = INSETS
    autofit: Autofit = ""
    wrap: bool = True
    direction: Direction = ""

    @property
    def text(self) -> str:
        """The text of all paragraphs, separated by newlines."""
        return "\n".join(paragraph.text for paragraph in self.paragraphs)

    @property
    def shrinks(self) -> bool:
        """Whether text that is too high for the box becomes smaller."""
        return self.autofit == "shrink" or (not self.autofit and self.role in ("title", "subtitle", "body"))


@dataclass(frozen=True, slots=True)
class SlidePicture:
    """A picture of the presentation. `crop` has the fractions (0 to 1) to cut at the left, top, right and bottom."""

    box: Box
    name: str
    alt: str = ""
    crop: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of a table, with the number of columns and rows that it spans.

    `borders` are the colours of the lines at the left, top, right and bottom, "" for no line. None is a thin grid.
    """

    paragraphs: tuple[Paragraph, ...] = ()
    columns: int = 1
    rows: int = 1
    fill: str | None = None
    anchor: Anchor = "top"
    borders: tuple[str, ...] | None = None

    @property
    def text(self) -> str:
        """The text of all paragraphs, separated by newlines."""
        return "\n".join(paragraph.text for paragraph in self.paragraphs)


@dataclass(frozen=True, slots=True)
class SlideTable:
    """A table on a slide. All rows have the same length, and None stands for a position that a merged cell covers.

    `chart` is the kind of the chart that the table has the values of, or "".
    """

    box: Box
    rows: tuple[tuple[TableCell | None, ...], ...] = ()
    widths: tuple[int, ...] = ()
    heights: tuple[int, ...] = ()
    header: bool = False
    alt: str = ""
    chart: str = ""


Shape = Text | SlidePicture | SlideTable


@dataclass(frozen=True, slots=True)
class Slide:
    """A slide with its shapes from back to front. `behind` has the background picture and the layout's shapes."""

    shapes: tuple[Shape, ...] = ()
    behind: tuple[Shape, ...] = ()
    background: str | None = None
    notes: str = ""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Presentation:
    """A presentation. The default page size is widescreen (16:9).

    >>> Presentation.unpack(Presentation().pack()) == Presentation()
    True
    """

    width: int = DEFAULT_PAGE[0]
    height: int = DEFAULT_PAGE[1]
    slides: tuple[Slide, ...] = ()
    title: str = ""
    pictures: Mapping[str, bytes] = field(default_factory=dict)

    def pack(self) -> bytes:
        """Serialize the presentation as a zip file with JSON and the pictures."""
        value = {"width": self.width, "height": self.height, "title": self.title, "slides": _to_json(self.slides)}
        return native_package.pack(value, self.pictures)

    @classmethod
    def unpack(cls, body: bytes) -> Presentation:
        """Restore a presentation from the bytes that `pack` returned."""
        value, pictures = native_package.unpack(body)
        return cls(value["width"], value["height"], _from_json(value["slides"], "slides"), value["title"], pictures)


def clamp_page_size(width: float, height: float) -> tuple[int, int]:
    """Limit the width and height of a page to the range of PowerPoint (1 to 56 inches), and return both in EMU."""
    return int(max(INCH, min(MAX_PAGE_SIDE, width))), int(max(INCH, min(MAX_PAGE_SIDE, height)))


def mix(color: str, other: str, part: float) -> str:
    """Mix two colours. `part` is the proportion of `color` in the mixture, from 0 to 1.

    >>> mix("000000", "ffffff", 0.4)
    '999999'
    """
    pairs = ((int(color[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (0, 2, 4))
    return "".join(f"{round(end + (start - end) * part):02x}" for start, end in pairs)


_SHAPE_TYPES: dict[str, Any] = {"text": Text, "picture": SlidePicture, "table": SlideTable}
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


_TYPES: dict[str, Any] = {
    "slides": Slide, "box": Box, "stroke": Stroke, "paths": ShapePath, "paragraphs": Paragraph, "runs": TextRun,
    "rows": TableCell,
}  # fmt: skip


def _from_json(value: Any, key: str) -> Any:
    """Restore a value that `_to_json` has converted. `key` is the name of the field that contains the value."""
    if isinstance(value, list):
        return tuple(_from_json(item, key) for item in value)
    if not isinstance(value, dict):
        return value
    kind = _SHAPE_TYPES[value["kind"]] if "kind" in value else _TYPES[key]
    return kind(**{name: _from_json(item, name) for name, item in value.items() if name != "kind"})


def merge_runs(runs: Iterable[TextRun]) -> Iterator[TextRun]:
    """Merge adjacent runs of the same format, and drop empty runs. Programs split runs at each spelling mistake.

    >>> [run.text for run in merge_runs([TextRun("a"), TextRun("b"), TextRun(""), TextRun("c", bold=True)])]
    ['ab', 'c']
    """
    last: TextRun | None = None
    for run in runs:
        if last and replace(last, text=run.text) == run:
            last = replace(last, text=last.text + run.text)
            continue
        if last and last.text:
            yield last
        last = run
    if last and last.text:
        yield last


def without_empty_end(paragraphs: Iterable[Paragraph]) -> tuple[Paragraph, ...]:
    """Return paragraphs without the empty ones at the end."""
    kept = list(paragraphs)
    while kept and not kept[-1].text.strip():
        kept.pop()
    return tuple(kept)


def with_numbers(paragraphs: Iterable[Paragraph]) -> Iterator[tuple[Paragraph, int]]:
    """Yield each paragraph with its number in the list, or with 0 if the paragraph is not numbered.

    >>> one, two = Paragraph(marker="number"), Paragraph(marker="number", level=1)
    >>> [number for _, number in with_numbers([one, two, two, one, Paragraph(), one])]
    [1, 1, 2, 2, 0, 1]
    """
    counts: dict[int, int] = {}
    for paragraph in paragraphs:
        level = paragraph.level
        counts = {other: count for other, count in counts.items() if other <= level}
        last = counts.get(level) or paragraph.start - 1
        counts[level] = last + 1 if paragraph.marker == "number" else 0
        yield paragraph, counts[level]


def label(paragraph: Paragraph, number: int) -> str:
    """Return the bullet or the formatted number of a paragraph, or "" if the paragraph has neither.

    >>> [label(Paragraph(marker="number", bullet=first), 4) for first in ("", "(a)", "I.")]
    ['4.', '(d)', 'IV.']
    """
    if paragraph.marker != "number":
        return (paragraph.bullet or "•") if paragraph.marker else ""
    first = paragraph.bullet or "1."
    digit = next((character for character in first if character in "1aAiI"), "")
    return first.replace(digit, numeral(number, digit), 1) if digit else first


_MAX_PATH_COORDINATE = 1_000 * PATH_SIDE


class PathBuilder:
    """Collects the path data of a `ShapePath` in `data`. The arguments are the view box of the source's coordinates."""

    def __init__(self, left: float, top: float, width: float, height: float) -> None:
        self.data: list[str] = []
        self.point = self._start = (0.0, 0.0)
        self._left, self._top = left, top
        self._scale_x, self._scale_y = PATH_SIDE / (width or 1.0), PATH_SIDE / (height or 1.0)

    def add(self, command: str, *numbers: float) -> None:
        """Add a command (M, L, C or Z) with absolute coordinates."""
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        if command == "M":
            self._start = points[0]
        self.point = points[-1] if points else self._start
        parts = [command]
        for x, y in points:
            for side in ((x - self._left) * self._scale_x, (y - self._top) * self._scale_y):
                parts.append(str(round(max(-_MAX_PATH_COORDINATE, min(_MAX_PATH_COORDINATE, side)))))
        self.data.append(" ".join(parts))


# The outlines of common shapes, as PowerPoint names them. Other preset shapes are rectangles with their text.
OUTLINES: dict[str, Outline] = {"ellipse": "ellipse", "roundRect": "round"}  # drawn without a path

_PATHS = {  # in a box of `PATH_SIDE`; {a} is the length of an arrowhead, {b} the rest of the arrow
    "triangle": "M 0 100000 L 50000 0 L 100000 100000 Z",
    "rtTriangle": "M 0 100000 L 0 0 L 100000 100000 Z",
    "diamond": "M 0 50000 L 50000 0 L 100000 50000 L 50000 100000 Z",
    "rightArrow": "M 0 25000 L {b} 25000 L {b} 0 L 100000 50000 L {b} 100000 L {b} 75000 L 0 75000 Z",
    "leftArrow": "M 0 50000 L {a} 0 L {a} 25000 L 100000 25000 L 100000 75000 L {a} 75000 L {a} 100000 Z",
    "downArrow": "M 0 {b} L 25000 {b} L 25000 0 L 75000 0 L 75000 {b} L 100000 {b} L 50000 100000 Z",
    "upArrow": "M 0 {a} L 50000 0 L 100000 {a} L 75000 {a} L 75000 100000 L 25000 100000 L 25000 {a} Z",
    **dict.fromkeys(("line", "straightConnector1"), "M 0 0 L 100000 100000"),
    "bentConnector2": "M 0 0 L 100000 0 L 100000 100000",
    "bentConnector3": "M 0 0 L 50000 0 L 50000 100000 L 100000 100000",
    "curvedConnector3": "M 0 0 C 50000 0 50000 100000 100000 100000",
}

_TEXT_AREAS = {  # insets from left, top, right and bottom, as shares of the sides
    "ellipse": (0.1464, 0.1464, 0.1464, 0.1464),
    "triangle": (0.25, 0.5, 0.25, 0.0), "diamond": (0.25, 0.25, 0.25, 0.25),
    "rightArrow": (0.0, 0.25, 0.0, 0.25), "leftArrow": (0.0, 0.25, 0.0, 0.25),
    "downArrow": (0.25, 0.0, 0.25, 0.0), "upArrow": (0.25, 0.0, 0.25, 0.0),
}  # fmt: skip


def preset_paths(shape: str, box: Box) -> tuple[ShapePath, ...]:
    """Return the paths of a shape in a box, or an empty tuple for a shape without a path."""
    if shape not in _PATHS:
        return ()
    sides = (box.width, box.height) if shape in ("rightArrow", "leftArrow") else (box.height, box.width)
    head = round(PATH_SIDE / 2 * min(1.0, sides[1] / (sides[0] or 1)))
    data = _PATHS[shape].format(a=head, b=PATH_SIDE - head)
    return (ShapePath(data, "" if data.endswith("Z") else "none"),)


def text_insets(shape: str, box: Box) -> tuple[int, int, int, int]:
    """Return the distances of the text of a shape from the left, top, right and bottom of its box."""
    left, top, right, bottom = _TEXT_AREAS.get(shape, (0.0, 0.0, 0.0, 0.0))
    return int(left * box.width), int(top * box.height), int(right * box.width), int(bottom * box.height)
