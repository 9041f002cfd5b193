"""Reads charts as tables, and diagrams (SmartArt) as bulleted lists."""

from __future__ import annotations

from typing import Any

from .. import clean
from ..model import Box, Paragraph, SlideTable, TableCell, Text, TextRun
from .colors import A

C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
D = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
MAX_ROWS = 200
_SIZE = 12.0
_Column = dict[int, str]


def chart_table(chart: Any, box: Box) -> SlideTable | None:
    """Read a chart as a table of categories (rows) and series (columns). Returns None if the chart has no series."""
    series = [_column(element, ("val", "yVal")) for element in chart.iter(f"{C}ser")]
    if not series:
        return None
    categories = next((column for ser in chart.iter(f"{C}ser") if (column := _column(ser, ("cat", "xVal")))), {})
    names = [
        _first_value(element.find(f"{C}tx")) or f"Series {n}" for n, element in enumerate(chart.iter(f"{C}ser"), 1)
    ]
    points = sorted(set(categories).union(*series))[:MAX_ROWS]
    title = _text(chart.find(f"{C}chart/{C}title"))
    lines = [[title, *names], *([categories.get(n, ""), *(ser.get(n, "") for ser in series)] for n in points)]
    count = len(names) + 1
    widths, heights = (box.width // count,) * count, (box.height // len(lines),) * len(lines)
    rows = tuple(
        tuple(TableCell((Paragraph((TextRun(text, size=_SIZE),)),) if text else ()) for text in line) for line in lines
    )
    return SlideTable(box, rows, widths, heights, header=True)


def _column(series: Any, names: tuple[str, ...]) -> _Column:
    reference = next((element for name in names if (element := series.find(f"{C}{name}")) is not None), None)
    points = () if reference is None else reference.iter(f"{C}pt")
    return {int(point.get("idx", "0")): _first_value(point) for point in points if point.get("idx", "0").isdecimal()}


def _first_value(element: Any) -> str:
    value = None if element is None else next(element.iter(f"{C}v"), None)
    return clean.ooxml_text(value.text or "") if value is not None else ""


def diagram_text(data: Any, box: Box) -> Text | None:
    """Read the text of a diagram as a bulleted list. Return None if the diagram has no text."""
    lines = [_text(point.find(f"{D}t")) for point in data.iter(f"{D}pt") if point.get("type", "node") == "node"]
    paragraphs = tuple(Paragraph((TextRun(line),), marker="bullet") for line in lines if line)
    return Text(box, paragraphs) if paragraphs else None


def _text(element: Any) -> str:
    return "" if element is None else clean.ooxml_text("".join(text.text or "" for text in element.iter(f"{A}t")))
