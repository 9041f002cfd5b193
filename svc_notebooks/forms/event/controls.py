"""All controls of the event form, and the arguments of `create_event` that they represent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeVar

import ipywidgets as widgets

from ...client.session import Session
from ...core.events.rrule import Start
from ...core.events.series import Series
from ...core.http.messages import JSONObject
from ...core.time_zones import zone
from ...notebook.events.body import QUERY_ARGUMENTS, partial_body, query_of
from ...notebook.frames.frames import camel
from ...notebook.html import tag
from ..recurrence.builder import RecurrenceBuilder
from ..recurrence.month_calendars import RecurrencePreview
from ..widgets import ui
from .attendee_rows import AttachmentRows, GuestList
from .bindings import BINDINGS, FIRST, GUESTS, LABELS, SECOND, OtherFields
from .inputs import CalendarChoice, PropertyLines
from .start_and_end import TimeChoice, When, WhenChoice, argument_time, in_zone, read_offset, wire_moment, wire_time


class EventMoreOptions(ui.MoreOptions):
    """The rarely used controls of the event form in groups, and the JSON text field for all other event fields."""

    def __init__(self, groups: Mapping[str, Sequence[Any]], other_fields: OtherFields) -> None:
        self._controls = [control for controls in groups.values() for control in controls]
        self._other_fields = other_fields
        sections = [part for group, parts in groups.items() for part in (_heading(group), _box("group", parts))]
        super().__init__(*sections, _heading("Other fields"), other_fields)

    def reveal(self) -> None:
        """Show all controls if a control is set or has a problem."""
        if self._count_set() or self._other_fields.text.value or any(field.problems for field in fields_in(self.box)):
            self.shown = True

    def _count_set(self) -> int:
        return sum(control.value not in (None, "", {}, []) for control in self._controls) + len(
            self._other_fields.names
        )


def fields_in(part: widgets.Widget) -> Iterator[ui.Field]:
    """Yield `part` itself if `part` is a field, otherwise all fields inside `part`."""
    if isinstance(part, ui.Field):
        yield part
        return
    for child in getattr(part, "children", ()):
        yield from fields_in(child)


def _box(name: str, parts: Sequence[Any]) -> widgets.VBox:
    box = widgets.VBox(parts)
    box.add_class(f"svc-{name}")
    for part in parts:
        if isinstance(part, ui.EditableRows):
            part.add_class("svc-wide")
    return box


def _heading(text: str) -> widgets.HTML:
    return widgets.HTML(tag("h4", text, class_="svc-head"))


_ALIASES = {"timeMax": "end", "timeZone": "start.timeZone", "time_zone": "start.timeZone"}


class EventControls(widgets.VBox):  # type: ignore[misc]
    """All controls of the event form, of which those with a name in `BINDINGS` are attributes."""

    when: WhenChoice
    repeats: RecurrenceBuilder
    attendees: GuestList
    conference: ui.SingleField
    attachments: AttachmentRows
    calendar: CalendarChoice

    def __init__(self) -> None:
        self.preview, self.other_fields = RecurrencePreview(), OtherFields()
        self._controls: dict[str, Any] = {row.path: row.make(row) for row in BINDINGS}
        groups: dict[str, list[Any]] = {}
        for row in BINDINGS:
            groups.setdefault(row.group, []).append(self._controls[row.path])
            if row.name:
                setattr(self, row.name, self._controls[row.path])
        first, second = (_box(group, groups.pop(group)) for group in (FIRST, SECOND))
        groups[GUESTS].insert(0, self.attendees.details)
        self.more = EventMoreOptions(groups, self.other_fields)
        super().__init__([first, self.preview, second, self.more])
        self.add_class("svc-areas")

    def watch(self, changed: Callable[[], object]) -> None:
        for control in (*self._controls.values(), self.other_fields):
            control.watch(changed)

    def read(self, session: Session) -> None:
        """Reload the lists of stored files and calendars."""
        self.attachments.read(session)
        self.calendar.read(session)

    def begin(self, now: datetime) -> None:
        """Set the start to the next full hour after `now`, in the time zone of the calendar."""
        zone_name = self.calendar.time_zone
        now_local = now.astimezone(zone(zone_name)).replace(minute=0, second=0, microsecond=0, tzinfo=None)
        self.when.begin(now_local + timedelta(hours=1), zone_name)

    def option(self, path: str) -> Any:
        """Return the control of a row of `BINDINGS`."""
        return self._controls[path]

    def problems(self) -> Iterator[tuple[ui.Field, str]]:
        for control in self._controls.values():
            if isinstance(control, PropertyLines | TimeChoice):
                yield from control.own_problems()

    def field_at(self, path: str | None) -> ui.Field | None:
        """Return the field that shows the problems of an event path or argument, or None."""
        if not path:
            return None
        path = _ALIASES.get(path, path)
        root = path.partition(".")[0].partition("[")[0]
        if root in self.other_fields.names:
            return self.other_fields
        covering = [
            row
            for row in BINDINGS
            if row.covers(path) and (not row.path.endswith(".timeZone") or self._has_zone(row.path))
        ]
        rows = sorted(covering, key=lambda row: -len(row.path)) or [row for row in BINDINGS if root in row.fields]
        if not rows:
            return None
        return self._controls[rows[0].path].field_at(path)  # type: ignore[no-any-return]

    def _has_zone(self, path: str) -> bool:
        """Return whether the time zone control of an event path is set and visible."""
        return bool(self._controls[path].value) and self._controls[path].layout.display is None

    def fields(self) -> Iterator[ui.Field]:
        for control in (*self._controls.values(), self.attendees.details, self.other_fields):
            yield from fields_in(control)

    def update_dependents(self) -> None:
        """Update the controls whose values or visibility depend on the start."""
        self.when.set_end_zone(self._controls["end.timeZone"].value)
        ui.set_visible(self._controls["start.timeZone"], bool(self.when.all_day.value))
        self.more.update_label()
        day = self.when.first.value
        if day is not None:
            self.repeats.set_start_day(day)


# -- the arguments of `create_event` that the controls represent, and their problems


T = TypeVar("T")
FieldProblem = tuple[ui.Field, str]

_TIMES = ("start", "end", "original_start_time")
_NOT_FIELDS = (*_TIMES, "time_zone", "end_time_zone", "recurrence", "metadata", *QUERY_ARGUMENTS)
_CONFERENCE_TYPE = "conferenceData.createRequest.conferenceSolutionKey.type"
_REQUEST_ID = "conferenceData.createRequest.requestId"


@dataclass(frozen=True, slots=True)
class Draft:
    """The event in the form, as arguments of `create_event`.

    `problems` are the problem texts with their fields, and `lines` are the RFC 5545 lines. `series` has the times
    and the lines, or is None without a valid recurrence.
    """

    arguments: dict[str, Any]
    problems: tuple[FieldProblem, ...]
    lines: list[str]
    series: Series | None
    has_end_zone: bool = False

    @property
    def body(self) -> JSONObject:
        """The event as a request body, which can be incomplete or invalid."""
        return _fields(self.arguments, self.lines)


def read_controls(controls: EventControls) -> Draft:
    """Return the event that the controls represent, with the problems of the controls."""
    when = controls.when.value
    problems: list[FieldProblem] = []
    other: dict[str, Any] = _read_or_report(controls.other_fields, problems, {}, lambda: controls.other_fields.value)
    problems += [*_missing_times(controls, when, other), *controls.attendees.entry_problems()]
    problems += controls.problems()
    for path in (_CONFERENCE_TYPE, _REQUEST_ID):
        if controls.option(path).value is not None and not controls.conference.value:
            problems.append((controls.option(path), "Select “Add a video conference” as well, or clear this."))
    start = _with_zone(when.start, when.zone) or wire_moment(other.get("start"))
    end = _with_zone(when.end, when.end_zone or when.zone) or wire_moment(other.get("end"))
    lines: list[str] = []
    if start is not None:
        lines = _read_or_report(controls.repeats.field, problems, [], lambda: controls.repeats.lines(start))
    recurrence = controls.repeats.argument(lines, start) if start is not None and lines else None
    arguments = _arguments(
        controls,
        {
            "start end": _times(controls, when, recurs=bool(lines)),
            "recurrence": {"recurrence": recurrence},
            "conferenceData": {"conference": _conference(controls)},
        },
    )
    for name in sorted(other.keys() & _fields(arguments, lines)):
        text = (
            f"The control {LABELS.get(name, name)} sets this field too: {name}. Remove it here, or clear the control."
        )
        problems.append((controls.other_fields, text))
    problems += _parameter_problems(controls, arguments)
    # `start` and `end` are arguments; a text among the other fields is not a time object
    times = {name: other[name] for name in ("start", "end") if isinstance(other.get(name), dict)}
    rest = {name: value for name, value in other.items() if name not in times}
    metadata = {"metadata": {**arguments.get("metadata", {}), **rest}} if rest else {}
    arguments = {**arguments, **times, **metadata}
    return Draft(arguments, tuple(problems), lines, _series(lines, start, end), bool(when.end_zone))


def _arguments(controls: EventControls, combined: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the arguments of all set controls. `combined` has the arguments of several controls by binding path."""
    arguments: dict[str, Any] = {}
    for row in BINDINGS:
        if row.path in combined:
            arguments |= {name: value for name, value in combined[row.path].items() if value is not None}
            continue
        value = controls.option(row.path).value
        if not row.argument or value in (None, "", {}, []):
            continue
        value = row.to_argument(value)
        name, _, key = row.argument.partition(".")
        if key:
            arguments.setdefault(name, {})[key] = value
        else:
            arguments[name] = value
    return arguments


def _fields(arguments: Mapping[str, Any], lines: list[str]) -> JSONObject:
    zone = arguments.get("time_zone")
    zones = {"end": arguments.get("end_time_zone", zone)}
    times: JSONObject = {
        camel(name): wire_time(arguments[name], zones.get(name, zone)) for name in _TIMES if name in arguments
    }
    others = {name: value for name, value in arguments.items() if name not in _NOT_FIELDS}
    recurrence: JSONObject = {"recurrence": [*lines]} if lines else {}
    return {**times, **partial_body(**others), **recurrence, **arguments.get("metadata", {})}


def _times(controls: EventControls, when: When, *, recurs: bool) -> dict[str, Any]:
    """Return the time arguments of `create_event`. A UTC offset is a part of the time.

    An all-day event has a time zone only if it recurs.
    """
    name = controls.option("start.timeZone").value if when.all_day else when.zone
    name = name if recurs or not when.all_day else ""
    time_zone = None if not name or read_offset(name) else name
    end_name = (when.end_zone if recurs or not when.all_day else "") or name
    is_named = end_name != name and not read_offset(end_name)
    original, original_zone = controls.option("originalStartTime").value or (None, "")
    if not original_zone and isinstance(original, datetime) and not when.all_day:
        original_zone = when.zone
    return {
        "start": argument_time(when.start, name, time_zone),
        "end": argument_time(when.end, end_name, end_name if is_named else time_zone),
        "time_zone": time_zone,
        "end_time_zone": end_name if is_named else None,
        "original_start_time": argument_time(original, original_zone, time_zone),
    }


def _conference(controls: EventControls) -> Any:
    """Return the argument `conference`, which is None, True, the conference type, or a dict with the request id."""
    solution, request = controls.option(_CONFERENCE_TYPE).value, controls.option(_REQUEST_ID).value
    if not controls.conference.value:
        return None
    if request is None:
        return solution or True
    key = {"conferenceSolutionKey": {"type": solution}} if solution else {}
    return {"createRequest": {"requestId": request, **key}}


# -- problems --------------------------------------------------------------------------------------------------------


def _missing_times(controls: EventControls, when: When, other: Mapping[str, Any]) -> Iterator[FieldProblem]:
    for name, field, day, time, moment in (
        ("start", controls.when.starts_field, controls.when.first.value, controls.when.begins.value, when.start),
        ("end", controls.when.ends_field, controls.when.last.value, controls.when.ends.value, when.end),
    ):
        if moment is None and name not in other:
            missing = "a date" if day is None else "a time" if time is None else "an earlier date"
            yield field, f"Enter {missing}."


def _parameter_problems(controls: EventControls, arguments: Mapping[str, Any]) -> Iterator[FieldProblem]:
    try:
        query_of(arguments)
    except (TypeError, ValueError) as error:
        field = controls.field_at(str(error).partition(" ")[0])
        if field is not None:
            yield field, str(error)


def _read_or_report(field: ui.Field, problems: list[FieldProblem], default: T, read: Callable[[], T]) -> T:
    try:
        return read()
    except (ValueError, OverflowError) as error:  # OverflowError: a year that UTC does not have
        problems.append((field, str(error)))
        return default


def _with_zone(moment: date | datetime | None, zone: str) -> Start | None:
    """Add a time zone to a local time. If the zone is unknown, use UTC. A date or None is returned unchanged."""
    if not isinstance(moment, datetime):
        return moment
    return in_zone(moment, zone) or moment.replace(tzinfo=UTC)


def _series(lines: list[str], start: Start | None, end: Start | None) -> Series | None:
    """Return the series, or None without a recurrence or with an invalid time or line."""
    if not lines or start is None or end is None:
        return None
    if isinstance(start, datetime) and isinstance(end, datetime):
        is_after = end.astimezone(UTC) > start.astimezone(UTC)
    else:
        is_after = end > start
    if not is_after:
        return None
    try:
        series = Series(tuple(lines), start, end)
        next(series.instances(), None)
    except (ValueError, OverflowError):  # the field shows the problem
        return None
    return series
