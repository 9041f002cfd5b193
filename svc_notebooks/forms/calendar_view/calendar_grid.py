"""The grid of the calendar view, which shows events on days and hours. Without anywidget it is a list of events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Protocol

import ipywidgets as widgets

from ..widgets.field import describe
from .period import GridPeriod


class CalendarGrid(Protocol):
    """A widget that shows the events of a period. `handler` is called with the messages of a person's actions.

    A message is a dict. Its `kind` is "open", "change" or "delete" (of the event `key`), "create" (between two days),
    "title" (of the new event, and what was pressed), "go" (`by` periods) or "day" (to show one day).
    """

    handler: Callable[[Mapping[str, Any]], None]

    def show(self, period: GridPeriod, rows: Sequence[dict[str, Any]]) -> None:
        """Show the rows of events, and no proposed change."""

    def focus_grid(self) -> None:
        """Move the keyboard focus to the day or the event that had it last."""


class PlainCalendar(widgets.Select):  # type: ignore[misc]
    """Implements CalendarGrid without anywidget, as a list of events. The selected event is opened."""

    def __init__(self) -> None:
        super().__init__(rows=12, **describe("Events", "Select an event to open it"))
        self.handler: Callable[[Mapping[str, Any]], None] = lambda _message: None
        self.observe(self._on_selection, "value")
        self._showing = False

    def show(self, period: GridPeriod, rows: Sequence[dict[str, Any]]) -> None:
        self._showing = True
        labels = [(row["label"], row["key"]) for row in rows]
        self.options = [
            (f"{len(rows)} events, {period['title']}" if rows else f"No events, {period['title']}", ""),
            *labels,
        ]
        self.value = ""
        self._showing = False

    def focus_grid(self) -> None:
        self.focus()

    def _on_selection(self, change: Mapping[str, Any]) -> None:
        if change["new"] and not self._showing:
            self.handler({"kind": "open", "key": change["new"]})

    def __repr__(self) -> str:
        return f"<PlainCalendar: {max(len(self.options) - 1, 0)} events>"


def default_grid() -> CalendarGrid:
    """Create a GridWidget if anywidget is installed, otherwise an PlainCalendar."""
    if find_spec("anywidget") is None:
        return PlainCalendar()
    from .grid_widget import GridWidget

    return GridWidget()
