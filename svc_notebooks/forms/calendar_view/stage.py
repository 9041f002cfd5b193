"""The grid of the calendar view with its panels, and what a person does with events in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ...core.errors.errors import NotFound
from ...core.time_zones import zone
from ...notebook.events.event_times import Times
from ...notebook.events.events import create_event
from ...notebook.events.series_state import SeriesState
from ..widgets.background_task import BackgroundTask
from ..widgets.dialogs.confirmation import Confirmation
from . import changes
from .calendar_grid import CalendarGrid
from .call_log import CallLog
from .changes import Changed
from .edits import EventEdit, NewEvent
from .event_facts import event_facts
from .event_times import Move, NewTimes, moved_times
from .listing import Listing
from .panels import ASK_GUESTS, SEND_UPDATES, ChoiceQuestion, EventPanel, NewEventPanel
from .shown_event import ShownEvent, event_name, has_other_guests, span_of, writable_calendars
from .toolbar import CalendarToolbar

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.resources.events import Event

_SCOPES = {
    changes.THIS: ("This event", "Change only this event of the series"),
    changes.FOLLOWING: ("This and following", "End the series here, and begin a new one with this event"),
    changes.ALL: ("All events", "Change all events of the series"),
}
CHANGED = "The event was changed in the meantime. Nothing was saved. The view shows the current events."


@dataclass(frozen=True, slots=True)
class StageEvents:
    """The functions of the form that the stage calls.

    `run` makes the calls of a change, with arguments of all calls, and shows the result. `redraw` shows the events
    without a proposed change, and `refresh` lists them again. `edit` opens the editor.
    """

    session: Callable[[], Session]
    guard: Callable[[Callable[[], None]], None]
    listing: Callable[[], Listing]
    run: Callable[[str, Callable[[CallLog], Changed], Mapping[str, str]], None]
    redraw: Callable[[], None]
    refresh: Callable[[], None]
    edit: Callable[[EventEdit | NewEvent], None]


class CalendarStage(widgets.VBox):  # type: ignore[misc]
    """The grid, and the panels over it. `press` handles the buttons of the panels by their keys."""

    def __init__(
        self,
        grid: CalendarGrid,
        toolbar: CalendarToolbar,
        work: BackgroundTask,
        events: StageEvents,
    ) -> None:
        self.grid, self._toolbar, self._work, self._events = grid, toolbar, work, events
        self._opened: ShownEvent | None = None
        self._new: NewTimes | None = None
        self._on_choice: Callable[[str], None] = lambda _choice: None
        guard = events.guard
        self.details = EventPanel(lambda key: guard(lambda: self.press(key)))
        self.question = ChoiceQuestion("Series", _SCOPES, lambda scope: guard(lambda: self._on_answer(scope)))
        self.guests = ChoiceQuestion("Guests", SEND_UPDATES, lambda answer: guard(lambda: self._on_answer(answer)))
        self.confirmation = Confirmation(guard)
        self.confirmation.add_class("svc-over-grid")
        self.new_event = NewEventPanel(lambda key: guard(lambda: self.press(key)))
        self._panels = (self.details, self.question, self.guests, self.confirmation, self.new_event)
        super().__init__([grid, *self._panels])
        self.add_class("svc-stage")

    def handle(self, message: Mapping[str, Any]) -> None:
        """Handle a message of the grid about events or empty time."""
        match message:
            case {"kind": "open", "key": key}:
                self._open(self._events.listing().find(str(key)))
            case {"kind": "change", "key": key, "days": days, "minutes": minutes, "length": length}:
                move = Move(int(days), int(minutes), int(length), message.get("allDay"))
                self._move(self._events.listing().find(str(key)), move)
            case {"kind": "delete", "key": key}:
                self._open(self._events.listing().find(str(key)))
                self._ask_delete()
            case {"kind": "create", "first": first, "last": last, "begin": begin, "end": end}:
                self._ask_title(NewTimes(date.fromisoformat(first), date.fromisoformat(last), begin, end))
            case {"kind": "title", "title": title, "key": "create" | "more" as key} if self.new_event.is_open:
                self.new_event.summary.value = str(title)
                self.press(key)

    def press(self, key: str) -> None:
        """Handle the button with this key."""
        handlers: dict[str, Callable[[], None]] = {
            "edit": self._edit,
            "delete": self._ask_delete,
            "close": self.cancel,
            "create": self._create,
            "more": lambda: self.edit_new({"summary": self.new_event.summary.value}),
            "cancel": self.cancel,
        }
        handlers[key]()

    def cancel(self) -> None:
        """Close the panels, and show the events without a proposed change."""
        self.dismiss()
        self._events.redraw()
        self.grid.focus_grid()

    def dismiss(self) -> None:
        """Close the panels."""
        self._opened = self._new = None
        for panel in self._panels:
            panel.dismiss()

    def edit_new(self, fields: Mapping[str, str]) -> None:
        """Open the editor for a new event, at the times of the panel for a new event if it is open."""
        new, calendar = self._new, str(self.new_event.calendar.value or "primary")
        self.dismiss()
        self._events.edit(NewEvent(new, self._zone_name, fields, calendar))

    @property
    def _zone_name(self) -> str:
        return self._events.listing().request.zone_name

    def _open(self, shown: ShownEvent) -> None:
        self.dismiss()
        self._opened = shown
        self.details.show(shown.title, event_facts(shown, zone(self._zone_name)), editable=shown.editable)

    def _take_opened(self) -> ShownEvent:
        """Close the details, and return the event that they show."""
        shown = self._opened
        if shown is None:
            raise ValueError("No event is open. Select one in the calendar.")
        self.dismiss()
        return shown

    def _move(self, shown: ShownEvent, move: Move) -> None:
        self.dismiss()
        tz = zone(self._zone_name)
        try:
            if not shown.editable:
                raise ValueError(f"You can only read the calendar of {shown.title}.")
            times = moved_times(Times.of(shown.event), move, tz)
        except ValueError:
            self._events.redraw()
            raise
        span = span_of(times.start, times.end, tz).text
        title = f"Change {shown.title} to {span}?"

        def move_event(log: CallLog) -> Changed:
            return changes.move_event(log, shown, times, span)

        if shown.series_id is None:
            self._run("Moving", move_event, shown.event, title)
            return

        def ask(state: SeriesState) -> None:
            acts: dict[str, Callable[[CallLog], Changed]] = {
                changes.THIS: move_event,
                changes.FOLLOWING: lambda log: changes.move_following(log, state, times),
                changes.ALL: lambda log: changes.move_series(log, state, times),
            }
            refused, notes = changes.refused_moves(state, times)
            self._ask_scope(
                title, refused, notes, lambda scope: self._run("Moving", acts[scope], state.instance, title)
            )

        self._read_series(shown, ask)

    def _ask_delete(self) -> None:
        shown = self._take_opened()
        title, note = f"Delete {shown.title}?", "This cannot be undone."

        def delete(state: SeriesState | None, scope: str) -> None:
            act = partial(changes.delete_events, shown=shown, state=state, scope=scope)
            self._run("Deleting", act, shown.event, title, note)

        if shown.series_id is not None:
            self._read_series(
                shown, lambda state: self._ask_scope(title, (), (note,), lambda scope: delete(state, scope))
            )
        elif has_other_guests(shown.event):
            delete(None, changes.THIS)
        else:
            confirmed = partial(delete, None, changes.THIS)
            self.confirmation.ask(title, "Delete", note, confirmed=confirmed, cancelled=self.cancel)

    def _run(self, label: str, act: Callable[[CallLog], Changed], event: Event, title: str, *notes: str) -> None:
        """Make the calls of a change. If the event has other guests, ask first whether to tell them."""
        if not has_other_guests(event):
            self._events.run(label, act, {})
            return
        self._on_choice = lambda answer: self._events.run(label, act, {"send_updates": answer})
        self.guests.ask(f"{title} {ASK_GUESTS}", *notes)

    def _edit(self) -> None:
        shown = self._take_opened()
        if shown.series_id is None:
            self._events.edit(EventEdit(shown))
            return

        def ask(state: SeriesState) -> None:
            refused = () if state.is_organizer else (changes.FOLLOWING,)
            edit = self._events.edit
            self._ask_scope(f"Edit {shown.title}?", refused, (), lambda scope: edit(EventEdit(shown, state, scope)))

        self._read_series(shown, ask)

    def _ask_title(self, new: NewTimes) -> None:
        self.dismiss()
        calendars = writable_calendars(self._toolbar.chosen) or writable_calendars(self._toolbar.entries)
        if not calendars:
            self._events.redraw()
            raise ValueError("You cannot write to any of your calendars.")
        self._new = new
        self.new_event.ask(new.text, calendars, calendars[0][1])

    def _create(self) -> None:
        new, calendar, summary = self._new, str(self.new_event.calendar.value), self.new_event.summary.value.strip()
        if new is None:
            return
        named = {**new.arguments(self._zone_name), **changes.calendar_argument(calendar)}

        def create(log: CallLog) -> Changed:
            log.run("created", create_event, *([summary] if summary else []), **named)
            return Changed(f"Created {event_name({'summary': summary})}.")

        self.dismiss()
        self._events.run("Creating", create, {})

    # -- the question about a series

    def _read_series(self, shown: ShownEvent, then: Callable[[SeriesState], None]) -> None:
        """Read the series of an instance, and pass it to `then`. If the instance has changed, show this instead."""
        session = self._events.session()

        def check(state: SeriesState | None) -> None:
            if state is None or state.instance.get("etag") != shown.event.get("etag"):
                self._events.refresh()
                raise ValueError(CHANGED)
            then(state)

        def read() -> SeriesState | None:
            try:
                return SeriesState.read(session, shown.calendar_id, shown.id)
            except NotFound:  # the instance is not in the series any more
                return None

        try:
            self._work.begin(f"Reading {shown.title}", lambda _report: read(), check, in_thread=not session.in_process)
        except Exception:
            self._events.redraw()
            raise

    def _ask_scope(
        self, question: str, refused: Sequence[str], notes: Sequence[str], then: Callable[[str], None]
    ) -> None:
        self._on_choice = then
        self.question.ask(question, *notes, refused=refused)

    def _on_answer(self, choice: str | None) -> None:
        if choice is None:
            self.cancel()
        else:
            self._on_choice(choice)
