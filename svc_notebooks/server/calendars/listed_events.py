"""Reads the query parameters that select the events of a list, and computes the instances of series for lists.

A page ends early when its step budget (core/events/rrule.py) is spent. It then has the instances found so far, and its
page token continues after the last one. If the whole budget yields no instance, the page covers a period that is short
enough for the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from heapq import merge
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from ...core.errors.catalogue import refuse
from ...core.events.event_times import instant, read_utc
from ...core.events.fields import EVENT_TYPES
from ...core.events.instances import LAST_END, duration, in_days
from ...core.events.rrule import Recurrence, Start, WorkBudget, WorkExceeded, print_moment
from ...core.events.series_starts import DAY, EPOCH, SeriesStarts
from ...core.events.validation import end_of, start_of
from ...core.files.fields import composed
from ...core.http.messages import Query
from ...core.resources.events import Event
from ...core.times import from_millis, to_millis, zone
from ..dispatch.page_tokens import decode_sync_token, encode_page_token
from ..dispatch.requests_and_responses import bool_param, choice_param
from ..dispatch.service_context import Cursor, RequestContext, ServiceContext
from .event_messages import events_of, series_of_calendar
from .event_resource import EventRecord, EventView
from .instances import TimeSpan, instance_times, list_changed_instances, moment_text, with_series_fields
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


# The parameters that cannot be combined with a sync token, because the token has those of the first list.
_EXCLUDED_BY_SYNC_TOKEN = (
    "iCalUID", "orderBy", "privateExtendedProperty", "q", "sharedExtendedProperty", "timeMin", "timeMax", "updatedMin",
)  # fmt: skip

_MAX_CONDITIONS = 100  # the largest number of words or properties that are searched for in each event

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


Key: TypeAlias = "tuple[int, str]"
KeyedEvent: TypeAlias = "tuple[Key, ListedEvent]"

FIRST, LAST = -(2**62), 2**62
_DAYS_PER_YEAR = 366
_END = datetime(9999, 1, 1, tzinfo=UTC)
_MAX_YEARS = 400


class ListedEvent(NamedTuple):
    """An event of a list. With `times`, it is the instance of the recurring event `event` at that time."""

    event: EventRecord
    times: TimeSpan | None = None


class PageEnds(Exception):
    """Raised when the step budget of a page is spent. The next page begins after `key`."""

    def __init__(self, key: Key) -> None:
        super().__init__(f"the next page begins after {key}")
        self.key = key


_MILLISECOND = timedelta(milliseconds=1)
_FIRST_SPAN = 32  # the number of days whose starts are computed first. Each next span is twice as long.

_MAX_STARTS = 100_000  # the number of starts that are computed and sorted together, if each series has one on each day

_LONGEST = timedelta(days=31)


class ParsedSeries(NamedTuple):
    """A recurring event with its times. `starts` is None for a series that is not simple."""

    row: EventRow
    start: Start
    length: int
    starts: SeriesStarts | None
    recurrence: Recurrence

    @classmethod
    def of(cls, row: EventRow) -> ParsedSeries:
        """Parse the row of a recurring event. `length` is the duration in milliseconds."""
        body = EventRecord(row).body
        start = start_of(body)
        length = duration(start, end_of(body))
        recurrence = Recurrence.parse(body.get("recurrence") or [], start)
        starts = SeriesStarts.of(recurrence, start, length) if length <= _LONGEST else None
        return cls(row, start, length // _MILLISECOND, starts, recurrence)


def series_of(context: ServiceContext, calendar: CalendarRow) -> list[ParsedSeries]:
    """Return the recurring events of a calendar. Parses only those that changed since the last time."""
    key = calendar.id, context.store.events.generation
    numbers, known = context.store.events.recurring_numbers(calendar.id), context.series.get(key) or {}
    if known.keys() != set(numbers):
        missing = min((number for number in numbers if number not in known), default=None)
        new = context.store.events.recurring(calendar.id, missing - 1) if missing is not None else []
        parsed = {row.seq: known.get(row.seq) or ParsedSeries.of(row) for row in new}
        known = {number: series for number in numbers if (series := known.get(number) or parsed.get(number))}
        if known:
            context.series.keep(key, known, len(known))
    return list(known.values())


def sorted_instances(
    calendar: CalendarRow,
    series: Sequence[ParsedSeries],
    window: tuple[datetime | None, datetime | None],
    changed: Mapping[str, Container[str]],
    work: WorkBudget,
) -> Iterator[KeyedEvent]:
    """Yield the instances of simple series in a window in the order of their keys, without those with changed ids.

    The starts of all series in a span of time are computed and sorted, and only then become instances.
    Raises WorkExceeded if the budget is spent, in which each series, span of time and year is a step.
    """
    ranked = sorted(series, key=lambda event: f"{event.row.id}_")  # like the ids of instances that begin together
    masters: dict[int, EventRecord] = {}
    tz = zone(calendar.zone)
    for start, rank, day in _sorted_starts(ranked, tz, window, work):
        event = ranked[rank]
        name = event.row.id
        if day:
            dates = date.fromordinal(day), date.fromordinal(day + event.length // DAY)
            key = f"{name}_{print_moment(dates[0])}"
            times = TimeSpan(start, to_millis(instant(dates[1], tz)), tz, dates)
        else:
            key = f"{name}_{moment_text(start)}"
            times = TimeSpan(start, start + event.length, getattr(event.start, "tzinfo", None) or UTC)
        if name in changed and key in changed[name]:
            continue
        if rank not in masters:
            masters[rank] = EventRecord(event.row)
        yield (start, key), ListedEvent(masters[rank], times)


def _sorted_starts(
    ranked: Sequence[ParsedSeries], tz: tzinfo, window: tuple[datetime | None, datetime | None], work: WorkBudget
) -> Iterator[tuple[int, int, int]]:
    """Yield the start of each instance, the rank of its series, and the day if it is all-day, or else 0.

    The days of all-day series are midnights in UTC, and begin when they begin in `tz`.
    """
    active = [(rank, event.starts, event) for rank, event in enumerate(ranked) if event.starts is not None]
    after, before = window
    first = min((starts.begin for _, starts, _ in active), default=0) - DAY
    last = max((starts.stop for _, starts, _ in active), default=0) + 2 * DAY
    low = first if after is None else max(first, to_millis(after))
    stop = last if before is None else min(last, to_millis(before))
    overlapping = after is not None and low > first
    most = max(1, _MAX_STARTS // max(1, len(active)))
    days = _FIRST_SPAN
    low_day = _day_bound(low, tz, is_exclusive=overlapping)
    while active and low < stop:
        high = min(stop, low + min(days, most) * DAY)
        high_day = _day_bound(high, tz)
        work.spend(len(active) * (1 + from_millis(high).year - from_millis(low).year))
        begun: list[tuple[int, int, int]] = []
        for rank, starts, event in active:
            earlier = event.length - 1 if overlapping else 0
            if isinstance(event.start, datetime):
                begun += [(moment, rank, 0) for moment in starts.between(low - earlier, high)]
            else:
                days_of_series = [moment // DAY + EPOCH for moment in starts.between(low_day - earlier, high_day)]
                begun += [(to_millis(instant(date.fromordinal(day), tz)), rank, day) for day in days_of_series]
        begun.sort()
        yield from begun
        active = [entry for entry in active if entry[1].stop > high - DAY]
        low, low_day, days, overlapping = high, high_day, 2 * days, False


def _day_bound(millis: int, tz: tzinfo, *, is_exclusive: bool = False) -> int:
    """Return a bound of a window for days that begin at midnight in UTC instead of midnight in `tz`."""
    return to_millis(in_days(from_millis(millis), tz, is_exclusive=is_exclusive) or from_millis(millis))


def expand_calendar(
    context: ServiceContext,
    calendar: CalendarRow,
    criteria: ListCriteria,
    key: Key | None,
    budget: WorkBudget | None = None,
) -> Cursor:
    """Return a cursor over the single events and the instances of a calendar after a key. Iteration raises PageEnds.

    With a `budget`, which several calendars can share, iteration raises WorkExceeded instead.
    """
    before = _millis(criteria.before, LAST)
    series = [event for event in series_of(context, calendar) if event.row.start < before]
    changed = context.store.events.changed_ids(calendar.id)
    stored = lambda before: _stored_events(context, calendar, criteria, key, before)  # noqa: E731
    return _expand(context, calendar, criteria, key, stored, series, changed, budget)


def expand_event(
    context: ServiceContext, calendar: CalendarRow, criteria: ListCriteria, key: Key | None, row: EventRow
) -> Cursor:
    """Return a cursor over the instances of one recurring event after a key. Iteration raises PageEnds."""
    after = _page_start(criteria.after, key)
    changed = {instance.id for instance in context.store.events.changed_instances(calendar.id, row.id)}
    stored = lambda before: list_changed_instances(context, calendar, row, after, before)  # noqa: E731
    return _expand(context, calendar, criteria, key, stored, [ParsedSeries.of(row)], {row.id: changed})


def _expand(
    context: ServiceContext,
    calendar: CalendarRow,
    criteria: ListCriteria,
    key: Key | None,
    stored: Callable[[datetime | None], Iterable[EventRecord]],
    series: list[ParsedSeries],
    changed: dict[str, set[str]],
    budget: WorkBudget | None = None,
) -> Cursor:
    """Return a cursor over stored events before a time, and over generated instances that were not changed."""
    filters = criteria.filters
    listed = [
        event
        for event in series
        if criteria.accepts(event.row) and (not filters or criteria.passes(EventRecord(event.row)))
    ]
    simple, others = [], []
    for event in listed:
        horizon = criteria.horizon_of(event.row, event.recurrence)
        if event.starts is None:
            others.append((EventRecord(event.row), horizon or _END))
        else:
            stop = min(event.starts.stop, to_millis(horizon)) if horizon else event.starts.stop
            simple.append(event._replace(starts=replace(event.starts, stop=stop)))

    def merged(after: datetime | None, before: datetime | None, work: WorkBudget) -> Iterator[KeyedEvent]:
        """Yield the events of a time window in the order of their keys. Raises WorkExceeded."""
        before = before or _END
        instances = sorted_instances(calendar, simple, (after, before), changed, work)
        rare = []
        for master, end in others:
            ids = changed.get(master.row.id, ())
            rare.append(_instances(master, instance_times(calendar, master, after, min(before, end), ids, work)))
        return merge(by_start(stored(before)), instances, *rare, key=itemgetter(0))

    def pages(work: WorkBudget) -> Iterator[KeyedEvent]:
        """Yield the events of the window until the step budget is spent. Then raises PageEnds."""
        last = after_key = key or (FIRST, "")
        try:
            for last, event in merged(after, before, work):
                yield last, event
            return
        except WorkExceeded:
            if last > after_key:
                raise PageEnds(last) from None
        # The budget yields no event, so this page has as many years as the budget covers.
        years = max(1, min(_MAX_YEARS, steps // (_DAYS_PER_YEAR * max(1, len(listed)))))
        first = after or from_millis(min((event.row.start for event in listed), default=0))
        stop = end = before or _END
        if first.year + years + 1 < _END.year:
            stop = min(end, first + timedelta(days=years * _DAYS_PER_YEAR))
        try:
            for last, event in merged(after, stop, WorkBudget(steps + 2 * _DAYS_PER_YEAR * len(listed))):
                yield last, event
        except WorkExceeded:  # the evaluation of COUNT is cached, so the next request gets further
            raise PageEnds(max(last, after_key)) from None
        if stop < end:
            raise PageEnds((to_millis(stop), ""))

    after, before, steps = _page_start(criteria.after, key), criteria.before, context.policy.expansion_steps
    work = WorkBudget(steps)
    entries = pages(work) if budget is None else merged(after, before, budget)
    matching = (entry for entry in entries if entry[1].times or criteria.matches(entry[1].event))
    return Cursor(matching, len(listed), work)


def _instances(master: EventRecord, timed: Iterator[tuple[str, TimeSpan]]) -> Iterator[KeyedEvent]:
    return (((times.start, instance_id), ListedEvent(master, times)) for instance_id, times in timed)


def _stored_events(
    context: ServiceContext, calendar: CalendarRow, criteria: ListCriteria, key: Key | None, before: datetime | None
) -> Iterator[EventRecord]:
    """Yield the single events and the changed instances in the window. An instance may be moved far from its series."""
    masters: dict[str, EventRecord | None] = {}
    window = _millis(criteria.after, FIRST), _millis(before, LAST)
    for row in context.store.events.within(calendar.id, window, *(key or (FIRST, ""))):
        if row.series is None:
            yield EventRecord(row)
            continue
        if row.series not in masters:
            series = context.store.events.get(calendar.id, row.series)
            is_listed = series and series.recurring and (criteria.deleted or not series.cancelled)
            masters[row.series] = EventRecord(series) if series and is_listed else None
        if master := masters[row.series]:
            yield with_series_fields(master, row)


def by_start(events: Iterable[EventRecord]) -> Iterator[KeyedEvent]:
    """Return the events with their keys, which are the start in Unix milliseconds and the id."""
    return (((event.row.start, event.row.id), ListedEvent(event)) for event in events)


def _page_start(after: datetime | None, key: Key | None) -> datetime | None:
    """Return the later of `after` and the start of the previous page's last event, or None if neither is set."""
    if key is None or key[0] == FIRST:
        return after
    start = from_millis(key[0])
    return start if after is None else max(start, after)


def _millis(bound: datetime | None, unlimited: int) -> int:
    return unlimited if bound is None else to_millis(bound)
