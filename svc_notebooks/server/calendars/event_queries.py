"""Handlers that list events or instances in pages, and that answer when the owners of calendars are busy.

A page token contains the key of the last event, so events created or deleted between two pages do not shift the next
page. The instances of a series share the JSON of everything but id and times.

The answer to a free/busy query has no other fields of the events.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import chain
from typing import Any

from ...core import field_mask
from ...core.errors.catalogue import ApiError, Row, refuse, row as error_row
from ...core.events.calendars import CalendarRole, busy_periods
from ...core.events.event_times import TimeError, print_instant, read_date, read_utc
from ...core.events.fields import EVENT_SHAPE
from ...core.events.rrule import Start, WorkBudget, WorkExceeded
from ...core.events.validation import recurrence_of
from ...core.field_mask import Mask, shape_of
from ...core.http.messages import JSON, JSONObject, Query, Response
from ...core.resources.calendars import BusyCalendar, FreeBusy
from ...core.resources.events import Event, EventList
from ...core.thread_permit import in_slices
from ...core.times import format_millis, from_millis, to_millis, zone
from ..dispatch.page_tokens import decode_page_token, encode_page_token, selecting_parameters
from ..dispatch.requests_and_responses import (
    json_bytes,
    json_response,
    json_text,
    parse_fields_param,
    read_json,
    resource_response,
    select_fields,
)
from ..dispatch.service_context import Cursor, RequestContext, ServiceContext
from . import listed_events
from .access import calendar_of, default_reminders, role_of, title_of
from .event_messages import events_of
from .event_requests import page_size, view_of
from .event_resource import EventRecord, EventView, removed_event, time_text
from .instances import TimeSpan, build_instance, event_in_path, find_event, instance_id, instances, is_within, overlaps
from .tables import CalendarRow, EventRow

_TIMES = {"start": "start", "end": "end", "originalStartTime": "start"}
_MARK = "\ud800"  # a lone surrogate, which no text of an event has
_MARKED = re.compile(f"{_MARK}(id|link|start|end)")


class EventTexts:
    """Writes the events of a view as JSON, on one line or indented by two spaces.

    `mask` has the fields of each event. `shared` has a template for each series, by the number of its row.
    """

    def __init__(self, query: Query, mask: Mask, view: EventView, shared: dict[int, str]) -> None:
        self._mask, self._view, self._shared = mask, view, shared
        self._is_compact = query.get("prettyPrint") == "false"
        self._key = (view.key, query.get("fields"), self._is_compact)

    def page(self, page: Mapping[str, Any], entries: Sequence[listed_events.KeyedEvent]) -> str:
        """Return the JSON of a page of events, of which there is at least one."""
        items = [self._item(event_id, entry) for (_, event_id), entry in in_slices(entries)]
        name, inner = '"items":' if self._is_compact else '"items": ', self._line(2)
        before, _, after = json_text(page, self._line(0)).partition(f"{name}[]")
        return f"{before}{name}[{inner}{(',' + inner).join(items)}{self._line(1)}]{after}{self._line(0)}"

    def _line(self, depth: int) -> str:
        """Return the beginning of a line at a depth of the JSON, or "" if everything is on one line."""
        return "" if self._is_compact else "\n" + "  " * depth

    def _item(self, event_id: str, entry: listed_events.ListedEvent) -> str:
        """Return the JSON of an event, or of the instance of a recurring event with this id."""
        event, times = entry
        if times is None:
            return self._stored(event) if event.has_fields_of_row else self._text(self._view.resource(event))
        template = self._shared.get(event.row.seq)
        if template is None:
            template = self._shared[event.row.seq] = self._template(event, times)
        if times.dates:
            start, end = (day.isoformat() for day in times.dates)
        else:
            start, end = time_text(times.start, self._view.zone), time_text(times.end, self._view.zone)
        return template % {"id": event_id, "link": self._view.link(event_id), "start": start, "end": end}

    def _stored(self, event: EventRecord) -> str:
        """Return the JSON of an event whose fields are those of its row, which is built again only if it changes."""
        texts, key = self._view.context.texts, (event.row, self._key)
        text = texts.get(key)
        if text is None:
            text = self._text(self._view.resource(event))
            texts.keep(key, text, len(event.row.body) + len(text))
        return text

    def _text(self, resource: Any) -> str:
        return json_text(field_mask.apply(self._mask, resource), self._line(2))

    def _template(self, event: EventRecord, times: TimeSpan) -> str:
        """Return the JSON of an instance as a template with names for the id, the link and the times.

        The texts that replace the names consist of characters that JSON does not escape.
        """
        resource: Any = self._view.resource(build_instance(event, times))
        resource |= {"id": f"{_MARK}id", "htmlLink": f"{_MARK}link"}
        for name, time in _TIMES.items():
            texts = resource[name].items()
            resource[name] = {key: _MARK + time if key in ("date", "dateTime") else text for key, text in texts}
        return _MARKED.sub(r"%(\1)s", self._text(resource).replace("%", "%%"))


_DEFAULT_PAGE_SIZE, _MAX_PAGE_SIZE = 250, 2500
_LIST_SHAPE = {**shape_of(EventList), "items": EVENT_SHAPE}


def list_events(context: ServiceContext, request: RequestContext) -> Response:
    """Return a page of the events of a calendar. With singleEvents, instances replace the recurring events."""
    calendar = calendar_of(context, request, CalendarRole.READER)
    parse_fields_param(request.query, {}, _LIST_SHAPE)
    view = view_of(context, request, calendar)
    criteria = listed_events.read_criteria(context, request, view)
    last = context.store.events.last(calendar.id), context.store.changes.last()
    expands = criteria.single and criteria.since is None
    listing = ("events", calendar.id, selecting_parameters(request.query, request.operation))

    def events_from(key: listed_events.Key | None) -> Cursor:
        if expands:
            return listed_events.expand_calendar(context, calendar, criteria, key)
        return Cursor((_rows if criteria.since is None else _changes)(context, calendar, criteria, key))

    return _page(context, request, view, listing, events_from, criteria, last, expands=expands)


def list_instances(context: ServiceContext, request: RequestContext) -> Response:
    """Return a page of the instances of one recurring event. Raises ApiError (400) for an event that does not recur."""
    calendar = calendar_of(context, request, CalendarRole.READER)
    parse_fields_param(request.query, {}, _LIST_SHAPE)
    view = view_of(context, request, calendar)
    criteria = listed_events.read_criteria(context, request, view)
    event = event_in_path(context, request, calendar)
    if not event.row.recurring:
        raise refuse("invalid", field="eventId", message="expected a recurring event, but this event takes place once.")
    if event.row.cancelled:
        raise refuse("deleted")

    original = _original(request.query)

    def instances_from(key: listed_events.Key | None) -> Cursor:
        if original is None:
            return listed_events.expand_event(context, calendar, criteria, key, event.row)
        instance = find_event(context, calendar, instance_id(event.row.id, original))
        return Cursor(listed_events.by_start([instance] if instance and criteria.matches(instance) else []))

    listing = ("instances", calendar.id, event.row.id, selecting_parameters(request.query, request.operation))
    return _page(context, request, view, listing, instances_from, criteria, None, expands=True)


def _original(query: Query) -> Start | None:
    """Return `originalStart` as a date or time, or None if missing. Raises ApiError (400) for an invalid value."""
    text = query.get("originalStart")
    if text is None or re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) is None:
        return listed_events.read_instant(query, "originalStart")
    try:
        return read_date(text)
    except TimeError as error:
        raise refuse("invalidParameter", name="originalStart", message=str(error)) from None


# -- selection -------------------------------------------------------------------------------------------------------


def _rows(
    context: ServiceContext, calendar: CalendarRow, criteria: listed_events.ListCriteria, key: listed_events.Key | None
) -> Iterator[listed_events.KeyedEvent]:
    """Yield the stored events and changed instances. Raises PageEnds if the budget is spent."""
    events, is_updated = context.store.events, criteria.order == "updated"
    rows = (events.by_update if is_updated else events.by_age)(calendar.id, *(key or (listed_events.FIRST, "")))
    work = WorkBudget()  # unlimited, because every event is examined completely, but the steps are counted
    for row in rows:
        at = (row.updated if is_updated else row.place, row.id)
        if _matches(calendar, criteria, row, work) and criteria.passes(event := _full_event(context, calendar, row)):
            yield at, listed_events.ListedEvent(event)
        if work.done > context.policy.expansion_steps:
            raise listed_events.PageEnds(at)


def _full_event(context: ServiceContext, calendar: CalendarRow, row: EventRow) -> EventRecord:
    return (find_event(context, calendar, row.id) if row.series else None) or EventRecord(row)


def _matches(calendar: CalendarRow, criteria: listed_events.ListCriteria, row: EventRow, work: WorkBudget) -> bool:
    if criteria.updated is not None and row.updated < to_millis(criteria.updated):
        return False
    if row.cancelled and not (criteria.deleted or row.series):
        return False
    if row.recurring:
        everything = criteria.after is None and criteria.before is None
        return everything or is_within(EventRecord(row).body, calendar, criteria.after, criteria.before, work)
    return overlaps(row, criteria.after, criteria.before)


def _changes(
    context: ServiceContext, calendar: CalendarRow, criteria: listed_events.ListCriteria, key: listed_events.Key | None
) -> Iterator[listed_events.KeyedEvent]:
    """Yield the events that changed since a sync token, in the order of the changes.

    An event that the list no longer has is cancelled in the changes. Raises ApiError (410) if the budget for the
    instances of recurring events is spent.
    """
    events, since, work = context.store.events, criteria.since or 0, WorkBudget(context.policy.expansion_steps)
    for event_id in sorted(set(context.store.changes.since(events_of(calendar.id), criteria.removed_since))):
        if events.get(calendar.id, event_id) is None:
            yield (0, event_id), listed_events.ListedEvent(removed_event(calendar.id, event_id))
    try:  # all entries for a recurring event have the number of its row
        for row in events.since(calendar.id, max(since, key[0] - 1) if key else since):
            for event in _changed_events(context, calendar, criteria, row, work):
                yield (row.seq, event.row.id), listed_events.ListedEvent(event)
    except WorkExceeded:
        raise refuse("fullSyncRequired") from None


def _changed_events(
    context: ServiceContext,
    calendar: CalendarRow,
    criteria: listed_events.ListCriteria,
    row: EventRow,
    work: WorkBudget,
) -> Iterator[EventRecord]:
    """Yield the events for a row that changed, in the order of their ids.

    For a recurring event, these are all instances in a list of instances, and otherwise the event with its changed
    instances, which have fields of the event.
    """
    events = context.store.events
    if criteria.single and row.recurring:
        changed = []
        horizon = criteria.horizon_of(row, recurrence_of(EventRecord(row).body))
        for instance in instances(context, calendar, row, criteria.after, criteria.before, work, horizon):
            work.spend()
            changed.append(instance)
        yield from sorted(filter(criteria.passes, changed), key=lambda event: event.row.id)
        return
    own = events.changed_instances(calendar.id, row.id) if row.recurring and not row.cancelled else []
    for stored in (row, *sorted(own, key=lambda instance: instance.id)):
        event = _full_event(context, calendar, stored)
        if not criteria.passes(event):
            continue
        if stored.cancelled or _matches(calendar, criteria, stored, work):
            yield event
        elif stored.series or stored.place <= (criteria.since or 0):  # not a new event outside the window
            yield removed_event(calendar.id, stored.id)


# -- pages -----------------------------------------------------------------------------------------------------------


def _page(
    context: ServiceContext,
    request: RequestContext,
    view: EventView,
    listing: tuple[str, ...],
    pick: Callable[[listed_events.Key | None], Cursor],
    criteria: listed_events.ListCriteria,
    last: tuple[int, int] | None,
    *,
    expands: bool,
) -> Response:
    """Return a page of the events that `pick` selects. `expands` is True if that is expensive to begin at a key."""
    size = page_size(request.query, _DEFAULT_PAGE_SIZE, _MAX_PAGE_SIZE)
    token = request.query.get("pageToken")
    at, event_id, last = decode_page_token(token, listing, 3, context.secret) if token else (None, "", last)
    style = (request.query.get("fields"), request.query.get("prettyPrint"))
    key = (at, event_id) if at is not None else None
    # A cursor is used only if nothing has changed since the previous page. A row that another thread writes in between
    # changes the state, too.
    state = (*view.key, listing, style, context.store.events.state(view.calendar.id)) if expands else None
    cursor = context.cursors.take((token, state)) if token and expands else None
    if cursor and cursor.work:
        cursor.work.renew()
    cursor = cursor or pick(key)
    entries: list[listed_events.KeyedEvent] = []
    next_key = None
    try:
        for entry in in_slices(cursor.entries):
            if key is None or entry[0] > key:
                entries.append(entry)
            if len(entries) > size:
                next_key = entries[size - 1][0]
                break
    except listed_events.PageEnds as end:
        next_key = end.key
    calendar = view.calendar
    role = role_of(context, view.user, calendar) or CalendarRole.READER
    updated = context.store.events.latest(calendar.id) or calendar.created
    page: EventList = {
        "kind": context.names.calendar_kind("events"),
        "etag": f'"{updated * 2}000"',
        "summary": title_of(calendar),
        "updated": format_millis(updated),
        "timeZone": str(view.zone),
        "accessRole": role.wire_name,
        "defaultReminders": default_reminders(context),
        "items": [],
    }
    if next_key is not None:
        page["nextPageToken"] = token = encode_page_token((*next_key, last), listing, context.secret)
        if len(entries) > size and expands and cursor.series:  # otherwise the list is cheap to begin at the key
            rest = chain(entries[size:], cursor.entries)
            context.cursors.keep((token, state), dataclasses.replace(cursor, entries=rest), cursor.size)
    elif last and (sync_token := listed_events.next_sync_token(context, request.query, calendar, criteria, *last)):
        page["nextSyncToken"] = sync_token
    return _response(request, page, view, cursor.shared, entries[:size])


def _response(
    request: RequestContext,
    page: EventList,
    view: EventView,
    shared: dict[int, str],
    entries: list[listed_events.KeyedEvent],
) -> Response:
    """Return the response with a page without its items, whose JSON is built from the entries."""
    mask = parse_fields_param(request.query, {}, _LIST_SHAPE)
    selection = select_fields(mask, page)
    if not entries or "items" not in selection:
        return json_response(request.query, selection)
    items_mask = field_mask.ALL if field_mask.STAR in (mask or {}) else (mask or {}).get("items", field_mask.ALL)
    texts = EventTexts(request.query, items_mask, view, shared)
    return json_bytes(texts.page(selection, entries).encode("utf-8", "replace"))


_BUSY_SHAPE = shape_of(FreeBusy)
MAX_CALENDARS = 50
_MAX_GROUP_MEMBERS = 100
_MAX_ITEMS = 1000


@dataclass(frozen=True, slots=True)
class FreeBusyQuery:
    """A valid free/busy query. Times are in UTC, and `zone` is the time zone of the times in the response.

    `calendars` are the ids in the order of the query, and `most` is the largest number of them that may be answered.
    """

    begin: datetime
    end: datetime
    zone: tzinfo
    calendars: tuple[str, ...]
    most: int


def check_free_busy(body: JSONObject) -> FreeBusyQuery:
    """Return the query from a request body. Raises ApiError (400) with all problems of the body.

    >>> window = {"timeMin": "2026-11-02T00:00:00Z", "timeMax": "2026-11-03T00:00:00Z"}
    >>> check_free_busy({**window, "items": [{"id": "primary"}]}).calendars
    ('primary',)
    """
    problems: list[Row] = []
    begin, end = (_read_bound(body, name, problems) for name in ("timeMin", "timeMax"))
    most = _read_count(body, "calendarExpansionMax", MAX_CALENDARS, problems)
    _read_count(body, "groupExpansionMax", _MAX_GROUP_MEMBERS, problems)
    name, tz = body.get("timeZone"), UTC
    try:
        tz = UTC if name is None else zone(name if isinstance(name, str) else repr(name))  # type: ignore[assignment]
    except ValueError as error:
        problems.append(error_row("invalid", field="timeZone", message=f"{error}."))
    calendars = _read_calendars(body.get("items"), problems)
    if problems or begin is None or end is None:
        raise ApiError(problems)
    if end <= begin:
        raise refuse("timeRangeEmpty")
    return FreeBusyQuery(begin, end, tz, calendars, most)


def _read_bound(body: JSONObject, name: str, problems: list[Row]) -> datetime | None:
    moment = read_utc(body.get(name))
    if body.get(name) is None:
        problems.append(error_row("required", field=name))
    elif moment is None:
        message = "expected RFC 3339 with an offset, such as 2026-11-02T00:00:00Z."
        problems.append(error_row("invalid", field=name, message=message))
    return moment


def _read_count(body: JSONObject, name: str, most: int, problems: list[Row]) -> int:
    value = body.get(name)
    if value is None:
        return most
    if type(value) is int and 1 <= value <= most:
        return value
    problems.append(error_row("invalid", field=name, message=f"expected a number from 1 to {most}."))
    return most


def _read_calendars(items: JSON, problems: list[Row]) -> tuple[str, ...]:
    if not isinstance(items, list | None):
        problems.append(error_row("invalid", field="items", message='expected a list such as [{"id": "primary"}].'))
        return ()
    if items and len(items) > _MAX_ITEMS:
        problems.append(error_row("invalid", field="items", message=f"expected at most {_MAX_ITEMS} calendars."))
        return ()
    names: list[str] = []
    for index, item in enumerate(items or []):
        name = item.get("id") if isinstance(item, dict) else None
        if isinstance(name, str) and name:
            names.append(name)
        else:
            problems.append(error_row("invalid", field=f"items[{index}].id", message="expected the id of a calendar."))
    return tuple(dict.fromkeys(names))


def free_busy(context: ServiceContext, request: RequestContext) -> Response:
    """Return the busy periods of calendars. A calendar that the caller cannot see has an error instead."""
    parse_fields_param(request.query, {}, _BUSY_SHAPE)
    query = check_free_busy(read_json(request.body, context.policy.max_metadata_size))
    work = WorkBudget(context.policy.expansion_steps)
    try:
        calendars = {
            name: _answer(context, request, query, name, work) if position < query.most else _error("tooManyCalendars")
            for position, name in enumerate(query.calendars)
        }
    except WorkExceeded:
        raise refuse("timeRangeTooLong") from None
    value: FreeBusy = {
        "kind": context.names.calendar_kind("freeBusy"),
        "timeMin": print_instant(query.begin, query.zone),
        "timeMax": print_instant(query.end, query.zone),
        "groups": {},
        "calendars": calendars,
    }
    return resource_response(request, value, _BUSY_SHAPE)


def _error(reason: str) -> BusyCalendar:
    return {"errors": [{"domain": "calendar", "reason": reason}], "busy": []}


def _answer(
    context: ServiceContext, request: RequestContext, query: FreeBusyQuery, name: str, work: WorkBudget
) -> BusyCalendar:
    try:
        calendar = calendar_of(context, request, CalendarRole.FREE_BUSY_READER, name)
    except ApiError as error:
        return _error(error.rows[0].reason)
    criteria = listed_events.ListCriteria(query.begin, query.end, None, True, False, "startTime", None, ())
    busy: list[tuple[int, int]] = []
    for _, (event, times) in in_slices(listed_events.expand_calendar(context, calendar, criteria, None, work).entries):
        work.spend()
        if occupies(event.body, calendar.owner):
            busy.append((times.start, times.end) if times else (event.row.start, event.row.end or event.row.start))
    return {
        "busy": [
            {"start": print_instant(from_millis(start), query.zone), "end": print_instant(from_millis(end), query.zone)}
            for start, end in busy_periods(busy, to_millis(query.begin), to_millis(query.end))
        ]
    }


def occupies(event: Event, owner: str) -> bool:
    """Return True if an event makes the owner of its calendar busy.

    Cancelled events, transparent events and events that the owner has declined do not.
    """
    if event.get("status") == "cancelled" or event.get("transparency") == "transparent":
        return False
    attendees = event.get("attendees") or []
    return not any(guest["email"].lower() == owner and guest.get("responseStatus") == "declined" for guest in attendees)
