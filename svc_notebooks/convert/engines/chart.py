"""Prepares the values of a chart for chart.typ, which draws bars, lines, points and pies."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import ceil, floor, isfinite, log10
from typing import Any

KINDS = ("bar", "column", "line", "pie", "scatter")  # those that are drawn; bars are horizontal
_MAX_POINTS = 2_000


def chart_data(kind: str, rows: Sequence[Sequence[str]], title: str = "") -> dict[str, Any] | None:
    """Return the data of a chart for chart.typ, or None if it is not one of `KINDS` or has no numbers.

    The first row has the names of the series, the first column has the categories, or the x values of a scatter chart.
    """
    rows = [row for row in rows if len(row) > 1]
    values = [[_number(text) for text in column] for column in zip(*(row[1:] for row in rows[1:]), strict=False)]
    numbers = [value for column in values for value in column if value is not None]
    if kind not in KINDS or len(numbers) > _MAX_POINTS or not any(numbers) or (kind == "pie" and not any(values[0])):
        return None
    categories = ["\u00a0".join(row[0].split()) for row in rows[1:]]  # which stay on one line
    places = [place for text in categories if (place := _number(text)) is not None]
    if len(places) < len(categories) or min(places) == max(places):
        places = [float(number) for number in range(1, len(categories) + 1)]
    low, span = min(places), (max(places) - min(places)) or 1.0
    ticks = _ticks(min(0.0, *numbers), max(0.0, *numbers))
    return {
        "kind": kind, "title": title, "names": list(rows[0][1:]), "categories": categories, "values": values,
        "places": [(place - low) / span for place in places], "first": f"{low:g}", "last": f"{max(places):g}",
        "ticks": ticks, "labels": [f"{tick:,.10g}" for tick in ticks],
    }  # fmt: skip


def _number(text: str) -> float | None:
    plain = "".join(text.split()).removesuffix("%")
    with suppress(ValueError):
        number = float(
            plain.replace(",", ".") if plain.count(",") == 1 and "." not in plain else plain.replace(",", "")
        )
        return number if isfinite(number) and abs(number) < 1e15 else None
    return None


def _ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers from at most `low` to at least `high`.

    >>> _ticks(0, 87), _ticks(-1.5, 2)
    ([0.0, 20.0, 40.0, 60.0, 80.0, 100.0], [-2.0, -1.0, 0.0, 1.0, 2.0])
    """
    rough = (high - low) / 5
    power = 10.0 ** floor(log10(rough))
    step = next(part * power for part in (1, 2, 5, 10) if part * power >= rough * 0.85)
    return [round(number * step, 12) for number in range(floor(low / step), ceil(high / step) + 1)]
