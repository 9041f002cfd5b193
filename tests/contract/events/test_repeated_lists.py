"""Lists of the same events, before and after changes."""

from __future__ import annotations

import pytest

from svc_notebooks.server.service import Service
from tests.contract.calendar_client import ADA, BOB, HOLIDAY, CalendarClient, Fields, accepted, emptied
from tests.contract.conftest import Wire


@pytest.fixture
def service() -> Service:
    return emptied()


@pytest.mark.parametrize("change", [{"summary": "new"}, {"colorId": "3"}, {"location": "Room 7"}])
def test_a_list_after_a_change_has_the_new_event(ada: CalendarClient, change: Fields) -> None:
    event = ada.made(summary="old")
    ada.items()

    changed = accepted(ada.patch(event["id"], change))

    assert ada.items() == [changed]
    assert changed["etag"] != event["etag"]


@pytest.mark.parametrize(
    "parameters, shown",
    [
        ({"fields": "items(summary,start/date)"}, {"summary": "Exam", "start": {"date": "2026-12-24"}}),
        ({"fields": "items/summary"}, {"summary": "Exam"}),
        ({"maxAttendees": 1, "fields": "items/attendees/email"}, {"attendees": [{"email": ADA}]}),
    ],
)
def test_parameters_apply_to_an_event_that_was_listed_without_them(
    ada: CalendarClient, parameters: Fields, shown: Fields
) -> None:
    ada.made(HOLIDAY, summary="Exam", attendees=[{"email": ADA}, {"email": BOB}])
    plain = ada.list().body
    ada.list(fields="items/attendees/email")

    lists = [accepted(ada.list(**parameters))["items"] for _ in range(2)]

    assert lists == [[shown], [shown]]
    assert ada.list().body == plain


def test_the_time_zone_applies_to_an_event_that_was_listed_without_it(ada: CalendarClient) -> None:
    ada.made()
    ada.items()

    (event,) = ada.items(timeZone="Asia/Tokyo")

    assert event["start"]["dateTime"] == "2026-11-02T18:00:00+09:00"


def test_a_compact_list_after_an_indented_one_has_one_line(ada: CalendarClient) -> None:
    ada.made()
    ada.items()

    assert b"\n" not in ada.list(prettyPrint="false").body
    assert b"\n      " in ada.list().body


def test_each_user_gets_what_the_role_allows(ada: CalendarClient, wire: Wire) -> None:
    ada.made(summary="Surgery", visibility="private")
    rule = {"role": "reader", "scope": {"type": "user", "value": BOB}}
    accepted(ada.call("POST", "/calendar/v3/calendars/primary/acl", rule))
    bob = CalendarClient(wire, BOB, ADA)

    assert [event.get("summary") for event in ada.items()] == ["Surgery"]
    assert [event.get("summary") for event in bob.items()] == [None]
    assert [event.get("summary") for event in ada.items()] == ["Surgery"]


def test_links_have_the_address_of_each_request(ada: CalendarClient, wire: Wire) -> None:
    ada.made()
    first = ada.items()[0]["htmlLink"]

    host = {"Host": "other.example"}
    listed = wire.send("GET", "/calendar/v3/calendars/primary/events", token=ada.token, headers=host)

    link = accepted(listed)["items"][0]["htmlLink"]
    assert link.startswith("http://other.example/")
    assert ada.items()[0]["htmlLink"] == first != link


def test_an_event_of_a_restored_state_is_listed_as_it_was(ada: CalendarClient, wire: Wire) -> None:
    event = ada.made(summary="before")
    snapshot = wire.service.snapshot()
    ada.patch(event["id"], {"summary": "after"})
    ada.items()

    wire.service.restore(snapshot)

    assert ada.items() == [event]
