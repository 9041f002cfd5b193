from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from babel.core import get_global
from hypothesis import given, strategies as st

from svc_notebooks.core.events.event_times import TimeError, print_time, read_time
from svc_notebooks.core.events.instances import occurrences
from svc_notebooks.core.events.rrule import Recurrence
from svc_notebooks.core.times import clock_changes, nearest_zone, zone, zone_names, zone_of_name


@pytest.mark.parametrize(
    "name, day", [("America/Recife", "2000-10-07"), ("America/Boa_Vista", "2000-10-07"), ("Asia/Gaza", "2054-03-27")]
)
@pytest.mark.parametrize("minute", [0, 30])
def test_an_instance_is_never_listed_twice(name, day, minute):
    start = datetime.fromisoformat(day).replace(minute=minute, tzinfo=zone(name))
    rule = Recurrence.parse(["RRULE:FREQ=HOURLY;COUNT=400"], start)

    starts = [instance.start.astimezone(UTC) for instance in occurrences(rule, start, start + timedelta(hours=1))]

    assert len(starts) == len(set(starts)) > 390


@pytest.mark.parametrize("name", ["UTC", "Pacific/Apia", "Pacific/Kwajalein", "America/New_York", "Asia/Gaza"])
def test_the_days_of_a_series_do_not_depend_on_the_zone_of_the_calendar(name):
    first = date(2011, 12, 28)
    rule = Recurrence.parse(["RRULE:FREQ=DAILY;COUNT=5", "EXDATE;VALUE=DATE:20111229"], first)

    days = [instance.start.day for instance in occurrences(rule, first, first + timedelta(days=1), zone=zone(name))]

    assert days == [28, 30, 31, 1]


@pytest.mark.parametrize("name", ["UTC", "Pacific/Apia", "America/New_York", "Asia/Tokyo"])
def test_a_window_compares_the_days_of_a_series_in_the_zone_of_the_calendar(name):
    tz, first = zone(name), date(2026, 3, 1)
    rule = Recurrence.parse(["RRULE:FREQ=DAILY"], first)
    after, before = datetime(2026, 3, 7, 12, tzinfo=tz), datetime(2026, 3, 10, tzinfo=tz)

    def days(after, before):
        instances = occurrences(rule, first, first + timedelta(days=1), zone=tz, after=after, before=before)
        return [instance.start.day for instance in instances]

    second = timedelta(seconds=1)
    assert days(after, before) == [7, 8, 9]
    assert days(after, before + second) == [7, 8, 9, 10]
    assert days(datetime(2026, 3, 8, tzinfo=tz), before) == [8, 9]
    assert days(datetime(2026, 3, 8, tzinfo=tz) - second, before) == [7, 8, 9]


NEW_YORK = ("eastern standard time", "america/new_york", "AMERICA/NEW_YORK", " America/New York")


@pytest.mark.parametrize(
    "name, meant", [("W. Europe Standard Time", "Europe/Berlin"), *((name, "America/New_York") for name in NEW_YORK)]
)
def test_another_spelling_and_the_name_of_a_windows_zone_are_refused_with_the_right_name(name, meant):
    with pytest.raises(ValueError, match=rf"did you mean {meant}\?"):
        zone(name)


def test_the_zone_of_a_windows_name_is_that_of_the_cldr():
    mapping = get_global("windows_zone_mapping")

    assert {name: zone_of_name(name.upper()) for name in mapping} == {**mapping, "UTC": "UTC"}


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
def test_the_zone_that_another_program_means_is_found(name, found):
    assert zone_of_name(name) == found


def test_the_nearest_zone_keeps_the_offsets_of_later_years():
    """In 2006 Grand Turk, which is the first by name, had the clock of New York, and in 2017 another."""
    assert nearest_zone(zone("America/New_York"), 2006) == ("America/New_York", True)
    assert nearest_zone(zone("America/New_York"), 2020) == ("America/New_York", True)
    assert nearest_zone(timezone(timedelta(hours=1)), 2026, "Europe/Berlin") == ("Africa/Lagos", True)
    assert nearest_zone(timezone(timedelta(minutes=1)), 2026)[1] is False


YEARS = "in a year from 0002 to 9998"


@pytest.mark.spec("E-02", "E-02b", "E-03", "E-03a", "E-03b", "E-03c", "E-04", "E-04a")
@pytest.mark.parametrize(
    "value, part, words",
    [
        ("2026-11-02", "", None),
        *(({"date": day}, "date", YEARS) for day in ("0001-01-01", "9999-12-31")),
        ({"dateTime": "0001-01-01T00:00:00Z"}, "dateTime", YEARS),
        ({"dateTime": "0002-01-01T00:00:00Z", "timeZone": "America/New_York"}, "dateTime", None),
        ({"dateTime": "9998-12-31T23:00:00Z", "timeZone": "Europe/Berlin"}, "dateTime", None),
        ({"dateTime": "0002-01-01T00:00:00", "timeZone": "Asia/Kathmandu"}, "dateTime", None),
        ({"dateTime": "9998-12-31T20:00:00-05:00"}, "dateTime", None),
        ({"dateTime": "0002-01-01T03:00:00+05:00"}, "dateTime", None),
    ],
    ids=str,
)
def test_a_problem_names_its_sub_field(value, part, words):
    with pytest.raises(TimeError, match=words) as caught:
        read_time(value)

    assert caught.value.problem[:2] == ("badTime", part)


def test_a_skipped_time_is_moved_by_the_length_of_the_gap():
    skipped = {"dateTime": "2027-03-28T02:30:00", "timeZone": "Europe/Berlin"}

    assert print_time(read_time(skipped), zone("Europe/Berlin"), None) == {"dateTime": "2027-03-28T03:30:00+02:00"}


@given(st.sampled_from(zone_names()), st.integers(1900, 2100))
def test_the_days_of_clock_changes_are_all_days_on_which_the_offset_changes(name, year):
    tz, first = zone(name), date(year, 1, 1).toordinal()
    days = range(first, date(year + 1, 1, 1).toordinal())

    def offset(day):
        return datetime.fromordinal(day).replace(tzinfo=tz).utcoffset()

    assert {day for day in days if offset(day) != offset(day + 1)} <= set(clock_changes(tz, year))
