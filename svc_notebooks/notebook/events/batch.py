"""Creates an event for each row of a DataFrame: create_events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..arguments import is_frame
from ..batch import ROW_ERRORS
from ..current_session import session_or_current
from ..frames.event_schemas import CREATED
from ..frames.frames import frame, snake
from ..times import zone_name
from .body import EventError, event_body, is_missing
from .details import nearest
from .events import ARGUMENTS, body_arguments
from .parameters import query_of, warn_deprecated, with_required
from .records import event_record, in_zone

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from .details import Zone


def create_events(
    frame: DataFrame,
    *,
    calendar: str = "primary",
    time_zone: Zone | None = None,
    send_updates: str | None = None,
    session: Session | None = None,
) -> DataFrame:
    """Create an event for each row of a DataFrame. A row that is refused does not keep the others from being made.

    Args:
        frame: Its columns are arguments of `create_event` (summary, start, end, time_zone, recurrence,
            conference_data_version ...); a cell that is missing is an argument that is not given.
        calendar: As for `create_event`.
        time_zone: For the rows that have none of their own.
        send_updates: As for `create_event`, for the rows that have none of their own.

    Returns:
        One row for each, with the same index: row (object, its label), id, summary (str), start, end (datetime64[ms,
        UTC, or the time_zone that is given]), html_link (str), and for a row that was refused error (str) and field
        (str, the field that it is about).

    Raises:
        TypeError, ValueError: `frame` is none, or has a column that is no argument; nothing was sent.
        NotSignedIn, ServiceFailed, Interrupted: What would befall every row; `result` of the error has the rows before.

    >>> import pandas as pd
    >>> lab = svc.sandbox()
    >>> days = ["2026-11-02", "2026-11-09"]
    >>> term = pd.DataFrame({"summary": ["Algebra", "Oops"], "start": days, "end": ["2026-11-03", "2026-11-09"]})
    >>> svc.create_events(term)["field"].fillna("").tolist()
    ['', 'end']
    """
    session = session_or_current(session)
    if not is_frame(frame):
        raise TypeError(f"frame must be a DataFrame with a row for each event, not {type(frame).__name__}")
    names = [snake(str(column)) for column in frame.columns]
    for column, name in zip(frame.columns, names, strict=True):
        if name not in ARGUMENTS:
            meant = nearest("create_event", name, ARGUMENTS)
            raise ValueError(f"column {column!r} is not an argument of create_event; {meant}")
    common = {"time_zone": time_zone, "calendar": calendar, "send_updates": send_updates}
    query_of(common)
    warn_deprecated(names)
    done: list[dict[str, Any]] = []
    zone = zone_name("time_zone", time_zone) or "UTC"
    columns = [frame[column].tolist() for column in frame.columns]
    try:
        for label, cells in zip(frame.index.tolist(), zip(*columns, strict=True), strict=True):
            arguments = {
                name: _value(name, cell) for name, cell in zip(names, cells, strict=True) if not is_missing(cell)
            }
            done.append({"row": label, **_created(session, {**common, **arguments}, zone)})
    except BaseException as error:
        _annotate_error(error, _created_frame(done, frame, zone), len(frame))
        raise
    return _created_frame(done, frame, zone)


def _annotate_error(error: Any, result: DataFrame, count: int) -> None:
    error.result = result
    error.add_note(f"{len(result)} of {count} rows were done before; they are in the error's .result")


def _created_frame(done: list[dict[str, Any]], source: DataFrame, zone: str) -> DataFrame:
    created = in_zone(frame(CREATED, done), zone)
    return created.set_index(source.index[: len(created)])


_WHOLE_NUMBERS = ("conference_data_version", "max_attendees", "sequence")


def _value(name: str, cell: Any) -> Any:
    """A whole number as an int again: pandas has floats in a column where a cell is missing."""
    return int(cell) if name in _WHOLE_NUMBERS and isinstance(cell, float) and cell.is_integer() else cell


def _created(session: Session, arguments: dict[str, Any], zone: str) -> dict[str, Any]:
    """A made event's record, or what was wrong with it."""
    from ...client.events.events import insert_event

    title = arguments.get("summary")
    try:
        query = query_of(arguments)
        body = event_body(**body_arguments(session, {"start": None, "end": None, **arguments}))
        made = insert_event(session, arguments["calendar"], body, query=with_required(query, body))
    except (EventError, TypeError, ValueError) as error:
        return {"summary": title, "error": str(error), "field": _field_of(error)}
    except ROW_ERRORS as error:
        return {"summary": title, "error": str(error), "field": getattr(error, "location", None)}
    return event_record(made, zone)


def _field_of(error: Exception) -> str | None:
    """The field that an error is about: the service's path, or the argument that the message begins with."""
    if isinstance(error, EventError):
        return error.problems[0][0]
    word = str(error).split(" ")[0].rstrip(":")
    return word if word in ARGUMENTS else None
