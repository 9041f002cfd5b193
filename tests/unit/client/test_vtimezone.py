import io
import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from dateutil.rrule import rrulestr
from dateutil.tz import tzical
from hypothesis import given, strategies as st

from svc_notebooks.client.events.ical import Observance, calendar_file, observances

BEGIN, BEHIND = datetime(2026, 1, 12, tzinfo=UTC), datetime(2036, 1, 1, tzinfo=UTC)

# With rules for their changes, with changes that follow none, with half an hour, with none at all.
RULED = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Europe/Dublin", "America/St_Johns")
LISTED = ("Asia/Gaza", "Asia/Jerusalem", "Africa/Cairo", "America/Nuuk")
STEADY = ("Asia/Kathmandu", "America/Sao_Paulo", "Asia/Kolkata")


def written(zone: str) -> str:
    """The file of a daily event of ten years in this zone."""
    start, end = ({"dateTime": f"2026-01-12T{hour}:00:00", "timeZone": zone} for hour in (12, 13))
    return calendar_file([{"id": "daily", "start": start, "end": end, "recurrence": ["RRULE:FREQ=DAILY"]}]).decode()


instants = st.datetimes(BEGIN.replace(tzinfo=None), BEHIND.replace(tzinfo=None)).map(
    lambda moment: moment.replace(tzinfo=UTC)
)


@pytest.mark.parametrize("zone", RULED + LISTED + STEADY)
def test_another_library_reads_the_offsets_of_the_zone(zone: str):
    read = tzical(io.StringIO(written(zone))).get(zone)

    @given(instants)
    def agree(instant: datetime) -> None:
        shown = instant.astimezone(ZoneInfo(zone))
        assert read.utcoffset(shown.replace(tzinfo=None)) == shown.utcoffset()

    agree()


@pytest.mark.parametrize("zone", RULED + LISTED)
def test_clocks_change_at_the_right_second(zone: str):
    """The VTIMEZONE of the icalendar library puts clocks forward an hour late."""
    changes = [
        change for observance in observances(ZoneInfo(zone), BEGIN, BEHIND)[1:] for change in instants_of(observance)
    ]

    assert len(changes) >= 20
    for change, before, after in changes:
        assert (offset(zone, change - timedelta(seconds=1)), offset(zone, change)) == (before, after)


def instants_of(observance: Observance) -> list[tuple[datetime, timedelta, timedelta]]:
    onsets = rrulestr(observance.rule, dtstart=observance.onsets[0])[:10] if observance.rule else observance.onsets
    return [
        (onset.replace(tzinfo=UTC) - observance.before, observance.before, observance.clock.offset) for onset in onsets
    ]


def offset(zone: str, instant: datetime) -> timedelta | None:
    return instant.astimezone(ZoneInfo(zone)).utcoffset()


@pytest.mark.parametrize("zone", RULED)
def test_yearly_changes_are_a_rule_without_end(zone: str):
    summer_and_winter = observances(ZoneInfo(zone), BEGIN, BEGIN)[1:]

    assert len(summer_and_winter) == 2
    assert all(observance.rule and len(observance.onsets) == 1 for observance in summer_and_winter)


@pytest.mark.parametrize("zone", ["Africa/Casablanca", "Africa/Cairo", "Asia/Gaza"])
def test_the_first_of_several_onsets_is_also_an_rdate(zone: str):
    """ical.js ignores the DTSTART of an observance that has an RDATE."""
    parts = re.findall(r"DTSTART:(\S+)(?:\r\n(?!END).*)*?\r\nRDATE:(\S+)", written(zone))

    assert parts
    assert all(start == first for start, first in parts)
