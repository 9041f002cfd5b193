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


@pytest.mark.spec("E-18", "E-18a", "E-19", "E-19a", "E-19b")
def test_a_patch_changes_what_it_names_and_null_removes_a_field(ada: CalendarClient) -> None:
    properties = {"private": {"a": "1", "b": "2"}, "shared": {"c": "3"}}
    event = ada.made(WEEKLY, summary="Seminar", location="Room 5", attendees=guests(GUEST), description="x",
                     extendedProperties=properties)  # fmt: skip

    answer = ada.patch(event["id"], {"location": "Room 6", "extendedProperties": {"private": {"a": None, "d": "4"}},
                                     "description": None, "recurrence": None})  # fmt: skip

    changed = accepted(answer)
    assert (changed["summary"], changed["location"]) == ("Seminar", "Room 6")
    assert changed["attendees"] == event["attendees"]
    assert changed["extendedProperties"] == {"private": {"b": "2", "d": "4"}, "shared": {"c": "3"}}
    assert changed.keys().isdisjoint({"description", "recurrence"})
    assert ada.read(event["id"]) == changed


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


def test_the_sequence_grows_with_time_and_place_and_never_goes_back(ada: CalendarClient) -> None:
    for change, grown in ((LATER, True), ({"location": "Room 6"}, True), ({"summary": "x"}, False)):
        event = ada.made()
        assert (ada.patch(event["id"], change).json["sequence"] > event["sequence"]) is grown
    event = ada.made(sequence=5)
    assert ada.patch(event["id"], {"sequence": 2, "summary": "x"}).json["sequence"] >= 5
    assert ada.patch(event["id"], {"sequence": 9}).json["sequence"] == 9


def test_a_deleted_event_is_cancelled_and_comes_back(ada: CalendarClient) -> None:
    event = ada.made(summary="Seminar")

    answer, again = ada.delete(event["id"]), ada.delete(event["id"])

    assert (answer.status, answer.body) == (204, b"")
    assert ada.read(event["id"])["status"] == "cancelled"
    assert (again.status, again.error["reason"]) == (410, "deleted")
    assert accepted(ada.patch(event["id"], {"status": "confirmed"}))["status"] == "confirmed"
    assert ada.summaries() == ["Seminar"]


def test_an_unknown_event_is_404(ada: CalendarClient) -> None:
    change = {"summary": "x"}
    for answer in (
        ada.get("nothing"),
        ada.patch("nothing", change),
        ada.put("nothing", SEMINAR),
        ada.delete("nothing"),
    ):
        assert (answer.status, answer.error["reason"]) == (404, "notFound")


def ask(ada: CalendarClient, event: Fields, condition: str) -> Answer:
    headers = {"Authorization": f"Bearer {ada.token}", "If-None-Match": condition}
    return ada.wire.send("GET", path("primary", event["id"]), None, headers, token=None)


def test_an_event_that_has_not_changed_is_304(ada: CalendarClient) -> None:
    event = ada.made(summary="Tea")
    first, second, *_ = ada.instances(ada.made(WEEKLY)["id"])
    ada.patch(first["id"], {"summary": "changed"})

    for condition in ("{etag}", "W/{etag}", '"1", {etag}', "*"):
        answer = ask(ada, event, condition.format(etag=event["etag"]))
        assert (answer.status, answer.body, answer.headers["ETag"]) == (304, b"", event["etag"])
        assert "Content-Length" not in answer.headers
    assert ask(ada, first, first["etag"]).status == 200, "an instance that was changed has an etag of its own"
    assert ask(ada, second, second["etag"]).status == 304
