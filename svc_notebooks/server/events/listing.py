"""Handlers that list events or instances in pages.

A page token contains the key of the last event, so events created or deleted between two pages do not shift the next
page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ...core.clock import format_time, from_millis, parse_time, to_millis
from ...core.errors.catalogue import refuse
from ...core.events.calendars import CalendarRole
from ...core.events.field_table import EVENT_SHAPE, EVENT_TYPES
from ...core.events.rrule import Start
from ...core.events.times import TimeError, read_date
from ...core.http.messages import Query, Response
from ...core.resources.events import Event, EventList
from ...core.work_budget import WorkBudget
from ..context.page_tokens import decode_page_token, encode_page_token
from ..context.service_context import RequestContext, ServiceContext
from ..files.operations import bool_param, choice_param, int_param, parse_fields_param
from ..tables.calendars import CalendarRow
from ..tables.events import EventRow
from .calendars import calendar_of, default_reminders, resource_response, role_of, title_of
from .event_request import event_in_path, view_of
from .instances import find_event, instance_id, instances, is_within, list_changed_instances, overlaps
from .page_budget import FIRST, LAST, Key, Keyed, PageEnds, in_order
from .resource import EventRecord, EventView, event_from_row

_DEFAULT_PAGE_SIZE, _MAX_PAGE_SIZE = 250, 2500
_SHAPE = {
    **dict.fromkeys(("kind", "etag", "summary", "description", "updated", "timeZone", "accessRole")),
    **dict.fromkeys(("nextPageToken", "nextSyncToken")),
    "defaultReminders": {"method": None, "minutes": None},
    "items": EVENT_SHAPE,
}


@dataclass(frozen=True, slots=True)
class _ListCriteria:
    """The search criteria of a list request. `since` is the position in a sync token, or None without a sync token."""

    after: datetime | None
    before: datetime | None
    updated: datetime | None
    single: bool
    deleted: bool
    order: str
    since: int | None
    filters: tuple[Callable[[EventRecord], bool], ...]


def list_events(context: ServiceContext, request: RequestContext) -> Response:
    """Return a page of the events of a calendar. With singleEvents, instances replace the recurring events."""
    calendar = calendar_of(context, request, CalendarRole.READER)
    parse_fields_param(request.query, {}, _SHAPE)
    view, criteria = view_of(context, request, calendar), _read_criteria(context, request, calendar)
    last = context.store.events.last(calendar.id)
    pick = _list_changes if criteria.since is not None else _expand_series if criteria.single else _list_rows
    about = ("events", calendar.id, _query_key(request.query))
    return _page(context, request, view, about, lambda key: pick(context, calendar, criteria, key), criteria, last)


def list_instances(context: ServiceContext, request: RequestContext) -> Response:
    """Return a page of the instances of one recurring event. Raises ApiError (400) for an event that does not recur."""
    calendar = calendar_of(context, request, CalendarRole.READER)
    parse_fields_param(request.query, {}, _SHAPE)
    view, criteria = view_of(context, request, calendar), _read_criteria(context, request, calendar)
    event = event_in_path(context, request, calendar)
    if not event.row.recurring:
        raise refuse("invalid", field="eventId", message="expected a recurring event.")
    if event.row.cancelled:
        raise refuse("deleted")

    original = _original(request.query)

    def instances_from(key: Key | None) -> Iterator[Keyed]:
        if original is None:
            return _expand_in_order(context, calendar, criteria, key, [event.row])
        instance = find_event(context, calendar, instance_id(event.row.id, original))
        return _by_start([instance] if instance and _instance_matches(criteria, instance) else [])

    about = ("instances", calendar.id, event.row.id, _query_key(request.query))
    return _page(context, request, view, about, instances_from, criteria, None)


def _original(query: Query) -> Start | None:
    """Return `originalStart` as a date or time, or None if missing. Raises ApiError (400) for an invalid value."""
    text = query.get("originalStart")
    if text is None or re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) is None:
        return _instant(query, "originalStart")
    try:
        return read_date(text)
    except TimeError as error:
        raise refuse("invalidParameter", name="originalStart", message=str(error)) from None


def _query_key(query: Query) -> str:
    """Return the query parameters that must be the same in the requests for all pages, as one text."""
    return str(sorted(pair for pair in query.pairs if pair[0] not in ("pageToken", "access_token", "oauth_token")))


# -- criteria --------------------------------------------------------------------------------------------------------

_OFFSET = re.compile(r".*(?:[Zz]|[+-]\d{2}:\d{2})")
_EXCLUDED_BY_SYNC_TOKEN = (
    "iCalUID", "orderBy", "privateExtendedProperty", "q", "sharedExtendedProperty", "timeMin", "timeMax", "updatedMin",
)  # fmt: skip
"""The parameters that cannot be combined with a sync token."""


def _read_criteria(context: ServiceContext, request: RequestContext, calendar: CalendarRow) -> _ListCriteria:
    query = request.query
    after, before, updated = (_instant(query, name) for name in ("timeMin", "timeMax", "updatedMin"))
    if after is not None and before is not None and before <= after:
        raise refuse("timeRangeEmpty")
    order = choice_param(query, "orderBy", ("", "startTime", "updated"))
    single = bool_param(query, "singleEvents", default=False)
    if order == "startTime" and not single:
        raise refuse("ordering")
    since = None
    if (token := query.get("syncToken")) is not None:
        if excluded := [name for name in _EXCLUDED_BY_SYNC_TOKEN if name in query]:
            raise refuse("invalidParameter", name=excluded[0], message="cannot be combined with syncToken.")
        try:
            since = decode_page_token(token, ("sync", calendar.id), 1, context.secret)[0]
        except Exception:
            raise refuse("fullSyncRequired") from None
    deleted = bool_param(query, "showDeleted", default=False) or updated is not None or since is not None
    return _ListCriteria(after, before, updated, single, deleted, order, since, tuple(_filters(query)))


def _instant(query: Query, name: str) -> datetime | None:
    text = query.get(name)
    if text is None:
        return None
    try:
        if _OFFSET.fullmatch(text):
            return parse_time(text).astimezone(UTC)
    except ValueError:
        pass
    raise refuse(
        "invalidParameter", name=name, message="expected RFC 3339 with an offset, such as 2026-11-02T00:00:00Z."
    )


def _filters(query: Query) -> Iterator[Callable[[EventRecord], bool]]:
    if (text := query.get("q")) is not None:
        words = text.casefold().split()
        yield lambda event: all(word in _searchable_text(event.body) for word in words)
    if (uid := query.get("iCalUID")) is not None:
        yield lambda event: event.row.uid == uid
    for visibility in ("private", "shared"):
        pairs = query.all(f"{visibility}ExtendedProperty")
        if pairs:
            yield _has_properties(visibility, pairs)
    if types := query.all("eventTypes"):
        if wrong := [event_type for event_type in types if event_type not in (*EVENT_TYPES, "fromGmail")]:
            raise refuse("invalidParameter", name="eventTypes", message=f"{wrong[0][:40]!r} is not an event type.")
        yield lambda event: event.body.get("eventType", "default") in types


def _has_properties(visibility: str, pairs: list[str]) -> Callable[[EventRecord], bool]:
    required = [pair.partition("=") for pair in pairs]
    if any(not equals for _, equals, _ in required):
        raise refuse("invalidParameter", name=f"{visibility}ExtendedProperty", message="expected key=value.")

    def has(event: EventRecord) -> bool:
        properties: Any = event.body.get("extendedProperties") or {}
        own = properties.get(visibility) or {}
        return all(own.get(key) == value for key, _, value in required)

    return has


def _searchable_text(body: Event) -> str:
    texts = [body.get(name) for name in ("summary", "description", "location")]
    for person in body.get("attendees") or []:
        texts += [person.get("displayName"), person.get("email")]
    return "\n".join(str(text) for text in texts if text).casefold()


# -- selection -------------------------------------------------------------------------------------------------------


def _list_rows(
    context: ServiceContext, calendar: CalendarRow, criteria: _ListCriteria, key: Key | None
) -> Iterator[Keyed]:
    """Yield stored events and changed instances with their keys. Raises PageEnds if the step budget is spent."""
    if criteria.order == "updated":
        rows = context.store.events.by_age(calendar.id, FIRST, "", _MAX_PAGE_SIZE)
        by_update = sorted(((row.updated, row.id), row) for row in rows)
        keyed: Iterable[tuple[Key, EventRow]] = [entry for entry in by_update if key is None or entry[0] > key]
    else:
        position, event_id = key or (FIRST, "")
        page_rows = context.store.events.by_age(calendar.id, position, event_id, _MAX_PAGE_SIZE)
        keyed = (((row.place, row.id), row) for row in page_rows)
    work = WorkBudget()  # unlimited, because every event is examined completely, but the steps are counted
    for at, row in keyed:
        if _matches(calendar, criteria, row, work):
            yield at, _full_event(context, calendar, row)
        if work.done > context.policy.expansion_steps:
            raise PageEnds(at)


def _full_event(context: ServiceContext, calendar: CalendarRow, row: EventRow) -> EventRecord:
    return (find_event(context, calendar, row.id) if row.series else None) or event_from_row(row)


def _matches(calendar: CalendarRow, criteria: _ListCriteria, row: EventRow, work: WorkBudget) -> bool:
    if criteria.updated is not None and row.updated < to_millis(criteria.updated):
        return False
    if row.cancelled and not (criteria.deleted or row.series):
        return False
    if row.recurring:
        everything = criteria.after is None and criteria.before is None
        return everything or is_within(event_from_row(row).body, calendar, criteria.after, criteria.before, work)
    return overlaps(row, criteria.after, criteria.before)


def _expand_series(
    context: ServiceContext, calendar: CalendarRow, criteria: _ListCriteria, key: Key | None
) -> Iterator[Keyed]:
    after = _page_start(criteria.after, key)
    first = FIRST if after is None else to_millis(after)
    last = LAST if criteria.before is None else to_millis(criteria.before)
    rows = context.store.events.within(calendar.id, first, last)
    return _expand_in_order(
        context, calendar, criteria, key, [row for row in rows if not row.cancelled or criteria.deleted]
    )


def _expand_in_order(
    context: ServiceContext, calendar: CalendarRow, criteria: _ListCriteria, key: Key | None, rows: list[EventRow]
) -> Iterator[Keyed]:
    """Return the events of these rows, or their instances, in the requested window. Iteration raises PageEnds."""
    single, recurring = [row for row in rows if not row.recurring], [row for row in rows if row.recurring]

    def streams(after: datetime | None, before: datetime | None, work: WorkBudget) -> list[Iterator[Keyed]]:
        alone = _by_start(event_from_row(row) for row in single if before is None or row.start < to_millis(before))
        series = (_matching_instances(context, calendar, criteria, row, after, before, work) for row in recurring)
        return [alone, *map(_by_start, series)]

    begin = min((row.start for row in rows), default=0)
    window = _page_start(criteria.after, key), criteria.before
    entries = in_order(streams, key, window, begin, steps=context.policy.expansion_steps, series=len(recurring))
    return (entry for entry in entries if _instance_matches(criteria, entry[1]))


def _matching_instances(
    context: ServiceContext,
    calendar: CalendarRow,
    criteria: _ListCriteria,
    row: EventRow,
    after: datetime | None,
    before: datetime | None,
    work: WorkBudget,
) -> Iterator[EventRecord]:
    """Return the instances of a recurring event that can match the criteria.

    If the recurring event itself does not match, only its changed instances can match.
    """
    master = event_from_row(row)
    if _instance_matches(criteria, master) and all(accepts(master) for accepts in criteria.filters):
        return instances(context, calendar, row, after, before, work)
    return list_changed_instances(context, calendar, row, after, before)


def _instance_matches(criteria: _ListCriteria, event: EventRecord) -> bool:
    old = criteria.updated is not None and event.row.updated < to_millis(criteria.updated)
    return not old and (criteria.deleted or not event.row.cancelled)


def _page_start(after: datetime | None, key: Key | None) -> datetime | None:
    """Return the later of `after` and the start of the previous page's last event, or None if neither is set."""
    if key is None or key[0] == FIRST:
        return after
    start = from_millis(key[0])
    return start if after is None else max(start, after)


def _by_start(events: Iterable[EventRecord]) -> Iterator[Keyed]:
    return (((event.row.start, event.row.id), event) for event in events)


def _list_changes(
    context: ServiceContext, calendar: CalendarRow, criteria: _ListCriteria, key: Key | None
) -> Iterator[Keyed]:
    assert criteria.since is not None
    rows = context.store.events.since(calendar.id, criteria.since)
    return (((row.place, row.id), _full_event(context, calendar, row)) for row in rows)


# -- pages -----------------------------------------------------------------------------------------------------------


def _page(
    context: ServiceContext,
    request: RequestContext,
    view: EventView,
    about: tuple[str, ...],
    pick: Callable[[Key | None], Iterator[Keyed]],
    criteria: _ListCriteria,
    last: int | None,
) -> Response:
    size = int_param(request.query, "maxResults", _DEFAULT_PAGE_SIZE, _MAX_PAGE_SIZE)
    token = request.query.get("pageToken")
    at, event_id, last = decode_page_token(token, about, 3, context.secret) if token else (None, "", last)
    key = (at, event_id) if at is not None else None
    entries: list[Keyed] = []
    next_key = None
    try:
        for entry in pick(key):
            if (key is None or entry[0] > key) and all(accepts(entry[1]) for accepts in criteria.filters):
                entries.append(entry)
            if len(entries) > size:
                next_key = entries[size - 1][0]
                break
    except PageEnds as end:
        next_key = end.key
    calendar = view.calendar
    role = role_of(context, view.user, calendar) or CalendarRole.READER
    updated = context.store.events.latest(calendar.id) or calendar.created
    page: EventList = {
        "kind": context.names.kind("events"),
        "etag": f'"{updated * 2}000"',
        "summary": title_of(calendar),
        "updated": format_time(from_millis(updated)),
        "timeZone": str(view.zone),
        "accessRole": role.wire_name,
        "defaultReminders": default_reminders(context),
        "items": [view.resource(event) for _, event in entries[:size]],
    }
    if next_key is not None:
        page["nextPageToken"] = encode_page_token((*next_key, last), about, context.secret)
    elif last is not None and not criteria.order and criteria.after is None and criteria.before is None:
        page["nextSyncToken"] = encode_page_token((last,), ("sync", calendar.id), context.secret)
    return resource_response(request, page, _SHAPE)
