import io
import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from dateutil.rrule import rrulestr
from dateutil.tz import tzical
from hypothesis import given, strategies as st

from svc_notebooks.client.events.ical import calendar_file, observances

BEGIN, BEHIND = datetime(2026, 1, 12, tzinfo=UTC), datetime(2036, 1, 1, tzinfo=UTC)

# With rules for their changes, with changes that follow none, with half an hour, with none at all.
RULED = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Europe/Dublin", "America/St_Johns")
LISTED = ("Asia/Gaza", "Asia/Jerusalem", "Africa/Cairo", "America/Nuuk")
STEADY = ("Asia/Kathmandu", "America/Sao_Paulo", "Asia/Kolkata")


def written(zone: str) -> str:
    """The file of a daily event of ten years in this zone."""
    start, end = ({"dateTime": f"2026-01-12T{hour}:00:00", "timeZone": zone} for hour in (12, 13))
    return calendar_file([{"id": "daily", "start": start, "end": end, "recurrence": ["RRULE:FREQ=DAILY"]}]).decode()


@pytest.mark.parametrize("zone", RULED + LISTED + STEADY)
def test_another_library_reads_the_offsets_of_the_zone(zone):
    read = tzical(io.StringIO(written(zone))).get(zone)

    @given(st.datetimes(BEGIN.replace(tzinfo=None), BEHIND.replace(tzinfo=None), timezones=st.just(UTC)))
    def agree(instant):
        shown = instant.astimezone(ZoneInfo(zone))
        assert read.utcoffset(shown.replace(tzinfo=None)) == shown.utcoffset()

    agree()


@pytest.mark.parametrize("zone", RULED + LISTED)
def test_clocks_change_at_the_right_second(zone):
    """The VTIMEZONE of the icalendar library puts clocks forward an hour late."""
    count = 0
    for each in observances(ZoneInfo(zone), BEGIN, BEHIND)[1:]:
        for onset in rrulestr(each.rule, dtstart=each.onsets[0])[:10] if each.rule else each.onsets:
            change, count = onset.replace(tzinfo=UTC) - each.before, count + 1
            moments = (change - timedelta(seconds=1), change)
            offsets = [moment.astimezone(ZoneInfo(zone)).utcoffset() for moment in moments]
            assert offsets == [each.before, each.clock.offset]
    assert count >= 20


@pytest.mark.parametrize("zone", RULED)
def test_yearly_changes_are_a_rule_without_end(zone):
    summer_and_winter = observances(ZoneInfo(zone), BEGIN, BEGIN)[1:]

    assert len(summer_and_winter) == 2
    assert all(observance.rule and len(observance.onsets) == 1 for observance in summer_and_winter)


@pytest.mark.parametrize("zone", ["Africa/Casablanca", "Africa/Cairo", "Asia/Gaza"])
def test_the_first_of_several_onsets_is_also_an_rdate(zone):
    """ical.js ignores the DTSTART of an observance that has an RDATE."""
    parts = re.findall(r"DTSTART:(\S+)(?:\r\n(?!END).*)*?\r\nRDATE:(\S+)", written(zone))

    assert parts
    assert all(start == first for start, first in parts)
