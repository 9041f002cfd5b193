"""The clock protocol, and conversions between times and the formats of the interface."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Protocol

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


def format_millis(millis: int) -> str:
    """Format Unix milliseconds as `format_time` does.

    >>> format_millis(0)
    '1970-01-01T00:00:00.000Z'
    """
    return (_EPOCH + millis * _MILLISECOND).isoformat(timespec="milliseconds").replace("+00:00", "Z")


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
        raise ValueError(f"{text!r} is not an RFC 3339 date-time such as 2026-01-02T03:04:05Z")
    instant = datetime.fromisoformat(text.upper())
    if instant.tzinfo is None:
        return instant.replace(tzinfo=UTC)
    try:
        instant.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text!r} is outside the years 1 to 9999 (UTC)") from None
    return instant
