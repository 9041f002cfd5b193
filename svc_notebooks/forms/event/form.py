"""The event form with all fields of an event, problems beside their fields, and a preview of the recurrence (W-03)."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import ipywidgets as widgets
from traitlets import TraitError

from ...client.session import Session, SessionLike, session_or_current
from ...core.errors.errors import SvcError
from ...core.errors.public_calls import unknown_argument
from ...core.events.fields import FIELD_ORDER
from ...core.events.instances import duration
from ...core.events.rrule import Start
from ...core.events.series import Series
from ...core.events.validation import problems, with_defaults
from ...core.http.messages import JSONObject, merge_patch
from ...core.platform import capabilities
from ...core.suggestions import ALIASES
from ...core.times import UTC_NAME, zone, zone_names
from ...notebook.display import count_text, tag
from ...notebook.events.body import LENIENT, QUERY_ARGUMENTS, partial_body, query_of
from ...notebook.events.calendars import free_times
from ...notebook.events.events import ARGUMENTS, body_arguments, create_event
from ...notebook.events.records import changed_fields, in_zone
from ...notebook.frames import EVENT, camel, concatenate
from ..recurrence import RecurrenceBuilder, RecurrencePreview
from ..widgets import ui
from ..widgets.background_task import LatestTask
from ..widgets.form import Form, call_text, refuse_unnamed
from . import inputs
from .attendee_rows import AttachmentRows, GuestList
from .bindings import BINDINGS, FIRST, GUESTS, LABELS, PARAMETERS, SECOND, OtherFields, with_label

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...core.resources.events import Event

_MAX_SLOTS = 8
_WEEK = timedelta(days=7)


class FreeTimes(ui.Field):
    """A button that finds free times in the week from the start of the event, and a list of them.

    The times are those at which the caller and all guests are free. Selecting one sets start and end of the event.
    """

    def __init__(self, controls: EventControls, session: SessionLike) -> None:
        self._event, self._session = controls, session
        self._task = LatestTask(self._show_error)
        self.find = ui.small_button("Find free times", "List times at which you and all guests are free", self._find)
        self.slots = ui.dropdown("Select", "Set start and end to this time", style=ui.AUTO_WIDTH)
        ui.on_change(self._take, self.slots)
        super().__init__(ui.heading("Free times"), self.find, self.slots)
        ui.set_visible(self.slots, False)

    def _find(self) -> None:
        session, when = session_or_current(self._session), self._event.when.value
        name = when.zone if when.zone in zone_names() else self._event.calendar.time_zone
        now = session.clock.now()
        day = datetime.combine(when.start or now, time(), zone(name))
        length = None if when.all_day or not (when.start and when.end) else when.end - when.start
        people = ["primary", *(guest["email"] for guest in self._event.attendees.value if guest.get("email"))]
        call = partial(
            free_times,
            people,
            duration=length if length and length > timedelta() else "1h",
            within=(max(now, day), max(now, day) + _WEEK),
            time_zone=name,
            session=session,
        )
        self.show_problems(())
        self.show_hint("Loading")
        self._task.begin(call, partial(self._show, name), in_thread=not session.in_process)

    def _show(self, zone_name: str, found: DataFrame) -> None:
        slots = [(start.to_pydatetime(), end.to_pydatetime()) for start, end in found.head(_MAX_SLOTS).values.tolist()]
        options = [(f"{start:%a %d %b %H:%M}-{end:%H:%M}", (start, end, zone_name)) for start, end in slots]
        self.slots.options = [("No time selected", ""), *options]
        self.slots.value = ""
        ui.set_visible(self.slots, bool(options))
        self.show_hint("" if options else "There is no common free time in the next 7 days.")

    def _show_error(self, error: Exception) -> None:
        self.show_hint("")
        self.show_problems([str(error)])

    def _take(self) -> None:
        if self.slots.value:
            start, end, name = self.slots.value
            self._event.when.value = inputs.When(False, start, end, name)


_START_END = ("start", "end")
_DATE = re.compile(r"\d{4}-\d\d?-\d")
# The event fields that have a control. All other event fields are shown as JSON.
_FIELDS = dict.fromkeys(field for row in BINDINGS for field in row.fields if field not in PARAMETERS)

# The field values that have the same meaning as a missing field.
_EMPTY = {"summary": "", "location": "", "description": "", "recurrence": [], "attendees": [], "attachments": []}


def fill_controls(controls: EventControls, event: JSONObject) -> None:
    """Set the controls from an event. Fields that the controls cannot represent go into the JSON text field."""
    controls.other_fields.value = {}
    for name in _FIELDS:
        try:
            _set(controls, name, event)
        except (TypeError, ValueError, AttributeError, KeyError, TraitError):  # a value of another type
            _set(controls, name, {})
    shown = read_controls(controls).body
    other = {name: event[name] for name in event if not _is_shown(name, event, shown)}
    if other.keys() & set(_START_END):  # controls have both times or none
        other |= {name: event[name] for name in _START_END if name in event}
    rest = {name: None if name in other else value for name, value in event.items()}
    for name in other:  # a control may have several fields, of which only this one is cleared
        if name in _FIELDS:
            _set(controls, name, rest)
    controls.other_fields.value = other


def _is_shown(name: str, event: JSONObject, shown: JSONObject) -> bool:
    value, shown_value = event[name], with_defaults(shown).get(name)
    if name not in _FIELDS:
        return False
    if name in (*_START_END, "originalStartTime"):
        return _is_same_time(value, shown.get(name))
    if value is None or shown_value is None:
        return value is None or (name in _EMPTY and value == _EMPTY[name])
    texts = [json.dumps(each, sort_keys=True) for each in (with_defaults(event)[name], shown_value)]
    return type(value) is type(shown_value) and texts[0] == texts[1]  # as JSON, 1 is not True


def _is_same_time(expected: Any, actual: Any) -> bool:
    if expected is None or actual is None:
        return expected is actual
    instant = inputs.wire_moment(expected)
    return (
        instant is not None
        and instant == inputs.wire_moment(actual)
        and expected.get("timeZone") == actual.get("timeZone")
    )


def _set(controls: EventControls, name: str, event: JSONObject) -> None:
    if name in _START_END:
        _set_times(controls, event)
    elif name == "recurrence":
        controls.repeats.read(event.get("recurrence") or [], inputs.wire_moment(event.get("start")))  # type: ignore[arg-type]
    else:
        for row in BINDINGS:
            if name in row.fields:
                controls.option(row.path).value = _value_of(row, event)


def _value_of(row: inputs.Binding, event: JSONObject) -> Any:
    """Return the control value for an event, or None without the field. Raises TypeError if a parent is not a dict."""
    value: Any = event
    for key in row.path.split("."):
        if value is None:
            return None
        if not isinstance(value, dict):
            raise TypeError("expected an object")
        value = value.get(key)
    return None if value is None else row.from_field(value)


def _set_times(controls: EventControls, event: JSONObject) -> None:
    """Set start, end and zones if the event has times. An invalid time empties the controls."""
    if not event.keys() & set(_START_END):
        return
    controls.option("start.timeZone").value = None
    controls.option("end.timeZone").value = None
    zone = controls.when.zone.value
    try:
        (start, name), (end, end_name) = (
            inputs.read_wire_time(event.get("start")),
            inputs.read_wire_time(event.get("end")),
        )
    except (ValueError, TypeError, AttributeError):
        controls.when.value = inputs.When(bool(controls.when.all_day.value), None, None, zone)
        return
    own_zone = "" if end_name == name else end_name
    if isinstance(start, datetime) and isinstance(end, datetime):
        controls.when.value = inputs.When(False, start, end, name, own_zone)
    elif not isinstance(start, datetime) and not isinstance(end, datetime):
        controls.when.value = inputs.When(True, start, end, zone, own_zone)
        controls.option("start.timeZone").value = name or None
    controls.option("end.timeZone").value = own_zone or None


_COLUMNS = ["id", "summary", "start", "end", "time_zone", "status"]
# The path of the end time zone. If the end has no zone of its own, its problem is already shown for the start.
_SAME_ZONE = "end.timeZone"


def event_form(*, session: SessionLike = None, **fields: Any) -> EventForm:
    """Return a form for an event, with all of its fields and all parameters of the request.

    Title, times, recurrence, guests, location and description are shown at once. Guests are a list of e-mail addresses.
    "More options" has calendar, reminders, color, the details and permissions of guests, conference, attachments, the
    end's own time zone, status, id, source, extended properties, the gadget and the parameters. "Details" of a guest
    are response, comment, additional guests and resource. A field without a control can be written as JSON
    under "Other fields". If a field is set in the JSON and by a control, the form shows a problem and sends nothing.

    `form.value` is the body of the request, and can be set. `form.code()` is the equivalent call, `form.result` is the
    DataFrame of the events that the form has created, `form.last_error` is the last error.

    Args:
        session: The session whose calendar is used. None stands for the current session.
        **fields: The first values of fields, as arguments of `create_event`, which `form.fill(...)` sets later.

    See tests/rules.csv (E).

    >>> lab = svc.sandbox()
    >>> form = svc.event_form(summary="Tea", start="2026-11-02", end="2026-11-03")
    >>> form.code()
    "svc.create_event('Tea', start='2026-11-02', end='2026-11-03')"
    >>> form.value["start"]
    {'date': '2026-11-02'}
    """
    form = EventForm(session)
    if fields:
        form.fill(**fields)
    return form


class EventForm(Form):
    """The form that `event_form` returns. A program can set `controls` and click the button `create`."""

    title = "Event form"
    instead = "svc.create_event(title, start=..., end=...)"
    nothing = "Nothing was created."

    def __init__(self, session: SessionLike = None) -> None:
        super().__init__(session)
        self.add_class("svc-event")
        self._created: list[DataFrame] = []
        self._updating = False
        self._problems: list[tuple[ui.Field | None, str]] = []
        self.controls = EventControls()
        self.free_times = FreeTimes(self.controls, session)
        guests = self.controls.attendees
        guests.children = [*guests.children, self.free_times]
        self.controls.read(self.session)
        self.controls.begin(session_or_current(session).clock.now())
        self.draft = read_controls(self.controls)
        self.create = self._button("Create", "Create the event in the calendar", self._create, "primary")
        reload = self._guarded(lambda _button: self.controls.read(self.session))
        self.controls.attachments.refresh.on_click(reload)
        self.controls.watch(self._guarded(self._on_change))
        sheet = ui.style_sheet("event_form.css", inputs.chip_styles())
        self._compose(sheet, self.controls, ui.row(self.create), self.status, self.alert, self.table)
        self._update()

    @property
    def value(self) -> JSONObject:
        """The event as the body of the request. It can be set, also to a dict of arguments of `create_event`.

        Setting it raises TypeError for a name that is neither a field of an event nor an argument.
        """
        return self.draft.body

    @value.setter
    def value(self, event: JSONObject) -> None:
        has_dates = any(_DATE.match(str(event.get(name))) for name in _START_END)
        if frozenset(FIELD_ORDER).issuperset(event) and not has_dates:
            self.show_event(event)
        else:
            self.show_event({})
            self.fill(**event)

    def show_event(self, event: JSONObject) -> None:
        """Set the controls from the body of a request."""
        self._clear_status()
        self._show_error(None)
        self._updating = True
        try:
            fill_controls(self.controls, event)
            self.controls.more.reveal()
        finally:
            self._updating = False
            self._update()

    def fill(self, *unnamed: Any, **values: Any) -> None:
        """Set fields, given as arguments of `create_event`: `form.fill(summary="Tea", start="2026-11-02")`.

        A start alone keeps the length of the event, and a time without a time zone is in the zone of the form.
        """
        refuse_unnamed(unnamed, ARGUMENTS)
        values = {ALIASES["event_form"].get(name, name): value for name, value in values.items()}
        if unknown := [name for name in values if name not in ARGUMENTS]:
            raise TypeError(unknown_argument("event_form", unknown[0], [*ARGUMENTS]))
        before, arguments = cast("Event", self.value), body_arguments(self.session, values)
        has_times = all(isinstance(before.get(name), dict) for name in _START_END)
        changes = changed_fields(before, arguments) if has_times else partial_body(**arguments)
        self.show_event(merge_patch(before, changes))
        for row in BINDINGS:
            if row.path in PARAMETERS and row.argument in values:
                self.controls.option(row.path).value = values[row.argument]

    @property
    def result(self) -> DataFrame:
        """The created events, with the columns of `create_event()` and times in the events' common zone or UTC."""
        zones = {str(frame["start"].dt.tz) for frame in self._created}
        name = zones.pop() if len(zones) == 1 else UTC_NAME
        return in_zone(concatenate(EVENT, [in_zone(frame.copy(), name) for frame in self._created]), name)

    def code(self) -> str:
        named = dict(self.draft.arguments)
        return call_text("create_event", [named.pop("summary")] if "summary" in named else [], named)

    def _on_change(self) -> None:
        """Remove the messages of the previous event after a change of a control, and update the form."""
        self._clear_status()
        self._update()

    def _update(self) -> None:
        if self._updating:
            return
        self._updating = True
        try:
            self.controls.update_dependents()
            self.draft = read_controls(self.controls)
            reported = {field for field, _ in self.draft.problems}  # which has no problems of the event beside its own
            skipped = {_CONFERENCE_TYPE, *(() if self.draft.has_end_zone else (_SAME_ZONE,))}
            rows = [row for row in problems(self.value, LENIENT) if row.location not in skipped]
            located = [self._locate(row.location, row.message) for row in rows]
            self._problems = [*self.draft.problems, *(problem for problem in located if problem[0] not in reported)]
            for field in self.controls.fields():
                field.show_problems(text for problem_field, text in self._problems if problem_field is field)
            self.controls.repeats.field.show_hint("\n".join(self.draft.lines))
            self.controls.preview.show(self.draft.series)
            self._show_code()
        finally:
            self._updating = False

    def _locate(self, path: str | None, message: str) -> tuple[ui.Field | None, str]:
        """Return the field of an event problem (or None), and the message with the field label instead of the path."""
        field = self.controls.field_at(path)
        return field, message if field in (None, self.controls.other_fields) else with_label(message)

    def _create(self) -> None:
        self._clear_status()
        self._update()
        if self._problems:
            self.controls.more.reveal()
            without_field = [text for field, text in self._problems if field is None]
            beside = [text for field, text in self._problems if field is not None]
            self._show_problems(" ".join([self.nothing, *without_field]), beside)
            return
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            try:
                created = self._send_event()
            except SvcError as error:
                self._show_refusal(error)
            else:
                self._show_success(created, [str(row.message) for row in shown])

    def _send_event(self) -> DataFrame:
        return create_event(**self.draft.arguments, session=self.session)

    def _show_refusal(self, error: SvcError) -> None:
        """Show a service error beside its field. Raise the error if there is no such field."""
        field, message = self._locate(error.location, str(error))
        if field is None:
            raise error
        field.show_problems([message])
        self.controls.more.reveal()
        self._show_problems(self.nothing, [message])
        self.last_error = error

    def _show_success(self, created: DataFrame, notes: list[str]) -> None:
        self._created.append(created)
        self._show_table(self.result[_COLUMNS])
        link, name = str(created["html_link"].item()), self.draft.arguments.get("summary") or "the event"
        if self.session.in_process:  # a browser cannot reach a service in this process
            page: object = "Call lab.serve() to open its page in a browser." if capabilities().sockets else ""
        else:
            page = tag("a", "Open it", href=link, target="_blank", rel="noopener")
        paragraphs = [tag("p", f"Note: {note}.") for note in notes]
        self.status.value = tag("div", tag("p", f"Created: {name}. ", page), *paragraphs, role="status")

    def _summary(self) -> str:
        count = len(self._created)
        return f"<EventForm: {count_text(count, 'event')} created>" if count else "<EventForm: nothing created yet>"


class EventMoreOptions(ui.MoreOptions):
    """The rarely used controls of the event form in groups, and the JSON text field for all other event fields."""

    def __init__(self, groups: Mapping[str, Sequence[Any]], other_fields: OtherFields) -> None:
        self._other_fields = other_fields
        sections: list[widgets.Widget] = []
        for group, parts in groups.items():
            sections += [_heading(group), widgets.VBox(parts).add_class("svc-group")]
        counted = [control for controls in groups.values() for control in controls]
        super().__init__(*sections, _heading("Other fields"), other_fields, counted=counted)

    def reveal(self) -> None:
        """Show all controls if a control is set or has a problem."""
        if self._count_set() or self._other_fields.text.value or any(field.problems for field in fields_in(self.box)):
            self.shown = True

    def _count_set(self) -> int:
        return super()._count_set() + len(self._other_fields.names)


def fields_in(part: widgets.Widget) -> Iterator[ui.Field]:
    """Yield `part` itself if `part` is a field, otherwise all fields inside `part`."""
    if isinstance(part, ui.Field):
        yield part
        return
    for child in getattr(part, "children", ()):
        yield from fields_in(child)


def _heading(text: str) -> widgets.HTML:
    return widgets.HTML(tag("h4", text, class_="svc-head"))


_ALIASES = {"timeMax": "end", "timeZone": "start.timeZone", "time_zone": "start.timeZone"}


class EventControls(widgets.VBox):  # type: ignore[misc]
    """All controls of the event form, of which those with a name in `BINDINGS` are attributes."""

    when: inputs.WhenChoice
    repeats: RecurrenceBuilder
    attendees: GuestList
    conference: ui.SingleField
    attachments: AttachmentRows
    calendar: inputs.CalendarChoice

    def __init__(self) -> None:
        self.preview, self.other_fields = RecurrencePreview(), OtherFields()
        self._controls: dict[str, Any] = {row.path: row.make(row) for row in BINDINGS}
        groups: dict[str, list[Any]] = {}
        for row in BINDINGS:
            groups.setdefault(row.group, []).append(self._controls[row.path])
            if row.name:
                setattr(self, row.name, self._controls[row.path])
        first, second = (widgets.VBox(groups.pop(group)).add_class(f"svc-{group}") for group in (FIRST, SECOND))
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
            if isinstance(control, inputs.PropertyLines | inputs.TimeChoice):
                yield from control.own_problems()

    def field_at(self, path: str | None) -> ui.Field | None:
        """Return the field that shows the problems of an event path or argument, or None."""
        if not path:
            return None
        path = _ALIASES.get(path, path)
        root = path.partition(".")[0].partition("[")[0]
        if root in self.other_fields.names:
            return self.other_fields
        covering = [row for row in BINDINGS if row.covers(path) and self._is_offered(row.path)]
        rows = sorted(covering, key=lambda row: -len(row.path)) or [row for row in BINDINGS if root in row.fields]
        if not rows:
            return None
        return self._controls[rows[0].path].field_at(path)  # type: ignore[no-any-return]

    def _is_offered(self, path: str) -> bool:
        """Return False for the control of a time zone that is not set, or not visible."""
        control = self._controls[path]
        return not path.endswith(".timeZone") or (bool(control.value) and control.layout.display is None)

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
# The path of a field that the form does not check, because the policy of the service defines the valid values.
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
    start = _with_zone(when.start, when.zone) or inputs.wire_moment(other.get("start"))
    end = _with_zone(when.end, when.end_zone or when.zone) or inputs.wire_moment(other.get("end"))
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
        text = f"The control {LABELS.get(name, name)} sets this field too: {name}."
        problems.append((controls.other_fields, f"{text} Remove it here, or clear the control."))
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
        camel(name): inputs.wire_time(arguments[name], zones.get(name, zone)) for name in _TIMES if name in arguments
    }
    others = {name: value for name, value in arguments.items() if name not in _NOT_FIELDS}
    recurrence: JSONObject = {"recurrence": [*lines]} if lines else {}
    return {**times, **partial_body(**others), **recurrence, **arguments.get("metadata", {})}


def _times(controls: EventControls, when: inputs.When, *, recurs: bool) -> dict[str, Any]:
    """Return the time arguments of `create_event`. A UTC offset is a part of the time.

    An all-day event has a time zone only if it recurs.
    """
    name = controls.option("start.timeZone").value if when.all_day else when.zone
    name = name if recurs or not when.all_day else ""
    time_zone = None if not name or inputs.read_offset(name) else name
    end_name = (when.end_zone if recurs or not when.all_day else "") or name
    is_named = end_name != name and not inputs.read_offset(end_name)
    original, original_zone = controls.option("originalStartTime").value or (None, "")
    if not original_zone and isinstance(original, datetime) and not when.all_day:
        original_zone = when.zone
    return {
        "start": inputs.argument_time(when.start, name, time_zone),
        "end": inputs.argument_time(when.end, end_name, end_name if is_named else time_zone),
        "time_zone": time_zone,
        "end_time_zone": end_name if is_named else None,
        "original_start_time": inputs.argument_time(original, original_zone, time_zone),
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


def _missing_times(controls: EventControls, when: inputs.When, other: Mapping[str, Any]) -> Iterator[FieldProblem]:
    for name, field, day, clock, moment in (
        ("start", controls.when.starts_field, controls.when.first.value, controls.when.begins.value, when.start),
        ("end", controls.when.ends_field, controls.when.last.value, controls.when.ends.value, when.end),
    ):
        if moment is None and name not in other:
            missing = "a date" if day is None else "a time" if clock is None else "an earlier date"
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
    return inputs.aware_moment(moment, zone) or moment.replace(tzinfo=UTC)


def _series(lines: list[str], start: Start | None, end: Start | None) -> Series | None:
    """Return the series, or None without a recurrence or with an invalid time or line."""
    if not lines or start is None or end is None or duration(start, end) <= timedelta():
        return None
    try:
        series = Series(tuple(lines), start, end)
        next(series.instances(), None)
    except (ValueError, OverflowError):  # the field shows the problem
        return None
    return series
