"""Makes a web page well-formed, and rewrites the parts of which pandoc would lose visible words."""

from __future__ import annotations

import re
from collections import Counter
from html import escape
from typing import Any

from ..job import Job, TooLarge
from .html_looks import declarations, read_looks
from .looks import Looks

_MAX_COLUMNS = 1_000
_CONTROL_CHARACTERS = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
    r"|&#(?:x0*(?:1?[\da-f]|fff[ef])(?![\da-f])|0*(?:[12]?\d|3[01]|6553[45])(?!\d));?",
    re.IGNORECASE,
)
"""The characters that XML does not allow, and references to them or to blanks."""
_INVISIBLE_TAGS = ("script", "style", "iframe", "frame", "template", "datalist")
_FOREIGN_TAGS = ("object", "embed", "applet")
"""The tags of embedded objects, whose content (usually a fallback text) is kept."""
_BLOCK_TAGS = ("main", "dialog", "legend", "marquee")
"""The tags of blocks that pandoc does not separate. Pandoc also drops all content outside `main`."""
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
    for element in root.xpath("//body//*[@hidden or @style]"):
        if "hidden" in element.attrib or not _HIDDEN_STYLES.isdisjoint(declarations(element).items()):
            if any(text.strip() for text in element.itertext()):
                job.note("Hidden text was left out.")
            element.tag = "template"
    for table in root.iter("table"):
        _complete_columns(table)
    for element in root.xpath("head/*[not(self::base)]"):  # pandoc takes long for them
        element.getparent().remove(element)
    etree.strip_elements(root, *_INVISIBLE_TAGS, with_tail=False)
    etree.strip_tags(root, *_FOREIGN_TAGS)
    for element in root.iter(*_BLOCK_TAGS):
        element.tag = "div"
    for element in root.iter("textarea"):
        element.tag = "pre"
    for element in root.iter(*_CONTROL_TAGS):
        _show_control(element)
    for element in root.xpath("//svg[not(ancestor::svg)]"):
        _show_text_of_drawing(element, job)
    for element in root.iter("dl"):
        _divide_list(element)
    for element in list(root.iter("ol")):
        _set_numbers(element)
    _keep_footnotes(root)
    looks = read_looks(root.find("body")) if root.find("body") is not None else None
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


def _show_text_of_drawing(svg: Any, job: Job) -> None:
    job.note("The drawings (svg) in the page were left out; their text was kept.")
    text = " ".join(" ".join(part.itertext()) for part in svg.iter("text", "foreignobject", "foreignObject"))
    svg.clear(keep_tail=True)
    svg.tag, svg.text = "span", f" {text} "


def _divide_list(definitions: Any) -> None:
    """Convert a definition list that also has other content, which pandoc would drop, to blocks."""
    children = list(definitions)
    texts = (definitions.text, *(child.tail for child in children))
    if any((text or "").strip() for text in texts) or any(child.tag not in ("dt", "dd", "div") for child in children):
        for element in (definitions, *children):
            element.tag = "div" if element.tag in ("dl", "dt", "dd") else element.tag


def _set_numbers(items: Any) -> None:
    """Divide an ordered list before each item that pandoc would give another number than browsers do."""
    step = -1 if "reversed" in items.attrib else 1
    listed = items.findall("li")
    number = _integer(items.get("start"), 1 if step == 1 else len(listed)) - step
    restarts, following = [], None
    for item in listed:
        number = _integer(item.get("value"), number + step)
        if number != following:
            restarts.append((item, number))
        following = number + 1
    for item, number in reversed(restarts):
        part = items
        if item is not listed[0]:
            part = items.makeelement("ol", dict(items.attrib))
            part.extend([item, *item.itersiblings()])
            items.addnext(part)
            part.tail, items.tail = items.tail, None
            part.attrib.pop("id", None)
        part.set("start", str(number))


def _integer(text: str | None, default: int) -> int:
    return int(text) if text and re.fullmatch(r"\s*-?\d{1,9}\s*", text, re.ASCII) else default


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
