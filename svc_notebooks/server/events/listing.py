"""Listing events: events.list and events.instances, page by page.

A page begins behind a key: the order of making without another order, else the time, and the id. So what is
made or deleted between two pages shifts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import dropwhile
from typing import Any

from ...core.clock import format_time, from_millis, parse_time, to_millis
from ...core.errors.catalogue import refuse
from ...core.events.calendars import CalendarRole
from ...core.events.fields import EVENT_SHAPE, EVENT_TYPES
from ...core.events.rrule import Start
from ...core.events.times import TimeError, read_date
from ...core.http.messages import JSONObject, Query, Response
from ...core.work_budget import WorkBudget
from ..context import page_tokens as paging
from ..context.service_context import RequestContext, ServiceContext
from ..files.operations import bool_param, int_param, one_of, parse_fields_param
from ..store.calendars import CalendarRow
from ..store.events import EventRow
from .calendars import answer, calendar_of, default_reminders, role_of
from .instances import changed_instances, find, instance_id, instances, is_within
from .operations import found_event, title_of, view_of
from .page_budget import FIRST, LAST, Key, Keyed, PageEnds, in_order
from .resource import Found, View, stored

_PAGE, _MOST_PAGE = 250, 2500
_SHAPE = {
    **dict.fromkeys(("kind", "etag", "summary", "description", "updated", "timeZone", "accessRole")),
    **dict.fromkeys(("nextPageToken", "nextSyncToken")),
    "defaultReminders": {"method": None, "minutes": None},
    "items": EVENT_SHAPE,
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a listing asks for; instants, or None for no bound."""

    after: datetime | None
    before: datetime | None
    updated: datetime | None
    single: bool
    deleted: bool
    order: str
    since: int | None
    filters: tuple[Callable[[Found], bool], ...]


def list_events(context: ServiceContext, request: RequestContext) -> Response:
    """The events of a calendar: recurring ones as they are, or all instances with singleEvents."""
    calendar = calendar_of(context, request, CalendarRole.READER)
    parse_fields_param(request.query, {}, _SHAPE)
    view, asked = view_of(context, request, calendar), _asked(context, request, calendar)
    last = context.store.events.last(calendar.id)
    pick = _since if asked.since is not None else _expanded if asked.single else _as_they_are
    about = ("events", calendar.id, _without_page(request.query))
    return _page(context, request, view, about, lambda key: pick(context, calendar, asked, key), asked, last)


def list_instances(context: ServiceContext, request: RequestContext) -> Response:
    """The instances of one recurring event."""
    calendar = calendar_of(context, request, CalendarRole.READER)
    parse_fields_param(request.query, {}, _SHAPE)
    view, asked = view_of(context, request, calendar), _asked(context, request, calendar)
    found = found_event(context, request, calendar)
    if not found.row.recurring:
        raise refuse("invalid", field="eventId", message="expected a recurring event.")
    if found.row.cancelled:
        raise refuse("deleted")

    original = _original(request.query)

    def instances_from(key: Key | None) -> Iterator[Keyed]:
        if original is None:
            return _in_order(context, calendar, asked, key, [found.row])
        instance = find(context, calendar, instance_id(found.row.id, original))
        return (one for one in _by_start([instance] if instance else []) if _wanted_instance(asked, one[1]))

    about = ("instances", calendar.id, found.row.id, _without_page(request.query))
    return _page(context, request, view, about, instances_from, asked, None)


def _original(query: Query) -> Start | None:
    """The start that one instance had before anybody moved it."""
    text = query.get("originalStart")
    if text is None or re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) is None:
        return _instant(query, "originalStart")
    try:
        return read_date(text)
    except TimeError as error:
        raise refuse("invalidParameter", name="originalStart", message=str(error)) from None


def _without_page(query: Query) -> str:
    kept = sorted(
        (name, value) for name, value in query.pairs if name not in ("pageToken", "access_token", "oauth_token")
    )
    return str(kept)


# -- what is asked for -----------------------------------------------------------------------------------------------

_OFFSET = re.compile(r".*(?:[Zz]|[+-]\d{2}:\d{2})")
_ALONE = (
    "iCalUID", "orderBy", "privateExtendedProperty", "q", "sharedExtendedProperty", "timeMin", "timeMax", "updatedMin",
)  # fmt: skip
"""Parameters that a sync token excludes."""


def _asked(context: ServiceContext, request: RequestContext, calendar: CalendarRow) -> _Asked:
    query = request.query
    after, before, updated = (_instant(query, name) for name in ("timeMin", "timeMax", "updatedMin"))
    if after is not None and before is not None and before <= after:
        raise refuse("timeRangeEmpty")
    order = one_of(query, "orderBy", ("", "startTime", "updated"))
    single = bool_param(query, "singleEvents", default=False)
    if order == "startTime" and not single:
        raise refuse("ordering")
    since = _since_token(context, calendar, query)
    deleted = bool_param(query, "showDeleted", default=False) or updated is not None or since is not None
    return _Asked(after, before, updated, single, deleted, order, since, tuple(_filters(query)))


def _instant(query: Query, name: str) -> datetime | None:
    text = query.get(name)
    if text is None:
        return None
    try:
        if _OFFSET.fullmatch(text):
            return parse_time(text).astimezone(UTC)
    except ValueError:
        pass
    raise refuse("invalidParameter", name=name, message="expected RFC 3339 with an offset: 2026-11-02T00:00:00Z.")


def _since_token(context: ServiceContext, calendar: CalendarRow, query: Query) -> int | None:
    token = query.get("syncToken")
    if token is None:
        return None
    if excluded := [name for name in _ALONE if name in query]:
        raise refuse("invalidParameter", name=excluded[0], message="it does not go with syncToken.")
    try:
        since: int = paging.read(token, ("sync", calendar.id), 1, context.secret)[0]
    except Exception:
        raise refuse("fullSyncRequired") from None
    return since


def _filters(query: Query) -> Iterator[Callable[[Found], bool]]:
    if (text := query.get("q")) is not None:
        words = text.casefold().split()
        yield lambda found: all(word in _words(found.body) for word in words)
    if (uid := query.get("iCalUID")) is not None:
        yield lambda found: found.row.uid == uid
    for kind in ("private", "shared"):
        pairs = query.all(f"{kind}ExtendedProperty")
        if pairs:
            yield _has_properties(kind, pairs)
    if types := query.all("eventTypes"):
        if wrong := [one for one in types if one not in (*EVENT_TYPES, "fromGmail")]:
            raise refuse("invalidParameter", name="eventTypes", message=f"{wrong[0][:40]!r} is none.")
        yield lambda found: found.body.get("eventType", "default") in types


def _has_properties(kind: str, pairs: list[str]) -> Callable[[Found], bool]:
    wanted = [pair.partition("=") for pair in pairs]
    if any(not equals for _, equals, _ in wanted):
        raise refuse("invalidParameter", name=f"{kind}ExtendedProperty", message="expected key=value.")

    def has(found: Found) -> bool:
        properties: Any = found.body.get("extendedProperties") or {}
        own = properties.get(kind) or {}
        return all(own.get(key) == value for key, _, value in wanted)

    return has


def _words(body: JSONObject) -> str:
    """All that a search looks through."""
    people: Any = body.get("attendees") or []
    texts = [body.get(name) for name in ("summary", "description", "location")]
    texts += [one.get(name) for one in people for name in ("displayName", "email")]
    return "\n".join(str(text) for text in texts if text).casefold()


# -- which events ----------------------------------------------------------------------------------------------------


def _as_they_are(context: ServiceContext, calendar: CalendarRow, asked: _Asked, key: Key | None) -> Iterator[Keyed]:
    """Every row: single and recurring events, and the instances that were changed."""
    if asked.order == "updated":
        rows = sorted(context.store.events.by_age(calendar.id, FIRST, "", _MOST_PAGE), key=_updated)
        keyed: Iterator[tuple[Key, EventRow]] = dropwhile(
            lambda one: key is not None and one[0] <= key, ((_updated(row), row) for row in rows)
        )
    else:
        place, event = key or (FIRST, "")
        found = context.store.events.by_age(calendar.id, place, event, _MOST_PAGE)
        keyed = (((row.place, row.id), row) for row in found)
    work = WorkBudget()  # each event is decided, whatever it costs
    for at, row in keyed:
        if _wanted(calendar, asked, row, work):
            yield at, _whole(context, calendar, row)
        if work.done > context.policy.expansion_steps:
            raise PageEnds(at)


def _updated(row: EventRow) -> Key:
    return row.updated, row.id


def _whole(context: ServiceContext, calendar: CalendarRow, row: EventRow) -> Found:
    return (find(context, calendar, row.id) if row.series else None) or stored(row)


def _wanted(calendar: CalendarRow, asked: _Asked, row: EventRow, work: WorkBudget) -> bool:
    if asked.updated is not None and row.updated < to_millis(asked.updated):
        return False
    if row.cancelled and not (asked.deleted or row.series):
        return False
    if row.recurring:
        everything = asked.after is None and asked.before is None
        return everything or is_within(stored(row).body, calendar, asked.after, asked.before, work)
    early = asked.after is not None and (row.end or row.start) <= to_millis(asked.after)
    return not early and (asked.before is None or row.start < to_millis(asked.before))


def _expanded(context: ServiceContext, calendar: CalendarRow, asked: _Asked, key: Key | None) -> Iterator[Keyed]:
    """Single events, and the instances of recurring ones, in the order of their starts."""
    after = _later(asked.after, key)
    rows = context.store.events.within(calendar.id, _millis(after, FIRST), _millis(asked.before, LAST))
    return _in_order(context, calendar, asked, key, [row for row in rows if not row.cancelled or asked.deleted])


def _in_order(
    context: ServiceContext, calendar: CalendarRow, asked: _Asked, key: Key | None, rows: list[EventRow]
) -> Iterator[Keyed]:
    """What becomes of these events in the window that is asked for. Raises PageEnds."""
    single, recurring = [row for row in rows if not row.recurring], [row for row in rows if row.recurring]

    def streams(after: datetime | None, before: datetime | None, work: WorkBudget) -> list[Iterator[Keyed]]:
        alone = _by_start(stored(row) for row in single if before is None or row.start < to_millis(before))
        series = (_instances(context, calendar, asked, row, after, before, work) for row in recurring)
        return [alone, *map(_by_start, series)]

    begin = min((row.start for row in rows), default=0)
    window = _later(asked.after, key), asked.before
    found = in_order(streams, key, window, begin, steps=context.policy.expansion_steps, series=len(recurring))
    return (one for one in found if _wanted_instance(asked, one[1]))


def _instances(
    context: ServiceContext,
    calendar: CalendarRow,
    asked: _Asked,
    row: EventRow,
    after: datetime | None,
    before: datetime | None,
    work: WorkBudget,
) -> Iterator[Found]:
    """The instances of a recurring event. If it is not asked for itself, only changed ones can be, and they end."""
    master = stored(row)
    if _wanted_instance(asked, master) and all(wanted(master) for wanted in asked.filters):
        return instances(context, calendar, row, after, before, work)
    return changed_instances(context, calendar, row, after, before)


def _wanted_instance(asked: _Asked, found: Found) -> bool:
    old = asked.updated is not None and found.row.updated < to_millis(asked.updated)
    return not old and (asked.deleted or not found.row.cancelled)


def _later(after: datetime | None, key: Key | None) -> datetime | None:
    """Where a page begins: nothing that ended before the last one of the page before started is on it."""
    if key is None or key[0] == FIRST:
        return after
    start = from_millis(key[0])
    return start if after is None else max(start, after)


def _millis(instant: datetime | None, otherwise: int) -> int:
    return otherwise if instant is None else to_millis(instant)


def _by_start(found: Iterable[Found]) -> Iterator[Keyed]:
    return (((one.row.start, one.row.id), one) for one in found)


def _since(context: ServiceContext, calendar: CalendarRow, asked: _Asked, key: Key | None) -> Iterator[Keyed]:
    """What has changed since a sync token was given, deleted events among them."""
    assert asked.since is not None
    rows = context.store.events.since(calendar.id, asked.since)
    return (((row.place, row.id), _whole(context, calendar, row)) for row in rows)


# -- pages -----------------------------------------------------------------------------------------------------------


def _page(
    context: ServiceContext,
    request: RequestContext,
    view: View,
    about: tuple[str, ...],
    pick: Callable[[Key | None], Iterator[Keyed]],
    asked: _Asked,
    last: int | None,
) -> Response:
    size = int_param(request.query, "maxResults", _PAGE, _MOST_PAGE)
    token = request.query.get("pageToken")
    at, event, last = paging.read(token, about, 3, context.secret) if token else (None, "", last)
    key = (at, event) if at is not None else None
    found: list[Keyed] = []
    behind = None
    try:
        for one in pick(key):
            if (key is None or one[0] > key) and all(wanted(one[1]) for wanted in asked.filters):
                found.append(one)
            if len(found) > size:
                behind = found[size - 1][0]
                break
    except PageEnds as end:
        behind = end.key
    value = _head(context, view) | {"items": [view.show(one) for _, one in found[:size]]}
    if behind is not None:
        value["nextPageToken"] = paging.encode_page_token((*behind, last), about, context.secret)
    elif last is not None and not asked.order and asked.after is None and asked.before is None:
        value["nextSyncToken"] = paging.encode_page_token((last,), ("sync", view.calendar.id), context.secret)
    return answer(request, value, _SHAPE)


def _head(context: ServiceContext, view: View) -> JSONObject:
    calendar = view.calendar
    role = role_of(context, view.user, calendar) or CalendarRole.READER
    updated = context.store.events.latest(calendar.id) or calendar.created
    return {
        "kind": context.names.kind("events"),
        "etag": f'"{updated * 2}000"',
        "summary": title_of(calendar),
        "updated": format_time(from_millis(updated)),
        "timeZone": calendar.zone if str(view.zone) == calendar.zone else str(view.zone),
        "accessRole": role.word,
        "defaultReminders": default_reminders(context),
    }
