"""Parsing and formatting of RFC 5545 DATE and DATE-TIME values (3.3.4 and 3.3.5)."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time

Start = date | datetime
"""The start of an event, which is a date if all-day and otherwise a date-time with a time zone."""

_DATE = re.compile(r"\d{8}")
_DATE_TIME = re.compile(r"\d{8}T\d{6}Z?")
_LAST_SECOND = time(23, 59, 59)


def is_all_day(start: Start) -> bool:
    """Return whether an event's start is a date."""
    return not isinstance(start, datetime)


def read_moment(text: str) -> Start:
    """Parse a DATE or DATE-TIME, as UTC if the text ends in Z, else without a zone. Raises ValueError if invalid."""
    try:
        if _DATE.fullmatch(text):
            return datetime.strptime(text, "%Y%m%d").replace(tzinfo=UTC).date()
        if _DATE_TIME.fullmatch(text):
            read = datetime.strptime(text[:15], "%Y%m%dT%H%M%S")  # noqa: DTZ007  the zone comes from elsewhere
            return read.replace(tzinfo=UTC) if text.endswith("Z") else read
    except ValueError:
        pass  # for example, month 13
    raise ValueError(f"{text[:30]!r} is not a date such as 20270212, or a date-time such as 20270212T090000Z")


def print_moment(moment: Start) -> str:
    """Format a date as DATE, or a date-time as DATE-TIME in UTC, with leading zeros in early years, unlike `%Y`.

    >>> print_moment(date(999, 12, 30)), print_moment(datetime(2026, 3, 10, 14, tzinfo=UTC))
    ('09991230', '20260310T140000Z')
    """
    if isinstance(moment, datetime):
        moment = moment.astimezone(UTC)
        return f"{print_moment(moment.date())}T{moment:%H%M%S}Z"
    return moment.isoformat().replace("-", "")


def until_day(day: date, start: Start) -> str:
    """Return the UNTIL value that includes a day, a date if `start` is a date, else the day's last second in UTC."""
    if is_all_day(start):
        return print_moment(day)
    try:
        return print_moment(datetime.combine(day, _LAST_SECOND, getattr(start, "tzinfo", None)))
    except OverflowError:  # the last valid date, in a zone west of UTC
        return print_moment(datetime.combine(day, _LAST_SECOND, UTC))
