"""Rewrites pictures as DrawingML with one picture each, and charts, diagrams and other graphics as their text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lxml.etree import Element, SubElement

from ...input.chart import chart_rows
from ...input.opc import Relationships
from .body import P, run_of
from .looks import points
from .package import NAMESPACES, DocxPackage, tag, tags

_GRAPHICS = tags("w:drawing w:pict w:object")
_TEXTS = tags("v:textpath c:chart dgm:relIds a:p")
_RULE, _OWN_SIZE = tag("v:rect"), "/".join(tags("pic:spPr a:xfrm a:ext"))
_PICTURES, _RELATION_IDS = tags("pic:pic v:imagedata"), tags("r:embed r:link r:id r:pict")
_EMU_PER_POINT = 12_700
_POINTS_PER_PIXEL = 0.75
_MAX_ROWS = 1_000
"""The limit of the rows of a chart that are read."""


def simplify(root: Any, package: DocxPackage, relationships: Relationships) -> None:
    """Replace each graphic in a run by its pictures, and put its text behind the paragraph."""
    for graphic in reversed(list(root.iter(*_GRAPHICS))):
        paragraph: Any = next(graphic.iterancestors(P), None)
        for element in reversed(list(graphic.iter(*_TEXTS))) if paragraph is not None else ():
            for block in reversed(list(_text_blocks(element, package, relationships))):
                paragraph.addnext(block)
        for element in graphic.iter(*_PICTURES):
            picture = _picture(element, relationships)
            if picture is not None:
                graphic.addprevious(picture)
        if graphic.find(_RULE) is None or graphic.find(_RULE).get(tag("o:hr")) != "t":
            graphic.getparent().remove(graphic)


def _picture(element: Any, relationships: Relationships) -> Any:
    """Return a w:drawing with only one picture, or None if the picture has no relationship."""
    blip, shape = next(element.iter(tag("a:blip")), element), element.getparent()
    relation_id = next((blip.get(name) for name in _RELATION_IDS if blip.get(name) in relationships), None)
    if relation_id is None:
        return None
    frame = next(element.iterancestors(*tags("wp:inline wp:anchor")), None)
    if frame is not None:
        about = frame.find(tag("wp:docPr"))
        extent = element.find(_OWN_SIZE) if shape.tag != tag("a:graphicData") else frame.find(tag("wp:extent"))
        size = {} if extent is None else {name: extent.get(name, "0") for name in ("cx", "cy")}
        description = {} if about is None else {name: about.get(name, "") for name in ("descr", "title")}
    else:
        style = dict(rule.partition(":")[::2] for rule in "".join(shape.get("style", "").split()).split(";"))
        lengths = (points(style.get(name), _POINTS_PER_PIXEL) for name in ("width", "height"))
        size = {name: str(round(length * _EMU_PER_POINT)) for name, length in zip(("cx", "cy"), lengths, strict=True)}
        description = {"descr": shape.get("alt", "")}
    drawing = Element(tag("w:drawing"))
    inline = SubElement(drawing, tag("wp:inline"))
    if size and "0" not in size.values():
        SubElement(inline, tag("wp:extent"), size)
    SubElement(inline, tag("wp:docPr"), description)
    fill = SubElement(SubElement(inline, tag("pic:pic"), nsmap=NAMESPACES), tag("pic:blipFill"))
    SubElement(fill, tag("a:blip"), {tag("r:embed"): relation_id})
    return drawing


def _text_blocks(element: Any, package: DocxPackage, relationships: Relationships) -> Iterator[Any]:
    """Yield paragraphs, and for a chart also a table, with the text of a graphic."""
    if element.tag == tag("v:textpath"):
        yield from _paragraphs([element.get("string", "")])
    elif element.tag == tag("a:p"):
        yield from _paragraphs([_text(element)])
    else:
        is_chart = element.tag == tag("c:chart")
        relationship = relationships.get(element.get(tag("r:id" if is_chart else "r:dm")))
        data = package.root(relationship.target) if relationship and not relationship.is_external else None
        if data is not None:
            yield from _paragraphs(map(_text, data.iter(tag("c:title" if is_chart else "dgm:pt"))))
            if is_chart and (rows := chart_rows(data, _MAX_ROWS)):
                table = Element(tag("w:tbl"))
                for row in rows:
                    cells = SubElement(table, tag("w:tr"))
                    for text in row:
                        SubElement(cells, tag("w:tc")).extend(_paragraphs([text]))
                yield table


def _text(element: Any) -> str:
    return "".join(text.text or "" for text in element.iter(tag("a:t")))


def _paragraphs(lines: Iterable[str]) -> Iterator[Any]:
    for line in filter(str.strip, lines):
        paragraph = Element(P)
        paragraph.append(run_of(line))
        yield paragraph
