"""Reads OpenDocument presentations (odp). The members of a group become separate shapes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import cos, degrees, sin
from typing import Any

from ...engines.images import natural_size
from ...input.numerals import integer
from ...input.odf_file import (
    OdfPackage,
    OdfStyles,
    StyleProperties,
    chart_kind,
    color_of,
    count_of,
    length,
    name,
    open_package,
)
from ...job import ConversionError, Job, TooLarge
from .. import clean, model
from ..clean import ImageStore
from ..model import OUTLINES, PathBuilder, preset_paths, text_insets

_T, _P = "text/", "paragraph/"
_ALIGNS: dict[str, model.Align] = {"left": "left", "center": "center", "right": "right", "justify": "justify"}
ANCHORS: dict[str, model.Anchor] = {"middle": "middle", "bottom": "bottom"}
_END: dict[bool, model.Align] = {False: "right", True: "left"}
_MAX_SPACES = 200
_SKIPPED = frozenset(name(it) for it in ("office:annotation", "text:note", "text:bookmark", "presentation:notes"))
_BLANKS = {name("text:s"): "\0", name("text:tab"): "\t", name("text:line-break"): "\n"}
_SPACES = re.compile(" +")
_XML_SPACES = str.maketrans("\t\r\n", "   ")


@dataclass(frozen=True, slots=True)
class ParagraphContext:
    """The inherited properties of a paragraph, and its list depth (0 outside lists), list style, outline and number."""

    properties: StyleProperties
    depth: int = 0
    style: str | None = None
    outline: str | None = None
    start: str = ""


@dataclass(frozen=True, slots=True)
class OdpTextReader:
    """Reads the text of shapes, and resolves text formats with the styles of the file."""

    styles: OdfStyles

    def paragraphs(
        self, element: Any, properties: StyleProperties, outline: str | None = None
    ) -> tuple[model.Paragraph, ...]:
        """Return the paragraphs inside a shape element, without empty paragraphs at the end.

        `properties` are inherited from the shape. `outline` is the common start of the style names of an outline's
        levels, such as "Default-outline".
        """
        return model.without_empty_end(self._paragraphs_inside(element, ParagraphContext(properties, outline=outline)))

    def line(self, element: Any) -> str:
        """Return the text of a paragraph element, without formatting."""
        return "".join(run.text for run in _collapsed(self._runs(element, {}, None)))

    def _paragraphs_inside(self, element: Any, context: ParagraphContext) -> Iterator[model.Paragraph]:
        for child in element:
            match str(child.tag):
                case tag if tag in (name("text:p"), name("text:h")):
                    yield self._paragraph(child, context)
                case tag if tag == name("text:list"):
                    style = child.get(name("text:style-name")) or context.style
                    yield from self._paragraphs_inside(child, replace(context, depth=context.depth + 1, style=style))
                case tag if tag in _LIST_PARTS:
                    start = child.get(name("text:start-value"), "")
                    yield from self._paragraphs_inside(child, replace(context, start=start))

    def _paragraph(self, element: Any, context: ParagraphContext) -> model.Paragraph:
        level = max(0, min(8, context.depth - 1))
        properties = dict(context.properties)
        if context.outline and level:  # each lower level of an outline has its own style
            lower = self.styles.properties("presentation", f"{context.outline}{level + 1}")
            properties |= {key: value for key, value in lower.items() if key.startswith(_T)}
        properties |= self.styles.properties("paragraph", element.get(name("text:style-name")))
        runs = tuple(model.merge_runs(_collapsed(self._runs(element, properties, None))))
        level_style = self.styles.list_level(context.style, level + 1) if context.depth else None
        has_marker = context.depth and any(run.text.strip() for run in runs)
        marker = self._marker(context.style, level_style) if has_marker else ""
        rtl = properties.get(_P + name("style:writing-mode"), "").startswith("rl")
        align, spacing = (properties.get(_P + name(f"fo:{key}"), "") for key in ("text-align", "line-height"))
        looks = _list_looks(level_style, integer(context.start)) if marker else {}
        return model.Paragraph(
            runs, level, marker, _ALIGNS.get(align, _END[rtl] if align == "end" else ""), rtl,
            line_spacing=max(0.2, min(10.0, integer(spacing.removesuffix("%"), 100) / 100)) if "%" in spacing else 1.0,
            before=_points(properties, "fo:margin-top"), after=_points(properties, "fo:margin-bottom"),
            **(looks if context.depth else _indents(properties)),
        )  # fmt: skip

    def _marker(self, style: str | None, level: Any) -> model.Marker:
        if level is None:
            return "" if style in self.styles.lists else "bullet"
        if level.tag == name("text:list-level-style-number"):
            return "number" if level.get(name("style:num-format")) else ""
        return "bullet" if level.get(name("text:bullet-char"), "•").strip() else ""

    def _runs(self, element: Any, properties: StyleProperties, link: str | None) -> Iterator[model.TextRun]:
        if element.text:
            yield _run(_normalize_spaces(element.text), properties, link)
        for child in element:
            yield from self._child(child, properties, link)
            if child.tail:
                yield _run(_normalize_spaces(child.tail), properties, link)

    def _child(self, child: Any, properties: StyleProperties, link: str | None) -> Iterator[model.TextRun]:
        if child.tag in _BLANKS:
            yield _run(_BLANKS[child.tag] * count_of(child, "text:c", _MAX_SPACES), properties, link)
        elif child.tag not in _SKIPPED and isinstance(child.tag, str):
            if child.tag == name("text:span"):
                properties = {**properties, **self.styles.properties("text", child.get(name("text:style-name")))}
            elif child.tag == name("text:a"):
                link = clean.link(child.get(name("xlink:href")))
            yield from self._runs(child, properties, link)


def _collapsed(runs: Iterable[model.TextRun]) -> Iterator[model.TextRun]:
    """Collapse white space, also across runs, as in ODF 1.3 part 3, 6.1.2. The blanks of `text:s`, "\\0", stay."""
    follows_blank = True
    for run in runs:
        content = _SPACES.sub(" ", run.text)
        content = content.lstrip(" ") if follows_blank else content
        follows_blank = content.endswith(" ") if content else follows_blank
        yield replace(run, text=content.replace("\0", " "))


def _points(properties: StyleProperties, key: str) -> float:
    return round(max(0.0, min(2_000.0, (length(properties.get(_P + name(key))) or 0.0) / model.POINT)), 1)


def _indents(properties: StyleProperties) -> dict[str, Any]:
    indent, first = (int(length(properties.get(_P + name(key))) or 0) for key in ("fo:margin-left", "fo:text-indent"))
    return {"indent": max(0, indent), "first": max(-max(0, indent), first)}


def _list_looks(level: Any, start: int) -> dict[str, Any]:
    """Return the label of a list level, its first number and its indents. `start` is the number of the item, or 0."""
    if level is None:
        return {}
    character = level.get(name("text:bullet-char"), "")[:1]
    number = (level.get(name(f"style:num-{part}"), "") for part in ("prefix", "format", "suffix"))
    looks: dict[str, Any] = {"bullet": "" if "\ue000" <= character <= "\uf8ff" else character or "".join(number)}
    looks["start"] = start or integer(level.get(name("text:start-value")), 1)
    properties = level.find(name("style:list-level-properties"))
    alignment = None if properties is None else properties.find(name("style:list-level-label-alignment"))
    if alignment is not None:
        keys = {_P + name(key): alignment.get(name(key), "") for key in ("fo:margin-left", "fo:text-indent")}
        return looks | _indents(keys)
    if properties is not None:
        before, width = (length(properties.get(name(f"text:{it}"))) or 0 for it in ("space-before", "min-label-width"))
        return looks | {"indent": max(0, int(before + width)), "first": -max(0, int(width))}
    return looks


_LIST_PARTS = frozenset(map(name, ("text:list-item", "text:list-header", "text:section", "text:numbered-paragraph")))


def _normalize_spaces(text: str) -> str:
    return clean.text(text).translate(_XML_SPACES)


def _run(text: str, properties: StyleProperties, link: str | None) -> model.TextRun:
    get = properties.get
    weight, size = get(_T + name("fo:font-weight"), ""), length(get(_T + name("fo:font-size")))
    return model.TextRun(
        text, bold=weight == "bold" or integer(weight) >= 600,
        italic=get(_T + name("fo:font-style"), "") in ("italic", "oblique"),
        underline=get(_T + name("style:text-underline-style"), "none") != "none",
        strike=get(_T + name("style:text-line-through-style"), "none") != "none",
        size=None if size is None else max(1.0, min(4_000.0, round(size / model.POINT, 1))),
        color=color_of(get(_T + name("fo:color")), "#000000")[1:] or None, link=link,
    )  # fmt: skip


_TOKEN = re.compile(r"[A-Za-z?$]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_COUNTS = {"M": 2, "L": 2, "C": 6, "H": 1, "V": 1, "Z": 0}  # the number of arguments of each command in SVG path data
_SHAPE_COMMANDS = frozenset("MLCZ")  # the commands that are read in the path of a custom shape
_MARKS = frozenset("FSHIJK")  # for the fill and the line of a custom shape: F means without fill, S without line
_NEXT = {"M": "L", "m": "l"}  # the command that arguments mean which follow those of another command
_DAMAGED = (ArithmeticError, LookupError, TypeError, ValueError)


def custom_paths(geometry: Any) -> tuple[model.ShapePath, ...]:
    """Return the paths of a `draw:enhanced-geometry`, or an empty tuple if they have arcs, formulas or damage."""
    with suppress(*_DAMAGED):
        view = _numbers(geometry.get(name("svg:viewBox"), "0 0 21600 21600"))
        tokens = " ".join(_TOKEN.findall(geometry.get(name("draw:enhanced-path"), "")))
        parts = (text.split() for text in re.split(r"(?<!\S)N(?!\S)", tokens))
        return tuple(path for part in parts if (path := _custom_path(part, PathBuilder(*view))).data)
    return ()


def _custom_path(part: list[str], builder: PathBuilder) -> model.ShapePath:
    commands = [token for token in part if token not in _MARKS]
    if any(token.isalpha() and token not in _SHAPE_COMMANDS for token in commands):
        raise LookupError("arcs are not read")
    add_svg_path(builder, " ".join(commands))
    return model.ShapePath(" ".join(builder.data), "none" if "F" in part else "", "S" not in part)


def drawn_path(element: Any) -> tuple[model.ShapePath, ...]:
    """Return the outline of a path, polygon or polyline in its box, or an empty tuple if it is damaged."""
    points = element.get(name("draw:points"))
    data = f"M {points}" if points else element.get(name("svg:d"), "")
    with suppress(*_DAMAGED):
        builder = PathBuilder(*_numbers(element.get(name("svg:viewBox"), "")))
        add_svg_path(builder, data + " Z" * (element.tag == name("draw:polygon")))
        open_path = builder.data and not builder.data[-1].startswith("Z")
        return (model.ShapePath(" ".join(builder.data), "none" if open_path else ""),) if builder.data else ()
    return ()


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.replace(",", " ").split()[:100]]


def add_svg_path(builder: PathBuilder, data: str) -> None:
    """Add the commands of SVG path data to a path. Raises LookupError for arcs and for curves without both controls."""
    letter, arguments = "", list[str]()
    for token in _TOKEN.findall(data):
        if token.isalpha():
            letter, arguments = token, []
        else:
            arguments.append(token)
        command = letter.upper()
        if letter and len(arguments) == _COUNTS[command]:
            numbers = list(map(float, arguments))
            x, y = builder.point if letter.islower() else (0.0, 0.0)
            if command in "HV":
                numbers = [x + numbers[0], builder.point[1]] if command == "H" else [builder.point[0], y + numbers[0]]
                command, x, y = "L", 0.0, 0.0
            builder.add(command, *(number + (y if n % 2 else x) for n, number in enumerate(numbers)))
            letter, arguments = _NEXT.get(letter, letter) if arguments else "", []


_MAX_COLUMNS, _MAX_ROWS = 200, 1_000


def table_of(element: Any, box: model.Box, styles: OdfStyles, alt: str) -> model.SlideTable | None:
    """Read a table element as a slide table whose rows have equal length. Return None if the table has no cells."""
    lines = list(_row_elements(element))
    rows = [_row(line, styles) for line in lines]
    count = max((len(row) for row in rows), default=0)
    if not count:
        return None
    grid = tuple(row + (model.TableCell(),) * (count - len(row)) for row in rows)
    widths = _sizes(list(element.iter(name("table:table-column"))), "column", styles, box.width, count)
    heights = _sizes(lines, "row", styles, box.height, len(grid))
    has_header_rows = element.find(name("table:table-header-rows")) is not None
    header = element.get(name("table:use-first-row-styles")) == "true" or has_header_rows
    return model.SlideTable(box, grid, widths, heights, header, alt)


def _row_elements(element: Any) -> Iterator[Any]:
    count = 0
    for line in element.iter(name("table:table-row")):
        for _ in range(count_of(line, "table:number-rows-repeated", _MAX_ROWS)):
            count += 1
            if count <= _MAX_ROWS:
                yield line


def _row(line: Any, styles: OdfStyles) -> tuple[model.TableCell | None, ...]:
    cells: list[model.TableCell | None] = []
    default = line.get(name("table:default-cell-style-name"))
    for element in line:
        times = count_of(element, "table:number-columns-repeated", _MAX_COLUMNS)
        if element.tag == name("table:covered-table-cell"):
            cells += [None] * times
        elif element.tag == name("table:table-cell"):
            cells += [_cell(element, styles, default)] * times
    return tuple(cells[:_MAX_COLUMNS])


def _cell(element: Any, styles: OdfStyles, default: str | None) -> model.TableCell:
    properties = styles.properties("table-cell", element.get(name("table:style-name"), default))
    columns = count_of(element, "table:number-columns-spanned", _MAX_COLUMNS)
    rows = count_of(element, "table:number-rows-spanned", _MAX_ROWS)
    fill = properties.get("table-cell/" + name("fo:background-color"), "")
    if properties.get("graphic/" + name("draw:fill")) == "solid":
        fill = properties.get("graphic/" + name("draw:fill-color")) or fill
    paragraphs = OdpTextReader(styles).paragraphs(element, properties)
    anchor = ANCHORS.get(properties.get("graphic/" + name("draw:textarea-vertical-align"), ""), "top")
    groups = ("paragraph", "table-cell")
    lines = (
        next(filter(None, (properties.get(f"{group}/{name(key)}") for group in groups for key in keys)), "")
        for keys in ((f"fo:border-{side}", "fo:border") for side in ("left", "top", "right", "bottom"))
    )
    borders = tuple(color_of(line[-7:])[1:] for line in lines)
    return model.TableCell(paragraphs, columns, rows, color_of(fill)[1:] or None, anchor, borders)


def _sizes(elements: list[Any], kind: str, styles: OdfStyles, total: int, count: int) -> tuple[int, ...]:
    """Return column widths or row heights in EMU. Missing sizes are `total / count`. `kind` is "column" or "row"."""
    key = f"table-{kind}/" + name("style:column-width" if kind == "column" else "style:row-height")
    sizes: list[int] = []
    for element in elements:
        properties = styles.properties(f"table-{kind}", element.get(name("table:style-name")))
        times = count_of(element, "table:number-columns-repeated", count) if kind == "column" else 1
        sizes += [int(length(properties.get(key)) or total / count)] * times
    return tuple(sizes[:count]) + (total // count,) * (count - len(sizes))


_ROLES: dict[str, model.Role] = {
    "title": "title", "subtitle": "subtitle", "outline": "body",
    "footer": "footer", "header": "footer", "date-time": "footer", "page-number": "footer",
}  # fmt: skip
_PRESETS = {  # PowerPoint's names of the shapes of OpenDocument
    "circle": "ellipse", "round-rectangle": "roundRect", "isosceles-triangle": "triangle",
    "right-triangle": "rtTriangle", "right-arrow": "rightArrow", "left-arrow": "leftArrow", "up-arrow": "upArrow",
    "down-arrow": "downArrow",
}  # fmt: skip
_COURSES = {"standard": "bentConnector3", "curve": "curvedConnector3"}  # connectors that are not straight
_DASHES: dict[str, model.Dash] = {"dot": "dot", "dashdot": "dashdot"}
_ARROWHEADS: dict[str, model.Arrowhead] = {"diamond": "diamond", "square": "diamond", "circle": "oval", "oval": "oval"}
_TRANSFORM = re.compile(r"(\w+)\s*\(([^)]{0,200})\)")
_GRAPHIC = "graphic/"


@dataclass(frozen=True, slots=True)
class OdpShapeReader:
    """Reads the shapes of a page."""

    styles: OdfStyles
    files: OdfPackage
    image_store: ImageStore
    job: Job
    page: tuple[int, int]
    gradients: Mapping[str, str] = field(default_factory=dict)

    def shapes(self, root: Any, *, placeholders: bool = True) -> Iterator[model.Shape]:
        """Yield the shapes of a page from back to front. If `placeholders` is false, skip placeholders."""
        for element in root:
            if placeholders or element.get(name("presentation:class")) is None:
                yield from self._shape(element)

    def _shape(self, element: Any) -> Iterator[model.Shape]:
        if element.get(name("presentation:placeholder")) == "true":
            return
        kind = str(element.tag)
        with self.job.leaving_out("A shape"):
            if kind in (name("draw:g"), name("draw:a")):
                for child in element:
                    yield from self._shape(child)
            elif kind == name("draw:frame"):
                yield from self._frame(element)
            elif kind.startswith(name("draw:")):
                yield from self._drawn_shape(element, kind.rpartition("}")[2])

    def _frame(self, element: Any) -> Iterator[model.Shape]:
        box = self._box(element)
        for child in element:
            if child.tag == name("draw:text-box"):
                yield from self._text(element, child, box)
            elif child.tag == name("table:table"):
                table = table_of(child, box, self.styles, _alt(element))
                yield from () if table is None else (table,)
            elif child.tag == name("draw:object") and (chart := self._chart(child, box)) is not None:
                yield chart
            elif child.tag in (name("draw:image"), name("draw:plugin")) and (picture := self.image_name(child)):
                yield self._picture(element, box, picture)
                for text in self._text(element, child, box):
                    if isinstance(text, model.Text) and text.paragraphs:  # a fill would cover the picture
                        yield replace(text, fill=None, line=None, outline="")
            else:  # an object that is not a chart is shown by the picture that follows
                continue
            return
        objects = element.findall(name("draw:object"))
        lines = [line for part in objects for line in self.plain_text(self.files.embedded(part)).splitlines()]
        if lines:
            yield model.Text(box, tuple(model.Paragraph((model.TextRun(line),)) for line in lines))
        elif objects:
            self.job.note("an object without a picture was left out.")

    def _text(
        self, element: Any, body: Any, box: model.Box, outline: model.Outline = "",
        paths: tuple[model.ShapePath, ...] = (), area: tuple[int, ...] = (),
    ) -> Iterator[model.Shape]:  # fmt: skip
        properties = self._properties(element)
        outline_style = None
        if element.get(name("presentation:class")) == "outline":  # the parent style formats the first level
            style = element.get(name("presentation:style-name"), "")
            parent = self.styles.attribute("presentation", style, "style:parent-style-name")
            outline_style = parent.removesuffix("1") if parent.endswith("outline1") else None
        paragraphs = OdpTextReader(self.styles).paragraphs(body, properties, outline_style)
        fill, line = _color(properties, "fill", self.gradients), _color(properties, "stroke", {})
        if not paragraphs and not fill and not line:
            return
        role = _ROLES.get(element.get(name("presentation:class"), ""), "")
        anchor = ANCHORS.get(properties.get(_GRAPHIC + name("draw:textarea-vertical-align"), ""), "top")
        form: model.Outline = (outline or "rectangle") if (fill or line) and not paths else ""
        shrinks = properties.get(_GRAPHIC + name("draw:fit-to-size")) == "shrink-to-fit"
        yield model.Text(
            box, paragraphs, role, anchor, form, fill, line, _alt(element), paths, _stroke(properties),
            _insets(properties, area), "shrink" if shrinks else "",
            properties.get(_GRAPHIC + name("fo:wrap-option")) != "no-wrap",
        )  # fmt: skip

    def _drawn_shape(self, element: Any, kind: str) -> Iterator[model.Shape]:
        geometry = element.find(name("draw:enhanced-geometry"))
        if kind in ("line", "connector"):
            x1, y1, x2, y2 = (length(element.get(name(f"svg:{key}"))) or 0.0 for key in ("x1", "y1", "x2", "y2"))
            box = model.Box.of(min(x1, x2), min(y1, y2), abs(x2 - x1), abs(y2 - y1), flip=(x2 < x1, y2 < y1))
            course = "line" if kind == "line" else _COURSES.get(element.get(name("draw:type"), "standard"), "line")
            yield from self._text(element, element, box, "", preset_paths(course, box))
        elif kind in ("path", "polygon", "polyline"):
            yield from self._text(element, element, self._box(element), "", drawn_path(element))
        else:
            form = kind if geometry is None else geometry.get(name("draw:type"), "")
            preset = _PRESETS.get(form, form.removeprefix("ooxml-"))
            outline = "round" if element.get(name("draw:corner-radius")) else OUTLINES.get(preset, "")
            box = self._box(element)
            paths, area = preset_paths(preset, box), text_insets(preset, box)
            if not (paths or outline or geometry is None or form == "rectangle"):
                paths = custom_paths(geometry)
            if geometry is not None:
                flips = (geometry.get(name(f"draw:mirror-{side}")) == "true" for side in ("horizontal", "vertical"))
                box = replace(box, **dict(zip(("flip_x", "flip_y"), flips, strict=True)))
            yield from self._text(element, element, box, outline, paths, area)

    def _properties(self, element: Any) -> StyleProperties:
        placeholder = element.get(name("presentation:style-name"))
        family = "presentation" if placeholder else "graphic"
        properties = self.styles.properties(family, placeholder or element.get(name("draw:style-name")))
        return properties | self.styles.properties("paragraph", element.get(name("draw:text-style-name")))

    def _chart(self, element: Any, box: model.Box) -> model.Shape | None:
        root = self.files.embedded(element)
        table = next(root.iter(name("table:table")), None)
        if table is None:
            return None
        self.job.note("a chart is kept as a table.")
        table_shape = table_of(table, box, self.styles, "")
        if not isinstance(table_shape, model.SlideTable):
            return table_shape
        (first, *others), *rows = table_shape.rows
        if title := next((self.plain_text(it) for it in root.iter(name("chart:title"))), ""):
            first = replace(first or model.TableCell(), paragraphs=(model.Paragraph((model.TextRun(title),)),))
        return replace(table_shape, rows=((first, *others), *rows), chart=chart_kind(root))

    def _picture(self, element: Any, box: model.Box, picture: str) -> model.SlidePicture:
        properties = self._properties(element)
        mirror = properties.get(_GRAPHIC + name("style:mirror"), "")
        box = replace(box, flip_x="horizontal" in mirror, flip_y="vertical" in mirror)
        shape = model.SlidePicture(box, picture, _alt(element))
        clip = properties.get(_GRAPHIC + name("fo:clip"), "").removeprefix("rect(").removesuffix(")")
        cuts = [max(0.0, length(side) or 0.0) for side in re.split("[ ,]+", clip)]
        if len(cuts) != 4 or not any(cuts):
            return shape
        top, right, bottom, left = cuts
        width, height = natural_size(self.image_store.pictures[picture], self.job.limits)
        is_visible = left + right < width and top + bottom < height
        crop = left / width, top / height, right / width, bottom / height
        return replace(shape, crop=crop) if is_visible else shape

    def image_name(self, image: Any) -> str | None:
        """Store the picture of an image element, and return its name. Returns None for unusable pictures."""
        return self.image_store.name_of(*self.files.picture(image))

    def plain_text(self, element: Any) -> str:
        """Return the text of all paragraphs inside an element, separated by newlines."""
        text_reader = OdpTextReader(self.styles)
        return "\n".join(text_reader.line(it) for it in element.iter(name("text:p"), name("text:h")))

    def _box(self, element: Any) -> model.Box:
        sizes = [length(element.get(name(f"svg:{it}"))) for it in ("width", "height")]
        if None in sizes:
            return model.Box.default(self.page)
        width, height = (max(0.0, size or 0.0) for size in sizes)
        x, y = (length(element.get(name(f"svg:{it}"))) or 0.0 for it in "xy")
        transform = element.get(name("draw:transform"))
        return _apply_transform(transform, x, y, width, height) if transform else model.Box.of(x, y, width, height)


def _apply_transform(text: str, x: float, y: float, width: float, height: float) -> model.Box:
    """Apply `rotate (angle) translate (x y)` to a box. The angle is in radians and counterclockwise."""
    angle = 0.0
    for function, arguments in _TRANSFORM.findall(text[:1000]):
        parts = arguments.replace(",", " ").split()
        if function == "rotate" and parts:
            with suppress(ValueError):
                angle += max(-100.0, min(100.0, float(parts[0])))
        elif function == "translate" and parts:
            x += length(parts[0]) or 0.0
            y += (length(parts[1]) or 0.0) if len(parts) > 1 else 0.0
    middle_x = x + cos(angle) * width / 2 + sin(angle) * height / 2
    middle_y = y - sin(angle) * width / 2 + cos(angle) * height / 2
    return model.Box.of(middle_x - width / 2, middle_y - height / 2, width, height, -degrees(angle))


def _color(properties: StyleProperties, property_name: str, gradients: Mapping[str, str]) -> str | None:
    """Return the "fill" or "stroke" colour of a shape as six hexadecimal digits, or None without a colour."""
    kind = properties.get(_GRAPHIC + name(f"draw:{property_name}"), "none")
    prefix = "svg" if property_name == "stroke" else "draw"
    color = color_of(properties.get(_GRAPHIC + name(f"{prefix}:{property_name}-color")))[1:]
    if kind == "gradient":
        color = gradients.get(properties.get(_GRAPHIC + name("draw:fill-gradient-name"), "")) or color
    if kind in ("none", "bitmap") or not color:
        return None
    opacity = properties.get(_GRAPHIC + name("svg:stroke-opacity" if property_name == "stroke" else "draw:opacity"), "")
    share = min(1.0, integer(opacity.removesuffix("%"), 100) / 100)
    return None if share < 0.05 else color + (f"{round(share * 255):02x}" if share < 0.99 else "")


def _stroke(properties: StyleProperties) -> model.Stroke:
    def get(key: str) -> str:
        return properties.get(_GRAPHIC + name(key), "")

    def arrowhead(marker: str) -> model.Arrowhead:
        return next((it for key, it in _ARROWHEADS.items() if key in marker.lower()), "triangle") if marker else ""

    name_of_dash = get("draw:stroke-dash").lower().replace("_20_", "")
    dash: model.Dash = next((it for key, it in _DASHES.items() if key in name_of_dash), "dash")
    width = length(get("svg:stroke-width"))
    ends = (arrowhead(get(f"draw:marker-{end}")) for end in ("start", "end"))
    dash = dash if get("draw:stroke") == "dash" else ""
    return model.Stroke(model.POINT if width is None else int(width), dash, *ends)


def _insets(properties: StyleProperties, area: tuple[int, ...]) -> Any:
    """Return the padding of a shape together with the distances of its text area from its box."""
    sides = zip(("left", "top", "right", "bottom"), model.INSETS, area or (0,) * 4, strict=True)
    paddings = ((length(properties.get(_GRAPHIC + name(f"fo:padding-{it}"))), inset, free) for it, inset, free in sides)
    return tuple(int((inset if padding is None else padding) + free) for padding, inset, free in paddings)


def _alt(element: Any) -> str:
    texts = (element.findtext(name(f"svg:{kind}")) for kind in ("desc", "title"))
    return clean.text(next((text for text in texts if text), ""))


_DRAWING_PAGE = "drawing-page/"
_CLASS = name("presentation:class")
_NUMBER = name("text:page-number")
_FIELDS = (_NUMBER, name("presentation:footer"), name("presentation:date-time"))
_FOOTERS = ("footer", "date-time", "page-number")
_GRADIENT = name("draw:gradient")


def read(source: bytes, job: Job) -> model.Presentation:
    """Read an odp file. Raises ConversionError if the file is not valid, and TooLarge above a size limit."""
    with open_package(source, job) as package:
        return OdpReader(package, job).presentation()


class OdpReader:
    """Reads the slides of one presentation."""

    def __init__(self, files: OdfPackage, job: Job) -> None:
        self._files, self._job, self._image_store = files, job, ImageStore(job)
        self._content = files.xml("content.xml")
        self._styles = files.xml("styles.xml", b"<none/>")
        common = self._styles.findall(name("office:styles"))
        self._content_styles = OdfStyles([*common, *self._content.findall(name("office:automatic-styles"))])
        self._master_styles = OdfStyles([*common, *self._styles.findall(name("office:automatic-styles"))])
        self._gradients = {
            gradient.get(name("draw:name"), ""): _middle_color(gradient) for gradient in self._styles.iter(_GRADIENT)
        }
        masters = self._styles.iter(name("style:master-page"))
        self._masters = {master.get(name("style:name"), ""): master for master in masters}
        elements = self._content.iter(*(name(f"presentation:{kind}-decl") for kind in ("footer", "date-time")))
        self._declarations = {
            (it.tag.rpartition("}")[2], it.get(name("presentation:name"))): it.text or "" for it in elements
        }

    def presentation(self) -> model.Presentation:
        """Read all slides, the page size and the title. Raises ConversionError if the file is not a presentation."""
        body = self._content.find(f"{name('office:body')}/{name('office:presentation')}")
        if body is None:
            raise ConversionError("the file is an OpenDocument file, but not a presentation.")
        pages = body.findall(name("draw:page"))
        if len(pages) > model.MAX_SLIDES:
            raise TooLarge(f"the presentation has more than {model.MAX_SLIDES} slides.")
        slides = tuple(self._slide(element, number) for number, element in enumerate(pages, 1))
        meta = self._files.xml("meta.xml", b"<none/>")
        title = clean.text(next((element.text or "" for element in meta.iter(name("dc:title"))), ""))
        return model.Presentation(*self._page, slides, title, self._image_store.pictures)

    @cached_property
    def _page(self) -> tuple[int, int]:
        """The width and height of the first slide in EMU, which apply to all slides of a presentation."""
        first = next(self._content.iter(name("draw:page")), None)
        master = None if first is None else self._master(first)
        layout_name = None if master is None else master.get(name("style:page-layout-name"))
        for layout in self._styles.iter(name("style:page-layout")):
            properties = layout.find(name("style:page-layout-properties"))
            if layout.get(name("style:name")) == layout_name and properties is not None:
                sizes = (length(properties.get(name(f"fo:page-{side}"))) for side in ("width", "height"))
                width, height = (size or 0 for size in sizes)
                if width and height:
                    return model.clamp_page_size(width, height)
        return model.DEFAULT_PAGE

    def _master(self, element: Any) -> Any:
        return self._masters.get(element.get(name("draw:master-page-name"), ""))

    def _slide(self, element: Any, number: int) -> model.Slide:
        master = self._master(element)
        self._fill_fields(element, number, master)
        properties = self._content_styles.properties("drawing-page", element.get(name("draw:style-name")))
        shapes = tuple(self._reader(self._content_styles).shapes(element))
        fill_color, background_shapes = self._background(properties, master)
        if master is not None:
            if properties.get(_DRAWING_PAGE + name("presentation:background-objects-visible")) != "false":
                background_shapes += tuple(self._reader(self._master_styles).shapes(master, placeholders=False))
            shapes += tuple(self._footers(master, properties))
        hidden = properties.get(_DRAWING_PAGE + name("presentation:visibility")) == "hidden"
        return model.Slide(shapes, background_shapes, fill_color, self._notes(element), hidden)

    def _reader(self, styles: OdfStyles) -> OdpShapeReader:
        return OdpShapeReader(styles, self._files, self._image_store, self._job, self._page, self._gradients)

    def _background(self, properties: Mapping[str, str], master: Any) -> tuple[str | None, tuple[model.Shape, ...]]:
        """Return the background colour and a tuple with the background picture of a slide or of its master.

        The colour is None if the background is white or has no colour. The tuple is empty without a picture.
        """
        with self._job.leaving_out("The background of a slide"):
            if _DRAWING_PAGE + name("draw:fill") not in properties and master is not None:
                properties = self._master_styles.properties("drawing-page", master.get(name("draw:style-name")))
            kind = properties.get(_DRAWING_PAGE + name("draw:fill"), "none")
            color = color_of(properties.get(_DRAWING_PAGE + name("draw:fill-color")), "#ffffff")
            if kind in ("solid", "gradient", "hatch") and color:
                return color[1:], ()
            image_name = properties.get(_DRAWING_PAGE + name("draw:fill-image-name")) if kind == "bitmap" else None
            for image in self._styles.iter(name("draw:fill-image")) if image_name else ():
                if image.get(name("draw:name")) == image_name:
                    picture = self._reader(self._content_styles).image_name(image)
                    return None, (model.SlidePicture(model.Box(0, 0, *self._page), picture),) if picture else ()
        return None, ()

    def _fill_fields(self, element: Any, number: int, master: Any) -> None:
        """Write the number, the footer and the date of a slide into its fields and those of its master page."""
        used = ((f"{it}-decl", element.get(name(f"presentation:use-{it}-name"))) for it in ("footer", "date-time"))
        declared = (self._declarations.get(key, "") for key in used)
        texts = dict(zip(_FIELDS, (str(number), *declared), strict=True))
        for text_field in (*element.iter(_NUMBER), *(() if master is None else master.iter(*_FIELDS))):
            text_field.text = texts[text_field.tag]

    def _footers(self, master: Any, properties: Mapping[str, str]) -> Iterator[model.Shape]:
        """Yield the footers of the master page that the slide shows."""
        for frame in master.iterchildren(name("draw:frame")):
            kind = frame.get(_CLASS)
            if kind in _FOOTERS and properties.get(_DRAWING_PAGE + name(f"presentation:display-{kind}")) == "true":
                yield from self._reader(self._master_styles).shapes([frame])

    def _notes(self, element: Any) -> str:
        """Return the text of the notes page, without the page number."""
        shapes = element.iterfind(f"{name('presentation:notes')}/*")
        reader = self._reader(self._content_styles)
        notes = [reader.plain_text(shape) for shape in shapes if shape.find(f".//{_NUMBER}") is None]
        return "\n".join(notes).strip()


def _middle_color(gradient: Any) -> str:
    """Return the colour in the middle of a gradient, or "" if it has no colours."""
    start, end = (color_of(gradient.get(name(f"draw:{it}-color")))[1:] for it in ("start", "end"))
    return model.mix(start, end, 0.5) if start and end else ""
