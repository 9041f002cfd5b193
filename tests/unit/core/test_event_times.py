from datetime import date, datetime

import pytest
from hypothesis import given, strategies as st

from svc_notebooks.core.events.fields import TimeError, print_time, read_time
from svc_notebooks.core.times import clock_changes, zone, zone_names

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
