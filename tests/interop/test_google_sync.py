"""The sync loop of the family's guide with google-api-python-client, unmodified, over a week of changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from googleapiclient.errors import HttpError

pytestmark = pytest.mark.interop

HOURS = (("start", "10"), ("end", "11"))
WINDOW = {"timeMin": "2026-11-01T00:00:00Z", "timeMax": "2026-12-01T00:00:00Z"}


class Sync:
    """A copy of a list. A token that is no longer valid begins a new copy, as in the guide."""

    def __init__(self, collection: Any, *, always: dict[str, Any] | None = None, first: dict[str, Any] | None = None):
        self.collection, self.always, self.first = collection, always or {}, first or {}
        self.entries: dict[str, Any] = {}
        self.token: str | None = None
        self.full_lists = 0

    def run(self) -> None:
        parameters = {**self.always, **({"syncToken": self.token} if self.token else self.first)}
        if self.token is None:
            self.entries, self.full_lists = {}, self.full_lists + 1
        request = self.collection.list(**parameters)
        while request is not None:
            try:
                page = request.execute()
            except HttpError as error:
                if error.status_code != 410:
                    raise
                self.token = None
                return self.run()
            for entry in page["items"]:
                gone = entry.get("status") == "cancelled" or entry.get("deleted") or entry.get("role") == "none"
                self.entries.pop(entry["id"], None) if gone else self.entries.update({entry["id"]: entry})
            self.token = page.get("nextSyncToken")
            request = self.collection.list_next(request, page)


def test_copies_are_current_after_each_day_of_a_week(calendar: Any) -> None:
    api = calendar.service
    events, rules = api.events(), api.acl()

    def event(day: int, **fields: Any) -> dict[str, Any]:
        times = {name: {"dateTime": f"2026-11-{day:02}T{hour}:00:00Z", "timeZone": "UTC"} for name, hour in HOURS}
        return {**times, **fields}

    def insert(**body: Any) -> str:
        return str(events.insert(calendarId="primary", body=body).execute()["id"])

    first, series = insert(**event(3)), insert(**event(4, recurrence=["RRULE:FREQ=WEEKLY;COUNT=3"]))
    of_primary = {"calendarId": "primary"}
    copies = [
        Sync(events, always={**of_primary, "timeZone": "UTC", "maxResults": 2}),
        Sync(events, always={**of_primary, "timeZone": "UTC", "singleEvents": True}, first=WINDOW),
        Sync(api.calendarList()),
        Sync(rules, always=of_primary),
        Sync(api.settings()),
    ]
    course: list[str] = []
    bob = {"role": "reader", "scope": {"type": "user", "value": "bob@svc.example"}}
    days: list[Callable[[], Any]] = [
        lambda: insert(**event(10, summary="new")),
        lambda: events.patch(calendarId="primary", eventId=first, body=event(20)).execute(),
        lambda: events.delete(calendarId="primary", eventId=f"{series}_20261111T100000Z").execute(),
        lambda: events.patch(calendarId="primary", eventId=series, body=event(5)).execute(),
        lambda: course.append(api.calendars().insert(body={"summary": "Course"}).execute()["id"]),
        lambda: rules.insert(calendarId="primary", body=bob).execute(),
        lambda: api.calendars().patch(calendarId="primary", body={"timeZone": "Asia/Tokyo"}).execute(),
        lambda: (events.delete(calendarId="primary", eventId=first).execute(),
                 api.calendars().delete(calendarId=course[0]).execute(),
                 rules.delete(calendarId="primary", ruleId="user:bob@svc.example").execute()),
    ]  # fmt: skip
    for day in [lambda: None, *days]:
        day()
        for copy in copies:
            copy.run()
            whole = Sync(copy.collection, always=copy.always, first=copy.first)
            whole.run()
            assert copy.entries == whole.entries
    assert [copy.full_lists for copy in copies] == [1, 2, 1, 1, 1]
