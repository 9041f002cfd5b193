"""The control that lists times at which all guests of an event are free, and sets the event to one of them."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from functools import partial
from typing import TYPE_CHECKING

import ipywidgets as widgets

from ....core.time_zones import zone, zone_names
from ...current_session import SessionLike, session_or_current
from ...events.free_busy import free_times
from ...widgets.background_task import LatestTask
from ...widgets.field import AUTO_WIDTH, Field, describe, heading, set_visible, small_button
from .controls import EventControls
from .time.start_and_end import When

if TYPE_CHECKING:
    from pandas import DataFrame

_MAX_SLOTS = 8
_WEEK = timedelta(days=7)


class FreeTimes(Field):
    """A button that finds free times in the week from the start of the event, and a list of them.

    The times are those at which the caller and all guests are free. Selecting one sets start and end of the event.
    """

    def __init__(self, controls: EventControls, session: SessionLike) -> None:
        self._event, self._session = controls, session
        self._task = LatestTask(self._show_error)
        self.find = small_button("Find free times", "List times at which you and all guests are free", self._find)
        self.slots = widgets.Dropdown(**describe("Select", "Set start and end to this time"), style=AUTO_WIDTH)
        self.slots.observe(lambda _change: self._take(), "value")
        super().__init__(heading("Free times"), self.find, self.slots)
        set_visible(self.slots, False)

    def _find(self) -> None:
        session, when = session_or_current(self._session), self._event.when.value
        name = when.zone if when.zone in zone_names() else self._event.calendar.time_zone
        now = session.clock.now()
        day = datetime.combine(when.first or now, time(), zone(name))
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
        set_visible(self.slots, bool(options))
        self.show_hint("" if options else "There is no common free time in the next 7 days.")

    def _show_error(self, error: Exception) -> None:
        self.show_hint("")
        self.show_problems([str(error)])

    def _take(self) -> None:
        if self.slots.value:
            start, end, name = self.slots.value
            self._event.when.value = When(False, start.date(), start.time(), end.date(), end.time(), name)
