"""Stores changed events, and updates their copies in the guests' calendars (E-19).

The row of an instance contains only the fields that differ from its series.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from ...core.events.event_times import Shift, clock_time, instant, read_time
from ...core.events.instances import duration, occurrences
from ...core.events.rrule import Start
from ...core.events.validation import end_of, recurrence_of, start_of
from ...core.resources.events import Attendee, Event
from ...core.times import skipped_times, to_millis, zone
from ..dispatch.service_context import ServiceContext
from .access import primary_of
from .event_messages import record_removal, record_times, series_of_calendar
from .event_resource import EventRecord, omit, pick
from .instances import find_event, instance_at
from .listed_events import FIRST
from .tables import CalendarRow, EventRow

PRIVATE = ("colorId", "reminders", "transparency")


def emails_of(body: Event) -> set[str]:
    """Return the set of e-mail addresses of an event's attendees, in lower case."""
    return {attendee["email"].lower() for attendee in body.get("attendees") or []}


def common_part(body: Event) -> Event:
    """Return the fields that are the same in all copies of an event."""
    fields = omit(body, *PRIVATE, "extendedProperties")
    if shared := (body.get("extendedProperties") or {}).get("shared"):
        fields["extendedProperties"] = {"shared": shared}
    return fields


def private_part(body: Event) -> Event:
    """Return the fields for which each copy of an event has its own values, such as reminders."""
    fields = pick(body, PRIVATE)
    if private := (body.get("extendedProperties") or {}).get("private"):
        fields["extendedProperties"] = {"private": private}
    return fields


def merge_parts(shared: Event, private: Event) -> Event:
    """Return all fields of a copy, merged from its common part and its private part."""
    merged: Event = {**shared, **private}
    if "extendedProperties" in shared and "extendedProperties" in private:
        merged["extendedProperties"] = {**shared["extendedProperties"], **private["extendedProperties"]}
    return merged


def sync_attendee_copies(context: ServiceContext, event: EventRecord, before: Event) -> None:
    """Update the guests' copies of an organizer's event. `before` contains the event fields before the change."""
    row, body = event.row, event.body
    if body.get("attendees") or before.get("attendees"):
        _sync_copies(context, event, before)
    if row.recurring and not row.cancelled:
        _sync_instances(context, event, before)


def _sync_copies(context: ServiceContext, event: EventRecord, before: Event) -> None:
    row = event.row
    # Attendees who are users of this service have a copy, unless they have another event with this id.
    guests: set[str] = set()
    for email in emails_of(event.body):
        if email != row.calendar and context.store.users.root(email):
            own_event = context.store.events.get(email, row.id)
            if own_event is None or own_event.origin == row.origin:
                guests.add(email)
    copies = {copy.calendar for copy in copies_of(context, row)}
    for calendar in sorted(guests):
        if not _has_left(context, row, calendar, before):
            _save_copy(context, event, calendar)
    for calendar in sorted(copies - guests):
        _withdraw(context, row, calendar)


def copies_of(context: ServiceContext, row: EventRow) -> list[EventRow]:
    """Return the guests' copies of an organizer's event. Other events with the same uid are not copies (E-11)."""
    return [copy for copy in context.store.events.by_uid(row.uid) if copy.origin == row.origin != copy.calendar]


def keep_instances(context: ServiceContext, series: EventRecord, before: Event) -> None:
    """Move the changed instances of a series as its instances have moved, and remove those that it no longer contains.

    An instance that has moved has another id. `before` has the fields of the series before the change, and is empty for
    a new copy.
    """
    row, calendar, events = series.row, primary_of(context, series.row.calendar), context.store.events
    rows = events.changed_instances(row.calendar, row.id)
    kept = {} if row.cancelled or not row.recurring else kept_instances(calendar, before or series.body, series, rows)
    for instance in (row for row in rows if kept.get(row.id) != row):
        moved = kept.get(instance.id)
        _remove(context, instance)
        for copy in copies_of(context, instance) if instance.calendar == instance.origin else ():
            if copy.id == instance.id and moved is None:
                _withdraw(context, instance, copy.calendar)
            elif copy.id == instance.id and copy.series is None and moved is not None:
                events.save(copy._replace(id=moved.id))
                _remove(context, copy)
    for moved in (row for row in kept.values() if row not in rows):
        events.save(moved)  # may have the earlier id of another instance


def _remove(context: ServiceContext, row: EventRow) -> None:
    context.store.events.drop(row.calendar, row.id)
    record_removal(context, row)


def _has_left(context: ServiceContext, row: EventRow, calendar: str, before: Event) -> bool:
    """Return True if a guest has deleted their copy of an event or its series and has not been invited again since."""
    if before.get("status") == "cancelled" or calendar not in emails_of(before):
        return False
    copies = [context.store.events.get(calendar, name) for name in (row.id, row.series) if name]
    return any(copy and copy.cancelled and json.loads(copy.body).get("status") == "cancelled" for copy in copies)


def _has_series(context: ServiceContext, row: EventRow, calendar: str) -> bool:
    series = context.store.events.get(calendar, row.series) if row.series else None
    return series is not None and series.origin == row.origin and not series.cancelled


def _save_copy(context: ServiceContext, event: EventRecord, calendar: str) -> None:
    row, body = event.row, event.body
    before = context.store.events.get(calendar, row.id)
    private = private_part(json.loads(before.body)) if before else {}
    series = row.series if _has_series(context, row, calendar) else None
    shared = common_part(json.loads(row.body) if series == row.series else body)
    copy = row._replace(calendar=calendar, series=series, body=json.dumps(merge_parts(shared, private)))
    copy = with_times(copy, body, primary_of(context, calendar))
    record_times(context, before, copy)
    context.store.events.save(copy)
    keep_instances(context, EventRecord(copy), json.loads(before.body) if before else {})


def _withdraw(context: ServiceContext, row: EventRow, calendar: str) -> None:
    """Cancel the copy of a guest who is no longer invited. From a copy of a series, remove only this instance."""
    copy = context.store.events.get(calendar, row.id)
    if copy is None and _has_series(context, row, calendar):
        body = common_part(json.loads(row.body))
        copy = row._replace(calendar=calendar, cancelled=0, body=json.dumps(body))
        copy = with_times(copy, body, primary_of(context, calendar))
    if copy is not None and copy.origin == row.origin and not copy.cancelled:
        cancelled = copy._replace(cancelled=1, updated=row.updated)
        context.store.events.save(cancelled)
        keep_instances(context, EventRecord(cancelled), {})


def _sync_instances(context: ServiceContext, series: EventRecord, before: Event) -> None:
    calendar = primary_of(context, series.row.calendar)
    removed = emails_of(before) - emails_of(series.body)
    added = emails_of(series.body) - emails_of(before)
    for instance in context.store.events.changed_instances(calendar.id, series.row.id):
        previous = find_event(context, calendar, instance.id) or EventRecord(instance)
        fields: Event = json.loads(instance.body)
        if "attendees" in fields:
            present = emails_of(previous.body)
            attendees: list[Attendee] = [
                *(guest for guest in previous.body.get("attendees") or [] if guest["email"].lower() not in removed),
                *(guest for guest in series.body.get("attendees") or [] if guest["email"].lower() in added - present),
            ]
            fields["attendees"] = attendees
            instance = instance._replace(body=json.dumps(fields))
            context.store.events.save(instance)
        sync_attendee_copies(context, EventRecord(instance, {**previous.body, **fields}), previous.body)


_TIMES = ("start", "end", "recurrence")
_DAY = timedelta(days=1)
_COMPARED = 60  # the number of instances that are compared to decide whether a series has moved to other days


def kept_instances(
    calendar: CalendarRow, before: Event, series: EventRecord, rows: list[EventRow]
) -> dict[str, EventRow]:
    """Return the rows of changed instances after a change of their series, by their ids before the change.

    `before` has the fields of the series before the change. Rows that are missing are no longer in the series.
    """
    if pick(before, _TIMES) == pick(series.body, _TIMES):
        return {row.id: row for row in rows}
    old = start_of(before)
    originals = {row.id: read_time(json.loads(row.body)["originalStartTime"]) for row in rows}
    options = [
        _instances(calendar, series, originals, shift) for shift in (_shift(before, series.body), Shift(old, old))
    ]
    instances = max(options, key=len)  # the first, if both keep the same number of instances
    return {row.id: _row(row, before, instances[row.id], calendar) for row in rows if row.id in instances}


def _instances(
    calendar: CalendarRow, series: EventRecord, originals: dict[str, Start], shift: Shift
) -> dict[str, EventRecord]:
    """Return the instances of a series at moved original starts, by the ids of these."""
    instances = (
        (event_id, instance_at(calendar, series, start))
        for event_id, original in originals.items()
        for start in _moved(original, shift)
    )
    return {event_id: instance for event_id, instance in instances if instance is not None}


def _shift(before: Event, after: Event) -> Shift:
    """Return the move of a series. It moves the days only if those of all instances have moved, not the start alone."""
    old, new = start_of(before), start_of(after)
    shift = Shift(old, new)
    days = zip(_clock_times(before), _clock_times(after), strict=False)
    if all((clock + shift.days * _DAY).date() == moved.date() for clock, moved in days):
        return shift
    return Shift(old, Shift(clock_time(new), new).move(datetime.combine(old, clock_time(new).time())))


def _clock_times(series: Event) -> Iterator[datetime]:
    every = occurrences(recurrence_of(series), start_of(series), end_of(series))
    return (clock_time(occurrence.start) for occurrence in islice(every, _COMPARED))


def _moved(original: Start, shift: Shift) -> Iterator[Start]:
    """Yield the times to which an original start may have moved. Before the last one, it was moved out of a gap."""
    if isinstance(original, datetime) and isinstance(shift.before, datetime):
        clock = original.astimezone(shift.before.tzinfo)
        for gap, length in skipped_times(clock.tzinfo or UTC, clock.year):
            if gap + length <= clock.replace(tzinfo=None) < gap + 2 * length:
                yield shift.move(clock - length)
    yield shift.move(original)


def _row(row: EventRow, before: Event, instance: EventRecord, calendar: CalendarRow) -> EventRow:
    """Return the row of a changed instance at its place in the changed series. Its own times do not change."""
    own: Event = json.loads(row.body)
    is_at_original = read_time(own["start"]) == read_time(own["originalStartTime"])
    has_length = duration(start_of(own), end_of(own)) == duration(start_of(before), end_of(before))
    moved = ("start", "end", "originalStartTime") if is_at_original and has_length else ("originalStartTime",)
    body: Event = {**own, **pick(instance.body, moved)}
    if body == own:
        return row
    row = row._replace(id=instance.row.id, updated=instance.row.updated, body=json.dumps(body))
    return with_times(row, body, calendar)


_NOT_UPDATING = {"reminders", "sequence"}
_ALWAYS_OWN = ("start", "end", "originalStartTime", "status")


def with_body(row: EventRow, body: Event, calendar: CalendarRow) -> EventRow:
    """Return a row with these event fields, and with the columns that are computed from the fields."""
    row = row._replace(
        recurring=int(bool(body.get("recurrence"))),
        cancelled=int(body.get("status") == "cancelled"),
        body=json.dumps(body),
    )
    return with_times(row, body, calendar)


def with_times(row: EventRow, body: Event, calendar: CalendarRow) -> EventRow:
    """Return the row of an event with the columns of start and end computed from its fields.

    The days of an all-day event begin at midnight in the time zone of the calendar.
    """
    tz, recurring = zone(calendar.zone), bool(body.get("recurrence"))
    # RDATE may add a date before the start of the event.
    starts = [start_of(body), *(extra.start for extra in recurrence_of(body).rdates)]
    return row._replace(
        start=min(to_millis(instant(start, tz)) for start in starts),
        end=None if recurring else to_millis(instant(end_of(body), tz)),
    )


def save_event(context: ServiceContext, event: EventRecord, before: Event) -> EventRecord:
    """Store an event, move its changed instances or delete them, and return the event with its row.

    `before` has the fields before the change.
    """
    row, body = event.row, event.body
    if row.series is None:
        keep_instances(context, event, before)
        record_times(context, context.store.events.get(row.calendar, row.id), row)
    else:
        series = context.store.events.get(row.calendar, row.series)
        common: dict[str, Any] = json.loads(series.body) if series else {}
        own = {name: value for name, value in body.items() if name in _ALWAYS_OWN or value != common.get(name)}
        removed = {name: None for name in common if name not in body and name != "recurrence"}
        row = row._replace(body=json.dumps(removed | own))
    context.store.events.save(row)
    return EventRecord(row, body)


def save_with_copies(context: ServiceContext, before: EventRecord, fields: Event) -> EventRecord:
    """Store the new fields of an organizer's event, update the guests' copies and return the event.

    A change of the reminders alone does not change the time of the last update.
    """
    old: Any = before.body
    new: Any = fields
    changed = {name for name in {*new, *old} if new.get(name) != old.get(name)}
    updated = before.row.updated
    if not changed <= _NOT_UPDATING:
        updated = max(context.millis(), updated + 1)
    row = with_body(before.row._replace(updated=updated), fields, primary_of(context, before.row.calendar))
    event = save_event(context, EventRecord(row, fields), before.body)
    sync_attendee_copies(context, event, before.body)
    return event


def move_days(context: ServiceContext, calendar: CalendarRow) -> None:
    """Store the times of all-day events again after a change of the calendar's time zone, in which their days begin."""
    for row in context.store.events.by_age(calendar.id, FIRST, ""):
        moved = with_times(row, json.loads(row.body), calendar)
        if moved != row:
            context.store.events.save(moved)
            if row.recurring:  # its instances may leave the time window of a list
                context.store.changes.add([series_of_calendar(calendar.id)], row.id, context.millis())
