"""Formats a cell's value with its number format."""

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
"""More signs that multiply or divide lead beyond all numbers, and no format that is meant has them."""


class FormatPart(NamedTuple):
    """A piece of a number format and what it is."""

    kind: str
    text: str


def format_cell(cell: Cell) -> str:
    """The text of a cell.

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
    """A value that any program reads back: dates as ISO 8601 has them, numbers in full.

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
        return _clock(value)
    return value.code if isinstance(value, ErrorValue) else "" if value is None else str(value)


def _clock(value: timedelta) -> str:
    seconds = abs(value.total_seconds())
    minutes, rest = divmod(round(seconds), 60)
    return f"{'-' if value < timedelta() else ''}{minutes // 60:02d}:{minutes % 60:02d}:{rest:02d}"


@lru_cache(1024)
def sections(format: str) -> tuple[tuple[FormatPart, ...], ...]:
    """The pieces of a number format: for positive numbers, for negative ones, for zero, for text."""
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
    chosen, signed = _section(value, sections(format))
    if not any(part.kind in ("number", "general", "fraction", "at") for part in chosen):
        return _literal_text(chosen)
    text = "".join(_numeral(abs(value), part, chosen) for part in chosen)
    return f"-{text}" if signed and value < 0 and any(digit in "123456789" for digit in text) else text


def _section(value: float, all_sections: tuple[tuple[FormatPart, ...], ...]) -> tuple[tuple[FormatPart, ...], bool]:
    """The section for this number, and whether the sign is still to be written."""
    if value < 0 and len(all_sections) > 1:
        return all_sections[1], False
    if value == 0 and len(all_sections) > 2:
        return all_sections[2], False
    return all_sections[0], True


def _literal_text(parts: tuple[FormatPart, ...]) -> str:
    return "".join(literal(part) for part in parts)


def literal(part: FormatPart) -> str:
    """What a piece shows that stands for itself."""
    if part.kind == "text":
        return part.text[1:] if part.text[0] == "\\" else part.text[1:-1]
    if part.kind == "currency":
        return part.text[2:-1].split("-")[0]
    if part.kind in ("bracket", "fill"):
        return ""
    return " " if part.kind == "space" else part.text


def _numeral(value: float, part: FormatPart, parts: tuple[FormatPart, ...]) -> str:
    if part.kind in ("number", "fraction"):
        percents = sum(other.kind == "percent" for other in parts)
        return _digits(value * 100.0 ** min(percents, _MAX_SCALING_SIGNS), part.text)
    return format_general(value) if part.kind in ("general", "at") else literal(part)


def _digits(value: float, pattern: str) -> str:
    mantissa, _, exponent = pattern.upper().partition("E")
    integer_part, _, decimals = mantissa.partition(".")
    places = min(sum(mark in "0#?" for mark in decimals), 15)
    if exponent:
        return _scientific(value, places)
    thousands = len(mantissa) - len(mantissa.rstrip(","))
    decimals = decimals.rstrip(",")
    value /= 1000.0 ** min(thousands, _MAX_SCALING_SIGNS)
    grouped = "," in integer_part.rstrip(",")
    text = f"{value:{',' if grouped else ''}.{places}f}"
    before, _, after = text.partition(".")
    after = _optional(after, decimals)
    minimum = integer_part.count("0")
    before = before.rjust(minimum, "0") if before != "0" or minimum else ""
    return f"{before}.{after}" if after else before


def _optional(digits: str, pattern: str) -> str:
    """Without the zeros at the end that the pattern does not ask for."""
    needed = len(pattern.rstrip("#?"))
    return digits[:needed] + digits[needed:].rstrip("0")


def _scientific(value: float, places: int) -> str:
    mantissa, _, exponent = f"{value:.{places}E}".partition("E")
    return f"{mantissa}E{exponent[0]}{exponent[1:]}"


def format_general(value: float) -> str:
    """A number under no format: up to twelve digits.

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
    return datetime(value.year, value.month, value.day)  # noqa: DTZ001  a spreadsheet knows no time zones


def _piece(parts: list[FormatPart], index: int, moment: datetime, number: float, noon: bool) -> str:
    part = parts[index]
    if part.kind == "elapsed":
        return _elapsed(part.text[1:-1].lower(), number)
    if part.kind == "noon":
        return ("AM" if moment.hour < 12 else "PM")[: 1 if len(part.text) == 3 else 2]
    if part.kind == "date":
        return _field(part.text.lower(), moment, noon, minutes=_between_hours_and_seconds(parts, index))
    if part.kind == "fraction":
        return f".{moment.microsecond:06d}"[: len(part.text)]
    return literal(part)


def _elapsed(unit: str, days: float) -> str:
    size = {"h": 24, "m": 1440, "s": 86_400}[unit[0]]
    return str(floor(round(days * size, 6))).rjust(len(unit), "0")


def _between_hours_and_seconds(parts: list[FormatPart], index: int) -> bool:
    """Whether an m means minutes: after an hour, or before a second."""
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
    number = {"d": moment.day, "h": _hour(moment.hour, noon), "m": moment.minute, "s": moment.second}[letter]
    return str(number).rjust(min(size, 2), "0")


def _hour(hour: int, noon: bool) -> int:
    return (hour - 1) % 12 + 1 if noon else hour
