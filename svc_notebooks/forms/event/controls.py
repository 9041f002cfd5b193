"""All controls of the event form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ...core.events.series import Series
from ...core.time_zones import zone
from ...notebook.html import tag
from ..recurrence.builder import RecurrenceBuilder
from ..recurrence.month_calendars import RecurrencePreview
from ..widgets.field import EditableRows, Field, MoreOptions, set_visible
from .attendee_rows import AttachmentRows, AttendeeRows, GuestList, PropertyRows
from .bindings import BINDINGS, FIRST, GUESTS, SECOND, OtherFields
from .inputs import Binding, CalendarChoice, ColorPicker, SwitchInput
from .start_and_end import TimeChoice, WhenChoice

if TYPE_CHECKING:
    from ...client.session import Session


_ROWS = {row.path: row for row in BINDINGS if row.group not in (FIRST, SECOND)}
"""The rows of the controls in this section. Controls with a name always exist, the others are created when needed."""


class EventMoreOptions(MoreOptions):
    """The rarely used controls of `BINDINGS` in groups, and the JSON text field for all other event fields.

    `named` contains the controls with a name, `guests` are the rows of guests with details.
    """

    def __init__(self, named: Mapping[str, Any], guests: AttendeeRows) -> None:
        self._changed: list[Callable[[], object]] = []
        self._controls: dict[str, Any] = {}
        self._named = {path: control for path, control in named.items() if path in _ROWS}
        self._guests = guests
        self.other_fields = OtherFields()
        super().__init__()
        self._show_groups()

    def reveal(self) -> None:
        """Show all controls if a control is set or has a problem."""
        named = (*self._named.values(), self._guests)
        fields = (*self.fields(), *(field for control in named for field in fields_in(control)))
        if self._count_set() or self.other_fields.text.value or any(field.problems for field in fields):
            self.shown = True

    def _count_set(self) -> int:
        named = sum(control.value not in (None, "", {}, []) for control in (*self._named.values(), self._guests))
        return named + sum(self.value(path) is not None for path in self._controls) + len(self.other_fields.names)

    def show_option(self, path: str, shown: bool) -> None:
        """Show or hide the control of an event path, if the controls exist."""
        if self._controls:
            set_visible(self._controls[path], shown)

    def option(self, path: str) -> Any:
        """Return the control of an event path. Create all controls first if necessary."""
        self._build_controls()
        return self._controls[path]

    def value(self, path: str) -> Any:
        """Return the control value of an event path, or None if the control is not set."""
        value = self._controls[path].value if self._controls else None
        return None if value in ("", {}) else value

    def set(self, path: str, value: Any) -> None:
        """Set a control to a value or None. Raises TypeError, ValueError or TraitError for an unsuitable value."""
        if value is not None or self._controls:
            self.option(path).value = value

    def has_zone(self, path: str) -> bool:
        """Return whether the time zone control of an event path is set and visible."""
        return self.value(path) is not None and self._controls[path].layout.display is None

    def problems(self) -> Iterator[tuple[Field, str]]:
        for control in self._controls.values():
            if isinstance(control, PropertyRows | TimeChoice):
                yield from control.problems()

    def fields(self) -> Iterator[Field]:
        yield self.other_fields
        for control in self._controls.values():
            yield from fields_in(control)

    def watch(self, changed: Callable[[], object]) -> None:
        self._changed.append(changed)
        for control in (self.other_fields, *self._controls.values()):
            control.watch(changed)

    def _build_controls(self) -> None:
        if self._controls:
            return
        self._controls = {path: row.make(row) for path, row in _ROWS.items() if not row.name}
        for control in self._controls.values():
            for changed in self._changed:
                control.watch(changed)
        self._show_groups()

    def _show_groups(self) -> None:
        """Show the controls that exist, each below the heading of its group."""
        groups: dict[str, list[widgets.Widget]] = {}
        for path, row in _ROWS.items():
            control = self._named.get(path) or self._controls.get(path)
            if control is not None:
                groups.setdefault(row.group, []).append(control)
        groups[GUESTS].insert(0, self._guests)
        sections = [part for group, parts in groups.items() for part in (_heading(group), _box(parts))]
        self.box.children = [*sections, _heading("Other fields"), self.other_fields]


def fields_in(part: widgets.Widget) -> Iterator[Field]:
    """Yield `part` itself if `part` is a field, otherwise all fields inside `part`."""
    if isinstance(part, Field):
        yield part
        return
    for child in getattr(part, "children", ()):
        yield from fields_in(child)


def _box(parts: list[widgets.Widget]) -> widgets.VBox:
    box = widgets.VBox(parts)
    box.add_class("svc-group")
    for part in parts:
        if isinstance(part, EditableRows | ColorPicker):
            part.add_class("svc-wide")
    return box


def _heading(text: str) -> widgets.HTML:
    return widgets.HTML(tag("h4", text, class_="svc-head"))


_ALIASES = {"timeMax": "end", "timeZone": "start.timeZone", "time_zone": "start.timeZone"}


class EventControls(widgets.VBox):  # type: ignore[misc]
    """All controls of the event form, as attributes that are named in `BINDINGS`. `more` has all other controls."""

    when: WhenChoice
    repeats: RecurrenceBuilder
    attendees: GuestList
    conference: SwitchInput
    attachments: AttachmentRows
    calendar: CalendarChoice

    def __init__(self) -> None:
        self.preview = RecurrencePreview()
        self._controls: dict[str, Any] = {row.path: row.make(row) for row in BINDINGS if row.name}
        for row in BINDINGS:
            if row.name:
                setattr(self, row.name, self._controls[row.path])
        self.more = EventMoreOptions(self._controls, self.attendees.details)
        super().__init__([self._column(FIRST), self.preview, self._column(SECOND), self.more])
        self.add_class("svc-areas")

    def _column(self, group: str) -> widgets.VBox:
        box = widgets.VBox([self._controls[row.path] for row in BINDINGS if row.group == group])
        box.add_class(f"svc-{group}")
        return box

    @property
    def other_fields(self) -> OtherFields:
        return self.more.other_fields

    def watch(self, changed: Callable[[], object]) -> None:
        for control in (*self._controls.values(), self.more):
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

    def value(self, row: Binding) -> Any:
        """Return the value of a control, which is None or empty if the control is not set."""
        return self._controls[row.path].value if row.name else self.more.value(row.path)

    def set(self, row: Binding, value: Any) -> None:
        """Set a control to a value or None. Raises TypeError, ValueError or TraitError for an unsuitable value."""
        if row.name:
            self._controls[row.path].value = value
        else:
            self.more.set(row.path, value)

    def field_at(self, path: str | None) -> Field | None:
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
            if row.covers(path) and (not row.path.endswith(".timeZone") or self.more.has_zone(row.path))
        ]
        rows = sorted(covering, key=lambda row: -len(row.path)) or [row for row in BINDINGS if root in row.fields]
        if not rows:
            return None
        control = self._controls[rows[0].path] if rows[0].name else self.more.option(rows[0].path)
        return control.field_at(path)  # type: ignore[no-any-return]

    def fields(self) -> Iterator[Field]:
        for control in (*self._controls.values(), self.attendees.details):
            yield from fields_in(control)
        yield from self.more.fields()

    def update_dependents(self) -> None:
        """Update the controls whose values or visibility depend on the start."""
        self.when.set_end_zone(str(self.more.value("end.timeZone") or ""))
        self.more.show_option("start.timeZone", bool(self.when.all_day.value))
        self.more.update_label()
        day = self.when.value.first
        if day is not None:
            self.repeats.set_start_day(day)

    def show_recurrence(self, lines: Sequence[str], series: Series | None) -> None:
        """Show the recurrence lines, and a preview if there is a series."""
        self.repeats.show_lines(lines)
        self.preview.show(series)
