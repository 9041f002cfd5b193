"""What the editor of the calendar view shows and saves: a new event, an event, or one or several instances."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ....core.events.times import read_time
from ...events.events import create_event
from . import changes
from .call_log import CallLog
from .changes import Changed
from .editor import EventEditor
from .event_times import NewTimes, Times
from .series_state import SeriesState, own_values, times_and_recurrence
from .shown_event import ShownEvent

if TYPE_CHECKING:
    from ....client.session import Session


class NewEvent:
    """A new event with some fields. `changed` and `log` describe what was saved, or are None."""

    def __init__(self, new: NewTimes | None, time_zone: str, fields: Mapping[str, str], calendar: str) -> None:
        self._fields = {**(new.fields(time_zone) if new else {}), **fields}
        self._calendar = calendar
        self.changed: Changed | None = None
        self.log: CallLog | None = None

    def show(self, editor: EventEditor) -> None:
        """Show the fields in the editor. Without times, the editor has the next full hour."""
        editor.begin({**{name: editor.value.get(name) for name in ("start", "end")}, **self._fields}, self._calendar)

    def save(self, editor: EventEditor, session: Session) -> None:
        self.log = CallLog(session)
        self.log.run("created", create_event, **editor.draft.arguments)
        self.changed = Changed(f"Created {editor.draft.arguments.get('summary') or '(no title)'}.")


class EventEdit:
    """A stored event, or one or several instances of a series. `changed` and `log` describe what was saved."""

    def __init__(self, shown: ShownEvent, state: SeriesState | None = None, scope: str = changes.THIS) -> None:
        is_all = state is not None and scope == changes.FOLLOWING and state.is_first
        self._shown, self._state, self._scope = shown, state, changes.ALL if is_all else scope
        self.changed: Changed | None = None
        self.log: CallLog | None = None

    def show(self, editor: EventEditor) -> None:
        """Show the event, the series, or the series from the instance on."""
        state, calendar = self._state, self._shown.calendar_id
        if state is None or self._scope == changes.THIS:
            editor.edit(self._shown.event, calendar)
        elif self._scope == changes.ALL:
            editor.edit(state.master, calendar)
        else:
            fields = {**state.master, **_following_times(state), "recurrence": state.series.since(state.split)}
            editor.begin({**times_and_recurrence(fields), **own_values(fields)}, calendar)

    def save(self, editor: EventEditor, session: Session) -> None:
        state, log = self._state, CallLog(session)
        named = editor.changed_arguments()
        self.log = log
        if state is None or self._scope == changes.THIS:
            self.changed = changes.edit_event(log, self._shown, named) if named else None
            return
        start, lines = read_time(editor.value["start"]), editor.draft.lines
        if self._scope == changes.ALL:
            self.changed = changes.edit_series(log, state, named, start, lines) if named else None
            return
        shift = Times(state.split, state.split).shift_to(Times(start, start))
        rest = {name: value for name, value in named.items() if name not in ("calendar", "recurrence")}
        self.changed = changes.split_series(log, state, rest, shift, "Changed", lines)


def _following_times(state: SeriesState) -> dict[str, Any]:
    """Return the times of the instance by the recurrence, as event fields."""
    series = state.series
    times = Times(series.start, series.end)
    shift = times.shift_to(Times(state.split, state.split))
    return times.shifted(shift, timedelta()).fields(state.master)
