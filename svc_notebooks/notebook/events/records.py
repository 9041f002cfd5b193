"""Converts event resources to records and DataFrames, with default values and with all times in one time zone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from ...client.events.events import delete_event, get_event, insert_event, new_event_ids, patch_event
from ...core.errors.caller_warning import warn_caller
from ...core.errors.errors import ServiceFailed
from ...core.events.instances import duration
from ...core.events.series import Series
from ...core.events.times import Shift, TimeError, instant, print_time, read_time
from ...core.events.validation import with_defaults
from ...core.http.messages import JSONObject, merge_patch
from ...core.printable_text import printable
from ...core.resources.events import Event
from ...core.time_zones import UTC_NAME, zone
from ..batch.batch import ROW_ERRORS, Batch, Report, RowCall, RowOperation, known_id, run
from ..frames.event_schemas import EVENT
from ..frames.frames import Record, Schema, frame, snake
from .body import add_required, partial_body, warn_about
from .event_times import event_zones
from .series_state import SeriesState, exceptions, keep_changes

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ...core.resources.events import Event


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
    names = {
        str(start.get("timeZone") or UTC_NAME) for event in events if isinstance(start := event.get("start"), dict)
    }
    with suppress(ValueError):
        return zone(*names).key if len(names) == 1 else UTC_NAME
    return UTC_NAME


def event_record(event: Event, time_zone: str) -> Record:
    """Convert an event to a record (dict) for a DataFrame row, with wire names as keys.

    Times are instants, people are e-mail addresses, and missing fields have their defaults. An all-day event starts at
    midnight in `time_zone`.
    """
    record: dict[str, Any] = with_defaults(event)
    record["all_day"] = "date" in (record.get("start") or ())
    for column, name in _ZONES.items():
        value = record.get(name)
        record[column] = value.get("timeZone") if value else None
        if not value:
            continue
        try:
            record[name] = value["dateTime"] if "dateTime" in value else instant(read_time(value), zone(time_zone))
        except (ArithmeticError, ValueError) as error:
            problem = f"The service returned an event with a {name} that is not a time: {printable(str(error))}"
            raise ServiceFailed(problem, location=name, advice="Check base_url.") from None
    for name in _PEOPLE:
        if isinstance(record.get(name), dict):
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
    own: Mapping[str, tuple[dict[str, Any], JSONObject]],
    if_match: str | None = None,
    this_and_following: bool = False,
) -> Record:
    """Change an event, and return its record. `body` has the fields of arguments that do not depend on the event.

    `own` has other arguments and their body for some events.
    """
    arguments, body = own.get(event_id, (arguments, body))

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
    this_and_following: bool = False,
) -> Record:
    """Delete an event, or an instance and all following ones, and return a record with the id.

    The series then ends before the instance, or is deleted if the instance is its first one.
    """

    target, state = event_id, SeriesState.read(session, calendar, event_id) if this_and_following else None
    if state:
        target, if_match = str(state.master["id"]), state.series_etag(if_match)
        if not state.is_organizer:
            raise ValueError(_NOT_ORGANIZER)
    if state and not state.is_first:
        body: Any = {"recurrence": [*state.series.until(state.split)]}
        patch_event(session, calendar, target, body, query=query, if_match=if_match)
    else:
        delete_event(session, calendar, target, query=query, if_match=if_match)
    return {"id": event_id, "deleted": True}


# -- changes a stored event, a series, or a series from an instance on, as the arguments of `update_event` say


_DAY = timedelta(days=1)
_NOT_ORGANIZER = "Only the organizer can split this series. Change this event, or all events."


def changed_fields(event: Event, arguments: Mapping[str, Any]) -> JSONObject:
    """Return the merge patch that changes a stored event as the arguments of `update_event` say.

    A new start alone keeps the length of the event, and moves the recurrence of a series. Raises TypeError or
    ValueError, which names the argument.
    """
    if "recurrence" in arguments and (series := event.get("recurringEventId")):
        raise ValueError(f"recurrence is that of the series; give its id {series!r}, or this_and_following=True")
    start = arguments.get("start")
    named = {**arguments, **event_zones(event, arguments), "start": dict(event["start"]) if start is None else start}
    body: Any = partial_body(**named)
    if "recurrence" in arguments:
        body.setdefault("recurrence", None)
    if start is not None:
        body = {**_moved_fields(event, body["start"]), **body}
    elif body["start"] == event["start"]:
        del body["start"]
    for name, old in (("start", event["start"]), ("end", event["end"])):
        if isinstance(body.get(name), dict) and ("date" in old) != ("date" in body[name]):
            body[name] = {**dict.fromkeys(old), **body[name]}  # removes what the old time has
    if {"start", "recurrence"} & body.keys():
        merged: Any = merge_patch(event, body)
        warn_about({"start": merged["start"], "end": body.get("end"), "recurrence": merged.get("recurrence")})
    return body  # type: ignore[no-any-return]


def _moved_fields(event: Event, start: JSONObject) -> JSONObject:
    """Return the end and the recurrence that an event has at another start, if it keeps its length and its rule."""
    series, zones = Series.of(event), [event[name].get("timeZone") for name in ("start", "end")]
    named: dict[str, Any] = {"timeZone": zones[0], **start}
    try:
        first = read_time(named)
    except TimeError as error:
        raise ValueError(f"start: {error}") from None
    length, end_zone = duration(series.start, series.end), zones[1] if zones[1] != zones[0] else named["timeZone"]
    if isinstance(first, datetime):
        end = (first.astimezone(UTC) + length).astimezone(zone(end_zone) if end_zone else first.tzinfo)
        fields: Any = {"end": print_time(end, end.tzinfo or UTC, end_zone)}
    else:
        fields = {"end": {"date": str(first + max(_DAY, -(-length // _DAY) * _DAY))}}
    if series.lines and (lines := series.since(series.start, first)) != [*series.lines]:
        fields["recurrence"] = lines
    return fields  # type: ignore[no-any-return]


def change_event(
    session: Session,
    calendar: str,
    event_id: str,
    arguments: Mapping[str, Any],
    query: Mapping[str, object],
    if_match: str | None,
) -> Event:
    """Change the times or the recurrence of an event. Shows a warning if changed instances leave the series."""

    event = get_event(session, calendar, event_id)
    fields = changed_fields(event, arguments)
    is_other_series = "recurrence" in arguments and event.get("recurrence") not in (None, fields["recurrence"])
    edited = _edited(session, calendar, event) if is_other_series else 0
    query = add_required(query, fields)
    changed = patch_event(session, calendar, event_id, fields, query=query, if_match=if_match)
    if edited and (lost := edited - _edited(session, calendar, changed)):
        warn_caller(f"individual changes of {lost} instances are lost, which the new recurrence of {event_id!r} lacks")
    return changed


def _edited(session: Session, calendar: str, series: Event) -> int:
    return sum(event.get("status") != "cancelled" for event in exceptions(session, calendar, series))


def change_following(
    session: Session,
    calendar: str,
    event_id: str,
    arguments: Mapping[str, Any],
    query: Mapping[str, object],
    if_match: str | None,
) -> Event:
    """Change an instance and all following ones: the series ends before the instance, and a new series begins there.

    Returns the new series, or the changed series if the instance is its first one. If the new series cannot be created,
    the old one is restored. Raises ValueError if the event does not recur, or another user is its organizer.
    """

    state = SeriesState.read(session, calendar, event_id)
    master_id, split = str(state.master["id"]), state.split
    etag = state.series_etag(if_match)
    if state.is_first:
        return change_event(session, calendar, master_id, arguments, query, etag)
    if not state.is_organizer:
        raise ValueError(_NOT_ORGANIZER)
    fields = changed_fields(state.rest, arguments)
    body: Any = merge_patch(state.rest, fields)
    shift = Shift(split, read_time(body["start"]))
    if body.get("recurrence"):
        body["recurrence"] = state.series.without(body["recurrence"], [*map(shift.move, state.cancelled)])
    patch = partial(patch_event, session, calendar, master_id)
    patch({"recurrence": [*state.series.until(split)]}, query=query, if_match=etag)
    try:
        body["id"] = new_event_ids(session, 1)[0]  # so that a lost response creates no second series
        created = insert_event(session, calendar, body, query=add_required(query, body))
    except BaseException:
        patch({"recurrence": [*state.restored]})
        keep_changes(session, state, master_id, Shift(split, split))
        raise
    times = ("start", "end") if {"start", "end"} & fields.keys() else ()
    keep_changes(session, state, str(created["id"]), shift, (*fields, *times))
    return created
