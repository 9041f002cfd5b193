"""A form that controls the clock, faults, limits, snapshots and accounts of a sandbox, and shows the sandbox logs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ...widgets.background_task import BackgroundTask
from ...widgets.field import LABEL, describe
from ...widgets.form import Form
from ...widgets.html import tag
from ...widgets.styles import row
from .sandbox_sections import ClockSection, FaultSection, LimitSection, PeopleSection, SnapshotSection

if TYPE_CHECKING:
    from pandas import DataFrame

    from ....client.session import Session
    from ...sandbox.sandbox import Sandbox

MAX_ROWS = 30
"""The maximum number of log rows on the page, which shows the latest rows. `result` contains all rows."""

_LOGS = (
    ("Agenda: scheduled events", "agenda"),
    ("Journal: requests and decisions", "journal"),
    ("Deliveries: attempts to notify", "deliveries"),
    ("Outbox: invitations", "outbox"),
)
_SHOWN = {
    "journal": ["n", "time", "user", "operation", "method", "path", "status", "fault", "decided_by"],
    "deliveries": ["due", "state", "attempt", "status", "outcome", "error"],
}


class LabPanel(Form):
    """The controls and logs of a sandbox. A sign-in calls `signed_in` with the new session and the e-mail address."""

    title = "Lab controls"
    instead = 'lab.clock.advance("1 day"), lab.faults(status=503) and lab.journal()'

    def __init__(self, lab: Sandbox, signed_in: Callable[[Session, str], None] = lambda _session, _user: None) -> None:
        super().__init__(lab.session)
        self.lab = lab
        self._last_code = ""
        self.work = BackgroundTask(self._show_error)
        parts = (lab, self._run, self._button)
        self.clock, self.faults, self.limits = ClockSection(*parts), FaultSection(*parts), LimitSection(*parts)
        self.snapshots, self.people = SnapshotSection(*parts), PeopleSection(*parts)
        self.people.signed_in = signed_in
        self._sections = [self.clock, self.people, self.faults, self.limits, self.snapshots]
        self.log_choice = widgets.RadioButtons(
            options=_LOGS, **describe("Log", "The log of the sandbox that is shown"), style=LABEL
        )
        self.log_choice.add_class("svc-columns")
        self.status = widgets.HTML()
        self.refresh_button = self._button("Refresh", "Reload this tab", self.refresh)
        self.log_choice.observe(lambda _change: self._guard(self._change_log), "value")
        sections = widgets.HBox(self._sections)
        sections.add_class("svc-sections")
        logs = [widgets.HTML(tag("h4", "Logs", class_="svc-head")), self.log_choice, row(self.refresh_button)]
        self._compose(self.status, self.alert, self.work, sections, *logs, self.table)
        self._guard(self.refresh)

    @property
    def busy(self) -> bool:
        return self.work.busy

    @property
    def result(self) -> DataFrame:
        """All rows of the selected log."""
        rows: DataFrame = getattr(self.lab, self.log_choice.value)()
        return rows

    def code(self) -> str:
        """Return the code of the last action, or without an action the call that returns the selected log."""
        return self._last_code or f"lab.{self.log_choice.value}()"

    def refresh(self) -> None:
        """Update all controls and the log from the state of the sandbox, without a request."""
        for section in self._sections:
            section.update()
        rows = self.result
        columns = _SHOWN.get(self.log_choice.value, list(rows.columns))
        if rows.empty:
            self.table.value = tag("p", "The log is empty.")
        else:
            self._show_table(rows[columns].tail(MAX_ROWS).iloc[::-1])
        self._show_code()

    def _change_log(self) -> None:
        self._last_code = ""
        self.refresh()

    def _run(self, code: str, action: Callable[[], Any], message: str) -> None:
        """Run an action and show `message`. The clock advances in a thread, because receivers can be slow."""

        def on_done(_value: Any) -> None:
            self._last_code = code
            self.refresh()
            self.status.value = tag("p", message, role="status")

        self.work.begin(f"Running {code}", lambda _report: action(), on_done, in_thread="advance" in code)

    def _clear_status(self) -> None:
        self.status.value = ""

    def _summary(self) -> str:
        return f"<LabPanel: {self.lab.clock.now():%Y-%m-%d %H:%M:%S} UTC>"
