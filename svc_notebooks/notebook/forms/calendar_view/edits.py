"""What the editor of the calendar view shows and saves: a new event, an event, or one or several instances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...events.events import create_event
from ...events.series_state import SeriesState
from . import changes
from .call_log import CallLog
from .changes import Changed
from .editor import EventEditor
from .event_times import NewTimes
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
            editor.edit(state.rest, calendar)

    def save(self, editor: EventEditor, session: Session) -> None:
        state, log = self._state, CallLog(session)
        named = editor.changed_arguments()
        self.log = log
        if not named:
            return
        if state is not None and self._scope == changes.FOLLOWING:
            self.changed = changes.split_series(log, state, named, "Changed")
        else:
            event = self._shown.event if state is None or self._scope == changes.THIS else state.master
            self.changed = changes.edit_event(log, self._shown.calendar_id, event, named)
