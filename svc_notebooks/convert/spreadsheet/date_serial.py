"""Converts between dates and the serial numbers of spreadsheets, which count days since 1900 (or 1904)."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

from .format_code import value_kind
from .model import Value

DATE, DATETIME, TIME, DURATION = "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", "hh:mm:ss", "[h]:mm:ss"
"""The number formats of dates and times in cells without a number format."""

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
