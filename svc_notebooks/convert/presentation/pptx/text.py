"""Reads the paragraphs and runs of a shape, with the properties that they inherit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from .. import clean
from ..model import Paragraph, TextRun
from ..paragraphs import joined
from .colors import A
from .slide_theme import RunStyle, SlideTheme, changed, lettered, level_style

_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_BLACK = "000000"


@dataclass(slots=True)
class PptxTextStyles:
    """How the text of one shape is read: `styles` are lists of styles, the nearest first."""

    ground: SlideTheme
    part: Any
    kind: str | None = None
    styles: tuple[Any, ...] = ()
    scale: float = 1.0
    color: str | None = None
    _looks: dict[int, RunStyle] = field(default_factory=dict)

    def paragraphs(self, body: Any) -> tuple[Paragraph, ...]:
        """The paragraphs of a text body, without the empty ones at its end."""
        found = [] if body is None else [self._paragraph(element) for element in body.iterchildren(f"{A}p")]
        while found and not found[-1].text.strip():
            found.pop()
        return tuple(found)

    def _paragraph(self, element: Any) -> Paragraph:
        properties = element.find(f"{A}pPr")
        level = _level(properties)
        look = changed(self._look(level), properties, self.ground.colors)
        runs = tuple(joined(self._runs(element, look)))
        marker = look.marker if any(run.text.strip() for run in runs) else ""
        return Paragraph(runs, level, marker, look.align, look.rtl)  # type: ignore[arg-type]

    def _look(self, level: int) -> RunStyle:
        if level not in self._looks:
            look = self.ground.look_of_kind(self.kind, level)
            if self.color:
                look = replace(look, color=self.color)
            for styles in reversed(self.styles):
                look = changed(look, level_style(styles, level), self.ground.colors)
            self._looks[level] = look
        return self._looks[level]

    def _runs(self, element: Any, look: RunStyle) -> Iterator[TextRun]:
        for child in element:
            match str(child.tag):
                case tag if tag in (f"{A}r", f"{A}fld"):
                    yield self._run(child, look)
                case tag if tag == f"{A}br":
                    yield self._made("\n", look, None)
                case tag if tag == f"{_MC}AlternateContent" or tag.startswith(_M):
                    yield self._made(_formula(child), look, None)

    def _run(self, element: Any, look: RunStyle) -> TextRun:
        properties = element.find(f"{A}rPr")
        text = "".join(found.text or "" for found in element.iterchildren(f"{A}t"))
        return self._made(clean.escaped(text), lettered(look, properties, self.ground.colors), self._link(properties))

    def _link(self, properties: Any) -> str | None:
        link = None if properties is None else properties.find(f"{A}hlinkClick")
        if link is None or link.get("action"):
            return None
        relationship = self.part.rels.get(link.get(f"{_R}id", ""))
        return clean.link(relationship.target_ref) if relationship is not None and relationship.is_external else None

    def _made(self, text: str, look: RunStyle, link: str | None) -> TextRun:
        size = round(look.size * self.scale, 1)
        color = None if look.color == _BLACK else look.color
        return TextRun(text, look.bold, look.italic, look.underline, look.strike, size, color, link)


def _level(properties: Any) -> int:
    try:
        return max(0, min(8, int(properties.get("lvl", "0")))) if properties is not None else 0
    except ValueError:
        return 0


def _formula(element: Any) -> str:
    """The letters of a formula, in their order."""
    return clean.escaped("".join(found.text or "" for found in element.iter(f"{_M}t")))
