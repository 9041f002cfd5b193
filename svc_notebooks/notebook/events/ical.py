"""Exports events as an .ics file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...client.downloads.downloads import check_destination, target_path
from ...client.events.events import get_calendar, get_event, list_calendars, list_events
from ...client.events.ical import calendar_file
from ...client.json_response import reading
from ...core.resources.calendars import Calendar, CalendarListEntry
from ...core.resources.events import Event
from ...local.existing_file import check_path
from ...local.saving import save_bytes
from ..arguments import row_ids
from ..current_session import SessionLike, session_or_current
from ..frames.event_schemas import CALENDAR_FILE
from ..frames.frames import frame
from .parameters import calendar_id
from .query import wire_window
from .series_state import exceptions

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ..arguments import File
    from ..times import When


def export_events(
    events: File | None = None,
    to: str | os.PathLike[str] | None = None,
    *,
    calendar: File = "primary",
    time_min: When | None = None,
    time_max: When | None = None,
    overwrite: bool = False,
    session: SessionLike = None,
) -> DataFrame:
    """Save events of a calendar as one .ics file, which calendar programs can import.

    A recurring event is saved with its recurrence and with its changed and cancelled instances. The id of an instance
    saves only this instance. The file also contains time zones, attendees with their responses, reminders, colours,
    links and attachments.

    Args:
        events: An event id, a row, a DataFrame with a column `id`, or a list of these. None: all events of the
            calendar.
        to: The path of the file, or a folder, in which the file gets the calendar's name. None: the notebook's folder.
        calendar: The id, the name or a row of the calendar that contains the events.
        time_min, time_max: Save only events that end after `time_min` and start before `time_max`. Both are allowed
            only if `events` is None.
        overwrite: Replace an existing file that has other content. If False, such a file raises PathExists.

    Returns:
        One row: path, calendar (str, the calendar's name), events, changed_instances (Int64, numbers of saved events
        and changed instances), size (Int64, bytes), outcome (str: saved, unchanged or replaced).

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotFound: The calendar or an event does not exist, or this user has no access to the calendar.
        PathExists: A file with other content exists at the path and was not changed. This error is a FileExistsError.

    See docs/rules.md#e-events (E).

    >>> lab = svc.sandbox()
    >>> made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03", recurrence="daily, 5 times")
    >>> saved = svc.export_events(made, folder / "tea.ics")
    >>> "RRULE:FREQ=DAILY;COUNT=5" in (folder / "tea.ics").read_text()
    True
    """
    if isinstance(events, os.PathLike) or (isinstance(events, str) and re.search(r"[./@\\]|^primary$", events)):
        argument = "calendar" if isinstance(events, str) and not re.search(r"\.ics$|[/\\]", events) else "to"
        raise ValueError(f"events is {str(events)!r}, not the id of an event; write {argument}={str(events)!r}")
    session = session_or_current(session)
    if events is not None and (time_min is not None or time_max is not None):
        raise ValueError("events cannot be combined with time_min or time_max; leave out one of the two")
    path = check_destination("." if to is None else to)
    ids = None if events is None else row_ids(events, "events")
    calendar = calendar_id(session, calendar)
    entry = calendar_entry(session, calendar)
    zone, name = str(entry.get("timeZone") or "UTC"), str(entry.get("summary") or calendar)
    target = target_path(path, f"{name}.ics")
    check_path(target, overwrite=overwrite)
    bounds = wire_window(time_min, time_max, zone, session.clock)
    selected = list(_all_events(session, calendar, bounds) if ids is None else _selected_events(session, calendar, ids))
    color = str(entry.get("backgroundColor") or "")
    with reading(session.base_url):
        content = calendar_file(selected, name=name, color=color, reminders=calendar_reminders(entry))
        counts = _counts(selected)
    saved = save_bytes(target, content, overwrite=overwrite)
    file_fields = {"calendar": name, "path": str(saved.path), "size": saved.size, "outcome": saved.outcome}
    return frame(CALENDAR_FILE, [{**counts, **file_fields}])


def calendar_entry(session: Session, calendar: str) -> Calendar | CalendarListEntry:
    """Return the entry of the caller's calendar list. If there is no entry, return the calendar, without reminders."""

    for entry in list_calendars(session):
        if entry.get("id") == calendar or (calendar == "primary" and entry.get("primary")):
            return entry
    return get_calendar(session, calendar)


def _all_events(session: Session, calendar: str, bounds: dict[str, str | None]) -> Iterator[Event]:
    """Yield all events of the calendar between the bounds, including the cancelled instances of recurring events."""

    return list_events(session, calendar, {**bounds, "showDeleted": "true"})


def _selected_events(session: Session, calendar: str, ids: list[str]) -> Iterator[Event]:

    for event_id in dict.fromkeys(ids):
        event = get_event(session, calendar, event_id)
        yield event
        if event.get("recurrence"):
            yield from exceptions(session, calendar, event)


def calendar_reminders(entry: Calendar | CalendarListEntry) -> Sequence[Mapping[str, object]]:
    """Return the default reminders of a calendar, or [] without an entry of the caller's calendar list."""
    reminders = entry.get("defaultReminders")
    return [reminder for reminder in reminders if isinstance(reminder, dict)] if isinstance(reminders, list) else []


def _counts(events: list[Event]) -> dict[str, int]:
    shown = {event["id"]: event for event in events if event.get("status") != "cancelled"}
    changed = sum(event.get("recurringEventId") in shown for event in shown.values())
    return {"events": len(shown) - changed, "changedInstances": changed}
