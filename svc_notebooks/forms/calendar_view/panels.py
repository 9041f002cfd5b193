"""The toolbar, the grid of days and hours, and the panels that the calendar view shows over its grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets

from ...core.resources.calendars import CalendarListEntry
from ...notebook.html import Markup, join_html, tag
from ..widgets import ui
from ..widgets.dialogs import Dialog, Question
from .listing import VIEWS, Period, calendar_name


class Panel(Dialog):
    """A panel over the grid."""

    def __init__(self, label: str, *parts: widgets.Widget) -> None:
        super().__init__(*parts)
        self.label = label
        self.add_class("svc-over-grid")

    def _show(self, *lines: Markup) -> None:
        self.ask_with(tag("div", *lines, role="group", aria_label=self.label, class_="svc-asked"))


class EventPanel(Panel):
    """The details of an event, with buttons to edit, delete and close."""

    def __init__(self, edit: Callable[[], None], delete: Callable[[], None], close: Callable[[], None]) -> None:
        self.edit = ui.button("Edit", "Change the fields of this event", edit, "primary")
        self.delete = ui.button("Delete", "Delete this event", delete, "danger")
        self.close_button = ui.button("Close", "Close the details", close, css="svc-cancel")
        super().__init__("Event", ui.row(self.edit, self.delete, self.close_button))

    def show(self, title: str, facts: Mapping[str, object], *, editable: bool) -> None:
        """Show the facts of an event that have a value."""
        lines = [tag("tr", tag("th", name, scope="row"), tag("td", value)) for name, value in facts.items() if value]
        table = tag("table", tag("tbody", join_html(*lines)), class_="svc-facts")
        ui.set_visible(self.edit, editable)
        ui.set_visible(self.delete, editable)
        self._show(tag("p", tag("b", title), role="status"), tag("div", table, class_="svc-rows"))
        (self.edit if editable else self.close_button).focus()


ASK_GUESTS = "Send updates to guests?"
SEND_UPDATES = {
    "all": ("Send", "Send updates to all guests"),
    "none": ("Don't send", "Save the change, and send nothing to the guests"),
}
"""The answers to the question whether the guests of an event are told, as values of `send_updates`."""


class ChoiceQuestion(Question):
    """A question over the grid, with a button for each choice."""

    def __init__(
        self, label: str, choices: Mapping[str, tuple[str, ...]], answered: Callable[[str | None], None]
    ) -> None:
        super().__init__(answered, choices, "Change nothing")
        self.label = label
        self.add_class("svc-over-grid")

    def ask(self, question: str, *notes: str, refused: Sequence[str] = ()) -> None:
        """Show the question, with only the choices that are not `refused`, and focus the first button."""
        for key, choice in self.buttons.items():
            ui.set_visible(choice, key not in refused)
        lines = tag("p", tag("b", question), role="alert"), *(tag("p", note) for note in notes)
        self.ask_with(tag("div", *lines, role="group", aria_label=self.label, class_="svc-asked"))
        next(iter(self.buttons.values())).focus()


class NewEventPanel(Panel):
    """The title and the calendar of a new event.

    The browser sends the title with each press of Create and "More options", and of Enter in the title.
    """

    def __init__(self, create: Callable[[], None], more: Callable[[], None], cancel: Callable[[], None]) -> None:
        self.summary = ui.text_field("Title", "The title of the event")
        self.calendar = ui.dropdown("Calendar", "The calendar of the event")
        self.create = ui.button("Create", "Create the event", create, "primary", css="svc-create")
        self.more = ui.button("More options", "Open the event form with these times", more, css="svc-new-more")
        self.cancel = ui.cancel_button("Create nothing", cancel)
        fields = widgets.VBox([ui.Field(self.summary), self.calendar])
        fields.add_class("svc-fields")
        super().__init__("New event", fields, ui.row(self.create, self.more, self.cancel))
        self.add_class("svc-new-event")

    def ask(self, times: str, calendars: Sequence[tuple[str, str]], selected: str) -> None:
        """Show the times of the new event, and focus the title."""
        self.summary.value = ""
        self.calendar.options = [*calendars]
        self.calendar.value = selected
        ui.set_visible(self.calendar, len(calendars) > 1)
        self._show(tag("p", tag("b", "New event"), tag("br"), times))
        self.summary.focus()


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
        self.buttons = {
            key: ui.button(text, tooltip, partial(pressed, key), icon=icon) for key, text, tooltip, icon in _BUTTONS
        }
        self.heading, self.zone = widgets.HTML(), widgets.HTML()
        views = [(name.capitalize(), name) for name in VIEWS]
        self.view = ui.radio_buttons(
            "View",
            "Show a month, a week or a day",
            views,
            value=period.view,
            orientation="horizontal",
            style=ui.AUTO_WIDTH,
            layout={"width": "auto"},
        )
        ui.on_change(lambda: self._changed("view"), self.view)
        self.boxes = [self._box(entry, entry in chosen) for entry in entries]
        calendars = widgets.HBox([ui.heading("Calendars"), *self.boxes])
        calendars.add_class("svc-calendars")
        ui.set_visible(calendars, len(entries) > 1)
        buttons = self.buttons
        head = ui.row(buttons["previous"], buttons["today"], buttons["next"], self.heading)
        tools = ui.row(self.view, buttons["new"], buttons["refresh"], self.zone)
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

    def _box(self, entry: CalendarListEntry, value: bool) -> widgets.Checkbox:
        swatch = tag("span", class_="svc-swatch", style=f"background: {entry.get('backgroundColor') or '#8c8c8c'}")
        box = ui.checkbox(join_html(swatch, calendar_name(entry)), "Show the events of this calendar", value=value)
        ui.on_change(lambda: self._changed("calendars"), box)
        return box


_FOLDER = Path(__file__).parent
_SCRIPTS = ("grid_dates.js", "grid_layout.js", "grid_cells.js", "grid_drag.js", "grid_keys.js", "grid.js")
"""The parts of the script. The browser gets them as one module, so they share their names."""


class GridWidget(anywidget.AnyWidget):
    """A month of weeks, or days of half hours. `state` is what the browser shows.

    `handler` is called with the messages of a person's actions. A message is a dict. Its `kind` is "open", "change" or
    "delete" (of the event `key`), "create" (between two days), "title" (of the new event, and what was pressed), "go"
    (`by` periods) or "day" (to show one day).

    >>> GridWidget()
    <GridWidget: 0 events>
    """

    _esm = "\n".join((_FOLDER / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    _css = (_FOLDER / "calendar_grid.css").read_text(encoding="utf-8")

    state = traitlets.Dict(help="the period and its events").tag(sync=True)

    def __init__(self) -> None:
        super().__init__()
        self._shown = 0
        self.handler: Callable[[Mapping[str, Any]], None] = lambda _message: None
        self.on_msg(lambda _widget, content, _buffers: self.handler(content))

    def show(self, period: dict[str, Any], rows: Sequence[dict[str, Any]]) -> None:
        """Show the rows. The same rows are sent again, so that the browser removes a proposed change."""
        self._shown += 1
        self.state = {**period, "events": [*rows], "shown": self._shown}

    def focus_grid(self) -> None:
        """Move the keyboard focus to the day or the event that had it last."""
        self.send({"kind": "focus"})

    def __repr__(self) -> str:
        return f"<GridWidget: {len(self.state.get('events', ()))} events>"
