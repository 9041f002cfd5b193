"""Writes OpenDocument presentations (odp) with the standard library. Only the size of cropped pictures needs Pillow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from itertools import compress
from math import cos, radians, sin

from ...engines.images import natural_size
from ...input.odf_file import cm, odf_archive, odf_document, tag, text_content
from ...job import Job
from .. import model


class AutomaticStyles:
    """Assigns names to automatic styles. Styles with the same definition get the same name."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}
        self.lists: dict[str, str] = {}  # the names of list styles by the XML of their level

    def name(self, family: str, inside: Iterable[str], parent: str | None = None) -> str:
        """Return the name of the style with these property elements (XML), which is created on first use."""
        key = (family, f"{parent}\n" + "".join(inside))
        return self._names.setdefault(key, f"{family.replace('-', '')}{len(self._names) + 1}")

    def styles(self) -> str:
        """Return the XML elements of all named styles."""
        elements = [tag("text:list-style", {"style:name": name}, level) for level, name in self.lists.items()]
        for (family, definition), name in self._names.items():
            parent, _, inside = definition.partition("\n")
            parent_attribute = {} if parent == "None" else {"style:parent-style-name": parent}
            elements.append(tag("style:style", {"style:name": name, "style:family": family} | parent_attribute, inside))
        return "".join(elements)


_SANS = {"fo:font-family": "'Liberation Sans', Arial, sans-serif", "style:font-family-generic": "swiss"}
_BULLETS = "•◦▪•◦▪•◦▪•"
_LABEL = re.compile("([^1aAiI]*)([1aAiI]?)(.*)")
_LEVEL_INDENT, _LABEL_WIDTH = 342_000, 288_000


def list_level(paragraph: model.Paragraph) -> str:
    """Return the XML of the level in a list style that formats a paragraph with its label and its indent."""
    label_width = _LABEL_WIDTH if paragraph.marker else 0
    indent, first = paragraph.level * _LEVEL_INDENT + label_width, -label_width
    if paragraph.indent is not None:
        indent, first = paragraph.indent, paragraph.first
    attributes = {"text:level": str(paragraph.level + 1)}
    position = {"text:space-before": cm(max(0, indent + first)), "text:min-label-width": cm(max(0, -first))}
    properties = tag("style:list-level-properties", position)
    if paragraph.marker == "bullet":
        attributes["text:bullet-char"] = paragraph.bullet or _BULLETS[paragraph.level]
        text_properties = tag("style:text-properties", {**_SANS, "fo:font-size": "100%"})
        return tag("text:list-level-style-bullet", attributes, properties, text_properties)
    if not paragraph.marker:
        return tag("text:list-level-style-number", attributes | {"style:num-format": ""}, properties)
    prefix, number, suffix = _LABEL.findall(paragraph.bullet or "1.")[0]
    attributes |= {"style:num-prefix": prefix, "style:num-format": number, "style:num-suffix": suffix}
    return tag("text:list-level-style-number", attributes, properties)


def styles(width: int, height: int) -> bytes:
    """Return the content of styles.xml, with pages of this size in EMU and a master page without shapes."""
    template = (files(__package__) / "styles.xml").read_text("utf-8")
    orientation = "landscape" if width >= height else "portrait"
    return template.format(width=cm(width), height=cm(height), orientation=orientation).encode()


_CLASSES = {"title": "title", "subtitle": "subtitle", "body": "outline"}
_ALIGNS = {"left": "left", "center": "center", "right": "right", "justify": "justify", "": "start"}
_PADDING = {f"fo:padding-{side}": size for side, size in
            (("top", "0.127cm"), ("bottom", "0.127cm"), ("left", "0.254cm"), ("right", "0.254cm"))}  # fmt: skip


class OdpPageWriter:
    """Writes the shapes of one page as XML, and adds their styles to `styles`."""

    def __init__(self, styles: AutomaticStyles, pictures: Mapping[str, bytes], job: Job) -> None:
        self.styles, self._pictures, self._job = styles, pictures, job

    def shape(self, shape: model.Shape) -> str:
        """Return the XML element of a shape, or "" for a table without cells and a shape that cannot be converted."""
        with self._job.leaving_out("A shape"):
            match shape:
                case model.Text():
                    return self._text(shape)
                case model.SlidePicture():
                    return self._picture(shape)
                case model.SlideTable() if shape.rows and shape.rows[0]:
                    return self._table(shape)
        return ""

    def _text(self, shape: model.Text) -> str:
        kind = _CLASSES.get(shape.role)
        body = self.paragraphs(shape.paragraphs)
        graphic = [tag("style:graphic-properties", _graphic(shape))]
        if kind:
            parent = f"Default-{kind}" + ("1" if kind == "outline" else "")
            style = {"presentation:style-name": self.styles.name("presentation", graphic, parent)}
            style |= {"presentation:class": kind, "presentation:user-transformed": "true"}
        else:
            style = {"draw:style-name": self.styles.name("graphic", graphic, "standard")}
        attributes = style | _position(shape.box)
        if shape.paths:
            return tag("draw:custom-shape", attributes, _description(shape.alt), body, _geometry(shape))
        if shape.outline and not kind:
            corner = {"draw:corner-radius": cm(min(shape.box.width, shape.box.height) / 6)}
            form = "draw:ellipse" if shape.outline == "ellipse" else "draw:rect"
            return tag(form, attributes | (corner if shape.outline == "round" else {}), _description(shape.alt), body)
        return tag("draw:frame", attributes, tag("draw:text-box", None, body), _description(shape.alt))

    def _picture(self, shape: model.SlidePicture) -> str:
        image = tag("draw:image", {"xlink:href": f"Pictures/{shape.name}", **_EMBEDDED})
        flips = ("horizontal", shape.box.flip_x), ("vertical", shape.box.flip_y)
        mirror = {"style:mirror": " ".join(name for name, flip in flips if flip) or "none"}
        if any(shape.crop):
            width, height = natural_size(self._pictures[shape.name], self._job.limits)
            left, top, right, bottom = shape.crop
            sides = (top * height, right * width, bottom * height, left * width)
            mirror["fo:clip"] = f"rect({', '.join(map(cm, sides))})"
        style = tag("style:graphic-properties", {"draw:stroke": "none", "draw:fill": "none"} | mirror)
        attributes = {"draw:style-name": self.styles.name("graphic", [style], "standard")} | _position(shape.box)
        return tag("draw:frame", attributes, image, _description(shape.alt))

    def _table(self, shape: model.SlideTable) -> str:
        count = len(shape.rows[0])
        widths = shape.widths or (shape.box.width // count,) * count
        heights = shape.heights or (shape.box.height // len(shape.rows),) * len(shape.rows)
        columns = ""
        for width in widths:
            properties = tag("style:table-column-properties", {"style:column-width": cm(width)})
            style = self.styles.name("table-column", [properties])
            columns += tag("table:table-column", {"table:style-name": style})
        rows = "".join(self._row(row, height) for row, height in zip(shape.rows, heights, strict=False))
        attributes = {"table:use-first-row-styles": "true"} if shape.header else {}
        frame = {"draw:style-name": self.styles.name("graphic", [], "standard")} | _position(shape.box)
        return tag("draw:frame", frame, tag("table:table", attributes, columns, rows), _description(shape.alt))

    def _row(self, row: Iterable[model.TableCell | None], height: int) -> str:
        attributes = tag("style:table-row-properties", {"style:row-height": cm(height)})
        cells = "".join(self._cell(cell) if cell else tag("table:covered-table-cell") for cell in row)
        return tag("table:table-row", {"table:style-name": self.styles.name("table-row", [attributes])}, cells)

    def _cell(self, cell: model.TableCell) -> str:
        shade = {"draw:fill": "solid", "draw:fill-color": f"#{cell.fill}"} if cell.fill else {"draw:fill": "none"}
        lines = {"fo:border": "0.5pt solid #969696"}
        if cell.borders is not None:
            sides = zip(("left", "top", "right", "bottom"), cell.borders, strict=False)
            lines = {f"fo:border-{side}": f"1pt solid #{digits}" if digits else "none" for side, digits in sides}
        anchor = {"draw:textarea-vertical-align": cell.anchor}
        properties = [
            tag("loext:graphic-properties", shade | _PADDING | anchor),
            tag("style:paragraph-properties", lines),
        ]
        attributes = {"table:style-name": self.styles.name("table-cell", properties)}
        spans = (("columns", cell.columns), ("rows", cell.rows))
        attributes |= {f"table:number-{kind}-spanned": str(count) for kind, count in spans if count > 1}
        return tag("table:table-cell", attributes, self.paragraphs(cell.paragraphs))

    def paragraphs(self, paragraphs: Iterable[model.Paragraph]) -> str:
        """Return paragraphs as XML. Each list item becomes a separate list, which starts with the item's number."""
        return "".join(self._paragraph(paragraph, number) for paragraph, number in model.with_numbers(paragraphs))

    def _paragraph(self, paragraph: model.Paragraph, number: int) -> str:
        attributes = {"fo:text-align": _ALIGNS[paragraph.align]}
        if paragraph.indent is not None:
            attributes |= {"fo:line-height": f"{paragraph.line_spacing:.0%}", "fo:margin-top": f"{paragraph.before}pt"}
            attributes |= {"fo:margin-bottom": f"{paragraph.after}pt"}
            if not paragraph.marker and not paragraph.level:
                attributes |= {"fo:margin-left": cm(paragraph.indent), "fo:text-indent": cm(paragraph.first)}
        if paragraph.rtl:
            attributes["style:writing-mode"] = "rl-tb"
        properties = [tag("style:paragraph-properties", attributes)]
        if paragraph.runs:
            properties.append(tag("style:text-properties", _text_properties(paragraph.runs[0])))
        style = {"text:style-name": self.styles.name("paragraph", properties)}
        element = tag("text:p", style, *(self._run(run) for run in paragraph.runs))
        if not paragraph.marker and not paragraph.level:
            return element
        start = {"text:start-value": str(number)} if number else {}
        element = tag("text:list-item", start, element)
        for _ in range(paragraph.level):
            element = tag("text:list-item", None, tag("text:list", None, element))
        lists = self.styles.lists
        list_style = lists.setdefault(list_level(paragraph), f"list{len(lists) + 1}")
        return tag("text:list", {"text:style-name": list_style}, element)

    def _run(self, run: model.TextRun) -> str:
        style = self.styles.name("text", [tag("style:text-properties", _text_properties(run))])
        body = text_content(run.text)
        if run.link:  # inside the span, since LibreOffice drops the text of a span inside a link
            body = tag("text:a", {"xlink:type": "simple", "xlink:href": run.link}, body)
        return tag("text:span", {"text:style-name": style}, body)


_EMBEDDED = {"xlink:type": "simple", "xlink:show": "embed", "xlink:actuate": "onLoad"}


def _graphic(shape: model.Text) -> dict[str, str]:
    fill = {"draw:fill": "solid", "draw:fill-color": f"#{shape.fill[:6]}"} if shape.fill else {"draw:fill": "none"}
    opacity = {"draw:opacity": f"{int(shape.fill[6:], 16) / 255:.0%}"} if shape.fill and shape.fill[6:] else {}
    shrinks = {"draw:fit-to-size": "shrink-to-fit"} if shape.shrinks else {}
    sides = zip(("left", "top", "right", "bottom"), shape.insets, strict=True)
    padding = {f"fo:padding-{side}": cm(inset) for side, inset in sides}
    direction = {"style:writing-mode": "tb-rl"} if shape.direction else {}
    return fill | opacity | _line(shape) | shrinks | padding | direction | {
        "draw:textarea-vertical-align": shape.anchor, "draw:auto-grow-height": "false",
        "fo:wrap-option": "wrap" if shape.wrap else "no-wrap", "draw:auto-grow-width": "false",
        "draw:textarea-horizontal-align": "justify" if shape.wrap else "center",
    }  # fmt: skip


def _line(shape: model.Text) -> dict[str, str]:
    if not shape.line:
        return {"draw:stroke": "none"}
    stroke = shape.stroke
    line = {"draw:stroke": "solid", "svg:stroke-color": f"#{shape.line[:6]}", "svg:stroke-width": cm(stroke.width)}
    if stroke.dash:
        line |= {"draw:stroke": "dash", "draw:stroke-dash": stroke.dash}
    for end, kind in (("start", stroke.start), ("end", stroke.end)):
        if kind:
            line |= {f"draw:marker-{end}": kind, f"draw:marker-{end}-width": cm(max(20_000, stroke.width) * 3)}
    return line


def _geometry(shape: model.Text) -> str:
    parts = (path.data + " F" * (path.fill == "none") + " S" * (not path.stroke) + " N" for path in shape.paths)
    mirrors = ("horizontal", shape.box.flip_x), ("vertical", shape.box.flip_y)
    mirror = {f"draw:mirror-{side}": "true" for side, flip in mirrors if flip}
    attributes = {
        "draw:type": "non-primitive", "svg:viewBox": f"0 0 {model.PATH_SIDE} {model.PATH_SIDE}",
        "draw:text-areas": f"0 0 {model.PATH_SIDE} {model.PATH_SIDE}", "draw:enhanced-path": " ".join(parts),
    }  # fmt: skip
    return tag("draw:enhanced-geometry", attributes | mirror)


def _text_properties(run: model.TextRun) -> dict[str, str]:
    """Return the text properties of a run. Font properties are repeated for western, Asian and complex scripts."""
    properties = {"fo:color": f"#{run.color or '000000'}"}
    sizes = {"font-size": f"{run.size:g}pt"} if run.size else {}
    weight, style = "bold" if run.bold else "normal", "italic" if run.italic else "normal"
    for key, value in (sizes | {"font-weight": weight, "font-style": style}).items():
        properties |= {f"fo:{key}": value, f"style:{key}-asian": value, f"style:{key}-complex": value}
    if run.capitals:
        properties["fo:text-transform"] = "uppercase"
    if run.baseline:
        properties["style:text-position"] = f"{run.baseline} 66%"
    if run.underline:
        properties |= {"style:text-underline-style": "solid", "style:text-underline-width": "auto"}
    if run.strike:
        properties["style:text-line-through-style"] = "solid"
    return properties


def _position(box: model.Box) -> dict[str, str]:
    size = {"svg:width": cm(box.width), "svg:height": cm(box.height)}
    if not box.turn:
        return size | {"svg:x": cm(box.x), "svg:y": cm(box.y)}
    angle = radians(-box.turn)
    x = box.x + box.width / 2 - cos(angle) * box.width / 2 - sin(angle) * box.height / 2
    y = box.y + box.height / 2 + sin(angle) * box.width / 2 - cos(angle) * box.height / 2
    return size | {"draw:transform": f"rotate ({angle:.6f}) translate ({cm(x)} {cm(y)})"}


def _description(alt: str) -> str:
    return tag("svg:desc", None, text_content(alt)) if alt else ""


_NOTES = {"svg:width": "16.9cm", "svg:height": "11.4cm", "svg:x": "1.9cm", "svg:y": "12cm"}


def write(presentation: model.Presentation, job: Job) -> bytes:
    """Return a presentation as an odp file, with a blank slide if it has no slides, since programs expect a slide."""
    pictures = {f"Pictures/{name}": data for name, data in presentation.pictures.items() if name.isascii()}
    parts = _content(presentation, job), styles(presentation.width, presentation.height)
    return odf_archive("presentation", *parts, presentation.title or job.name, job.now, pictures)


def _content(presentation: model.Presentation, job: Job) -> bytes:
    automatic_styles = AutomaticStyles()
    writer = OdpPageWriter(automatic_styles, presentation.pictures, job)
    numbered = enumerate(presentation.slides or (model.Slide(),), 1)
    slides = "".join(_slide(slide, number, presentation, writer) for number, slide in numbered)
    return odf_document(
        "office:document-content",
        tag("office:automatic-styles", None, automatic_styles.styles()),
        tag("office:body", None, tag("office:presentation", None, slides)),
    )


def _slide(slide: model.Slide, number: int, presentation: model.Presentation, writer: OdpPageWriter) -> str:
    attributes = {"draw:name": f"page{number}", "draw:master-page-name": "Default"}
    attributes["draw:style-name"] = writer.styles.name("drawing-page", [_background(slide)])
    shapes = (*slide.behind, *slide.shapes)
    has_picture = (not isinstance(it, model.SlidePicture) or it.name in presentation.pictures for it in shapes)
    written = map(writer.shape, compress(shapes, has_picture))
    return tag("draw:page", attributes, *written, _notes(slide.notes) if slide.notes else "")


def _background(slide: model.Slide) -> str:
    attributes = {"presentation:background-visible": "true", "presentation:background-objects-visible": "true"}
    if slide.background:
        attributes |= {"draw:fill": "solid", "draw:fill-color": f"#{slide.background}"}
    if slide.hidden:
        attributes["presentation:visibility"] = "hidden"
    return tag("style:drawing-page-properties", attributes)


def _notes(notes: str) -> str:
    paragraphs = (tag("text:p", None, text_content(line)) for line in notes.split("\n"))
    frame = _NOTES | {"presentation:style-name": "Default-notes", "presentation:class": "notes"}
    return tag("presentation:notes", None, tag("draw:frame", frame, tag("draw:text-box", None, *paragraphs)))
