"""Compares our expansion with that of recurring-ical-events, for each calendar.

The calendars are small and our own; each shows one thing that real ones have. The library's answers are in
`calendars/expanded.json`, which `tools/expand_elsewhere.py` writes. Where the two differ, `DIFFERENT` says why.

The same was done with the thirty public calendars on which the library tests itself, from 1990 to 2031. The instances
of their 55 repeating series are the same but for what these calendars show: `empty_rule`, `misspelt_until`,
`floating_until`, `until_before_start` and `cancelled_instance`.
"""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from zoneinfo import ZoneInfo

import icalendar
import pytest

from svc_notebooks.core.events.instances import occurrences
from svc_notebooks.core.events.rrule import Recurrence, RecurrenceError, Start

pytestmark = pytest.mark.spec("E-12", "E-12a")

HERE = Path(__file__).parent / "calendars"
ELSEWHERE: dict[str, list[list[str]] | None] = json.loads((HERE / "expanded.json").read_text(encoding="utf-8"))
LINES = ("RRULE", "EXRULE", "RDATE", "EXDATE")
BEGIN, BEHIND = datetime(2018, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC)

Instance = tuple[str, str, str]


# The starts that only our expansion has, and those that only the library has.
DIFFERENT: dict[str, tuple[list[str], list[str]]] = {
    # The start of an event is its first instance, whatever the rule says: so the interface defines it.
    "until_before_start": (["2026-10-05"], []),
    # A cancelled instance is left out, as the service lists it only when it is asked for deleted ones.
    "cancelled_instance": ([], ["2026-01-29T21:00:00+00:00"]),
    # A date as UNTIL beside a time of day means all of that day, as people mean it; the library means its midnight.
    "until_is_a_date": (["2026-10-29T14:00:00+00:00"], []),
    # The start counts as the first of COUNT (RFC 5545, 3.3.10) also where the rule has it not; there it does not.
    "start_not_in_rule_counted": ([], ["2026-11-17T17:00:00+00:00"]),
    # Every instance is as long as the first (RFC 5545, 3.8.5.3): 22:00 to 06:00 is eight hours, and ends at 07:00 in
    # the night that is an hour shorter; there it ends at 06:00 in all of them.
    "nights_over_changes": (["2026-03-28T21:00:00+00:00"], ["2026-03-28T21:00:00+00:00"]),
    # EXRULE is a line of the interface; RFC 5545 has it no longer, and the library passes over it.
    "rule_against_rule": ([], [f"2026-11-{day}" for day in ("07", "08", "14", "15", "21", "22")]),
}

REFUSED = {
    "empty_rule": "a rule without FREQ is a mistake that is named; the library passes over it",
    "floating_until": "UNTIL beside a zone is in UTC (RFC 5545, 3.3.10): which midnight is meant is not guessed",
    "misspelt_until": "a part that there is not is named; the library refuses it too",
}


def ours(path: Path) -> list[Instance]:
    """Return all instances as the service has them, with changed ones replaced and cancelled ones removed."""
    events = sorted(icalendar.Calendar.from_ical(path.read_bytes()).walk("VEVENT"), key=itemgetter("UID"))
    return sorted(instance for _, some in groupby(events, itemgetter("UID")) for instance in of_one_uid(list(some)))


def of_one_uid(events: list[icalendar.Component]) -> Iterator[Instance]:
    changed = {plain(event["RECURRENCE-ID"].dt): event for event in events if "RECURRENCE-ID" in event}
    masters = (event for event in events if "RECURRENCE-ID" not in event)
    series = max(masters, key=lambda event: event.get("SEQUENCE", 0))
    for start, end in expanded(series):
        if plain(start) not in changed:
            yield str(series["UID"]), text(start), text(end)
    for event in changed.values():
        if event.get("STATUS") != "CANCELLED":
            yield str(event["UID"]), text(event["DTSTART"].dt), text(event["DTEND"].dt)


def expanded(series: icalendar.Component) -> Iterator[tuple[Start, Start]]:
    """Yield the instances. Times without a zone are expanded in UTC, because the service has none of them."""
    start, end = series["DTSTART"].dt, series["DTEND"].dt
    floats = isinstance(start, datetime) and start.tzinfo is None
    if floats:
        start, end = start.replace(tzinfo=ZoneInfo("UTC")), end.replace(tzinfo=ZoneInfo("UTC"))
    unfolded = series.to_ical().decode().replace("\r\n ", "").splitlines()
    lines = [line for line in unfolded if line.partition(":")[0].partition(";")[0] in LINES]
    for each in occurrences(Recurrence.parse(lines, start), start, end, after=BEGIN, before=BEHIND):
        yield (each.start.replace(tzinfo=None), each.end.replace(tzinfo=None)) if floats else (each.start, each.end)


def plain(moment: date) -> str:
    """Return the instance that a RECURRENCE-ID names: for an all-day series its day, also for a time at midnight."""
    is_day = not isinstance(moment, datetime) or (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    return moment.isoformat()[:10] if is_day else text(moment)


def text(moment: date) -> str:
    aware = isinstance(moment, datetime) and moment.tzinfo is not None
    return (moment.astimezone(UTC) if aware else moment).isoformat()


@pytest.mark.parametrize("name", sorted(set(ELSEWHERE) - set(REFUSED)))
def test_a_calendar_has_the_instances_of_another_library(name):
    here, there = ours(HERE / f"{name}.ics"), [tuple(instance) for instance in ELSEWHERE[name] or []]
    only_ours, only_theirs = DIFFERENT.get(name, ([], []))

    assert [instance[1] for instance in here if instance not in there] == only_ours
    assert [instance[1] for instance in there if instance not in here] == only_theirs
    assert len(here) == len(set(here))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_an_invalid_calendar_is_refused_with_its_line(name):
    with pytest.raises(RecurrenceError, match=r"recurrence\[0\].*RRULE"):
        ours(HERE / f"{name}.ics")


def test_every_calendar_was_expanded_elsewhere_and_found_instances():
    assert {path.stem for path in HERE.glob("*.ics")} == set(ELSEWHERE)
    assert [name for name, instances in ELSEWHERE.items() if not instances] == ["misspelt_until", "until_before_start"]
