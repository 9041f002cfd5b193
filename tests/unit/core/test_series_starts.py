"""Compares the instances of simple series, which come from shared days, with those of dateutil and of `occurrences`."""

from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, assume, given, strategies as st

from svc_notebooks.core.events.instances import occurrences
from svc_notebooks.core.events.rrule import Recurrence
from svc_notebooks.core.events.series_starts import SeriesStarts
from svc_notebooks.core.times import to_millis
from tests.examples import examples
from tests.unit.core import dateutil_oracle
from tests.unit.core.written_rules import series, simple_starts

pytestmark = pytest.mark.spec("E-12", "E-12a")

NINE = datetime(2026, 11, 2, 9, tzinfo=ZoneInfo("Europe/Berlin"))
HOUR = timedelta(hours=1)


def recurrence(rule: str, *lines: str) -> Recurrence:
    return Recurrence.parse([f"RRULE:FREQ={rule}", *lines], NINE)


@pytest.mark.parametrize("frequency", ["YEARLY", "MONTHLY", "WEEKLY", "DAILY"])
def test_a_simple_series_has_the_instances_that_dateutil_finds(frequency):
    @examples(1, suppress_health_check=list(HealthCheck))
    @given(series(frequency, all_day=False))
    def agree(drawn):
        window = {"after": drawn.after, "before": drawn.before}
        moments = simple_starts(Recurrence.parse(drawn.lines, drawn.start), drawn.start, drawn.length, **window)
        assume(moments is not None)

        assert list(moments or ()) == [to_millis(start) for start, _ in dateutil_oracle.instances(drawn)]

    agree()


@pytest.mark.parametrize("frequency", ["YEARLY", "MONTHLY", "WEEKLY", "DAILY"])
def test_a_window_anywhere_in_a_simple_series_has_what_occurrences_finds(frequency):
    @examples(0.4, suppress_health_check=list(HealthCheck))
    @given(series(frequency, all_day=False), st.integers(0, 40), st.integers(-30, 30))
    def agree(drawn, which, hours):
        lines = Recurrence.parse(drawn.lines, drawn.start)
        some = list(islice(occurrences(lines, drawn.start, drawn.end), 41))
        after = dateutil_oracle.instant(some[which % len(some)].start) + timedelta(hours=hours)
        moments = simple_starts(lines, drawn.start, drawn.length, after=after)
        assume(moments is not None)
        expected = islice(occurrences(lines, drawn.start, drawn.end, after=after), 9)

        assert list(islice(moments or (), 9)) == [to_millis(dateutil_oracle.instant(each.start)) for each in expected]

    agree()


OTHER = ["DAILY;BYHOUR=9", "DAILY;BYSETPOS=-1;BYHOUR=1,2", "HOURLY", "DAILY;INTERVAL=61", "DAILY;BYHOUR=9,10;COUNT=7"]
SECOND_LINES = ["RRULE:FREQ=DAILY", "EXRULE:FREQ=DAILY", "RDATE:20261103T120000Z"]


@pytest.mark.parametrize("lines", [*([rule] for rule in OTHER), *(["WEEKLY", line] for line in SECOND_LINES)], ids=str)
def test_other_series_are_left_to_occurrences(lines):
    assert simple_starts(recurrence(*lines), NINE, HOUR) is None


@examples(0.6, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(
        [
            "RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
            "RRULE:FREQ=WEEKLY;BYDAY=MO,WE,SU;BYSETPOS=1,-1;WKST=SU",
            "RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE,SU;BYSETPOS=2;COUNT=9",
            "RRULE:FREQ=YEARLY;INTERVAL=2;BYMONTH=3,10;BYDAY=SU;BYSETPOS=-1,-6",
            "RRULE:FREQ=WEEKLY;BYDAY=SU,MO;UNTIL=20300405T000000Z",
        ]
    ),
    st.booleans(),
    st.integers(0, 28 * 366 * 48),
    st.sampled_from(["Europe/Berlin", "Australia/Lord_Howe", "Asia/Gaza", "Pacific/Apia", "UTC"]),
    st.integers(0, 900),
    st.integers(1, 60),
)
def test_positions_and_exceptions_are_what_occurrences_finds(rule, excepts, half_hours, name, later, days):
    start = (datetime(2000, 1, 1, tzinfo=UTC) + timedelta(minutes=30 * half_hours)).astimezone(ZoneInfo(name))
    after = start + timedelta(days=later)
    window = {"after": after, "before": after + timedelta(days=days)}
    some = [*islice(occurrences(Recurrence.parse([rule], start), start, start + HOUR, **window), 3)]
    left_out = (some[-1].start if some else after).astimezone(UTC)
    recurrence = Recurrence.parse([rule, *([f"EXDATE:{left_out:%Y%m%dT%H%M%SZ}"] if excepts else [])], start)

    moments = simple_starts(recurrence, start, HOUR, **window)

    assert moments is not None
    expected = occurrences(recurrence, start, start + HOUR, **window)
    assert list(moments) == [to_millis(each.start) for each in expected]


@pytest.mark.parametrize("rule", ["MONTHLY;BYMONTHDAY=1;BYSETPOS=2", "WEEKLY;BYDAY=MO;BYSETPOS=5"])
def test_a_position_that_no_period_has_leaves_only_the_start(rule):
    starts = SeriesStarts.of(recurrence(rule), NINE, HOUR)

    assert starts is not None
    assert starts.stop == starts.begin + 1
    assert starts.between(0, starts.stop + 10**12) == [to_millis(NINE)]
