"""The sync loops of google-api-python-client, gcsa and gcal-sync, over a week, and channels for calendars."""

import asyncio
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import pytest
from googleapiclient.channel import new_webhook_channel
from googleapiclient.errors import HttpError

from tests.receivers import receiver

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


class GcalSync:
    """The copy of gcal-sync, which Home Assistant keeps. It keeps cancelled events, and lists none of them."""

    def __init__(self, base_url: str, token: str) -> None:
        store = pytest.importorskip("gcal_sync.store", reason="gcal-sync is not installed: run make env")
        self.address, self.token, self.store = f"{base_url}/calendar/v3", token, store.InMemoryCalendarStore()
        self.entries: dict[str, Any] = {}

    def run(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        import aiohttp
        from gcal_sync.api import GoogleCalendarService, SyncEventsRequest
        from gcal_sync.auth import AbstractAuth
        from gcal_sync.sync import CalendarEventSyncManager

        class Auth(AbstractAuth):
            async def async_get_access_token(auth) -> str:
                return self.token

        async with aiohttp.ClientSession() as session:
            api = GoogleCalendarService(Auth(session, self.address))
            request = SyncEventsRequest(calendar_id="primary", start_time=datetime(2026, 11, 1, tzinfo=UTC))
            manager = CalendarEventSyncManager(api, request_template=request, store=self.store)
            await manager.run()
            timeline = await manager.store_service.async_get_timeline(UTC)
            listed = timeline.overlapping(datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC))
            self.entries = {f"{each.id} {each.start.value}": (each.summary, str(each.end.value)) for each in listed}


class Gcsa:
    """The copy of a program with gcsa, which has no sync tokens: it asks for what was updated since the last time."""

    def __init__(self, calendar: Any) -> None:
        self.calendar, self.entries, self.since = calendar, {}, datetime(2000, 1, 1, tzinfo=UTC)

    def run(self) -> None:
        begin, end = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)
        for event in self.calendar.get_events(begin, end, updatedMin=self.since.isoformat()):
            self.since = max(self.since, event.updated)
            self.entries.pop(event.id, None)
            if event.other["status"] != "cancelled":
                self.entries[event.id] = (event.start, event.summary)


def test_copies_are_current_after_each_day_of_a_week(calendar, base_url, token, seen):
    api = calendar.service
    events, rules = api.events(), api.acl()

    def event(day, **fields):
        times = {name: {"dateTime": f"2026-11-{day:02}T{hour}:00:00Z", "timeZone": "UTC"} for name, hour in HOURS}
        return {**times, **fields}

    def insert(**body):
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
    course = []
    bob = {"role": "reader", "scope": {"type": "user", "value": "bob@svc.example"}}
    days = [
        lambda: insert(**event(10, summary="new")),
        lambda: insert(start={"date": "2026-11-12"}, end={"date": "2026-11-13"}, summary="Holiday"),
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
    others = [(GcalSync(base_url, token), lambda: GcalSync(base_url, token)), (Gcsa(calendar), lambda: Gcsa(calendar))]
    for day in [lambda: None, *days]:
        day()
        for other, new in others:
            other.run()
            whole = new()
            whole.run()
            assert other.entries == whole.entries != {}
        for copy in copies:
            copy.run()
            again = Sync(copy.collection, always=copy.always, first=copy.first)
            again.run()
            assert copy.entries == again.entries
    assert [copy.full_lists for copy in copies] == [1, 2, 1, 1, 1]
    for library in ("google-api-python-client", "gcal-sync", "gcsa"):
        seen(library, version(library), "events", "sync")


def test_events_and_the_list_are_watched(calendar, service):
    api = calendar.service
    event = {"summary": "Tea", "start": {"date": "2026-12-24"}, "end": {"date": "2026-12-25"}}
    with receiver() as hooks:
        service.register_domain("localhost")
        service.trust(hooks.ca_pem)
        token = api.events().list(calendarId="primary").execute()["nextSyncToken"]
        body = new_webhook_channel(hooks.address, token="secret").body()
        channel = api.events().watch(calendarId="primary", body=body).execute()
        listed = api.calendarList().watch(body=new_webhook_channel(hooks.address).body()).execute()
        api.events().insert(calendarId="primary", body=event).execute()
        api.calendars().insert(body={"summary": "Course"}).execute()
        service.deliver()
        changes = api.events().list(calendarId="primary", syncToken=token).execute()["items"]
        for each in (channel, listed):
            stop = {"id": each["id"], "resourceId": each["resourceId"]}
            assert api.channels().stop(body=stop).execute() in ("", b"")
        with pytest.raises(HttpError):
            api.channels().stop(body=stop).execute()

    states = [(message.channel_id, message.resource_state) for message in hooks.requests]
    assert sorted(states) == sorted((each["id"], state) for each in (channel, listed) for state in ("sync", "exists"))
    assert [change["summary"] for change in changes] == ["Tea"]
