"""IANA time zones, and the days on which their UTC offsets change."""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo
from difflib import get_close_matches
from functools import cache, lru_cache
from zoneinfo import ZoneInfo, available_timezones

UTC_NAME = "UTC"

_NOT_ZONES = frozenset({"Factory", "localtime", "posixrules"})
"""Names of files in the time zone database that are not time zones."""


@cache
def zone_names() -> tuple[str, ...]:
    """Return all IANA time zone names that a `timeZone` field may contain, in alphabetical order.

    >>> "Europe/Berlin" in zone_names(), "Mars/Olympus" in zone_names()
    (True, False)
    """
    return tuple(sorted(available_timezones() - _NOT_ZONES))


@cache
def _zone_name_set() -> frozenset[str]:
    return frozenset(zone_names())


def zone(name: str) -> ZoneInfo:
    """Return the time zone with an IANA name. Raises ValueError, which names similar names, for an unknown name.

    >>> zone("Europe/Berlin").key
    'Europe/Berlin'
    """
    if name not in _zone_name_set():
        near = get_close_matches(name[:60], zone_names(), n=2)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise ValueError(f"{name[:60]!r} is not a time zone of the IANA database, such as Europe/Berlin{hint}")
    return _zone(name)


@cache
def _zone(name: str) -> ZoneInfo:  # ZoneInfo's own cache has only weak references
    return ZoneInfo(name)


_STEP = 14
_LAST = date.max.toordinal()


@lru_cache(maxsize=4096)
def clock_changes(tz: tzinfo, year: int) -> tuple[int, ...]:
    """Return the days of a year, as ordinals, on which the UTC offset of a time zone changes.

    >>> [str(date.fromordinal(day)) for day in clock_changes(zone("Europe/Berlin"), 2027)]
    ['2027-03-28', '2027-10-31']
    """
    begin = datetime(year, 1, 1).toordinal()  # noqa: DTZ001  a day
    days: list[int] = []
    for first in range(begin, begin + 366, _STEP):  # no zone changes its clocks twice within two weeks
        days += _change(tz, first, first + _STEP)
    return tuple(days)


def _change(tz: tzinfo, first: int, last: int) -> list[int]:
    """Return the day in [first, last) on which the UTC offset changes, as a list that is empty without a change."""
    if _offset(tz, first) == _offset(tz, last):
        return []
    middle = (first + last) // 2
    return [first] if last - first == 1 else _change(tz, first, middle) + _change(tz, middle, last)


def _offset(tz: tzinfo, day: int) -> timedelta | None:
    return datetime.fromordinal(min(day, _LAST)).replace(tzinfo=tz).utcoffset()
