"""COUNT over local times that the clock skips: COUNT=n is the first n instances of the same rule without COUNT."""

from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, strategies as st

from svc_notebooks.core.events.instances import occurrences
from svc_notebooks.core.events.rrule import Recurrence
from svc_notebooks.core.times import from_millis, skipped_times, zone
from tests.examples import examples
from tests.unit.core.written_rules import simple_starts

pytestmark = pytest.mark.spec("E-12", "E-12a")

HALF_HOUR = timedelta(minutes=30)
GAPS = [
    (name, *gap)
    for name, year in {
        "Europe/Berlin": 2026,
        "America/New_York": 2026,
        "Australia/Lord_Howe": 2026,  # half an hour
        "America/Nuuk": 2026,  # before midnight
        "America/Sao_Paulo": 2015,  # at midnight
        "Pacific/Apia": 2011,  # also a whole day
    }.items()
    for gap in skipped_times(zone(name), year)
]
STEPS = {
    **dict.fromkeys(("YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY"), timedelta(hours=1)),
    "MINUTELY": timedelta(minutes=5),
    "SECONDLY": timedelta(seconds=90),
}
PARTS = ("BYMINUTE=30", "BYMINUTE=0,30", "BYHOUR=1,2,3", "BYHOUR=0,2,3;BYMINUTE=0,15,30,45", "BYHOUR=0,23")


def starts(rule: str, start: datetime, **window: Any) -> list[datetime]:
    """At most 4000 instances of half an hour in UTC."""
    every = occurrences(Recurrence.parse([rule], start), start, start + HALF_HOUR, **window)
    return [each.start.astimezone(UTC) for each in islice(every, 4000)]


@pytest.mark.parametrize("frequency", STEPS)
def test_a_count_is_the_first_instances_of_the_rule_in_every_window(frequency):
    @examples(1)
    @given(st.data())
    def agree(data):
        name, gap, length = data.draw(st.sampled_from(GAPS))
        before = data.draw(st.integers(0, 80)) * STEPS[frequency]
        start = (gap - before).replace(tzinfo=zone(name)).astimezone(UTC).astimezone(zone(name))
        interval = data.draw(st.sampled_from(["", ";INTERVAL=2", ";INTERVAL=7", ";INTERVAL=30", ";INTERVAL=45"]))
        positions = data.draw(st.sampled_from(["", "", ";BYSETPOS=1", ";BYSETPOS=-1"]))
        part = data.draw(st.sampled_from(["", *(f";{part}{positions}" for part in PARTS)]))
        count = data.draw(st.integers(1, 3000 if frequency == "SECONDLY" else 90))
        rule = f"RRULE:FREQ={frequency}{interval}{part}"
        counted = f"{rule};COUNT={count}"

        shown = starts(counted, start)
        simple = simple_starts(Recurrence.parse([counted], start), start, HALF_HOUR)

        assert shown == sorted(set(shown)) == starts(rule, start, before=shown[-1] + timedelta(seconds=1))
        assert len(shown) == count or part
        assert simple is None or [from_millis(moment) for moment in simple] == shown
        begin = data.draw(st.sampled_from(shown)) + data.draw(st.integers(-4, 4)) * timedelta(minutes=15)
        end = begin + data.draw(st.sampled_from([timedelta(minutes=1), 2 * length, timedelta(days=3)]))
        in_window = [moment for moment in shown if begin < moment + HALF_HOUR and moment < end]
        assert starts(counted, start, after=begin, before=end) == in_window

    agree()


def test_an_excluded_instance_is_counted_and_an_added_one_is_not():
    start = datetime(2026, 3, 29, tzinfo=zone("Europe/Berlin"))
    lines = ["RRULE:FREQ=HOURLY;COUNT=5", "EXDATE:20260329T010000", "RDATE:20260329T030000,20260329T080000"]
    every = occurrences(Recurrence.parse(lines, start), start, start + HALF_HOUR)

    assert [each.start.hour for each in every] == [0, 3, 4, 5, 8]
