"""Converts the controls of the event form to arguments of `create_event`, and collects their problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from ....core.events.colors import EVENT_COLORS
from ....core.events.rrule import Start
from ...events.body import partial_body
from ...events.parameters import QUERY_ARGUMENTS, query_of
from ...events.recurrence_plan import RecurrencePlan
from ...frames.schemas import camel
from ...widgets.field import Field
from .other_fields import duplicate_message
from .time.local_times import argument_time, in_zone, read_offset, wire_moment, wire_time
from .time.start_and_end import When

if TYPE_CHECKING:
    from ....core.http.messages import JSONObject
    from .controls import EventControls

T = TypeVar("T")
FieldProblem = tuple[Field, str]

_SWITCHES = {
    "guestsCanInviteOthers": "guests_can_invite_others",
    "guestsCanSeeOtherGuests": "guests_can_see_other_guests",
    "guestsCanModify": "guests_can_modify",
}
_TIMES = ("start", "end", "original_start_time")
_NOT_FIELDS = ("time_zone", "end_time_zone", "recurrence", "metadata", *QUERY_ARGUMENTS)
"""Arguments that are no field of an event as they are."""
_CONFERENCE_TYPE = "conferenceData.createRequest.conferenceSolutionKey.type"
_REQUEST_ID = "conferenceData.createRequest.requestId"


@dataclass(frozen=True, slots=True)
class Draft:
    """`arguments` of `create_event`, `wrong` what could not be said in them, `lines` of recurrence and their `plan`."""

    arguments: dict[str, Any]
    problems: tuple[FieldProblem, ...]
    lines: list[str]
    plan: RecurrencePlan | None
    has_end_zone: bool = False


def read_controls(controls: EventControls) -> Draft:
    """What the controls say now."""
    when = controls.when.value
    wrong: list[FieldProblem] = []
    further: dict[str, Any] = _read_or_report(controls.other_fields, wrong, {}, lambda: controls.other_fields.value)
    wrong += [
        *_missing_times(controls, when, further),
        *controls.more.problems(),
        *_unused_conference_options(controls),
    ]
    start = _with_zone(when.start, when.zone) or wire_moment(further.get("start"))
    end = _with_zone(when.end, when.end_zone or when.zone) or wire_moment(further.get("end"))
    lines: list[str] = []
    if start is not None:
        lines = _read_or_report(controls.repeats.field, wrong, [], lambda: controls.repeats.lines(start))
    arguments = _without_empty(
        {
            "summary": controls.summary.value,
            **_times(controls, when),
            "recurrence": controls.repeats.argument(lines, start) if start is not None and lines else None,
            **_guests(controls),
            **_other_arguments(controls),
            **controls.more.arguments(),
            **(controls.more.value("extendedProperties") or {}),
            "calendar": controls.calendar.value,
        }
    )
    twice = further.keys() & _fields(arguments, lines)
    if twice:
        wrong.append((controls.other_fields, duplicate_message(twice)))
    wrong += _parameter_problems(controls, arguments)
    return Draft(
        _with_other_fields(arguments, further), tuple(wrong), lines, _plan(lines, start, end), bool(when.end_zone)
    )


def body_of(draft: Draft) -> JSONObject:
    """The event that a draft makes, right or not and as far as it goes."""
    return {**_fields(draft.arguments, draft.lines), **draft.arguments.get("metadata", {})}


def _fields(arguments: Mapping[str, Any], lines: list[str]) -> JSONObject:
    """The fields that the arguments fill."""
    zone = arguments.get("time_zone")
    zones = {"end": arguments.get("end_time_zone", zone)}
    times: JSONObject = {
        camel(name): wire_time(arguments[name], zones.get(name, zone)) for name in _TIMES if name in arguments
    }
    others = {name: value for name, value in arguments.items() if name not in (*_TIMES, *_NOT_FIELDS)}
    recurrence: JSONObject = {"recurrence": [*lines]} if lines else {}
    return {**times, **partial_body(**others), **recurrence}


def _with_other_fields(arguments: dict[str, Any], further: dict[str, Any]) -> dict[str, Any]:
    """The arguments with the fields of the JSON; `start` and `end` have to be arguments, and a text would be a time."""
    times = {name: further[name] for name in ("start", "end") if isinstance(further.get(name), dict)}
    rest = {name: value for name, value in further.items() if name not in times}
    return {**arguments, **times, **({"metadata": rest} if rest else {})}


def _missing_times(controls: EventControls, when: When, further: Mapping[str, Any]) -> Iterator[FieldProblem]:
    for name, field, day, time, moment in (
        ("start", controls.when.starts_field, when.first, when.begins, when.start),
        ("end", controls.when.ends_field, when.last, when.ends, when.end),
    ):
        if moment is None and name not in further:
            yield field, "Give a day." if day is None else "Give a time." if time is None else "Give an earlier day."


def _unused_conference_options(controls: EventControls) -> Iterator[FieldProblem]:
    """Options of a conference without the request for one."""
    for path in (_CONFERENCE_TYPE, _REQUEST_ID):
        if controls.more.value(path) is not None and not controls.conference.value:
            yield controls.more.option(path), "Select “with a video conference” as well, or clear this."


def _parameter_problems(controls: EventControls, arguments: Mapping[str, Any]) -> Iterator[FieldProblem]:
    try:
        query_of(arguments)
    except (TypeError, ValueError) as error:
        field = controls.more.field_of(str(error).partition(" ")[0])
        if field is not None:
            yield field, str(error)


def _read_or_report(field: Field, wrong: list[FieldProblem], default: T, read: Callable[[], T]) -> T:
    try:
        return read()
    except (ValueError, OverflowError) as error:  # a year that no clock in UTC shows is a wrong one
        wrong.append((field, str(error)))
        return default


def _with_zone(moment: date | datetime | None, zone: str) -> Start | None:
    """In its zone; in UTC while there is no such zone, and that is said beside the zone."""
    if not isinstance(moment, datetime):
        return moment
    return in_zone(moment, zone) or moment.replace(tzinfo=UTC)


def _times(controls: EventControls, when: When) -> dict[str, Any]:
    """An offset is part of the times, and no time zone."""
    name = str(controls.more.value("start.timeZone") or "") if when.all_day else when.zone
    time_zone = None if not name or read_offset(name) else name
    end_name = when.end_zone or name
    is_named = end_name != name and not read_offset(end_name)
    original, original_zone = controls.more.value("originalStartTime") or (None, "")
    return {
        "start": argument_time(when.start, name, time_zone),
        "end": argument_time(when.end, end_name, end_name if is_named else time_zone),
        "time_zone": time_zone,
        "end_time_zone": end_name if is_named else None,
        "original_start_time": argument_time(original, _zone_of(original, original_zone, when), time_zone),
    }


def _zone_of(moment: date | datetime | None, name: str, when: When) -> str:
    """Without a zone of its own, a clock time is in that of the event."""
    return name or (when.zone if isinstance(moment, datetime) and not when.all_day else "")


def _without_empty(arguments: dict[str, Any]) -> dict[str, Any]:
    """Without those that say nothing; an empty list of reminders says that there are none."""
    present = {name: value for name, value in arguments.items() if value not in (None, "", {}, [])}
    return present if arguments["reminders"] is None else {**present, "reminders": arguments["reminders"]}


def _guests(controls: EventControls) -> dict[str, Any]:
    switches = controls.guests_may.value
    return {
        "attendees": [_short_form(attendee, "email") for attendee in controls.attendees.value],
        **{_SWITCHES[name]: value for name, value in switches.items()},
        "send_updates": controls.invitations.value,
    }


def _short_form(entry: dict[str, Any], name: str) -> Any:
    """An entry that has nothing but its name is said by it alone."""
    return entry[name] if list(entry) == [name] else entry


def _other_arguments(controls: EventControls) -> dict[str, Any]:
    return {
        "location": controls.location.value,
        "description": controls.description.value,
        "conference": _conference(controls),
        "reminders": _reminders(controls),
        "attachments": [_short_form(attachment, "fileUrl") for attachment in controls.attachments.value],
        "color": EVENT_COLORS[color].name if (color := controls.color.value) else None,
        "visibility": controls.visibility.value,
        "transparency": controls.transparency.value,
    }


def _conference(controls: EventControls) -> Any:
    """True for any new conference, the name of its type, or with a request id what is sent."""
    solution, request = controls.more.value(_CONFERENCE_TYPE), controls.more.value(_REQUEST_ID)
    if not controls.conference.value:
        return None
    if request is None:
        return solution or True
    key = {"conferenceSolutionKey": {"type": solution}} if solution else {}
    return {"createRequest": {"requestId": request, **key}}


def _reminders(controls: EventControls) -> list[Any] | None:
    """Minutes alone mean a notice."""
    chosen = controls.reminders.value
    if chosen is None:
        return None
    rows = [(row["method"], row["minutes"]) for row in chosen.get("overrides", [])]
    return [minutes if method == "popup" else (method, minutes) for method, minutes in rows]


def _plan(lines: list[str], start: Start | None, end: Start | None) -> RecurrencePlan | None:
    """None without a recurrence, and while the times make no sense."""
    if not lines or start is None or end is None or not _after(start, end):
        return None
    try:
        plan = RecurrencePlan(tuple(lines), start, end)
        next(plan.instances(), None)
    except (ValueError, OverflowError):  # what is wrong is said beside the field
        return None
    return plan


def _after(start: Start, end: Start) -> bool:
    if isinstance(start, datetime) and isinstance(end, datetime):
        return end.astimezone(UTC) > start.astimezone(UTC)
    return end > start
