"""Converts between dates and the serial numbers of spreadsheets, which count days since 1900 (or 1904)."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Literal

from .model import Value

Kind = Literal["number", "date", "datetime", "time", "duration"]

DATE, DATETIME, TIME, DURATION = "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", "hh:mm:ss", "[h]:mm:ss"
"""The number formats of dates and times in cells without a number format."""

DEFAULTS: dict[type, str] = {date: DATE, datetime: DATETIME, time: TIME, timedelta: DURATION}

_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001  spreadsheets have no time zones
_EPOCH_1904 = datetime(1904, 1, 1)  # noqa: DTZ001
_LEAP_DAY_THAT_NEVER_WAS = 60
_MAX_SERIAL = 2_958_466
_LITERALS = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)


@lru_cache(4096)
def value_kind(format: str) -> Kind:
    """Return the type of value that a number format displays, such as "number" or "date".

    >>> [value_kind(code) for code in ("0.00", "dd/mm/yyyy", "h:mm AM/PM", "[h]:mm", '0 "days"')]
    ['number', 'date', 'time', 'duration', 'number']
    """
    first = _LITERALS.sub("", format.split(";")[0]).lower()
    if _ELAPSED.search(first):
        return "duration"
    if "general" in first:
        return "number"
    days = bool(re.search("[yd]|mmm", first)) or ("m" in first and not re.search("[hs]", first))
    hours = bool(re.search("[hs]", first))
    return "datetime" if days and hours else "date" if days else "time" if hours else "number"


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
    if 0 <= number < 1 and kind == "time":
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
