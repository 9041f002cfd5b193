"""The control of a time that may be left out: a date, a time of day and a time zone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ....widgets.field import AUTO_WIDTH, LABEL, Field, labelled, on_change
from .local_times import read_wire_time
from .time_zone import ZoneChoice

if TYPE_CHECKING:
    from .....core.http.messages import JSON


class TimeChoice(widgets.VBox):  # type: ignore[misc]
    """A date alone is all day; without a zone, a clock time is in that of the event."""

    def __init__(self, label: str, tooltip: str) -> None:
        self.day = widgets.DatePicker(**labelled(label, tooltip), style=LABEL)
        self.clock = widgets.TimePicker(**labelled("at", "The clock time; empty: the whole day"), style=AUTO_WIDTH)
        self.field = Field(self.day, self.clock)
        self.zone = ZoneChoice("", f"{label} zone", "Its time zone; empty: that of the event", "same as the event")
        super().__init__([self.field, self.zone])

    @property
    def moment(self) -> date | datetime | None:
        """The date, or the clock time without a zone; None while there is no date."""
        day, clock = self.day.value, self.clock.value
        return datetime.combine(day, clock) if day is not None and clock is not None else day

    @property
    def value(self) -> Any:
        """The moment and the name of its zone, or None."""
        return (self.moment, self.zone.value) if self.moment is not None else None

    @value.setter
    def value(self, value: JSON) -> None:
        """Set the controls to a time object of the interface."""
        moment, name = read_wire_time(value) if value is not None else (None, "")
        has_time = isinstance(moment, datetime)
        self.day.value = moment.date() if isinstance(moment, datetime) else moment
        self.clock.value = moment.time() if isinstance(moment, datetime) else None
        self.zone.value = name if has_time or name else ""

    def watch(self, changed: Callable[[], None]) -> None:
        """Call this whenever any of it is different."""
        on_change(changed, self.day, self.clock)
        self.zone.watch(changed)

    def problems(self) -> Iterator[tuple[Field, str]]:
        """A clock time or a zone without a date says nothing."""
        if self.moment is None and (self.clock.value is not None or self.zone.value):
            yield self.field, "Enter a date, or clear the time and its zone."
