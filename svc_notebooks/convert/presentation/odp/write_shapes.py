"""Writes paragraphs and shapes as OpenDocument XML."""

from __future__ import annotations

from collections.abc import Iterable
from math import cos, radians, sin

from ..model import Box, Paragraph, Shape, SlidePicture, SlideTable, TableCell, Text, TextRun
from ..paragraphs import with_numbers
from .namespaces import cm
from .xml import AutomaticStyles, tag, text_content

_CLASSES = {"title": "title", "subtitle": "subtitle", "body": "outline"}
_LISTS = {"bullet": "bullets", "number": "numbers", "": "plain"}
_ALIGNS = {"left": "left", "center": "center", "right": "right", "justify": "justify", "": "start"}
_PADDING = {f"fo:padding-{side}": size for side, size in
            (("top", "0.127cm"), ("bottom", "0.127cm"), ("left", "0.254cm"), ("right", "0.254cm"))}  # fmt: skip


class OdpPageWriter:
    """Writes the shapes of one page as XML, and adds their styles to `styles`."""

    def __init__(self, styles: AutomaticStyles) -> None:
        self._styles = styles

    def shape(self, shape: Shape) -> str:
        """Return the XML element of a shape, or "" if the shape is a table without cells."""
        match shape:
            case Text():
                return self._text(shape)
            case SlidePicture():
                return self._picture(shape)
            case SlideTable():
                return self._table(shape) if shape.rows and shape.rows[0] else ""

    def _text(self, shape: Text) -> str:
        kind = _CLASSES.get(shape.role)
        body = self.paragraphs(shape.paragraphs)
        graphic = [tag("style:graphic-properties", _graphic(shape))]
        if kind:
            parent = f"Default-{kind}" + ("1" if kind == "outline" else "")
            style = {"presentation:style-name": self._styles.name("presentation", graphic, parent)}
            style |= {"presentation:class": kind, "presentation:user-transformed": "true"}
        else:
            style = {"draw:style-name": self._styles.name("graphic", graphic, "standard")}
        attributes = style | _position(shape.box)
        if shape.outline and not kind:
            corner = {"draw:corner-radius": cm(min(shape.box.width, shape.box.height) / 6)}
            form = "draw:ellipse" if shape.outline == "ellipse" else "draw:rect"
            return tag(form, attributes | (corner if shape.outline == "round" else {}), _description(shape.alt), body)
        return tag("draw:frame", attributes, tag("draw:text-box", None, body), _description(shape.alt))

    def _picture(self, shape: SlidePicture) -> str:
        image = tag("draw:image", {"xlink:href": f"Pictures/{shape.name}", **_EMBEDDED})
        style = tag("style:graphic-properties", {"draw:stroke": "none", "draw:fill": "none"})
        attributes = {"draw:style-name": self._styles.name("graphic", [style], "standard")} | _position(shape.box)
        return tag("draw:frame", attributes, image, _description(shape.alt))

    def _table(self, shape: SlideTable) -> str:
        count = len(shape.rows[0])
        widths = shape.widths or (shape.box.width // count,) * count
        heights = shape.heights or (shape.box.height // len(shape.rows),) * len(shape.rows)
        columns = ""
        for width in widths:
            properties = tag("style:table-column-properties", {"style:column-width": cm(width)})
            style = self._styles.name("table-column", [properties])
            columns += tag("table:table-column", {"table:style-name": style})
        rows = "".join(self._row(row, height) for row, height in zip(shape.rows, heights, strict=False))
        attributes = {"table:use-first-row-styles": "true"} if shape.header else {}
        frame = {"draw:style-name": self._styles.name("graphic", [], "standard")} | _position(shape.box)
        return tag("draw:frame", frame, tag("table:table", attributes, columns, rows), _description(shape.alt))

    def _row(self, row: Iterable[TableCell | None], height: int) -> str:
        attributes = tag("style:table-row-properties", {"style:row-height": cm(height)})
        cells = "".join(self._cell(cell) if cell else tag("table:covered-table-cell") for cell in row)
        return tag("table:table-row", {"table:style-name": self._styles.name("table-row", [attributes])}, cells)

    def _cell(self, cell: TableCell) -> str:
        shade = {"draw:fill": "solid", "draw:fill-color": f"#{cell.fill}"} if cell.fill else {"draw:fill": "none"}
        properties = [
            tag("loext:graphic-properties", shade | _PADDING),
            tag("style:paragraph-properties", {"fo:border": "0.5pt solid #969696"}),
        ]
        attributes = {"table:style-name": self._styles.name("table-cell", properties)}
        spans = (("columns", cell.columns), ("rows", cell.rows))
        attributes |= {f"table:number-{kind}-spanned": str(count) for kind, count in spans if count > 1}
        return tag("table:table-cell", attributes, self.paragraphs(cell.paragraphs))

    def paragraphs(self, paragraphs: Iterable[Paragraph]) -> str:
        """Return paragraphs as XML. Each list item becomes a separate list, which starts with the item's number."""
        return "".join(self._paragraph(paragraph, number) for paragraph, number in with_numbers(paragraphs))

    def _paragraph(self, paragraph: Paragraph, number: int) -> str:
        attributes = {"fo:text-align": _ALIGNS[paragraph.align]}
        if paragraph.rtl:
            attributes["style:writing-mode"] = "rl-tb"
        properties = [tag("style:paragraph-properties", attributes)]
        if paragraph.runs:
            properties.append(tag("style:text-properties", _text_properties(paragraph.runs[0])))
        style = {"text:style-name": self._styles.name("paragraph", properties)}
        element = tag("text:p", style, *(self._run(run) for run in paragraph.runs))
        if not paragraph.marker and not paragraph.level:
            return element
        start = {"text:start-value": str(number)} if number else {}
        element = tag("text:list-item", start, element)
        for _ in range(paragraph.level):
            element = tag("text:list-item", None, tag("text:list", None, element))
        return tag("text:list", {"text:style-name": _LISTS[paragraph.marker]}, element)

    def _run(self, run: TextRun) -> str:
        style = self._styles.name("text", [tag("style:text-properties", _text_properties(run))])
        body = text_content(run.text)
        if run.link:  # inside the span, since LibreOffice drops the text of a span inside a link
            body = tag("text:a", {"xlink:type": "simple", "xlink:href": run.link}, body)
        return tag("text:span", {"text:style-name": style}, body)


_EMBEDDED = {"xlink:type": "simple", "xlink:show": "embed", "xlink:actuate": "onLoad"}


def _graphic(shape: Text) -> dict[str, str]:
    fill = {"draw:fill": "solid", "draw:fill-color": f"#{shape.fill}"} if shape.fill else {"draw:fill": "none"}
    line = {"draw:stroke": "solid", "svg:stroke-color": f"#{shape.line}"} if shape.line else {"draw:stroke": "none"}
    shrinks = {"draw:fit-to-size": "shrink-to-fit"} if shape.role in _CLASSES else {}
    return fill | line | shrinks | _PADDING | {
        "draw:textarea-vertical-align": shape.anchor, "draw:auto-grow-height": "false", "fo:wrap-option": "wrap",
        "draw:textarea-horizontal-align": "justify",
    }  # fmt: skip


def _text_properties(run: TextRun) -> dict[str, str]:
    """Return the text properties of a run. Font properties are repeated for western, Asian and complex scripts."""
    properties = {"fo:color": f"#{run.color or '000000'}"}
    sizes = {"font-size": f"{run.size:g}pt"} if run.size else {}
    values = sizes | {
        "font-weight": "bold" if run.bold else "normal",
        "font-style": "italic" if run.italic else "normal",
    }
    for key, value in values.items():
        properties |= {f"fo:{key}": value, f"style:{key}-asian": value, f"style:{key}-complex": value}
    if run.underline:
        properties |= {"style:text-underline-style": "solid", "style:text-underline-width": "auto"}
    if run.strike:
        properties["style:text-line-through-style"] = "solid"
    return properties


def _position(box: Box) -> dict[str, str]:
    size = {"svg:width": cm(box.width), "svg:height": cm(box.height)}
    if not box.turn:
        return size | {"svg:x": cm(box.x), "svg:y": cm(box.y)}
    angle = radians(-box.turn)
    x = box.x + box.width / 2 - cos(angle) * box.width / 2 - sin(angle) * box.height / 2
    y = box.y + box.height / 2 + sin(angle) * box.width / 2 - cos(angle) * box.height / 2
    return size | {"draw:transform": f"rotate ({angle:.6f}) translate ({cm(x)} {cm(y)})"}


def _description(alt: str) -> str:
    return tag("svg:desc", None, text_content(alt)) if alt else ""
