"""The simple controls of the event form, which are created from rows of `BINDINGS`, and those for start and end."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

import ipywidgets as widgets

from ...client.events.events import list_calendars
from ...client.session import Session
from ...core.errors.errors import SvcError
from ...core.events.event_times import read_time
from ...core.events.rrule import Start
from ...core.http.messages import JSON, JSONObject
from ...core.resources.calendars import EVENT_COLORS
from ...core.times import UTC_NAME, zone, zone_names
from ...notebook.display import count_text
from ...notebook.events.body import moment_text, offset_text
from ..recurrence import shifted
from ..widgets import ui

_OFFSET = re.compile(r"[+-]([01]\d|2[0-3]):[0-5]\d", re.ASCII)


def read_offset(text: str) -> tzinfo | None:
    """Convert a UTC offset such as +05:30 to a time zone. Return None for any other text.

    >>> read_offset("+05:30"), read_offset("Europe/Berlin")
    (datetime.timezone(datetime.timedelta(seconds=19800)), None)
    """
    return datetime.strptime(text, "%z").tzinfo if _OFFSET.fullmatch(text) else None


def aware_moment(moment: date | datetime | None, text: str) -> datetime | None:
    """Add a time zone to a local time. Return None for a date, for None and for an unknown zone."""
    if not isinstance(moment, datetime):
        return None
    try:
        aware = moment.replace(tzinfo=read_offset(text) or zone(text))
        aware.astimezone(UTC)
    except (ValueError, OverflowError):  # the person has not finished typing a zone or a year
        return None
    return aware


def argument_time(moment: date | datetime | None, text: str, time_zone: str | None) -> Any:
    """Convert a date or a local time in the zone `text` to an argument of `create_event`, such as `start`.

    `time_zone` is another argument of the same call. Returns a str if `create_event` then uses the right zone,
    otherwise a dict (a time object of the interface). Returns None for None.

    >>> argument_time(datetime(2026, 11, 2, 10), "Europe/Berlin", "Europe/Berlin")
    '2026-11-02 10:00'
    >>> argument_time(datetime(2026, 11, 2, 10), "+01:00", None)
    '2026-11-02 10:00+01:00'
    >>> argument_time(datetime(2026, 11, 2, 10), "Asia/Tokyo", "Europe/Berlin")
    {'dateTime': '2026-11-02T10:00:00', 'timeZone': 'Asia/Tokyo'}
    """
    if moment is None:
        return None
    moment_as_text = moment_text(moment)
    if text == (time_zone or ""):
        return moment_as_text
    if not isinstance(moment, datetime):
        return {"date": moment_as_text, **({"timeZone": text} if text else {})}
    if offset := read_offset(text):
        # create_event sends a time in UTC with UTC as its time zone
        as_text = time_zone is None and offset.utcoffset(None)
        return moment_as_text + text if as_text else {"dateTime": moment.isoformat() + text}
    return {"dateTime": moment.isoformat(), "timeZone": text} if text else moment_as_text


def wire_time(argument: Any, time_zone: str | None) -> JSON:
    """Convert an argument such as `start` to a time object of the interface. An unknown time zone is kept.

    >>> wire_time("2026-11-02 16:00", "Mars/Olympus")
    {'dateTime': '2026-11-02T16:00:00', 'timeZone': 'Mars/Olympus'}
    """
    if not isinstance(argument, str):
        return argument  # type: ignore[no-any-return]
    if " " in argument:
        body: JSONObject = {"dateTime": datetime.fromisoformat(argument).isoformat()}
    else:
        body = {"date": argument}
    return {**body, "timeZone": time_zone} if time_zone else body


def wire_moment(value: Any) -> Start | None:
    """Convert a time object to a date or an aware datetime. Return None if the time object is invalid."""
    try:
        return read_time(value)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def read_wire_time(value: Any) -> tuple[date | datetime, str]:
    """Convert a time object to a date or a local time, and the text of its time zone.

    Raises ValueError or TypeError for an invalid time object.

    >>> read_wire_time({"dateTime": "2026-11-02T10:00:00+01:00"})
    (datetime.datetime(2026, 11, 2, 10, 0), '+01:00')
    """
    moment = read_time(value)
    name = value.get("timeZone")
    if not isinstance(moment, datetime):
        return moment, name or ""
    if name:
        return moment.astimezone(zone(name)).replace(tzinfo=None), name
    return moment.replace(tzinfo=None), moment.isoformat(timespec="seconds")[19:]


def matching_zones(text: str, names: Iterable[str]) -> list[str]:
    """Return the zone names that contain every word of the text. Return an empty list for an empty text.

    An exact match comes first, then the names in which a word begins with the first word of the text, then all others.

    >>> matching_zones("new york", ["America/New_York", "Europe/Berlin"])
    ['America/New_York']
    """
    words = _words(text)
    matches = [name for name in names if words and all(word in " ".join(_words(name)) for word in words)]

    def rank(name: str) -> tuple[bool, bool, str]:
        return _words(name) != words, not any(word.startswith(words[0]) for word in _words(name)), name

    return sorted(matches, key=rank)


def _words(text: str) -> list[str]:
    """Return the words of a zone name or of a typed text, without capital letters and accents."""
    letters = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    return re.findall("[^ _/-]+", letters)


class ZoneChoice(ui.SingleField):
    """A text field for a time zone, with a list of all zones. A part of a name becomes the first zone that has it."""

    def __init__(
        self,
        label: str = "Time zone",
        tooltip: str = "A name such as Europe/Berlin, or a part of it, as in berlin or new york",
        hint: str = "berlin, new york, utc …",
    ) -> None:
        traits = {"continuous_update": False, "style": ui.LABEL, **ui.describe(label, tooltip)}
        super().__init__(widgets.Combobox(options=sorted(zone_names()), placeholder=hint, **traits), read=str.strip)
        ui.on_change(self._complete, self.control)

    def _complete(self) -> None:
        if self.value not in zone_names() and not read_offset(self.value):
            self.control.value = next(iter(matching_zones(self.value, zone_names())), self.control.value)


_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)

_FROM = "The first day of the event"
_TO = "The last day of the event"


@dataclass(frozen=True, slots=True)
class When:
    """The selected start and end of an event. The end is exclusive.

    Both are dates for an all-day event, otherwise local times without a zone, and None if the date or the time is
    missing. A zone is an IANA name or an offset such as +01:00. `end_zone` is empty if both have the same zone.
    """

    all_day: bool
    start: date | datetime | None
    end: date | datetime | None
    zone: str
    end_zone: str = ""


def _combine(day: date | None, clock: time | None) -> datetime | None:
    return datetime.combine(day, clock) if day is not None and clock is not None else None


class WhenChoice(widgets.VBox):  # type: ignore[misc]
    """The controls for start and end. The end moves with the start until a person sets the end."""

    def __init__(self) -> None:
        self._updating = self._end_is_set = False
        self._last_start: datetime | None = None
        self.end_zone = ""
        self.all_day = ui.checkbox("All day", "An event of whole days")
        self.first, self.begins = _date_picker("Start", _FROM), _time_picker("The time of the start")
        self.last, self.ends = _date_picker("End", _TO), _time_picker("The time of the end")
        self.starts_field = ui.Field(self.first, self.begins, self.all_day)
        self.ends_field = ui.Field(self.last, self.ends)
        self.zone = ZoneChoice()
        super().__init__([self.starts_field, self.ends_field, self.zone])
        ui.on_change(self._move_end, self.first, self.begins)
        ui.on_change(self._keep_end, self.last, self.ends)
        self.watch(self._update_visibility)

    def begin(self, start: datetime, zone_name: str) -> None:
        """Set the start to this local time, and the end to one hour later."""
        self.value = When(False, start, start + _HOUR, zone_name)
        self._end_is_set = False

    @property
    def value(self) -> When:
        first, last = self.first.value, self.last.value
        if self.all_day.value:
            beyond = last + _DAY if last and last < date.max else None
            return When(True, first, beyond, self.zone.value, self.end_zone)
        start, end = _combine(first, self.begins.value), _combine(last, self.ends.value)
        return When(False, start, end, self.zone.value, self.end_zone)

    @value.setter
    def value(self, when: When) -> None:
        self._updating = self._end_is_set = True
        self.all_day.value = when.all_day
        self.end_zone, self.zone.value = when.end_zone, when.zone
        if isinstance(when.start, datetime) and isinstance(when.end, datetime):
            self.first.value, self.begins.value = when.start.date(), when.start.time()
            self.last.value, self.ends.value = when.end.date(), when.end.time()
        else:
            self.first.value, self.last.value = when.start, when.end and when.end - _DAY
        self._updating = False
        self._last_start = self._start()
        self._update_visibility()

    def watch(self, changed: Callable[[], object]) -> None:
        ui.on_change(changed, self.all_day, self.first, self.begins, self.last, self.ends)
        self.zone.watch(changed)

    def field_at(self, path: str) -> ui.Field:
        """Return the field that shows the problems of this event path."""
        if path.endswith(".timeZone"):
            return self.zone
        return self.starts_field if path.startswith("start") else self.ends_field

    def set_end_zone(self, name: str) -> None:
        """Set the time zone of the end. An empty name stands for the start's zone."""
        if name != self.end_zone:
            self.end_zone = name
            self._update_visibility()

    def _start(self) -> datetime | None:
        return _combine(self.first.value, self.begins.value)

    def _keep_end(self) -> None:
        self._end_is_set = self._end_is_set or not self._updating

    def _move_end(self) -> None:
        start, end, before = self._start(), _combine(self.last.value, self.ends.value), self._last_start
        if self._updating or self._end_is_set or start is None or before is None or end is None:
            self._last_start = start or before
            return
        moved = shifted(end, start - before)
        if moved is not None:  # otherwise a year is still being typed
            self._last_start, self._updating = start, True
            self.last.value, self.ends.value = moved.date(), moved.time()
            self._updating = False

    def _update_visibility(self) -> None:
        when = self.value
        for clock in (self.begins, self.ends):
            ui.set_visible(clock, not when.all_day)
        ui.set_visible(self.zone, not when.all_day)
        start = aware_moment(when.start, when.zone)
        self.zone.show_hint(f"UTC{offset_text(start)} at the start" if start else "")
        self.ends_field.show_hint(_length_text(when))


def _length_text(when: When) -> str:
    """Return the length of the event as text, or an empty text if it is unknown or not positive."""
    start, end = when.start, when.end
    if start is None or end is None:
        return ""
    if when.all_day:
        days = (end - start) // _DAY
        return f"{count_text(days, 'day')}; the end is sent as {end}, which is exclusive" if days > 0 else ""
    begins, ends = aware_moment(start, when.zone), aware_moment(end, when.end_zone or when.zone)
    exact = ends.astimezone(UTC) - begins.astimezone(UTC) if begins and ends else end - start
    there = f"; the end is in {when.end_zone}" if when.end_zone else ""
    if exact <= timedelta():
        return ""
    hours, minutes = divmod(round(exact / timedelta(minutes=1)), 60)
    return " ".join([*([f"{hours} h"] if hours else []), *([f"{minutes} min"] if minutes or not hours else [])]) + there


class TimeChoice(widgets.VBox):  # type: ignore[misc]
    """The controls for an optional date with an optional time. A time without a zone has the zone of the event."""

    def __init__(self, label: str, tooltip: str) -> None:
        self.day, self.clock = _date_picker(label, tooltip), _time_picker("The time of day; empty: the whole day")
        self.field = ui.Field(self.day, self.clock)
        self.zone = ZoneChoice(f"{label} zone", "Its time zone; empty: that of the event", "same as the event")
        super().__init__([self.field, self.zone])

    @property
    def value(self) -> Any:
        """The local datetime, or without a time the date, and its time zone text. None if no date is set."""
        day = self.day.value
        return (_combine(day, self.clock.value) or day, self.zone.value) if day is not None else None

    @value.setter
    def value(self, value: JSON) -> None:
        moment, self.zone.value = read_wire_time(value) if value is not None else (None, "")
        self.day.value = moment.date() if isinstance(moment, datetime) else moment
        self.clock.value = moment.time() if isinstance(moment, datetime) else None

    def watch(self, changed: Callable[[], object]) -> None:
        ui.on_change(changed, self.day, self.clock)
        self.zone.watch(changed)

    def field_at(self, path: str) -> ui.Field:
        """Return the field that shows the problems of this event path."""
        return self.zone if path.endswith(".timeZone") else self.field

    def own_problems(self) -> Iterator[tuple[ui.Field, str]]:
        """Yield a problem if a time or a zone is set, but no date."""
        if self.day.value is None and (self.clock.value is not None or self.zone.value):
            yield self.field, "Enter a date, or clear the time and its zone."


def _date_picker(label: str, tooltip: str) -> widgets.DatePicker:
    return widgets.DatePicker(**ui.describe(label, tooltip), style=ui.LABEL)


def _time_picker(tooltip: str) -> widgets.TimePicker:
    return widgets.TimePicker(**ui.describe("at", tooltip), style=ui.AUTO_WIDTH)


PRIMARY = "primary"
_WRITABLE = ("owner", "writer", "writerWithoutPrivateAccess")
Choices = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Binding:
    """A row of `BINDINGS`, which describes a control of the event form.

    Attributes:
        group: FIRST or SECOND for the two columns of the form, otherwise a heading under "More options".
        path: The event field or the query parameter. Several fields are separated by spaces.
        argument: The argument of `create_event`. "source.url" is the key `url` of the argument `source`, which is a
            dict. The argument is empty if only several controls together make an argument.
        make: Creates the control.
        label, help, hint: The label, the tooltip and the placeholder.
        values: The texts and values to select from, with the default first.
        name: The attribute of `EventControls`, if the form uses the control by name.
        to_argument: Converts the value of the control to the value of the argument.
        from_field: Converts the value of the event field to the value of the control.
    """

    group: str
    path: str
    argument: str
    make: Callable[[Binding], Any]
    label: str
    help: str = ""
    hint: str = ""
    values: Choices = ()
    name: str = ""
    to_argument: Callable[[Any], Any] = lambda value: value
    from_field: Callable[[Any], Any] = lambda value: value

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the event fields that the control sets, or the name of the query parameter."""
        return tuple(path.partition(".")[0] for path in self.path.split())

    def covers(self, path: str) -> bool:
        """Return whether an argument name or event path, such as gadget or gadget.title, belongs to this control."""
        return path == self.argument or any(re.match(rf"{re.escape(own)}($|[.\[])", path) for own in self.path.split())


def free_text(row: Binding) -> ui.SingleField:
    """Create a text field whose value is the text as it is. "" means that the field is absent (`_EMPTY` of form.py)."""
    return ui.SingleField(ui.text_field(row.label, row.help))


def short_text(row: Binding) -> ui.SingleField:
    """Create a text field whose value is the text without surrounding spaces, or None if the text is empty."""
    return ui.SingleField(ui.text_field(row.label, row.help, hint=row.hint), read=lambda text: text.strip() or None)


def number(row: Binding) -> ui.SingleField:
    """Create a field for a whole number. Its value is an int, any other text for the validation, or None if empty."""
    control = ui.text_field(row.label, row.help, hint=row.hint).add_class("svc-number")
    return ui.SingleField(control, read=whole_number, write=lambda value: str(require_whole_number(value)))


def require_whole_number(value: Any) -> int | None:
    """Return an int or None unchanged. Raises TypeError for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | None):
        raise TypeError("expected a whole number")
    return value


def whole_number(text: str) -> int | str | None:
    """Convert a text to an int. Return any other text without surrounding spaces, and None for an empty text.

    >>> whole_number(" 3 "), whole_number("three"), whole_number("")
    (3, 'three', None)
    """
    text = text.strip()
    try:
        return int(text) if text else None
    except ValueError:
        return text


def switch(row: Binding) -> ui.SingleField:
    """Create a checkbox whose text is the hint of the row. Its value is True if it is checked, otherwise None."""
    control = ui.checkbox(row.hint, row.help)
    return ui.SingleField(control, ui.heading(row.label), read=lambda on: on or None, write=bool)


def selection(row: Binding) -> ui.SingleField:
    """Create a list of values. Its value is None while the first one, which is the default, is selected."""
    return _selection(ui.dropdown(row.label, row.help, row.values))


def _selection(control: Any) -> ui.SingleField:
    default, known = control.value, [value for _, value in control.options]
    return ui.SingleField(
        control,
        read=lambda value: None if value == default else value,
        write=lambda value: value if value in known else default,
    )


class PropertyLines(ui.Field):
    """A text area with a property as name=value in each line. `value` has the values by name."""

    def __init__(self, row: Binding) -> None:
        self.text = ui.text_area(row.label, row.help, hint="name=value", rows=2)
        super().__init__(self.text)

    @property
    def value(self) -> dict[str, str]:
        return {name: value for name, value in self._pairs() if name}

    @value.setter
    def value(self, value: Mapping[str, Any] | None) -> None:
        """Set the lines. Raises ValueError for a name or a value that a line cannot have."""
        self.text.value = "\n".join(f"{name}={text}" for name, text in (value or {}).items())
        if self.value != (value or {}):
            raise ValueError("a line cannot have this name or value")

    def own_problems(self) -> Iterator[tuple[ui.Field, str]]:
        """Yield a problem if a line has no name, or the name of another line."""
        names = [name for name, _ in self._pairs()]
        if "" in names:
            yield self, "Enter each property as name=value in a line of its own."
        if repeated := next((name for name in names if name and names.count(name) > 1), None):
            yield self, f"{repeated} has several lines. Remove all but one of them."

    def _pairs(self) -> list[tuple[str, str]]:
        """Return the name and the value of each line. The name is empty if the line has none."""
        parts = [line.partition("=") for line in self.text.value.splitlines() if line.strip()]
        return [(name.strip() if equals else "", value) for name, equals, value in parts]


def permission(row: Binding) -> ui.SingleField:
    """Create a checkbox for a permission of guests. Its value is None for the default, which the row has."""
    [(_, default)] = row.values
    control = ui.checkbox(row.hint, row.help, value=default)
    return ui.SingleField(control, ui.heading(row.label), read=lambda on: None if on == default else on, write=bool)


def color_picker(row: Binding) -> ui.SingleField:
    """Create a choice of the event color. Arrow keys and screen readers work, because it has radio buttons."""
    colors = [("Default", ""), *((color.name, key) for key, color in EVENT_COLORS.items())]
    field = _selection(ui.radio_buttons(row.label, row.help, colors, "svc-colours", **ui.IN_A_ROW))
    field.add_class("svc-wide")
    return field


def chip_styles() -> str:
    """Return the CSS rules of the color picker. The first button is the default and has no color."""
    chip = ".svc-event .svc-colours .widget-radio-box label:nth-of-type"
    colors = enumerate(EVENT_COLORS.values(), start=2)
    return "\n".join(f"{chip}({n}) {{ --svc-chip: {color.background}; }}" for n, color in colors)


class CalendarChoice(ui.Field):
    """A list of the calendars that the user can write to. `value` is None for the primary calendar."""

    def __init__(self, row: Binding) -> None:
        self._zones: dict[str, str] = {}
        self.chooser = ui.dropdown(row.label, row.help, [("Primary", PRIMARY)])
        super().__init__(self.chooser)

    @property
    def value(self) -> str | None:
        selected = str(self.chooser.value)
        return None if selected == PRIMARY else selected

    @property
    def time_zone(self) -> str:
        """The time zone of the selected calendar, or UTC if the calendars were not read."""
        return self._zones.get(str(self.chooser.value), UTC_NAME)

    def read(self, session: Session) -> None:
        """Fill the list of calendars, and keep the selection. Show a service error as a hint."""
        try:
            rows = [calendar for calendar in list_calendars(session) if calendar.get("accessRole") in _WRITABLE]
        except SvcError as error:
            self.show_hint(f"The calendars cannot be listed: {error}")
            return
        calendars = {PRIMARY if row.get("primary") else str(row["id"]): row for row in rows}
        self._zones = {key: str(row.get("timeZone") or UTC_NAME) for key, row in calendars.items()}
        others = [(str(row.get("summary") or row["id"]), key) for key, row in calendars.items() if key != PRIMARY]
        ui.replace_options(self.chooser, [("Primary", PRIMARY), *others])
