"""Reads the query parameters that select the events of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ...core.errors.catalogue import refuse
from ...core.events.fields import EVENT_TYPES, read_utc
from ...core.events.instances import LAST_END
from ...core.events.rrule import Recurrence
from ...core.files.fields import composed
from ...core.http.messages import Query
from ...core.resources.calendars import Event
from ...core.times import from_millis, to_millis
from ..dispatch.page_tokens import decode_sync_token, encode_page_token
from ..dispatch.requests_and_responses import bool_param, choice_param
from ..dispatch.service_context import RequestContext, ServiceContext
from .event_messages import events_of, series_of_calendar
from .event_resource import EventRecord, EventView
from .tables import CalendarRow, EventRow


@dataclass(frozen=True, slots=True)
class ListCriteria:
    """The search criteria of a list request. `since` is the position in a sync token, or None without a sync token.

    `removed_since` is the position in the log of removed events, from the same token. Without `before`, the instances
    of an endless event end `horizon` milliseconds after the later one of `begin` and its own start.
    """

    after: datetime | None
    before: datetime | None
    updated: datetime | None
    single: bool
    deleted: bool
    order: str
    since: int | None
    filters: tuple[Callable[[EventRecord], bool], ...]
    removed_since: int = 0
    begin: int = 0
    horizon: int = 0

    def horizon_of(self, row: EventRow, recurrence: Recurrence) -> datetime | None:
        """Return the end of the instances of an endless event in a list without `before`, or else None."""
        if self.before is not None or not recurrence.is_endless:
            return None
        return from_millis(min(max(self.begin, row.start) + self.horizon, to_millis(LAST_END)))

    def accepts(self, row: EventRow) -> bool:
        """Return whether an event is new enough, and is not cancelled unless cancelled events are listed."""
        old = self.updated is not None and row.updated < to_millis(self.updated)
        return not old and (self.deleted or not row.cancelled)

    def matches(self, event: EventRecord) -> bool:
        """Return whether `accepts` and `passes` are true. It is the same for all instances that are not changed."""
        return self.accepts(event.row) and self.passes(event)

    def passes(self, event: EventRecord) -> bool:
        """Return whether all filters accept an event."""
        return all(accepts(event) for accepts in self.filters)


_EXCLUDED_BY_SYNC_TOKEN = (
    "iCalUID", "orderBy", "privateExtendedProperty", "q", "sharedExtendedProperty", "timeMin", "timeMax", "updatedMin",
)  # fmt: skip
"""The parameters that cannot be combined with a sync token, because the token has those of the first list."""

_MAX_CONDITIONS = 100
"""The largest number of words or properties that are searched for in each event."""

_WITHOUT_SYNC_TOKEN = set(_EXCLUDED_BY_SYNC_TOKEN) - {"timeMin", "timeMax"}


def read_criteria(context: ServiceContext, request: RequestContext, view: EventView) -> ListCriteria:
    """Read the criteria of a list request. The filters search only what the caller may see.

    Raises ApiError (400) for an invalid parameter or combination.
    """
    query, calendar = request.query, view.calendar
    after, before, updated = (read_instant(query, name) for name in ("timeMin", "timeMax", "updatedMin"))
    if after is not None and before is not None and before <= after:
        raise refuse("timeRangeEmpty")
    order = choice_param(query, "orderBy", ("", "startTime", "updated"))
    single = bool_param(query, "singleEvents", default=False)
    if order == "startTime" and not single:
        raise refuse("ordering")
    since, removed_since = None, 0
    if (token := query.get("syncToken")) is not None:
        if excluded := [name for name in _EXCLUDED_BY_SYNC_TOKEN if name in query]:
            raise refuse("invalidParameter", name=excluded[0], message="cannot be combined with syncToken.")
        if not bool_param(query, "showDeleted", default=True):
            message = "must not be false with syncToken, because the changes contain cancelled events."
            raise refuse("invalidParameter", name="showDeleted", message=message)
        listing = _synchronized(context, query, calendar)
        since, removed_since, *window = decode_sync_token(token, listing, 4, context.secret)
        after, before = (None if millis is None else from_millis(millis) for millis in window)
        # A client cannot know which events to remove after the calendar was cleared, and in lists of instances after a
        # recurring event has changed its times.
        changes = context.store.changes
        is_cleared = "" in changes.since(events_of(calendar.id), removed_since)
        if is_cleared or (single and changes.since(series_of_calendar(calendar.id), removed_since)):
            raise refuse("fullSyncRequired")
    deleted = bool_param(query, "showDeleted", default=False) or updated is not None or since is not None
    filters = tuple(_filters(query, view))
    begin = max(context.millis(), to_millis(after) if after else 0)
    horizon = int(context.policy.series_horizon * 1000)
    return ListCriteria(after, before, updated, single, deleted, order, since, filters, removed_since, begin, horizon)


def next_sync_token(
    context: ServiceContext, query: Query, calendar: CalendarRow, criteria: ListCriteria, last: int, last_removed: int
) -> str | None:
    """Return the sync token after a list, or None if the list cannot be continued by a list of changes.

    The token has the position, and the time window of the first list, in which the changes are listed later.
    """
    if not _WITHOUT_SYNC_TOKEN.isdisjoint(name for name, _ in query.pairs):
        return None
    window = (None if bound is None else to_millis(bound) for bound in (criteria.after, criteria.before))
    return encode_page_token((last, last_removed, *window), _synchronized(context, query, calendar), context.secret)


def _synchronized(context: ServiceContext, query: Query, calendar: CalendarRow) -> tuple[str, ...]:
    """Return the calendar and the parameters that must be the same in the lists before and after a sync token."""
    single = bool_param(query, "singleEvents", default=False)
    return ("sync", context.store.history(), calendar.id, str(single), *sorted(set(query.all("eventTypes"))))


def read_instant(query: Query, name: str) -> datetime | None:
    """Read a time with an offset, or None if the parameter is missing. Raises ApiError (400) for another text."""
    moment = read_utc(query.get(name))
    if moment is None and name in query:
        message = "expected RFC 3339 with an offset, such as 2026-11-02T00:00:00Z."
        raise refuse("invalidParameter", name=name, message=message)
    return moment


def _filters(query: Query, view: EventView) -> Iterator[Callable[[EventRecord], bool]]:
    if (text := query.get("q")) is not None:
        words = set(composed(text).casefold().split())
        if len(words) > _MAX_CONDITIONS:
            raise refuse("invalidParameter", name="q", message=f"expected at most {_MAX_CONDITIONS} different words.")
        yield lambda event: all(map(_searchable_text(view.visible_fields(event)).__contains__, words))
    if (uid := query.get("iCalUID")) is not None:
        yield lambda event: event.row.uid == uid
    for visibility in ("private", "shared"):
        pairs = query.all(f"{visibility}ExtendedProperty")
        if pairs:
            yield _has_properties(visibility, pairs, view)
    if types := query.all("eventTypes"):
        if wrong := [event_type for event_type in types if event_type not in (*EVENT_TYPES, "fromGmail")]:
            raise refuse("invalidParameter", name="eventTypes", message=f"{wrong[0][:40]!r} is not an event type.")
        yield lambda event: view.visible_fields(event).get("eventType", "default") in types


def _has_properties(visibility: str, pairs: list[str], view: EventView) -> Callable[[EventRecord], bool]:
    name = f"{visibility}ExtendedProperty"
    required = [pair.partition("=") for pair in dict.fromkeys(pairs)]
    if len(required) > _MAX_CONDITIONS:
        raise refuse("invalidParameter", name=name, message=f"expected at most {_MAX_CONDITIONS} values.")
    if any(not equals for _, equals, _ in required):
        raise refuse("invalidParameter", name=name, message="expected key=value.")

    def has(event: EventRecord) -> bool:
        properties: Any = view.visible_fields(event).get("extendedProperties") or {}
        own = properties.get(visibility) or {}
        return all(own.get(key) == value for key, _, value in required)

    return has


def _searchable_text(body: Event) -> str:
    texts = [body.get(name) for name in ("summary", "description", "location")]
    for person in body.get("attendees") or []:
        texts += [person.get("displayName"), person.get("email")]
    return composed("\n".join(str(text) for text in texts if text)).casefold()
