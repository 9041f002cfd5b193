"""Reads charts as tables, and diagrams (SmartArt) as bulleted lists."""

from __future__ import annotations

from typing import Any

from ...input.chart import chart_rows
from .. import clean
from ..model import Box, Paragraph, SlideTable, TableCell, Text, TextRun
from .colors import A

D = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
MAX_ROWS = 200
_SIZE = 12.0


def chart_table(chart: Any, drawing: Any, box: Box) -> SlideTable | None:
    """Read a chart as a table of categories (rows) and series (columns). Returns None if the chart has no series.

    The corner has the titles of the chart and its axes, and the text that `drawing` (XML or None) draws over the chart.
    """
    rows = chart_rows(chart, MAX_ROWS)
    if not rows:
        return None
    texts = (_text(paragraph) for root in (chart, drawing) if root is not None for paragraph in root.iter(f"{A}p"))
    lines = [list(map(clean.ooxml_text, row)) for row in rows]
    lines[0][0] = "\n".join(filter(None, texts))
    count = len(lines[0])
    widths, heights = (box.width // count,) * count, (box.height // len(lines),) * len(lines)
    cells = tuple(
        tuple(TableCell((Paragraph((TextRun(text, size=_SIZE),)),) if text else ()) for text in line) for line in lines
    )
    return SlideTable(box, cells, widths, heights, header=True)


def diagram_text(data: Any, box: Box) -> Text | None:
    """Read the text of a diagram as a bulleted list. Return None if the diagram has no text."""
    lines = [_text(point.find(f"{D}t")) for point in data.iter(f"{D}pt") if point.get("type", "node") == "node"]
    paragraphs = tuple(Paragraph((TextRun(line),), marker="bullet") for line in lines if line)
    return Text(box, paragraphs, autofit="shrink") if paragraphs else None


def _text(element: Any) -> str:
    return "" if element is None else clean.ooxml_text("".join(text.text or "" for text in element.iter(f"{A}t")))
