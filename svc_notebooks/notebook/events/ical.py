"""Exports events as an .ics file, and imports the events of an .ics file into a calendar."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ...client.downloads.downloads import target_path
from ...client.events import events as client
from ...client.events.ical import Reminders, calendar_file
from ...client.events.ical_lines import print_utc, unfolded
from ...client.events.ical_reader import (
    ImportedEvent,
    ImportedSeries,
    InstanceChange,
    calendar_properties,
    imported_events,
    parse_calendars,
)
from ...client.json_response import reading
from ...client.session import Session, SessionLike, session_or_current
from ...convert.input.charset import decode
from ...convert.job import Job
from ...core.errors.errors import BadRequest, NotFound, warn_caller
from ...core.events.event_times import read_time
from ...core.resources.calendars import Calendar, CalendarListEntry
from ...core.resources.events import Event
from ...core.time_arguments import Duration, parse_duration
from ...core.times import UTC_NAME
from ...local.saving import check_path, make_folder, read_file, save_bytes
from ..arguments import File, is_link, row_ids
from ..batch.batch import (
    DONE,
    ROW_ERRORS,
    Batch,
    Errors,
    Executor,
    Progress,
    Report,
    Resumable,
    Resume,
    RowOperation,
    run,
)
from ..frames import CALENDAR_FILE, IMPORTED, Record, frame
from .body import When, add_required, calendar_id
from .query import wire_window
from .records import event_record, exceptions, in_zone, writable_fields

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pandas import DataFrame

    from ...core.http.messages import JSON, JSONObject


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

    See tests/rules.csv (E).

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
    to = "." if to is None else to
    target_path(to, "calendar.ics")  # raises an error for a missing folder before a request
    ids = None if events is None else row_ids(events, "events")
    calendar = calendar_id(session, calendar)
    entry = calendar_entry(session, calendar)
    zone, name = str(entry.get("timeZone") or "UTC"), str(entry.get("summary") or calendar)
    target = target_path(to, f"{name}.ics")
    check_path(target, overwrite=overwrite)
    bounds = wire_window(time_min, time_max, zone, session.clock)
    if ids is None:  # with the cancelled instances of recurring events
        selected = list(client.list_events(session, calendar, {**bounds, "showDeleted": "true"}))
    else:
        selected = []
        for event_id in dict.fromkeys(ids):
            selected.append(client.get_event(session, calendar, event_id))
            if selected[-1].get("recurrence"):
                selected += exceptions(session, calendar, selected[-1])
    color = str(entry.get("backgroundColor") or "")
    with reading(session.base_url):
        content = calendar_file(selected, name=name, color=color, reminders=calendar_reminders(entry))
        shown = {event["id"]: event for event in selected if event.get("status") != "cancelled"}
        changed_count = sum(event.get("recurringEventId") in shown for event in shown.values())
        counts = {"events": len(shown) - changed_count, "changedInstances": changed_count}
    chosen = {*(ids or ())}
    deleted = [event["id"] for event in selected if event.get("status") == "cancelled" and event["id"] in chosen]
    if deleted:
        warn_caller(f"events has deleted events, which are not in the file: {deleted[:5]}")
    make_folder(target.parent)
    saved = save_bytes(target, content, overwrite=overwrite)
    file_fields = {"calendar": name, "path": str(saved.path), "size": saved.size, "outcome": saved.outcome}
    return frame(CALENDAR_FILE, [{**counts, **file_fields}])


def calendar_entry(session: Session, calendar: str) -> Calendar | CalendarListEntry:
    """Return the entry of the caller's calendar list. If there is no entry, return the calendar, without reminders."""

    for entry in client.list_calendars(session):
        if entry.get("id") == calendar or (calendar == "primary" and entry.get("primary")):
            return entry
    return client.get_calendar(session, calendar)


def calendar_reminders(entry: Calendar | CalendarListEntry) -> Sequence[Mapping[str, object]]:
    """Return the default reminders of a calendar, or [] without an entry of the caller's calendar list."""
    reminders = entry.get("defaultReminders")
    return [reminder for reminder in reminders if isinstance(reminder, dict)] if isinstance(reminders, list) else []


# The fields of a changed instance, None if cancelled, and its version.
_MarkedFields: TypeAlias = "tuple[JSONObject | None, str]"
UNCHANGED, OLDER, CANCELLED = "unchanged", "skipped (older)", "cancelled"
# The methods of messages to the organizer (RFC 5546, 1.4), which do not contain the whole event.
_ANSWERS = ("REPLY", "REFRESH", "COUNTER", "DECLINECOUNTER")
# The private extended property of an imported event, with the DTSTAMP and a digest of the event in the file.
_VERSION = "icalVersion"
_INSTANCE = " instance"  # the end of the version of an instance that an import has changed
_CANCELLED = " cancelled"  # the end of the version of an event that an import has cancelled
# The private extended property of an instance that is an event of its own, with the UID of its series.
_SERIES = "icalSeries"
# The times of a cancelled event without times.
_ANY_DAY: JSONObject = {"start": {"date": "1970-01-01"}, "end": {"date": "1970-01-02"}}
# The fields that a changed instance can have and its series in the file does not.
_CHANGEABLE = ("summary", "description", "location", "attendees", "colorId", "source", "transparency", "visibility")
# The fields that few programs write into .ics files, so a newer version of an event does not remove them.
_RARE_IN_FILES = (
    "colorId",
    "gadget",
    "anyoneCanAddSelf",
    "guestsCanInviteOthers",
    "guestsCanModify",
    "guestsCanSeeOtherGuests",
)
_MAX_NOTES = 20
_MAX_QUERIES = 20  # the number of events that are looked up one by one. For more events, the whole calendar is listed.


def import_events(
    source: str | bytes | os.PathLike[str],
    *,
    calendar: File = "primary",
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
    has the private extended property `icalVersion`. Each instance with a RECURRENCE-ID has its own version. A newer
    version of the series undoes the changes and the cancellations of instances that an older version made. An instance
    that is imported before its series is an event of its own until the series is imported. METHOD:CANCEL and
    STATUS:CANCELLED delete an event, and an older file does not restore it.

    The name of a time zone may be one of the IANA database, of Windows, or that of a city or an offset, as Outlook
    writes it. A zone that the file defines becomes the IANA zone with the same offsets, or else the nearest one. The
    import does not read categories, tasks and the content of attachments.

    Args:
        source: The path of the file, or its content as str or bytes. The character set of bytes is detected.
        calendar: The id, the name or a row of the calendar. Times without a time zone are in the zone of the file, or
            of this calendar.
        min_duration: The length of a timed event that has none in the file: a timedelta, a number of seconds, or a text
            such as "30 min".
        workers, executor, errors: The threads or the executor, and what happens with an error, as for `upload`.
        resume: The name of a ledger, a file in the current folder in which the call records the rows that are done. The
            same call again imports only the other events, and those that have changed in the file. None records
            nothing. See docs/bulk.md.
        progress: None shows a bar for long calls, True always, False never. A function gets (rows done, rows).

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

    session = session_or_current(session)
    batch = Batch(workers, executor, errors, resume, progress)
    length = parse_duration(min_duration, "min_duration")
    if length < timedelta(seconds=1):
        raise ValueError(f"min_duration must be at least one second, not {length}")
    text, notes = _text(source)
    calendars, calendar = parse_calendars(text), calendar_id(session, calendar)
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

    if isinstance(source, str) and ("BEGIN:" in source[:1000].upper() or "\n" in source):
        content = source.encode("utf-8", "replace")
    elif isinstance(source, str | os.PathLike):
        if is_link(os.fspath(source)):
            raise ValueError("source is a web address; give the content, such as requests.get(address).content")
        content = read_file(Path(source).expanduser())
    elif isinstance(source, bytes):
        content = source
    else:
        expected = "a path, or the content of an .ics file, such as read(file)"
        raise TypeError(f"source must be {expected}, not {type(source).__name__}")
    job = Job("text/calendar", Path())
    if b"\0" in content[:100] or b"\x1b$" in content:  # UTF-16 or ISO 2022, whose bytes are not those of ASCII
        content = decode(content, job).encode()
    lines = unfolded(content).split(b"\n")
    texts = [line.decode("utf-8", "replace") for line in lines]
    # Only the lines that are not UTF-8 are decoded by a guess, because some programs mix character sets in a file.
    guessed = [n for n, text in enumerate(texts) if "\ufffd" in text and text.encode() != lines[n]]
    decoded = decode(b"\n".join(lines[n] for n in guessed), job).split("\n")
    for n, text in zip(guessed, decoded, strict=False):
        texts[n] = text
    text = "\n".join(texts)
    return text, [f"{len(guessed)} lines of the file are not UTF-8; their character set was guessed"] if guessed else []


# -- one event -------------------------------------------------------------------------------------------------------


class _Row(NamedTuple):
    """An event of the file, with the event of the calendar that has its UID.

    For an instance of a series of the calendar, `instance_id` is its id, and `instance` the changed instance or the
    series, which may be cancelled. `is_stored` is True if the calendar has the same event with the same changed
    instances. `lone` has the instances that were imported before their series.
    """

    event: ImportedEvent
    stored: Event | None
    instance_id: str
    instance: Event | None
    is_stored: bool
    lone: list[Event]


def _rows(session: Session, calendar: str, events: list[ImportedEvent], reminders: Reminders) -> list[_Row]:

    recurring = {str(event.body["iCalUID"]) for event in events if event.body.get("recurrence")}
    uids = {str(event.body["iCalUID"]) for event in events}
    uids |= {event.instance_of[0] for event in events if event.instance_of}
    queries: list[dict[str, object]] = [{}]
    if len(uids) <= _MAX_QUERIES:
        queries = [{"iCalUID": uid} for uid in uids]
        queries += [{"privateExtendedProperty": f"{_SERIES}={uid}"} for uid in recurring]
    lists = (client.list_events(session, calendar, {**query, "showDeleted": "true"}) for query in queries)
    by_id = {
        event["id"]: event
        for event in chain.from_iterable(lists)
        if (event.get("iCalUID") in uids or _private(event).get(_SERIES) in recurring) and not _is_deleted(event)
    }
    events_of_uid = {str(event.get("iCalUID")): event for event in by_id.values() if not event.get("recurringEventId")}
    lone: dict[str, list[Event]] = {}
    for each in events_of_uid.values():
        lone.setdefault(_private(each).get(_SERIES, ""), []).append(each)
    exported: dict[JSON, str] = {}  # the digests that stored events would have in a file, by iCalUID
    if by_id:
        text = unfolded(calendar_file([*by_id.values()], reminders=reminders)).decode()
        written = imported_events(parse_calendars(text), UTC_NAME)
        exported = {event.body["iCalUID"]: event.digest for event in written}
    rows: list[_Row] = []
    for event in events:
        uid, (series_uid, original) = str(event.body["iCalUID"]), event.instance_of or ("", None)
        series = events_of_uid.get(series_uid) if original else None
        instance_id = ""
        if original and series and series.get("status") != "cancelled":
            instance_id = f"{series['id']}_{original(read_time(series['start']))}"
        elif original:
            event = event._replace(notes=[*event.notes, "its series is not in the calendar; it is an event of its own"])
        row = _Row(event, events_of_uid.get(uid), instance_id, by_id.get(instance_id, series), False, lone.get(uid, []))
        rows.append(row._replace(is_stored=exported.get(uid) == event.digest))
    return rows


def _import(session: Session, row: _Row, report: Report, calendar: str, zone: str) -> Record:
    """Import an event and its changed instances, and return the record of the event."""

    event, stored, known = row.event, row.stored, _known(row)
    if event.problem is not None:
        raise ValueError(event.problem)
    current, digest = stored or row.instance, event.digest
    outcome = _outcome(event, current, is_stored=row.is_stored)
    is_new = current is None or _digest(current) != digest
    if row.instance and row.instance_id and outcome in (DONE, CANCELLED):
        fields = {name: value for name, value in event.body.items() if name != "iCalUID"}
        change = None if outcome == CANCELLED else fields, _instance_mark(event.version, digest)
        missing = _change(session, calendar, {row.instance_id: change} if is_new else {})
        if not missing:
            return {**known, **event_record(row.instance, zone), "changedInstances": 1, "outcome": outcome}
        known["notes"] = _join([known["notes"], *missing.values(), "it is an event of its own"])
    if outcome == CANCELLED and is_new:
        _cancel(session, calendar, event, stored)
    if outcome == DONE:
        return _import_series(session, calendar, row, known, zone)
    if outcome == OLDER and stored and (newer := _newer_changes(session, calendar, event, stored)):
        missing, outcome = _change(session, calendar, newer), DONE
        note = "the series is older than that of the calendar; newer instances were imported"
        known["notes"] = _join([known["notes"], note, *missing.values()])
    return {**known, **(event_record(current, zone) if current else {}), "outcome": outcome}


def _import_series(session: Session, calendar: str, row: _Row, known: dict[str, Any], zone: str) -> Record:
    """Import an event, change its instances, and join the instances that were imported before it."""

    event, stored, digest = row.event, row.stored, row.event.digest
    lone = _lone_changes(event, row.lone, zone)
    event = event._replace(changes=_with_newer(event, [change for _, change in lone]))
    kept: JSONObject = {name: value for name, value in (stored or {}).items() if name in _RARE_IN_FILES}  # type: ignore[misc]
    mark = f"{event.stamp} {'' if event.changes else digest}"
    body = {"status": "confirmed", **kept, **event.body, **_marked(stored, mark, event)}
    imported = client.import_event(session, calendar, body, query=add_required({}, event.body))
    # The service moves changed instances with their series, so only now are their ids known.
    instances = _instances(session, calendar, imported) if stored and "recurrence" in stored else {}
    undone: dict[str, _MarkedFields] = {}
    for instance_id, each in instances.items():
        own = ImportedSeries(event).instance_fields(read_time(each.get("originalStartTime")))
        if own and _stored_version(each) <= event.version:
            undone[instance_id] = {name: None for name in _CHANGEABLE if name in each} | own, f"{event.stamp} "
    missing = _change(session, calendar, undone | _changes(event, imported["id"], instances, digest))
    for single, change in lone:
        if single.get("status") != "cancelled" and f"{imported['id']}_{change.original}" not in missing:
            client.delete_event(session, calendar, single["id"])
    if event.changes:  # only now, so that the import of a series can be repeated after an error
        fields = _marked(stored, f"{event.stamp} {digest}", event)
        imported = client.patch_event(session, calendar, imported["id"], fields)
    return {**known, **event_record(imported, zone), "notes": _join([known["notes"], *missing.values()])}


def _join(notes: Iterable[str]) -> str:
    return "; ".join(filter(None, notes))


def _instances(session: Session, calendar: str, series: Event) -> dict[str, Event]:
    """Return the instances of a series that imports have changed, by their ids."""
    listed = exceptions(session, calendar, series)
    return {each["id"]: each for each in listed if _version(each).endswith(_INSTANCE)}


def _changes(
    event: ImportedEvent, series_id: str, instances: Mapping[str, Event], digest: str, series: Event | None = None
) -> dict[str, _MarkedFields]:
    """Return the changes of a file that are not older than the instance of the calendar, or else than the series."""
    changes: dict[str, _MarkedFields] = {}
    for change in event.changes:
        instance_id = f"{series_id}_{change.original}"
        current = instances.get(instance_id, series)
        if current is None or not _is_older(change.version, current, cancels=change.fields is None):
            changes[instance_id] = change.fields, _instance_mark(change.version, digest)
    return changes


def _newer_changes(session: Session, calendar: str, event: ImportedEvent, series: Event) -> dict[str, _MarkedFields]:
    """Return the changes of a file with an older series that are newer than the series of the calendar."""
    if series.get("status") == "cancelled" or all(change.version <= event.version for change in event.changes):
        return {}
    return _changes(event, series["id"], _instances(session, calendar, series), event.digest, series)


def _cancel(session: Session, calendar: str, event: ImportedEvent, stored: Event | None) -> None:
    """Delete an event, with a mark that keeps older files from restoring it, also if it is not in the calendar yet."""

    marked = _marked(stored, f"{event.stamp} {event.digest}{_CANCELLED}", event)
    if stored and stored.get("status") != "cancelled":
        client.patch_event(session, calendar, stored["id"], {"sequence": event.version[0], **marked})
        client.delete_event(session, calendar, stored["id"])
    else:
        client.import_event(session, calendar, {**_ANY_DAY, **event.body, "status": "cancelled", **marked})


# -- versions --------------------------------------------------------------------------------------------------------


def _private(stored: Event) -> dict[str, str]:
    properties: Any = stored.get("extendedProperties", {})
    return dict(properties.get("private", {}))


def _version(stored: Event) -> str:
    return _private(stored).get(_VERSION, "")


def _digest(stored: Event) -> str:
    return _version(stored).partition(" ")[2].partition(" ")[0]


def _is_deleted(stored: Event) -> bool:
    """Return whether an event was deleted, but neither by an import nor as an instance of a series."""
    is_marked = bool(stored.get("recurringEventId")) or _version(stored).endswith(_CANCELLED)
    return stored.get("status") == "cancelled" and not is_marked


def _instance_mark(version: tuple[int, str], digest: str) -> str:
    """Return the mark of an instance. It has the SEQUENCE of the file, because a move increases that of the event."""
    return f"{version[1]} {digest} {version[0]}{_INSTANCE}"


def _marked(stored: Mapping[str, Any] | None, mark: str, event: ImportedEvent | None = None) -> JSONObject:
    """Return the extended properties of an imported event, with the version and the series that the file has."""
    properties: Any = (stored or {}).get("extendedProperties", {})
    private = {**properties.get("private", {}), _VERSION: mark}
    if event and event.instance_of:
        private[_SERIES] = event.instance_of[0]
    return {"extendedProperties": {**properties, "private": private}}


def _stored_version(stored: Event) -> tuple[int, str]:
    """Return the SEQUENCE and the DTSTAMP of the file from which an event is, or those of a change in the calendar."""

    stamp, *rest = (_version(stored) or f"{print_utc(stored.get('updated'))} ").split(" ")
    is_numbered = len(rest) == 3 and rest[1].isdecimal()
    return int(rest[1]) if is_numbered else stored.get("sequence") or 0, stamp


def _is_older(version: tuple[int, str], stored: Event, *, cancels: bool) -> bool:
    """Return whether a version of a file is older than a stored event. Of equal ones, the cancellation counts."""
    sequence, stamp = _stored_version(stored)
    is_cancelled = stored.get("status") == "cancelled"
    return (*version, cancels) < (sequence, stamp if version[1] or is_cancelled else "", is_cancelled)


def _outcome(event: ImportedEvent, stored: Event | None, *, is_stored: bool) -> str:
    """Return what happens with an event of a file if the calendar has the event `stored` with this UID."""
    cancels = event.method == "CANCEL"
    if stored and (is_stored or _digest(stored) == event.digest or event.method in _ANSWERS):
        return CANCELLED if cancels else UNCHANGED
    if stored and _is_older(event.version, stored, cancels=cancels):
        return OLDER
    return CANCELLED if cancels else DONE


def _with_newer(event: ImportedEvent, lone: list[InstanceChange]) -> list[InstanceChange]:
    """Return the changes of an event with those of instances that were imported before it and are newer."""
    changes = {change.original: change for change in event.changes}
    for change in lone:
        other = changes.get(change.original)
        if change.version > other.version if other else change.version[0] >= event.version[0]:
            changes[change.original] = change
    return [*changes.values()]


def _lone_changes(event: ImportedEvent, lone: list[Event], zone: str) -> list[tuple[Event, InstanceChange]]:
    """Return the instances of a series that were imported before it, with the changes that they are to the series."""

    changes: list[tuple[Event, InstanceChange]] = []
    for each in lone:
        text = str(each["iCalUID"]).removeprefix(f"{event.body['iCalUID']}_")
        if original := ImportedSeries(event).original_text(text, zone):
            fields: Any = {**writable_fields(each), "start": each["start"], "end": each["end"]}
            is_cancelled = each.get("status") == "cancelled"
            changes.append((each, InstanceChange(original, None if is_cancelled else fields, _stored_version(each))))
    return changes


def _change(session: Session, calendar: str, changes: Mapping[str, _MarkedFields]) -> dict[str, str]:
    """Change and cancel instances, with marks, by their ids. Return a note for each change that is refused."""

    missing: dict[str, str] = {}
    for instance_id, (fields, mark) in changes.items():
        body = {"status": "confirmed", **(fields or {}), **_marked(fields, mark)}
        try:
            client.patch_event(session, calendar, instance_id, body, query=add_required({}, body))
            if fields is None:
                client.delete_event(session, calendar, instance_id)
        except (BadRequest, NotFound) as error:  # the other changes are made
            missing[instance_id] = f"instance {instance_id.rpartition('_')[2]} was not changed: {error}"
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
