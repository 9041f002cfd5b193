"""Fields of events that restrict guests and readers, and each operation that could get around them."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.calendar_client import ADA, BOB, EVE, SEMINAR, CalendarClient, accepted, guests, query

CAROL = "carol@svc.example"
SECRET: dict[str, Any] = {
    "summary": "Salary",
    "description": "raise",
    "location": "room 5",
    "visibility": "private",
    "attendees": guests(EVE),
    "extendedProperties": {"shared": {"kind": "hr"}, "private": {"level": "3"}},
    "eventType": "default",
}


@pytest.mark.parametrize(
    "change",
    [
        {"guestsCanInviteOthers": True},
        {"guestsCanSeeOtherGuests": True},
        {"guestsCanModify": False},
        {"visibility": "public"},
        {"visibility": "confidential", "summary": "New"},
        {"anyoneCanAddSelf": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("way", ["patch", "put", "import"])
def test_a_guest_who_may_modify_an_event_does_not_change_what_restricts_guests(ada, bob, way, change):
    restricted = {"guestsCanInviteOthers": False, "guestsCanSeeOtherGuests": False, "guestsCanModify": True}
    event = ada.made(attendees=guests(BOB, EVE), summary="Tea", visibility="private", **restricted)
    whole = {**SEMINAR, **restricted, "visibility": "private", "attendees": guests(BOB), **change}

    if way == "patch":
        answer = bob.patch(event["id"], change)
    elif way == "put":
        answer = bob.put(event["id"], whole)
    else:
        answer = bob.call("POST", f"/calendar/v3/calendars/{BOB}/events/import", whole | {"iCalUID": event["iCalUID"]})

    assert answer.status == 403
    stored = ada.read(event["id"])
    assert {name: stored.get(name) for name in restricted} == restricted
    assert (stored["visibility"], stored["summary"], len(stored["attendees"])) == ("private", "Tea", 2)


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("recurring", [True, False])
def test_a_guest_who_does_not_see_the_others_neither_finds_nor_removes_them(ada, bob, recurring, single):
    rule = {"recurrence": ["RRULE:FREQ=DAILY;COUNT=2"]} if recurring else {}
    hidden = {"attendees": guests(BOB, EVE), "guestsCanSeeOtherGuests": False, "guestsCanModify": True}
    event = ada.made(hidden, summary="Tea", **rule)

    assert bob.items(q="eve", singleEvents=single) == []
    assert bob.items(q="tea", singleEvents=single)
    assert ada.items(q="eve", singleEvents=single)
    if recurring:
        assert bob.instances(event["id"], q="eve") == []
    accepted(bob.patch(event["id"], {"attendees": guests(BOB, CAROL), "summary": "Coffee"}))
    assert [guest["email"] for guest in ada.read(event["id"])["attendees"]] == [BOB, EVE, CAROL]


PROBES: dict[str, dict[str, Any]] = {
    "the title": {"q": "salary"},
    "the description": {"q": "raise"},
    "the place": {"q": "room"},
    "a guest": {"q": "eve"},
    "a shared property": {"sharedExtendedProperty": "kind=hr"},
    "a private property": {"privateExtendedProperty": "level=3"},
    "the title of instances": {"q": "salary", "singleEvents": True, "orderBy": "startTime"},
    "a property of instances": {"sharedExtendedProperty": "kind=hr", "singleEvents": True},
}


@pytest.mark.parametrize("visibility", ["private", "confidential"])
@pytest.mark.parametrize("probe", PROBES)
def test_a_search_of_a_reader_finds_nothing_in_a_private_event(ada, bob, probe, visibility):
    ada.made(SECRET, visibility=visibility, recurrence=["RRULE:FREQ=DAILY;COUNT=2"])
    ada.share("reader", BOB)
    reader = CalendarClient(bob.wire, BOB, ADA)

    assert reader.items(**PROBES[probe]) == []
    assert ada.items(**PROBES[probe])


READS: dict[str, Callable[[CalendarClient, dict[str, Any]], Any]] = {
    "get": lambda reader, event: reader.get(event["id"]),
    "list": lambda reader, event: reader.list(),
    "list of instances": lambda reader, event: reader.list(singleEvents=True),
    "changes": lambda reader, event: reader.list(syncToken=reader.list(maxResults=2500).json["nextSyncToken"]),
    "instances": lambda reader, event: reader.call(
        "GET", f"/calendar/v3/calendars/{ADA}/events/{event['id']}/instances"
    ),
    "page": lambda reader, event: reader.wire.send("GET", event["htmlLink"], token=reader.token),
    "free and busy": lambda reader, event: reader.call(
        "POST", "/calendar/v3/freeBusy",
        {"timeMin": "2026-11-01T00:00:00Z", "timeMax": "2026-11-09T00:00:00Z", "items": [{"id": ADA}]},
    ),
    "a copy by import": lambda reader, event: reader.call(
        "POST", f"/calendar/v3/calendars/{BOB}/events/import", {**SEMINAR, "iCalUID": event["iCalUID"]}
    ),
    "a move": lambda reader, event: reader.call(
        "POST", f"/calendar/v3/calendars/{ADA}/events/{event['id']}/move" + query({"destination": BOB})
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", READS)
def test_a_reader_sees_only_the_times_of_a_private_event(ada: CalendarClient, bob: CalendarClient, way: str) -> None:
    event = ada.made(SECRET, recurrence=["RRULE:FREQ=DAILY;COUNT=2"])
    ada.share("reader", BOB)

    answer = READS[way](CalendarClient(bob.wire, BOB, ADA), event)

    assert answer.status == (403 if way == "a move" else 200)
    for word in (b"Salary", b"raise", b"room 5", EVE.encode(), b'"hr"'):
        assert word not in answer.body


def test_an_imported_event_of_another_organizer_invites_nobody(bob: CalendarClient, eve: CalendarClient) -> None:
    body = {**SEMINAR, "iCalUID": "x@svc.example", "organizer": {"email": ADA}, "attendees": guests(BOB)}
    event = accepted(bob.call("POST", f"/calendar/v3/calendars/{BOB}/events/import", body))

    accepted(bob.patch(event["id"], {"attendees": guests(BOB, EVE), "summary": "Forged"}, sendUpdates="all"))

    assert eve.items() == []
    assert bob.read(event["id"])["summary"] == "Forged"
    assert not any(row["to"] == EVE for row in bob.wire.service.outbox())
