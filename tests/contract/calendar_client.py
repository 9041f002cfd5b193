"""A person's calendar, spoken to in raw HTTP, and the words that tests about events share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, cast
from urllib.parse import quote, urlencode

from svc_notebooks.server.service import Service, open_service
from tests.contract.wire import Answer, Wire

ADA, BOB, EVE = "ada@svc.example", "bob@svc.example", "eve@svc.example"
GUEST = "guest@elsewhere.example"
"""Somebody who has no account here."""

START = {"dateTime": "2026-11-02T10:00:00+01:00", "timeZone": "Europe/Berlin"}
END = {"dateTime": "2026-11-02T11:30:00+01:00", "timeZone": "Europe/Berlin"}
SEMINAR: dict[str, Any] = {"start": START, "end": END}
HOLIDAY: dict[str, Any] = {"start": {"date": "2026-12-24"}, "end": {"date": "2026-12-27"}}
WEEKLY = {**SEMINAR, "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=4"]}

LIST = "/calendar/v3/users/me/calendarList"

Fields = dict[str, Any]


def entry_path(calendar: str) -> str:
    return f"{LIST}/{quote(calendar, safe='')}"


def path(calendar: str = "primary", *more: str) -> str:
    """The address of a calendar's events, or of what lies below them."""
    return "/".join(["/calendar/v3/calendars", quote(calendar, safe=""), "events", *(quote(m, safe="") for m in more)])


def query(parameters: Fields) -> str:
    """The parameters of a call as a query; a list is repeated."""
    return f"?{urlencode(parameters, doseq=True)}" if parameters else ""


class CalendarClient:
    """One user's calendar; parameters of the call are keywords."""

    def __init__(self, wire: Wire, user: str = ADA, calendar: str = "primary") -> None:
        self.wire = wire
        self.user = user
        self.calendar = calendar
        self.token = wire.service.sign_in(user)
        wire.calendar(self.token, calendar)

    def call(self, method: str, target: str, body: Fields | None = None, **parameters: Any) -> Answer:
        target += query(parameters)
        if body is None:
            return self.wire.send(method, target, token=self.token)
        return self.wire.json_request(method, target, body, token=self.token)

    def insert(self, event: Fields, **parameters: Any) -> Answer:
        return self.call("POST", path(self.calendar), event, **parameters)

    def made(self, event: Fields | None = None, /, **fields: Any) -> Fields:
        """An event that the service accepted, as it answered; the seminar where no other is given."""
        return accepted(self.insert({**SEMINAR, **(event or {}), **fields}))

    def get(self, event_id: str, **parameters: Any) -> Answer:
        return self.call("GET", path(self.calendar, event_id), **parameters)

    def read(self, event_id: str, **parameters: Any) -> Fields:
        return accepted(self.get(event_id, **parameters))

    def patch(self, event_id: str, change: Fields, **parameters: Any) -> Answer:
        return self.call("PATCH", path(self.calendar, event_id), change, **parameters)

    def put(self, event_id: str, event: Fields, **parameters: Any) -> Answer:
        return self.call("PUT", path(self.calendar, event_id), event, **parameters)

    def delete(self, event_id: str, **parameters: Any) -> Answer:
        return self.call("DELETE", path(self.calendar, event_id), **parameters)

    def list(self, **parameters: Any) -> Answer:
        return self.call("GET", path(self.calendar), **parameters)

    def items(self, **parameters: Any) -> list[Fields]:
        """The events that were not there before the test."""
        page = accepted(self.list(**parameters))
        events = cast("list[Fields]", page["items"])
        while "nextPageToken" in page and "maxResults" not in parameters:
            page = accepted(self.list(**parameters, pageToken=page["nextPageToken"]))
            events += page["items"]
        return self.wire.new(events)

    def pages(self, **parameters: Any) -> Iterator[list[str]]:
        """The ids on each page of a list, from the first one or from that of a pageToken."""
        page: Fields = {"nextPageToken": None}
        while "nextPageToken" in page:
            token = {"pageToken": page["nextPageToken"]} if page["nextPageToken"] else {}
            page = accepted(self.list(**{**parameters, **token}))
            yield [item["id"] for item in page["items"]]

    def responses(self, event_id: str) -> dict[str, str]:
        """The response of each attendee of an event."""
        return {attendee["email"]: attendee["responseStatus"] for attendee in self.read(event_id)["attendees"]}

    def new_calendar(self, **fields: str) -> str:
        """The id of a second calendar of this person."""
        made = accepted(self.call("POST", "/calendar/v3/calendars", {"summary": "Course", **fields}))
        return cast(str, made["id"])

    def share(self, role: str, user: str) -> Fields:
        """The rule that gives a person a role in this calendar."""
        rule = {"role": role, "scope": {"type": "user", "value": user}}
        return accepted(self.call("POST", f"/calendar/v3/calendars/{quote(self.calendar, safe='')}/acl", rule))

    def summaries(self, **parameters: Any) -> list[str]:
        return [event["summary"] for event in self.items(**parameters)]

    def instances(self, event_id: str, **parameters: Any) -> list[Fields]:
        answer = self.call("GET", path(self.calendar, event_id, "instances"), **parameters)
        return cast("list[Fields]", accepted(answer)["items"])


@cache
def _blank() -> tuple[Service, str]:
    service = open_service(seed=0)
    return service, service.snapshot()


def emptied() -> Service:
    """A service with nothing in it, at a tenth of what a new one costs: for tables of a hundred rows."""
    service, empty = _blank()
    service.restore(empty)
    return service


def accepted(answer: Answer) -> Fields:
    """The body of an answer that is 200."""
    assert answer.status == 200, answer.body
    return cast(Fields, answer.json)


def refusal(answer: Answer) -> tuple[int, str, str | None]:
    """Status, reason, and the field that the envelope points at."""
    error = answer.error
    return answer.status, error["reason"], error.get("location")


def guests(*emails: str, **more: Any) -> list[Fields]:
    return [{"email": email, **more} for email in emails]


def emails(event: Fields) -> list[str]:
    return [attendee["email"] for attendee in event.get("attendees", [])]


def invitations(wire: Wire) -> list[Fields]:
    """The mails about events of this test that would have been sent."""
    return wire.mails(wire.service.outbox())


def mailed(wire: Wire) -> list[tuple[str, str]]:
    """To whom, and what for."""
    return [(mail["to"], mail["method"]) for mail in invitations(wire)]
