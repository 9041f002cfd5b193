"""Updates the copies of an event in its guests' calendars when the organizer's event changes (E-19).

A guest of a series has a copy of the series and of its changed instances. A guest who is invited to only one instance
has a copy of this instance as a single event.
"""

from __future__ import annotations

import json

from ...core.resources.events import Attendee, Event
from ..dispatch.service_context import ServiceContext
from .access import primary_of
from .event_messages import record_removal, record_times
from .event_resource import EventRecord, event_from_row, omit, pick
from .instances import find_event, with_times
from .kept_instances import kept_instances
from .tables import EventRow

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
    for instance in (each for each in rows if kept.get(each.id) != each):
        moved = kept.get(instance.id)
        _remove(context, instance)
        for copy in copies_of(context, instance) if instance.calendar == instance.origin else ():
            if copy.id == instance.id and moved is None:
                _withdraw(context, instance, copy.calendar)
            elif copy.id == instance.id and copy.series is None and moved is not None:
                events.save(copy._replace(id=moved.id))
                _remove(context, copy)
    for moved in (each for each in kept.values() if each not in rows):
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
    keep_instances(context, event_from_row(copy), json.loads(before.body) if before else {})


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
        keep_instances(context, event_from_row(cancelled), {})


def _sync_instances(context: ServiceContext, series: EventRecord, before: Event) -> None:
    calendar = primary_of(context, series.row.calendar)
    removed = emails_of(before) - emails_of(series.body)
    added = emails_of(series.body) - emails_of(before)
    for instance in context.store.events.changed_instances(calendar.id, series.row.id):
        previous = find_event(context, calendar, instance.id) or event_from_row(instance)
        fields: Event = json.loads(instance.body)
        if "attendees" in fields:
            present = emails_of(previous.body)
            attendees: list[Attendee] = [
                *(each for each in previous.body.get("attendees") or [] if each["email"].lower() not in removed),
                *(each for each in series.body.get("attendees") or [] if each["email"].lower() in added - present),
            ]
            fields["attendees"] = attendees
            instance = instance._replace(body=json.dumps(fields))
            context.store.events.save(instance)
        sync_attendee_copies(context, EventRecord(instance, {**previous.body, **fields}), previous.body)
