"""Replaces the looks that write_looks.py writes into docx and odt files with direct formatting."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from .model import Document

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_OFFICE, _STYLE, _TEXT, _FO, _SVG = (
    f"{{urn:oasis:names:tc:opendocument:xmlns:{name}:1.0}}"
    for name in ("office", "style", "text", "xsl-fo-compatible", "svg-compatible")
)
_PARAGRAPH_ORDER = (
    "pStyle", "keepNext", "keepLines", "pageBreakBefore", "widowControl", "numPr", "pBdr", "shd", "tabs", "bidi",
    "spacing", "ind", "contextualSpacing", "jc", "outlineLvl", "rPr",
)  # fmt: skip
"""The order of the elements in `w:pPr` (ECMA-376 part 1, 17.3.1.26), without those that pandoc does not write."""
_FOOTER = 43.2
"""The height in points of the footer of pandoc's odt files, which is above the bottom margin."""
_MIN_MARGIN = 14.4
_OPPOSITE = {"left": "right", "right": "left"}


def docx_looks(part: bytes) -> bytes:
    """Replace the elements `paragraph` and `text` in a docx part with properties of paragraphs and runs."""
    if b"<paragraph " not in part and b"<text " not in part:
        return part
    root = _parse(part)
    for paragraph in root.iter(f"{_W}p"):
        look: dict[str, str] = {}
        for element in list(paragraph.iter(f"{_W}r", "paragraph", "text")):
            if element.tag == f"{_W}r":
                _set_run_look(element, look)
            else:
                look = dict(element.attrib)
                if element.tag == "paragraph":
                    _set_paragraph_look(paragraph, look)
                element.getparent().remove(element)
    return _serialized(root)


def _set_paragraph_look(paragraph: Any, look: dict[str, str]) -> None:
    properties = _child(paragraph, f"{_W}pPr")
    if "direction" in look:
        _child(properties, f"{_W}bidi")
    if align := look.get("align"):
        if properties.find(f"{_W}bidi") is not None:  # there "left" is the side where the text starts
            align = _OPPOSITE.get(align, align)
        _child(properties, f"{_W}jc").set(f"{_W}val", "both" if align == "justify" else align)
    if "page-break" in look:
        _child(properties, f"{_W}pageBreakBefore")
    if background := look.pop("background", None):
        _set_shading(properties, background)
    order = {_W + name: number for number, name in enumerate(_PARAGRAPH_ORDER)}
    properties[:] = sorted(properties, key=lambda element: order.get(element.tag, len(order)))


def _set_run_look(run: Any, look: dict[str, str]) -> None:
    if not look.keys() & {"size", "color", "background"}:
        return
    properties = _child(run, f"{_W}rPr")
    if "color" in look and run.getparent().tag != f"{_W}hyperlink":
        _child(properties, f"{_W}color").set(f"{_W}val", look["color"][1:])
    if size := look.get("size"):
        for name in ("sz", "szCs"):
            _child(properties, _W + name).set(f"{_W}val", f"{round(2 * float(size[:-2]))}")
    if background := look.get("background"):
        _set_shading(properties, background)


def _set_shading(properties: Any, color: str) -> None:
    shading = _child(properties, f"{_W}shd")
    for name, value in (("val", "clear"), ("color", "auto"), ("fill", color[1:])):
        shading.set(_W + name, value)


def odt_looks(content: bytes) -> bytes:
    """Replace what `OdtLooks` wrote with automatic styles, and put the descriptions of pictures into their frames."""
    from lxml import etree

    if not any(code in content for code in (b"<paragraph ", b"<text:span look=", b"<description>")):
        return content
    root = _parse(content)
    styles = _AutomaticStyles(root.find(f"{_OFFICE}automatic-styles"))
    name = f"{_TEXT}style-name"
    for mark in root.iter("paragraph"):
        paragraph = next(mark.iterancestors(f"{_TEXT}p", f"{_TEXT}h"))
        paragraph.set(name, styles.name("paragraph", paragraph.get(name), dict(mark.attrib)))
    for span in root.iter(f"{_TEXT}span"):
        if span.attrib.pop("look", None):
            look = {key: span.attrib.pop(key) for key in list(span.attrib)}
            span.set(name, styles.name("text", "", look))
    for description in root.iter("description"):
        etree.SubElement(description.getprevious(), f"{_SVG}desc").text = description.text
    etree.strip_elements(root, "paragraph", "description", with_tail=False)
    return _serialized(root)


class _AutomaticStyles:
    """The automatic styles of an odt file, to which the styles of looks are added."""

    def __init__(self, styles: Any) -> None:
        self._styles = styles
        self._names: dict[tuple[str, ...], str] = {}

    def name(self, family: str, base: str, look: dict[str, str]) -> str:
        """Return the name of the style with a look. `base` is the style of the paragraph, or ""."""
        key = (family, base, *look, *look.values())
        if key not in self._names:
            self._names[key] = f"look{len(self._names) + 1}"
            style = self._copy(base, family)
            style.set(f"{_STYLE}name", self._names[key])
            _set_properties(style, family, look)
            self._styles.append(style)
        return self._names[key]

    def _copy(self, base: str, family: str) -> Any:
        """Return a copy of an automatic style, or a new style with a named style as its parent."""
        for style in self._styles:
            if base and style.get(f"{_STYLE}name") == base:
                return deepcopy(style)
        style = self._styles.makeelement(f"{_STYLE}style", {f"{_STYLE}family": family})
        if base:
            style.set(f"{_STYLE}parent-style-name", base)
        return style


def _set_properties(style: Any, family: str, look: dict[str, str]) -> None:
    if family == "paragraph":
        properties = _child(style, f"{_STYLE}paragraph-properties")
        if "direction" in look:
            _set(properties, {f"{_FO}text-align": "right", f"{_STYLE}writing-mode": "rl-tb"})
        values = {"text-align": look.get("align"), "background-color": look.pop("background", None)}
        values["break-before"] = "page" if "page-break" in look else None
        _set(properties, {_FO + name: value for name, value in values.items()})
    size = look.get("size")
    values = {f"{_FO}color": look.get("color"), f"{_FO}background-color": look.get("background")}
    values |= dict.fromkeys((f"{_FO}font-size", f"{_STYLE}font-size-asian", f"{_STYLE}font-size-complex"), size)
    _set(_child(style, f"{_STYLE}text-properties", len(style)), values)


def odt_page(styles: bytes, document: Document) -> bytes:
    """Set the page and the default size of text in the styles of an odt file."""
    if not document.page and not document.text_size:
        return styles
    root = _parse(styles)
    if page := document.page:
        values = {f"margin-{side}": getattr(page, side) for side in ("top", "right", "bottom", "left")}
        values |= {"page-width": page.width, "page-height": page.height}
        values["margin-bottom"] = max(page.bottom - _FOOTER, min(page.bottom, _MIN_MARGIN))
        for properties in root.iter(f"{_STYLE}page-layout-properties"):
            _set(properties, {_FO + name: f"{length:g}pt" for name, length in values.items()})
            properties.set(f"{_STYLE}print-orientation", "landscape" if page.width > page.height else "portrait")
    if size := document.text_size:
        for style in root.iter(f"{_STYLE}default-style"):
            if style.get(f"{_STYLE}family") == "paragraph":
                _set_properties(style, "text", {"size": f"{size:g}pt"})
    return _serialized(root)


def _set(element: Any, attributes: Mapping[str, str | None]) -> None:
    for name, value in attributes.items():
        if value is not None:
            element.set(name, value)


def _child(parent: Any, tag: str, position: int = 0) -> Any:
    """Return the child element with a tag, which is made at a position if it is missing."""
    child = parent.find(tag)
    if child is None:
        child = parent.makeelement(tag)
        parent.insert(position, child)
    return child


def _parse(part: bytes) -> Any:
    from lxml import etree

    return etree.fromstring(part, etree.XMLParser(huge_tree=True, resolve_entities=False, no_network=True))


def _serialized(root: Any) -> bytes:
    from lxml import etree

    part: bytes = etree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return part
