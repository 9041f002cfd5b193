"""Reads the paragraphs and runs of a shape, including inherited formats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from .. import clean
from ..model import Paragraph, TextRun
from ..paragraphs import merge_runs
from .slide_theme import (
    A,
    R,
    RunStyle,
    SlideTheme,
    Spacing,
    apply_paragraph_properties,
    apply_run_properties,
    level_style,
    number,
    symbol_text,
)

_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_A14 = "{http://schemas.microsoft.com/office/drawing/2010/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_BLACK = "000000"
_LINE = 1.2  # the height of a line in most fonts, as a multiple of the font size


@dataclass(slots=True)
class PptxTextStyles:
    """Reads the text of one shape. The text inherits its format from `slide_theme` and the list styles `styles`.

    `scale` is the factor of font sizes, and `reduction` is subtracted from the line spacing. `slide_number` replaces
    the text of its fields.
    """

    slide_theme: SlideTheme
    part: Any
    placeholder_type: str | None = None
    styles: tuple[Any, ...] = ()
    scale: float = 1.0
    reduction: float = 0.0
    color: str | None = None
    bold: bool = False
    slide_number: int | None = None
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
        size = max((run.size or 0.0 for run in runs), default=0.0) or run_style.size * self.scale
        lines, points = run_style.line_spacing
        return Paragraph(
            runs, level, marker, run_style.align, run_style.rtl,  # type: ignore[arg-type]
            line_spacing=round(max(0.2, (lines or points / (size * _LINE)) - self.reduction), 2),
            before=_distance(run_style.before, size), after=_distance(run_style.after, size),
            indent=max(0, run_style.indent), first=max(-max(0, run_style.indent), run_style.first),
            bullet=run_style.bullet, start=max(1, run_style.start),
        )  # fmt: skip

    def _run_style(self, level: int) -> RunStyle:
        if level not in self._run_styles:
            run_style = self.slide_theme.run_style_for(self.placeholder_type, level)
            if self.color:
                run_style = replace(run_style, color=self.color)
            if self.bold:
                run_style = replace(run_style, bold=True)
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
                    text = symbol_text(text, properties)
                    if self.slide_number is not None and child.get("type") == "slidenum":
                        text = str(self.slide_number)
                    own_style = apply_run_properties(run_style, properties, self.slide_theme.colors)
                    yield self._text_run(text, own_style, self._link(properties))
                case tag if tag == f"{A}br":
                    own_style = apply_run_properties(run_style, child.find(f"{A}rPr"), self.slide_theme.colors)
                    yield self._text_run("\n", own_style, None)
                case tag if tag == f"{_MC}AlternateContent" and len(child):
                    yield from self._runs(child[0], run_style)
                case tag if tag.startswith((_M, _A14)):
                    formula = clean.ooxml_text("".join(part.text or "" for part in child.iter(f"{_M}t")))
                    yield self._text_run(formula, run_style, None)

    def _link(self, properties: Any) -> str | None:
        link = None if properties is None else properties.find(f"{A}hlinkClick")
        if link is None or link.get("action"):
            return None
        relationship = self.part.rels.get(link.get(f"{R}id", ""))
        return clean.link(relationship.target_ref) if relationship is not None and relationship.is_external else None

    def _text_run(self, text: str, run_style: RunStyle, link: str | None) -> TextRun:
        size = round(run_style.size * self.scale, 1)
        color = self.slide_theme.colors.get("hlink", run_style.color) if link else run_style.color
        color = None if color == _BLACK else color
        return TextRun(
            text, run_style.bold, run_style.italic, run_style.underline, run_style.strike, size, color, link,
            run_style.baseline, run_style.capitals,  # type: ignore[arg-type]
        )  # fmt: skip


def _distance(spacing: Spacing, size: float) -> float:
    lines, points = spacing
    return round(max(0.0, lines * size * _LINE + points), 1)


def _level(properties: Any) -> int:
    return 0 if properties is None else int(max(0, min(8, number(properties.get("lvl")))))
