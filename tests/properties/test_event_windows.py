import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, strategies as st

from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.server.service import Service, open_service
from tests.examples import examples

EVENTS = "http://svc.test/calendar/v3/calendars/primary/events"
BEGIN = datetime(2026, 10, 20, tzinfo=UTC)
ZONES = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC"]
LINES = [
    ["RRULE:FREQ=DAILY;COUNT=9"],
    ["RRULE:FREQ=WEEKLY;BYDAY=MO,WE,SU;COUNT=7"],
    ["RRULE:FREQ=HOURLY;INTERVAL=7;COUNT=12"],
    ["RRULE:FREQ=DAILY;COUNT=9", "EXRULE:FREQ=DAILY;INTERVAL=3;COUNT=2", "RDATE:20261101T003000Z"],
]
hours = st.integers(0, 24 * 20)


@st.composite
def bodies(draw: st.DrawFn) -> dict[str, Any]:
    start, length = BEGIN + timedelta(hours=draw(hours)), draw(st.sampled_from([1, 3, 24, 60]))
    if draw(st.integers(0, 3)) == 0:
        days = [(start + timedelta(days=n)).date().isoformat() for n in (0, 1 + length // 24)]
        return {"start": {"date": days[0]}, "end": {"date": days[1]}}
    zone = draw(st.sampled_from(ZONES))
    times = [(start + timedelta(hours=n)).isoformat() for n in (0, length)]
    body = {name: {"dateTime": at, "timeZone": zone} for name, at in zip(("start", "end"), times, strict=True)}
    return body | {"recurrence": draw(st.sampled_from(LINES))} if draw(st.booleans()) else body


class Calendar:
    def __init__(self, service: Service) -> None:
        self.service, self.token = service, service.sign_in()
        self.empty = service.snapshot()

    def call(self, method: str, url: str, body: Any = None) -> Any:
        content = b"" if body is None else json.dumps(body).encode()
        pairs = Headers([("Authorization", f"Bearer {self.token}"), ("Content-Type", "application/json")])
        response = self.service.handle(Request(method, url, pairs, content))
        assert response.status in (200, 204), response.content()
        return json.loads(response.content() or b"null")

    def pages(self, path: str = "", **parameters: Any) -> list[list[dict[str, Any]]]:
        pages, token = [], {}
        while True:
            page = self.call("GET", f"{EVENTS}{path}?{urlencode(parameters | token)}")
            pages.append(page["items"])
            if "nextPageToken" not in page:
                return pages
            token = {"pageToken": page["nextPageToken"]}

    def fill(self, events: list[dict[str, Any]], moves: list[tuple[int, int | None]]) -> None:
        """Make the events, and move or cancel (None) some of their instances."""
        self.service.restore(self.empty)
        for event in events:
            self.call("POST", EVENTS, event)
        instances = [event for event in self.whole() if "dateTime" in event["start"] and "recurringEventId" in event]
        for which, hour in {which % len(instances): hour for which, hour in moves if instances}.items():
            self.move(instances[which]["id"], hour)

    def move(self, instance: str, hour: int | None) -> None:
        change = {"status": "cancelled"}
        if hour is not None:
            start, end = ({"dateTime": (BEGIN + timedelta(hours=hour + n)).isoformat()} for n in (0, 2))
            change = {"start": start, "end": end, "status": "confirmed"}
        self.call("PATCH", f"{EVENTS}/{instance}", change)

    def whole(self) -> list[dict[str, Any]]:
        pages = self.pages(singleEvents="true", orderBy="startTime", maxResults=2500)
        return [event for page in pages for event in page]


@pytest.fixture(scope="module")
def calendar():
    return Calendar(open_service(seed=0))


def instant(time: dict[str, str]) -> datetime:
    """Return the time of a response. The calendar's zone is UTC."""
    moment = datetime.fromisoformat(time.get("dateTime") or time["date"])
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def names(events: list[dict[str, Any]]) -> list[str]:
    return [event["id"] for event in events]


slow = examples(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
moved = st.lists(st.tuples(st.integers(0, 50), st.none() | hours), max_size=3)


@slow
@given(
    events=st.lists(bodies(), max_size=4), moves=moved, since=hours, length=st.integers(1, 300), size=st.integers(1, 9)
)
def test_a_window_is_a_part_of_the_whole(calendar, events, moves, since, length, size):
    calendar.fill(events, moves)
    begin, end = BEGIN + timedelta(hours=since), BEGIN + timedelta(hours=since + length)
    window = {"timeMin": begin.isoformat(), "timeMax": end.isoformat()}
    order = {"singleEvents": "true", "orderBy": "startTime"}
    whole = calendar.whole()
    expected = names([event for event in whole if instant(event["end"]) > begin and instant(event["start"]) < end])

    pages = calendar.pages(**window, **order, maxResults=size)

    assert [name for page in pages for name in names(page)] == expected
    assert all(len(page) == size for page in pages[:-1])
    assert [instant(event["start"]) for event in whole] == sorted(instant(event["start"]) for event in whole)


@slow
@given(event=bodies(), moves=moved, size=st.integers(1, 5))
def test_the_instances_of_an_event_are_those_of_the_list(calendar, event, moves, size):
    calendar.fill([event | {"id": "abcde", "recurrence": event.get("recurrence", ["RRULE:FREQ=DAILY;COUNT=3"])}], moves)
    whole = calendar.whole()

    assert [event for page in calendar.pages("/abcde/instances", maxResults=size) for event in page] == whole
    assert all(calendar.call("GET", f"{EVENTS}/{event['id']}") == event for event in whole)
