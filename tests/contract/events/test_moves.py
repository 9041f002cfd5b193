from typing import Any

import pytest

from tests.contract.calendar_client import BOB, SEMINAR, WEEKLY, CalendarClient, accepted, guests, path, refusal
from tests.contract.conftest import Wire


@pytest.fixture
def course(wire: Wire, ada: CalendarClient) -> CalendarClient:
    return CalendarClient(wire, calendar=ada.new_calendar())


def import_event(ada: CalendarClient, **event: Any) -> Any:
    return ada.call("POST", path("primary", "import"), {**SEMINAR, **event})


@pytest.mark.spec("E-11", "E-11b")
@pytest.mark.choice("Operations that the interface does not specify")
def test_an_event_of_another_calendar_program_is_imported(ada: CalendarClient) -> None:
    uid = ada.wire.once("abcde") + "@elsewhere.example"
    event = accepted(import_event(ada, iCalUID=uid, summary="From outside"))

    assert event["iCalUID"] == uid
    assert [item["id"] for item in ada.items(iCalUID=uid)] == [event["id"]]


def test_an_import_again_is_the_same_event(ada: CalendarClient) -> None:
    first = accepted(import_event(ada, iCalUID="abc@elsewhere.example", summary="once"))
    second = accepted(import_event(ada, iCalUID="abc@elsewhere.example", summary="twice", sequence=1))

    assert second["id"] == first["id"]
    assert refusal(import_event(ada)) == (400, "required", "iCalUID")
    assert ada.summaries() == ["twice"]


def test_a_series_moves_with_the_instances_that_differ(ada, bob, course):
    event = ada.made(WEEKLY, summary="Seminar", attendees=guests(BOB))
    second, third = (instance["id"] for instance in ada.instances(event["id"])[1:3])
    ada.patch(second, {"summary": "Colloquium"})
    ada.delete(third)

    ada.call("POST", path("primary", event["id"], "move"), destination=course.calendar)

    for client in (course, bob):
        summaries = [instance["summary"] for instance in client.instances(event["id"])]
        assert summaries == ["Seminar", "Colloquium", "Seminar"]
    assert ada.items(singleEvents="true", showDeleted="true") == []
    assert ada.get(second).status == 404


def test_a_move_needs_a_destination(ada: CalendarClient) -> None:
    event = ada.made()
    move = path("primary", event["id"], "move")

    assert refusal(ada.call("POST", move)) == (400, "required", "destination")
    assert [ada.call("POST", move, destination=other).status for other in ("nothing", BOB)] == [404, 404]
    assert [item["id"] for item in ada.items()] == [event["id"]]
