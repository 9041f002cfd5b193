"""Changed, moved and cancelled instances of a series whose times or recurrence change."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.calendar_client import BOB, EVE, CalendarClient, Fields, accepted, guests

pytestmark = pytest.mark.spec("E-18", "E-18a", "E-25")

BERLIN = "Europe/Berlin"


def times(start: str, end: str, *rule: str, zone: str = BERLIN) -> Fields:
    """The times of an event, which is all-day if they are dates."""
    kind = "dateTime" if "T" in start else "date"
    named = {"timeZone": zone} if "T" in start else {}
    lines = {"recurrence": [f"RRULE:{rule[0]}"]} if rule else {}
    return {"start": {kind: start, **named}, "end": {kind: end, **named}, **lines}


TWICE_A_WEEK = "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=6"  # 2, 4, 9, 11, 16 and 18 November
SERIES = {"summary": "Seminar", **times("2026-11-02T10:00:00", "2026-11-02T11:00:00", TWICE_A_WEEK)}
CHANGES = {
    "an hour": (
        times("2026-11-02T11:00:00", "2026-11-02T12:00:00"),
        ["02T11 Seminar", "04T11 Guest", "09T15 Seminar", "16T11 Seminar", "18T11 Seminar"],
    ),
    "to other days": (
        times("2026-11-03T10:00:00", "2026-11-03T11:00:00", "FREQ=WEEKLY;BYDAY=TU,TH;COUNT=6"),
        ["03T10 Seminar", "05T10 Guest", "09T15 Seminar", "17T10 Seminar", "19T10 Seminar"],
    ),
    "the start alone": (
        times("2026-11-04T10:00:00", "2026-11-04T11:00:00"),
        ["04T10 Guest", "09T15 Seminar", "16T10 Seminar", "18T10 Seminar", "23T10 Seminar"],
    ),
    "another zone": (
        times("2026-11-02T10:00:00", "2026-11-02T11:00:00", zone="Europe/Lisbon"),
        ["02T11 Seminar", "04T11 Guest", "09T15 Seminar", "16T11 Seminar", "18T11 Seminar"],
    ),
    "to all-day": (
        times("2026-11-02", "2026-11-03"),
        ["02 Seminar", "04 Guest", "09T15 Seminar", "16 Seminar", "18 Seminar"],
    ),
    "fewer days at another time": (
        times("2026-11-02T14:00:00", "2026-11-02T15:00:00", "FREQ=WEEKLY;BYDAY=WE;COUNT=4"),
        ["02T14 Seminar", "04T14 Guest", "18T14 Seminar"],
    ),
    "a later end of the rule": (
        times("2026-11-02T10:00:00", "2026-11-02T11:00:00", "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=7"),
        ["02T10 Seminar", "04T10 Guest", "09T15 Seminar", "16T10 Seminar", "18T10 Seminar", "23T10 Seminar"],
    ),
}

Change = Callable[[CalendarClient, str, Fields], Fields]


def patched(client: CalendarClient, event: str, change: Fields) -> Fields:
    nulls = {"date": None, "dateTime": None, "timeZone": None}
    change = {name: {**nulls, **value} if name != "recurrence" else value for name, value in change.items()}
    return accepted(client.patch(event, change))


def replaced(client: CalendarClient, event: str, change: Fields) -> Fields:
    stored = client.read(event)
    return accepted(client.put(event, {**stored, **change}))


def with_exceptions(client: CalendarClient, **more: Any) -> str:
    """A series with a changed, a moved and a cancelled instance."""
    event: str = client.made({**SERIES, **more})["id"]
    _, changed, moved, cancelled, *_ = (instance["id"] for instance in client.instances(event))
    accepted(client.patch(changed, {"summary": "Guest", "description": "Bring notes."}))
    accepted(client.patch(moved, times("2026-11-09T15:00:00", "2026-11-09T16:30:00")))
    assert client.delete(cancelled).status == 204
    return event


def shown(client: CalendarClient) -> list[str]:
    """The day, the hour and the title of each instance in the calendar's order."""
    items = client.items(singleEvents="true", orderBy="startTime", timeZone=BERLIN)
    starts = ((item["start"].get("dateTime") or item["start"]["date"])[8:13] for item in items)
    return [f"{start} {item['summary']}" for start, item in zip(starts, items, strict=True)]


@pytest.mark.parametrize("change", [patched, replaced])
@pytest.mark.parametrize("times, expected", CHANGES.values(), ids=CHANGES)
def test_instances_stay_with_the_series_that_moves(ada, change, times, expected):
    event = with_exceptions(ada)

    change(ada, event, times)

    instances = ada.instances(event)
    assert shown(ada) == expected
    assert len({instance["id"] for instance in instances}) == len(instances)
    assert [ada.read(instance["id"]) for instance in instances] == instances
    assert [each["description"] for each in instances if each["summary"] == "Guest"] == ["Bring notes."]


@pytest.mark.parametrize("name", [name for name in CHANGES if name != "fewer days at another time"])
def test_a_series_that_moves_back_is_as_it_was(ada: CalendarClient, name: str) -> None:
    event = with_exceptions(ada)
    before = shown(ada)

    replaced(ada, event, CHANGES[name][0])
    replaced(ada, event, {name: SERIES[name] for name in ("start", "end", "recurrence")})

    assert shown(ada) == before


def test_an_instance_that_is_only_longer_keeps_its_times_and_others_get_the_new_length(ada: CalendarClient) -> None:
    event = with_exceptions(ada)
    longer = ada.instances(event)[0]["id"]
    patched(ada, longer, times("2026-11-02T10:00:00", "2026-11-02T13:00:00"))

    patched(ada, event, times("2026-11-02T11:00:00", "2026-11-02T13:00:00"))

    times_shown = [(each["start"], each["end"]) for each in ada.instances(event, timeZone=BERLIN)[:3]]
    spans = [(start["dateTime"][8:13], end["dateTime"][11:13]) for start, end in times_shown]
    assert spans == [("02T10", "13"), ("04T11", "13"), ("09T15", "16")]


def test_an_instance_after_a_gap_moves_with_its_series(ada: CalendarClient) -> None:
    event = ada.made(times("2026-03-28T02:30:00", "2026-03-28T03:00:00", "FREQ=DAILY;COUNT=3"))["id"]
    in_gap = ada.instances(event)[1]["id"]
    accepted(ada.patch(in_gap, {"summary": "Early"}))

    patched(ada, event, times("2026-03-28T03:30:00", "2026-03-28T04:00:00"))
    patched(ada, event, times("2026-03-28T04:30:00", "2026-03-28T05:00:00"))

    assert [each.get("summary") for each in ada.instances(event)] == [None, "Early", None]


def test_the_copies_of_guests_move_too(ada: CalendarClient, bob: CalendarClient, eve: CalendarClient) -> None:
    event = with_exceptions(ada, attendees=guests(BOB))
    first, changed, *_ = (instance["id"] for instance in ada.instances(event))
    accepted(bob.patch(changed, {"colorId": "5"}))
    accepted(ada.patch(first, {"attendees": guests(BOB, EVE)}))

    patched(ada, event, CHANGES["to other days"][0])

    assert shown(bob) == shown(ada) == CHANGES["to other days"][1]
    assert shown(eve) == ["03T10 Seminar"]
    assert [each.get("colorId") for each in bob.instances(event)][:2] == [None, "5"]
