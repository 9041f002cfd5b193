"""Reads dates and times in all forms that a user may write: values of Python, pandas and numpy, ISO 8601 and words."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import Any

from .durations import parse_duration
from .time_zones import zone

_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_FORMS = "write a date as 2026-11-02, a time as 2026-11-02 10:00, or 'today', 'tomorrow 10:00' or '7 days ago'"


def python_time(argument: str, value: object) -> date | datetime:
    """Convert a str, datetime64, date, datetime or Timestamp to a date or datetime. Raises TypeError or ValueError."""
    if isinstance(value, str):
        with suppress(ValueError):
            return date.fromisoformat(value.strip())  # also 20261102
        try:
            return datetime.fromisoformat(value.strip())
        except ValueError:
            raise ValueError(f"{argument} is {value!r:.80}; {_FORMS}") from None
    if hasattr(value, "tolist") and type(value).__module__ == "numpy":
        moment: Any = value  # a datetime64
        value = moment.item() if moment.dtype == "datetime64[D]" else moment.astype("datetime64[us]").item()
    if not isinstance(value, date):
        raise TypeError(f"{argument} must be a date, a datetime, a Timestamp or a str, not {type(value).__name__}")
    if value != value:  # pandas' NaT, which is a datetime
        raise ValueError(f"{argument} is missing (NaT)")
    return value


def without_words(value: Any, now: datetime, time_zone: str | None = None) -> Any:
    """Replace words by the date or the time in a time zone for which they stand. Return any other value unchanged.

    The words are "yesterday", "today" and "tomorrow", which a time may follow, "now", "7 days ago" and "in 2 hours".

    >>> without_words("tomorrow 10:00", datetime(2026, 11, 2, 23, 30, tzinfo=UTC), "Europe/Berlin")
    '2026-11-04 10:00'
    """
    text = value.strip().lower() if isinstance(value, str) else ""
    word, _, rest = text.partition(" ")
    local = now.astimezone(zone(time_zone or "UTC")) if text else now
    if word in _DAYS:
        return f"{local.date() + timedelta(days=_DAYS[word])} {rest}".strip()
    with suppress(ValueError, OverflowError):
        if text == "now":
            return local
        if text.endswith(" ago"):
            return local - parse_duration(text.removesuffix("ago"))
        if word == "in":
            return local + parse_duration(rest)
    return value


def instant_of(argument: str, value: object, now: datetime) -> datetime:
    """Convert a time, a date (its midnight), words, or a timedelta before `now` to an instant.

    Times without a zone, and dates, are in UTC. Raises TypeError or ValueError, which names the argument.

    >>> instant_of("modified_after", "yesterday", datetime(2026, 11, 2, 10, tzinfo=UTC)).isoformat()
    '2026-11-01T00:00:00+00:00'
    """
    try:
        moment = now - value if isinstance(value, timedelta) else python_time(argument, without_words(value, now))
        if not isinstance(moment, datetime):
            return datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    except OverflowError:
        raise ValueError(f"{argument} is {value!r:.80}, which is before the year 1") from None
