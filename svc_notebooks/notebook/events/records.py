"""Converts events to DataFrames, changes events and series, and reads the changed instances of a series."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from ...client.events.events import delete_event, get_event, insert_event, list_events, new_event_ids, patch_event
from ...client.session import Session
from ...core.errors.errors import NotFound, ServiceFailed, SvcError, warn_caller
from ...core.events.event_times import Shift, TimeError, clock_time, instant, print_time, read_time
from ...core.events.fields import EVENT_FIELDS
from ...core.events.instances import duration
from ...core.events.rrule import Start, print_moment
from ...core.events.series import Series
from ...core.events.validation import with_defaults
from ...core.http.messages import JSONObject, merge_patch
from ...core.printable_text import printable
from ...core.resources.events import Event
from ...core.times import UTC_NAME, zone
from ..batch.batch import ROW_ERRORS, Batch, Report, RowCall, RowOperation, known_id, run
from ..frames import EVENT, Record, Schema, frame, snake
from .body import DAY, Times, add_required, event_zones, partial_body, warn_about

if TYPE_CHECKING:
    from pandas import DataFrame


# The time field whose time zone each time zone column shows.
_ZONES = {"time_zone": "start", "end_time_zone": "end", "original_start_time_zone": "originalStartTime"}


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
    for name in ("creator", "organizer"):
        if isinstance(record.get(name), dict):
            record[name] = record[name].get("email")
    return record


# -- changes one event of a call for many, and converts the results of all to a DataFrame


@dataclass(frozen=True, slots=True)
class EventCall:
    """What a call for many events sends for each of them, to `calendar`. `if_match` is the etag that it must have.

    `arguments` are those of `update_event`, and `body` has the fields of them that do not depend on the event. `own`
    has other arguments and their body for some events.
    """

    calendar: str
    query: Mapping[str, object]
    if_match: str | None
    this_and_following: bool
    arguments: Mapping[str, Any] = field(default_factory=dict)
    body: JSONObject = field(default_factory=dict)
    own: Mapping[str, tuple[dict[str, Any], JSONObject]] = field(default_factory=dict)

    def update(self, session: Session, event_id: str, report: Report) -> Record:
        """Change an event, and return its record."""
        arguments, body = self.own.get(event_id, (self.arguments, self.body))
        times = (arguments.get(name) for name in ("start", "end", "duration"))
        if self.this_and_following:
            event = self._change_following(session, event_id, arguments)
        elif "recurrence" in arguments or any(time is not None for time in times):
            event = self._change(session, event_id, arguments, self.if_match)
        else:
            event = patch_event(session, self.calendar, event_id, body, query=self.query, if_match=self.if_match)
        return event_record(event, UTC_NAME)

    def _change(self, session: Session, event_id: str, arguments: Mapping[str, Any], if_match: str | None) -> Event:
        """Change the times or the recurrence of an event. Shows a warning if changed instances leave the series."""
        event = get_event(session, self.calendar, event_id)
        fields = changed_fields(event, arguments)
        is_other_series = "recurrence" in arguments and event.get("recurrence") not in (None, fields["recurrence"])
        edited = _edited(session, self.calendar, event) if is_other_series else 0
        query = add_required(self.query, fields)
        changed = patch_event(session, self.calendar, event_id, fields, query=query, if_match=if_match)
        if edited and (lost := edited - _edited(session, self.calendar, changed)):
            lacks = f"which the new recurrence of {event_id!r} lacks"
            warn_caller(f"individual changes of {lost} instances are lost, {lacks}")
        return changed

    def _change_following(self, session: Session, event_id: str, arguments: Mapping[str, Any]) -> Event:
        """Change an instance and all following ones: the series ends before it, and a new series begins there.

        Returns the new series, or the changed series if the instance is its first one. If the new series cannot be
        created, the old one is restored. Raises ValueError if the event does not recur, or if another user is its
        organizer.
        """
        state = SeriesState.read(session, self.calendar, event_id)
        master_id, split = str(state.master["id"]), state.split
        etag = state.series_etag(self.if_match)
        if state.is_first:
            return self._change(session, master_id, arguments, etag)
        if not state.is_organizer:
            raise ValueError(_NOT_ORGANIZER)
        fields = changed_fields(state.rest, arguments)
        body: Any = merge_patch(state.rest, fields)
        shift = Shift(split, read_time(body["start"]))
        if body.get("recurrence"):
            body["recurrence"] = state.series.without(body["recurrence"], [*map(shift.move, state.cancelled)])
        patch = partial(patch_event, session, self.calendar, master_id)
        patch({"recurrence": [*state.series.until(split)]}, query=self.query, if_match=etag)
        try:
            body["id"] = new_event_ids(session, 1)[0]  # so that a lost response creates no second series
            created = insert_event(session, self.calendar, body, query=add_required(self.query, body))
        except BaseException:
            patch({"recurrence": [*state.restored]})
            keep_changes(session, state, master_id, Shift(split, split))
            raise
        times = ("start", "end") if {"start", "end"} & fields.keys() else ()
        keep_changes(session, state, str(created["id"]), shift, (*fields, *times))
        return created

    def delete(self, session: Session, event_id: str, report: Report) -> Record:
        """Delete an event, or an instance and all following ones, and return a record with the id.

        The series then ends before the instance, or is deleted if the instance is its first one.
        """
        target, if_match = event_id, self.if_match
        state = SeriesState.read(session, self.calendar, event_id) if self.this_and_following else None
        if state:
            target, if_match = str(state.master["id"]), state.series_etag(if_match)
            if not state.is_organizer:
                raise ValueError(_NOT_ORGANIZER)
        if state and not state.is_first:
            body: Any = {"recurrence": [*state.series.until(state.split)]}
            patch_event(session, self.calendar, target, body, query=self.query, if_match=if_match)
        else:
            delete_event(session, self.calendar, target, query=self.query, if_match=if_match)
        return {"id": event_id, "deleted": True}


def run_on_events(
    title: str, call: RowCall[str], ids: list[str], session: Session, batch: Batch, keys: Iterable[str]
) -> DataFrame:
    """Run `call` for each event id, and return a DataFrame of the events, with times in their common zone or in UTC.

    The fields `keys`, which the call changes, come first.
    """
    errors = (*ROW_ERRORS, ValueError)
    operation = RowOperation(EVENT, call, known=known_id, row_errors=errors, title=title, unit="events")
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


# -- changes a stored event, a series, or a series from an instance on, as the arguments of `update_event` say


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
        fields = {"end": {"date": str(first + max(DAY, -(-length // DAY) * DAY))}}
    if series.lines and (lines := series.since(series.start, first)) != [*series.lines]:
        fields["recurrence"] = lines
    return fields  # type: ignore[no-any-return]


def _edited(session: Session, calendar: str, series: Event) -> int:
    return sum(event.get("status") != "cancelled" for event in exceptions(session, calendar, series))


# -- a series with its changed and cancelled instances, before several instances change


_NOT_COPIED = {"id", "iCalUID", "sequence", "start", "end", "recurrence", "originalStartTime"}
# The fields of a time that a change removes, because an instance can have another type of time than its series.
_NO_TIME = {"date": None, "dateTime": None, "timeZone": None}
_FIELDS = [field.path for field in EVENT_FIELDS if field.writable and "." not in field.path and "[]" not in field.path]
_DEFAULTS = {**{field.path: field.default for field in EVENT_FIELDS}, "reminders": {"useDefault": True}}
_ATTENDEE = {
    field.path.partition(".")[2]: field.default
    for field in EVENT_FIELDS
    if field.writable and field.path.startswith("attendees[].")
}


@dataclass(frozen=True, slots=True)
class SeriesState:
    """An instance, its series, and the instances of the series that were changed or cancelled individually."""

    calendar: str
    instance: Event
    master: Event
    exceptions: tuple[Event, ...]

    @classmethod
    def read(cls, session: Session, calendar: str, event_id: str) -> SeriesState:
        """Read the series of an instance from the service. Raises ValueError for an event that does not recur.

        The id of the series stands for its first instance.
        """

        instance = get_event(session, calendar, event_id)
        if not instance.get("recurringEventId") and not instance.get("recurrence"):
            raise ValueError(f"event {event_id!r} is not an instance of a recurring event")
        master = get_event(session, calendar, instance.get("recurringEventId") or event_id)
        return cls(calendar, instance, master, tuple(exceptions(session, calendar, master)))

    @property
    def series(self) -> Series:
        return Series.of(self.master)

    @property
    def restored(self) -> list[str]:
        """The lines of the whole series, with an EXDATE for each cancelled instance that a split removes."""
        return self.series.without(self.series.lines, self.cancelled)

    @property
    def rest(self) -> Event:
        """The fields of a series of its own from the instance on."""
        times = Times.of(self.master)
        first = times.shifted(clock_time(self.split) - clock_time(times.start), timedelta())
        lines = self.series.since(self.split)
        return cast(Event, {**own_values(self.master), **first.fields(self.master), "recurrence": lines})

    @property
    def split(self) -> Start:
        """The original start of the instance."""
        return _original_start(self.instance)

    @property
    def is_first(self) -> bool:
        """True if the instance is the first one, so that all following instances are the whole series."""
        return bool(self.split <= self.series.start)

    def series_etag(self, if_match: str | None) -> str | None:
        """Return the etag of the series for a current etag of the instance, and any other etag unchanged."""
        return str(self.master["etag"]) if if_match in (None, "*", self.instance["etag"]) else if_match

    @property
    def is_organizer(self) -> bool:
        return bool((self.master.get("organizer") or {}).get("self"))

    @property
    def cancelled(self) -> list[Start]:
        """The original starts of the cancelled instances from the instance on."""
        return [_original_start(event) for event in self._following if event.get("status") == "cancelled"]

    @property
    def edited(self) -> list[Event]:
        """The individually changed instances from the instance on."""
        return [event for event in self._following if event.get("status") != "cancelled"]

    @property
    def _following(self) -> list[Event]:
        return [event for event in self.exceptions if _original_start(event) >= self.split]

    def own_fields(self, event: Event) -> JSONObject:
        """Return the fields of a changed instance that differ from its series. None stands for a removed field."""
        own, common = writable_fields(event), writable_fields(self.master)
        fields: JSONObject = {name: own.get(name) for name in {**common, **own} if own.get(name) != common.get(name)}
        times, length = Times.of(event), duration(self.series.start, self.series.end)
        if times.start != _original_start(event) or duration(times.start, times.end) != length:
            fields |= {name: {**_NO_TIME, **time} for name, time in times.fields(event).items()}
        return fields


def exceptions(session: Session, calendar: str, master: Event) -> list[Event]:
    """Return the instances of a series that were changed or cancelled individually."""

    same_uid = list_events(session, calendar, {"iCalUID": master.get("iCalUID"), "showDeleted": "true"})
    return [event for event in same_uid if event.get("recurringEventId") == master["id"]]


def writable_fields(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an event that can be written to another event, without times and recurrence."""
    copied = {name: event[name] for name in _FIELDS if name in event and name not in _NOT_COPIED}
    if "attendees" in copied:
        copied["attendees"] = [
            {name: guest[name] for name, default in _ATTENDEE.items() if guest.get(name, default) != default}
            for guest in copied["attendees"]
        ]
    return copied


def own_values(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the writable fields of an event without those that have their default, times and recurrence."""
    return {name: value for name, value in writable_fields(event).items() if value != _DEFAULTS.get(name)}


def times_and_recurrence(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields start, end and recurrence of an event. A single all-day event has no time zone."""
    times = {name: fields[name] for name in ("start", "end", "recurrence") if name in fields}
    if times.get("recurrence") or "date" not in times["start"]:
        return times
    return {name: {"date": times[name]["date"]} for name in ("start", "end")}


def _original_start(event: Event) -> Start:
    return read_time(event.get("originalStartTime") or event["start"])


def keep_changes(
    session: Session, state: SeriesState, series_id: str, shift: Shift, replaced: Sequence[str] = ()
) -> None:
    """Repeat the individual changes of the instance and of following ones in a series that is moved by `shift`.

    The fields `replaced` of the instance itself are not repeated. Shows a warning for changes that cannot be repeated.
    """

    lost = []
    for event in state.edited:
        without = replaced if event["id"] == state.instance["id"] else ()
        fields = {name: value for name, value in state.own_fields(event).items() if name not in without}
        instance_id = f"{series_id}_{print_moment(shift.move(_original_start(event)))}"
        try:
            if fields:
                patch_event(session, state.calendar, instance_id, fields, query=add_required({}, fields))
        except NotFound:
            lost.append(str(event["id"]))
        except SvcError as error:
            warn_caller(f"the new series does not have the individual changes of {event['id']}: {error}")
    if lost:
        warn_caller(f"the new series has no instances for the individual changes of {', '.join(lost)}")
