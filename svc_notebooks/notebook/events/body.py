"""Builds the JSON body of an event, and the query of its request, from the arguments of `create_event` (B1).

The body is checked by the service's rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any

from ...client.events.events import list_calendars
from ...core.durations import parse_duration
from ...core.errors.caller_warning import warn_caller
from ...core.errors.catalogue import Row
from ...core.events.instances import end_of_rule, has_start
from ...core.events.recurrence_words import recurrence_lines
from ...core.events.rrule import Recurrence
from ...core.events.times import TimeError, instant, read_time
from ...core.events.validation import problems
from ...core.events.value_checks import EVENT_FIELDS, EVENT_SHAPE
from ...core.field_mask import ANY_KEY, Shape
from ...core.http.messages import JSON, JSONObject
from ...core.policy import Policy
from ...core.resources.colors import EVENT_COLORS
from ...core.suggestions import nearest_name
from ...core.time_arguments import python_time
from ..arguments import choice, flag, one_row_id, plain, row_ids, whole
from ..frames.frames import camel
from ..people import people
from .event_times import absolute_times, check_exists, time_object, zone_name

if TYPE_CHECKING:
    from ...client.session import Session


LENIENT = Policy()
"""The policy by which this module checks events. A service with stricter limits refuses further events itself."""

_LAST_DAY = {"timeRangeEmpty": " The end of an all-day event is the day after its last day."}
"""What to add to the message of an error of an all-day event, by its reason."""

_ARGUMENT_OF = {"timeMax": "end"}
"""The argument for each problem location of the service that is not the name of a field."""

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
            rows = [
                replace(row, message=f"{row.message} Give end= or duration=.") if row.location == "end" else row
                for row in rows
            ]
    if rows:
        raise EventError(rows)
    metadata = arguments.get("metadata") or ()
    given = [name for name in ("start", "end") if name in metadata or isinstance(arguments.get(name), dict)]
    warn_about(body, given)
    return body


def notes_of_unknown_fields(value: object, shape: Shape | None = EVENT_SHAPE, path: str = "") -> Iterator[str]:
    """Yield a note for each field of a body that an event does not have.

    >>> next(notes_of_unknown_fields({"attendees": [{"email": "a@b", "optinal": True}]}))
    "attendees.optinal is not a field of an event, and services ignore it; did you mean 'optional'?"
    """
    if isinstance(value, list):
        yield from dict.fromkeys(note for member in value for note in notes_of_unknown_fields(member, shape, path))
    elif isinstance(value, Mapping) and shape is not None and shape is not ANY_KEY:
        for name, member in value.items():
            if name in shape:
                yield from notes_of_unknown_fields(member, shape[name], f"{path}{name}.")
            else:
                hint = f"; did you mean {near!r}?" if (near := nearest_name(str(name), shape)) else ""
                yield f"{path}{name} is not a field of an event, and services ignore it{hint}"


def warn_about(event: Mapping[str, Any], given: Iterable[str] = ("start", "end")) -> None:
    """Show a warning about fields that the service accepts, but that are probably a mistake.

    `given` are the times that were given as objects of the interface, which the service moves if they do not exist.
    """
    for note in notes_of_unknown_fields(event):
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
        warn_caller(
            f"start is {start:%A} {start}, which is not in the recurrence {lines}; the event takes place then too"
        )


def partial_body(*, request_id: str = "conference", **arguments: Any) -> JSONObject:
    """Return the event fields for an update, without the service's checks. Raises TypeError or ValueError."""
    values = {name: value for name, value in arguments.items() if value is not None}
    metadata = values.pop("metadata", {})
    zone = zone_name("time_zone", values.pop("time_zone", None))
    end_zone = zone_name("end_time_zone", values.pop("end_time_zone")) if "end_time_zone" in values else zone
    properties: JSONObject = {}
    body: JSONObject = {}
    for name in ("private", "shared"):
        if name in values:
            properties[name] = _texts(name, values.pop(name))
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


def _texts(argument: str, value: Any) -> JSON:
    if not isinstance(value, Mapping):
        raise TypeError(f"{argument} must be a dict of strings, not {type(value).__name__}")
    return {str(key): text for key, text in value.items()}


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
            known = ", ".join(_ATTACHMENT_KEYS)
            raise ValueError(
                f"{argument} has the unknown key {unknown[0]!r}; give a URL, a file's row or a dict of {known}"
            )
        attachments.append(fields)
    return attachments


def _source(argument: str, value: Any) -> JSON:
    return {"url": value} if isinstance(value, str) else _object(argument, value)


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
"""The event field and the reader function for each argument.

The name of every other argument is the name of its event field in snake_case, and the value is sent unchanged.
"""


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
QUERY_ARGUMENTS = (*_PARAMETERS, "calendar")
"""The arguments that are not sent as event fields, but as query parameters or as the calendar id in the path."""


def query_of(arguments: Mapping[str, Any]) -> dict[str, object]:
    """Return the arguments that belong in the query as a dict by wire name. Raises TypeError or ValueError."""
    query: dict[str, object] = {}
    for name, (parameter, read) in _PARAMETERS.items():
        if (value := arguments.get(name)) is not None:
            query[parameter] = read(name, value)
    return query


def add_required(query: Mapping[str, object], body: Mapping[str, Any]) -> dict[str, object]:
    """Add the parameters to `query` without which the service ignores the body's conference data and attachments."""
    required: dict[str, object] = {}
    if "conferenceData" in body:
        required["conferenceDataVersion"] = 1
    if "attachments" in body:
        required["supportsAttachments"] = "true"
    return {**required, **query}


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
