"""The calendar view, in which a person sees, creates, moves and deletes events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ...core.errors.errors import SvcError
from ...core.time_zones import UTC_NAME, zone
from ...notebook.arguments import choice
from ...notebook.current_session import SessionLike, session_or_current
from ...notebook.events.records import event_frame
from ...notebook.frames.event_schemas import EVENTS
from ...notebook.html import Markup, join_html, tag
from ...notebook.times import offset_text, zone_name
from ..widgets.background_task import BackgroundTask, LatestTask
from ..widgets.field import set_visible, small_button
from ..widgets.form import Form
from ..widgets.styles import row
from .calendar_grid import CalendarGrid, default_grid
from .call_log import CallLog, changed_frame
from .changes import Changed, Undo
from .editor import EventEditor
from .edits import EventEdit, NewEvent
from .listing import MOST, Listing, ListRequest, chosen_calendars
from .period import VIEWS, GridPeriod, Period
from .stage import CHANGED, CalendarStage, StageEvents
from .toolbar import CalendarToolbar

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session

_CONFLICT = 412
_KEYS = (
    ("Arrow keys", "go to other days and times"),
    ("Page Up, Page Down", "show the previous or next period"),
    ("Enter", "create an event at an empty day or time, or open an event"),
    ("Tab", "go to the events of the day or time"),
    ("M, + and -", "move an event with arrow keys, make it longer or shorter; Enter saves, Escape cancels"),
    ("Delete", "delete an event"),
)
_HELP = tag(
    "details",
    tag("summary", "Keyboard and mouse"),
    tag("ul", *(tag("li", tag("b", keys), f": {text}") for keys, text in _KEYS)),
    tag("p", "Drag an event to move it, drag its end to change its length, and drag over empty time to create one."),
    class_="svc-quiet",
)


def calendar_view(
    *,
    calendar: str | Sequence[str] = "primary",
    view: str = "month",
    day: date | None = None,
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
        calendar: The id of a calendar of `calendars()`, or a list of ids.
        view: "month", "week" or "day".
        day: A day of the first period. None: today.
        time_zone: The IANA name of the time zone of all times. None: the time zone of the first calendar.
        session: The session whose calendars are shown. None stands for the current session.

    Raises:
        TypeError, ValueError: An argument is not valid, or the list of calendars has no such calendar.

    See docs/rules.md#e-events (E).

    >>> lab = svc.sandbox()
    >>> made = svc.create_event("Tea", start="2026-11-02 16:00", end="2026-11-02 17:00", time_zone="Europe/Berlin")
    >>> svc.calendar_view(day=date(2026, 11, 2))
    <CalendarView: November 2026, 1 event>
    """
    choice("view", view, VIEWS)
    if day is not None and not isinstance(day, date):
        raise TypeError(f"day must be a datetime.date, not {type(day).__name__}")
    ids = [calendar] if isinstance(calendar, str) else [*calendar]
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
        make_grid: Callable[[], CalendarGrid] = default_grid,
    ) -> None:
        super().__init__(session)
        self.loading, self.work = LatestTask(self._on_error), BackgroundTask(self._on_error)
        from ...client.events.events import list_calendars

        self.add_class("svc-calendar")
        self._records: list[Mapping[str, Any]] = []
        self._last_code = ""
        self._undo: Undo | None = None
        self._options: Mapping[str, str] = {}
        self.editor: EventEditor | None = None
        entries = [*list_calendars(self._session_now())]
        chosen = chosen_calendars(entries, calendar)
        self.zone_name = time_zone or str((*chosen, *entries)[0].get("timeZone") or UTC_NAME)
        period = Period(view, day or self._now().date())
        self.listing = Listing(ListRequest(period, chosen, self.zone_name))
        self.toolbar = CalendarToolbar(entries, chosen, period, lambda key: self._guard(lambda: self._press(key)))
        self.grid = make_grid()
        self.grid.handler = lambda message: self._guard(lambda: self._on_message(message))
        self.stage = CalendarStage(
            self.grid,
            self.toolbar,
            self.work,
            StageEvents(
                session=self._session_now,
                guard=self._guard,
                listing=lambda: self.listing,
                run=self._run,
                redraw=self._redraw,
                refresh=self.refresh,
                edit=self._open_editor,
            ),
        )
        self.status, self.hint = widgets.HTML(), widgets.HTML(_HELP)
        self.undo_button = small_button("Undo", "Reverse the last move", lambda: self._guard(self._undo_last))
        self.editor_box = widgets.VBox([])
        message = row(self.status, self.undo_button)
        message.add_class("svc-calendar-status")
        self._compose(self.toolbar, self.work, self.alert, message, self.stage, self.hint, self.editor_box)
        set_visible(self.undo_button, False)
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
        return changed_frame(self._records)

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
            case _:
                self.stage.handle(message)

    def _press(self, key: str) -> None:
        handlers: dict[str, Callable[[], None]] = {
            "previous": lambda: self._navigate(self.period.moved(-1)),
            "next": lambda: self._navigate(self.period.moved(1)),
            "today": lambda: self._navigate(self.period.at(self._now().date())),
            "view": lambda: self._navigate(Period(self.toolbar.view.value, self._day_of_view())),
            "calendars": lambda: self._navigate(self.period),
            "refresh": lambda: self._navigate(self.period),
            "new": lambda: self.stage.edit_new({}),
        }
        handlers[key]()

    def _navigate(self, period: Period) -> None:
        self.stage.dismiss()
        self._last_code = ""
        self._show_status("")
        self.show(period)

    def _day_of_view(self) -> date:
        """Return the day that another view shows, which is today if it is in the shown month or week."""
        today, day = self._now().date(), self.period.day
        in_period = today in self.period.days and (self.period.view != "month" or today.month == day.month)
        return today if in_period else day

    def _undo_last(self) -> None:
        undo = self._undo
        if undo is not None:
            self.stage.dismiss()
            self._run("Undoing", lambda log: Changed(undo(log)), self._options)

    # -- the editor

    def _open_editor(self, edit: EventEdit | NewEvent) -> None:
        editor = EventEditor(self._session_now(), edit.save, self._on_saved, self._close_editor)
        edit.show(editor)
        self.editor, self._edited = editor, edit
        self._show_status("")
        self.editor_box.children = [editor]
        for part in (self.stage, self.hint, self.toolbar, self.code_area):
            set_visible(part, False)
        editor.controls.summary.control.focus()

    def _on_saved(self) -> None:
        log, changed = self._edited.log, self._edited.changed
        self._close_editor()
        if log is not None and changed is not None:
            self._finish(log, changed)
        self.refresh()

    def _close_editor(self) -> None:
        self.editor_box.children = []
        if self.editor is not None:
            self.editor.close()
            self.editor = None
        for part in (self.stage, self.hint, self.toolbar, self.code_area):
            set_visible(part, True)
        self._redraw()
        self.grid.focus_grid()

    # -- requests, and what they show

    def _run(self, label: str, act: Callable[[CallLog], Changed], options: Mapping[str, str]) -> None:
        """Make the calls of a change with `options`, list the events again, and show what was changed or the error."""
        session, request = self._session_now(), self.listing.request
        log = CallLog(session, options)

        def work() -> tuple[Changed | Exception, Listing]:
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

        try:
            self.work.begin(label, lambda _report: work(), done, in_thread=not session.in_process)
        except ValueError:
            self._redraw()
            raise

    def _finish(self, log: CallLog, changed: Changed) -> None:
        self._records += log.records
        self._last_code = log.code or self._last_code
        self._undo, self._options = changed.undo, log.options
        self._show_status(changed.message)

    def _request(self, request: ListRequest) -> None:
        session = self._session_now()
        self.listing = Listing(request)
        self.toolbar.show(request.period, self._zone_text())
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
        self.grid.show(GridPeriod.of(self.period, self._now()), [event.row(tz) for event in self.listing.events])

    def _on_error(self, error: Exception) -> None:
        self._redraw()
        self._show_error(error)

    def _show_status(self, text: str) -> None:
        if not text:
            self._undo = None
        self.status.value = tag("span", text, role="status")
        set_visible(self.undo_button, self._undo is not None)

    def _session_now(self) -> Session:
        return session_or_current(self._session)

    def _now(self) -> datetime:
        return self._session_now().clock.now().astimezone(zone(self.zone_name))

    def _zone_text(self) -> str:
        days = self.period.days
        noon = datetime.combine(days[len(days) // 2], time(12), zone(self.zone_name))
        return f"Times in {self.zone_name} (UTC{offset_text(noon)})"

    def _static_view(self) -> Markup:
        columns = ["summary", "start", "end", "status"]
        return join_html(
            super()._static_view(), Markup(self.listed[columns].to_html(index=False, border=0, na_rep="(no title)"))
        )

    def _summary(self) -> str:
        count = len(self.listing.events)
        return f"<CalendarView: {self.period.title}, {count} event{'' if count == 1 else 's'}>"
