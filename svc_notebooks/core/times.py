"""The clock protocol, conversions between times and the formats of the interface, and IANA time zones."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta, tzinfo
from difflib import get_close_matches
from functools import cache, lru_cache, partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple, Protocol
from zoneinfo import TZPATH, ZoneInfo, available_timezones

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


# Maps the names of Windows time zones to the IANA names that the Unicode CLDR gives for them.
WINDOWS_ZONES: dict[str, str] = json.loads((files(__package__) / "windows_zones.json").read_text("utf-8"))

UTC_NAME = "UTC"

# Names of files in the time zone database that are not time zones.
_NOT_ZONES = frozenset({"Factory", "localtime", "posixrules"})


_IANA_OF = {windows.lower(): name for windows, name in WINDOWS_ZONES.items()}


@cache
def zone_names() -> tuple[str, ...]:
    """Return all IANA time zone names that a `timeZone` field may contain, in alphabetical order.

    >>> "Europe/Berlin" in zone_names(), "Mars/Olympus" in zone_names()
    (True, False)
    """
    return tuple(sorted(available_timezones() - _NOT_ZONES))


@lru_cache(maxsize=1024)  # ZoneInfo's own cache has only weak references
def zone(name: str) -> ZoneInfo:
    """Return the time zone with an IANA name. Raises ValueError, which names similar names, for an unknown name.

    For the name of a Windows time zone, the error has the IANA name that the Unicode CLDR gives for it.

    >>> zone("Europe/Berlin").key
    'Europe/Berlin'
    """
    if name not in zone_names():
        windows = _IANA_OF.get(name.lower())
        spelled = name.strip().replace(" ", "_").lower()
        same = [windows] if windows else [known for known in zone_names() if known.lower() == spelled]
        cities = [known for known in zone_names() if known.lower().endswith(f"/{spelled}")]
        near = same or cities[:2] or get_close_matches(name[:60], zone_names(), n=2)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise ValueError(f"{name[:60]!r} is not a time zone of the IANA database, such as Europe/Berlin{hint}")
    return ZoneInfo(name)


_OFFSET_NAME = re.compile(
    r"\(?(?:(?:UTC|GMT)\s*)?(?:([+-])(\d{1,2})(?:[:.]?(\d\d))?)?(?:\s*\)|$)\s*(.*)", re.ASCII | re.IGNORECASE
)
# The zones of regions in the display names of Windows that no IANA name contains.
_REGIONS = {
    "baja california": "America/Tijuana",
    "coordinated universal time": UTC_NAME,
    "greenland": "America/Godthab",
    "haiti": "America/Port-au-Prince",
    "indiana (east)": "America/Indianapolis",
    "turks and caicos": "America/Grand_Turk",
}


def zone_of_name(name: str) -> str | None:
    """Return the IANA name of the time zone that another program means by a name, or None if it is not known.

    The name may be an IANA name, also behind a prefix, the name of a Windows time zone, a display name of Windows in
    any language that names a city of the IANA database, or a UTC offset.

    >>> zone_of_name("/mozilla.org/20070129_1/Europe/Berlin"), zone_of_name("(UTC-05:00) Eastern Time (US & Canada)")
    ('Europe/Berlin', 'America/New_York')
    >>> zone_of_name("(UTC+01:00) Amsterdam, Berlin, Bern, Rom, Stockholm, Wien"), zone_of_name("GMT+0200")
    ('Europe/Berlin', 'Etc/GMT-2')
    """
    text = name.strip().strip('"').lower()
    ends = [*("/".join(text.split("/")[-size:]) for size in (len(text), 3, 2, 1)), text.replace("-", "/")]
    if known := next((names[end] for end in ends for names in (_iana_names(), _IANA_OF) if end in names), None):
        return known
    match = _OFFSET_NAME.match(text)
    if not match or match[1] is None:
        return _zone_of_words(match[4] if match else text, None)
    offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0)) * (-1 if match[1] == "-" else 1)
    return _zone_of_words(match[4], offset) or _zone_of_offset(offset)


def _zone_of_words(words: str, offset: timedelta | None) -> str | None:
    """Return the zone of a region or the largest of several cities, of those with this offset outside of summer."""
    plain = re.sub(r"\(.*?\)|\bcity of\b|\bislands?\b|\btime\b", "", words)
    keys = [re.sub(r"[\s_.]", "", key) for key in re.split(r",|;|/| and ", plain)]
    names = [_REGIONS.get(words), _IANA_OF.get(f"{plain.strip()} standard time"), *map(_cities().get, keys)]
    fit = [name for name in names if name and offset in (None, *_offsets_of_year(name))]
    return next((name for name in fit if name in _IANA_OF.values()), fit[0] if fit else None)


def _offsets_of_year(name: str) -> set[timedelta | None]:
    return {_offset(zone(name), date(_CURRENT_YEAR, month, 15).toordinal()) for month in (1, 7)}


def _zone_of_offset(offset: timedelta) -> str | None:
    """Return a zone that always has a UTC offset: UTC, one of Etc/, or that of a large region."""
    hours = offset // timedelta(hours=1)
    names = (
        UTC_NAME if not offset else f"Etc/GMT{-hours:+}" if offset % timedelta(hours=1) == timedelta() else None,
        *WINDOWS_ZONES.values(),
    )
    return next((name for name in names if name in zone_names() and _offsets_of_year(name) == {offset}), None)


_CURRENT_YEAR = 2026  # the year whose offsets belong to the display names of Windows


@cache
def _iana_names() -> dict[str, str]:
    return {name.lower(): name for name in zone_names()}


@cache
def _cities() -> dict[str, str]:
    """Return a dict from the city or the region at the end of an IANA name to the name, in lower case."""
    names = sorted(zone_names(), key=lambda name: (name in _IANA_OF.values(), name.count("/") == 1))
    return {re.sub(r"[_.]", "", name.rpartition("/")[2]).lower(): name for name in names if "/" in name}


# The days between two offsets that are compared. The nearest two changes of any zone are 4 days apart (Freetown in
# 1939), and 7 days in later years (Recife in 2000).
_STEP = 3
_LAST = date.max.toordinal()
_LISTED = 2100  # A year after which the database has no single changes, but only rules for each year
_CYCLE, _CYCLE_DAYS = 400, 146_097  # the years after which the calendar repeats, and their days


@lru_cache(maxsize=4096)
def clock_changes(tz: tzinfo, year: int) -> tuple[int, ...]:
    """Return the days of a year, as ordinals, on which the UTC offset of a time zone changes.

    >>> [str(date.fromordinal(day)) for day in clock_changes(zone("Europe/Berlin"), 2027)]
    ['2027-03-28', '2027-10-31']
    """
    if cycles := max(0, (year - _LISTED) // _CYCLE):
        return tuple(day + cycles * _CYCLE_DAYS for day in clock_changes(tz, year - cycles * _CYCLE))
    begin = datetime(year, 1, 1).toordinal()  # noqa: DTZ001  a day
    days: list[int] = []
    for first in range(begin, begin + 366, _STEP):
        days += _change(tz, first, first + _STEP)
    return tuple(days)


@lru_cache(maxsize=4096)
def skipped_times(tz: tzinfo, year: int) -> tuple[tuple[datetime, timedelta], ...]:
    """Return the gaps in the local times of a year, each as its first local time and its length.

    >>> skipped_times(zone("Europe/Berlin"), 2027)
    ((datetime.datetime(2027, 3, 28, 2, 0), datetime.timedelta(seconds=3600)),)
    """
    gaps: list[tuple[datetime, timedelta]] = []
    for day in clock_changes(tz, year):
        before, after = _offset(tz, day), _offset(tz, day + 1)
        if after > before:
            second = bisect_left(range(24 * 3600), after, key=partial(_later_offset, tz, day))
            gaps.append((datetime.fromordinal(day) + timedelta(seconds=second), after - before))
    return tuple(gaps)


def skips_day(tz: tzinfo, first: int, last: int) -> bool:
    """Return whether the clock of a time zone skips a whole day between two days, given as ordinals.

    >>> skips_day(zone("Pacific/Apia"), date(2011, 12, 29).toordinal(), date(2011, 12, 31).toordinal())
    True
    """
    return _offset(tz, last) - _offset(tz, first) > timedelta(hours=12)


def _later_offset(tz: tzinfo, day: int, second: int) -> timedelta:
    """Return the UTC offset at a second of a day. In a gap, this is the offset after the gap."""
    clock = datetime.fromordinal(day) + timedelta(seconds=second)
    return clock.replace(tzinfo=tz, fold=1).utcoffset() or timedelta()


def _change(tz: tzinfo, first: int, last: int) -> list[int]:
    """Return the day in [first, last) on which the UTC offset changes, as a list that is empty without a change."""
    if _offset(tz, first) == _offset(tz, last):
        return []
    middle = (first + last) // 2
    return [first] if last - first == 1 else _change(tz, first, middle) + _change(tz, middle, last)


def _offset(tz: tzinfo, day: int) -> timedelta:
    return datetime.fromordinal(min(day, _LAST)).replace(tzinfo=tz).utcoffset() or timedelta()


@lru_cache(maxsize=64)
def nearest_zone(tz: tzinfo, year: int, preferred: str | None = None) -> tuple[str, bool]:
    """Return the IANA name of the time zone that is most like `tz` in a year, and whether its offsets are equal.

    This is `preferred` if it has the same offsets in winter and in summer. Otherwise it is the zone with the offsets
    and clock changes of `tz` in two years, or else the zone whose offsets in the year are nearest. Of several zones, it
    is the one with most offsets of `tz` in thirty years. Of these it is a zone of the United States, or the one with
    the shortest name in Windows, which is often that of the largest region.

    >>> from datetime import timezone
    >>> nearest_zone(timezone(timedelta(hours=5, minutes=45)), 2026)
    ('Asia/Katmandu', True)
    >>> nearest_zone(timezone(timedelta(hours=5, minutes=50)), 2026)
    ('Asia/Katmandu', False)
    """
    year = min(year, date.max.year - 2)
    if preferred and all(_offset(zone(preferred), day) == _offset(tz, day) for day in _middles(year, (1, 7))):
        return preferred, clock_changes(zone(preferred), year) == clock_changes(tz, year)
    large = [WINDOWS_ZONES[name] for name in sorted(WINDOWS_ZONES, key=len)]
    names = [*_UNITED_STATES, *(name for name in large if name in zone_names()), *zone_names()]
    days = _middles(year) + _middles(year + 1)
    offsets = [_offset(tz, day) for day in days]
    changes = [clock_changes(tz, at) for at in (year, year + 1)]
    same = [name for name in names if [_offset(zone(name), day) for day in days] == offsets]
    same = [name for name in same if [clock_changes(zone(name), at) for at in (year, year + 1)] == changes]
    alike = same or _nearest(tz, range(days[0], days[12], _STEP), names)
    days = [day for at in range(year, min(year + 30, date.max.year)) for day in _middles(at)]
    return max(alike, key=lambda name: sum(_offset(zone(name), day) == _offset(tz, day) for day in days)), bool(same)


# The zones that come before others with the same offsets, such as that of Haiti, whose Windows name is shorter.
_UNITED_STATES = ("America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles")


def _nearest(tz: tzinfo, days: Iterable[int], names: Iterable[str]) -> list[str]:
    """Return the zones whose offsets on these days are nearest to those of `tz`."""
    offsets = {day: _offset(tz, day) for day in days}
    differences = {
        name: sum((abs(_offset(zone(name), day) - offset) for day, offset in offsets.items()), timedelta())
        for name in names
    }
    smallest = min(differences.values())
    return [name for name, difference in differences.items() if difference == smallest]


def _middles(year: int, months: Iterable[int] = range(1, 13)) -> list[int]:
    return [date(year, month, 15).toordinal() for month in months]


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
