"""Tests of the time zones: the changes of all installed zone data, names of Windows, and where the data come from."""

import struct
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from zoneinfo import TZPATH

import pytest
from babel.core import get_global

from svc_notebooks.core.events.instances import occurrences
from svc_notebooks.core.events.rrule import Recurrence
from svc_notebooks.core.time_zones import (
    ZoneData,
    clock_changes,
    nearest_zone,
    zone,
    zone_data,
    zone_names,
    zone_of_name,
    zone_of_windows,
)
from svc_notebooks.core.windows_zones import WINDOWS_ZONES
from svc_notebooks.notebook.doctor import _time_zones

HEADER = struct.Struct(">4sc15x6l")
DAY = 86400
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _changes(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield the instants at which the UTC offset changes, and the new offsets, of a TZif file (RFC 8536)."""
    _, _, utc, standard, leaps, times, types, letters = HEADER.unpack_from(content)
    second = HEADER.size + times * 5 + types * 6 + letters + leaps * 8 + standard + utc
    times, types = HEADER.unpack_from(content, second)[5:7]
    begin = second + HEADER.size
    instants = struct.unpack_from(f">{times}q", content, begin)
    indices = content[begin + 8 * times : begin + 9 * times]
    offsets = [struct.unpack_from(">l", content, begin + 9 * times + 6 * index)[0] for index in range(types)]
    before = offsets[0]
    for moment, index in zip(instants, indices, strict=True):
        if offsets[index] != before:
            before = offsets[index]
            yield moment, before


def _near_changes() -> Iterator[tuple[float, str, date]]:
    """Yield the days between two changes, the zone and the second change, if the changes are within four weeks."""
    for root in [*map(Path, TZPATH), files("tzdata") / "zoneinfo"]:
        for name in zone_names():
            path = root.joinpath(*name.split("/"))
            moments = [moment for moment, _ in _changes(path.read_bytes())] if path.is_file() else []
            for first, second in pairwise(moments):
                if second - first < 28 * DAY:
                    yield (second - first) / DAY, name, (EPOCH + timedelta(seconds=second)).date()


def test_no_change_is_missed_between_two_offsets_that_are_compared():
    near = set(_near_changes())

    assert {name for days, name, day in near if day.year == 2000 and days < 8} >= {"America/Recife"}
    assert min(near)[0] > 3.1, "two changes in three days: make _STEP in time_zones.py smaller"


@pytest.mark.parametrize("name", ["America/Recife", "America/Noronha", "America/Boa_Vista"])
def test_two_changes_within_a_fortnight_are_found(name: str):
    changes = [date.fromordinal(day) for day in clock_changes(zone(name), 2000)]

    assert changes == [date(2000, 2, 26), date(2000, 10, 8), date(2000, 10, 14)]


@pytest.mark.parametrize(
    "name, day",
    [("America/Recife", "2000-10-07"), ("America/Boa_Vista", "2000-10-07"), ("Asia/Gaza", "2054-03-27")],
)
@pytest.mark.parametrize("minute", [0, 30])
def test_an_instance_is_never_listed_twice(name: str, day: str, minute: int):
    start = datetime.fromisoformat(day).replace(minute=minute, tzinfo=zone(name))
    rule = Recurrence.parse(["RRULE:FREQ=HOURLY;COUNT=400"], start)

    starts = [instance.start.astimezone(UTC) for instance in occurrences(rule, start, start + timedelta(hours=1))]

    assert len(starts) == len(set(starts)) > 390


@pytest.mark.parametrize("name", ["UTC", "Pacific/Apia", "Pacific/Kwajalein", "America/New_York", "Asia/Gaza"])
def test_the_days_of_a_series_do_not_depend_on_the_zone_of_the_calendar(name: str):
    first = date(2011, 12, 28)
    rule = Recurrence.parse(["RRULE:FREQ=DAILY;COUNT=5", "EXDATE;VALUE=DATE:20111229"], first)

    days = [instance.start.day for instance in occurrences(rule, first, first + timedelta(days=1), zone=zone(name))]

    assert days == [28, 30, 31, 1]


@pytest.mark.parametrize("name", ["UTC", "Pacific/Apia", "America/New_York", "Asia/Tokyo"])
def test_a_window_compares_the_days_of_a_series_in_the_zone_of_the_calendar(name: str):
    tz, first = zone(name), date(2026, 3, 1)
    rule = Recurrence.parse(["RRULE:FREQ=DAILY"], first)
    after, before = datetime(2026, 3, 7, 12, tzinfo=tz), datetime(2026, 3, 10, tzinfo=tz)

    def days(after: datetime, before: datetime) -> list[int]:
        instances = occurrences(rule, first, first + timedelta(days=1), zone=tz, after=after, before=before)
        return [instance.start.day for instance in instances]

    second = timedelta(seconds=1)
    assert days(after, before) == [7, 8, 9]
    assert days(after, before + second) == [7, 8, 9, 10]
    assert days(datetime(2026, 3, 8, tzinfo=tz), before) == [8, 9]
    assert days(datetime(2026, 3, 8, tzinfo=tz) - second, before) == [7, 8, 9]


def test_the_name_of_a_windows_zone_is_refused_with_the_name_in_the_cldr():
    with pytest.raises(ValueError, match=r"did you mean Europe/Berlin\?"):
        zone("W. Europe Standard Time")
    with pytest.raises(ValueError, match=r"did you mean America/New_York\?"):
        zone("eastern standard time")


@pytest.mark.parametrize("name", ["america/new_york", "AMERICA/NEW_YORK", " America/New York"])
def test_a_name_in_another_spelling_is_refused_with_the_right_one(name):
    with pytest.raises(ValueError, match=r"did you mean America/New_York\?"):
        zone(name)


def test_the_zone_of_a_windows_name_is_that_of_the_cldr():
    mapping = get_global("windows_zone_mapping")

    assert {name: zone_of_windows(name.upper()) for name in mapping} == {**mapping, "UTC": None}
    assert zone_of_windows("Europe/Berlin") is None


@pytest.mark.parametrize(
    "name, found",
    [
        ("europe/berlin ", "Europe/Berlin"),
        ("/freeassociation.sourceforge.net/Tzfile/America/Argentina/Salta", "America/Argentina/Salta"),
        ("tzone://Microsoft/Utc", "UTC"),
        ("US-Eastern", "US/Eastern"),
        ("(UTC) Dublin, Edinburgh, Lisbon, London", "Europe/London"),
        ("(UTC+01:00) Bruxelles, Copenhague, Madrid, Paris", "Europe/Paris"),
        ("(GMT+01.00) Bern / Rome", "Europe/Rome"),
        ("(UTC-06:00) Central Time (US & Canada)", "America/Chicago"),
        ("(UTC-03:00) City of Buenos Aires", "America/Buenos_Aires"),
        ("(UTC-08:00) Baja California", "America/Tijuana"),
        ("(UTC-04:00) Georgetown, La Paz, Manaus, San Juan", "America/La_Paz"),
        ("(UTC+10:30) Lord Howe Island", "Australia/Lord_Howe"),
        ("(UTC+05:30) Nowhere", "Asia/Calcutta"),
        ("(UTC-02:00) Nowhere", "Etc/GMT+2"),
        ("GMT", "GMT"),
        ("(UTC+00:00)", "UTC"),
        ("(UTC+01:00) Tokyo", "Etc/GMT-1"),
        ("Customized Time Zone", None),
        ("", None),
    ],
)
def test_the_zone_that_another_program_means_is_found(name: str, found: str | None):
    assert zone_of_name(name) == found


def test_the_names_of_windows_zones_are_those_of_the_cldr():
    assert dict(get_global("windows_zone_mapping")) == {**WINDOWS_ZONES, "UTC": "Etc/UTC"}
    assert set(WINDOWS_ZONES.values()) <= set(zone_names())


def test_the_version_of_the_package_is_known():
    import tzdata

    assert zone_data().package_version == tzdata.IANA_VERSION


@pytest.mark.parametrize(
    "data, status, source",
    [
        (ZoneData(Path("/zones"), "2025b", "2026f"), "note", "2025b of the system in /zones"),
        (ZoneData(Path("/zones"), "2026f", "2026f"), "ok", "2026f of the system in /zones"),
        (ZoneData(Path("/zones"), None, "2026f"), "ok", "unknown version of the system in /zones"),
        (ZoneData(None, None, "2026f"), "ok", "2026f of the package tzdata"),
        (ZoneData(None, None, None), "problem", "no data"),
    ],
)
def test_the_doctor_says_which_zone_data_python_uses(data: ZoneData, status: str, source: str):
    row = _time_zones(data)

    assert row[1:3] == (source, status)
    assert status != "note" or "tzdata has 2026f, but Python uses the system's data" in row[3]


def test_the_nearest_zone_keeps_the_offsets_of_later_years():
    """In 2006 Grand Turk, which is the first by name, had the clock of New York, and in 2017 another."""
    assert nearest_zone(zone("America/New_York"), 2006) == ("America/New_York", True)
    assert nearest_zone(zone("America/New_York"), 2020) == ("America/New_York", True)
    assert nearest_zone(timezone(timedelta(hours=1)), 2026, "Europe/Berlin") == ("Africa/Lagos", True)
    assert nearest_zone(timezone(timedelta(minutes=1)), 2026)[1] is False
