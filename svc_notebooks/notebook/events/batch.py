"""Creates an event for each row of a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core.suggestions import nearest_name
from ..arguments import is_frame
from ..batch import ROW_ERRORS
from ..current_session import SessionLike, session_or_current
from ..frames.event_schemas import CREATED
from ..frames.frames import Record, frame, snake
from ..times import zone_name
from .body import EventError, event_body, is_missing
from .events import ARGUMENTS, body_arguments
from .parameters import add_required, query_of, warn_deprecated
from .records import event_record, in_zone

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from .event_arguments import Zone


def create_events(
    frame: DataFrame,
    *,
    calendar: str = "primary",
    time_zone: Zone | None = None,
    send_updates: str | None = None,
    session: SessionLike = None,
) -> DataFrame:
    """Create an event for each row of a DataFrame. If a row is refused, the events of the other rows are still created.

    Args:
        frame: A DataFrame whose columns are arguments of `create_event` (summary, start, end, time_zone, recurrence,
            conference_data_version ...). A missing cell means that the argument is not given.
        calendar: The id of the calendar in which all events are created.
        time_zone: The time zone of rows that have no value in a column `time_zone`.
        send_updates: "all", "externalOnly" or "none", for rows that have no value in a column `send_updates`.

    Returns:
        One row for each row of `frame`, with the same index: row (object, the index label), id, summary (str), start,
        end (datetime64[ms, `time_zone` or UTC]), html_link (str), error (str, the message if the row was refused),
        field (str, the field or argument that the error concerns).

    Raises:
        TypeError, ValueError: `frame` is not a DataFrame, or has a column that is not an argument; nothing was sent.
        NotSignedIn, ServiceFailed, Interrupted: An error that concerns all rows. The attribute `result` of the error is
            the frame of the rows that were processed before the error.

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
    _check_columns(frame, names)
    common = {"time_zone": time_zone, "calendar": calendar, "send_updates": send_updates}
    query_of(common)
    warn_deprecated(names)
    done: list[Record] = []
    zone = zone_name("time_zone", time_zone) or "UTC"
    columns = [frame[column].tolist() for column in frame.columns]
    try:
        for label, cells in zip(frame.index.tolist(), zip(*columns, strict=True), strict=True):
            arguments = {**common}
            for name, cell in zip(names, cells, strict=True):
                if not is_missing(cell):
                    arguments[name] = _argument(name, cell)
            done.append({"row": label, **_create(session, arguments, zone)})
    except BaseException as error:
        error.result = _result(done, frame, zone)  # type: ignore[attr-defined]
        error.add_note(
            f"{len(done)} of {len(frame)} rows succeeded; their events are in the attribute result of this error"
        )
        raise
    return _result(done, frame, zone)


def _check_columns(frame: DataFrame, names: list[str]) -> None:
    """Raise ValueError for columns that are not arguments, with the call that renames the columns that can be."""
    free = [argument for argument in ARGUMENTS if argument not in names]
    renamed: dict[Any, str] = {}
    others: list[Any] = []
    for column, name in zip(frame.columns, names, strict=True):
        if name in ARGUMENTS:
            continue
        if argument := nearest_name(name, free, similarity=0.8):
            free.remove(argument)
            renamed[column] = argument
        else:
            others.append(column)
    if renamed or others:
        columns = ", ".join(repr(column) for column in (*renamed, *others))
        rename = f"give frame.rename(columns={renamed})" if renamed else ""
        rest = f"rename or drop {', '.join(map(repr, others))}" if others else ""
        advice = ", and ".join(filter(None, (rename, rest)))
        raise ValueError(f"frame has columns that create_event does not take: {columns}; {advice}")


def _result(done: list[Record], source: DataFrame, zone: str) -> DataFrame:
    created = in_zone(frame(CREATED, done), zone)
    return created.set_index(source.index[: len(created)])


_WHOLE_NUMBERS = ("conference_data_version", "max_attendees", "sequence")


def _argument(name: str, cell: Any) -> Any:
    """Return a DataFrame cell as an argument value. A float such as 1.0 in a column of integers becomes an int."""
    return int(cell) if name in _WHOLE_NUMBERS and isinstance(cell, float) and cell.is_integer() else cell


def _create(session: Session, arguments: dict[str, Any], zone: str) -> Record:
    """Create an event and return its record. If the service refuses the event, the record has the error message."""
    from ...client.events.events import insert_event

    title = arguments.get("summary")
    try:
        query = query_of(arguments)
        body = event_body(**body_arguments(session, {"start": None, "end": None, **arguments}))
        made = insert_event(session, arguments["calendar"], body, query=add_required(query, body))
    except EventError as error:
        return {"summary": title, "error": str(error), "field": error.problems[0][0]}
    except (TypeError, ValueError) as error:
        argument = str(error).split(" ")[0].rstrip(":")  # messages about arguments begin with the argument's name
        return {"summary": title, "error": str(error), "field": argument if argument in ARGUMENTS else None}
    except ROW_ERRORS as error:
        return {"summary": title, "error": str(error), "field": getattr(error, "location", None)}
    return event_record(made, zone)
