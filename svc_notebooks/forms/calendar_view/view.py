"""The calendar view, in which a person sees, creates, moves and deletes events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ...client.events.events import list_calendars
from ...client.session import SessionLike, session_or_current
from ...core.errors.errors import NotFound, SvcError
from ...core.time_arguments import python_time, without_words
from ...core.times import UTC_NAME, zone
from ...notebook.arguments import File, choice
from ...notebook.display import Markup, count_text, join_html
from ...notebook.events.body import Times, calendar_ids, offset_text, zone_name
from ...notebook.events.events import create_event
from ...notebook.events.records import SeriesState, event_frame
from ...notebook.frames import EVENTS, Record, frame
from ..widgets import ui
from ..widgets.background_task import BackgroundTask, LatestTask
from ..widgets.dialogs import Confirmation
from ..widgets.form import Form
from . import changes
from .changes import CHANGES, CallLog, Changed, EventEditor, Move, Undo, in_view, moved_times, new_times
from .listing import (
    ASK_GUESTS,
    MOST,
    SEND_UPDATES,
    VIEWS,
    CalendarToolbar,
    ChoiceQuestion,
    EventPanel,
    GridWidget,
    Listing,
    ListRequest,
    NewEventPanel,
    Period,
    ShownEvent,
    chosen_calendars,
    event_facts,
    event_name,
    grid_period,
    has_other_guests,
    span_of,
    writable_calendars,
)

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...core.resources.events import Event


_SCOPES = {
    changes.THIS: ("This event", "Change only this event of the series"),
    changes.FOLLOWING: ("This and following", "End the series here, and begin a new one with this event"),
    changes.ALL: ("All events", "Change all events of the series"),
}
CHANGED = "The event was changed in the meantime. Nothing was saved. The view shows the current events."
_CONFLICT = 412
_HELP = Path(__file__).with_name("help.html")


def calendar_view(
    *,
    calendar: File = "primary",
    view: str = "month",
    day: str | date | None = None,
    time_zone: str | None = None,
    session: SessionLike = None,
) -> CalendarView:
    """Return a form that shows calendars by month, week or day, and in which a person changes events.

    A click or Enter opens an event, with buttons to edit and delete it. A drag moves an event, a drag of its end makes
    it longer or shorter, and a drag over empty time creates an event. A drag to the all-day row or from it makes a
    timed event an all-day event, or the reverse. A narrow week is a list of days.

    In the grid, arrow keys go to other days and times, Enter creates an event, and Tab goes to the events of a day. At
    an event, M begins a move with arrow keys, and + and - change the length; Enter saves, and Escape cancels. Page Up
    and Page Down show another period.

    For an event of a series, the form asks whether to change this event, this and all following events, or all events.
    "This and following" ends the series, and creates a new one. For an event with other guests, the form asks whether
    to send them updates. Changes are sent with If-Match: if an event was changed in the meantime, the form says so and
    shows the current events.

    `form.result` is the DataFrame of the events that the form has changed, `form.listed` is the DataFrame of the shown
    events, `form.code()` is the code of the last action, `form.last_error` is the last error.

    Args:
        calendar: The id, the name or a row of a calendar of `calendars()`, or several of these.
        view: "month", "week" or "day".
        day: A day of the first period, as a date or a text such as "2026-11-02". None: today.
        time_zone: The IANA name of the time zone of all times. None: the time zone of the first calendar.
        session: The session whose calendars are shown. None stands for the current session.

    Raises:
        TypeError, ValueError: An argument is not valid, or the list of calendars has no such calendar.

    See tests/rules.csv (E).

    >>> lab = svc.sandbox()
    >>> made = svc.create_event("Tea", start="2026-11-02 16:00", end="2026-11-02 17:00", time_zone="Europe/Berlin")
    >>> svc.calendar_view(day=date(2026, 11, 2))
    <CalendarView: November 2026, 1 event>
    """
    choice("view", view, VIEWS)
    if day is not None:
        day = python_time("day", without_words(day, session_or_current(session).clock.now()))
    ids = calendar_ids(session_or_current(session), calendar)
    return CalendarView(session, ids, view, day, zone_name("time_zone", time_zone))


class CalendarView(Form):
    """The form that `calendar_view` returns. A program can call `grid.handler` with messages, and click buttons."""

    title = "Calendar"
    instead = "svc.events(), svc.create_event(title, start=..., end=...) and svc.update_event(event, start=...)"

    def __init__(
        self,
        session: SessionLike = None,
        calendar: Sequence[str] = ("primary",),
        view: str = "month",
        day: date | None = None,
        time_zone: str | None = None,
    ) -> None:
        super().__init__(session)
        self.add_class("svc-calendar")
        self.loading, self.work = LatestTask(self._on_error), BackgroundTask(self._on_error)
        self._records: list[Record] = []
        self._undo: Undo | None = None
        self._options: Mapping[str, str] = {}
        self.editor: EventEditor | None = None
        entries = [*list_calendars(self.session)]
        chosen = chosen_calendars(entries, calendar)
        self.zone_name = time_zone or str((*chosen, *entries)[0].get("timeZone") or UTC_NAME)
        period = Period(view, day or self._now().date())
        self.listing = Listing(ListRequest(period, chosen, self.zone_name))
        self.toolbar = CalendarToolbar(entries, chosen, period, self._guarded(self._press))
        self.grid = GridWidget()
        self.grid.handler = self._guarded(self._on_message)
        self._opened: ShownEvent | None = None
        self._new: Times | None = None
        self._on_choice: Callable[[str], None] = lambda _choice: None
        guarded, cancel = self._guarded, self._guarded(self.cancel)
        self.details = EventPanel(guarded(self._edit), guarded(self._ask_delete), cancel)
        self.question = ChoiceQuestion("Series", _SCOPES, guarded(self._on_answer))
        self.guests = ChoiceQuestion("Guests", SEND_UPDATES, guarded(self._on_answer))
        self.confirmation = Confirmation(self._guard).add_class("svc-over-grid")
        self.new_event = NewEventPanel(guarded(self._create), guarded(self._edit_new), cancel)
        self._panels = (self.details, self.question, self.guests, self.confirmation, self.new_event)
        self.stage = widgets.VBox([self.grid, *self._panels]).add_class("svc-stage")
        self.hint = widgets.HTML(_HELP.read_text(encoding="utf-8"))
        self.undo_button = ui.small_button("Undo", "Reverse the last move", guarded(self._undo_last))
        self.editor_box = widgets.VBox([])
        message = ui.row(self.status, self.undo_button).add_class("svc-calendar-status")
        self._compose(self.toolbar, self.work, self.alert, message, self.stage, self.hint, self.editor_box)
        ui.set_visible(self.undo_button, False)
        self._guard(lambda: self.show(period))

    @property
    def busy(self) -> bool:
        return self.loading.busy or self.work.busy

    @property
    def period(self) -> Period:
        """The period that is shown."""
        return self.listing.request.period

    @property
    def listed(self) -> DataFrame:
        """The shown events and instances, with the columns of `events()`."""
        return event_frame(EVENTS, [shown.event for shown in self.listing.events], self.zone_name)

    @property
    def result(self) -> DataFrame:
        """A row for each call that has changed an event, from the first to the last.

        Columns: action ("created", "moved", "changed", "deleted", "series ended" ...), id, calendar, summary (str),
        start, end (datetime64, UTC), time_zone (str), recurrence (object), etag (str).
        """
        return frame(CHANGES, self._records)

    def code(self) -> str:
        """Return the code of the last action, or else the code that lists the shown events."""
        return self._last_code or self.listing.request.code()

    def refresh(self) -> None:
        """List the events of the shown period again."""
        self.show(self.period)

    def show(self, period: Period) -> None:
        """Show another period."""
        self._request(ListRequest(period, self.toolbar.chosen, self.zone_name))

    def close(self) -> None:
        self.loading.cancel()
        super().close()

    def _on_message(self, message: Mapping[str, Any]) -> None:
        match message:
            case {"kind": "go", "by": periods}:
                self._navigate(self.period.moved(int(periods)))
            case {"kind": "day", "day": day}:
                self._navigate(Period("day", date.fromisoformat(day)))
            case {"kind": "open", "key": key}:
                self._open(self.listing.find(str(key)))
            case {"kind": "change", "key": key, "days": days, "minutes": minutes, "length": length}:
                move = Move(int(days), int(minutes), int(length), message.get("allDay"))
                self._move(self.listing.find(str(key)), move)
            case {"kind": "delete", "key": key}:
                self._open(self.listing.find(str(key)))
                self._ask_delete()
            case {"kind": "create", "first": first, "last": last, "begin": begin, "end": end}:
                days = date.fromisoformat(first), date.fromisoformat(last)
                self._ask_title(new_times(*days, begin, end, zone(self.zone_name)))
            case {"kind": "title", "title": title, "key": "create" | "more" as key} if self.new_event.is_open:
                self.new_event.summary.value = str(title)
                self._create() if key == "create" else self._edit_new()

    def _press(self, key: str) -> None:
        handlers: dict[str, Callable[[], None]] = {
            "previous": lambda: self._navigate(self.period.moved(-1)),
            "next": lambda: self._navigate(self.period.moved(1)),
            "today": lambda: self._navigate(self.period.at(self._now().date())),
            "view": self._change_view,
            "calendars": lambda: self._navigate(self.period),
            "refresh": lambda: self._navigate(self.period),
            "new": self._edit_new,
        }
        handlers[key]()

    def _navigate(self, period: Period) -> None:
        self.dismiss()
        self._last_code = ""
        self._show_status("")
        self.show(period)

    def _change_view(self) -> None:
        """Show another view, with today if it is in the shown month or week."""
        today, day = self._now().date(), self.period.day
        in_period = today in self.period.days and (self.period.view != "month" or today.month == day.month)
        self._navigate(Period(self.toolbar.view.value, today if in_period else day))

    def _undo_last(self) -> None:
        if undo := self._undo:
            self.dismiss()
            self._run_change("Undoing", lambda log: Changed(undo(log)), self._options)

    # -- what a person does with events

    def cancel(self) -> None:
        """Close the panels, and show the events without a proposed change."""
        self.dismiss()
        self._redraw()
        self.grid.focus_grid()

    def dismiss(self) -> None:
        """Close the panels."""
        self._opened = self._new = None
        for panel in self._panels:
            panel.dismiss()

    def _edit_new(self) -> None:
        """Open the editor for a new event, with the values of the panel for a new event if it is open."""
        new, calendar = self._new, str(self.new_event.calendar.value or "primary")
        self.dismiss()
        times = new.fields(in_view(new, self.zone_name)) if new else {}
        fields = {**times, "summary": self.new_event.summary.value} if new else {}
        self._open_editor(lambda editor: editor.begin(fields, calendar))

    def _open(self, shown: ShownEvent) -> None:
        self.dismiss()
        self._opened = shown
        self.details.show(shown.title, event_facts(shown, zone(self.zone_name)), editable=shown.editable)

    def _take_opened(self) -> ShownEvent:
        """Close the details, and return the event that they show."""
        shown = self._opened
        if shown is None:
            raise ValueError("No event is open. Select one in the calendar.")
        self.dismiss()
        return shown

    def _move(self, shown: ShownEvent, move: Move) -> None:
        self.dismiss()
        tz = zone(self.zone_name)
        try:
            if not shown.editable:
                raise ValueError(f"You can only read the calendar of {shown.title}.")
            times = moved_times(Times.of(shown.event), move, tz)
        except ValueError:
            self._redraw()
            raise
        span = span_of(times.start, times.end, tz).text
        title = f"Change {shown.title} to {span}?"

        def move_event(log: CallLog) -> Changed:
            return changes.move_event(log, shown, times, span)

        if shown.series_id is None:
            self._ask_guests("Moving", move_event, shown.event, title)
            return

        def ask(state: SeriesState) -> None:
            acts: dict[str, Callable[[CallLog], Changed]] = {
                changes.THIS: move_event,
                changes.FOLLOWING: lambda log: changes.move_following(log, state, times),
                changes.ALL: lambda log: changes.move_series(log, state, times),
            }
            refused, notes = changes.refused_moves(state, times)
            self._ask_scope(
                title, refused, notes, lambda scope: self._ask_guests("Moving", acts[scope], state.instance, title)
            )

        self._read_series(shown, ask)

    def _ask_delete(self) -> None:
        shown = self._take_opened()
        title, note = f"Delete {shown.title}?", "This cannot be undone."

        def delete(state: SeriesState | None, scope: str) -> None:
            act = partial(changes.delete_events, shown=shown, state=state, scope=scope)
            self._ask_guests("Deleting", act, shown.event, title, note)

        if shown.series_id is not None:
            self._read_series(
                shown, lambda state: self._ask_scope(title, (), (note,), lambda scope: delete(state, scope))
            )
        elif has_other_guests(shown.event):
            delete(None, changes.THIS)
        else:
            confirmed = partial(delete, None, changes.THIS)
            self.confirmation.ask(title, "Delete", note, confirmed=confirmed, cancelled=self.cancel)

    def _ask_guests(self, label: str, act: Callable[[CallLog], Changed], event: Event, title: str, *notes: str) -> None:
        """Make the calls of a change. If the event has other guests, ask first whether to tell them."""
        if not has_other_guests(event):
            self._run_change(label, act, {})
            return
        self._on_choice = lambda answer: self._run_change(label, act, {"send_updates": answer})
        self.guests.ask(f"{title} {ASK_GUESTS}", *notes)

    def _edit(self) -> None:
        shown = self._take_opened()
        if shown.series_id is None:
            self._open_editor(lambda editor: editor.edit(shown))
            return

        def ask(state: SeriesState) -> None:
            refused = () if state.is_organizer else (changes.FOLLOWING,)
            self._ask_scope(
                f"Edit {shown.title}?",
                refused,
                (),
                lambda scope: self._open_editor(lambda editor: editor.edit(shown, state, scope)),
            )

        self._read_series(shown, ask)

    def _ask_title(self, new: Times) -> None:
        self.dismiss()
        calendars = writable_calendars(self.toolbar.chosen) or writable_calendars(self.toolbar.entries)
        if not calendars:
            self._redraw()
            raise ValueError("You cannot write to any of your calendars.")
        self._new = new
        times = span_of(new.start, new.end, zone(self.zone_name)).text
        self.new_event.ask(times, calendars, calendars[0][1])

    def _create(self) -> None:
        new, calendar, summary = self._new, str(self.new_event.calendar.value), self.new_event.summary.value.strip()
        if new is None:
            return
        named = {**new.arguments(in_view(new, self.zone_name)), **changes.calendar_argument(calendar)}

        def create(log: CallLog) -> Changed:
            log.run("created", create_event, *([summary] if summary else []), **named)
            return Changed(f"Created {event_name({'summary': summary})}.")

        self.dismiss()
        self._run_change("Creating", create, {})

    # -- the question about a series

    def _read_series(self, shown: ShownEvent, then: Callable[[SeriesState], None]) -> None:
        """Read the series of an instance, and pass it to `then`. If the instance has changed, show this instead."""
        session = self.session

        def check(state: SeriesState | None) -> None:
            if state is None or state.instance.get("etag") != shown.event.get("etag"):
                self.refresh()
                raise ValueError(CHANGED)
            then(state)

        def read(_report: object) -> SeriesState | None:
            try:
                return SeriesState.read(session, shown.calendar_id, shown.id)
            except NotFound:  # the instance is not in the series any more
                return None

        self._begin(f"Reading {shown.title}", read, check)

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

    # -- the editor

    def _open_editor(self, show: Callable[[EventEditor], None]) -> None:
        self.editor = editor = EventEditor(self.session, self._on_saved, self._close_editor)
        show(editor)
        self._show_status("")
        self.editor_box.children = [editor]
        self._set_calendar_visible(False)
        editor.controls.summary.control.focus()

    def _on_saved(self) -> None:
        assert self.editor is not None
        log, changed = self.editor.call_log, self.editor.changed
        self._close_editor()
        if log is not None and changed is not None:
            self._finish(log, changed)
        self.refresh()

    def _close_editor(self) -> None:
        self.editor_box.children = []
        if self.editor is not None:
            self.editor.close()
            self.editor = None
        self._set_calendar_visible(True)
        self._redraw()
        self.grid.focus_grid()

    def _set_calendar_visible(self, visible: bool) -> None:
        for part in (self.stage, self.hint, self.toolbar, self.code_area):
            ui.set_visible(part, visible)

    # -- requests, and what they show

    def _run_change(self, label: str, act: Callable[[CallLog], Changed], options: Mapping[str, str]) -> None:
        """Make the calls of a change with `options`, list the events again, and show what was changed or the error."""
        session, request = self.session, self.listing.request
        log = CallLog(session, options)

        def work(_report: object) -> tuple[Changed | Exception, Listing]:
            try:
                outcome: Changed | Exception = act(log)
            except Exception as error:
                outcome = error
            return outcome, request.send(session)

        def done(results: tuple[Changed | Exception, Listing]) -> None:
            outcome, listing = results
            self._show_listing(listing)
            self._finish(log, outcome if isinstance(outcome, Changed) else Changed(""))
            self._show_code()
            if isinstance(outcome, Changed):
                self.grid.focus_grid()
            elif isinstance(outcome, SvcError) and outcome.status == _CONFLICT:
                self._show_error(ValueError(CHANGED))
                self.last_error = outcome
            else:
                self._show_error(outcome)

        self._begin(label, work, done)

    def _begin(self, label: str, work: Callable[[Any], Any], on_done: Callable[[Any], None]) -> None:
        if self.work.busy:
            self._redraw()  # without the proposed change
        self.work.begin(label, work, on_done, in_thread=not self.session.in_process)

    def _finish(self, log: CallLog, changed: Changed) -> None:
        self._records += log.records
        self._last_code = log.code or self._last_code
        self._undo, self._options = changed.undo, log.options
        self._show_status(changed.message)

    def _request(self, request: ListRequest) -> None:
        session = self.session
        self.listing = Listing(request)
        days = request.period.days
        noon = datetime.combine(days[len(days) // 2], time(12), zone(self.zone_name))
        self.toolbar.show(request.period, f"Times in {self.zone_name} (UTC{offset_text(noon)})")
        self.loading.begin(lambda: request.send(session), self._show_listing, in_thread=not session.in_process)

    def _show_listing(self, listing: Listing) -> None:
        self.listing = listing
        self._redraw()
        if listing.incomplete:
            names = ", ".join(listing.incomplete)
            self._show_status(f"{names}: only the first {MOST:,} events are shown. Choose a shorter period.")
        self._show_code()

    def _redraw(self) -> None:
        tz = zone(self.zone_name)
        self.grid.show(grid_period(self.period, self._now()), [event.row(tz) for event in self.listing.events])

    def _on_error(self, error: Exception) -> None:
        self._redraw()
        self._show_error(error)

    def _clear_status(self) -> None:
        """Keep the status and the Undo button, which an error does not change."""

    def _show_status(self, text: str) -> None:
        if not text:
            self._undo = None
        super()._show_status(text)
        ui.set_visible(self.undo_button, self._undo is not None)

    def _now(self) -> datetime:
        return self.session.clock.now().astimezone(zone(self.zone_name))

    def _static_view(self) -> Markup:
        columns = ["summary", "start", "end", "status"]
        table = self.listed[columns].to_html(index=False, border=0, na_rep="(no title)")
        return join_html(super()._static_view(), Markup(table))

    def _summary(self) -> str:
        return f"<CalendarView: {self.period.title}, {count_text(len(self.listing.events), 'event')}>"
