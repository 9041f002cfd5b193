"""The clock protocol, and conversions between times or durations and the formats of the interface."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Protocol

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_SHORT = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])", re.ASCII)
_ISO = re.compile(
    r"P(?:(?P<w>\d+)W)?(?:(?P<d>\d+)D)?"
    r"(?:T(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?",
    re.ASCII,
)
_RFC3339 = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class Clock(Protocol):
    """A source of the current time, which is the system clock or a clock that a notebook advances."""

    def now(self) -> datetime:
        """Return the current time, with a time zone."""


def to_millis(instant: datetime) -> int:
    """Convert a time to whole Unix milliseconds, without the rounding errors of a float."""
    return (instant - _EPOCH) // _MILLISECOND


def from_millis(millis: int) -> datetime:
    """Convert Unix milliseconds to a UTC time."""
    return _EPOCH + millis * _MILLISECOND


def format_time(instant: datetime) -> str:
    """Format a time as RFC 3339 text in UTC with milliseconds.

    >>> format_time(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    '2026-01-02T03:04:05.000Z'
    """
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_time(text: str) -> datetime:
    """Parse RFC 3339 text, in UTC if it has no offset. Raises ValueError if invalid or outside of the years 1 to 9999.

    >>> parse_time("2026-01-02T04:04:05+01:00") == parse_time("2026-01-02T03:04:05.000Z")
    True
    """
    if not _RFC3339.fullmatch(text):
        raise ValueError(f"{text!r} is not an RFC 3339 date-time; write it as 2026-01-02T03:04:05Z")
    instant = datetime.fromisoformat(text.upper())
    if instant.tzinfo is None:
        return instant.replace(tzinfo=UTC)
    try:
        instant.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text!r} is outside of the years 1 to 9999 in UTC") from None
    return instant


def parse_duration(value: str | float | timedelta) -> timedelta:
    """Convert seconds, a number with a unit of `s m h d w`, or ISO 8601 to a timedelta. Raises ValueError if invalid.

    >>> parse_duration("8d"), parse_duration(90), parse_duration("PT1H30M")
    (datetime.timedelta(days=8), datetime.timedelta(seconds=90), datetime.timedelta(seconds=5400))
    """
    if isinstance(value, timedelta):
        return value
    try:
        return timedelta(seconds=_parse_seconds(value.strip()) if isinstance(value, str) else value)
    except OverflowError:
        raise ValueError(f"{value!r} is longer than 9999 years") from None


def _parse_seconds(text: str) -> float:
    if short := _SHORT.fullmatch(text):
        return float(short[1]) * _UNITS[short[2]]
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    iso = _ISO.fullmatch(text)
    if iso and any(iso.groupdict().values()):
        return sum(float(n) * _UNITS[unit] for unit, n in iso.groupdict().items() if n)
    raise ValueError(f"{text!r} is not a duration; write seconds (90), a number with s, m, h, d or w (7d), or PT1H")
