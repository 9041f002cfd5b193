"""Imports the events of an .ics file into a calendar."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...core.errors.errors import NotFound
from ..batch.batch import Batch, Errors, RowOperation, run
from ..batch.resume import Resumable
from ..batch.row_call import ROW_ERRORS, Report
from ..current_session import SessionLike, session_or_current
from ..frames.event_schemas import IMPORTED
from ..frames.frames import Record
from .parameters import check_calendar
from .records import event_record, in_zone

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.events.ical_reader import ImportedEvent
    from ...client.session import Session
    from ..batch.progress import Progress
    from ..batch.resume import Resume
    from ..batch.workers import Executor


def import_events(
    source: str | bytes | os.PathLike[str],
    *,
    calendar: str = "primary",
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    resume: Resume = None,
    progress: Progress = None,
    session: SessionLike = None,
) -> DataFrame:
    """Import the events of an .ics file into a calendar. No invitations are sent.

    An event that is in the calendar already, by its iCalUID, is replaced, so the same file can be imported again. A
    recurring event is imported with its recurrence and with its changed and cancelled instances. The import reads
    texts, times, status, visibility, people and reminders. It does not read links, attachments and tasks. The name of a
    Windows time zone, such as "W. Europe Standard Time", becomes the IANA zone of the Unicode CLDR. If the file defines
    the zone with other offsets, it becomes an IANA zone with these offsets.

    Args:
        source: The path of the file, or its content as str or bytes, which begins with BEGIN:VCALENDAR.
        calendar: The id of the calendar. Times without a time zone are in the zone of the file, or of this calendar.
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
        (str), outcome (str: done, failed or skipped), error (str, why the event was not imported), attempts (Int64),
        seconds (Float64).

    Raises:
        TypeError, ValueError: The source or an argument is not valid; nothing was sent.
        FileNotFoundError: The path does not exist.
        NotFound: The calendar does not exist, or this user has no access to the calendar.
        ImportError: icalendar is not installed; run `pip install 'svc-notebooks[calendar]'`.

    >>> lab = svc.sandbox()
    >>> made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03", recurrence="daily, 5 times")
    >>> saved = svc.export_events(made, folder / "import.ics")
    >>> term = svc.create_calendar("Term")["id"].item()
    >>> svc.import_events(folder / "import.ics", calendar=term)[["summary", "outcome"]].values.tolist()
    [['Tea', 'done']]
    """
    from ...client.events.events import get_calendar
    from ...client.events.ical_reader import imported_events, parse_calendars

    session, calendar = session_or_current(session), check_calendar(calendar)
    batch = Batch(workers, executor, errors, resume, progress)
    calendars = parse_calendars(_content(source))
    zone = str(get_calendar(session, calendar).get("timeZone") or "UTC")
    operation = RowOperation(
        IMPORTED,
        partial(_import, calendar=calendar, zone=zone),
        known=lambda row: {"iCalUID": row.body["iCalUID"], "summary": row.body.get("summary")},
        label=lambda n, row: str(row.body.get("summary") or row.body["iCalUID"]),
        row_errors=(*ROW_ERRORS, ValueError),
        resumable=Resumable("import_events", {"calendar": calendar}, identity=lambda row: [row.body, row.changes]),
        title="Import events",
        unit="events",
    )
    return in_zone(run(operation, imported_events(calendars, zone), session, batch), zone)


def _content(source: object) -> bytes | str:
    """Return the content of a file from its path, or the content itself. Raises TypeError for another source."""
    if isinstance(source, bytes) or (isinstance(source, str) and "BEGIN:" in source.upper()[:100]):
        return source
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f"source must be a path, or the content of an .ics file, not {type(source).__name__}")
    return Path(source).expanduser().read_bytes()


def _import(session: Session, row: ImportedEvent, report: Report, calendar: str, zone: str) -> Record:
    """Import an event and its changed instances, and return the record of the event."""
    from ...client.events.events import delete_event, import_event, patch_event

    if row.problem is not None:
        raise ValueError(row.problem)
    imported = import_event(session, calendar, row.body)
    for moment, fields in row.changes:
        instance = f"{imported['id']}_{moment}"
        if fields is None:
            with suppress(NotFound):  # cancelled already
                delete_event(session, calendar, instance)
            continue
        try:
            patch_event(session, calendar, instance, fields)
        except NotFound as error:
            raise ValueError(f"the series has no instance {moment}, which the file changes") from error
    return {**event_record(imported, zone), "changedInstances": len(row.changes)}
