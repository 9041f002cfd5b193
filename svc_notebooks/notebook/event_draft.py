"""What the controls of an event form say, as the arguments of `create_event`; what cannot be said, beside its field."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from ..core.colors import EVENT_COLORS
from ..core.recurrence import Start
from .event_body import some_fields
from .field import Field
from .recurrence_plan import Plan
from .when_choice import When, in_zone

if TYPE_CHECKING:
    from ..core.wire import JSONObject
    from .event_controls import EventControls

T = TypeVar("T")
Wrong = tuple[Field, str]

_SWITCHES = {
    "guestsCanInviteOthers": "guests_can_invite_others",
    "guestsCanSeeOtherGuests": "guests_can_see_other_guests",
    "guestsCanModify": "guests_can_modify",
}
_BESIDE = ("time_zone", "recurrence", "send_updates", "calendar", "metadata")
"""Arguments that are no field of an event as they are."""


@dataclass(frozen=True, slots=True)
class Draft:
    """`arguments` of `create_event`, `wrong` what could not be said in them, `lines` of recurrence and their `plan`."""

    arguments: dict[str, Any]
    wrong: tuple[Wrong, ...]
    lines: list[str]
    plan: Plan | None


def draft(controls: EventControls) -> Draft:
    """What the controls say now."""
    when = controls.when.value
    wrong = list(_missing(controls, when))
    start, end = _placed(when.start, when.zone), _placed(when.end, when.zone)
    lines: list[str] = []
    if start is not None:
        lines = _asked(controls.repeats.field, wrong, [], lambda: controls.repeats.lines(start))
    further: dict[str, Any] = _asked(controls.further, wrong, {}, lambda: controls.further.value)
    arguments = {
        "summary": controls.summary.value,
        **_times(when),
        "recurrence": controls.repeats.said(lines, start) if start is not None and lines else None,
        **_people(controls),
        **_rest(controls),
        "metadata": further,
        "calendar": controls.calendar.value,
    }
    return Draft(_given(arguments), tuple(wrong), lines, _plan(lines, start, end))


def body_of(drawn: Draft) -> JSONObject:
    """The event that a draft makes, right or not and as far as it goes."""
    zone = drawn.arguments.get("time_zone")
    given = {name: value for name, value in drawn.arguments.items() if name not in _BESIDE}
    for name in ("start", "end"):
        if name in given:
            given[name] = _wire_time(given[name], zone)
    lines: JSONObject = {"recurrence": [*drawn.lines]} if drawn.lines else {}
    return {**some_fields(**given), **lines, **drawn.arguments.get("metadata", {})}


def _wire_time(text: str, zone: str | None) -> JSONObject:
    """What a person chose, on the wire; a zone that there is not stays what it is.

    >>> _wire_time("2026-11-02 16:00", "Mars/Olympus")
    {'dateTime': '2026-11-02T16:00:00', 'timeZone': 'Mars/Olympus'}
    """
    if " " not in text:
        return {"date": text}
    said: JSONObject = {"dateTime": datetime.fromisoformat(text).isoformat()}
    return {**said, "timeZone": zone} if zone else said


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    """Without those that say nothing; an empty list of reminders says that there are none."""
    said = {name: value for name, value in arguments.items() if value not in (None, "", {}, [])}
    return said if arguments["reminders"] is None else {**said, "reminders": arguments["reminders"]}


def _missing(controls: EventControls, when: When) -> Iterator[Wrong]:
    for field, day, clock, whole in (
        (controls.when.starts, when.first, when.begins, when.start),
        (controls.when.until, when.last, when.ends, when.end),
    ):
        if whole is None:
            yield field, "Give a day." if day is None else "Give a time." if clock is None else "Give an earlier day."


def _asked(field: Field, wrong: list[Wrong], otherwise: T, ask: Callable[[], T]) -> T:
    try:
        return ask()
    except (ValueError, OverflowError) as error:  # a year that no clock in UTC shows is a wrong one
        wrong.append((field, str(error)))
        return otherwise


def _placed(moment: date | datetime | None, zone: str) -> Start | None:
    """In its zone; in UTC while there is no such zone, and that is said beside the zone."""
    if not isinstance(moment, datetime):
        return moment
    return in_zone(moment, zone) or moment.replace(tzinfo=UTC)


def _times(when: When) -> dict[str, Any]:
    zone = None if when.all_day else when.zone
    return {"start": moment_text(when.start), "end": moment_text(when.end), "time_zone": zone}


def moment_text(moment: date | datetime | None) -> str | None:
    """A day, or a day and a clock time, as people write them.

    >>> moment_text(datetime(2026, 11, 2, 10))
    '2026-11-02 10:00'
    """
    if not isinstance(moment, datetime):
        return str(moment) if moment else None
    return moment.isoformat(" ", "seconds" if moment.second else "minutes")


def _people(controls: EventControls) -> dict[str, Any]:
    said = controls.guests_may.value
    return {
        "attendees": [_short(one, "email") for one in controls.attendees.value],
        **{_SWITCHES[name]: value for name, value in said.items()},
        "send_updates": controls.invitations.value,
    }


def _short(entry: dict[str, Any], name: str) -> Any:
    """An entry that has nothing but its name is said by it alone."""
    return entry[name] if list(entry) == [name] else entry


def _rest(controls: EventControls) -> dict[str, Any]:
    return {
        "location": controls.location.value,
        "description": controls.description.value,
        "conference": controls.conference.value or None,
        "reminders": _reminders(controls),
        "attachments": [_short(one, "fileUrl") for one in controls.attachments.value],
        "color": EVENT_COLORS[color].name if (color := controls.color.value) else None,
        "visibility": controls.visibility.value,
        "transparency": controls.transparency.value,
    }


def _reminders(controls: EventControls) -> list[Any] | None:
    """Minutes alone mean a notice."""
    chosen = controls.reminders.value
    if chosen is None:
        return None
    rows = [(row["method"], row["minutes"]) for row in chosen.get("overrides", [])]
    return [minutes if method == "popup" else (method, minutes) for method, minutes in rows]


def _plan(lines: list[str], start: Start | None, end: Start | None) -> Plan | None:
    """None without a recurrence, and while the times make no sense."""
    if not lines or start is None or end is None or not _after(start, end):
        return None
    try:
        plan = Plan(tuple(lines), start, end)
        next(plan.instances(), None)
    except (ValueError, OverflowError):  # what is wrong is said beside the field
        return None
    return plan


def _after(start: Start, end: Start) -> bool:
    if isinstance(start, datetime) and isinstance(end, datetime):
        return end.astimezone(UTC) > start.astimezone(UTC)
    return end > start
