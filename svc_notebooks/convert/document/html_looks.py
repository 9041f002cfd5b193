"""Reads the looks in the style attributes and the older attributes of a web page as markers (looks.py)."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from .looks import Look, Looks

_BODY_SIZE = 12.0
_SIZES = dict(
    zip(
        ("x-small", "small", "medium", "large", "x-large", "xx-large", "xxx-large"),
        (7.5, 10.0, _BODY_SIZE, 13.5, 18.0, 24.0, 36.0),
        strict=True,
    )
)
"""The absolute sizes of CSS in points, which are also the sizes 1 to 7 of the element font."""
_SIZE = re.compile(r"(\d{0,3}\.?\d{1,4})(pt|px|em|rem|%)")
_INLINE_TAGS = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "del", "dfn", "em", "font", "i", "img",
    "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var",
    "wbr",
})  # fmt: skip
_HEADINGS = {"h1": 2.0, "h2": 1.5, "h3": 1.17, "h4": 1.0, "h5": 0.83, "h6": 0.67}
"""The sizes of headings relative to the text around them, as browsers show them."""
_ALIGNED_TAGS = (*_HEADINGS, "p", "div", "td", "th", "tr")
_MARKED_TAGS = ("span", "font", "a", "p")
_ATTRIBUTES = frozenset({
    "alt", "checked", "colspan", "dir", "height", "href", "id", "lang", "name", "role", "rowspan", "span", "src",
    "start", "title", "type", "width",
})  # fmt: skip
"""The attributes that pandoc's reader uses, besides `style`, `align` and `class` of some elements."""
_STYLED_TAGS = ("col", "colgroup", "li", "ol", "table", "td", "th")
_CLASSED_TAGS = ("code", "ol", "pre", "samp")
_CLASSES = re.compile(r"small-?caps|line-block")


def declarations(element: Any) -> dict[str, str]:
    """Return the values in the style attribute of an element by the names of their properties, in lower case."""
    pairs = (part.partition(":") for part in element.get("style", "").lower().split(";"))
    return {name.strip(): value.replace("!important", "").strip() for name, _, value in pairs}


def read_looks(root: Any) -> Looks:
    """Insert markers of looks into the texts of a page, and remove the attributes and spans that pandoc ignores."""
    from lxml import etree

    has_sizes = root.xpath("//font/@size or //@style[contains(., 'font-size') or contains(., 'FONT-SIZE')]")
    looks = Looks(root.itertext(), _BODY_SIZE if has_sizes else None)
    plain: Look = {"size": f"{_BODY_SIZE:g}pt"} if has_sizes else {}
    stack, current = [plain], plain
    page_break: Look = {}

    def marked(text: str | None, look: Look) -> str | None:
        nonlocal current, page_break
        if not text or not text.strip() or (look == current and not page_break):
            return text
        marker = looks.marker(look | page_break)
        current, page_break = look, {}
        return text[: len(text) - len(text.lstrip())] + marker + text.lstrip()

    for event, element in etree.iterwalk(root, events=("start", "end")):
        if element.tag not in _INLINE_TAGS:
            current = plain
        style = declarations(element) if element.get("style") else {}
        side = "before" if event == "start" else "after"
        if style.get(f"page-break-{side}") == "always" or style.get(f"break-{side}") == "page":
            page_break = {"page-break": "before"}
        if event == "start":
            stack.append(_look(element, style, stack[-1]))
            element.text = marked(element.text, stack[-1])
            if element.tag == "img" and stack[-1] != current:
                current = stack[-1]
                _insert_before(element, looks.marker(current))
        else:
            stack.pop()
            element.tail = marked(element.tail, stack[-1])
            _simplify(element, style)
    etree.strip_tags(root, "bare")
    return looks


def _look(element: Any, style: dict[str, str], outer: Look) -> Look:
    """Return the look of the text in an element, for which `outer` is the look around the element."""
    look = dict(outer)
    outer_size = float(outer.get("size", f"{_BODY_SIZE}pt")[:-2])
    if "size" in look and element.tag in _HEADINGS:
        look["size"] = f"{outer_size * _HEADINGS[element.tag]:g}pt"
    align = element.get("align", "") if element.tag in _ALIGNED_TAGS else "center" * (element.tag == "center")
    align = style.get("text-align", align.lower()).removeprefix("-webkit-")
    if align in ("left", "start", "right", "center", "justify"):
        is_rtl = element.xpath("string(ancestor-or-self::*[@dir][1]/@dir)").lower() == "rtl"
        _set(look, "align", align, "start", "right" if is_rtl else "left")
    is_font = element.tag == "font"
    size = style.get("font-size") or (is_font and _font_size(element.get("size", ""))) or ""
    if points := _points(size, outer_size):
        look["size"] = f"{points:g}pt"
    color = style.get("color") or (is_font and element.get("color"))
    if color and element.tag != "a":
        _set(look, "color", _hex_color(color), "#000000")
    background = style.get("background-color") or style.get("background") or element.get("bgcolor")
    if background and element.tag != "body":
        name = "background" if element.tag in _INLINE_TAGS else "shading"
        _set(look, name, _hex_color(background), "#ffffff")
    return look


def _set(look: Look, name: str, value: str, *defaults: str) -> None:
    """Set a value of a look unless the value is "". A default is not in a look."""
    if value in defaults:
        look.pop(name, None)
    elif value:
        look[name] = value


def _font_size(text: str) -> str:
    match = re.fullmatch(r"\s*([+-]?)(\d)\s*", text)
    if match is None:
        return ""
    number = int(match[2]) if not match[1] else 3 + int(match[1] + match[2])
    return list(_SIZES)[min(max(number, 1), len(_SIZES)) - 1]


def _points(size: str, outer: float) -> float:
    """Return a size of CSS in points, or 0 if it is unknown. `outer` is the size around the element."""
    if match := _SIZE.fullmatch(size):
        units = {"pt": 1.0, "px": 0.75, "em": outer, "rem": _BODY_SIZE, "%": outer / 100}
        return round(float(match[1]) * units[match[2]], 2)
    return _SIZES.get(size, 0.0)


def _hex_color(text: str) -> str:
    """Return a colour of CSS or HTML as "#rrggbb", or "" if it is unknown."""
    from PIL import ImageColor

    for color in (text, f"#{text}"):
        with suppress(ValueError):
            return "#" + bytes(ImageColor.getrgb(color)[:3]).hex()
    return ""


def _insert_before(element: Any, text: str) -> None:
    previous = element.getprevious()
    if previous is None:
        parent = element.getparent()
        parent.text = (parent.text or "") + text
    else:
        previous.tail = (previous.tail or "") + text


def _simplify(element: Any, style: dict[str, str]) -> None:
    """Replace styles of words by elements, and remove what pandoc ignores."""
    if element.tag in _MARKED_TAGS:
        for tag, is_set in (
            ("b", style.get("font-weight", "") in ("bold", "bolder", "600", "700", "800", "900")),
            ("i", style.get("font-style", "") in ("italic", "oblique")),
            ("u", "underline" in style.get("text-decoration", "") and element.tag != "a"),
            ("s", "line-through" in style.get("text-decoration", "")),
            ("sup", style.get("vertical-align") == "super"),
            ("sub", style.get("vertical-align") == "sub"),
        ):
            if is_set:
                inner = element.makeelement(tag)
                inner.text, element.text = element.text, None
                inner.extend(element)
                element.append(inner)
    elif element.tag in ("b", "strong") and style.get("font-weight") in ("normal", "400"):
        element.tag = "span"  # Google Docs puts such an element around what is copied
    for name, value in element.items():
        is_used = name in _ATTRIBUTES or (name in ("align", "style") and element.tag in _STYLED_TAGS)
        if not is_used and not (name == "class" and (element.tag in _CLASSED_TAGS or _CLASSES.search(value))):
            del element.attrib[name]
    if element.tag in ("font", "span") and not element.attrib:
        element.tag = "bare"
