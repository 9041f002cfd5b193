"""What the editor of the calendar view shows and saves: a new event, an event, or one or several instances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...events.events import create_event
from ...events.series_state import SeriesState
from . import changes
from .call_log import CallLog
from .changes import Changed
from .editor import EventEditor
from .event_times import NewTimes
from .shown_event import ShownEvent, event_name

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.resources.events import Event


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
        self.changed = Changed(f"Created {event_name(editor.draft.arguments)}.")


class EventEdit:
    """A stored event, or one or several instances of a series. `changed` and `log` describe what was saved."""

    def __init__(self, shown: ShownEvent, state: SeriesState | None = None, scope: str = changes.THIS) -> None:
        is_all = state is not None and scope == changes.FOLLOWING and state.is_first
        self._shown, self._state, self._scope = shown, state, changes.ALL if is_all else scope
        self.changed: Changed | None = None
        self.log: CallLog | None = None

    def show(self, editor: EventEditor) -> None:
        """Show the event, the series, or the series from the instance on."""
        state, calendar, event = self._state, self._shown.calendar_id, self._event
        at: dict[str, Any] = {**changes.calendar_argument(calendar), "if_match": changes.etag_of(event)}
        if state is not None and self._scope == changes.FOLLOWING:
            editor.edit(state.rest, event, {"this_and_following": True, **at}, calendar, state.cancelled)
        else:
            cancelled = replace(state, instance=event).cancelled if state and self._scope == changes.ALL else ()
            editor.edit(event, event, at, calendar, cancelled)

    @property
    def _event(self) -> Event:
        """The event or the series that `update_event` is called with."""
        if self._state is None or self._scope == changes.THIS:
            return self._shown.event
        return self._state.master if self._scope == changes.ALL else self._state.instance

    def save(self, editor: EventEditor, session: Session) -> None:
        state, named = self._state, editor.changed_arguments()
        options = {"send_updates": named.pop("send_updates")} if "send_updates" in named else {}
        self.log = log = CallLog(session, options)
        if not named and not options:
            return
        if state is not None and self._scope == changes.FOLLOWING:
            self.changed = changes.split_series(log, state, named, "Changed")
        else:
            self.changed = changes.edit_event(log, self._shown.calendar_id, self._event, named)
