"""Calls the operations on events and calendars (B1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from ...core.http.messages import JSONObject, segment
from ...core.resources.calendars import Calendar, CalendarListEntry, Colors
from ...core.resources.events import Event
from ..files import check_id, pages
from ..session import Session

_MAX_PAGE_SIZE = 2500


def insert_event(
    session: Session, calendar: str, event: JSONObject, *, query: Mapping[str, object] | None = None
) -> Event:
    """Create an event. A call with an `id` in the event can be repeated safely."""
    return cast(Event, session.call("POST", events_path(session, calendar), query=query, body=event))


def import_event(session: Session, calendar: str, event: JSONObject) -> Event:
    """Import a private copy of an event from elsewhere, which its iCalUID identifies."""
    return cast(Event, session.call("POST", f"{events_path(session, calendar)}/import", body=event))


def get_event(session: Session, calendar: str, event: str, *, query: Mapping[str, object] | None = None) -> Event:
    """Return an event or an instance. Raises NotFound."""
    return cast(Event, session.call("GET", event_path(session, calendar, event), query=query))


def patch_event(
    session: Session, calendar: str, event: str, changes: JSONObject, *, query: Mapping[str, object] | None = None
) -> Event:
    """Change some fields of an event. null removes one."""
    return cast(Event, session.call("PATCH", event_path(session, calendar, event), query=query, body=changes))


def delete_event(session: Session, calendar: str, event: str, *, query: Mapping[str, object] | None = None) -> None:
    """Cancel an event or one instance. Raises NotFound, also if it was deleted before."""
    session.call("DELETE", event_path(session, calendar, event), query=query)


def list_events(
    session: Session, calendar: str, query: Mapping[str, object], *, limit: int | None = None
) -> Iterator[Event]:
    """Yield the events that match. Pages are fetched as they are needed."""
    return _pages(session, events_path(session, calendar), query, limit)


def list_instances(
    session: Session, calendar: str, event: str, query: Mapping[str, object], *, limit: int | None = None
) -> Iterator[Event]:
    """Yield the instances of a recurring event. Pages are fetched as they are needed."""
    return _pages(session, f"{event_path(session, calendar, event)}/instances", query, limit)


def _pages(session: Session, path: str, query: Mapping[str, object], limit: int | None) -> Iterator[Event]:
    size = _MAX_PAGE_SIZE if limit is None else min(limit, _MAX_PAGE_SIZE)
    return cast(Iterator[Event], pages(session, path, {"maxResults": size or 1, **query}, "items", limit=limit))


def get_calendar(session: Session, calendar: str) -> Calendar:
    """Return a calendar. Raises NotFound."""
    return cast(Calendar, session.call("GET", calendar_path(session, calendar)))


def insert_calendar(session: Session, calendar: JSONObject) -> Calendar:
    """Create a secondary calendar."""
    return cast(Calendar, session.call("POST", session.names.calendar_path("calendars"), body=calendar))


def list_calendars(session: Session) -> Iterator[CalendarListEntry]:
    """Yield the calendars of the caller's list."""
    entries = pages(session, session.names.calendar_path("users", "me", "calendarList"), {}, "items")
    return cast(Iterator[CalendarListEntry], entries)


def colors(session: Session) -> Colors:
    """Return the colors that calendars and events can have."""
    return cast(Colors, session.call("GET", session.names.calendar_path("colors")))


def calendar_path(session: Session, calendar: str) -> str:
    """Return the path of a calendar."""
    return session.names.calendar_path("calendars", segment(check_id(calendar, "calendar")))


def events_path(session: Session, calendar: str) -> str:
    """Return the path of a calendar's events."""
    return f"{calendar_path(session, calendar)}/events"


def event_path(session: Session, calendar: str, event: str) -> str:
    """Return the path of an event."""
    return f"{events_path(session, calendar)}/{segment(check_id(event, 'event'))}"
