"""Creates an event for each row of a DataFrame."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ...client.events.events import get_calendar, get_event, insert_event, new_event_ids
from ...client.session import SessionLike, session_or_current
from ...core.errors.errors import AlreadyExists
from ...core.suggestions import nearest_name
from ...core.time_arguments import without_words
from ..arguments import is_frame, is_missing
from ..batch.batch import ROW_ERRORS, Batch, Errors, Executor, Progress, Report, Resumable, Resume, RowOperation, run
from ..frames.event_schemas import CREATED
from ..frames.frames import Record, snake
from .body import EventError, add_required, calendar_id, event_body, query_of, warn_deprecated
from .event_times import Zone, local_times, zone_name
from .events import ARGUMENTS, body_arguments
from .records import event_record, in_zone

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ..arguments import File


def create_events(
    frame: DataFrame,
    *,
    calendar: File = "primary",
    time_zone: Zone | None = None,
    send_updates: str | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    resume: Resume = None,
    progress: Progress = None,
    session: SessionLike = None,
) -> DataFrame:
    """Create an event for each row of a DataFrame. If a row is refused, the events of the other rows are still created.

    Args:
        frame: A DataFrame whose columns are arguments of `create_event` (summary, start, end, time_zone, recurrence,
            conference_data_version ...), or synonyms of them, such as title. A missing cell means that the argument is
            not given.
        calendar: The id, the name or a row of the calendar in which all events are created.
        time_zone: The time zone of rows that have no value in a column `time_zone`. None: that of `calendar`, unless it
            is "primary".
        send_updates: "all", "externalOnly" or "none", for rows that have no value in a column `send_updates`.
        workers, executor, errors: The threads or the executor for several rows, and what happens with an error of one
            of them. See docs/bulk.md.
        resume: The name of a ledger, a file in the current folder in which the call records the rows that are done. The
            same call again creates only the other events. None records nothing. See docs/bulk.md.
        progress: None shows a bar for long calls, True always, False never. A function gets (rows done, rows).

    Returns:
        One row for each row of `frame`, with the same index: row (object, the index label), id, summary (str), start,
        end (datetime64[ms, `time_zone` or UTC]), html_link (str), error (str, the message if the row was refused),
        field (str, the field or argument that the error concerns), outcome (str), attempts (Int64), seconds (Float64).

    Raises:
        TypeError, ValueError: `frame` is not a DataFrame, or has a column that is not an argument; nothing was sent.
        NotSignedIn, ServiceFailed, Unreachable: An error that concerns all rows. The attribute `result` of the error is
            the frame of the rows that were processed before the error.

    >>> import pandas as pd
    >>> lab = svc.sandbox()
    >>> days = ["2026-11-02", "2026-11-09"]
    >>> term = pd.DataFrame({"summary": ["Algebra", "Geometry"], "start": days, "end": ["2026-11-03", "2026-11-10"]})
    >>> svc.create_events(term)["outcome"].tolist()
    ['done', 'done']
    """
    session = session_or_current(session)
    if not is_frame(frame):
        raise TypeError(
            f"frame must be a DataFrame with a row for each event, not {type(frame).__name__}; give pd.DataFrame(rows)"
        )
    names = _argument_names(frame)
    common: dict[str, Any] = {
        "time_zone": time_zone,
        "calendar": calendar_id(session, calendar),
        "send_updates": send_updates,
    }
    query_of(common)
    warn_deprecated(names)
    zone = zone_name("time_zone", time_zone) or "UTC"
    columns = [frame[column].tolist() for column in frame.columns]
    rows = [
        _EventRow(label, common | _arguments(names, cells))
        for label, cells in zip(frame.index.tolist(), zip(*columns, strict=True), strict=True)
    ]
    now = session.clock.now()
    if time_zone is None and (local := [row for row in rows if _is_without_zone(row.arguments, now)]):
        if common["calendar"] == "primary" and len(local) == len(rows) > 1:
            raise ValueError(
                f"start has no time zone in any of {len(rows)} rows; give time_zone='Europe/Berlin' or offsets"
            )
        if common["calendar"] != "primary":
            zone = get_calendar(session, common["calendar"])["timeZone"]
            for row in local:
                row.arguments["time_zone"] = zone
    resumable: Resumable[_EventRow] = Resumable(
        "create_events",
        common,
        identity=lambda row: row.arguments,
        with_id=_with_id,
        new_ids=new_event_ids,
        needs_id=lambda row: "event_id" not in row.arguments,
        repeat=partial(_create_again, zone=zone),
        current=lambda row: {"row": row.label},
    )
    operation = RowOperation(
        CREATED,
        partial(_create, zone=zone),
        known=_known,
        error_columns=_field_of,
        row_errors=(*ROW_ERRORS, TypeError, ValueError),
        resumable=resumable,
        title="Create events",
        unit="events",
    )
    try:
        result = run(operation, rows, session, Batch(workers, executor, errors, resume, progress))
    except BaseException as error:
        partial_result: DataFrame | None = getattr(error, "result", None)
        if partial_result is not None:
            vars(error)["result"] = in_zone(partial_result.set_index("row", drop=False), zone)
        raise
    return in_zone(result.set_index(frame.index), zone)


class _EventRow(NamedTuple):
    label: Any
    arguments: dict[str, Any]


def _arguments(names: list[str], cells: tuple[Any, ...]) -> dict[str, Any]:
    """Return the arguments of `create_event` for the cells of a row that are not missing."""
    return {name: _argument(name, cell) for name, cell in zip(names, cells, strict=True) if not is_missing(cell)}


def _argument_names(frame: DataFrame) -> list[str]:
    """Return the argument of each column, whose name may be a synonym, such as "title".

    Raises ValueError for other columns, with the call that renames the columns whose names are similar.
    """
    names = [snake(str(column)) for column in frame.columns]
    free = [argument for argument in ARGUMENTS if argument not in names]
    renamed: dict[Any, str] = {}
    others: list[Any] = []
    for n, (column, name) in enumerate(zip(frame.columns, names, strict=True)):
        if name in ARGUMENTS:
            continue
        argument = nearest_name(name, free, similarity=0.8)
        if argument is None or argument not in free:
            others.append(column)
            continue
        free.remove(argument)
        if nearest_name(name, [argument], similarity=1):
            names[n] = argument
        else:
            renamed[column] = argument
    if renamed or others:
        columns = ", ".join(repr(column) for column in (*renamed, *others))
        rename = f"give frame.rename(columns={renamed})" if renamed else ""
        rest = f"rename or drop {', '.join(map(repr, others))}" if others else ""
        advice = ", and ".join(filter(None, (rename, rest)))
        raise ValueError(f"frame has columns that create_event does not take: {columns}; {advice}")
    return names


def _is_without_zone(arguments: Mapping[str, Any], now: datetime) -> bool:
    """Return True if the start is a time without a zone, and False for another start, also one that is no time."""
    try:
        return "start" in local_times({**arguments, "start": without_words(arguments.get("start"), now), "end": None})
    except (TypeError, ValueError):
        return False


_WHOLE_NUMBERS = ("conference_data_version", "max_attendees", "sequence")


def _argument(name: str, cell: Any) -> Any:
    """Return a DataFrame cell as an argument value. A float such as 1.0 in a column of integers becomes an int."""
    return int(cell) if name in _WHOLE_NUMBERS and isinstance(cell, float) and cell.is_integer() else cell


def _create(session: Session, row: _EventRow, report: Report, zone: str) -> Record:
    """Create an event and return its record."""

    arguments = row.arguments
    query = query_of(arguments)
    body = event_body(**body_arguments(session, {"start": None, "end": None, **arguments}))
    made = insert_event(session, arguments["calendar"], body, query=add_required(query, body))
    return {"row": row.label, **event_record(made, zone)}


def _create_again(session: Session, row: _EventRow, report: Report, zone: str) -> Record:
    """Create an event, or return the record of the event that an earlier call has created with the same id."""

    try:
        return _create(session, row, report, zone)
    except AlreadyExists:
        made = get_event(session, row.arguments["calendar"], row.arguments["event_id"])
        return {"row": row.label, **event_record(made, zone)}


def _with_id(row: _EventRow, event_id: str) -> _EventRow:
    return row if "event_id" in row.arguments else row._replace(arguments={**row.arguments, "event_id": event_id})


def _known(row: _EventRow) -> Record:
    return {"row": row.label, "summary": row.arguments.get("summary")}


def _field_of(error: Exception) -> Record:
    """Return the field or the argument that an error concerns."""
    if isinstance(error, EventError):
        return {"field": error.problems[0][0]}
    if isinstance(error, TypeError | ValueError):
        argument = str(error).split(" ")[0].rstrip(":")  # messages about arguments begin with the argument's name
        return {"field": argument if argument in ARGUMENTS else None}
    return {"field": getattr(error, "location", None)}
