"""Rewrites the structure of a docx part, so that every paragraph is in a body, a note or a table cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lxml import etree

from .styles import tag, tags

P, R, TBL, TR, TC = tags("w:p w:r w:tbl w:tr w:tc")
PROPERTIES, RUN_PROPERTIES = tags("w:pPr w:rPr")
_STORIES = tags("w:body w:footnote w:endnote w:tc w:txbxContent")
_INLINES = tags("w:r w:hyperlink w:fldSimple m:oMath m:oMathPara")
_BOOKMARK = tag("w:bookmarkStart")
_STRUCTURE = {*_STORIES, *_INLINES, _BOOKMARK, *tags("w:p w:tbl w:tr w:ruby w:rt w:rubyBase w:drawing w:pict w:object")}
_REMOVED = tags(
    "w:del w:moveFrom w:delText w:fldData w:sdtPr w:sdtEndPr w:smartTagPr w:customXmlPr w:pPrChange w:rPrChange"
)
_WORD = "http://schemas.microsoft.com/office/word"
_UNDERSTOOD = {
    "urn:schemas-microsoft-com:vml", "http://schemas.microsoft.com/office/drawing/2010/main",
    f"{_WORD}/2010/wordml", f"{_WORD}/2012/wordml", *(
        f"{_WORD}/2010/wordprocessing{name}" for name in ("Shape", "Group", "Canvas", "Drawing")
    ),
}  # fmt: skip
"""The namespaces of the alternatives (mc:Choice) that are read. Other alternatives have a fallback."""


def simplify(root: Any) -> None:
    """Remove deleted text, choose alternatives, replace unknown elements by their content, and lift text boxes."""
    for alternatives in list(root.iter(tag("mc:AlternateContent"))):
        _choose(alternatives)
    for row in [row for row in root.iter(TR) if row.find(f"{tag('w:trPr')}/{tag('w:del')}") is not None]:
        row.getparent().remove(row)
    ends = [p for p in root.iter(P) if _joins_next(p.find(PROPERTIES))]
    etree.strip_elements(root, *_REMOVED, with_tail=False)
    wrappers = set(tags("mc:AlternateContent mc:Choice mc:Fallback"))
    for element in root.iter(P, R, TBL, TR, TC, tag("w:t")):
        for ancestor in element.iterancestors():
            if ancestor.tag in _STORIES:
                break
            wrappers.add(ancestor.tag)
    etree.strip_tags(root, *wrappers - _STRUCTURE - {root.tag})
    for story in root.iter(*_STORIES):
        _wrap_inlines(story)
    for p in reversed(ends):
        _join_next(p)
    for element in reversed(list(root.iter(P, TBL))):
        _lift(element)


def _choose(alternatives: Any) -> None:
    """Keep the first alternative whose namespaces are understood (ECMA-376-3), else the fallback, else the first."""
    branches = alternatives.findall(tag("mc:Choice"))
    kept = next((branch for branch in branches if _is_understood(branch)), alternatives.find(tag("mc:Fallback")))
    for branch in branches + alternatives.findall(tag("mc:Fallback")):
        if branch is not (branches[0] if kept is None else kept):
            alternatives.remove(branch)


def _is_understood(choice: Any) -> bool:
    return all(choice.nsmap.get(prefix) in _UNDERSTOOD for prefix in choice.get("Requires", "").split())


def _wrap_inlines(story: Any) -> None:
    """Put the runs that are in no paragraph into new ones, and bookmarks into the paragraph that follows."""
    paragraph: Any = None
    bookmarks: list[Any] = []
    for element in list(story):
        if element.tag == _BOOKMARK:
            bookmarks.append(element)
        elif element.tag in _INLINES:
            if paragraph is None:
                paragraph = story.makeelement(P)
                element.addprevious(paragraph)
            paragraph.append(element)
        else:
            paragraph = None
            if bookmarks and (first := next(element.iter(P), None)) is not None:
                prepend(first, bookmarks)
                bookmarks = []


def _joins_next(properties: Any) -> bool:
    """Return whether the end of a paragraph is deleted, or the paragraph is the large initial of the next one."""
    if properties is None:
        return False
    mark, frame = properties.find(RUN_PROPERTIES), properties.find(tag("w:framePr"))
    is_deleted = mark is not None and any(mark.find(name) is not None for name in tags("w:del w:moveFrom"))
    return is_deleted or (frame is not None and frame.attrib.pop(tag("w:dropCap"), "none") != "none")


def _join_next(paragraph: Any) -> None:
    following = paragraph.getnext()
    if following is not None and following.tag == P:
        prepend(following, [child for child in paragraph if child.tag != PROPERTIES])
        paragraph.getparent().remove(paragraph)


def prepend(paragraph: Any, inlines: Sequence[Any]) -> None:
    """Put inlines at the start of a paragraph, behind its properties."""
    first = next(paragraph.iterchildren(), None)  # `len` and `find` need linear time
    for inline in reversed(inlines):
        if first is not None and first.tag == PROPERTIES:
            first.addnext(inline)
        else:
            paragraph.insert(0, inline)


def run_of(text: str) -> Any:
    """Return a new run with a text."""
    run = etree.Element(R)
    etree.SubElement(run, tag("w:t")).text = text
    return run


def _lift(element: Any) -> None:
    """Move a paragraph or a table that is in a paragraph, for example in a text box, behind that paragraph."""
    outermost = None
    for ancestor in element.iterancestors():
        if ancestor.tag == TC:
            break
        outermost = ancestor if ancestor.tag == P else outermost
    if outermost is not None:
        outermost.addnext(element)
