"""All controls of the event form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import ipywidgets as widgets

from ....core.time_zones import zone
from ...events.recurrence_plan import RecurrencePlan
from ...widgets.field import Field, SingleField, checkbox, heading, text_area, text_field
from ..recurrence.builder import RecurrenceBuilder
from ..recurrence.preview import RecurrencePreview
from .attachment_rows import AttachmentRows
from .attendee_rows import AttendeeRows
from .calendar_choice import CalendarChoice
from .choices import GuestSwitches, invitations, transparency, visibility
from .color_picker import ColorPicker
from .more_options import EventMoreOptions, fields_in
from .other_fields import OtherFields
from .reminder_rows import ReminderRows
from .time.start_and_end import WhenChoice

if TYPE_CHECKING:
    from ....client.session import Session


class EventControls(widgets.VBox):  # type: ignore[misc]
    """The controls, with a label and a tooltip each."""

    def __init__(self) -> None:
        self.summary, self.calendar = _text("Title", "What the event is called"), CalendarChoice()
        self.when = WhenChoice()
        self.repeats, self.preview = RecurrenceBuilder(), RecurrencePreview()
        self.location = _text("Place", "Where it is, in your own words")
        self.conference = SingleField(
            checkbox("with a video conference", "The service makes one and puts its link into the event"),
            heading("Meet"),
        )
        self.attendees, self.guests_may, self.invitations = AttendeeRows(), GuestSwitches(), invitations()
        self.description = SingleField(text_area("Description", "What else there is to say"))
        self.reminders, self.attachments, self.color = ReminderRows(), AttachmentRows(), ColorPicker()
        self.visibility, self.transparency = visibility(), transparency()
        self.more = EventMoreOptions()
        first = (self.summary, self.when, self.repeats)
        second = (
            *(self.location, self.conference, self.attendees, self.guests_may, self.invitations, self.description),
            *(self.reminders, self.attachments, self.color, self.visibility, self.transparency),
            self.calendar,
        )
        self.parts = (*first, *second, self.more)
        areas = [_box("svc-first", *first), self.preview, _box("svc-second", *second), self.more]
        super().__init__(areas)
        self.add_class("svc-areas")

    def watch(self, changed: Callable[[], None]) -> None:
        """Call this whenever anything is different."""
        for part in self.parts:
            part.watch(changed)

    def read(self, session: Session) -> None:
        """See which files and calendars there are now."""
        self.attachments.read(session)
        self.calendar.read(session)

    def begin(self, now: datetime) -> None:
        """Propose the next full hour, in the zone of the calendar."""
        zone_name = self.calendar.time_zone
        now_local = now.astimezone(zone(zone_name)).replace(minute=0, second=0, microsecond=0, tzinfo=None)
        self.when.begin(now_local + timedelta(hours=1), zone_name)

    @property
    def other_fields(self) -> OtherFields:
        """The JSON of the fields without a control."""
        return self.more.other_fields

    def update_dependents(self) -> None:
        """What depends on the start goes with it, unless somebody has set it."""
        self.when.set_end_zone(str(self.more.value("end.timeZone") or ""))
        self.more.show_option("start.timeZone", bool(self.when.all_day.value))
        self.more.update_label()
        day = self.when.value.first
        if day is not None:
            self.repeats.set_start_day(day)

    def show_recurrence(self, lines: Sequence[str], plan: RecurrencePlan | None) -> None:
        """Show the lines of the recurrence, and what they come to."""
        self.repeats.show_lines(lines)
        self.preview.show(plan)

    def fields(self) -> Iterator[Field]:
        """All that something can be said beside."""
        for part in self.parts:
            yield from part.fields() if part is self.more else fields_in(part)


def _box(name: str, *parts: widgets.Widget) -> widgets.VBox:
    box = widgets.VBox(parts)
    box.add_class(name)
    return box


def _text(label: str, tooltip: str) -> SingleField:
    return SingleField(text_field(label, tooltip))
