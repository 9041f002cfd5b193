"""Reads the values of charts in Word and PowerPoint files (ECMA-376-1, 21.2)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"


def chart_rows(chart: Any, limit: int) -> list[list[str]]:
    """Return a row with the names of the series, and a row for each of at most `limit` categories.

    The first column has the categories, the others have the values. Returns [] if the chart has no series.
    """
    series = list(chart.iter(f"{_C}ser"))
    if not series:
        return []
    columns = [_column(element, "val", "yVal") for element in series]
    categories = next((column for element in series if (column := _column(element, "cat", "xVal"))), {})
    names = [_first_value(element.find(f"{_C}tx")) or f"Series {n}" for n, element in enumerate(series, 1)]
    points = sorted(set(categories).union(*columns))[:limit]
    return [["", *names], *([column.get(point, "") for column in (categories, *columns)] for point in points)]


def _column(series: Any, *names: str) -> dict[int, str]:
    reference = next((element for name in names if (element := series.find(_C + name)) is not None), None)
    points = () if reference is None else reference.iter(f"{_C}pt")
    values: dict[int, str] = {}
    for point in points:
        if point.get("idx", "").isdecimal():
            index, value = int(point.get("idx")), _point_value(point)
            values[index] = f"{value} {values[index]}" if index in values else value  # the levels of a category
    return values


def _point_value(point: Any) -> str:
    """Return the value of a point. Programs store numbers with 17 digits, and show 15 ("4.4000000000000004" as 4.4)."""
    value = _first_value(point)
    if len(value) < 17 or point.getparent().tag in (f"{_C}strCache", f"{_C}lvl"):
        return value
    with suppress(ValueError):
        return f"{float(value):.15g}"
    return value


def _first_value(element: Any) -> str:
    value = None if element is None else next(element.iter(f"{_C}v"), None)
    return "" if value is None else value.text or ""
