"""Compares our expansion with dateutil's on random rules, and tests rules without end and without instances."""

from datetime import UTC, date, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings

from svc_notebooks.core.events.instances import occurrences
from svc_notebooks.core.events.rrule import Recurrence
from tests.examples import examples
from tests.unit.core import dateutil_oracle as dateutil_says
from tests.unit.core.written_rules import PARTS, Series, Start, series, several_lines

pytestmark = pytest.mark.spec("E-12", "E-12a")

OF_DAYS = ("YEARLY", "MONTHLY", "WEEKLY", "DAILY")
KINDS = [(frequency, True) for frequency in OF_DAYS] + [(frequency, False) for frequency in PARTS]


def rules(frequency: str, share: float) -> settings:
    share = share / 4 if frequency == "SECONDLY" else share  # which is slow in dateutil
    return examples(share, suppress_health_check=list(HealthCheck))


def ours(series: Series) -> list[dateutil_says.Span]:
    recurrence = Recurrence.parse(series.lines, series.start)
    expanded = occurrences(recurrence, series.start, series.end, after=series.after, before=series.before)
    return [(dateutil_says.instant(occurrence.start), dateutil_says.instant(occurrence.end)) for occurrence in expanded]


@pytest.mark.parametrize("strategy, share", [(series, 1), (several_lines, 0.4)], ids=["one rule", "several lines"])
@pytest.mark.parametrize("frequency, all_day", KINDS)
def test_a_series_has_the_instances_that_dateutil_finds(frequency, all_day, strategy, share):
    @rules(frequency, share)
    @given(strategy(frequency, all_day=all_day))
    def agree(drawn):
        assert ours(drawn) == dateutil_says.instances(drawn)

    agree()


@pytest.mark.parametrize(
    "line",
    [
        "FREQ=DAILY;INTERVAL=5;BYDAY=SU,TH,FR;BYMONTHDAY=-5;BYHOUR=0,17,19;WKST=SA;COUNT=27",
        "FREQ=HOURLY;INTERVAL=6;BYMONTHDAY=8,9;COUNT=40",
    ],
)
def test_a_window_that_begins_within_a_day_counts_the_hours_before_it_once(line):
    start = datetime(2027, 7, 8, 0, 30, 12, tzinfo=UTC)
    end = start + timedelta(minutes=90)
    recurrence = Recurrence.parse([f"RRULE:{line}"], start)
    whole = list(occurrences(recurrence, start, end))

    for index, occurrence in enumerate(whole):
        assert list(occurrences(recurrence, start, end, after=occurrence.start)) == whole[index:]


@pytest.mark.parametrize(
    "rule",
    ["FREQ=HOURLY", "FREQ=MINUTELY;INTERVAL=20", "FREQ=DAILY", "FREQ=DAILY;BYHOUR=0,23", "FREQ=WEEKLY;BYDAY=SA,SU"],
)
def test_a_time_skipped_before_midnight_is_in_order_in_the_next_day(rule):
    """In Greenland the clock skips the hour from 23:00 to midnight."""
    start = datetime(2026, 3, 28, 21, 30, tzinfo=ZoneInfo("America/Nuuk"))
    series = Series(start, timedelta(minutes=1), (f"RRULE:{rule}",), start, start + timedelta(days=4))

    assert ours(series) == dateutil_says.instances(series)


NINE = datetime(2026, 11, 2, 9, tzinfo=ZoneInfo("Europe/Berlin"))


def first_starts(rule: str, start: Start = NINE, most: int = 5) -> list[Start]:
    some = occurrences(Recurrence.parse([f"RRULE:{rule}"], start), start, start + timedelta(days=1))
    return [occurrence.start for occurrence in islice(some, most)]


IMPOSSIBLE = [
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=YEARLY;BYWEEKNO=20;BYMONTH=1", "FREQ=YEARLY;BYDAY=53MO;BYMONTH=1",
    "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=5", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=5", "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=HOURLY;INTERVAL=24;BYHOUR=3", "FREQ=MINUTELY;INTERVAL=60;BYMINUTE=1",
    "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=SECONDLY;INTERVAL=2;BYSECOND=1",
    *(f"FREQ={rule};INTERVAL=999999999" for rule in ("DAILY", "WEEKLY", "MONTHLY", "YEARLY", "MINUTELY;BYMINUTE=5")),
]  # fmt: skip


@pytest.mark.parametrize("rule", IMPOSSIBLE)
def test_a_rule_without_matches_has_its_start_and_ends(rule):
    assert first_starts(rule) == [NINE]


@pytest.mark.parametrize("start", [date(9998, 12, 29), datetime(9998, 12, 29, 9, tzinfo=NINE.tzinfo)])
def test_the_last_of_all_years_ends_a_rule(start):
    """An instance that would end in the year 9999 is left out, because its end could not be printed."""
    assert first_starts("FREQ=DAILY", start) == [start, start + timedelta(days=1)]


def test_the_first_week_of_a_year_has_days_of_the_year_before_under_both_its_names():
    """Week 1 of 2039, counted from Wednesdays, begins on 29 December 2038 and is week -53 as well."""
    start = date(2038, 1, 1)

    first, last = (first_starts(f"FREQ=YEARLY;BYWEEKNO={week};BYDAY=WE;WKST=WE", start, most=2) for week in (1, -53))

    assert date(2038, 12, 29) in first
    assert date(2038, 12, 29) in last
