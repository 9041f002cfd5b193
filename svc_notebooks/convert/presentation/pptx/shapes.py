"""Reads the shapes of a slide. The members of a group become separate shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import cos, radians, sin
from typing import Any

from ...job import Job
from .. import clean
from ..image_store import ImageStore
from ..model import Box, Outline, Role, Shape, SlidePicture, Text
from .charts import chart_table, diagram_text
from .colors import A, color, fill
from .slide_theme import P, SlideTheme, parse_xml, placeholder_of
from .tables import table_of
from .text import PptxTextStyles

_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_D = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_READABLE = "a14"  # formulas, which PptxTextStyles reads; other choices have a picture as fallback
_MAX_DEPTH = 200

_ROLES: dict[str, Role] = {
    "title": "title", "ctrTitle": "title", "subTitle": "subtitle", "body": "body", "obj": "body",
    "dt": "footer", "ftr": "footer", "sldNum": "footer", "hdr": "footer",
}  # fmt: skip
_OUTLINES: dict[str, Outline] = {
    "roundRect": "round", "ellipse": "ellipse", "flowChartConnector": "ellipse", "flowChartAlternateProcess": "round",
}  # fmt: skip
_LINES = frozenset({"line", "straightConnector1", "bentConnector3", "curvedConnector3"})
_ANCHORS = {"t": "top", "ctr": "middle", "b": "bottom"}


@dataclass(frozen=True, slots=True)
class GroupTransform:
    """Converts coordinates inside a group to page coordinates.

    `box` is the group's box in outer coordinates, and `inside` is the same box in the group's own coordinates.
    """

    box: Box
    inside: Box
    outer: GroupTransform | None

    def to_page(self, box: Box) -> Box:
        """Convert a box from the coordinates inside this group to page coordinates."""
        group = self.box
        scale_x = group.width / self.inside.width if self.inside.width else 1.0
        scale_y = group.height / self.inside.height if self.inside.height else 1.0
        width, height = box.width * scale_x, box.height * scale_y
        x = box.x * scale_x + (group.x - self.inside.x * scale_x)
        y = box.y * scale_y + (group.y - self.inside.y * scale_y)
        if group.turn:  # the center of the box is rotated clockwise around the center of the group
            center_x, center_y = group.x + group.width / 2, group.y + group.height / 2
            dx, dy, angle = x + width / 2 - center_x, y + height / 2 - center_y, radians(group.turn)
            x = center_x + dx * cos(angle) - dy * sin(angle) - width / 2
            y = center_y + dx * sin(angle) + dy * cos(angle) - height / 2
        moved = Box.of(x, y, width, height, box.turn + group.turn)
        return self.outer.to_page(moved) if self.outer else moved


@dataclass(frozen=True, slots=True)
class PptxShapeReader:
    """Reads the shapes of a slide, a layout or a master."""

    part: Any
    slide_theme: SlideTheme
    image_store: ImageStore
    job: Job
    page: tuple[int, int]

    def shapes(self, root: Any, *, placeholders: bool) -> Iterator[Shape]:
        """Yield the shapes of a slide or layout from back to front. If `placeholders` is false, skip placeholders."""
        tree = root.find(f"{P}cSld/{P}spTree")
        for element in () if tree is None else tree:
            if placeholders or placeholder_of(element) is None:
                yield from self._shape(element, None, 0)

    def _shape(self, element: Any, transform: GroupTransform | None, depth: int) -> Iterator[Shape]:
        if not isinstance(element.tag, str) or _property(element, "hidden") in ("1", "true"):
            return
        if depth > _MAX_DEPTH:
            self.job.note(f"groups nested more than {_MAX_DEPTH} levels deep were left out.")
            return
        match element.tag.rpartition("}")[2]:
            case "grpSp":
                inside = _group_transform(element, transform)
                for child in element:
                    yield from self._shape(child, inside, depth + 1)
            case "AlternateContent":
                for child in _alternate_content(element):
                    yield from self._shape(child, transform, depth + 1)
            case "sp":
                yield from self._text(element, transform)
            case "pic":
                yield from self._picture(element, transform)
            case "graphicFrame":
                yield from self._frame(element, transform)
            case "cxnSp":
                self.job.note("connecting lines were left out.")

    def _box(self, element: Any, transform: GroupTransform | None, ancestors: tuple[Any, ...] = ()) -> Box:
        frames = (shape.find(name) for shape in (element, *ancestors) for name in _FRAMES)
        default = Box(self.page[0] // 12, self.page[1] // 6, self.page[0] * 10 // 12, self.page[1] * 4 // 6)
        box = next((box for frame in frames if (box := _box_of(frame, "off", "ext"))), default)
        return transform.to_page(box) if transform else box

    def _text(self, element: Any, transform: GroupTransform | None) -> Iterator[Shape]:
        placeholder = placeholder_of(element)
        ancestors = self.slide_theme.ancestors(placeholder) if placeholder is not None else ()
        placeholder_type = placeholder.get("type", "obj") if placeholder is not None else None
        box, alt = self._box(element, transform, ancestors), _alt(element)
        blip = element.find(f"{P}spPr/{A}blipFill/{A}blip")
        if blip is not None and (name := self.image_name(blip)):  # the shape is filled with a picture
            yield SlidePicture(box, name, alt)
        paragraphs, anchor = self._paragraphs_and_anchor(element, placeholder_type, ancestors)
        line, fill_color, outline = self._appearance(element, ancestors)
        if paragraphs or fill_color or line:
            role = _ROLES.get(placeholder_type or "", "")
            yield Text(box, paragraphs, role, anchor, outline, fill_color, line, alt)  # type: ignore[arg-type]

    def _paragraphs_and_anchor(
        self, element: Any, placeholder_type: str | None, ancestors: tuple[Any, ...]
    ) -> tuple[Any, str]:
        bodies = [body for shape in (element, *ancestors) if (body := shape.find(f"{P}txBody")) is not None]
        styles = tuple(list_style for body in bodies if (list_style := body.find(f"{A}lstStyle")) is not None)
        frames = [body_properties for body in bodies if (body_properties := body.find(f"{A}bodyPr")) is not None]
        anchor = next((frame.get("anchor") for frame in frames if frame.get("anchor")), "t")
        own = element.find(f"{P}txBody")
        fill_color = color(element.find(f"{P}style/{A}fontRef"), self.slide_theme.colors)
        text_styles = PptxTextStyles(
            self.slide_theme, self.part, placeholder_type, styles, _font_scale(own), fill_color
        )
        return text_styles.paragraphs(own), _ANCHORS.get(anchor, "top")

    def _appearance(self, element: Any, ancestors: tuple[Any, ...]) -> tuple[str | None, str | None, Outline]:
        """Return the line colour and fill colour (None for no colour) and the outline ("" for none) of a shape."""
        colors = self.slide_theme.colors
        sources = [source for shape in (element, *ancestors) if (source := shape.find(f"{P}spPr")) is not None]
        geometries = (source.find(f"{A}prstGeom") for source in sources)
        form = next((geometry.get("prst", "rect") for geometry in geometries if geometry is not None), "")
        if not form and any(source.find(f"{A}custGeom") is not None for source in sources):
            self.job.note("freehand shapes were left out; their text was kept.")
            return None, None, ""
        if form in _LINES:
            return None, None, ""
        fill_color = next((value for source in sources if (value := fill(source, colors)) is not None), None)
        line = next((value for source in sources if (value := fill(source.find(f"{A}ln"), colors)) is not None), None)
        style = element.find(f"{P}style")
        fill_color = _style_color(style, "fillRef", colors) if fill_color is None else fill_color
        line = _style_color(style, "lnRef", colors) if line is None else line
        outline: Outline = _OUTLINES.get(form, "rectangle") if fill_color or line else ""
        return line or None, fill_color or None, outline

    def _picture(self, element: Any, transform: GroupTransform | None) -> Iterator[Shape]:
        placeholder = placeholder_of(element)
        ancestors = self.slide_theme.ancestors(placeholder) if placeholder is not None else ()
        blip = element.find(f"{P}blipFill/{A}blip")
        name = self.image_name(blip) if blip is not None else None
        if name:
            crop = _crop(element.find(f"{P}blipFill/{A}srcRect"))
            yield SlidePicture(self._box(element, transform, ancestors), name, _alt(element), crop)

    def image_name(self, blip: Any) -> str | None:
        """Store the picture of an `a:blip` element, and return its name. Returns None for unusable pictures."""
        part = self._part(blip.get(f"{_R}embed", ""))
        if part is None:
            self.job.note("a picture that is not in the file itself was left out.")
            return None
        return self.image_store.name_of(str(part.partname), part.blob)

    def _part(self, relationship: str) -> Any:
        target = self.part.rels.get(relationship)
        return None if target is None or target.is_external else target.target_part

    def _frame(self, element: Any, transform: GroupTransform | None) -> Iterator[Shape]:
        placeholder = placeholder_of(element)
        ancestors = self.slide_theme.ancestors(placeholder) if placeholder is not None else ()
        box, alt = self._box(element, transform, ancestors), _alt(element)
        inside = next(element.iter(f"{A}tbl", f"{_C}chart", f"{_D}relIds", f"{P}oleObj"), None)
        shape = None if inside is None else self._frame_content(inside, box)
        if shape is not None:
            yield replace(shape, alt=alt)
        elif (picture := next(element.iter(f"{P}pic"), None)) is not None:
            yield from self._picture(picture, transform)

    def _frame_content(self, inside: Any, box: Box) -> Shape | None:
        match inside.tag.rpartition("}")[2]:
            case "tbl":
                return table_of(inside, box, self.slide_theme, self.part)
            case "chart":
                return self._from_part(inside.get(f"{_R}id", ""), chart_table, box, "a chart is kept as a table.")
            case "relIds":
                return self._from_part(inside.get(f"{_R}dm", ""), diagram_text, box, "a diagram is kept as a list.")
            case _:
                return None

    def _from_part(self, name: str, reads: Callable[[Any, Box], Any], box: Box, note: str) -> Shape | None:
        part = self._part(name)
        root = None if part is None else parse_xml(part.blob)
        if root is None:
            return None
        self.job.note(note)
        shape: Shape | None = reads(root, box)
        return shape


_FRAMES = (f"{P}spPr/{A}xfrm", f"{P}xfrm", f"{P}grpSpPr/{A}xfrm")


def _box_of(frame: Any, offset: str, extent: str) -> Box | None:
    if frame is None:
        return None
    offset_element, size = frame.find(f"{A}{offset}"), frame.find(f"{A}{extent}")
    if offset_element is None or size is None:
        return None
    x, y = (_number(offset_element.get(key)) for key in ("x", "y"))
    width, height = (_number(size.get(key)) for key in ("cx", "cy"))
    return Box.of(x, y, width, height, _number(frame.get("rot")) / 60_000)


def _number(value: str | None) -> float:
    try:
        return float(int(value or "0"))
    except ValueError:
        return 0.0


def _group_transform(element: Any, outer: GroupTransform | None) -> GroupTransform | None:
    frame = element.find(f"{P}grpSpPr/{A}xfrm")
    box, inside = _box_of(frame, "off", "ext"), _box_of(frame, "chOff", "chExt")
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


def _font_scale(body: Any) -> float:
    """Return the factor (0.1 to 1) by which PowerPoint has shrunk the text to fit its box."""
    autofit = None if body is None else body.find(f"{A}bodyPr/{A}normAutofit")
    value = "" if autofit is None else autofit.get("fontScale", "")
    try:
        scale = float(value.rstrip("%")) / (100 if value.endswith("%") else 100_000) if value else 1.0
    except ValueError:
        scale = 1.0
    return max(0.1, min(1.0, scale))


def _style_color(style: Any, name: str, colors: Any) -> str | None:
    reference = None if style is None else style.find(f"{A}{name}")
    return None if reference is None or reference.get("idx") == "0" else color(reference, colors)


def _crop(rectangle: Any) -> tuple[float, float, float, float]:
    if rectangle is None:
        return (0.0, 0.0, 0.0, 0.0)
    left, top, right, bottom = (max(0.0, min(0.99, _number(rectangle.get(side)) / 100_000)) for side in "ltrb")
    return (left, top, right, bottom) if left + right < 1 and top + bottom < 1 else (0.0, 0.0, 0.0, 0.0)
