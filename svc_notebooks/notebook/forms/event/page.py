"""The event form with a list of the events of the calendar, as a tab of the dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...current_session import session_or_current
from ...events.query import events
from ...widgets.html import Markup, tag
from .form import EventForm

if TYPE_CHECKING:
    from pandas import DataFrame

    from ....client.session import Session

_MAX_ROWS = 50
_COLUMNS = ["summary", "start", "end", "time_zone", "recurrence", "status"]


class EventPage(EventForm):
    """An event form with a list of the events of the calendar under it."""

    title = "Events"

    def __init__(self, session: Session | None = None) -> None:
        super().__init__(session)
        self._guarded(self._show_events)

    @property
    def listed(self) -> DataFrame:
        """The events that are there, with the columns of `events()`."""
        return events(limit=_MAX_ROWS, session=self._session)

    def refresh(self) -> None:
        """See which events, calendars and files there are now."""
        self.controls.read(session_or_current(self._session))
        self._show_events()

    def _show_events(self) -> None:
        rows = self.listed
        head = tag("h4", "In the calendar", class_="svc-head")
        if rows.empty:
            self.table.value = head + tag("p", "No event yet.")
            return
        columns = [name for name in _COLUMNS if name in rows]
        table = Markup(rows[columns].to_html(index=False, border=0, justify="left", na_rep=""))
        region = tag("div", table, class_="svc-rows", tabindex="0", role="region", aria_label="In the calendar")
        self.table.value = Markup(head + region)

    def _show_table(self, result: DataFrame) -> None:
        """What was made is in the calendar, with all the others."""
        self._show_events()
