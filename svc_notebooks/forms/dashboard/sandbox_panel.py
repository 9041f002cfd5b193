"""A form that controls the clock, faults, limits, snapshots and accounts of a sandbox, and shows the sandbox logs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ...core.fault_plan import PRESETS
from ...notebook.html import tag
from ..widgets.background_task import BackgroundTask
from ..widgets.field import LABEL, dropdown, number_field, on_change, radio_buttons, row, text_field
from ..widgets.form import Form, Section, preset_text

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ...notebook.sandbox.sandbox import Sandbox


_SCOPES = (
    ("All scopes", ""),
    ("storage.readonly: read files", "storage.readonly"),
    ("storage.file: only files that this application created or opened", "storage.file"),
    ("storage.metadata.readonly: only the metadata of files", "storage.metadata.readonly"),
)


class ClockSection(Section):
    """The controls that advance or freeze the sandbox clock."""

    heading = "Clock"

    def _controls(self) -> list[widgets.Widget]:
        self.now = widgets.HTML()
        self.step = text_field(
            "Forward by", "A number and s, m, h, d or w; or seconds alone", value="1h", hint="10s, 1h, 8d"
        )
        self.advance = self._button("Advance", "Advance the clock; due events happen at their time", self._advance)
        self.freeze = self._button("Freeze", "Stop the clock", self._freeze)
        return [self.now, self.step, row(self.advance, self.freeze)]

    def _advance(self) -> None:
        clock, step = self._form.lab.clock, self.step.value.strip()
        self._run(f"lab.clock.advance({step!r})", lambda: clock.advance(step), f"The clock was advanced by {step}.")

    def _freeze(self) -> None:
        self._run("lab.clock.freeze()", self._form.lab.clock.freeze, "The clock is frozen.")

    def update(self) -> None:
        state = "frozen" if self._form.lab.clock.is_virtual else "running"
        self.now.value = tag("p", f"{self._form.lab.clock.now():%Y-%m-%d %H:%M:%S} UTC; the clock is {state}.")


class FaultSection(Section):
    """The controls that activate and remove fault plans."""

    heading = "Faults"

    def _controls(self) -> list[widgets.Widget]:
        names = [preset.name for preset in PRESETS]
        self.preset = dropdown("Fault preset", "A plan of faults; each step happens once", names)
        self.description, self.armed = widgets.HTML(), widgets.HTML()
        self.arm = self._button("Arm", "Activate the faults", self._arm)
        self.disarm = self._button("Disarm all", "Deactivate all faults", self._disarm)
        on_change(self._show_preset, self.preset)
        self._show_preset()
        return [self.preset, self.description, row(self.arm, self.disarm), self.armed]

    def _show_preset(self) -> None:
        self.description.value = tag("p", preset_text(self.preset.value), class_="svc-indented")

    def _arm(self) -> None:
        name, service = self.preset.value, self._form.lab.service
        code = f"with lab.faults({name!r}):\n    ...  # requests that meet the faults"
        self._run(code, lambda: service.add_faults({"preset": name}), f"Armed: {name}.")

    def _disarm(self) -> None:
        self._run("lab.service.clear_faults()", self._form.lab.service.clear_faults, "All faults are disarmed.")

    def update(self) -> None:
        lines = [
            tag("li", f"{plan.preset}: {plan.does}, at {plan.waits_for} (happened {plan.fired} of {plan.times})")
            for plan in self._form.lab.fault_plans().itertuples()
        ]
        self.armed.value = tag("ul", *lines) if lines else tag("p", "No fault is armed.")


class LimitSection(Section):
    """The controls that limit the number of requests of a user."""

    heading = "Limits"

    def _controls(self) -> list[widgets.Widget]:
        self.user = text_field(
            "User", "The user whose requests are counted; empty: the first user of the sandbox", hint="ada@svc.example"
        )
        self.requests = number_field(10, "Max. requests", "The number of requests that are allowed")
        self.requests.style.description_width = LABEL["description_width"]
        self.per = text_field("Within", "A number and s, m, h or d", value="60s")
        self.set = self._button("Set limit", "Refuse further requests with 403 and Retry-After", self._set_limit)
        self.remove = self._button("Remove limit", "Allow any number of requests", self._remove_limit)
        self.limits = widgets.HTML()
        return [self.user, self.requests, self.per, row(self.set, self.remove), self.limits]

    def _set_limit(self) -> None:
        user, maximum, per = self.user.value.strip() or None, int(self.requests.value), self.per.value.strip()
        code = f"lab.limit({f'{user!r}, ' if user else ''}requests={maximum}, per={per!r})"
        self._run(code, lambda: self._form.lab.limit(user, maximum, per), f"At most {maximum} requests within {per}.")

    def _remove_limit(self) -> None:
        user = self.user.value.strip() or None
        self._run(
            f"lab.limit({repr(user) if user else ''})", lambda: self._form.lab.limit(user), "The limit was removed."
        )

    def update(self) -> None:
        lines = [
            tag("li", f"{limit.user}: {limit.spent} of {limit.requests} requests spent within {limit.per} seconds")
            for limit in self._form.lab.limits().itertuples()
        ]
        self.limits.value = tag("ul", *lines) if lines else tag("p", "No limit is set.")


class SnapshotSection(Section):
    """The controls that save and restore the state of the service."""

    heading = "Snapshots"

    def _controls(self) -> list[widgets.Widget]:
        self._names: dict[str, str] = {}
        self.chooser = dropdown("Snapshot", "The snapshot to restore", [("No snapshot", "")])
        self.take = self._button("Take snapshot", "Save the state of the service", self._take)
        self.restore = self._button("Restore", "Restore the state of the service", self._restore)
        return [self.chooser, row(self.take, self.restore)]

    def _take(self) -> None:
        def take() -> None:
            key = self._form.lab.snapshot()
            self._names[key] = f"{len(self._names) + 1}, of {self._form.lab.clock.now():%Y-%m-%d %H:%M:%S} UTC"
            self.chooser.options = [(text, snapshot_id) for snapshot_id, text in self._names.items()]
            self.chooser.value = key

        self._run("before = lab.snapshot()", take, "Snapshot saved.")

    def _restore(self) -> None:
        key = str(self.chooser.value)
        if not key:
            raise ValueError("There is no snapshot to restore.")
        self._run("lab.restore(before)", lambda: self._form.lab.restore(key), f"Restored: snapshot {self._names[key]}.")


class PeopleSection(Section):
    """The controls that sign in to an account and call `signed_in` with the new session and the e-mail address."""

    heading = "Accounts"

    def _controls(self) -> list[widgets.Widget]:
        self.user = text_field("E-mail", "The account; an unknown one is created", value="bob@svc.example")
        self.scopes = dropdown("Scopes", "The scopes of the access token", _SCOPES)
        self.sign_in = self._button("Sign in", "Use this account in the other tabs", self._sign_in)
        return [self.user, self.scopes, row(self.sign_in)]

    def _sign_in(self) -> None:
        user, scopes = self.user.value.strip(), [self.scopes.value] if self.scopes.value else None
        if "@" not in user:
            raise ValueError(f"E-mail is {user!r}: enter an address such as bob@svc.example.")
        scopes_argument = f", scopes={scopes!r}" if scopes else ""
        session = self._form.lab.sign_in(user, scopes=scopes)
        code = f"session = lab.sign_in({user!r}{scopes_argument})\nsvc.dashboard(session=session)"
        self._run(code, lambda: self._form.signed_in(session, user), f"Signed in as {user}.")


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
        self.signed_in = signed_in
        self.clock, self.faults, self.limits = ClockSection(self), FaultSection(self), LimitSection(self)
        self.snapshots, self.people = SnapshotSection(self), PeopleSection(self)
        self._sections = [self.clock, self.people, self.faults, self.limits, self.snapshots]
        self.log_choice = radio_buttons("Log", "The log of the sandbox that is shown", _LOGS, "svc-columns")
        self.refresh_button = self._button("Refresh", "Reload this tab", self.refresh)
        on_change(lambda: self._guard(self._change_log), self.log_choice)
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
            self._show_status(message)

        self.work.begin(f"Running {code}", lambda _report: action(), on_done, in_thread="advance" in code)

    def _summary(self) -> str:
        return f"<LabPanel: {self.lab.clock.now():%Y-%m-%d %H:%M:%S} UTC>"
