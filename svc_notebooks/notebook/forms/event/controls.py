"""All controls of the event form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ....core.events.series import Series
from ....core.time_zones import zone
from ...widgets.field import Field
from ..recurrence.builder import RecurrenceBuilder
from ..recurrence.preview import RecurrencePreview
from .attachment_rows import AttachmentRows
from .bindings import BINDINGS, FIRST, SECOND
from .guest_list import GuestList
from .inputs import Binding, CalendarChoice, SwitchInput
from .more_options import EventMoreOptions, fields_in
from .other_fields import OtherFields
from .time.start_and_end import WhenChoice

if TYPE_CHECKING:
    from ....client.session import Session

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

    def watch(self, changed: Callable[[], None]) -> None:
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
