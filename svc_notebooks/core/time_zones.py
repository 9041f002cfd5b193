"""IANA time zones, and the days on which their UTC offsets change."""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple
from zoneinfo import TZPATH, ZoneInfo, available_timezones

from .windows_zones import WINDOWS_ZONES

UTC_NAME = "UTC"

_NOT_ZONES = frozenset({"Factory", "localtime", "posixrules"})
"""Names of files in the time zone database that are not time zones."""


_IANA_OF = {windows.lower(): name for windows, name in WINDOWS_ZONES.items()}


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

    For the name of a Windows time zone, the error has the IANA name that the Unicode CLDR gives for it.

    >>> zone("Europe/Berlin").key
    'Europe/Berlin'
    """
    if name not in _zone_name_set():
        windows = zone_of_windows(name)
        near = [windows] if windows else get_close_matches(name[:60], zone_names(), n=2)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise ValueError(f"{name[:60]!r} is not a time zone of the IANA database, such as Europe/Berlin{hint}")
    return _zone(name)


def zone_of_windows(name: str) -> str | None:
    """Return the IANA name that the Unicode CLDR gives for the name of a Windows time zone, or None for other names.

    >>> zone_of_windows("W. Europe Standard Time")
    'Europe/Berlin'
    """
    return _IANA_OF.get(name.lower())


@cache
def _zone(name: str) -> ZoneInfo:  # ZoneInfo's own cache has only weak references
    return ZoneInfo(name)


_STEP = 3
"""The days between two offsets that are compared. The nearest two changes of any zone are 4 days apart (Freetown in
1939), and 7 days in later years (Recife in 2000)."""
_LAST = date.max.toordinal()


@lru_cache(maxsize=4096)
def clock_changes(tz: tzinfo, year: int) -> tuple[int, ...]:
    """Return the days of a year, as ordinals, on which the UTC offset of a time zone changes.

    >>> [str(date.fromordinal(day)) for day in clock_changes(zone("Europe/Berlin"), 2027)]
    ['2027-03-28', '2027-10-31']
    """
    begin = datetime(year, 1, 1).toordinal()  # noqa: DTZ001  a day
    days: list[int] = []
    for first in range(begin, begin + 366, _STEP):
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


@lru_cache(maxsize=64)
def has_offsets_of(tz: tzinfo, other: tzinfo, year: int) -> bool:
    """Return whether two time zones have the same UTC offset in the middle of each month of a year.

    >>> has_offsets_of(zone("Europe/Berlin"), zone("Europe/Paris"), 2026)
    True
    """
    days = [date(year, month, 15).toordinal() for month in range(1, 13)]
    return all(_offset(tz, day) == _offset(other, day) for day in days)


@lru_cache(maxsize=64)
def equivalent_zone(tz: tzinfo, year: int) -> str | None:
    """Return the IANA name of a time zone that has the offsets and clock changes of `tz` in two years, or None.

    Of several zones, it is the one with most offsets of `tz` in thirty years. Of these it is the one with the shortest
    name in Windows, which is that of the largest region: New York is "Eastern Standard Time", Indianapolis "US Eastern
    Standard Time".

    >>> from datetime import timezone
    >>> equivalent_zone(timezone(timedelta(hours=5, minutes=45)), 2026)
    'Asia/Katmandu'
    """
    years = range(year, min(year + 30, date.max.year))
    days = [date(at, month, 15).toordinal() for at in years for month in range(1, 13)]
    offsets = {day: _offset(tz, day) for day in days}
    changes = [clock_changes(tz, at) for at in years[:2]]
    large = [WINDOWS_ZONES[name] for name in sorted(WINDOWS_ZONES, key=len)]
    names = [*(name for name in large if name in _zone_name_set()), *zone_names()]
    same = [name for name in names if all(_offset(zone(name), day) == offsets[day] for day in days[:24])]
    same = [name for name in same if [clock_changes(zone(name), at) for at in years[:2]] == changes]
    return max(same, key=lambda name: sum(_offset(zone(name), day) == offsets[day] for day in days), default=None)


class ZoneData(NamedTuple):
    """The sources of time zone data. `folder` of the system is None if the system has no data, which then come from
    the package tzdata. A version such as "2026a" is None if it is unknown."""

    folder: Path | None
    system_version: str | None
    package_version: str | None


def zone_data() -> ZoneData:
    """Return where Python finds time zones: in the first folder of `zoneinfo.TZPATH` with data, then in tzdata."""
    folder = next((Path(path) for path in TZPATH if (Path(path) / "Europe" / "Berlin").exists()), None)
    try:
        package = _zone_data_version(files("tzdata") / "zoneinfo")
    except ModuleNotFoundError:
        package = None
    return ZoneData(folder, _zone_data_version(folder) if folder else None, package)


def _zone_data_version(folder: Traversable) -> str | None:
    """Return the version in the first line of `tzdata.zi`, such as "# version 2026a", or None without this file."""
    try:
        with (folder / "tzdata.zi").open("r", encoding="utf-8") as lines:
            first_line = lines.readline()
    except (OSError, UnicodeError):
        return None
    return first_line.removeprefix("# version ").strip() if first_line.startswith("# version ") else None
