"""Calls the operations on events and calendars."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import cast

from ...core.http.messages import JSONObject, segment
from ...core.resources.calendars import Acl, AclRule, Calendar, CalendarList, CalendarListEntry, Colors, FreeBusy
from ...core.resources.events import Event, EventList
from ...core.times import UTC_NAME, zone
from ..files import check_id, page_lists, pages
from ..json_response import read_fields, read_resource, reading
from ..session import Parameters, Session

_MAX_PAGE_SIZE = 1000


def insert_event(session: Session, calendar: str, event: JSONObject, *, query: Parameters | None = None) -> Event:
    """Create an event and return it. With an `id` in `event`, a repeated call creates only one event."""
    answer = session.fetch("POST", events_path(session, calendar), query=query, body=event)
    return read_resource(answer, Event, session.base_url, (query or {}).get("fields"), identifier=event.get("id"))


def new_event_ids(session: Session, count: int) -> list[str]:
    """Return random ids. The interface lets the client choose the ids of events."""
    return [f"{session.random.getrandbits(128):032x}" for _ in range(count)]


def import_event(session: Session, calendar: str, event: JSONObject, *, query: Parameters | None = None) -> Event:
    """Add a private copy of an existing event, identified by iCalUID, to a calendar and return the copy."""
    answer = session.fetch("POST", f"{events_path(session, calendar)}/import", query=query, body=event, repeatable=True)
    return read_resource(answer, Event, session.base_url, (query or {}).get("fields"))


def get_event(session: Session, calendar: str, event: str, *, query: Parameters | None = None) -> Event:
    """Return an event or an instance of a recurring event. Raises NotFound if the event does not exist."""
    answer = session.fetch("GET", event_path(session, calendar, event), query=query)
    return read_resource(answer, Event, session.base_url, (query or {}).get("fields"), identifier=event)


def patch_event(
    session: Session,
    calendar: str,
    event: str,
    changes: JSONObject,
    *,
    query: Parameters | None = None,
    if_match: str | None = None,
) -> Event:
    """Set the fields in `changes` on an event, and return the event. The value None removes a field.

    With `if_match`, an etag of the event, raises SvcError (412) if the event has another etag.
    """
    path, headers = event_path(session, calendar, event), _precondition(if_match)
    answer = session.fetch("PATCH", path, query=query, body=changes, headers=headers)
    return read_resource(answer, Event, session.base_url, (query or {}).get("fields"), identifier=event)


def delete_event(
    session: Session, calendar: str, event: str, *, query: Parameters | None = None, if_match: str | None = None
) -> None:
    """Delete an event or an instance of a recurring event. Raises NotFound if the event does not exist."""
    session.execute("DELETE", event_path(session, calendar, event), query=query, headers=_precondition(if_match))


def _precondition(etag: str | None) -> tuple[tuple[str, str], ...]:
    return (("If-Match", etag),) if etag is not None else ()


def list_events(session: Session, calendar: str, query: Parameters, *, limit: int | None = None) -> Iterator[Event]:
    """Return an iterator over at most `limit` events that match `query`. Pages are requested lazily."""
    return _pages(session, events_path(session, calendar), query, limit)


def list_event_pages(
    session: Session, calendar: str, query: Parameters, *, limit: int | None = None
) -> Generator[list[Event], None, None]:
    """Return an iterator over the pages of at most `limit` events that match `query`.

    A thread requests the next page while the caller uses a page, unless the service is in this process.
    """
    path, query = events_path(session, calendar), _with_page_size(query, limit)
    listed = page_lists(session, path, query, "items", EventList, limit=limit, ahead=True)
    return cast(Generator[list[Event], None, None], listed)


def list_instances(
    session: Session, calendar: str, event: str, query: Parameters, *, limit: int | None = None
) -> Iterator[Event]:
    """Return an iterator over at most `limit` instances of a recurring event. Pages are requested lazily."""
    return _pages(session, f"{event_path(session, calendar, event)}/instances", query, limit)


def _pages(session: Session, path: str, query: Parameters, limit: int | None) -> Iterator[Event]:
    return cast(Iterator[Event], pages(session, path, _with_page_size(query, limit), "items", EventList, limit=limit))


def _with_page_size(query: Parameters, limit: int | None) -> Parameters:
    size = _MAX_PAGE_SIZE if limit is None else min(limit, _MAX_PAGE_SIZE)
    return {"maxResults": size or 1, **query}


def get_calendar(session: Session, calendar: str) -> Calendar:
    """Return the metadata of a calendar. Raises NotFound if the calendar does not exist."""
    entry = read_resource(session.fetch("GET", calendar_path(session, calendar)), Calendar, session.base_url)
    with reading(session.base_url):
        zone(entry.get("timeZone") or UTC_NAME)
    return entry


def insert_calendar(session: Session, calendar: JSONObject) -> Calendar:
    """Create a secondary calendar and return its metadata."""
    answer = session.fetch("POST", session.names.calendar_path("calendars"), body=calendar)
    return read_resource(answer, Calendar, session.base_url)


def list_calendars(session: Session) -> Iterator[CalendarListEntry]:
    """Return an iterator over the entries of the caller's calendar list."""
    entries = pages(session, session.names.calendar_path("users", "me", "calendarList"), {}, "items", CalendarList)
    return cast(Iterator[CalendarListEntry], entries)


def list_access_rules(session: Session, calendar: str) -> Iterator[AclRule]:
    """Return an iterator over the access rules of a calendar, beginning with the owner's rule."""
    return cast(Iterator[AclRule], pages(session, f"{calendar_path(session, calendar)}/acl", {}, "items", Acl))


def insert_access_rule(session: Session, calendar: str, rule: JSONObject) -> AclRule:
    """Give a user, a domain or everyone a role on a calendar, and return the access rule."""
    answer = session.fetch("POST", f"{calendar_path(session, calendar)}/acl", body=rule, repeatable=True)
    return read_resource(answer, AclRule, session.base_url)


def delete_access_rule(session: Session, calendar: str, rule_id: str) -> AclRule:
    """Delete an access rule of a calendar, and return the rule. Raises NotFound if there is no such rule."""
    path = f"{calendar_path(session, calendar)}/acl/{segment(rule_id)}"
    rule = read_resource(session.fetch("GET", path), AclRule, session.base_url, identifier=rule_id)
    session.execute("DELETE", path)
    return rule


def query_free_busy(session: Session, query: JSONObject) -> FreeBusy:
    """Return the busy periods of the calendars in a free/busy query."""
    answer = session.fetch("POST", session.names.calendar_path("freeBusy"), body=query, repeatable=True)
    return read_fields(answer, FreeBusy, session.base_url, "calendars")


def colors(session: Session) -> Colors:
    """Return the color palettes of calendars and events."""
    return read_fields(session.fetch("GET", session.names.calendar_path("colors")), Colors, session.base_url, "event")


def calendar_path(session: Session, calendar: str) -> str:
    """Return the URL path of a calendar. Raises TypeError or ValueError for an invalid id."""
    return session.names.calendar_path("calendars", segment(check_id(calendar, "calendar")))


def events_path(session: Session, calendar: str) -> str:
    """Return the URL path of a calendar's event list. Raises TypeError or ValueError for an invalid id."""
    return f"{calendar_path(session, calendar)}/events"


def event_path(session: Session, calendar: str, event: str) -> str:
    """Return the URL path of an event. Raises TypeError or ValueError for an invalid id."""
    return f"{events_path(session, calendar)}/{segment(check_id(event, 'event'))}"
