"""Imports the events of an .ics file into a calendar."""

from __future__ import annotations

import os
from datetime import timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...convert.input.charset import decode
from ...convert.job import Job
from ...core.durations import Duration, parse_duration
from ...core.errors.errors import BadRequest, NotFound
from ...core.time_zones import UTC_NAME
from ..batch.batch import DONE, Batch, Errors, RowOperation, run
from ..batch.resume import Resumable
from ..batch.row_call import ROW_ERRORS, Report
from ..current_session import SessionLike, session_or_current
from ..frames.event_schemas import IMPORTED
from ..frames.frames import Record
from .ical import calendar_entry, calendar_reminders
from .parameters import check_calendar
from .records import event_record, in_zone

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.events.ical_properties import Reminders
    from ...client.events.ical_series import ImportedEvent
    from ...client.session import Session
    from ...core.http.messages import JSON, JSONObject
    from ...core.resources.events import Event
    from ..batch.progress import Progress
    from ..batch.resume import Resume
    from ..batch.workers import Executor

UNCHANGED, OLDER, CANCELLED = "unchanged", "skipped (older)", "cancelled"
_ANSWERS = ("REPLY", "REFRESH", "COUNTER", "DECLINECOUNTER")
"""The methods of messages to the organizer (RFC 5546, 1.4), which do not contain the whole event."""
_VERSION = "icalVersion"
"""The private extended property of an imported event, with the DTSTAMP and a digest of the event in the file."""
_INSTANCE = " instance"
"""The end of the version of an instance that an import has changed."""
_CHANGEABLE = ("summary", "description", "location", "attendees", "colorId", "source", "transparency", "visibility")
"""The fields that a changed instance can have and its series in the file does not."""
_KEPT = ("colorId", "gadget", "anyoneCanAddSelf", "guestsCanInviteOthers", "guestsCanModify", "guestsCanSeeOtherGuests")
"""The fields of an event that a newer version of it in a file does not remove."""
_MAX_NOTES = 20
_MAX_QUERIES = 20
"""The number of events that are looked up one by one. For more events, the whole calendar is listed."""


def import_events(
    source: str | bytes | os.PathLike[str],
    *,
    calendar: str = "primary",
    min_duration: Duration = "1 min",
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    resume: Resume = None,
    progress: Progress = None,
    session: SessionLike = None,
) -> DataFrame:
    """Import the events of an .ics file into a calendar. No invitations are sent.

    Every event with a start is imported. A part of it that the service does not accept is corrected or left out, and
    the column `notes` says so: a missing length, a guest without an e-mail address, an alarm after the start, a rule
    that is not valid, an unknown time zone. A recurring event is imported with its changed and cancelled instances.

    Of several versions of an event, by its iCalUID, the newest counts, by SEQUENCE and DTSTAMP. An event of the
    calendar is replaced only by a newer version, so the same file can be imported again. For this, an imported event
    has the private extended property `icalVersion`. A newer version also undoes the changes of instances that an older
    version made. METHOD:CANCEL and STATUS:CANCELLED delete an event.

    The name of a time zone may be one of the IANA database, of Windows, or that of a city or an offset, as Outlook
    writes it. A zone that the file defines becomes the IANA zone with the same offsets, or else the nearest one. The
    import does not read categories, tasks and the content of attachments.

    Args:
        source: The path of the file, or its content as str or bytes. The character set of bytes is detected.
        calendar: The id of the calendar. Times without a time zone are in the zone of the file, or of this calendar.
        min_duration: The length of a timed event that has none in the file: a timedelta, a number of seconds, or a text
            such as "30 min".
        workers, executor, errors: The threads or the executor for several events, and what happens with an error of
            one of them. See docs/bulk.md.
        resume: The name of a ledger, a file in the current folder in which the call records the rows that are done. The
            same call again imports only the other events, and those that have changed in the file. None records
            nothing. See docs/bulk.md.
        progress: None shows a progress bar for long calls, True always, False never. A function is called with (rows
            done, rows).

    Returns:
        One row for each event of the file: i_cal_uid, id, summary (str), start, end (datetime64[ms, the zone of the
        calendar]), time_zone (str, the IANA name of the zone that the event has), changed_instances (Int64), html_link
        (str), outcome (str: done, unchanged, skipped (older), cancelled or failed, with `resume` also skipped), notes
        (str, what was changed or left out, separated by "; "), error (str, why the event was not imported), attempts
        (Int64), seconds (Float64). `attrs` of the DataFrame has name, color and refresh_interval (str) of the file's
        calendar, if the file has them (RFC 7986).

    Raises:
        TypeError, ValueError: The source or an argument is not valid; nothing was sent.
        FileNotFoundError: The path does not exist.
        NotFound: The calendar does not exist, or this user has no access to the calendar.

    >>> lab = svc.sandbox()
    >>> made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03", recurrence="daily, 5 times")
    >>> saved = svc.export_events(made, folder / "import.ics")
    >>> term = svc.create_calendar("Term")["id"].item()
    >>> svc.import_events(folder / "import.ics", calendar=term)[["summary", "outcome"]].values.tolist()
    [['Tea', 'done']]
    """
    from ...client.events.ical_reader import calendar_properties, imported_events, parse_calendars

    session, calendar = session_or_current(session), check_calendar(calendar)
    batch = Batch(workers, executor, errors, resume, progress)
    length = parse_duration(min_duration, "min_duration")
    if length < timedelta(seconds=1):
        raise ValueError(f"min_duration must be at least one second, not {length}")
    text, notes = _text(source)
    calendars = parse_calendars(text)
    entry = calendar_entry(session, calendar)
    zone = str(entry.get("timeZone") or UTC_NAME)
    operation: RowOperation[_Row] = RowOperation(
        IMPORTED,
        partial(_import, calendar=calendar, zone=zone),
        known=_known,
        label=lambda n, row: str(row.event.body.get("summary") or row.event.body["iCalUID"]),
        row_errors=(*ROW_ERRORS, ValueError),
        resumable=Resumable(
            "import_events", {"calendar": calendar}, identity=lambda row: [row.event.body, row.event.changes]
        ),
        title="Import events",
        unit="events",
    )
    events = [event._replace(notes=notes + event.notes) for event in imported_events(calendars, zone, length)]
    rows = _rows(session, calendar, events, calendar_reminders(entry))
    result = in_zone(run(operation, rows, session, batch), zone)
    result.attrs |= calendar_properties(calendars)
    return result


def _text(source: object) -> tuple[str, list[str]]:
    """Return the text of a source with one line for each property, and notes. Raises TypeError for another source."""
    from ...client.events.ical_lines import unfolded

    if isinstance(source, str) and ("BEGIN:" in source[:1000].upper() or "\n" in source):
        content = source.encode("utf-8", "replace")
    elif isinstance(source, str | os.PathLike):
        content = Path(source).expanduser().read_bytes()
    elif isinstance(source, bytes):
        content = source
    else:
        raise TypeError(f"source must be a path, or the content of an .ics file, not {type(source).__name__}")
    job = Job("text/calendar", Path())
    if b"\0" in content[:100] or b"\x1b$" in content:  # UTF-16 or ISO 2022, whose bytes are not those of ASCII
        content = decode(content, job).encode()
    lines = unfolded(content).split(b"\n")
    # Only the lines that are not UTF-8 are decoded by a guess, because some programs mix character sets in a file.
    guessed = [n for n, line in enumerate(lines) if not line.isascii() and not _is_utf8(line)]
    decoded = decode(b"\n".join(lines[n] for n in guessed), job).split("\n")
    texts = dict(zip(guessed, decoded, strict=False))
    text = "\n".join([texts.get(n) or line.decode("utf-8", "replace") for n, line in enumerate(lines)])
    return text, [f"{len(guessed)} lines of the file are not UTF-8; their character set was guessed"] if guessed else []


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


# -- one event -------------------------------------------------------------------------------------------------------


class _Row(NamedTuple):
    """An event of the file, with the event of the calendar that has its UID.

    For an instance of a series of the calendar, `instance_id` is its id, and `instance` the changed instance or the
    series. `is_stored` is True if the calendar has the same event with the same changed instances.
    """

    event: ImportedEvent
    stored: Event | None
    instance_id: str
    instance: Event | None
    is_stored: bool


def _rows(session: Session, calendar: str, events: list[ImportedEvent], reminders: Reminders) -> list[_Row]:
    from ...client.events.events import list_events

    uids = {str(event.body["iCalUID"]) for event in events} | {
        event.instance_of[0] for event in events if event.instance_of
    }
    queries: list[dict[str, object]] = [{"iCalUID": uid} for uid in uids] if len(uids) <= _MAX_QUERIES else [{}]
    listed = chain.from_iterable(list_events(session, calendar, query) for query in queries)
    stored = [event for event in listed if event.get("iCalUID") in uids]
    series = {str(event.get("iCalUID")): event for event in stored if not event.get("recurringEventId")}
    by_id = {event["id"]: event for event in stored}
    exported = _exported(stored, reminders) if stored else {}
    rows: list[_Row] = []
    for event in events:
        parent = series.get(event.instance_of[0]) if event.instance_of else None
        instance_id = f"{parent['id']}_{_original_start(event, parent)}" if parent else ""
        uid, current = str(event.body["iCalUID"]), by_id.get(instance_id, parent)
        if event.instance_of and not parent:
            event = event._replace(notes=[*event.notes, "its series is not in the calendar; it is an event of its own"])
        rows.append(_Row(event, series.get(uid), instance_id, current, exported.get(uid) == event.digest))
    return rows


def _original_start(event: ImportedEvent, series: Event) -> str:
    from ...core.events.rfc5545_times import print_moment
    from ...core.events.times import read_time

    try:
        return print_moment(event.instance_of[1](read_time(series.get("start")))) if event.instance_of else ""
    except OverflowError:  # a time of the year 1 or 9999 in another zone, which no series has
        return ""


def _exported(stored: list[Event], reminders: Reminders) -> dict[JSON, str]:
    """Return the digests, by iCalUID, that stored events would have in a file. They are equal to those of an export."""
    from ...client.events.ical import calendar_file
    from ...client.events.ical_lines import unfolded
    from ...client.events.ical_reader import imported_events, parse_calendars

    text = unfolded(calendar_file(stored, reminders=reminders)).decode()
    return {event.body["iCalUID"]: event.digest for event in imported_events(parse_calendars(text), UTC_NAME)}


def _import(session: Session, row: _Row, report: Report, calendar: str, zone: str) -> Record:
    """Import an event and its changed instances, and return the record of the event."""
    from ...client.events.events import delete_event, import_event, list_events, patch_event

    event, stored, known = row.event, row.stored, _known(row)
    if event.problem is not None:
        raise ValueError(event.problem)
    mark = f"{event.stamp} {event.digest}"
    outcome = _outcome(event, stored or row.instance, is_stored=row.is_stored)
    if row.instance and outcome in (DONE, CANCELLED):
        fields = {name: value for name, value in event.body.items() if name != "iCalUID"}
        change = _of_instance(event, None if outcome == CANCELLED else fields)
        missing = _change(session, calendar, [(row.instance_id, change)])
        if not missing:
            return {**known, **event_record(row.instance, zone), "changedInstances": 1, "outcome": outcome}
        known["notes"] = "; ".join(filter(None, [known["notes"], *missing, "it is an event of its own"]))
    if outcome == CANCELLED and stored:
        delete_event(session, calendar, stored["id"])
    if outcome != DONE:
        current = stored or row.instance
        return {**known, **(event_record(current, zone) if current else {}), "outcome": outcome}
    kept: JSONObject = {name: value for name, value in (stored or {}).items() if name in _KEPT}  # type: ignore[misc]
    body = {**kept, **event.body, **_marked(stored, f"{event.stamp} {'' if event.changes else event.digest}")}
    imported = import_event(session, calendar, body, query=_query(event.body))
    changes = {f"{imported['id']}_{moment}": _of_instance(event, fields) for moment, fields in event.changes}
    # The service moves changed instances with their series, so only now are their ids known.
    has_instances = stored is not None and "recurrence" in stored
    instances = list_events(session, calendar, {"iCalUID": event.body["iCalUID"]}) if has_instances else ()
    older = {each["id"]: _as_in_series(event, each) for each in instances if _version(each).endswith(_INSTANCE)}
    missing = _change(session, calendar, [*(older | changes).items()])
    if event.changes:  # only now, so that the import of a series can be repeated after an error
        imported = patch_event(session, calendar, imported["id"], _marked(stored, mark))
    return {**known, **event_record(imported, zone), "notes": "; ".join(filter(None, [known["notes"], *missing]))}


def _version(stored: Event) -> str:
    properties: Any = stored.get("extendedProperties", {})
    return str(properties.get("private", {}).get(_VERSION, ""))


def _marked(stored: Event | None, mark: str) -> JSONObject:
    """Return the extended properties of an imported event, with the version that the file has."""
    properties: Any = (stored or {}).get("extendedProperties", {})
    return {"extendedProperties": {**properties, "private": {**properties.get("private", {}), _VERSION: mark}}}


def _of_instance(event: ImportedEvent, fields: JSONObject | None) -> JSONObject | None:
    """Return the fields of a changed instance with the version of the file, which marks it for newer files."""
    return fields and fields | _marked(None, f"{event.stamp} {event.digest}{_INSTANCE}")


def _as_in_series(event: ImportedEvent, instance: Event) -> JSONObject | None:
    """Return the fields that undo the change of an instance, or None if the series of the file does not have it."""
    from ...client.events.ical_series import ImportedSeries
    from ...core.events.times import read_time

    original = read_time(instance.get("originalStartTime"))
    fields = ImportedSeries(event).instance_fields(original)
    unset: JSONObject = {name: None for name in _CHANGEABLE if name in instance}
    return fields and unset | fields | _marked(None, f"{event.stamp} ")


def _outcome(event: ImportedEvent, stored: Event | None, *, is_stored: bool) -> str:
    """Return what happens with an event of a file if the calendar has the event `stored` with this UID."""
    from ...client.events.ical_lines import print_utc

    if stored is None:
        return CANCELLED if event.method == "CANCEL" else DONE
    mark = _version(stored).removesuffix(_INSTANCE)
    stamp, _, digest = (mark or f"{print_utc(stored.get('updated'))} ").partition(" ")
    sequence, current = event.body.get("sequence") or 0, stored.get("sequence") or 0
    if is_stored or digest == event.digest or event.method in _ANSWERS:
        return UNCHANGED
    if sequence < current or (sequence == current and event.stamp and event.stamp < stamp):  # type: ignore[operator]
        return OLDER
    return CANCELLED if event.method == "CANCEL" else DONE


def _query(body: JSONObject) -> dict[str, object]:
    """Return the parameters without which the service ignores attachments and the conference."""
    parameters: dict[str, dict[str, object]] = {
        "attachments": {"supportsAttachments": "true"},
        "conferenceData": {"conferenceDataVersion": 1},
    }
    return {name: value for field in parameters if field in body for name, value in parameters[field].items()}


def _change(session: Session, calendar: str, changes: list[tuple[str, JSONObject | None]]) -> list[str]:
    """Change and cancel instances, by their ids. Return a note for each change that is refused."""
    from ...client.events.events import delete_event, patch_event

    missing: list[str] = []
    for instance_id, fields in changes:
        try:
            if fields is None:
                delete_event(session, calendar, instance_id)
            else:
                patch_event(session, calendar, instance_id, fields, query=_query(fields))
        except (BadRequest, NotFound) as error:  # the other changes are made
            missing += [f"instance {instance_id.rpartition('_')[2]} was not changed: {error}"] if fields else []
    return missing


def _known(row: _Row) -> dict[str, Any]:
    """Return what is known of an event before it is imported."""
    body, notes = row.event.body, list(dict.fromkeys(row.event.notes))
    more = [f"and {len(notes) - _MAX_NOTES} more"] if len(notes) > _MAX_NOTES else []
    return {
        "iCalUID": body["iCalUID"],
        "summary": body.get("summary"),
        "changedInstances": len(row.event.changes),
        "notes": "; ".join(notes[:_MAX_NOTES] + more),
    }
