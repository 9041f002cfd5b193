"""Reads the paragraphs, spans and lists of odp shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .. import clean
from ..model import Align, Paragraph, TextRun
from ..paragraphs import joined
from .namespaces import length, name
from .styles import Facts, Looks

_T, _P = "text/", "paragraph/"
_ALIGNS: dict[str, Align] = {"left": "left", "center": "center", "right": "right", "justify": "justify"}
_END: dict[bool, Align] = {False: "right", True: "left"}
_SPACES = 200
_DEEP = 60
_SKIPPED = frozenset(name(it) for it in ("office:annotation", "text:note", "text:bookmark", "presentation:notes"))
_POINT = 12_700


@dataclass(frozen=True, slots=True)
class ParagraphContext:
    """Where a paragraph stands: in lists, so deep, of this style; `facts` and `outline`: what it inherits."""

    facts: Facts
    depth: int = 0
    style: str | None = None
    outline: str | None = None


@dataclass(frozen=True, slots=True)
class OdpTextReader:
    """Reads the text of shapes; `looks` are the styles of the file."""

    looks: Looks

    def paragraphs(self, element: Any, facts: Facts, outline: str | None = None) -> tuple[Paragraph, ...]:
        """The paragraphs inside a shape whose style says `facts`, without the empty ones at the end.

        `outline`: the styles of an outline's levels, but for the number at the end.
        """
        found = list(self._inside(element, ParagraphContext(facts, outline=outline)))
        while found and not found[-1].text.strip():
            found.pop()
        return tuple(found)

    def line(self, element: Any) -> str:
        """A paragraph as text alone."""
        return "".join(run.text for run in self._runs(element, {}, None))

    def _inside(self, element: Any, place: ParagraphContext) -> Iterator[Paragraph]:
        for child in element:
            match str(child.tag):
                case tag if tag in (name("text:p"), name("text:h")):
                    yield self._paragraph(child, place)
                case tag if tag == name("text:list") and place.depth < _DEEP:
                    style = child.get(name("text:style-name")) or place.style
                    yield from self._inside(child, replace(place, depth=place.depth + 1, style=style))
                case tag if tag in _LIST_PARTS:
                    yield from self._inside(child, place)

    def _paragraph(self, element: Any, place: ParagraphContext) -> Paragraph:
        level = max(0, min(8, place.depth - 1))
        facts = {**place.facts, **self._of_level(place, level)}
        facts |= self.looks.facts("paragraph", element.get(name("text:style-name")))
        runs = tuple(joined(self._runs(element, facts, None)))
        marker = self.looks.marker(place.style, level) if place.depth and any(run.text.strip() for run in runs) else ""
        rtl = facts.get(_P + name("style:writing-mode"), "").startswith("rl")
        align = facts.get(_P + name("fo:text-align"), "")
        return Paragraph(runs, level, marker, _ALIGNS.get(align, _END[rtl] if align == "end" else ""), rtl)

    def _of_level(self, place: ParagraphContext, level: int) -> Facts:
        """Deeper lines of an outline have styles of their own."""
        if not place.outline or not level:
            return {}
        return self.looks.own_text("presentation", f"{place.outline}{level + 1}")

    def _runs(self, element: Any, facts: Facts, link: str | None, depth: int = 0) -> Iterator[TextRun]:
        if element.text:
            yield _run(_blanks(element.text), facts, link)
        for child in element if depth < _DEEP else ():
            yield from self._child(child, facts, link, depth)
            if child.tail:
                yield _run(_blanks(child.tail), facts, link)

    def _child(self, child: Any, facts: Facts, link: str | None, depth: int) -> Iterator[TextRun]:
        match str(child.tag):
            case tag if tag == name("text:s"):
                yield _run(" " * _count(child), facts, link)
            case tag if tag == name("text:tab"):
                yield _run("\t", facts, link)
            case tag if tag == name("text:line-break"):
                yield _run("\n", facts, link)
            case tag if tag == name("text:span"):
                inner = {**facts, **self.looks.facts("text", child.get(name("text:style-name")))}
                yield from self._runs(child, inner, link, depth + 1)
            case tag if tag == name("text:a"):
                yield from self._runs(child, facts, clean.link(child.get(name("xlink:href"))), depth + 1)
            case tag if tag not in _SKIPPED and isinstance(child.tag, str):
                yield from self._runs(child, facts, link, depth + 1)


_LIST_PARTS = frozenset(
    name(it) for it in ("text:list-item", "text:list-header", "text:section", "text:numbered-paragraph")
)


def _count(element: Any) -> int:
    value = element.get(name("text:c"), "1")
    return min(_SPACES, int(value)) if value.isdecimal() else 1


def _blanks(text: str) -> str:
    """Line ends and indents of the XML are one space each; how many meet is `_tidied`'s."""
    return "".join(" " if character in "\t\r\n" else character for character in clean.text(text))


def _run(text: str, facts: Facts, link: str | None) -> TextRun:
    get = facts.get
    color = get(_T + name("fo:color"), "").lstrip("#").lower()
    return TextRun(
        text,
        bold=_bold(get(_T + name("fo:font-weight"), "")),
        italic=get(_T + name("fo:font-style"), "") in ("italic", "oblique"),
        underline=get(_T + name("style:text-underline-style"), "none") != "none",
        strike=get(_T + name("style:text-line-through-style"), "none") != "none",
        size=_points(get(_T + name("fo:font-size"))),
        color=color if is_color(color) and color != "000000" else None,
        link=link,
    )


def is_color(digits: str) -> bool:
    """Whether these are the six digits of a colour."""
    return len(digits) == 6 and all(digit in "0123456789abcdef" for digit in digits)


def _bold(weight: str) -> bool:
    return weight == "bold" or (weight.isdecimal() and int(weight) >= 600)


def _points(size: str | None) -> float | None:
    found = length(size)
    return None if found is None else max(1.0, min(4_000.0, round(found / _POINT, 1)))
