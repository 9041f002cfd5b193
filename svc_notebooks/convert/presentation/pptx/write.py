"""Writes presentations as pptx. Titles and body text are in placeholders, and other text is in text boxes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping
from math import sqrt
from typing import Any

import pptx
from lxml import etree
from pptx.dml.color import RGBColor
from pptx.opc.constants import RELATIONSHIP_TYPE as RT

from ...input.native_package import zip_timestamp, zipped
from ...job import Job
from ..model import PATH_SIDE, Paragraph, Presentation, Shape, ShapePath, Slide, SlidePicture, SlideTable, Text, TextRun
from .slide_theme import NUMBER_SCHEMES, A, R

AddHyperlink = Callable[[str], str]  # from an address to the id of its relationship

_ALIGNS = {"left": "l", "center": "ctr", "right": "r", "justify": "just"}
_INDENT = 342_900
_MARKERS: dict[str, tuple[str, dict[str, str]]] = {
    "bullet": ("buChar", {"char": "•"}), "number": ("buAutoNum", {}), "": ("buNone", {}),
}  # fmt: skip
_SCHEMES = {label: scheme for scheme, label in NUMBER_SCHEMES.items()}
_BASELINES = {"super": "30000", "sub": "-25000"}


def fill_body(body: Any, paragraphs: Iterable[Paragraph], add_hyperlink: AddHyperlink) -> None:
    """Replace the paragraphs in a text body element by `paragraphs`."""
    for old in body.findall(f"{A}p"):
        body.remove(old)
    for paragraph in paragraphs:
        _add_paragraph(body, paragraph, add_hyperlink)
    if body.find(f"{A}p") is None:
        etree.SubElement(body, f"{A}p")


def _add_paragraph(body: Any, paragraph: Paragraph, add_hyperlink: AddHyperlink) -> None:
    element = etree.SubElement(body, f"{A}p")
    marker, attributes = _MARKERS[paragraph.marker]
    properties = etree.SubElement(element, f"{A}pPr", _properties(paragraph))
    if paragraph.indent is not None:
        _add_spacing(properties, paragraph)
    if paragraph.marker == "number":
        attributes = {"type": _SCHEMES.get(paragraph.bullet, "arabicPeriod"), "startAt": str(paragraph.start)}
    elif paragraph.marker and paragraph.bullet:
        attributes = {"char": paragraph.bullet}
    etree.SubElement(properties, f"{A}{marker}", attributes)
    for run in paragraph.runs:
        for n, line in enumerate(run.text.split("\n")):
            if n:
                _add_run_properties(etree.SubElement(element, f"{A}br"), run, add_hyperlink)
            if line:
                run_element = etree.SubElement(element, f"{A}r")
                _add_run_properties(run_element, run, add_hyperlink)
                etree.SubElement(run_element, f"{A}t").text = line


def _properties(paragraph: Paragraph) -> dict[str, str]:
    hanging = _INDENT if paragraph.marker else 0
    indent = _INDENT * paragraph.level + hanging if paragraph.indent is None else paragraph.indent
    attributes = {"marL": str(indent), "indent": str(-hanging if paragraph.indent is None else paragraph.first)}
    if paragraph.level:
        attributes["lvl"] = str(min(8, paragraph.level))
    attributes["algn"] = _ALIGNS[paragraph.align or ("right" if paragraph.rtl else "left")]
    return attributes | ({"rtl": "1", "marR": attributes["marL"], "marL": "0"} if paragraph.rtl else {})


def _add_spacing(properties: Any, paragraph: Paragraph) -> None:
    lines = etree.SubElement(properties, f"{A}lnSpc")
    etree.SubElement(lines, f"{A}spcPct", {"val": str(round(paragraph.line_spacing * 100_000))})
    for name, points in (("spcBef", paragraph.before), ("spcAft", paragraph.after)):
        distance = etree.SubElement(properties, f"{A}{name}")
        etree.SubElement(distance, f"{A}spcPts", {"val": str(round(points * 100))})


def _add_run_properties(parent: Any, run: TextRun, add_hyperlink: AddHyperlink) -> None:
    element = etree.SubElement(parent, f"{A}rPr", _run_attributes(run))
    if run.color:
        add_fill(element, run.color)
    else:
        etree.SubElement(etree.SubElement(element, f"{A}solidFill"), f"{A}schemeClr", {"val": "tx1"})
    if run.link and not run.link.startswith("#"):
        etree.SubElement(element, f"{A}hlinkClick", {f"{R}id": add_hyperlink(run.link)})


def _run_attributes(run: TextRun) -> dict[str, str]:
    """Return the XML attributes of a run. Bold and italic always override the placeholder's style."""
    attributes = {"b": "1" if run.bold else "0", "i": "1" if run.italic else "0", "dirty": "0"}
    if run.size:
        attributes["sz"] = str(int(max(1.0, min(4_000.0, run.size)) * 100))
    if run.capitals:
        attributes["cap"] = "all"
    if run.baseline:
        attributes["baseline"] = _BASELINES[run.baseline]
    if run.underline:
        attributes["u"] = "sng"
    if run.strike:
        attributes["strike"] = "sngStrike"
    return attributes


def add_fill(element: Any, color: str | None) -> None:
    """Add a solid fill to an element. If `color` is None or "", add an element that means no fill."""
    if color:
        digits = etree.SubElement(etree.SubElement(element, f"{A}solidFill"), f"{A}srgbClr", {"val": color[:6].upper()})
        if color[6:]:
            etree.SubElement(digits, f"{A}alpha", {"val": str(round(int(color[6:], 16) / 255 * 100_000))})
    else:
        etree.SubElement(element, f"{A}noFill")


_TITLE_SLIDE, _ONE_BODY, _TWO_BODIES, _TITLE_ONLY, _BLANK = 0, 1, 3, 5, 6  # layouts of python-pptx

_OUTLINES = {"": "rect", "rectangle": "rect", "round": "roundRect", "ellipse": "ellipse"}
_DIRECTIONS = {"down": "vert", "up": "vert270", "stacked": "wordArtVert"}
_DASHES = {"": "solid", "dot": "sysDot", "dash": "dash", "dashdot": "dashDot"}
_COMMANDS = {"M": "moveTo", "L": "lnTo", "C": "cubicBezTo", "Z": "close"}
_ANCHORS = {"top": "t", "middle": "ctr", "bottom": "b"}
_MARGIN = 12_700
_TABLE_GRID = "{5940675A-B579-460E-94D1-54222C63F5DA}"  # a style with lines and without colours
_NO_STYLE = "{2D5ABB26-0587-4C30-8999-92F81FD0307C}"


def write(presentation: Presentation, job: Job) -> bytes:
    """Return a presentation as a pptx file, with a blank slide if it has no slides, since programs expect a slide."""
    file = pptx.Presentation()
    _set_page(file, presentation)
    properties = file.core_properties
    properties.title = (presentation.title or job.name)[:255]
    properties.author = properties.last_modified_by = ""
    properties.created = properties.modified = job.now.replace(tzinfo=None)
    for slide in presentation.slides or (Slide(),):
        _add_slide(file, slide, presentation.pictures, job)
    target = io.BytesIO()
    file.save(target)
    with zipfile.ZipFile(target) as archive:  # python-pptx writes the time of the system
        return zipped({name: archive.read(name) for name in archive.namelist()}, zip_timestamp(job.now))


def _set_page(file: Any, presentation: Presentation) -> None:
    """Set the page size, and scale the template's layouts to the page size for slides that users add later."""
    across, down = presentation.width / file.slide_width, presentation.height / file.slide_height
    file.slide_width, file.slide_height = presentation.width, presentation.height
    master = file.slide_master
    for part in (master, *master.slide_layouts):
        for frame in part._element.iter(f"{A}off", f"{A}ext"):
            for name, scale in (("x", across), ("y", down), ("cx", across), ("cy", down)):
                if frame.get(name):
                    frame.set(name, str(round(int(frame.get(name)) * scale)))


def _add_slide(file: Any, slide: Slide, pictures: Mapping[str, bytes], job: Job) -> None:
    pptx_slide = file.slides.add_slide(file.slide_layouts[_layout(slide)])
    if slide.hidden:
        pptx_slide._element.set("show", "0")
    if slide.background:
        pptx_slide.background.fill.solid()
        rgb_class: Any = RGBColor  # it has no types
        pptx_slide.background.fill.fore_color.rgb = rgb_class(*bytes.fromhex(slide.background))
    SlideWriter(pptx_slide, pictures).add(slide, job)
    if slide.notes:
        pptx_slide.notes_slide.notes_text_frame.text = slide.notes


def _layout(slide: Slide) -> int:
    roles = [shape.role for shape in slide.shapes if isinstance(shape, Text)]
    bodies = roles.count("body") + roles.count("subtitle")
    if roles.count("subtitle") == 1 == bodies:
        return _TITLE_SLIDE
    if bodies:
        return _ONE_BODY if bodies == 1 else _TWO_BODIES
    return _TITLE_ONLY if "title" in roles else _BLANK


class SlideWriter:
    """Adds shapes to a slide, and removes the placeholders that no shape uses."""

    def __init__(self, slide: Any, pictures: Mapping[str, bytes]) -> None:
        self._slide, self._pictures = slide, pictures
        self._tree = slide.shapes._spTree
        slide.shapes.turbo_add_enabled = True  # else it looks for the largest shape id at every new shape
        free = [shape for shape in slide.placeholders if shape.placeholder_format.idx in (0, 1, 2)]
        self._titles = [shape for shape in free if shape.placeholder_format.idx == 0]
        self._bodies = [shape for shape in free if shape.placeholder_format.idx != 0]
        self._unused = [shape for shape in slide.placeholders]

    def add(self, slide: Slide, job: Job) -> None:
        """Add all shapes of a slide from back to front, and remove unused placeholders."""
        for shape in (*slide.behind, *slide.shapes):
            with job.leaving_out("A shape"):
                self._add(shape)
        for placeholder in self._unused:
            self._tree.remove(placeholder._element)

    def _add(self, shape: Shape) -> None:
        match shape:
            case Text():
                pptx_shape = self._add_text(shape)
            case SlidePicture():
                pptx_shape = self._add_picture(shape)
            case SlideTable():
                pptx_shape = self._add_table(shape)
        if pptx_shape is None:
            return
        self._tree.append(pptx_shape._element)
        pptx_shape._element[0][0].set("descr", shape.alt)
        if shape.box.turn and not isinstance(shape, SlideTable):
            pptx_shape.rotation = shape.box.turn
        for name, flip in (("flipH", shape.box.flip_x), ("flipV", shape.box.flip_y)):
            if flip and not isinstance(shape, SlideTable):
                pptx_shape._element.spPr.find(f"{A}xfrm").set(name, "1")

    def _hyperlink_id(self, address: str) -> str:
        return str(self._slide.part.relate_to(address, RT.HYPERLINK, is_external=True))

    def _add_text(self, shape: Text) -> Any:
        pptx_shape = self._placeholder(shape)
        pptx_shape.left, pptx_shape.top = shape.box.x, shape.box.y
        pptx_shape.width, pptx_shape.height = shape.box.width, shape.box.height
        body = pptx_shape._element.txBody
        frame = body.find(f"{A}bodyPr")
        frame.set("wrap", "square" if shape.wrap else "none")
        frame.set("anchor", _ANCHORS[shape.anchor])
        if shape.direction:
            frame.set("vert", _DIRECTIONS[shape.direction])
        for side, inset in zip("ltrb", _insets(shape), strict=True):
            frame.set(f"{side}Ins", str(inset))
        for child in list(frame):
            frame.remove(child)
        etree.SubElement(frame, f"{A}noAutofit" if shape.autofit == "none" else f"{A}normAutofit")
        fill_body(body, shape.paragraphs, self._hyperlink_id)
        _set_geometry(pptx_shape._element.spPr, shape)
        return pptx_shape

    def _placeholder(self, shape: Text) -> Any:
        free = self._titles if shape.role == "title" else self._bodies if shape.role in ("subtitle", "body") else []
        if free:
            placeholder = free.pop(0)
            self._unused = [other for other in self._unused if other._element is not placeholder._element]
            return placeholder
        return self._slide.shapes.add_textbox(0, 0, _MARGIN, _MARGIN)

    def _add_picture(self, shape: SlidePicture) -> Any:
        data = self._pictures.get(shape.name)
        if data is None:
            return None
        box = shape.box
        pptx_picture = self._slide.shapes.add_picture(
            io.BytesIO(data), box.x, box.y, max(1, box.width), max(1, box.height)
        )
        pptx_picture.crop_left, pptx_picture.crop_top, pptx_picture.crop_right, pptx_picture.crop_bottom = shape.crop
        return pptx_picture

    def _add_table(self, shape: SlideTable) -> Any:
        if not shape.rows or not shape.rows[0]:
            return None
        box = shape.box
        frame = self._slide.shapes.add_table(len(shape.rows), len(shape.rows[0]), box.x, box.y, box.width, box.height)
        table = frame.table
        table.first_row, table.horz_banding = shape.header, False
        plain = any(cell and cell.borders is not None for row in shape.rows for cell in row)
        table._tbl.tblPr.find(f"{A}tableStyleId").text = _NO_STYLE if plain else _TABLE_GRID
        for columns, widths in ((table.columns, shape.widths), (table.rows, shape.heights)):
            for line, size in zip(columns, widths, strict=False):
                setattr(line, "width" if columns is table.columns else "height", size)
        self._fill_table(table, shape)
        return frame

    def _fill_table(self, table: Any, shape: SlideTable) -> None:
        for line, row in zip(table._tbl.tr_lst, shape.rows, strict=True):
            for element, cell in zip(line.tc_lst, row, strict=True):
                if cell is None:
                    continue
                fill_body(element.get_or_add_txBody(), cell.paragraphs, self._hyperlink_id)
                properties = element.get_or_add_tcPr()
                properties.set("anchor", _ANCHORS[cell.anchor])
                for side, digits in zip("LTRB", cell.borders or (), strict=False):
                    line = etree.SubElement(properties, f"{A}ln{side}", {"w": str(_MARGIN)})
                    add_fill(line, digits)
                properties[:] = sorted(properties, key=lambda line: "LRTB".index(line.tag[-1]))
                if cell.fill:
                    add_fill(properties, cell.fill)
        for y, row in enumerate(shape.rows):
            for x, cell in enumerate(row):
                if cell and (cell.columns > 1 or cell.rows > 1):
                    _merge(table, y, x, y + cell.rows - 1, x + cell.columns - 1)


def _merge(table: Any, top: int, left: int, bottom: int, right: int) -> None:
    bottom, right = min(bottom, len(table.rows) - 1), min(right, len(table.columns) - 1)
    try:
        table.cell(top, left).merge(table.cell(bottom, right))
    except ValueError:  # it overlaps another merged cell, as in a damaged source
        return


def _set_geometry(properties: Any, shape: Text) -> None:
    for old in [child for child in properties if child.tag != f"{A}xfrm"]:
        properties.remove(old)
    if shape.paths:
        _add_paths(etree.SubElement(properties, f"{A}custGeom"), shape.paths)
    else:
        form = etree.SubElement(properties, f"{A}prstGeom", {"prst": _OUTLINES[shape.outline]})
        etree.SubElement(form, f"{A}avLst")
    add_fill(properties, shape.fill)
    if shape.line:
        line = etree.SubElement(properties, f"{A}ln", {"w": str(shape.stroke.width)})
        add_fill(line, shape.line)
        etree.SubElement(line, f"{A}prstDash", {"val": _DASHES[shape.stroke.dash]})
        for name, kind in (("headEnd", shape.stroke.start), ("tailEnd", shape.stroke.end)):
            etree.SubElement(line, f"{A}{name}", {"type": kind or "none"})


def _add_paths(geometry: Any, paths: Iterable[ShapePath]) -> None:
    for name in ("avLst", "gdLst", "ahLst", "cxnLst"):
        etree.SubElement(geometry, f"{A}{name}")
    etree.SubElement(geometry, f"{A}rect", {"l": "l", "t": "t", "r": "r", "b": "b"})
    elements = etree.SubElement(geometry, f"{A}pathLst")
    for path in paths:
        attributes = {"w": str(PATH_SIDE), "h": str(PATH_SIDE)} | ({"fill": path.fill} if path.fill else {})
        element = etree.SubElement(elements, f"{A}path", attributes | ({} if path.stroke else {"stroke": "0"}))
        tokens = iter(path.data.split())
        for token in tokens:
            if token.isalpha():
                command = etree.SubElement(element, f"{A}{_COMMANDS[token]}")
            else:
                etree.SubElement(command, f"{A}pt", {"x": token, "y": next(tokens)})


def _insets(shape: Text) -> tuple[int, ...]:
    """Return the insets of a shape without the corners of an ellipse, which programs add to the insets of a shape."""
    if shape.outline != "ellipse":
        return shape.insets
    corners = (round(side * (1 - sqrt(0.5)) / 2) for side in (shape.box.width, shape.box.height) * 2)
    return tuple(max(0, inset - corner) for inset, corner in zip(shape.insets, corners, strict=True))
