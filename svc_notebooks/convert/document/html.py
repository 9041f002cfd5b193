"""Makes a web page well-formed, and rewrites the parts of which pandoc would lose visible words."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from html import escape
from typing import Any

from ..job import Job, TooLarge
from .looks import Look, Looks

_BODY_SIZE = 12.0
_SIZES = {  # of CSS in points, which are also the sizes 1 to 7 of the element font
    "x-small": 7.5, "small": 10.0, "medium": _BODY_SIZE, "large": 13.5, "x-large": 18.0, "xx-large": 24.0,
    "xxx-large": 36.0,
}  # fmt: skip
_SIZE = re.compile(r"(\d{0,3}\.?\d{1,4})(pt|px|em|rem|%)")
_INLINE_TAGS = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "del", "dfn", "em", "font", "i", "img",
    "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var",
    "wbr",
})  # fmt: skip
_HEADINGS = {"h1": 2.0, "h2": 1.5, "h3": 1.17, "h4": 1.0, "h5": 0.83, "h6": 0.67}  # relative sizes
_ALIGNED_TAGS = (*_HEADINGS, "p", "div", "td", "th", "tr")
_MARKED_TAGS = ("span", "font", "a", "p")
_ATTRIBUTES = frozenset({  # that pandoc's reader uses, besides `style`, `align` and `class` of some elements
    "alt", "checked", "colspan", "dir", "height", "href", "id", "lang", "name", "role", "rowspan", "span", "src",
    "start", "title", "type", "width",
})  # fmt: skip
_STYLED_TAGS = ("col", "colgroup", "li", "ol", "table", "td", "th")
_CLASSED_TAGS = ("code", "ol", "pre", "samp")
_CLASSES = re.compile(r"small-?caps|line-block")


def declarations(element: Any) -> dict[str, str]:
    """Return the values in the style attribute of an element by the names of their properties, in lower case."""
    pairs = (part.partition(":") for part in element.get("style", "").lower().split(";"))
    return {name.strip(): value.replace("!important", "").strip() for name, _, value in pairs}


def read_looks(root: Any, job: Job) -> Looks:
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
            stack.append(stack[-1])
            with job.leaving_out("The look of a text"):
                stack[-1] = _look(element, style, stack[-1])
            element.text = marked(element.text, stack[-1])
            if element.tag == "img" and stack[-1] != current:
                current = stack[-1]
                previous, marker = element.getprevious(), looks.marker(current)
                if previous is None:
                    element.getparent().text = (element.getparent().text or "") + marker
                else:
                    previous.tail = (previous.tail or "") + marker
        else:
            stack.pop()
            element.tail = marked(element.tail, stack[-1])
            with job.leaving_out("The look of a text"):
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


_MAX_COLUMNS = 1_000
_MAX_DEPTH = 100
_WRAPPER_TAGS = ("div", "span", "section", "article", "center", "font")  # left out where pandoc would need much memory
_CONTROL_CHARACTERS = re.compile(  # that XML does not allow, and references to them or to blanks
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
    r"|&#(?:x0*(?:1?[\da-f]|fff[ef])(?![\da-f])|0*(?:[12]?\d|3[01]|6553[45])(?!\d));?",
    re.IGNORECASE,
)
_INVISIBLE_TAGS = ("script", "style", "iframe", "frame", "template", "datalist")
_FOREIGN_TAGS = ("object", "embed", "applet")  # whose content, usually a fallback text, is kept
_BLOCK_TAGS = ("main", "dialog", "legend", "marquee")  # pandoc does not separate them, and drops all outside `main`
_CONTROL_TAGS = ("input", "button", "label", "option", "optgroup")
_INPUTS_WITHOUT_TEXT = frozenset({"hidden", "password", "checkbox", "radio", "file", "image", "range", "color"})
_HIDDEN_STYLES = {("display", "none"), ("visibility", "hidden"), ("visibility", "collapse")}


def well_formed(text: str, job: Job) -> tuple[bytes, Looks | None]:
    """Return a page with its visible content and with all tags closed, and the looks in it.

    The page is b"", and its looks are None, if the page has only comments.

    Pandoc needs exponential time for lists that are not closed. Raises TooLarge for too many columns or levels.
    """
    from lxml import etree, html as markup

    if text.lstrip("\ufeff \t\r\n").startswith("<?xml"):  # XHTML, in which CDATA sections are text
        text, *sections = text.split("<![CDATA[")
        text += "".join(escape(content) + rest for content, _, rest in (part.partition("]]>") for part in sections))
    text = _CONTROL_CHARACTERS.sub(" ", text)
    parser = markup.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        root = markup.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except etree.ParserError:  # the page has only comments
        return b"", None
    if any(error.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for error in parser.error_log):
        raise TooLarge("the page is nested too deeply.")  # libxml2 leaves out what is deeper
    depth = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > _MAX_DEPTH and element.tag in _WRAPPER_TAGS:
            element.tag = "bare"
    etree.strip_tags(root, "bare")
    for element in root.xpath("//body//*[@hidden or @style]"):
        if "hidden" in element.attrib or not _HIDDEN_STYLES.isdisjoint(declarations(element).items()):
            if any(text.strip() for text in element.itertext()):
                job.note("Hidden text was left out.")
            element.tag = "template"
    for element in root.xpath("head/*[not(self::base)]"):  # pandoc takes long for them
        element.getparent().remove(element)
    etree.strip_elements(root, *_INVISIBLE_TAGS, with_tail=False)
    etree.strip_tags(root, *_FOREIGN_TAGS)
    for element in root.iter(*_BLOCK_TAGS):
        element.tag = "div"
    for element in root.iter("textarea"):
        element.tag = "pre"
    for element in root.xpath("//svg[not(ancestor::svg)]"):
        job.note("The drawings (svg) in the page were left out; their text was kept.")
        drawn = " ".join(" ".join(part.itertext()) for part in element.iter("text", "foreignobject", "foreignObject"))
        element.clear(keep_tail=True)
        element.tag, element.text = "span", f" {drawn} "
    rules = (("table", _complete_columns), *((name, _show_control) for name in _CONTROL_TAGS), ("dl", _divide_list))
    for name, rewrite in rules:
        for element in list(root.iter(name)):
            with job.leaving_out(f"The structure of an element ({name})"):
                rewrite(element)
    _keep_footnotes(root)
    looks = read_looks(root.find("body"), job) if root.find("body") is not None else None
    page: bytes = markup.tostring(root, encoding="utf-8", doctype="<!DOCTYPE html>")
    return page, looks


def _show_control(element: Any) -> None:
    """Convert a control of a form to its text, between spaces."""
    if element.tag == "input":
        if element.get("type", "text").lower() in _INPUTS_WITHOUT_TEXT:
            return
        element.tag, element.text = "span", element.get("value") or element.get("placeholder")
    label = "" if (element.text or "").strip() else element.get("label", "")  # of an option or a group of options
    element.text, element.tail = f" {label}{element.text or ''}", f" {element.tail or ''}"


def _divide_list(definitions: Any) -> None:
    """Convert a definition list that also has other content, which pandoc would drop, to blocks."""
    children = list(definitions)
    texts = (definitions.text, *(child.tail for child in children))
    if any((text or "").strip() for text in texts) or any(child.tag not in ("dt", "dd", "div") for child in children):
        for element in (definitions, *children):
            element.tag = "div" if element.tag in ("dl", "dt", "dd") else element.tag


def _keep_footnotes(root: Any) -> None:
    """Remove the roles by which pandoc finds footnotes if a note or a reference would be lost, and the role main."""
    notes = [note.get("id") for note in root.xpath("//*[@role='doc-endnotes']/ol/li")]
    references = root.xpath("//a[@role='doc-noteref']/@href")
    complete = sorted(f"#{note}" for note in notes) == sorted(references)
    for element in root.xpath("//*[@role]"):
        if not complete or element.get("role") == "main":
            del element.attrib["role"]


def _complete_columns(table: Any) -> None:
    """Give the first row of a table as many columns as the table, since pandoc drops cells beyond these.

    Raises TooLarge if the table has more than `_MAX_COLUMNS` columns.
    """
    active = widest = 0
    ends: Counter[int] = Counter()  # by row, the columns of the cells that span rows and end before the row
    rows = table.xpath("tr|thead/tr|tbody/tr|tfoot/tr")
    for number, row in enumerate(rows):
        active -= ends.pop(number, 0)
        spans = [(_limit_span(cell, "colspan"), _limit_span(cell, "rowspan")) for cell in row]
        widest = max(widest, active + sum(width for width, _ in spans))
        if widest > _MAX_COLUMNS:
            raise TooLarge(f"a table has more than {_MAX_COLUMNS} columns.")
        for width, height in spans:
            if height > 1:
                active += width
                ends[number + height] += width
    missing = widest - sum(_limit_span(cell, "colspan") for cell in rows[0]) if rows else 0
    if missing:
        rows[0].append(rows[0].makeelement("td", {"colspan": str(missing)}))
    columns = table.xpath("colgroup/col|col")
    if len(columns) != widest:  # pandoc ignores their attribute span
        for column in columns:
            column.tag = "template"


def _limit_span(element: Any, attribute: str) -> int:
    """Set a span attribute, if present, to its value as digits, between 1 and 999, and return the number of cells."""
    if (text := element.get(attribute)) is None:
        return 1
    match = re.match(r"\s*0*(\d{1,9})", text)
    number = min(max(int(match[1]), 1), _MAX_COLUMNS - 1) if match else 1
    element.set(attribute, str(number))
    return number
