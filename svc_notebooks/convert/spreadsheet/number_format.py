"""Formats the value of a cell as text with the cell's number format."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from math import floor, log10
from typing import NamedTuple

from .date_serial import DEFAULTS, from_serial, to_serial, value_kind
from .model import Cell, CellStyle, ErrorValue, Value
from .values import clean

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_PART = re.compile(
    r"""(?P<text>"[^"]*"|\\.)
    |(?P<space>_.)
    |(?P<fill>\*.)
    |(?P<elapsed>\[(?:h+|m+|s+)\])
    |(?P<currency>\[\$[^\]]*\])
    |(?P<bracket>\[[^\]]*\])
    |(?P<noon>AM/PM|A/P)
    |(?P<general>General)
    |(?P<fraction>\.0+(?=[^0-9#?]*$)|\.0+)
    |(?P<date>y+|m+|d+|h+|s+)
    |(?P<number>[0\#?][0\#?,]*(?:\.[0\#?]*,*)?(?:E[+-][0\#?]+)?|\.[0\#?]+)
    |(?P<percent>%)
    |(?P<at>@)
    |(?P<other>.)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)

_MAX_SCALING_SIGNS = 100
"""The maximum number of percent signs or thousands separators that scale a number. More exceed the range of floats."""


class FormatPart(NamedTuple):
    """A token of a number format. `kind` is the name of the matching group in `_PART`, such as "date" or "percent"."""

    kind: str
    text: str


def format_cell(cell: Cell) -> str:
    """Return the text that a spreadsheet program displays for a cell.

    >>> format_cell(Cell(1234.5, CellStyle("#,##0.00"))), format_cell(Cell(True))
    ('1,234.50', 'TRUE')
    >>> format_cell(Cell(date(2024, 1, 2), CellStyle("d mmm yyyy")))
    '2 Jan 2024'
    """
    value = cell.display_value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float)):
        return _format_number(value, cell.style.format)
    if isinstance(value, (date, time, timedelta)):
        return _format_moment(value, cell.style)
    return value.code if isinstance(value, ErrorValue) else clean(value or "")


def to_text(value: Value) -> str:
    """Convert a value to machine-readable text, with ISO 8601 dates and all digits of numbers. None becomes "".

    >>> to_text(0.1), to_text(1e21), to_text(date(2024, 1, 2)), to_text(timedelta(hours=30)), to_text(False)
    ('0.1', '1e+21', '2024-01-02', '30:00:00', 'FALSE')
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(abs(value.total_seconds())), 60)
        return f"{'-' if value < timedelta() else ''}{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}"
    return value.code if isinstance(value, ErrorValue) else "" if value is None else str(value)


@lru_cache(1024)
def sections(format: str) -> tuple[tuple[FormatPart, ...], ...]:
    """Split a number format into its sections for positive numbers, negative numbers, zero and text, if present."""
    parts: list[list[FormatPart]] = [[]]
    for match in _PART.finditer(format[:255]):
        kind = match.lastgroup or "other"
        if kind == "other" and match.group() == ";":
            parts.append([])
        else:
            parts[-1].append(FormatPart(kind, match.group()))
    return tuple(tuple(section) for section in parts)


def _format_number(value: float, format: str) -> str:
    if not format or format.lower() == "general" or value_kind(format) != "number":
        return format_general(value)
    all_sections = sections(format)
    index = 1 if value < 0 else 2 if value == 0 else 0
    index = index if index < len(all_sections) else 0
    chosen = all_sections[index]
    if not any(part.kind in ("number", "general", "fraction", "at") for part in chosen):
        return "".join(map(literal, chosen))
    scale = 100.0 ** min(sum(part.kind == "percent" for part in chosen), _MAX_SCALING_SIGNS)
    text = ""
    for part in chosen:
        if part.kind in ("number", "fraction"):
            text += _digits(abs(value) * scale, part.text)
        else:
            text += format_general(abs(value)) if part.kind in ("general", "at") else literal(part)
    return f"-{text}" if index == 0 and value < 0 and re.search("[1-9]", text) else text


def literal(part: FormatPart) -> str:
    """Return the fixed text of a format part, such as a currency symbol, or "" for parts without text."""
    if part.kind == "text":
        return part.text[1:] if part.text[0] == "\\" else part.text[1:-1]
    if part.kind == "currency":
        return part.text[2:-1].split("-")[0]
    if part.kind in ("bracket", "fill"):
        return ""
    return " " if part.kind == "space" else part.text


def _digits(value: float, pattern: str) -> str:
    mantissa, _, exponent = pattern.upper().partition("E")
    integer_part, _, decimals = mantissa.partition(".")
    places = min(sum(mark in "0#?" for mark in decimals), 15)
    if exponent:
        return f"{value:.{places}E}"
    thousands = len(mantissa) - len(mantissa.rstrip(","))
    decimals = decimals.rstrip(",")
    value /= 1000.0 ** min(thousands, _MAX_SCALING_SIGNS)
    grouped = "," in integer_part.rstrip(",")
    text = f"{value:{',' if grouped else ''}.{places}f}"
    before, _, after = text.partition(".")
    required = len(decimals.rstrip("#?"))
    after = after[:required] + after[required:].rstrip("0")
    minimum = integer_part.count("0")
    before = before.rjust(minimum, "0") if before != "0" or minimum else ""
    return f"{before}.{after}" if after else before


def format_general(value: float) -> str:
    """Format a number as the General number format does, which rounds decimals and shortens very large numbers.

    >>> format_general(0.1 + 0.2), format_general(1e20), format_general(5.0), format_general(-3)
    ('0.3', '1E+20', '5', '-3')
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if isinstance(value, int) and abs(value) < 10**15:
        return str(value)
    size = floor(log10(abs(value)))
    if -5 <= size < 15:
        return f"{value:.12g}" if size < 11 else f"{value:.15g}"
    return f"{value:.6g}".upper()


def _format_moment(value: date | time | timedelta, style: CellStyle) -> str:
    format = style.format or DEFAULTS[type(value)]
    if value_kind(format) == "number":
        format = DEFAULTS[type(value)]
    moment, number = _as_moment(value), to_serial(value)
    if moment is None:
        return to_text(value)
    parts = [FormatPart("elapsed", p.text) if p.kind == "elapsed" else p for p in sections(format)[0]]
    noon = any(part.kind == "noon" for part in parts)
    return "".join(_piece(parts, index, moment, number or 0, noon) for index in range(len(parts)))


def _as_moment(value: date | time | timedelta) -> datetime | None:
    if isinstance(value, datetime):
        return value
    if isinstance(value, timedelta):
        converted = from_serial(value / timedelta(days=1) % 1, DEFAULTS[datetime]) if value >= timedelta() else None
        return converted if isinstance(converted, datetime) else None
    if isinstance(value, time):
        return datetime.combine(date(1899, 12, 31), value)
    return datetime(value.year, value.month, value.day)  # noqa: DTZ001  spreadsheets have no time zones


def _piece(parts: list[FormatPart], index: int, moment: datetime, number: float, noon: bool) -> str:
    part = parts[index]
    if part.kind == "elapsed":
        unit = part.text[1:-1].lower()
        size = {"h": 24, "m": 1440, "s": 86_400}[unit[0]]
        return str(floor(round(number * size, 6))).rjust(len(unit), "0")
    if part.kind == "noon":
        return ("AM" if moment.hour < 12 else "PM")[: 1 if len(part.text) == 3 else 2]
    if part.kind == "date":
        return _field(part.text.lower(), moment, noon, minutes=_between_hours_and_seconds(parts, index))
    if part.kind == "fraction":
        return f".{moment.microsecond:06d}"[: len(part.text)]
    return literal(part)


def _between_hours_and_seconds(parts: list[FormatPart], index: int) -> bool:
    """Return whether a letter "m" at `index` means minutes. After hours and before seconds, "m" means minutes."""
    clock = [i for i, part in enumerate(parts) if part.kind in ("date", "elapsed")]
    clock_index = clock.index(index)
    before = parts[clock[clock_index - 1]].text.strip("[]").lower() if clock_index else ""
    after = parts[clock[clock_index + 1]].text.strip("[]").lower() if clock_index + 1 < len(clock) else ""
    return before.startswith("h") or after.startswith("s")


def _field(code: str, moment: datetime, noon: bool, *, minutes: bool) -> str:
    letter, size = code[0], len(code)
    if letter == "m" and not minutes:
        name = _MONTHS[moment.month - 1]
        return {3: name[:3], 4: name, 5: name[0]}.get(size, str(moment.month).rjust(size, "0"))
    if letter == "d" and size > 2:
        name = _DAYS[moment.weekday()]
        return name[:3] if size == 3 else name
    if letter == "y":
        return f"{moment.year % 100:02d}" if size < 3 else f"{moment.year:04d}"
    hour = (moment.hour - 1) % 12 + 1 if noon else moment.hour
    number = {"d": moment.day, "h": hour, "m": moment.minute, "s": moment.second}[letter]
    return str(number).rjust(min(size, 2), "0")
