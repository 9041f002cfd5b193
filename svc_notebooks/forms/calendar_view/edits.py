"""What the editor of the calendar view shows and saves: a new event, an event, or one or several instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...core.events.rrule import Start
from ...notebook.events.events import create_event
from ...notebook.events.series_state import SeriesState
from . import changes
from .call_log import CallLog
from .changes import Changed
from .editor import EventEditor
from .event_times import NewTimes
from .shown_event import ShownEvent, event_name

if TYPE_CHECKING:
    from ...client.session import Session


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
        self._calendar = shown.calendar_id
        self._event = shown.event
        self._split: SeriesState | None = None
        self._cancelled: Sequence[Start] = replace(state, instance=state.master).cancelled if state else ()
        if state and scope == changes.FOLLOWING and not state.is_first:
            self._split = state
        elif state and scope != changes.THIS:
            self._event = state.master
        self.changed: Changed | None = None
        self.log: CallLog | None = None

    def show(self, editor: EventEditor) -> None:
        """Show the event, the series, or the series from the instance on."""
        named: dict[str, Any] = {**changes.calendar_argument(self._calendar), "if_match": changes.etag_of(self._event)}
        if self._split is None:
            editor.edit(self._event, self._event, named, self._cancelled)
        else:
            editor.edit(self._split.rest, self._event, {"this_and_following": True, **named}, self._cancelled)

    def save(self, editor: EventEditor, session: Session) -> None:
        self.log, named = CallLog(session, editor.options), editor.changed_arguments()
        if named and self._split:
            self.changed = changes.split_series(self.log, self._split, named, "Changed")
        elif named:
            self.changed = changes.edit_event(self.log, self._calendar, self._event, named)
