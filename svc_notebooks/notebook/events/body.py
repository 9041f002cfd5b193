"""Builds the JSON body of an event, and the query of its request, from the arguments of `create_event`.

The body is checked by the service's rules. A date stands for a whole day. A time without a time zone is in the
time zone of another argument, such as `time_zone` (E-20).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

from ...client.events.events import list_calendars
from ...client.session import Session
from ...core.errors.catalogue import Row
from ...core.errors.errors import warn_caller
from ...core.events.event_times import TimeError, in_minutes, instant, print_time, read_time
from ...core.events.fields import EVENT_FIELDS, EVENT_SHAPE
from ...core.events.instances import duration, end_of_rule, has_start
from ...core.events.recurrence_words import recurrence_lines
from ...core.events.rrule import Recurrence, Start
from ...core.events.validation import problems
from ...core.field_mask import ANY_KEY, Shape
from ...core.http.messages import JSON, JSONObject
from ...core.policy import Policy
from ...core.resources.calendars import EVENT_COLORS
from ...core.resources.events import Event
from ...core.suggestions import nearest_name
from ...core.time_arguments import parse_duration, python_time
from ...core.times import zone
from ..arguments import choice, flag, one_row_id, people, plain, row_ids, whole
from ..frames import camel

# The policy by which this module checks events. A service with stricter limits refuses further events itself.
LENIENT = Policy()

# What to add to the message of an error of an all-day event, by its reason.
_LAST_DAY = {"timeRangeEmpty": " The end of an all-day event is the day after its last day."}

# The argument for each problem location of the service that is not the name of a field.
_ARGUMENT_OF = {"timeMax": "end"}

_ATTACHMENT_KEYS, _ATTENDEE_KEYS = (
    tuple(field.path.partition(".")[2] for field in EVENT_FIELDS if field.path.startswith(f"{name}[]."))
    for name in ("attachments", "attendees")
)


class EventError(ValueError):
    """The error for an event that the service would refuse. `problems` is a list of (field, message) pairs."""

    def __init__(self, problems: list[Row]) -> None:
        self.problems = [(_ARGUMENT_OF.get(str(row.location), str(row.location)), row.message) for row in problems]
        super().__init__("; ".join(row.message for row in problems) + " Nothing was sent.")

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how a copy is made in another process, which gets the message and not the problems."""
        return type(self).__new__, (type(self), *self.args), vars(self)


def event_body(*, request_id: str = "conference", **arguments: Any) -> JSONObject:
    """Return the JSON body that `create_event` sends for these arguments.

    `request_id` is the id of the request for a new conference. Raises TypeError or ValueError, with the argument's name
    in the message, for an invalid argument. If the service would refuse the event, raises EventError with all problems.

    >>> event_body(summary="Tea", start="2026-11-02", end="2026-11-03", color="Banana")
    {'summary': 'Tea', 'start': {'date': '2026-11-02'}, 'end': {'date': '2026-11-03'}, 'colorId': '5'}
    """
    body = partial_body(request_id=request_id, **arguments)
    start: Any = body.get("start")
    if "end" not in body and isinstance(start, dict) and "date" in start:
        with suppress(TimeError):
            body["end"] = {**start, "date": str(read_time(start) + timedelta(days=1))}
    if rows := problems(body, LENIENT):
        rows = [row for row in rows if not str(row.location).startswith("conferenceData")]
        if isinstance(start, dict) and "date" in start:
            rows = [replace(row, message=f"{row.message}{_LAST_DAY.get(row.reason, '')}") for row in rows]
        if "end" not in body:
            hint = {"end": " Give end= or duration=."}
            rows = [replace(row, message=row.message + hint.get(str(row.location), "")) for row in rows]
    if rows:
        raise EventError(rows)
    metadata = arguments.get("metadata") or ()
    given = [name for name in ("start", "end") if name in metadata or isinstance(arguments.get(name), dict)]
    warn_about(body, given)
    return body


def _notes_of_unknown_fields(event: Mapping[str, Any]) -> list[str]:
    """Return a note for each field of a body that an event does not have.

    >>> _notes_of_unknown_fields({"attendees": [{"email": "a@b", "optinal": True}]})
    ["attendees.optinal is not a field of an event, and services ignore it; did you mean 'optional'?"]
    """
    notes: dict[str, None] = {}
    left: list[tuple[str, object, Shape | None]] = [("", event, EVENT_SHAPE)]
    while left:
        path, value, shape = left.pop()
        if isinstance(value, list):
            left += [(path, member, shape) for member in value]
        elif isinstance(value, Mapping) and shape is not None and shape is not ANY_KEY:
            for name, member in value.items():
                if name in shape:
                    left.append((f"{path}{name}.", member, shape[name]))
                else:
                    hint = f"; did you mean {near!r}?" if (near := nearest_name(str(name), shape)) else ""
                    notes[f"{path}{name} is not a field of an event, and services ignore it{hint}"] = None
    return [*notes]


def warn_about(event: Mapping[str, Any], given: Iterable[str] = ("start", "end")) -> None:
    """Show a warning about fields that the service accepts, but that are probably a mistake.

    `given` are the times that were given as objects of the interface, which the service moves if they do not exist.
    """
    for note in _notes_of_unknown_fields(event):
        warn_caller(note)
    for n, attachment in enumerate(event.get("attachments") or ()):
        if isinstance(attachment, Mapping) and not attachment.get("fileUrl"):
            warn_caller(f"attachments[{n}] has no file_url; some clients cannot read an event with such an attachment")
    try:
        start = read_time(event.get("start"))
        recurrence = Recurrence.parse(event["recurrence"], start) if event.get("recurrence") else None
    except ValueError:
        return  # the service refuses the event
    for name in given:
        time: Any = event.get(name) or {}
        try:
            if time.get("dateTime"):
                check_exists(name, python_time(name, time["dateTime"]), time.get("timeZone"))
        except ValueError as error:
            warn_caller(str(error))
    if recurrence is None:
        return
    rules, exceptions = recurrence.rules, [*(date.start for date in recurrence.rdates), *recurrence.exdates]
    if instant(start, UTC) in [instant(moment, UTC) for moment in exceptions]:
        return
    zone, lines = getattr(start, "tzinfo", None) or UTC, ", ".join(event.get("recurrence") or ())
    if rules and all((end := end_of_rule(rule, zone)) and end <= instant(start, UTC) for rule in rules):
        warn_caller(f"the recurrence {lines} ends before the start {start}; the event takes place only once")
    elif rules and not any(has_start(rule, start) for rule in rules):
        missing = f"which is not in the recurrence {lines}"
        warn_caller(f"start is {start:%A} {start}, {missing}; the event takes place then too")


def partial_body(*, request_id: str = "conference", **arguments: Any) -> JSONObject:
    """Return the event fields for an update, without the service's checks. Raises TypeError or ValueError."""
    values = {name: value for name, value in arguments.items() if value is not None}
    metadata = values.pop("metadata", {})
    zone = zone_name("time_zone", values.pop("time_zone", None))
    end_zone = zone_name("end_time_zone", values.pop("end_time_zone")) if "end_time_zone" in values else zone
    properties: JSONObject = {}
    body: JSONObject = {}
    for name in {"private", "shared"} & values.keys():
        if not isinstance(texts := values.pop(name), Mapping):
            raise TypeError(f"{name} must be a dict of strings, not {type(texts).__name__}")
        properties[name] = {str(key): text for key, text in texts.items()}
    for argument, value in absolute_times(values, zone, end_zone).items():
        if argument in ("start", "end", "original_start_time"):
            its_zone = end_zone if argument == "end" else zone
            time = body[camel(argument)] = time_object(argument, value, its_zone, must_exist=True)
            if "date" in time and not isinstance(value, dict) and values.get("recurrence") is None:
                time.pop("timeZone", None)  # clients do not expect a zone of a single all-day event
        elif argument == "conference":
            if value is not False:
                body["conferenceData"] = _conference(value, request_id)
        elif argument in READERS:
            field, read = READERS[argument]
            body[field] = read(argument, value)
        else:
            body[camel(argument)] = value
    if properties:
        body["extendedProperties"] = properties
    if not isinstance(metadata, Mapping):
        raise TypeError(f"metadata must be a dict of the event's fields, not {type(metadata).__name__}")
    body |= metadata
    recurrence: Any = body.get("recurrence")
    if recurrence and isinstance(recurrence, str | list):  # the service's checks refuse other types
        body["recurrence"] = _recurrence_lines(recurrence, body.get("start"))
    return plain(body)  # type: ignore[no-any-return]


def _conference(value: Any, request_id: str) -> JSON:
    if isinstance(value, Mapping):
        return dict(value)
    request: JSONObject = {"requestId": request_id}
    if isinstance(value, str):
        request["conferenceSolutionKey"] = {"type": value}
    return {"createRequest": request}


def _recurrence_lines(recurrence: Any, start_field: JSON) -> JSON:
    """Return the RFC 5545 lines of a recurrence, or the unchanged words if the start of the event is not valid."""
    try:
        start = read_time(start_field)
    except TimeError:
        return [recurrence] if isinstance(recurrence, str) else recurrence
    return [*recurrence_lines(recurrence, start)] if isinstance(recurrence, str) else [str(line) for line in recurrence]


# -- readers for the arguments whose values differ from the values of the event fields --------------------------------


def _recurrence(argument: str, value: Any) -> JSON:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(line, str) for line in value):
        return list(value)
    raise TypeError(f"recurrence must be a str or a list of RFC 5545 lines, not {type(value).__name__}")


def _attendees(argument: str, value: Any) -> JSON:
    attendees: Any = people(argument, value)
    for name in (name for attendee in attendees for name in attendee if name not in _ATTENDEE_KEYS):
        near = nearest_name(name, _ATTENDEE_KEYS) or f"one of {', '.join(_ATTENDEE_KEYS)}"
        raise ValueError(f"{argument} has the unknown key {name!r}; did you mean {near}?")
    return attendees  # type: ignore[no-any-return]


def _object(argument: str, value: Any) -> JSONObject:
    """Return a copy of a dict with camelCase keys. Raises TypeError if the value is not a dict."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{argument} must be a dict of fields, not {type(value).__name__}")
    return {camel(str(name)): field for name, field in value.items()}


def _reminders(argument: str, value: Any) -> JSON:
    if isinstance(value, Mapping):
        fields = _object(argument, value)
        if unknown := fields.keys() - {"useDefault", "overrides"}:
            raise ValueError(f"reminders has the key {min(unknown)!r}; give a list such as [10, ('email', '1 day')]")
        return fields
    if isinstance(value, int | str | timedelta):
        value = [value]
    if not isinstance(value, list | tuple):
        raise TypeError("reminders must be a list such as [10, ('email', 60)], or [] for no reminders")
    overrides: list[JSON] = []
    for reminder in value:
        if isinstance(reminder, Mapping):
            overrides.append(dict(reminder))
        else:
            is_pair = isinstance(reminder, tuple | list) and len(reminder) == 2
            method, minutes = reminder if is_pair else ("popup", reminder)
            overrides.append({"method": method, "minutes": _reminder_minutes(minutes)})
    return {"useDefault": False, "overrides": overrides} if overrides else {"useDefault": False}


def _reminder_minutes(value: Any) -> JSON:
    """Return a timedelta or a text such as "1 day" in minutes, and any other value unchanged."""
    if not isinstance(value, str | timedelta):
        return value  # type: ignore[no-any-return]
    try:
        minutes, rest = divmod(parse_duration(value), timedelta(minutes=1))
    except ValueError:
        rest = None
    if rest is None or rest or (isinstance(value, str) and value.strip().isdigit()):
        raise ValueError(f"reminders has {value!r}; give minutes before the start, such as 10, '2h' or '1 day'")
    return minutes


def _color(argument: str, value: Any) -> JSON:
    names = {color.name.lower(): key for key, color in EVENT_COLORS.items()}
    color_id = names.get(str(value).strip().lower(), str(value))
    if color_id not in EVENT_COLORS:
        known = ", ".join(f"{key} {color.name}" for key, color in EVENT_COLORS.items())
        raise ValueError(f"color is {value!r}; it must be one of {known}")
    return color_id


def _attachments(argument: str, value: Any) -> JSON:
    attachments: list[JSON] = []
    for row in [value] if isinstance(value, str | Mapping) else value:
        fields: JSONObject = {"fileUrl": row} if isinstance(row, str) else _object(argument, row)
        if unknown := [name for name in fields if name not in _ATTACHMENT_KEYS]:
            expected = f"a URL, a file's row or a dict of {', '.join(_ATTACHMENT_KEYS)}"
            raise ValueError(f"{argument} has the unknown key {unknown[0]!r}; give {expected}")
        attachments.append(fields)
    return attachments


def _source(argument: str, value: Any) -> JSON:
    return {"url": value} if isinstance(value, str) else _object(argument, value)


# The event field and the reader function for each argument.
#
# The name of every other argument is the name of its event field in snake_case, and the value is sent unchanged.
READERS: Mapping[str, tuple[str, Callable[[str, Any], JSON]]] = {
    "recurrence": ("recurrence", _recurrence),
    "attendees": ("attendees", _attendees),
    "reminders": ("reminders", _reminders),
    "color": ("colorId", _color),
    "attachments": ("attachments", _attachments),
    "source": ("source", _source),
    "gadget": ("gadget", _object),
    "event_id": ("id", lambda argument, value: value),
}


_SEND = ("all", "externalOnly", "none", "true", "false")


def _flag_text(argument: str, value: object) -> str:
    return "true" if flag(argument, value) else "false"


_PARAMETERS: Mapping[str, tuple[str, Callable[[str, object], object]]] = {
    "send_updates": ("sendUpdates", lambda argument, value: choice(argument, value, _SEND)),
    "max_attendees": ("maxAttendees", lambda argument, value: whole(argument, value, 1)),
    "conference_data_version": ("conferenceDataVersion", lambda argument, value: whole(argument, value, 0, 1)),
    "supports_attachments": ("supportsAttachments", _flag_text),
    "send_notifications": ("sendNotifications", _flag_text),
}

# The arguments that are not sent as event fields, but as query parameters or as the calendar id in the path.
QUERY_ARGUMENTS = (*_PARAMETERS, "calendar")


def query_of(arguments: Mapping[str, Any]) -> dict[str, object]:
    """Return the arguments that belong in the query as a dict by wire name. Raises TypeError or ValueError."""
    query: dict[str, object] = {}
    for name, (parameter, read) in _PARAMETERS.items():
        if (value := arguments.get(name)) is not None:
            query[parameter] = read(name, value)
    return query


def add_required(query: Mapping[str, object], body: Mapping[str, Any]) -> dict[str, object]:
    """Add the parameters to `query` without which the service ignores the body's conference data and attachments."""
    version = {"conferenceDataVersion": 1} if "conferenceData" in body else {}
    support = {"supportsAttachments": "true"} if "attachments" in body else {}
    return {**version, **support, **query}


def calendar_ids(session: Session, calendar: object) -> list[str]:
    """Return the ids of a calendar argument: ids, names, rows, DataFrames or a list of these.

    A text without "@" may be the name of a calendar in the caller's list. Raises ValueError if several have this name.
    """
    return [_id_of(session, text, "calendar") for text in row_ids(calendar, "calendar")]


def calendar_id(session: Session, calendar: object, argument: str = "calendar") -> str:
    """Return the id of a calendar argument that has one calendar. Raises TypeError, or ValueError for several."""
    return _id_of(session, one_row_id(calendar, argument), argument)


def _id_of(session: Session, text: str, argument: str) -> str:
    """Return the id of the calendar with a name, or the text, which may be an id, if no calendar has the name."""
    if text == "primary" or "@" in text:
        return text
    entries = list(list_calendars(session))
    ids = [entry["id"] for entry in entries if text in (entry.get("summaryOverride"), entry.get("summary"))]
    if len(ids) > 1 and not any(entry["id"] == text for entry in entries):
        raise ValueError(f"{argument} is {text!r}, the name of {len(ids)} calendars; give an id: {', '.join(ids)}")
    return ids[0] if len(ids) == 1 else text


def warn_deprecated(arguments: Mapping[str, Any] | list[str]) -> None:
    """Issue a FutureWarning at the caller of the public function if `send_notifications` is given.

    Python hides DeprecationWarning outside `__main__`, so a call in a course's own module would show no warning.
    """
    named = "send_notifications" in arguments
    if named and not (isinstance(arguments, Mapping) and arguments["send_notifications"] is None):
        message = "send_notifications is deprecated: use send_updates='all' for True and send_updates='none' for False"
        warn_caller(message, FutureWarning)


# -- the start and the end of an event, and their conversion to fields and to arguments of calls (E-20)


When: TypeAlias = date | datetime | str | Mapping[str, str]

# A time, the length of the event, or a time of day on the day of the start.
End: TypeAlias = When | timedelta | time

Zone: TypeAlias = str | tzinfo


_WITHOUT_SUMMER_TIME = {"EST": "America/New_York", "MST": "America/Denver"}


def zone_name(argument: str, value: object) -> str | None:
    """Return the IANA name of a time zone (name or ZoneInfo), or None for None. Raises TypeError or ValueError."""
    if value is None:
        return None
    name = value if isinstance(value, str) else _zone_key(value)
    if name is None:
        raise TypeError(f"{argument} must be a name such as 'Europe/Berlin' or a ZoneInfo, not {type(value).__name__}")
    if name in _WITHOUT_SUMMER_TIME:
        warn_caller(f"{argument} {name!r} has no summer time; {_WITHOUT_SUMMER_TIME[name]!r} has it")
    try:
        return zone(name).key
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from None


def _zone_key(value: Any) -> str | None:
    """Return the IANA name of a tzinfo. Return None if the tzinfo has no name, such as a fixed offset.

    A tzinfo without a name that is UTC in winter and in summer is UTC, as that of dateutil.
    """
    name = getattr(value, "key", None) or getattr(value, "zone", None)
    if isinstance(name, str) or not isinstance(value, tzinfo):
        return name if isinstance(name, str) else None
    is_utc = all(datetime(2026, month, 1, tzinfo=value).utcoffset() == timedelta(0) for month in (1, 7))
    return "UTC" if is_utc else None


def time_object(argument: str, value: object, time_zone: str | None, *, must_exist: bool = False) -> JSONObject:
    """Convert a date, datetime, Timestamp or ISO 8601 str to a time object of the interface. A dict is copied.

    Raises TypeError or ValueError, with the argument's name in the message, if the value is not a time or has no time
    zone, and with `must_exist` if the clock of its time zone skips it.

    >>> time_object("start", "2026-11-02 10:00", "Europe/Berlin")
    {'dateTime': '2026-11-02T10:00:00', 'timeZone': 'Europe/Berlin'}
    >>> time_object("start", date(2026, 11, 2), None)
    {'date': '2026-11-02'}
    """
    if isinstance(value, dict):
        return dict(value)
    moment = python_time(argument, value)
    if must_exist:
        check_exists(argument, moment, time_zone)
    if not isinstance(moment, datetime):
        day: JSONObject = {"date": moment.isoformat()}
        return day | {"timeZone": time_zone} if time_zone else day
    name = time_zone or (_zone_key(moment.tzinfo) if moment.tzinfo else None)
    if name is None and moment.tzinfo is None:
        raise ValueError(f"{argument} is {value!r} without a time zone; give time_zone='Europe/Berlin' or an offset")
    # Drop the nanoseconds of a Timestamp. RFC 3339 has no seconds in offsets.
    plain = datetime.combine(moment.date(), moment.timetz(), moment.tzinfo).replace(fold=moment.fold)
    timed: JSONObject = {"dateTime": (in_minutes(plain) if plain.tzinfo else plain).isoformat()}
    return timed | {"timeZone": name} if name else timed


def in_its_zone(moment: Start, time_zone: str | None) -> Start:
    """Convert a datetime to `time_zone`, if given. A date is returned unchanged.

    A datetime without a zone gets the zone and keeps its clock time.
    """
    if not isinstance(moment, datetime):
        return moment
    tz: tzinfo | None = zone(time_zone) if time_zone else moment.tzinfo
    return moment.replace(tzinfo=tz) if moment.tzinfo is None else moment.astimezone(tz or ZoneInfo("UTC"))


def offset_text(moment: datetime) -> str:
    """Return the UTC offset of an aware datetime as text, such as "+2" or "+5:30". Minutes are omitted if they are 0.

    >>> from datetime import timezone
    >>> offset_text(datetime(2026, 11, 2, tzinfo=timezone(timedelta(hours=5, minutes=30))))
    '+5:30'
    """
    minutes = round((moment.utcoffset() or timedelta()) / timedelta(minutes=1))
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours}{f':{rest:02}' if rest else ''}"


# -- converts a duration, a Period and a time of day to the end of an event


DAY = timedelta(days=1)
_FEW_SECONDS = 300  # the number of seconds below which a duration without a unit is probably in minutes
_TIME_OF_DAY = re.compile(r"\d{1,2}(:\d{2}){0,2}", re.ASCII)


def needs_start(arguments: Mapping[str, Any]) -> bool:
    """Return whether the end in these arguments of `create_event` is relative to the start.

    >>> needs_start({"end": "11:00"}), needs_start({"duration": "1h"}), needs_start({"end": "2026-11-02 11:00"})
    (True, True, False)
    """
    end = arguments.get("end")
    return arguments.get("duration") is not None or _is_length(end) or _time_of_day(end) is not None


def without_periods(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with a date or a time for each Period. A Period as start also determines a missing end."""
    times = dict(arguments)
    if type(start := times.get("start")).__name__ == "Period":
        times["start"] = _period_start(start)
        if times.get("end") is None and times.get("duration") is None:
            times["end"] = start
    end: Any = times.get("end")
    if type(end).__name__ == "Period":
        times["end"] = _period_start(end + 1)
    return times


def absolute_times(arguments: Mapping[str, Any], time_zone: str | None, end_time_zone: str | None) -> dict[str, Any]:
    """Return arguments of `create_event` with a date, a time or a dict as start and end, and no `duration`.

    A Period as start is the first time of the period, and as end the time at which the period ends. A start that is a
    Period also determines a missing end. Raises TypeError or ValueError, with the argument's name in the message.

    >>> absolute_times({"start": "2026-11-02", "duration": "2 days"}, None, None)
    {'start': '2026-11-02', 'end': datetime.date(2026, 11, 4)}
    """
    times = without_periods(arguments)
    end, length = times.get("end"), times.pop("duration", None)
    if length is not None and end is not None:
        raise ValueError("duration and end are both given; leave out one of them")
    if isinstance(length, int | float) and 0 < length < _FEW_SECONDS:
        warn_caller(f"duration {length} is in seconds; write '{length} min' for minutes, or '{length}s'")
    if length is not None:
        times["end"] = _end_after("duration", length, times.get("start"), time_zone)
    elif _is_length(end):
        times["end"] = _end_after("end", end, times.get("start"), time_zone)
    elif (clock := _time_of_day(end)) is not None:
        times["end"] = _end_on_same_day(clock, times.get("start"), time_zone, end_time_zone)
    return times


def _is_length(value: Any) -> bool:
    return isinstance(value, timedelta) or type(value).__name__ == "timedelta64"


def _period_start(period: Any) -> Start:
    """Return the first time of a pandas Period, which is a date if the period has a length of one day or more."""
    first: datetime = period.start_time.to_pydatetime()
    is_in_days = first.time() == time() and (period + 1).start_time - period.start_time >= DAY
    return first.date() if is_in_days else first


def _time_of_day(value: Any) -> time | None:
    """Return a time of day from a `datetime.time` or a text such as "11:00", or None for another value."""
    if isinstance(value, time):
        return value
    if not isinstance(value, str) or not _TIME_OF_DAY.fullmatch(value.strip()):
        return None
    try:
        return time.fromisoformat(value.strip().zfill(2 + 3 * value.count(":")))
    except ValueError:
        raise ValueError(f"end is {value!r}, which is not a time of day such as 11:00") from None


def _end_after(argument: str, length: Any, start: Any, time_zone: str | None) -> Start:
    span, begin = parse_duration(length, argument), _begin(argument, start, time_zone)
    if not isinstance(begin, datetime) and span % DAY:
        raise ValueError(f"{argument} must be whole days for an all-day event, not {span}")
    try:
        if not isinstance(begin, datetime) or begin.tzinfo is None:
            return begin + span
        return (begin.astimezone(UTC) + span).astimezone(begin.tzinfo)  # despite clock changes
    except OverflowError:
        raise ValueError(f"{argument} is {span}, which ends after the year 9999") from None


def _end_on_same_day(clock: time, start: Any, time_zone: str | None, end_time_zone: str | None) -> datetime:
    """Return a time of day on the day of the start, in the time zone of the end. Raises ValueError."""
    begin = _begin("end", start, time_zone)
    if not isinstance(begin, datetime):
        raise ValueError(f"end is the time {clock:%H:%M}, but start is a date; give a time in start, or a date in end")
    if begin.tzinfo is not None and end_time_zone:
        begin = begin.astimezone(zone(end_time_zone))
    end = datetime.combine(begin, clock, clock.tzinfo or begin.tzinfo)
    if end < begin:
        raise ValueError(f"end is {clock:%H:%M}, which is before the start on the same day; give the date in end too")
    return end


def _begin(argument: str, start: Any, time_zone: str | None) -> Start:
    if start is None:
        raise ValueError(f"{argument} is relative to the start; give start")
    if not isinstance(start, dict):
        return in_its_zone(python_time("start", start), time_zone)
    try:
        return read_time(start)
    except TimeError as error:
        raise ValueError(f"start: {error}") from None


# -- reads times without a time zone in the time zones of a stored event, and finds times that the clock skips


# The argument with the time zone of each time.
ZONE_OF = {"start": "time_zone", "end": "end_time_zone"}


def local_times(changes: Mapping[str, Any]) -> list[str]:
    """Return which of the arguments start and end are times without a time zone. Raises TypeError or ValueError.

    >>> local_times({"start": "2026-11-02 10:00", "end": "2026-11-02T11:00+01:00"})
    ['start']
    """
    return [name for name, moment in _times_alone(changes).items() if moment.tzinfo is None]


def _times_alone(changes: Mapping[str, Any]) -> dict[str, datetime]:
    """Return the start and the end of the arguments that are times, unless an argument names their time zone."""
    if changes.get("time_zone") is not None:
        return {}
    alone = {name: changes.get(name) for name, zone in ZONE_OF.items() if changes.get(zone) is None}
    absolute = {
        name: python_time(name, value)
        for name, value in alone.items()
        if not (value is None or isinstance(value, dict) or needs_start({name: value}))
    }
    return {name: moment for name, moment in absolute.items() if isinstance(moment, datetime)}


def event_zones(event: Event, changes: Mapping[str, Any]) -> dict[str, str]:
    """Return the time zones of a stored event as arguments of `update_event`, for times without that argument.

    A time with a zone or an offset, as in the frame of `events()`, does not change the zone of the event either, so
    that a series keeps its clock times. Raises ValueError for a time without a zone and an event without one.
    """
    zones: dict[str, str] = {}
    for name, moment in _times_alone(changes).items():
        time = event["end"] if name == "end" and event["end"].get("timeZone") else event["start"]
        if (key := time.get("timeZone")) is None:
            if moment.tzinfo is not None:
                continue
            raise ValueError(f"{name} has no time zone, and neither has the event; give time_zone='Europe/Berlin'")
        zones[ZONE_OF[name]] = key
    if needs_start(changes) and all(changes.get(name) is None for name in ZONE_OF.values()):
        start_zone, end_zone = (event[name].get("timeZone") for name in ("start", "end"))
        if end_zone and end_zone != start_zone:
            zones["end_time_zone"] = end_zone
    return zones


def check_exists(argument: str, moment: date, time_zone: str | None) -> None:
    """Raise ValueError if a time of day does not exist on its day, because the clock of the time zone skips it.

    >>> check_exists("start", datetime(2026, 3, 29, 2, 30), "Europe/Berlin")
    Traceback (most recent call last):
        ...
    ValueError: start: 02:30 does not exist on 29 March 2026 in Europe/Berlin: the clock skips it; 03:30 exists
    """
    if not isinstance(moment, datetime) or not (moment.tzinfo or time_zone):
        return
    tz = moment.tzinfo or zone(str(time_zone))
    shown = moment.replace(tzinfo=tz).astimezone(UTC).astimezone(tz)
    if shown.replace(tzinfo=None, fold=0) != moment.replace(tzinfo=None, fold=0):
        when = f"{moment:%H:%M} does not exist on {moment.day} {moment:%B %Y} in {tz}"
        raise ValueError(f"{argument}: {when}: the clock skips it; {shown:%H:%M} exists")


@dataclass(frozen=True, slots=True)
class Times:
    """The start and the exclusive end of an event, both dates or both datetimes in their own time zones."""

    start: Start
    end: Start

    @classmethod
    def of(cls, event: Event) -> Times:
        return cls(read_time(event["start"]), read_time(event["end"]))

    def shifted(self, shift: timedelta, longer: timedelta) -> Times:
        """Return the times with the start at another clock time in its own zone, and a length that is `longer`."""
        start, end = self.start, self.end
        if not isinstance(start, datetime) or not isinstance(end, datetime):
            return Times(start + shift, end + shift + longer)
        begin = (start.replace(tzinfo=None) + shift).replace(tzinfo=start.tzinfo).astimezone(UTC)
        finish = begin + duration(start, end) + longer
        return Times(begin.astimezone(start.tzinfo), finish.astimezone(end.tzinfo))

    def fields(self, event: Event) -> dict[str, Any]:
        """Return the fields start and end, in the time zones of the event."""
        times = ((self.start, event["start"]), (self.end, event["end"]))
        start, end = (
            print_time(moment, getattr(moment, "tzinfo", None) or UTC, old.get("timeZone")) for moment, old in times
        )
        return {"start": start, "end": end}

    def arguments(self, event: Event) -> dict[str, Any]:
        """Return the arguments of `create_event` and `update_event`, in the time zones of the event.

        The times of an all-day event that becomes a timed one have their own time zone.
        """
        names = [event["start"].get("timeZone"), event["end"].get("timeZone")]
        if isinstance(self.start, datetime) and "date" in event["start"]:
            names = [str(self.start.tzinfo)] * 2
        named: dict[str, Any] = {
            "start": _argument(self.start, names[0]),
            "end": _argument(self.end, names[1] or names[0]),
        }
        if names[0] and isinstance(self.start, datetime):
            named["time_zone"] = names[0]
        if names[1] and names[1] != names[0] and isinstance(self.end, datetime):
            named["end_time_zone"] = names[1]
        return named


def moment_text(moment: Start) -> str:
    """Return a date or a time as text.

    >>> moment_text(datetime(2026, 11, 2, 10))
    '2026-11-02 10:00'
    """
    if not isinstance(moment, datetime):
        return str(moment)
    return moment.isoformat(" ", "seconds" if moment.second else "minutes")


def _argument(moment: Start, time_zone: str | None) -> str:
    """Return a time as text, with its UTC offset if the clock time is ambiguous or the event has no time zone."""
    if isinstance(moment, datetime) and time_zone is not None:
        moment = moment.astimezone(zone(time_zone))
        if moment.replace(fold=not moment.fold).utcoffset() == moment.utcoffset():
            moment = moment.replace(tzinfo=None)
    return moment_text(moment)
