"""Splits number format codes (ECMA-376 part 1, 18.8.31), and converts the serial numbers of dates that they display."""

from __future__ import annotations

import json
import re
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple

from .model import Value

Kind = Literal["number", "date", "datetime", "time", "duration"]

_PART = re.compile(
    r"""(?P<text>"[^"]*"|\\.)
    |(?P<space>_.)
    |(?P<fill>\*.)
    |(?P<elapsed>\[(?:h+|m+|s+)\])
    |(?P<currency>\[\$[^\]]*\])
    |(?P<condition>\[(?:<=|>=|<>|<|>|=)-?[0-9]+(?:\.[0-9]+)?\])
    |(?P<bracket>\[[^\]]*\])
    |(?P<noon>AM/PM|A/P)
    |(?P<general>General)
    |(?P<fraction>\.0+)
    |(?P<year>y+)|(?P<month>m+)|(?P<day>d+)|(?P<hour>h+)|(?P<second>s+)
    |(?P<ratio>[0\#?]+\ ?/\ ?[0-9\#?]+)
    |(?P<number>[0\#?][0\#?,]*(?:\.[0\#?]*,*)?(?:E[+-][0\#?]+)?|\.[0\#?]+)
    |(?P<percent>%)
    |(?P<at>@)
    |(?P<other>.)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_CLOCK = frozenset({"elapsed", "year", "month", "day", "hour", "second"})

_BUILT_IN = json.loads((files(__package__) / "built_in.json").read_text("utf-8"))

# The built-in formats of dates and times that differ between languages, in the form of ISO 8601.
LOCAL_FORMATS: dict[int, str] = {int(number): code for number, code in _BUILT_IN["local_formats"].items()}

# The built-in number formats by number (ECMA-376 part 1, 18.8.30).
BUILT_IN_FORMATS = LOCAL_FORMATS | {int(number): str(code) for number, code in _BUILT_IN["formats"].items()}

PALETTE: list[str] = _BUILT_IN["palette"]  # by index (18.8.27); those from 64 are of the system


class FormatPart(NamedTuple):
    """A part of a number format. `kind` is "minute" or the name of the matching group in `_PART`, such as "percent"."""

    kind: str
    text: str

    @property
    def literal(self) -> str:
        """The fixed text of the part, such as a currency symbol, or "" for parts without text."""
        if self.kind == "text":
            return self.text[1:] if self.text[0] == "\\" else self.text[1:-1]
        if self.kind == "currency":
            return self.text[2:-1].split("-")[0]
        if self.kind in ("bracket", "condition", "fill"):
            return ""
        return " " if self.kind == "space" else self.text


Section = tuple[FormatPart, ...]


class DigitPattern(NamedTuple):
    """The meaning of a part with digits.

    whole, decimals, exponent: the signs (0, # and ?) of the digits, and the exponent with its sign, or "".
    is_grouped, thousands: whether thousands are separated, and how often the number is divided by 1000.
    """

    whole: str
    decimals: str
    exponent: str
    is_grouped: bool
    thousands: int

    @classmethod
    def of(cls, text: str) -> DigitPattern:
        """Parse the text of a part of the kind "number" or "fraction"."""
        mantissa, _, exponent = text.upper().partition("E")
        whole, _, decimals = mantissa.partition(".")
        grouped = whole.rstrip(",")
        thousands = len(whole) - len(grouped) + decimals.count(",")
        return cls(grouped.replace(",", ""), decimals.rstrip(","), exponent, "," in grouped, thousands)

    @property
    def min_decimals(self) -> int:
        """The number of decimals that are shown even if they are zeros at the end."""
        return len(self.decimals.rstrip("#?"))


@lru_cache(1024)
def sections(format: str) -> tuple[Section, ...]:
    """Split a number format into its sections for positive numbers, negative numbers, zero and text, if present.

    >>> [part.kind for part in sections("m/d h:mm;@")[0]]
    ['month', 'other', 'day', 'other', 'hour', 'other', 'minute']
    """
    parts: list[list[FormatPart]] = [[]]
    for match in _PART.finditer(format[:255]):
        kind, text = match.lastgroup or "other", match.group()
        if text == ";":
            parts.append([])
        else:
            parts[-1].append(FormatPart(kind, text.strip("[]").lower() if kind in _CLOCK else text))
    return tuple(map(_with_minutes, parts))


def _with_minutes(parts: list[FormatPart]) -> Section:
    """Change the kind of "m" and "mm" after hours and before seconds, where they mean minutes."""
    clock = [index for index, part in enumerate(parts) if part.kind in _CLOCK]
    letters = f" {''.join(parts[index].text[0] for index in clock)} "
    for place, index in enumerate(clock):
        before, after = letters[place], letters[place + 2]
        if parts[index].kind == "month" and len(parts[index].text) < 3 and (before == "h" or after == "s"):
            parts[index] = FormatPart("minute", parts[index].text)
    return tuple(parts)


@lru_cache(4096)
def value_kind(format: str) -> Kind:
    """Return the type of value that a number format displays, such as "number" or "date".

    >>> [value_kind(code) for code in ("0.00", "dd/mm/yyyy", "h:mm AM/PM", "[h]:mm", '0 "days"')]
    ['number', 'date', 'time', 'duration', 'number']
    """
    kinds = {part.kind for part in sections(format)[0]}
    if "elapsed" in kinds:
        return "duration"
    if "general" in kinds:
        return "number"
    days, hours = kinds & {"year", "month", "day"}, kinds & {"hour", "minute", "second"}
    return "datetime" if days and hours else "date" if days else "time" if hours else "number"


# The number formats of dates and times in cells without a number format.
DATE, DATETIME, TIME, DURATION = "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", "hh:mm:ss", "[h]:mm:ss"

DEFAULTS: dict[type, str] = {date: DATE, datetime: DATETIME, time: TIME, timedelta: DURATION}

_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001  spreadsheets have no time zones
_EPOCH_1904 = datetime(1904, 1, 1)  # noqa: DTZ001
_LEAP_DAY_THAT_NEVER_WAS = 60
_MAX_SERIAL = 2_958_466


def from_serial(number: float, format: str, *, since_1904: bool = False) -> Value:
    """Convert a serial number to the date, time or duration that a format displays, or return the number unchanged.

    >>> from_serial(45_292, "yyyy-mm-dd"), from_serial(0.5, "hh:mm"), from_serial(1.5, "0.0")
    (datetime.date(2024, 1, 1), datetime.time(12, 0), 1.5)
    """
    kind = value_kind(format)
    if kind == "number" or not -_MAX_SERIAL < number < _MAX_SERIAL:
        return number
    if kind == "duration":
        return timedelta(milliseconds=round(number * 86_400_000))
    if number < 0:
        return number
    try:
        epoch = _EPOCH_1904 if since_1904 else _EPOCH
        shift = not since_1904 and 1 <= number < _LEAP_DAY_THAT_NEVER_WAS
        moment = epoch + timedelta(milliseconds=round((number + shift) * 86_400_000))
    except OverflowError:  # after the year 9999
        return number
    if 0 <= number < 1 and (kind == "time" or not since_1904):  # Excel shows the day 0 of January 1900
        return moment.time()
    return moment.date() if kind == "date" and moment.time() == time() else moment


def to_serial(value: date | datetime | time | timedelta) -> float | None:
    """Convert a date, time or duration to a serial number. Return None for a date before 1900.

    >>> to_serial(date(2024, 1, 1)), to_serial(time(12)), to_serial(date(1815, 12, 10))
    (45292, 0.5, None)
    """
    if isinstance(value, timedelta):
        return _int_if_whole(value / timedelta(days=1))
    if isinstance(value, time):
        return _int_if_whole((datetime.combine(_EPOCH, value) - _EPOCH) / timedelta(days=1))
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)  # noqa: DTZ001
    number = (moment - _EPOCH) / timedelta(days=1)
    if number <= _LEAP_DAY_THAT_NEVER_WAS:
        number -= 1
    return _int_if_whole(number) if number >= 1 else None


def _int_if_whole(number: float) -> float:
    return int(number) if number == int(number) else number
