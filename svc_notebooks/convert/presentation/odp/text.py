"""Reads the paragraphs, spans and lists of odp shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .. import clean
from ..model import Align, Paragraph, TextRun
from ..paragraphs import merge_runs
from .namespaces import length, name
from .styles import OdpStyles, StyleProperties

_T, _P = "text/", "paragraph/"
_ALIGNS: dict[str, Align] = {"left": "left", "center": "center", "right": "right", "justify": "justify"}
_END: dict[bool, Align] = {False: "right", True: "left"}
_MAX_SPACES = 200
_MAX_DEPTH = 60
_SKIPPED = frozenset(name(it) for it in ("office:annotation", "text:note", "text:bookmark", "presentation:notes"))
_POINT = 12_700
_XML_SPACES = str.maketrans("\t\r\n", "   ")


@dataclass(frozen=True, slots=True)
class ParagraphContext:
    """The inherited properties of a paragraph, its list depth (0 outside lists), list style and outline prefix."""

    properties: StyleProperties
    depth: int = 0
    style: str | None = None
    outline: str | None = None


@dataclass(frozen=True, slots=True)
class OdpTextReader:
    """Reads the text of shapes, and resolves text formats with the styles of the file."""

    styles: OdpStyles

    def paragraphs(
        self, element: Any, properties: StyleProperties, outline: str | None = None
    ) -> tuple[Paragraph, ...]:
        """Return the paragraphs inside a shape element, without empty paragraphs at the end.

        `properties` are inherited from the shape. `outline` is the common start of the style names of an outline's
        levels, such as "Default-outline".
        """
        paragraphs = list(self._paragraphs_inside(element, ParagraphContext(properties, outline=outline)))
        while paragraphs and not paragraphs[-1].text.strip():
            paragraphs.pop()
        return tuple(paragraphs)

    def line(self, element: Any) -> str:
        """Return the text of a paragraph element, without formatting."""
        return "".join(run.text for run in self._runs(element, {}, None))

    def _paragraphs_inside(self, element: Any, context: ParagraphContext) -> Iterator[Paragraph]:
        for child in element:
            match str(child.tag):
                case tag if tag in (name("text:p"), name("text:h")):
                    yield self._paragraph(child, context)
                case tag if tag == name("text:list") and context.depth < _MAX_DEPTH:
                    style = child.get(name("text:style-name")) or context.style
                    yield from self._paragraphs_inside(child, replace(context, depth=context.depth + 1, style=style))
                case tag if tag in _LIST_PARTS:
                    yield from self._paragraphs_inside(child, context)

    def _paragraph(self, element: Any, context: ParagraphContext) -> Paragraph:
        level = max(0, min(8, context.depth - 1))
        properties = dict(context.properties)
        if context.outline and level:  # each lower level of an outline has its own style
            properties |= self.styles.text_properties("presentation", f"{context.outline}{level + 1}")
        properties |= self.styles.properties("paragraph", element.get(name("text:style-name")))
        runs = tuple(merge_runs(self._runs(element, properties, None)))
        has_marker = context.depth and any(run.text.strip() for run in runs)
        marker = self.styles.marker(context.style, level) if has_marker else ""
        rtl = properties.get(_P + name("style:writing-mode"), "").startswith("rl")
        align = properties.get(_P + name("fo:text-align"), "")
        return Paragraph(runs, level, marker, _ALIGNS.get(align, _END[rtl] if align == "end" else ""), rtl)

    def _runs(self, element: Any, properties: StyleProperties, link: str | None, depth: int = 0) -> Iterator[TextRun]:
        if element.text:
            yield _run(_normalize_spaces(element.text), properties, link)
        for child in element if depth < _MAX_DEPTH else ():
            yield from self._child(child, properties, link, depth)
            if child.tail:
                yield _run(_normalize_spaces(child.tail), properties, link)

    def _child(self, child: Any, properties: StyleProperties, link: str | None, depth: int) -> Iterator[TextRun]:
        match str(child.tag):
            case tag if tag == name("text:s"):
                count = child.get(name("text:c"), "1")
                yield _run(" " * (min(_MAX_SPACES, int(count)) if count.isdecimal() else 1), properties, link)
            case tag if tag == name("text:tab"):
                yield _run("\t", properties, link)
            case tag if tag == name("text:line-break"):
                yield _run("\n", properties, link)
            case tag if tag == name("text:span"):
                inner = {**properties, **self.styles.properties("text", child.get(name("text:style-name")))}
                yield from self._runs(child, inner, link, depth + 1)
            case tag if tag == name("text:a"):
                yield from self._runs(child, properties, clean.link(child.get(name("xlink:href"))), depth + 1)
            case tag if tag not in _SKIPPED and isinstance(child.tag, str):
                yield from self._runs(child, properties, link, depth + 1)


_LIST_PARTS = frozenset(
    name(it) for it in ("text:list-item", "text:list-header", "text:section", "text:numbered-paragraph")
)


def _normalize_spaces(text: str) -> str:
    return clean.text(text).translate(_XML_SPACES)


def _run(text: str, properties: StyleProperties, link: str | None) -> TextRun:
    get = properties.get
    color = get(_T + name("fo:color"), "").lstrip("#").lower()
    weight, size = get(_T + name("fo:font-weight"), ""), length(get(_T + name("fo:font-size")))
    return TextRun(
        text,
        bold=weight == "bold" or (weight.isdecimal() and int(weight) >= 600),
        italic=get(_T + name("fo:font-style"), "") in ("italic", "oblique"),
        underline=get(_T + name("style:text-underline-style"), "none") != "none",
        strike=get(_T + name("style:text-line-through-style"), "none") != "none",
        size=None if size is None else max(1.0, min(4_000.0, round(size / _POINT, 1))),
        color=color if is_color(color) and color != "000000" else None,
        link=link,
    )


def is_color(digits: str) -> bool:
    """Return whether `digits` is a colour, which has six hexadecimal digits in lower case."""
    return len(digits) == 6 and all(digit in "0123456789abcdef" for digit in digits)
