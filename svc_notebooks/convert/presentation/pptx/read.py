"""Reads PowerPoint presentations (pptx). The members of a group become separate shapes."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.resources import files
from math import cos, radians, sin
from typing import Any

import pptx

from ...engines import libreoffice
from ...input.zip_file import chart_kind, chart_rows, open_archive
from ...job import MIB, ConversionError, Job, TooLarge
from .. import clean, model
from ..clean import ImageStore
from ..model import OUTLINES, PathBuilder, preset_paths, text_insets
from . import slide_theme as theme
from .slide_theme import A, P, R

_POINTS = {"moveTo": ("M", 1), "lnTo": ("L", 1), "cubicBezTo": ("C", 3)}


def freeform_paths(element: Any, box: model.Box) -> tuple[model.ShapePath, ...]:
    """Return the parts of the outline of an `a:custGeom` element, without a part that has formulas or arcs."""
    width, height = box.width, box.height
    sides = {"l": 0, "t": 0, "r": width, "b": height, "w": width, "h": height, "hc": width / 2, "vc": height / 2}
    paths = []
    for part in element.iterfind(f"{A}pathLst/{A}path"):
        with suppress(LookupError, ValueError, OverflowError):
            paths += [path] if (path := _path(part, width, height, sides)).data else []
    return tuple(paths)


def _path(element: Any, width: int, height: int, sides: Mapping[str, float]) -> model.ShapePath:
    def value(text: str | None) -> float:
        return sides[text] if text and text in sides else float(text or "0")

    builder = PathBuilder(0, 0, value(element.get("w")) or width, value(element.get("h")) or height)
    for command in element.iterchildren("{*}*"):
        if command.tag == f"{A}close":
            builder.add("Z")
        else:
            letter, count = _POINTS[command.tag.removeprefix(A)]
            points = [value(point.get(key)) for point in command.iterchildren(f"{A}pt") for key in "xy"]
            if len(points) >= 2 * count:
                builder.add(letter, *points[: 2 * count])
    fill: model.PathFill = "none" if element.get("fill") == "none" else ""
    return model.ShapePath(" ".join(builder.data), fill, element.get("stroke", "1") in ("1", "true"))


D = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
MAX_ROWS = 200
_SIZE = 12.0


def chart_table(chart: Any, drawing: Any, box: model.Box, job: Job) -> model.SlideTable | None:
    """Read a chart as a table of categories (rows) and series (columns). Returns None if the chart has no values.

    The corner has the titles of the chart and its axes, and the text that `drawing` (XML or None) draws over the chart.
    """
    rows = chart_rows(chart, MAX_ROWS, job)
    if not rows:
        return None
    texts = (_text(paragraph) for root in (chart, drawing) if root is not None for paragraph in root.iter(f"{A}p"))
    lines = [list(map(clean.ooxml_text, row)) for row in rows]
    lines[0][0] = "\n".join(filter(None, texts))
    count = len(lines[0])
    widths, heights = (box.width // count,) * count, (box.height // len(lines),) * len(lines)

    def cell(text: str) -> model.TableCell:
        return model.TableCell((model.Paragraph((model.TextRun(text, size=_SIZE),)),) if text else ())

    cells = tuple(tuple(map(cell, line)) for line in lines)
    return model.SlideTable(box, cells, widths, heights, header=True, chart=chart_kind(chart))


def diagram_text(data: Any, box: model.Box) -> model.Text | None:
    """Read the text of a diagram as a bulleted list. Return None if the diagram has no text."""
    lines = [_text(point.find(f"{D}t")) for point in data.iter(f"{D}pt") if point.get("type", "node") == "node"]
    paragraphs = tuple(model.Paragraph((model.TextRun(line),), marker="bullet") for line in lines if line)
    return model.Text(box, paragraphs, autofit="shrink") if paragraphs else None


def _text(element: Any) -> str:
    return "" if element is None else clean.ooxml_text("".join(text.text or "" for text in element.iter(f"{A}t")))


_MAX_COLUMNS = 200
_MEDIUM_STYLES = {  # the theme colours of built-in table styles, which some files name without a definition
    "{5C22544A-7EE6-4342-B048-85BDC9FD1C3A}": "accent1", "{21E4AEA4-8DFA-4A89-87EB-49C32662AFE0}": "accent2",
    "{F5AB1C69-6EDB-4FF4-983F-18BD219EF322}": "accent3", "{00A15C55-8517-42AA-B614-E9B94910E393}": "accent4",
    "{7DF18680-E054-41AD-8BC1-D1AEF772440D}": "accent5", "{93296810-A885-4BE3-A3E7-6D5BEEA58F35}": "accent6",
}  # fmt: skip
_ANCHORS: dict[str, model.Anchor] = {"t": "top", "ctr": "middle", "b": "bottom"}
_SIDES = ("left", "top", "right", "bottom")
_OWN_SIDES = dict(zip(_SIDES, ("lnL", "lnT", "lnR", "lnB"), strict=True))
_INSIDE = {"left": "insideV", "right": "insideV", "top": "insideH", "bottom": "insideH"}


def table_of(element: Any, box: model.Box, slide_theme: theme.SlideTheme, part: Any) -> model.SlideTable | None:
    """Read a table element as a slide table whose rows have equal length. Return None if the table has no cells."""
    widths = [_number(column, "w") for column in element.iter(f"{A}gridCol")][:_MAX_COLUMNS]
    row_elements = list(element.iterchildren(f"{A}tr"))
    if not row_elements or not widths:
        return None
    reader = TableReader(element, slide_theme, part, len(widths), len(row_elements))
    rows = tuple(reader.row(line, y) for y, line in enumerate(row_elements))
    heights = tuple(_number(line, "h") for line in row_elements)
    box = model.Box.of(box.x, box.y, sum(widths), sum(heights), box.turn)
    return model.SlideTable(box, rows, tuple(widths), heights, "firstRow" in reader.flags)


@dataclass(frozen=True, slots=True)
class TableCellStyle:
    """What a table style says about a cell. Borders have colours by side, "" for no line."""

    fill: str | None = None
    color: str | None = None
    bold: bool = False
    borders: tuple[tuple[str, str], ...] = ()


class TableReader:
    """Reads the cells of one table, and formats them as its table style says (ECMA-376 part 1, 20.1.4.2)."""

    def __init__(self, element: Any, slide_theme: theme.SlideTheme, part: Any, columns: int, rows: int) -> None:
        self._slide_theme, self._part, self._columns, self._rows = slide_theme, part, columns, rows
        properties = element.find(f"{A}tblPr")
        names = ("firstRow", "lastRow", "firstCol", "lastCol", "bandRow", "bandCol")
        self.flags = {name for name in names if properties is not None and properties.get(name) in ("1", "true")}
        style = "" if properties is None else properties.findtext(f"{A}tableStyleId", "")
        self._style = slide_theme.table_styles.get(style)
        if self._style is None and style in _MEDIUM_STYLES:
            template = (files(__package__) / "table_style.xml").read_text()
            self._style = theme.parse_xml(template.format(_MEDIUM_STYLES[style]).encode())

    def row(self, element: Any, y: int) -> tuple[model.TableCell | None, ...]:
        """Return the cells of a row, with empty cells for missing cells."""
        elements = list(element.iterchildren(f"{A}tc"))[: self._columns]
        cells = [self._cell(cell, x, y) for x, cell in enumerate(elements)]
        return tuple(cells + [model.TableCell()] * (self._columns - len(cells)))

    def _cell(self, element: Any, x: int, y: int) -> model.TableCell | None:
        if element.get("hMerge") in ("1", "true") or element.get("vMerge") in ("1", "true"):
            return None
        columns, rows = max(1, _number(element, "gridSpan")), max(1, _number(element, "rowSpan"))
        style, properties = self._cell_style(x, y, columns, rows), element.find(f"{A}tcPr")
        colors = self._slide_theme.colors
        text_styles = theme.PptxTextStyles(self._slide_theme, self._part, color=style.color, bold=style.bold)
        own = theme.fill(properties, colors)
        shade = style.fill if own is None else own
        borders = dict(style.borders)
        for side, name in _OWN_SIDES.items():
            line = None if properties is None else theme.fill(properties.find(f"{A}{name}"), colors)
            borders |= {} if line is None else {side: line[:6]}
        return model.TableCell(
            text_styles.paragraphs(element.find(f"{A}txBody")), columns, rows, shade[:6] if shade else None,
            "top" if properties is None else _ANCHORS.get(properties.get("anchor", ""), "top"),
            tuple(borders.get(side, "") for side in _SIDES),
        )  # fmt: skip

    def _cell_style(self, x: int, y: int, columns: int, rows: int) -> TableCellStyle:
        style, colors, formats = TableCellStyle(), self._slide_theme.colors, self._slide_theme.formats
        for name, edges in self._parts(x, y, x + columns >= self._columns, y + rows >= self._rows):
            part = None if self._style is None else self._style.find(f"{A}{name}")
            text, cell = (None if part is None else part.find(f"{A}{kind}") for kind in ("tcTxStyle", "tcStyle"))
            if text is not None:
                digits = next((it for child in text if (it := theme.color((child,), colors))), style.color)
                style = replace(style, color=digits and digits[:6], bold=style.bold or text.get("b") == "on")
            if cell is not None:
                own_fill, reference = cell.find(f"{A}fill"), cell.find(f"{A}fillRef")
                shade = theme.fill(own_fill, colors) or theme.theme_color(formats, reference, colors)
                names = ((side, side if side in edges else _INSIDE[side]) for side in _SIDES)
                lines = ((side, cell.find(f"{A}tcBdr/{A}{name}")) for side, name in names)
                borders = tuple((side, self._line(line[0])) for side, line in lines if line is not None and len(line))
                style = replace(style, fill=shade or style.fill, borders=style.borders + borders)
        return style

    def _line(self, element: Any) -> str:
        colors, formats = self._slide_theme.colors, self._slide_theme.formats
        digits = theme.fill(element, colors) if element.tag == f"{A}ln" else theme.theme_color(formats, element, colors)
        return (digits or "")[:6]

    def _parts(self, x: int, y: int, last_column: bool, last_row: bool) -> Iterator[tuple[str, set[str]]]:
        """Yield the parts of a table style that format a cell, and the sides where the part ends at the cell."""
        across = {side for side, ends in (("left", x == 0), ("right", last_column)) if ends}
        down = {side for side, ends in (("top", y == 0), ("bottom", last_row)) if ends}
        yield "wholeTbl", across | down
        if "bandCol" in self.flags:
            yield f"band{(x - ('firstCol' in self.flags)) % 2 + 1}V", {"left", "right"} | down
        if "bandRow" in self.flags:
            yield f"band{(y - ('firstRow' in self.flags)) % 2 + 1}H", across | {"top", "bottom"}
        for name, applies in (("firstCol", x == 0), ("lastCol", last_column)):
            if applies and name in self.flags:
                yield name, {"left", "right"} | down
        for name, applies in (("firstRow", y == 0), ("lastRow", last_row)):
            if applies and name in self.flags:
                yield name, across | {"top", "bottom"}


def _number(element: Any, name: str) -> int:
    return max(0, int(theme.number(element.get(name))))


_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_DSP = "{http://schemas.microsoft.com/office/drawing/2008/diagram}"
_READABLE = "a14"  # formulas, which PptxTextStyles reads; other choices have a picture as fallback

_ROLES: dict[str, model.Role] = {
    "title": "title", "ctrTitle": "title", "subTitle": "subtitle", "body": "body", "obj": "body",
    "dt": "footer", "ftr": "footer", "sldNum": "footer", "hdr": "footer",
}  # fmt: skip
_DIRECTIONS = {"vert": "down", "eaVert": "down", "vert270": "up", "wordArtVert": "stacked", "wordArtVertRtl": "stacked"}
_INSETS = dict(zip(("lIns", "tIns", "rIns", "bIns"), model.INSETS, strict=True))
_GEOMETRIES = (f"{A}prstGeom", f"{A}custGeom")
_AUTOFITS = {f"{A}normAutofit": "shrink", f"{A}spAutoFit": "none", f"{A}noAutofit": "none"}


@dataclass(frozen=True, slots=True)
class GroupTransform:
    """Converts coordinates inside a group to page coordinates.

    `box` is the group's box in outer coordinates, and `inside` is the same box in the group's own coordinates.
    """

    box: model.Box
    inside: model.Box
    outer: GroupTransform | None

    def to_page(self, box: model.Box) -> model.Box:
        """Convert a box from the coordinates inside this group to page coordinates."""
        group = self.box
        scale_x = group.width / self.inside.width if self.inside.width else 1.0
        scale_y = group.height / self.inside.height if self.inside.height else 1.0
        width, height = box.width * scale_x, box.height * scale_y
        x = box.x * scale_x + (group.x - self.inside.x * scale_x)
        y = box.y * scale_y + (group.y - self.inside.y * scale_y)
        x = 2 * group.x + group.width - x - width if group.flip_x else x
        y = 2 * group.y + group.height - y - height if group.flip_y else y
        if group.turn:  # the center of the box is rotated clockwise around the center of the group
            center_x, center_y = group.x + group.width / 2, group.y + group.height / 2
            dx, dy, angle = x + width / 2 - center_x, y + height / 2 - center_y, radians(group.turn)
            x = center_x + dx * cos(angle) - dy * sin(angle) - width / 2
            y = center_y + dx * sin(angle) + dy * cos(angle) - height / 2
        turn, flip = box.turn, (box.flip_x != group.flip_x, box.flip_y != group.flip_y)
        moved = model.Box.of(x, y, width, height, (-turn if group.flip_x != group.flip_y else turn) + group.turn, flip)
        return self.outer.to_page(moved) if self.outer else moved


@dataclass(frozen=True, slots=True)
class PptxShapeReader:
    """Reads the shapes of a slide, a layout or a master."""

    part: Any
    slide_theme: theme.SlideTheme
    image_store: ImageStore
    job: Job
    page: tuple[int, int]
    slide_number: int | None = None

    def shapes(self, root: Any, *, placeholders: bool) -> Iterator[model.Shape]:
        """Yield the shapes of a slide or layout from back to front. If `placeholders` is false, skip placeholders."""
        tree = root.find(f"{P}cSld/{P}spTree")
        for element in () if tree is None else tree:
            if placeholders or theme.placeholder_of(element) is None:
                yield from self._shape(element, None)

    def _shape(self, element: Any, transform: GroupTransform | None) -> Iterator[model.Shape]:
        if not isinstance(element.tag, str) or _property(element, "hidden") in ("1", "true"):
            return
        with self.job.leaving_out("A shape"):
            match element.tag.removeprefix(P):
                case "grpSp":
                    inside = _group_transform(element, transform)
                    for child in element:
                        yield from self._shape(child, inside)
                case tag if tag == f"{_MC}AlternateContent":
                    for child in _alternate_content(element):
                        yield from self._shape(child, transform)
                case "sp" | "cxnSp":
                    yield from self._text(element, transform)
                case "pic":
                    yield from self._picture(element, transform)
                case "graphicFrame":
                    yield from self._frame(element, transform)

    def _box(self, element: Any, transform: GroupTransform | None, ancestors: tuple[Any, ...] = ()) -> model.Box:
        frames = (shape.find(name) for shape in (element, *ancestors) for name in _FRAMES)
        boxes = (box for frame in frames if (box := _box_of(frame)))
        box = next(boxes, model.Box.default(self.page))
        return transform.to_page(box) if transform else box

    def _text(self, element: Any, transform: GroupTransform | None) -> Iterator[model.Shape]:
        placeholder, ancestors = theme.placeholder_of(element), self.slide_theme.ancestors(element)
        placeholder_type = None if placeholder is None else placeholder.get("type", "obj")
        box, alt = self._box(element, transform, ancestors), _alt(element)
        looks = self._outline(element, ancestors, box) | self._body_looks(element, ancestors)
        picture_fill = element.find(f"{P}spPr/{A}blipFill")
        blip = None if picture_fill is None else picture_fill.find(f"{A}blip")
        if blip is not None and (name := self.image_name(blip)):
            yield model.SlidePicture(box, name, alt)
        text_box = _box_of(element.find(f"{P}txXfrm"))
        if text_box is not None:  # in a diagram
            text_box = transform.to_page(text_box) if transform else text_box
            left, top = text_box.x - box.x, text_box.y - box.y
            looks["text_area"] = left, top, box.width - text_box.width - left, box.height - text_box.height - top
        paragraphs = self._paragraphs(element, placeholder_type, ancestors)
        if paragraphs or looks["fill"] or looks["line"]:
            insets = tuple(own + round(area) for own, area in zip(looks["insets"], looks.pop("text_area"), strict=True))
            yield model.Text(
                box, paragraphs, _ROLES.get(placeholder_type or "", ""), alt=alt, **looks | {"insets": insets}
            )

    def _paragraphs(self, element: Any, placeholder_type: str | None, ancestors: tuple[Any, ...]) -> Any:
        bodies = [body for shape in (element, *ancestors) if (body := shape.find(f"{P}txBody")) is not None]
        styles = tuple(list_style for body in bodies if (list_style := body.find(f"{A}lstStyle")) is not None)
        own, autofit = element.find(f"{P}txBody"), element.find(f"{P}txBody/{A}bodyPr/{A}normAutofit")
        scale, reduction = ("100%", "0") if autofit is None else map(autofit.get, ("fontScale", "lnSpcReduction"))
        font_color = theme.color(element.find(f"{P}style/{A}fontRef"), self.slide_theme.colors)
        text_styles = theme.PptxTextStyles(
            self.slide_theme, self.part, placeholder_type, styles,
            scale=max(0.1, min(1.0, theme.share(scale or "100%"))),
            reduction=max(0.0, min(0.5, theme.share(reduction))),
            color=font_color and font_color[:6], slide_number=self.slide_number,
        )  # fmt: skip
        return text_styles.paragraphs(own)

    def _body_looks(self, element: Any, ancestors: tuple[Any, ...]) -> dict[str, Any]:
        """Return the properties of a shape's text box that the shape itself, its layout or its master define."""
        frames = [frame for it in (element, *ancestors) if (frame := it.find(f"{P}txBody/{A}bodyPr")) is not None]

        def get(name: str, otherwise: str) -> str:
            return next((value for frame in frames if (value := frame.get(name))), otherwise)

        autofits = (_AUTOFITS[child.tag] for frame in frames for child in frame if child.tag in _AUTOFITS)
        return {
            "anchor": _ANCHORS.get(get("anchor", "t"), "top"),
            "insets": tuple(int(theme.number(get(key, str(inset)))) for key, inset in _INSETS.items()),
            "autofit": next(autofits, "none"),
            "wrap": get("wrap", "square") != "none",
            "direction": _DIRECTIONS.get(get("vert", "horz"), ""),
        }

    def _outline(self, element: Any, ancestors: tuple[Any, ...], box: model.Box) -> dict[str, Any]:
        """Return the outline of a shape, its fill, its line (both None for none) and the insets of its text."""
        colors, formats, fills, borders = self.slide_theme.colors, self.slide_theme.formats, [], []
        sources = [source for shape in (element, *ancestors) if (source := shape.find(f"{P}spPr")) is not None]
        lines = [line for source in sources if (line := source.find(f"{A}ln")) is not None]
        for shape in (element, *ancestors):
            own, line_style, fill_style = map(shape.find, (f"{P}spPr", *_STYLE_REFERENCES))
            fills += [theme.fill(own, colors), theme.theme_color(formats, fill_style, colors)]
            own_line = shape.find(f"{P}spPr/{A}ln")
            borders += [theme.fill(own_line, colors), theme.theme_color(formats, line_style, colors)]
            lines += [] if (theme_line := theme.theme_format(formats, line_style)) is None else [theme_line]
        fill_color, line = (next((it for it in values if it is not None), None) for values in (fills, borders))
        form = next((form for source in sources for form in source.iterchildren(*_GEOMETRIES)), None)
        preset = "" if form is None else form.get("prst", "")
        is_freeform = form is not None and form.tag == f"{A}custGeom"
        paths = freeform_paths(form, box) if is_freeform else preset_paths(preset, box)
        outline = "" if paths else OUTLINES.get(preset, "rectangle" if fill_color or line else "")
        return {
            "fill": fill_color or None, "line": line or None, "text_area": text_insets(preset, box),
            "stroke": theme.stroke(lines), "paths": paths, "outline": outline,
        }  # fmt: skip

    def _picture(self, element: Any, transform: GroupTransform | None) -> Iterator[model.Shape]:
        blip = element.find(f"{P}blipFill/{A}blip")
        name = self.image_name(blip) if blip is not None else None
        if name:
            crop = _crop(element.find(f"{P}blipFill/{A}srcRect"))
            box = self._box(element, transform, self.slide_theme.ancestors(element))
            yield model.SlidePicture(box, name, _alt(element), crop)

    def image_name(self, blip: Any) -> str | None:
        """Store the picture of an `a:blip` element, and return its name. Returns None for unusable pictures."""
        part = self._part(blip.get(f"{R}embed", ""))
        return self.image_store.name_of(*(("", b"") if part is None else (str(part.partname), part.blob)))

    def _part(self, relationship: str) -> Any:
        target = self.part.rels.get(relationship)
        return None if target is None or target.is_external else target.target_part

    def _frame(self, element: Any, transform: GroupTransform | None) -> Iterator[model.Shape]:
        box, alt = self._box(element, transform, self.slide_theme.ancestors(element)), _alt(element)
        inside = next(element.iter(f"{A}tbl", f"{_C}chart", f"{D}relIds", f"{P}oleObj"), None)
        shapes = [] if inside is None else list(self._frame_content(inside, box))
        yield from (shape if shape.alt else replace(shape, alt=alt) for shape in shapes[:1])
        yield from shapes[1:]
        if not shapes and (picture := next(element.iter(f"{P}pic"), None)) is not None:
            yield from self._picture(picture, transform)

    def _frame_content(self, inside: Any, box: model.Box) -> Iterator[model.Shape]:
        match inside.tag.rpartition("}")[2]:
            case "tbl":
                table = table_of(inside, box, self.slide_theme, self.part)
                yield from () if table is None else (table,)
            case "chart":
                part = self._part(inside.get(f"{R}id", ""))
                chart, drawing = self._xml(part), self._xml(theme.related(part, "chartUserShapes"))
                table = None if chart is None else chart_table(chart, drawing, box, self.job)
                if table is not None:
                    self.job.note("a chart is kept as a table.")
                    yield table
            case "relIds":
                yield from self._diagram(self._xml(self._part(inside.get(f"{R}dm", ""))), box)

    def _xml(self, part: Any) -> Any:
        return None if part is None else theme.parse_xml(part.blob)

    def _diagram(self, data: Any, box: model.Box) -> Iterator[model.Shape]:
        """Yield the shapes that PowerPoint has stored for a diagram, or else its text as a list."""
        extension = None if data is None else next(data.iter(f"{_DSP}dataModelExt"), None)
        part = None if extension is None else self._part(extension.get("relId", ""))
        drawing = self._xml(part)
        shapes: list[model.Shape] = []
        if drawing is not None:
            for element in drawing.iter(f"{_DSP}*"):  # these elements have the types of a slide's
                element.tag = element.tag.replace(_DSP, P)
            transform = GroupTransform(box, model.Box(0, 0, box.width, box.height), None)
            reader, members = replace(self, part=part), drawing.iterfind(f"{P}spTree/*")
            shapes = [shape for element in members for shape in reader._shape(element, transform)]
        yield from shapes
        if not shapes and data is not None and (text := diagram_text(data, box)):
            self.job.note("a diagram is kept as a list.")
            yield text


_STYLE_REFERENCES = (f"{P}style/{A}lnRef", f"{P}style/{A}fillRef")
_FRAMES = (f"{P}spPr/{A}xfrm", f"{P}xfrm", f"{P}grpSpPr/{A}xfrm")


def _box_of(frame: Any, offset: str = "off", extent: str = "ext") -> model.Box | None:
    if frame is None:
        return None
    offset_element, size = frame.find(f"{A}{offset}"), frame.find(f"{A}{extent}")
    if offset_element is None or size is None:
        return None
    x, y = (theme.number(offset_element.get(key)) for key in ("x", "y"))
    width, height = (theme.number(size.get(key)) for key in ("cx", "cy"))
    flip = frame.get("flipH") in ("1", "true"), frame.get("flipV") in ("1", "true")
    return model.Box.of(x, y, width, height, theme.number(frame.get("rot")) / 60_000, flip)


def _group_transform(element: Any, outer: GroupTransform | None) -> GroupTransform | None:
    frame = element.find(f"{P}grpSpPr/{A}xfrm")
    box, inside = _box_of(frame), _box_of(frame, "chOff", "chExt")
    return outer if box is None or inside is None else GroupTransform(box, inside, outer)


def _alternate_content(element: Any) -> Any:
    choices = list(element.iterchildren(f"{_MC}Choice"))
    readable = [choice for choice in choices if choice.get("Requires") == _READABLE]
    fallback = [choice for choice in element.iterchildren(f"{_MC}Fallback") if len(choice)]
    return next(iter(readable + fallback + choices), ())


def _property(element: Any, name: str) -> str:
    properties = element[0].find(f"{P}cNvPr") if len(element) else None
    return "" if properties is None else str(properties.get(name, ""))


def _alt(element: Any) -> str:
    return clean.ooxml_text(_property(element, "descr"))


def _crop(rectangle: Any) -> tuple[float, float, float, float]:
    sides = {} if rectangle is None else rectangle.attrib
    left, top, right, bottom = (max(0.0, min(0.99, theme.number(sides.get(side)) / 100_000)) for side in "ltrb")
    return (left, top, right, bottom) if left + right < 1 and top + bottom < 1 else (0.0, 0.0, 0.0, 0.0)


_MAX_PART = 50 * MIB
_TYPES, _RELATIONSHIPS = "[Content_Types].xml", "_rels/.rels"
_PRESENTATION_TYPE = b"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
_OTHER_TYPES = re.compile(
    rb"application/vnd\.(?:openxmlformats-officedocument\.presentationml\.(?:template|slideshow)"
    rb"|ms-powerpoint\.(?:presentation|slideshow|template)\.macroEnabled)\.main\+xml"
)

_STRICT = b"http://purl.oclc.org/ooxml/"
_NAMESPACES = tuple(  # those of strict files, and those that python-pptx requires
    (_STRICT + name, b"http://schemas.openxmlformats.org/" + name + b"2006/")
    for name in (b"officeDocument/", b"drawingml/", b"presentationml/")
)


def open_package(source: bytes, job: Job) -> Any:
    """Open a file with python-pptx. Raises ConversionError if the file is invalid, and TooLarge above a limit."""
    with open_archive(source, job.limits) as archive:
        names = archive.namelist()
        if _TYPES not in names:
            raise ConversionError("the file is not a PowerPoint presentation: [Content_Types].xml is missing.")
        if sum(name.startswith("ppt/slides/slide") for name in names) > model.MAX_SLIDES:
            raise TooLarge(f"the presentation has more than {model.MAX_SLIDES} slides.")
        if any(entry.file_size > _MAX_PART and entry.filename.endswith(".xml") for entry in archive.infolist()):
            raise TooLarge(f"a part of the presentation has more than {_MAX_PART} bytes of XML.")
        plain = _as_presentation(source, archive)
    try:
        presentation = pptx.Presentation(io.BytesIO(plain))
    except Exception as error:  # python-pptx lets errors of all kinds through
        raise ConversionError("the file is damaged: required parts are missing or broken.") from error
    return presentation


def _as_presentation(source: bytes, archive: zipfile.ZipFile) -> bytes:
    """Return the file with the content type and namespaces of python-pptx. Raises ConversionError for other files."""
    try:
        types = archive.read(_TYPES)
        strict = _RELATIONSHIPS in archive.namelist() and _STRICT in archive.read(_RELATIONSHIPS)
        if _PRESENTATION_TYPE in types and not strict:
            return source
        patched = _OTHER_TYPES.sub(_PRESENTATION_TYPE, types)
        if _PRESENTATION_TYPE not in patched:
            raise ConversionError("the file is not a PowerPoint presentation.")
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as copy:
            for entry in archive.infolist():
                part = patched if entry.filename == _TYPES else archive.read(entry)
                for own, other in _NAMESPACES if strict and entry.filename.endswith((".xml", ".rels")) else ():
                    part = part.replace(own, other)
                copy.writestr(entry.filename, part)
        return target.getvalue()
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError) as error:
        raise ConversionError("the file is damaged.") from error


_WHITE = "ffffff"
_NO_TITLE = "PowerPoint Presentation"  # PowerPoint's default title


def read(source: bytes, job: Job) -> model.Presentation:
    """Read a PowerPoint file (2007 or later). Raises ConversionError if the file is invalid, TooLarge above a limit."""
    return PptxReader(open_package(source, job), job).presentation()


def read_ppt(source: bytes, job: Job) -> model.Presentation:
    """Read a ppt, pot or pps file, which LibreOffice converts first. Raises the same exceptions as `read`."""
    return read(libreoffice.convert(source, "ppt", "pptx", job), job)


class PptxReader:
    """Reads the slides of one presentation."""

    def __init__(self, presentation: Any, job: Job) -> None:
        self._presentation, self._job = presentation, job
        self._root = presentation.part._element
        width, height = model.DEFAULT_PAGE
        self._page = model.clamp_page_size(presentation.slide_width or width, presentation.slide_height or height)
        self._image_store = ImageStore(job)
        self._slide_themes: dict[str, theme.SlideTheme] = {}

    def presentation(self) -> model.Presentation:
        """Read all slides, the page size and the title. Raises ConversionError if a slide is missing in the file."""
        start = int(theme.number(self._root.get("firstSlideNum"), 1))
        slides = tuple(self._slide(part, number) for number, part in enumerate(self._parts(), start))
        title = ""
        with suppress(KeyError, ValueError, AttributeError):
            title = clean.text(str(self._presentation.core_properties.title or ""))
        return model.Presentation(*self._page, slides, "" if title == _NO_TITLE else title, self._image_store.pictures)

    def _parts(self) -> Iterator[Any]:
        for entry in self._root.iterfind(f"{P}sldIdLst/{P}sldId"):
            relationship = self._presentation.part.rels.get(entry.get(f"{R}id", ""))
            if relationship is None or relationship.is_external:
                raise ConversionError("the file is damaged: a slide is missing.")
            yield relationship.target_part

    def _slide(self, part: Any, number: int) -> model.Slide:
        root, slide_theme = part._element, self._slide_theme(part)
        shapes = tuple(self._reader(part, slide_theme, number).shapes(root, placeholders=True))
        fill_color, background_shapes = self._background(part, slide_theme)
        if root.get("showMasterSp", "1") not in ("0", "false"):
            background_shapes += self._background_shapes(slide_theme, number)
        is_hidden = root.get("show", "1") in ("0", "false")
        return model.Slide(shapes, background_shapes, fill_color, self._notes(part), is_hidden)

    def _slide_theme(self, part: Any) -> theme.SlideTheme:
        layout = theme.related(part, "slideLayout")
        key = "" if layout is None else str(layout.partname)
        if theme.color_map_override(part) is not None:
            key += f" {part.partname}"
        if key not in self._slide_themes:
            self._slide_themes[key] = theme.slide_theme_of(part, self._presentation.part)
        return self._slide_themes[key]

    def _reader(self, part: Any, slide_theme: theme.SlideTheme, number: int | None = None) -> PptxShapeReader:
        return PptxShapeReader(part, slide_theme, self._image_store, self._job, self._page, number)

    def _background_shapes(self, slide_theme: theme.SlideTheme, number: int) -> tuple[model.Shape, ...]:
        if slide_theme.layout is None:
            return ()
        parts = [slide_theme.layout_part]
        if slide_theme.layout.get("showMasterSp", "1") not in ("0", "false") and slide_theme.master is not None:
            parts.insert(0, slide_theme.master_part)
        readers = [(part, self._reader(part, slide_theme, number)) for part in parts]
        return tuple(shape for part, it in readers for shape in it.shapes(part._element, placeholders=False))

    def _background(self, part: Any, slide_theme: theme.SlideTheme) -> tuple[str | None, tuple[model.Shape, ...]]:
        """Return the background colour and a tuple with the background picture of a slide, its layout or its master.

        The colour is None if the background is white or has no colour. The tuple is empty without a picture.
        """
        with self._job.leaving_out("The background of a slide"):
            parts = [it for it in (part, slide_theme.layout_part, slide_theme.master_part) if it is not None]
            owners = (it for it in parts if it._element.find(f"{P}cSld/{P}bg") is not None)
            if (owner := next(owners, None)) is not None:
                element, colors = owner._element.find(f"{P}cSld/{P}bg"), slide_theme.colors
                blip = element.find(f"{P}bgPr/{A}blipFill/{A}blip")
                name = None if blip is None else self._reader(owner, slide_theme).image_name(blip)
                own, reference = element.find(f"{P}bgPr"), element.find(f"{P}bgRef")
                fill_color = theme.fill(own, colors) or theme.theme_color(slide_theme.formats, reference, colors) or ""
                picture = (model.SlidePicture(model.Box(0, 0, *self._page), name),) if name else ()
                return (None if fill_color in ("", _WHITE) else fill_color[:6]), picture
        return None, ()

    def _notes(self, part: Any) -> str:
        notes = theme.related(part, "notesSlide")
        tree = () if notes is None else notes._element.iter(f"{P}sp")
        bodies = (it for it in tree if it.find(f"{P}nvSpPr/{P}nvPr/{P}ph[@type='body']") is not None)
        lines = []
        for paragraph in (it for body in bodies for it in body.iterfind(f"{P}txBody/{A}p")):
            parts = paragraph.iter(f"{A}t", f"{A}br")
            lines.append("".join("\n" if it.tag == f"{A}br" else clean.ooxml_text(it.text or "") for it in parts))
        return "\n".join(lines).strip()
