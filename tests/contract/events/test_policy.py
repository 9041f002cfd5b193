from typing import Any

import pytest

from tests.contract.calendar_client import (
    HOLIDAY,
    SEMINAR,
    CalendarClient,
    Fields,
    accepted,
    guests,
    mailed,
    path,
    refusal,
)
from tests.contract.conftest import Wire

REQUEST = {"conferenceData": {"createRequest": {"requestId": "r1"}}}


@pytest.mark.policy(conference="pending-then-success")
def test_a_conference_is_there_at_the_second_look(ada: CalendarClient) -> None:
    event = accepted(ada.insert({**SEMINAR, **REQUEST}, conferenceDataVersion=1))

    first, second = ada.read(event["id"]), ada.read(event["id"])

    for early in (event, first):
        assert conference_status(early) == "pending"
        assert early["conferenceData"].keys() == {"createRequest"}
        assert "hangoutLink" not in early
    assert conference_status(second) == "success"
    assert second["conferenceData"]["entryPoints"][0]["uri"] == second["hangoutLink"]
    assert ada.read(event["id"])["conferenceData"] == second["conferenceData"]


@pytest.mark.policy(conference="failure")
def test_a_failure_is_said(ada: CalendarClient) -> None:
    event = accepted(ada.insert({**SEMINAR, **REQUEST}, conferenceDataVersion=1))

    for shown in (event, ada.read(event["id"]), ada.read(event["id"])):
        assert conference_status(shown) == "failure"
        assert "hangoutLink" not in shown


def conference_status(event: Fields) -> str:
    return str(event["conferenceData"]["createRequest"]["status"]["statusCode"])


@pytest.mark.policy(conference_types=("smoke",))
def test_the_types_are_listed(ada: CalendarClient) -> None:
    for solution_type, status in (("smoke", 200), ("hangoutsMeet", 400)):
        request = {"requestId": "r1", "conferenceSolutionKey": {"type": solution_type}}
        body = {**SEMINAR, "conferenceData": {"createRequest": request}}
        assert ada.insert(body, conferenceDataVersion=1).status == status


@pytest.mark.policy(event_scopes="family")
def test_narrower_scopes_of_the_family_create_events(wire: Wire) -> None:
    scopes = "calendar.events.owned", "calendar.events.readonly", "calendar.app.created"
    owned, reader, app = (wire.service.sign_in(scopes=[scope]) for scope in scopes)
    made = wire.post_json("/calendar/v3/calendars", {"summary": "Team"}, token=app).json["id"]

    assert [wire.post_json(path(), SEMINAR, token=token).status for token in (owned, reader)] == [200, 403]
    assert [wire.post_json(path(name), SEMINAR, token=app).status for name in (made, "primary")] == [200, 404]


def event_of_size(field: str, size: int) -> Fields:
    """An event whose field has this length, or this many entries."""
    match field:
        case "attendees":
            return {field: guests(*(f"guest{n}@elsewhere.example" for n in range(size)))}
        case "attachments":
            return {field: [{"fileUrl": f"https://elsewhere.example/{n}"} for n in range(size)]}
        case "key":
            return {"extendedProperties": {"private": {"k" * size: "v"}}}
        case "value":
            return {"extendedProperties": {"shared": {"k": "v" * size}}}
        case "number of properties":
            return {"extendedProperties": {"private": {f"k{n}": "v" for n in range(size)}}}
        case "bytes of properties":
            whole, rest = divmod(size, 1000)
            pairs = {f"k{n:03}": "é" * 498 for n in range(whole)} | {"rest": "v" * (rest - 4)}
            return {"extendedProperties": {"shared": pairs}}
        case "label":
            point = {"entryPointType": "video", "uri": "https://meet.example/abc", "label": "l" * size}
            return {"conferenceData": {"conferenceSolution": {"name": "Meet"}, "entryPoints": [point]}}
    return {field: "é" * size}


def insert_of_size(ada: CalendarClient, field: str, size: int) -> Any:
    return ada.insert({**SEMINAR, **event_of_size(field, size)}, supportsAttachments="true", conferenceDataVersion=1)


LIMITS = [
    ("summary", 1024, "summary"),
    ("description", 8192, "description"),
    ("location", 1024, "location"),
    ("attendees", 200, "attendees"),
    ("attachments", 25, "attachments"),
    ("key", 44, "extendedProperties.private." + "k" * 45),
    ("value", 1024, "extendedProperties.shared.k"),
    ("number of properties", 300, "extendedProperties"),
    ("bytes of properties", 32 * 1024, "extendedProperties"),
    ("label", 512, "conferenceData.entryPoints[0].label"),
]
"""Fields with the most that the family takes, and where it is said."""


@pytest.mark.policy(event_limits="family")
@pytest.mark.parametrize("field, limit, location", LIMITS, ids=[field for field, *_ in LIMITS])
def test_a_value_beyond_a_limit_is_refused_by_its_field(wire, ada, field, limit, location):
    at_the_limit, beyond = insert_of_size(ada, field, limit), insert_of_size(ada, field, limit + 1)

    assert at_the_limit.status == 200
    assert refusal(beyond) == (400, "invalid", location)
    assert str(limit) in beyond.error["message"]
    assert wire.service.journal()[-1]["decided_by"] == "event_limits"
    assert len(ada.items()) == 1


def test_an_event_has_a_limited_number_of_attendees(ada: CalendarClient) -> None:
    assert [insert_of_size(ada, "attendees", number).status for number in (2000, 2001)] == [200, 400]


@pytest.mark.policy(default_reminder=25, outbox_length=1, calendar_zone="Asia/Tokyo")
class TestNumbers:
    def test_the_reminder_and_the_zone_of_a_calendar_and_the_last_of_the_outbox(self, wire, ada):
        listed = ada.list().json
        ada.insert({**SEMINAR, "attendees": guests("a@elsewhere.example", "b@elsewhere.example")}, sendUpdates="all")

        assert listed["defaultReminders"] == [{"method": "popup", "minutes": 25}]
        assert listed["timeZone"] == "Asia/Tokyo"
        assert ada.made()["start"]["dateTime"] == "2026-11-02T18:00:00+09:00"
        assert mailed(wire) == [("b@elsewhere.example", "request")]

    @pytest.mark.spec("E-04", "E-04b")
    @pytest.mark.choice("The time zone of a recurring all-day event")
    def test_a_day_without_a_zone_begins_at_midnight_of_the_calendar(self, ada: CalendarClient) -> None:
        event = ada.made(HOLIDAY, recurrence=["RRULE:FREQ=YEARLY;COUNT=2"])

        before, after = (ada.instances(event["id"], timeMax=f"2026-12-23T15:00:0{n}Z") for n in (0, 1))

        assert (len(before), len(after)) == (0, 1)
