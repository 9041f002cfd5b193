"""Reads the paragraphs and runs of a shape, including inherited formats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from .. import clean
from ..model import Paragraph, TextRun
from ..paragraphs import merge_runs
from .colors import A
from .slide_theme import RunStyle, SlideTheme, apply_paragraph_properties, apply_run_properties, level_style

_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_BLACK = "000000"


@dataclass(slots=True)
class PptxTextStyles:
    """Reads the text of one shape. The text inherits its format from `slide_theme` and the list styles `styles`."""

    slide_theme: SlideTheme
    part: Any
    placeholder_type: str | None = None
    styles: tuple[Any, ...] = ()
    scale: float = 1.0
    color: str | None = None
    _run_styles: dict[int, RunStyle] = field(default_factory=dict)

    def paragraphs(self, body: Any) -> tuple[Paragraph, ...]:
        """Return the paragraphs of a text body element, without empty paragraphs at the end."""
        paragraphs = [] if body is None else [self._paragraph(element) for element in body.iterchildren(f"{A}p")]
        while paragraphs and not paragraphs[-1].text.strip():
            paragraphs.pop()
        return tuple(paragraphs)

    def _paragraph(self, element: Any) -> Paragraph:
        properties = element.find(f"{A}pPr")
        level = _level(properties)
        run_style = apply_paragraph_properties(self._run_style(level), properties, self.slide_theme.colors)
        runs = tuple(merge_runs(self._runs(element, run_style)))
        marker = run_style.marker if any(run.text.strip() for run in runs) else ""
        return Paragraph(runs, level, marker, run_style.align, run_style.rtl)  # type: ignore[arg-type]

    def _run_style(self, level: int) -> RunStyle:
        if level not in self._run_styles:
            run_style = self.slide_theme.run_style_for(self.placeholder_type, level)
            if self.color:
                run_style = replace(run_style, color=self.color)
            for styles in reversed(self.styles):
                run_style = apply_paragraph_properties(run_style, level_style(styles, level), self.slide_theme.colors)
            self._run_styles[level] = run_style
        return self._run_styles[level]

    def _runs(self, element: Any, run_style: RunStyle) -> Iterator[TextRun]:
        for child in element:
            match str(child.tag):
                case tag if tag in (f"{A}r", f"{A}fld"):
                    properties = child.find(f"{A}rPr")
                    text = clean.ooxml_text("".join(part.text or "" for part in child.iterchildren(f"{A}t")))
                    own_style = apply_run_properties(run_style, properties, self.slide_theme.colors)
                    yield self._text_run(text, own_style, self._link(properties))
                case tag if tag == f"{A}br":
                    yield self._text_run("\n", run_style, None)
                case tag if tag == f"{_MC}AlternateContent" or tag.startswith(_M):
                    formula = clean.ooxml_text("".join(part.text or "" for part in child.iter(f"{_M}t")))
                    yield self._text_run(formula, run_style, None)

    def _link(self, properties: Any) -> str | None:
        link = None if properties is None else properties.find(f"{A}hlinkClick")
        if link is None or link.get("action"):
            return None
        relationship = self.part.rels.get(link.get(f"{_R}id", ""))
        return clean.link(relationship.target_ref) if relationship is not None and relationship.is_external else None

    def _text_run(self, text: str, run_style: RunStyle, link: str | None) -> TextRun:
        size = round(run_style.size * self.scale, 1)
        color = None if run_style.color == _BLACK else run_style.color
        return TextRun(text, run_style.bold, run_style.italic, run_style.underline, run_style.strike, size, color, link)


def _level(properties: Any) -> int:
    try:
        return max(0, min(8, int(properties.get("lvl", "0")))) if properties is not None else 0
    except ValueError:
        return 0
