"""The dashboard, which shows every form as a tab. A form is created when its tab is opened for the first time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ...client.session import Session, SessionLike, session_or_current
from ...core.fault_plan import PRESETS
from ...notebook.display import Markup, join_html, tag
from ...notebook.sandbox.sandbox import Sandbox, sandbox_of
from ..widgets import ui
from ..widgets.background_task import BackgroundTask
from ..widgets.form import Form, Section, dispose, preset_text

if TYPE_CHECKING:
    from pandas import DataFrame


# -- the controls and logs of a sandbox


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
        self.step = ui.text_field(
            "Forward by", "A number and s, m, h, d or w; or seconds alone", value="1h", hint="10s, 1h, 8d"
        )
        self.advance = self._button("Advance", "Advance the clock; due events happen at their time", self._advance)
        freeze = partial(self._run, "lab.clock.freeze()", self._form.lab.clock.freeze, "The clock is frozen.")
        self.freeze = self._button("Freeze", "Stop the clock", freeze)
        return [self.now, self.step, ui.row(self.advance, self.freeze)]

    def _advance(self) -> None:
        clock, step = self._form.lab.clock, self.step.value.strip()
        self._run(f"lab.clock.advance({step!r})", lambda: clock.advance(step), f"The clock was advanced by {step}.")

    def update(self) -> None:
        state = "frozen" if self._form.lab.clock.is_virtual else "running"
        self.now.value = tag("p", f"{self._form.lab.clock.now():%Y-%m-%d %H:%M:%S} UTC; the clock is {state}.")


class FaultSection(Section):
    """The controls that activate and remove fault plans."""

    heading = "Faults"

    def _controls(self) -> list[widgets.Widget]:
        tooltip = "A plan of faults; each step happens once"
        self.preset = ui.dropdown("Fault preset", tooltip, [preset.name for preset in PRESETS])
        self.description, self.armed = widgets.HTML(), widgets.HTML()
        self.arm = self._button("Arm", "Activate the faults", self._arm)
        clear = self._form.lab.service.clear_faults
        disarm = partial(self._run, "lab.service.clear_faults()", clear, "All faults are disarmed.")
        self.disarm = self._button("Disarm all", "Deactivate all faults", disarm)
        ui.on_change(self._show_preset, self.preset)
        self._show_preset()
        return [self.preset, self.description, ui.row(self.arm, self.disarm), self.armed]

    def _show_preset(self) -> None:
        self.description.value = tag("p", preset_text(self.preset.value), class_="svc-indented")

    def _arm(self) -> None:
        name, service = self.preset.value, self._form.lab.service
        code = f"with lab.faults({name!r}):\n    ...  # requests that meet the faults"
        self._run(code, lambda: service.add_faults({"preset": name}), f"Armed: {name}.")

    def update(self) -> None:
        lines = [
            tag("li", f"{plan.preset}: {plan.does}, at {plan.waits_for} (happened {plan.fired} of {plan.times})")
            for plan in self._form.lab.fault_plans().itertuples()
        ]
        self.armed.value = tag("ul", *lines) if lines else tag("p", "No fault is armed.")


class PeopleSection(Section):
    """The controls that sign in to an account and call `signed_in` with the new session and the e-mail address."""

    heading = "Accounts"

    def _controls(self) -> list[widgets.Widget]:
        self.user = ui.text_field("E-mail", "The account; an unknown one is created", value="bob@svc.example")
        self.scopes = ui.dropdown("Scopes", "The scopes of the access token", _SCOPES)
        self.sign_in = self._button("Sign in", "Use this account in the other tabs", self._sign_in)
        return [self.user, self.scopes, ui.row(self.sign_in)]

    def _sign_in(self) -> None:
        user, scopes = self.user.value.strip(), [self.scopes.value] if self.scopes.value else None
        if "@" not in user:
            raise ValueError(f"E-mail is {user!r}: enter an address such as bob@svc.example.")
        scopes_argument = f", scopes={scopes!r}" if scopes else ""
        session = self._form.lab.sign_in(user, scopes=scopes)
        code = f"session = lab.sign_in({user!r}{scopes_argument})\nsvc.dashboard(session=session)"
        self._run(code, lambda: self._form.signed_in(session, user), f"Signed in as {user}.")


# The maximum number of log rows on the page, which shows the latest rows. `result` contains all rows.
MAX_ROWS = 30

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
        self.work = BackgroundTask(self._show_failure)
        self.signed_in = signed_in
        self.clock, self.people, self.faults = ClockSection(self), PeopleSection(self), FaultSection(self)
        self._sections = [self.clock, self.people, self.faults]
        self.log_choice = ui.radio_buttons("Log", "The log of the sandbox that is shown", _LOGS, "svc-columns")
        self.refresh_button = self._button("Refresh", "Reload this tab", self.refresh)
        ui.on_change(lambda: self._guard(self._change_log), self.log_choice)
        sections = widgets.HBox(self._sections).add_class("svc-sections")
        logs = [widgets.HTML(tag("h4", "Logs", class_="svc-head")), self.log_choice, ui.row(self.refresh_button)]
        self._compose(self.status, self.alert, self.work, sections, *logs, self.table)
        self._guard(self.refresh)

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
        self._show_table(rows[columns].tail(MAX_ROWS).iloc[::-1], "The log is empty.")
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


_READS = frozenset({"GET", "HEAD"})
_POLL_INTERVAL = 0.5  # seconds between two polls

_ARMED_MESSAGE = "A fault or a limit is armed. Click Refresh to reload lists, because the requests would trigger it."


@dataclass(frozen=True, slots=True)
class DashboardTab:
    """A tab of the dashboard. `make` creates the form when the tab is first opened.

    If `reads_service` is True, the form is refreshed after data may have changed, otherwise after every request.
    """

    key: str
    title: str
    make: Callable[[Session], Form]
    reads_service: bool = True


def _form(module: str, name: str) -> Callable[[Session], Form]:
    """Return a function that imports a module and creates one of its forms for a session."""
    return lambda session: getattr(import_module(f"..{module}", __package__), name)(session)


_TABS = (
    DashboardTab("files", "Files", _form("file_browser.browser", "FileBrowser")),
    DashboardTab("upload", "Upload", _form("upload_form", "UploadForm")),
    DashboardTab("export", "Export", _form("export_form", "ExportForm")),
    DashboardTab("events", "Events", _form("calendar_view.view", "CalendarView")),
    DashboardTab("notifications", "Notifications", _form("watch_panel", "WatchPanel")),
    DashboardTab("wire", "HTTP", _form("dashboard.exchange_panel", "WirePanel"), reads_service=False),
)


def dashboard(*, session: SessionLike = None, lab: Sandbox | None = None) -> Dashboard:
    """Return a page of tabs for files, upload, export, events, notifications, HTTP exchanges and the sandbox.

    The form of a tab is created when the tab is opened for the first time, and refreshed when another tab, a cell or a
    program has changed data. `board.form` is the form of the open tab. `board.result` and `board.code()` are the result
    and the code of this form, `board.form.last_error` is its last error. `board.last_error` is the last error of the
    dashboard itself. `board.show("wire")` opens the tab with the HTTP exchanges.

    Args:
        session: The session whose files and events are shown. None stands for the session of `lab`, or without `lab`
            for the current session.
        lab: The sandbox of the tab "Lab controls". None stands for the sandbox that the session is signed in to. For
            an external service there is no such tab.

    >>> lab = svc.sandbox()
    >>> svc.dashboard()
    <Dashboard: Files, Upload, Export, Events, Notifications, HTTP, Lab controls>
    """
    return Dashboard(session or (lab.session if lab else None), lab)


class Dashboard(Form):
    """The form that `dashboard` returns. `forms` contains the forms of the tabs that were opened, by tab key."""

    title = "Dashboard"
    instead = "svc.files(), svc.upload(path), svc.events() and svc.exchanges()"

    def __init__(self, session: SessionLike = None, lab: Sandbox | None = None) -> None:
        super().__init__(session_or_current(session))
        self.add_class("svc-dashboard")
        self.lab = lab or sandbox_of(self.session)
        self.forms: dict[str, Form] = {}
        self._user = ""
        self._stale: set[str] = set()
        self._tabs = [
            *_TABS,
            *([DashboardTab("lab", "Lab controls", self._lab_panel, reads_service=False)] if self.lab else []),
        ]
        self._last_state = self._state()
        self.head = widgets.HTML()
        self._placeholders = [widgets.HTML(tag("p", f"{page.title} …")) for page in self._tabs]
        panes = [widgets.VBox([words]) for words in self._placeholders]
        self.tabs = widgets.Tab(panes, titles=[page.title for page in self._tabs])
        self.tabs.observe(lambda _change: self._guard(self._open), "selected_index")
        self.tabs.selected_index = 0
        self._compose(ui.style_sheet("dashboard.css"), self.head, self.status, self.alert, self.tabs)
        self._guard(self._open)
        self._poll_task: asyncio.Task[None] | None = None
        with suppress(RuntimeError):  # without an event loop nothing is polled
            self._poll_task = asyncio.get_running_loop().create_task(self._poll_forever())

    @property
    def form(self) -> Form:
        return self.forms[self._page.key]

    @property
    def result(self) -> DataFrame:
        """The `result` of the form in the open tab."""
        rows: DataFrame = self.form.result
        return rows

    @property
    def busy(self) -> bool:
        return any(form.busy for form in self.forms.values())

    def code(self) -> str:
        form = self.forms.get(self._page.key)
        return form.code() if form else "svc.dashboard()"

    def show(self, key: str) -> Form:
        """Open a tab, such as files or wire, and return its form. Raises ValueError for an unknown key."""
        keys = [page.key for page in self._tabs]
        if key not in keys:
            raise ValueError(f"key must be one of {', '.join(keys)}, not {key!r}")
        self.tabs.selected_index = keys.index(key)
        return self.form

    def refresh(self) -> None:
        """Refresh the open tab now, and every other tab when it is opened."""
        self._stale = set(self.forms)
        self._refresh_open_tab()

    def close(self) -> None:
        """Stop polling, and close all forms and the notification receiver."""
        if self._poll_task:
            self._poll_task.cancel()
        for form in self.forms.values():
            form.close()
        dispose(*self._placeholders)
        super().close()

    @property
    def _page(self) -> DashboardTab:
        return self._tabs[self.tabs.selected_index or 0]

    def _open(self) -> None:
        page = self._page
        if page.key not in self.forms:
            pane = self.tabs.children[self.tabs.selected_index or 0]
            self.forms[page.key] = page.make(self.session)
            pane.children = [self.forms[page.key]]
        self._refresh_open_tab()
        self._show_head()

    def _lab_panel(self, _session: Session) -> Form:
        assert self.lab is not None
        return LabPanel(self.lab, self._sign_in)

    def _sign_in(self, session: Session, user: str) -> None:
        """Switch all tabs except "Lab controls" to the session of another user."""
        if any(form.busy for key, form in self.forms.items() if key != "lab"):
            raise ValueError("A task is running in another tab. Wait for it, or cancel it.")
        self._session, self._user = session, user
        self._last_state = self._state()
        for pane, page in zip(self.tabs.children, self._tabs, strict=True):
            if page.key != "lab" and (form := self.forms.pop(page.key, None)):
                pane.children = ()
                form.close()
        self._show_head()

    async def _poll_forever(self) -> None:
        while True:
            await asyncio.sleep(_POLL_INTERVAL)
            self.poll()

    def poll(self) -> None:
        """Refresh the open tab if its data may have changed. Show an exception instead of raising the exception."""
        try:
            self._poll()
        except Exception as error:
            self._show_error(error)

    def _poll(self) -> None:
        before, self._last_state = self._last_state, self._state()
        if before == self._last_state:
            return
        changed = before[1:] != self._last_state[1:] or self._has_writes_since(before[0])
        self._stale |= {page.key for page in self._tabs if changed or not page.reads_service} & set(self.forms)
        self._refresh_open_tab()
        self._show_head()

    def _state(self) -> tuple[int, object]:
        """Return the number of the last request and the time of a virtual clock (None for another clock).

        Outside a sandbox, only the requests of the session count.
        """
        if self.lab is None:
            return self.session.exchanges.last, None
        return self.lab.service.requests_served, self.lab.clock.now() if self.lab.clock.is_virtual else None

    def _has_writes_since(self, since: int) -> bool:
        if self.lab is None:
            return any(exchange.method not in _READS for exchange in self.session.exchanges if exchange.n > since)
        rows = self.lab.service.journal(since=since if since <= self._last_state[0] else 0)
        return any(row["method"] not in _READS for row in rows)

    def _refresh_open_tab(self) -> None:
        page, form = self._page, self.forms.get(self._page.key)
        if form is None or page.key not in self._stale or form.busy:
            return
        if page.reads_service and self._is_armed():
            return
        self._stale.discard(page.key)
        form.refresh()

    def _is_armed(self) -> bool:
        """Return whether a request of the dashboard could trigger a fault or count towards a limit."""
        if self.lab is None:
            return False
        left = any(
            step["fired"] < step.get("times", 1) for plan in self.lab.service.fault_plans() for step in plan["steps"]
        )
        return left or bool(self.lab.service.limits())

    def _show_head(self) -> None:
        if self.lab is None:
            signed_in = f"{self.session!r}".strip("<>").replace("Session ", "Signed in at ")
            who = join_html(signed_in, ". There are no lab controls for an external service.")
        else:
            clock, user = self.lab.clock, self._user or self.lab.service.policy.first_user
            state = f"Clock {'frozen at' if clock.is_virtual else 'running:'} {clock.now():%Y-%m-%d %H:%M:%S} UTC."
            who = join_html("Signed in as ", tag("strong", user), ". ", state)
        self.head.value = tag("p", who, class_="svc-who")
        is_held = self._page.reads_service and self._page.key in self._stale and self._is_armed()
        self._show_status(_ARMED_MESSAGE if is_held else "")

    def _show_code(self) -> None:
        self.code_area.value = ""

    def _static_view(self) -> Markup:
        shown = self.forms.get(self._page.key)
        return join_html(tag("p", "Dashboard: run the cell to use it."), shown._static_view() if shown else "")

    def _summary(self) -> str:
        return f"<Dashboard: {', '.join(page.title for page in self._tabs)}>"
