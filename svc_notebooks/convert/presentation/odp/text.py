"""Reads the paragraphs, spans and lists of odp shapes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ...input.odf_file import OdfStyles, StyleProperties, count_of, length, name
from .. import clean
from ..model import POINT, Align, Anchor, Marker, Paragraph, TextRun, merge_runs

_T, _P = "text/", "paragraph/"
_ALIGNS: dict[str, Align] = {"left": "left", "center": "center", "right": "right", "justify": "justify"}
ANCHORS: dict[str, Anchor] = {"middle": "middle", "bottom": "bottom"}
_END: dict[bool, Align] = {False: "right", True: "left"}
_MAX_SPACES = 200
_MAX_DEPTH = 60
_SKIPPED = frozenset(name(it) for it in ("office:annotation", "text:note", "text:bookmark", "presentation:notes"))
_BLANKS = {name("text:s"): "\0", name("text:tab"): "\t", name("text:line-break"): "\n"}
_SPACES = re.compile(" +")
_XML_SPACES = str.maketrans("\t\r\n", "   ")


@dataclass(frozen=True, slots=True)
class ParagraphContext:
    """The inherited properties of a paragraph, and its list depth (0 outside lists), list style, outline and number."""

    properties: StyleProperties
    depth: int = 0
    style: str | None = None
    outline: str | None = None
    start: str = ""


@dataclass(frozen=True, slots=True)
class OdpTextReader:
    """Reads the text of shapes, and resolves text formats with the styles of the file."""

    styles: OdfStyles

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
        return "".join(run.text for run in _collapsed(self._runs(element, {}, None)))

    def _paragraphs_inside(self, element: Any, context: ParagraphContext) -> Iterator[Paragraph]:
        for child in element:
            match str(child.tag):
                case tag if tag in (name("text:p"), name("text:h")):
                    yield self._paragraph(child, context)
                case tag if tag == name("text:list") and context.depth < _MAX_DEPTH:
                    style = child.get(name("text:style-name")) or context.style
                    yield from self._paragraphs_inside(child, replace(context, depth=context.depth + 1, style=style))
                case tag if tag in _LIST_PARTS:
                    start = child.get(name("text:start-value"), "")
                    yield from self._paragraphs_inside(child, replace(context, start=start))

    def _paragraph(self, element: Any, context: ParagraphContext) -> Paragraph:
        level = max(0, min(8, context.depth - 1))
        properties = dict(context.properties)
        if context.outline and level:  # each lower level of an outline has its own style
            properties |= self.styles.text_properties("presentation", f"{context.outline}{level + 1}")
        properties |= self.styles.properties("paragraph", element.get(name("text:style-name")))
        runs = tuple(merge_runs(_collapsed(self._runs(element, properties, None))))
        has_marker = context.depth and any(run.text.strip() for run in runs)
        marker = self._marker(context.style, level + 1) if has_marker else ""
        rtl = properties.get(_P + name("style:writing-mode"), "").startswith("rl")
        align = properties.get(_P + name("fo:text-align"), "")
        level_style = self.styles.list_level(context.style, level + 1) if context.depth else None
        start = context.start if context.start.isdecimal() else "0"
        looks = _list_looks(level_style, int(start[:6])) if marker else {}
        return Paragraph(
            runs, level, marker, _ALIGNS.get(align, _END[rtl] if align == "end" else ""), rtl,
            line_spacing=_line_spacing(properties.get(_P + name("fo:line-height"), "")),
            before=_points(properties, "fo:margin-top"), after=_points(properties, "fo:margin-bottom"),
            **(looks or {} if context.depth else _indents(properties)),
        )  # fmt: skip

    def _marker(self, style: str | None, level: int) -> Marker:
        element = self.styles.list_level(style, level)
        if element is None:
            return "" if self.styles.has_list(style) else "bullet"
        if element.tag == name("text:list-level-style-number"):
            return "number" if element.get(name("style:num-format")) else ""
        return "bullet" if element.get(name("text:bullet-char"), "•").strip() else ""

    def _runs(self, element: Any, properties: StyleProperties, link: str | None, depth: int = 0) -> Iterator[TextRun]:
        if element.text:
            yield _run(_normalize_spaces(element.text), properties, link)
        for child in element if depth < _MAX_DEPTH else ():
            yield from self._child(child, properties, link, depth)
            if child.tail:
                yield _run(_normalize_spaces(child.tail), properties, link)

    def _child(self, child: Any, properties: StyleProperties, link: str | None, depth: int) -> Iterator[TextRun]:
        if child.tag in _BLANKS:
            yield _run(_BLANKS[child.tag] * count_of(child, "text:c", _MAX_SPACES), properties, link)
        elif child.tag not in _SKIPPED and isinstance(child.tag, str):
            if child.tag == name("text:span"):
                properties = {**properties, **self.styles.properties("text", child.get(name("text:style-name")))}
            elif child.tag == name("text:a"):
                link = clean.link(child.get(name("xlink:href")))
            yield from self._runs(child, properties, link, depth + 1)


def _collapsed(runs: Iterable[TextRun]) -> Iterator[TextRun]:
    """Collapse white space, also across runs, as in ODF 1.3 part 3, 6.1.2. The blanks of `text:s`, "\\0", stay."""
    follows_blank = True
    for run in runs:
        content = _SPACES.sub(" ", run.text)
        content = content.lstrip(" ") if follows_blank else content
        follows_blank = content.endswith(" ") if content else follows_blank
        yield replace(run, text=content.replace("\0", " "))


def _points(properties: StyleProperties, key: str) -> float:
    return round(max(0.0, min(2_000.0, (length(properties.get(_P + name(key))) or 0.0) / POINT)), 1)


def _line_spacing(value: str) -> float:
    digits = value.removesuffix("%")
    return max(0.2, min(10.0, int(digits[:6]) / 100)) if digits != value and digits.isdecimal() else 1.0


def _indents(properties: StyleProperties) -> dict[str, Any]:
    indent, first = (int(length(properties.get(_P + name(key))) or 0) for key in ("fo:margin-left", "fo:text-indent"))
    return {"indent": max(0, indent), "first": max(-max(0, indent), first)}


def _list_looks(level: Any, start: int) -> dict[str, Any]:
    """Return the label of a list level, its first number and its indents. `start` is the number of the item, or 0."""
    if level is None:
        return {}
    character = level.get(name("text:bullet-char"), "")[:1]
    number = (level.get(name(f"style:num-{part}"), "") for part in ("prefix", "format", "suffix"))
    own_start = level.get(name("text:start-value"), "1")
    looks: dict[str, Any] = {"bullet": "" if "\ue000" <= character <= "\uf8ff" else character or "".join(number)}
    looks["start"] = start or (int(own_start[:6]) if own_start.isdecimal() else 1)
    properties = level.find(name("style:list-level-properties"))
    alignment = None if properties is None else properties.find(name("style:list-level-label-alignment"))
    if alignment is not None:
        keys = {_P + name(key): alignment.get(name(key), "") for key in ("fo:margin-left", "fo:text-indent")}
        return looks | _indents(keys)
    if properties is not None:
        before, width = (length(properties.get(name(f"text:{it}"))) or 0 for it in ("space-before", "min-label-width"))
        return looks | {"indent": max(0, int(before + width)), "first": -max(0, int(width))}
    return looks


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
        size=None if size is None else max(1.0, min(4_000.0, round(size / POINT, 1))),
        color=color if is_color(color) and color != "000000" else None,
        link=link,
    )


def is_color(digits: str) -> bool:
    """Return whether `digits` is a colour, which has six hexadecimal digits in lower case."""
    return len(digits) == 6 and all(digit in "0123456789abcdef" for digit in digits)
