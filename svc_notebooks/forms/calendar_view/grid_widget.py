"""The grid of days and hours in the browser. This module requires anywidget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

if TYPE_CHECKING:
    from .period import GridPeriod

_FOLDER = Path(__file__).parent
_SCRIPTS = ("grid_dates.js", "grid_layout.js", "grid_cells.js", "grid_drag.js", "grid_keys.js", "grid.js")
"""The parts of the script. The browser gets them as one module, so they share their names."""


class GridWidget(anywidget.AnyWidget):
    """Implements CalendarGrid with a month of weeks, or with days of half hours. `state` is what the browser shows.

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

    def show(self, period: GridPeriod, rows: Sequence[dict[str, Any]]) -> None:
        """Show the rows. The same rows are sent again, so that the browser removes a proposed change."""
        self._shown += 1
        self.state = {**period, "events": [*rows], "shown": self._shown}

    def focus_grid(self) -> None:
        self.send({"kind": "focus"})

    def __repr__(self) -> str:
        return f"<GridWidget: {len(self.state.get('events', ()))} events>"
