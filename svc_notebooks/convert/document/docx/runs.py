"""Rewrites the content of paragraphs, so that a run has text, one picture or one note, and so that fields are links.

Pandoc reads nothing else in a run with a picture, a note or the mark of a field. ECMA-376-1, 17.16 describes fields.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from typing import Any

from lxml import etree

from ...input.opc import Relationship, Relationships
from ...job import Job
from .body import PROPERTIES, RUN_PROPERTIES, P, R, run_of
from .package import tag, tags
from .styles import OFF, WordStyles, value

_TEXT = tag("w:t")
_TEXTS = tags("w:t w:tab w:br w:noBreakHyphen w:softHyphen w:sym")
_SYNONYMS = {tag("w:cr"): tag("w:br"), tag("w:ptab"): tag("w:tab")}
_FIELD_MARK, _MARK_TYPE, _INSTRUCTION, _SIMPLE_FIELD = tags("w:fldChar w:fldCharType w:instrText w:fldSimple")
_HYPERLINK, _ANCHOR, _ID = tags("w:hyperlink w:anchor r:id")
_FORMATS = {"w:b": "1", "w:i": "1", "w:strike": "1", "w:smallCaps": "1", "w:u": "single"}
_ARGUMENT = re.compile(r'"((?:\\.|[^"\\])*)"|(\S+)')


def simplify(root: Any, styles: WordStyles, relationships: Relationships, job: Job) -> None:
    """Remove hidden text, split runs, and replace fields by their results. Links of fields get new `relationships`."""
    for pronunciation in list(root.iter(tag("w:rt"))):  # in parentheses, behind the text that it belongs to
        pronunciation[:] = [run_of("("), *pronunciation, run_of(")")]
        pronunciation.getparent().append(pronunciation)
    etree.strip_tags(root, *tags("w:ruby w:rt w:rubyBase"))
    style, formats = "", list[str]()
    for element in list(root.iter(P, R)):
        if element.tag == P:
            style = value(element.find(PROPERTIES), "w:pStyle") or styles.default
            names = () if styles.is_heading(style) else _FORMATS
            formats = [name for name in names if styles.style_switches(style, name)]
            continue
        properties = element.find(RUN_PROPERTIES)
        for name in formats:  # of the paragraph's style, which pandoc does not read
            _set_format(element, name, styles.switches(style, properties, name))
        if styles.switches(style, properties, "w:vanish"):
            job.note("Hidden text was left out.")
            etree.strip_elements(element, *_TEXTS, *_SYNONYMS, *tags("w:drawing w:pict w:object"), with_tail=False)
    for run in reversed(list(root.iter(R))):
        _split(run)
    for element in root.iter(_SIMPLE_FIELD):
        field = _Field([element.get(tag("w:instr"), "")])
        if next(element.iter(_TEXT), None) is None:
            element.append(run_of(field.text))
        if field.target:
            _set_target(element, field.target, relationships)
    _simplify_complex_fields(root, relationships)
    for link in root.iter(_HYPERLINK):
        link.tag = _SIMPLE_FIELD if link.get(_ID) is None and link.get(_ANCHOR) is None else _HYPERLINK
    etree.strip_tags(root, _SIMPLE_FIELD)


def _set_format(run: Any, name: str, is_on: bool) -> None:
    """Give a run a property of `_FORMATS` that it does not have itself."""
    properties = run.find(RUN_PROPERTIES)
    if properties is None:
        properties = run.makeelement(RUN_PROPERTIES)
        run.insert(0, properties)
    if properties.find(tag(name)) is None:
        etree.SubElement(properties, tag(name), {tag("w:val"): _FORMATS[name] if is_on else "0"})


def _split(run: Any) -> None:
    """Replace a run with several elements, of which one is not text or is a page break, by runs with one element."""
    properties, children = run.find(RUN_PROPERTIES), [child for child in run if child.tag != RUN_PROPERTIES]
    for child in children:
        child.tag = _SYNONYMS.get(child.tag, child.tag)
    is_text = all(child.tag in _TEXTS and child.get(tag("w:type")) != "page" for child in children)
    if children and (is_text or (len(children) == 1 and children[0].tag != R)):
        return
    for child in children:
        if child.tag != R:
            new = etree.Element(R)
            new.extend([copy.deepcopy(properties)] if properties is not None else [])
            new.append(child)
            child = new
        run.addprevious(child)
    run.getparent().remove(run)


@dataclass(slots=True)
class _Field:
    """A field. `hidden` tells whether text at this place is part of an instruction, `start` where its result starts."""

    instruction: list[str]
    form: str = ""
    hidden: bool = False
    link: str | None = None
    start: int = 0

    def arguments(self) -> list[str]:
        """Split the instruction into words; a text in quotation marks is one word."""
        matches = _ARGUMENT.finditer("".join(self.instruction))
        return [re.sub(r"\\(.)", r"\1", match[1]) if match[1] is not None else match[2] for match in matches]

    @property
    def target(self) -> str | None:
        """The address, or "#" and the bookmark, that the result links to."""
        name, *rest = self.arguments() or [""]
        switches = [word.lower() for word in rest]
        if name.upper() == "HYPERLINK":
            anchors = [rest[at + 1] for at, word in enumerate(switches[:-1]) if word == "\\l"]
            return "#".join([rest[0] if rest and not rest[0].startswith("\\") else "", *anchors[:1]])
        return f"#{rest[0]}" if name.upper() in ("REF", "PAGEREF", "NOTEREF") and "\\h" in switches else None

    @property
    def text(self) -> str:
        """The text of a field without a result: the label of a button, or the value of a form field."""
        words = self.arguments()
        return " ".join(words[2:]) if words and words[0].upper() in ("MACROBUTTON", "GOTOBUTTON") else self.form


def _form_value(mark: Any) -> str:
    """Return the mark of a check box or the selected entry of a drop-down list, or ""."""
    box, entries = (next(mark.iter(name), None) for name in tags("w:checkBox w:ddList"))
    if box is not None:
        state = value(box, "w:checked")
        return "☐" if (value(box, "w:default") or "0" if state is None else state) in OFF else "☒"
    texts = [] if entries is None else [entry.get(tag("w:val"), "") for entry in entries.iter(tag("w:listEntry"))]
    chosen = value(entries, "w:result") or value(entries, "w:default") or "0"
    return texts[int(chosen)] if chosen.isdecimal() and int(chosen) < len(texts) else ""


def _simplify_complex_fields(root: Any, relationships: Relationships) -> None:
    """Remove the marks and instructions of fields that begin and end in runs, and link their results."""
    complete, fields, shown = _complete_marks(root), [_Field([])], 0
    link: tuple[Any, str | None] = (None, None)
    for run in list(root.iter(R)):
        mark, instruction, field = run.find(_FIELD_MARK), run.find(_INSTRUCTION), fields[-1]
        if mark is None and instruction is None and not field.hidden:
            shown += 1
            if field.link and run.getparent().tag != _HYPERLINK:
                if link[1] != field.link or link[0].getnext() is not run:
                    link = (etree.Element(_HYPERLINK), field.link)
                    run.addprevious(link[0])
                    _set_target(link[0], field.link, relationships)
                link[0].append(run)
            continue
        if instruction is not None:
            field.instruction.append(instruction.text or "")
        elif mark in complete and mark.get(_MARK_TYPE) == "begin":
            fields.append(_Field([], _form_value(mark), hidden=True, link=field.link, start=shown))
        elif mark in complete:
            field.hidden, field.link = fields[-2].hidden, field.target or field.link
            if mark.get(_MARK_TYPE) == "end":
                fields.pop()
                if field.start == shown and not field.hidden:
                    run.addprevious(run_of(field.text))
        run.getparent().remove(run)


def _complete_marks(root: Any) -> set[Any]:
    """Return the marks of the fields that begin and end, since a field without an end would hide the rest."""
    complete: set[Any] = set()
    open_fields: list[list[Any]] = []
    for mark in root.iter(_FIELD_MARK):
        if mark.get(_MARK_TYPE) == "begin":
            open_fields.append([])
        if open_fields:
            open_fields[-1].append(mark)
            if mark.get(_MARK_TYPE) == "end":
                complete.update(open_fields.pop())
    return complete


def _set_target(link: Any, target: str, relationships: Relationships) -> None:
    link.tag = _HYPERLINK
    if target.startswith("#"):
        link.set(_ANCHOR, target[1:])
    else:
        link.set(_ID, f"field{len(relationships)}")
        relationships[link.get(_ID)] = Relationship("hyperlink", target, is_external=True)
