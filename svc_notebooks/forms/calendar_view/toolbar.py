"""The toolbar of the calendar view: the period, the view, the calendars and the time zone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import ipywidgets as widgets

from ...notebook.html import join_html, tag
from ..widgets.field import AUTO_WIDTH, describe, heading, set_visible
from ..widgets.styles import row
from .period import VIEWS, Period
from .shown_event import calendar_name

if TYPE_CHECKING:
    from ...core.resources.calendars import CalendarListEntry

_BUTTONS = (
    ("previous", "Previous", "Show the previous period", "chevron-left"),
    ("today", "Today", "Show the period of today", ""),
    ("next", "Next", "Show the next period", "chevron-right"),
    ("new", "New event", "Open the event form", "plus"),
    ("refresh", "Refresh", "Reload the events", "refresh"),
)


class CalendarToolbar(widgets.VBox):  # type: ignore[misc]
    """The toolbar. `pressed` is called with the key of a button, with "view", or with "calendars"."""

    def __init__(
        self,
        entries: Sequence[CalendarListEntry],
        chosen: Sequence[CalendarListEntry],
        period: Period,
        pressed: Callable[[str], None],
    ) -> None:
        self.entries = tuple(entries)
        self._pressed, self._updating = pressed, False
        self.buttons = {key: self._button(*rest) for key, *rest in _BUTTONS}
        for key, button in self.buttons.items():
            button.on_click(lambda _button, key=key: pressed(key))
        self.heading, self.zone = widgets.HTML(), widgets.HTML()
        self.view = widgets.RadioButtons(
            options=[(name.capitalize(), name) for name in VIEWS],
            value=period.view,
            orientation="horizontal",
            **describe("View", "Show a month, a week or a day"),
            style=AUTO_WIDTH,
            layout={"width": "auto"},
        )
        self.view.observe(lambda _change: self._changed("view"), "value")
        self.boxes = [self._box(entry, entry in chosen) for entry in entries]
        calendars = widgets.HBox([heading("Calendars"), *self.boxes])
        calendars.add_class("svc-calendars")
        set_visible(calendars, len(entries) > 1)
        buttons = self.buttons
        head = row(buttons["previous"], buttons["today"], buttons["next"], self.heading)
        tools = row(self.view, buttons["new"], buttons["refresh"], self.zone)
        super().__init__([head, tools, calendars])
        self.add_class("svc-calendar-toolbar")

    @property
    def chosen(self) -> tuple[CalendarListEntry, ...]:
        """The entries of the selected calendars."""
        return tuple(entry for entry, box in zip(self.entries, self.boxes, strict=True) if box.value)

    def show(self, period: Period, zone_text: str) -> None:
        """Show the title and the view of a period, and the time zone."""
        self._updating = True
        self.view.value = period.view
        self._updating = False
        self.heading.value = tag("p", tag("b", period.title), class_="svc-title", role="status")
        self.zone.value = tag("p", zone_text, class_="svc-quiet")

    def _changed(self, key: str) -> None:
        if not self._updating:
            self._pressed(key)

    def _button(self, text: str, tooltip: str, icon: str) -> widgets.Button:
        return widgets.Button(description=text, tooltip=tooltip, icon=icon)

    def _box(self, entry: CalendarListEntry, value: bool) -> widgets.Checkbox:
        swatch = tag("span", class_="svc-swatch", style=f"background: {entry.get('backgroundColor') or '#8c8c8c'}")
        box = widgets.Checkbox(
            value=value,
            description=join_html(swatch, calendar_name(entry)),
            description_allow_html=True,
            indent=False,
            layout={"width": "auto"},
        )
        box.observe(lambda _change: self._changed("calendars"), "value")
        return box
