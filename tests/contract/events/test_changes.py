from typing import Any

import pytest

from tests.contract.calendar_client import (
    ADA,
    END,
    GUEST,
    SEMINAR,
    START,
    WEEKLY,
    CalendarClient,
    Fields,
    accepted,
    guests,
    path,
)
from tests.contract.conftest import Answer

LATER = {"start": {**START, "dateTime": "2026-11-02T10:30:00+01:00"}, "end": END}


@pytest.mark.spec("E-18", "E-18a")
def test_a_patch_changes_what_it_names(ada: CalendarClient) -> None:
    event = ada.made(summary="Seminar", location="Room 5", attendees=guests(GUEST))

    answer = ada.patch(event["id"], {"location": "Room 6"})

    changed = accepted(answer)
    assert (changed["summary"], changed["location"]) == ("Seminar", "Room 6")
    assert changed["attendees"] == event["attendees"]
    assert ada.read(event["id"]) == changed


def test_null_in_a_patch_removes_a_field(ada: CalendarClient) -> None:
    event = ada.made(summary="Seminar", location="Room 5", recurrence=["RRULE:FREQ=DAILY;COUNT=2"])

    changed = accepted(ada.patch(event["id"], {"location": None, "recurrence": None}))

    assert changed.keys().isdisjoint({"location", "recurrence"})
    assert changed["summary"] == "Seminar"


@pytest.mark.spec("E-19", "E-19a", "E-19b")
def test_a_patch_reaches_into_properties(ada: CalendarClient) -> None:
    event = ada.made(extendedProperties={"private": {"a": "1", "b": "2"}, "shared": {"c": "3"}})

    changed = ada.patch(event["id"], {"extendedProperties": {"private": {"a": None, "d": "4"}}}).json

    assert changed["extendedProperties"] == {"private": {"b": "2", "d": "4"}, "shared": {"c": "3"}}


def test_an_update_replaces_the_event(ada: CalendarClient) -> None:
    event = ada.made(summary="Seminar", location="Room 5", colorId="3")

    changed = accepted(ada.put(event["id"], {**SEMINAR, "summary": "Colloquium"}))

    assert changed["id"] == event["id"]
    assert changed["summary"] == "Colloquium"
    assert changed.keys().isdisjoint({"location", "colorId"})
    assert (changed["created"], changed["iCalUID"]) == (event["created"], event["iCalUID"])


def test_an_event_may_be_sent_back_as_it_came(ada: CalendarClient) -> None:
    event = ada.made(WEEKLY, summary="Seminar", attendees=guests(ADA, GUEST), colorId="3",
                     extendedProperties={"private": {"a": "1"}})  # fmt: skip

    back = accepted(ada.put(event["id"], event))

    assert {**back, "etag": 0, "updated": 0} == {**event, "etag": 0, "updated": 0}


@pytest.mark.spec("E-02", "E-02a", "E-02b", "E-02c", "E-05", "E-05b", "E-22", "E-24")
@pytest.mark.parametrize(
    "change, reason, location",
    [
        ({"end": START}, "timeRangeEmpty", "timeMax"),
        ({"status": "maybe"}, "invalid", "status"),
        ({"colorId": "12"}, "invalid", "colorId"),
        ({"attendees": [{}]}, "required", "attendees[0].email"),
        ({"recurrence": ["DTSTART:20261102T090000Z"]}, "invalid", "recurrence[0]"),
        ({"start": {"dateTime": "soon"}}, "badRequest", "start.dateTime"),
    ],
)
@pytest.mark.parametrize("method", ["patch", "put"])
def test_a_change_is_checked_like_a_creation(ada, method, change, reason, location):
    event = ada.made(summary="Seminar")

    answer = ada.patch(event["id"], change) if method == "patch" else ada.put(event["id"], {**SEMINAR, **change})

    assert (answer.status, answer.error["reason"]) == (400, reason)
    assert answer.error["location"].startswith(location)
    assert ada.read(event["id"]) == event


def test_a_patch_may_replace_dates_by_date_times(ada: CalendarClient) -> None:
    event = ada.made()
    days = {"start": {"date": "2026-11-02", "dateTime": None, "timeZone": None},
            "end": {"date": "2026-11-03", "dateTime": None, "timeZone": None}}  # fmt: skip

    changed = accepted(ada.patch(event["id"], days))

    assert (changed["start"], changed["end"]) == ({"date": "2026-11-02"}, {"date": "2026-11-03"})


@pytest.mark.parametrize("change, grown", [(LATER, True), ({"location": "Room 6"}, True), ({"summary": "x"}, False)])
def test_the_sequence_grows_with_time_and_place(ada: CalendarClient, change: Fields, grown: bool) -> None:
    event = ada.made()

    assert (ada.patch(event["id"], change).json["sequence"] > event["sequence"]) is grown


def test_a_sequence_never_goes_back(ada: CalendarClient) -> None:
    event = ada.made(sequence=5)

    assert ada.patch(event["id"], {"sequence": 2, "summary": "x"}).json["sequence"] >= 5
    assert ada.patch(event["id"], {"sequence": 9}).json["sequence"] == 9


def test_a_deleted_event_is_cancelled(ada: CalendarClient) -> None:
    event = ada.made()

    answer = ada.delete(event["id"])

    assert (answer.status, answer.body) == (204, b"")
    assert ada.read(event["id"])["status"] == "cancelled"
    again = ada.delete(event["id"])
    assert (again.status, again.error["reason"]) == (410, "deleted")


def test_a_cancelled_event_comes_back(ada: CalendarClient) -> None:
    event = ada.made(summary="Seminar")
    ada.delete(event["id"])

    revived = accepted(ada.patch(event["id"], {"status": "confirmed"}))

    assert revived["status"] == "confirmed"
    assert ada.summaries() == ["Seminar"]


@pytest.mark.parametrize("call", [
    lambda client: client.get("nothing"),
    lambda client: client.patch("nothing", {"summary": "x"}),
    lambda client: client.put("nothing", SEMINAR),
    lambda client: client.delete("nothing"),
])  # fmt: skip
def test_an_unknown_event_is_404(ada: CalendarClient, call: Any) -> None:
    answer: Answer = call(ada)

    assert (answer.status, answer.error["reason"]) == (404, "notFound")


def ask(ada: CalendarClient, event: Fields, condition: str) -> Answer:
    headers = {"Authorization": f"Bearer {ada.token}", "If-None-Match": condition}
    return ada.wire.send("GET", path("primary", event["id"]), None, headers, token=None)


@pytest.mark.parametrize("condition", ["{etag}", "W/{etag}", '"1", {etag}', "*"])
def test_an_event_that_has_not_changed_is_304(ada: CalendarClient, condition: str) -> None:
    event = ada.made(summary="Tea")

    answer = ask(ada, event, condition.format(etag=event["etag"]))

    assert (answer.status, answer.body, answer.headers["ETag"]) == (304, b"", event["etag"])
    assert "Content-Length" not in answer.headers


def test_an_instance_that_was_changed_has_an_etag_of_its_own(ada: CalendarClient) -> None:
    first, second, *_ = ada.instances(ada.made(WEEKLY)["id"])
    ada.patch(first["id"], {"summary": "changed"})

    assert ask(ada, first, first["etag"]).status == 200
    assert ask(ada, second, second["etag"]).status == 304
