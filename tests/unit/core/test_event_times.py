from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from svc_notebooks.core.events.fields import TimeError, print_time, read_time
from svc_notebooks.core.http.messages import JSON
from svc_notebooks.core.times import clock_changes, zone, zone_names

NINE = datetime(2026, 11, 2, 9, tzinfo=UTC)


@pytest.mark.spec("E-02", "E-02b", "E-03", "E-03a", "E-03b", "E-03c", "E-04", "E-04a")
@pytest.mark.parametrize(
    "value, key, part",
    [
        ("2026-11-02", "badTime", ""),
        ({"date": "0001-01-01"}, "badTime", "date"),
        ({"dateTime": "0002-01-01T00:00:00Z", "timeZone": "America/New_York"}, "badTime", "dateTime"),
        ({"dateTime": "9998-12-31T23:00:00Z", "timeZone": "Europe/Berlin"}, "badTime", "dateTime"),
        ({"dateTime": "0002-01-01T00:00:00", "timeZone": "Asia/Kathmandu"}, "badTime", "dateTime"),
        ({"dateTime": "9998-12-31T20:00:00-05:00"}, "badTime", "dateTime"),
        ({"dateTime": "0002-01-01T03:00:00+05:00"}, "badTime", "dateTime"),
    ],
    ids=str,
)
def test_a_problem_names_its_sub_field(value: object, key: str, part: str):
    with pytest.raises(TimeError) as caught:
        read_time(value)

    assert caught.value.problem[:2] == (key, part)


@pytest.mark.parametrize("value", [{"date": "9999-12-31"}, {"dateTime": "0001-01-01T00:00:00Z"}])
def test_a_year_out_of_range_is_refused_with_the_valid_years(value: JSON):
    with pytest.raises(TimeError, match="in a year from 0002 to 9998"):
        read_time(value)


def test_a_skipped_time_is_moved_by_the_length_of_the_gap():
    skipped = {"dateTime": "2027-03-28T02:30:00", "timeZone": "Europe/Berlin"}

    assert print_time(read_time(skipped), zone("Europe/Berlin"), None) == {"dateTime": "2027-03-28T03:30:00+02:00"}


@given(st.sampled_from(zone_names()), st.integers(1900, 2100))
def test_the_days_of_clock_changes_are_all_days_on_which_the_offset_changes(name: str, year: int):
    tz, first = zone(name), date(year, 1, 1).toordinal()
    days = range(first, date(year + 1, 1, 1).toordinal())

    def offset(day: int) -> timedelta | None:
        return datetime.fromordinal(day).replace(tzinfo=tz).utcoffset()

    changed = {day for day in days if offset(day) != offset(day + 1)}
    assert changed <= set(clock_changes(tz, year))
