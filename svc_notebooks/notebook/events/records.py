"""Converts event resources to records and DataFrames, with default values and with all times in one time zone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ...client.events.events import delete_event, get_event, patch_event
from ...core.errors.errors import ServiceFailed
from ...core.events.times import instant, read_time
from ...core.events.validation import with_defaults
from ...core.http.messages import JSONObject
from ...core.printable_text import printable
from ...core.resources.events import Event
from ...core.time_zones import UTC_NAME, zone
from ..batch.batch import ROW_ERRORS, Batch, Report, RowCall, RowOperation, known_id, run
from ..frames.event_schemas import EVENT
from ..frames.frames import Record, Schema, frame, snake
from .event_changes import change_event, change_following

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session


_TIMES = ("start", "end", "originalStartTime")
_ZONES = {"time_zone": "start", "end_time_zone": "end", "original_start_time_zone": "originalStartTime"}
"""The time field whose time zone each time zone column shows."""
_PEOPLE = ("creator", "organizer")


def fields_mask(schema: Schema) -> str | None:
    """Return the `fields` mask of a list of events for the columns of a schema. None stands for all fields."""
    if schema is EVENT or not schema.columns:
        return None
    fields = dict.fromkeys("start" if key == "all_day" else _ZONES.get(key, key) for key in schema.keys)
    return f"nextPageToken,items({','.join(fields)})"


def event_frame(schema: Schema, events: Sequence[Event], time_zone: str | None = None) -> DataFrame:
    """Return the DataFrame of events, with times in `time_zone`. None stands for the events' common zone or UTC."""
    name = time_zone or common_zone(events)
    return in_zone(frame(schema, [event_record(event, name) for event in events]), name)


def with_first(events: DataFrame, keys: Iterable[str]) -> DataFrame:
    """Return the DataFrame with the title and the times first, and then the columns of the fields `keys`."""
    columns = events.columns.tolist()
    first = [name for name in ("summary", "start", "end", *map(snake, keys)) if name in columns]
    return events[[*dict.fromkeys([*first, *columns])]]


def in_zone(events: DataFrame, name: str) -> DataFrame:
    """Convert the time columns of an event DataFrame to the time zone `name` in place, and return the DataFrame."""
    for column in ("start", "end", "original_start_time"):
        if column in events:
            events[column] = events[column].dt.tz_convert(zone(name))
    return events


def common_zone(events: Iterable[Event]) -> str:
    """Return the name of the common time zone of all event starts, or "UTC" if they differ or it is not known here."""
    starts = [start for event in events if isinstance(start := event.get("start"), dict)]
    names = {str(start.get("timeZone") or UTC_NAME) for start in starts}
    with suppress(ValueError):
        return zone(*names).key if len(names) == 1 else UTC_NAME
    return UTC_NAME


def event_record(event: Event, time_zone: str) -> Record:
    """Convert an event to a record (dict) for a DataFrame row, with wire names as keys.

    Times are instants, people are e-mail addresses, and missing fields have their defaults. An all-day event starts at
    midnight in `time_zone`.
    """
    record: dict[str, Any] = with_defaults(event)
    times = {name: record[name] for name in _TIMES if record.get(name)}
    record["all_day"] = "date" in times.get("start", ())
    for column, name in _ZONES.items():
        record[column] = times.get(name, {}).get("timeZone")
    for name, value in times.items():
        try:
            record[name] = value["dateTime"] if "dateTime" in value else instant(read_time(value), zone(time_zone))
        except (ArithmeticError, ValueError) as error:
            problem = f"The service returned an event with a {name} that is not a time: {printable(str(error))}"
            raise ServiceFailed(problem, location=name, advice="Check base_url.") from None
    for name in _PEOPLE:
        if isinstance(record.get(name), Mapping):
            record[name] = record[name].get("email")
    return record


# -- changes one event of a call for many, and converts the results of all to a DataFrame


def change_row(
    session: Session,
    event_id: str,
    report: Report,
    calendar: str,
    query: Mapping[str, object],
    body: JSONObject,
    arguments: dict[str, Any],
    if_match: str | None = None,
    this_and_following: bool = False,
) -> Record:
    """Change an event, and return its record. `body` has the fields of arguments that do not depend on the event."""

    if this_and_following:
        return event_record(change_following(session, calendar, event_id, arguments, query, if_match), UTC_NAME)
    times = (arguments.get(name) for name in ("start", "end", "duration"))
    if "recurrence" in arguments or any(time is not None for time in times):
        return event_record(change_event(session, calendar, event_id, arguments, query, if_match), UTC_NAME)
    return event_record(patch_event(session, calendar, event_id, body, query=query, if_match=if_match), UTC_NAME)


def run_on_events(
    title: str, call: RowCall[str], ids: list[str], session: Session, batch: Batch, keys: Iterable[str]
) -> DataFrame:
    """Run `call` for each event id, and return a DataFrame of the events, with times in their common zone or in UTC.

    The fields `keys`, which the call changes, come first.
    """
    operation = RowOperation(
        EVENT, call, known=known_id, row_errors=(*ROW_ERRORS, ValueError), title=title, unit="events"
    )
    try:
        result = run(operation, ids, session, batch)
    except BaseException as error:
        if hasattr(error, "result"):
            error.result = _in_common_zone(error.result)
        raise
    return with_first(_in_common_zone(result), keys)


def _in_common_zone(events: DataFrame) -> DataFrame:
    zones = set(events.loc[events["start"].notna(), "time_zone"].fillna(UTC_NAME))
    return in_zone(events, zones.pop() if len(zones) == 1 else UTC_NAME)


def respond_row(session: Session, event_id: str, report: Report, calendar: str, answer: JSONObject) -> Record:
    """Respond to an event, and return its record. Raises ValueError if the user is not an attendee of the event."""

    attendees = get_event(session, calendar, event_id).get("attendees") or []
    own = [{"email": attendee["email"]} for attendee in attendees if attendee.get("self") and attendee.get("email")]
    if not own:
        raise ValueError(f"you are not among the attendees of event {event_id!r}")
    body: JSONObject = {"attendeesOmitted": True, "attendees": [{**own[0], **answer}]}
    return event_record(patch_event(session, calendar, event_id, body), UTC_NAME)


def delete_row(
    session: Session,
    event_id: str,
    report: Report,
    calendar: str,
    query: Mapping[str, object],
    if_match: str | None = None,
) -> Record:
    """Delete an event, and return its record."""

    delete_event(session, calendar, event_id, query=query, if_match=if_match)
    return {"id": event_id, "deleted": True}
