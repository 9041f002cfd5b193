"""The dashboard, which shows every form as a tab. A form is created when its tab is opened for the first time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import ipywidgets as widgets

from ...notebook.current_session import SessionLike, session_or_current
from ...notebook.html import Markup, join_html, tag
from ...notebook.sandbox.sandbox import Sandbox, sandbox_of
from ..widgets.field import style_sheet
from ..widgets.form import Form, dispose

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session


_READS = frozenset({"GET", "HEAD"})


class ChangeDetector:
    """Compares the state of a service between two polls. Outside a sandbox, only the session's requests count."""

    def __init__(self, session: Session, lab: Sandbox | None) -> None:
        self._session, self._lab = session, lab
        self._last_state = self._state()

    def poll(self) -> tuple[bool, bool]:
        """Return whether there were requests or clock changes since the last poll, and whether data may differ."""
        before, self._last_state = self._last_state, self._state()
        active = before != self._last_state
        return active, active and (before[1:] != self._last_state[1:] or self._has_writes_since(before[0]))

    def _state(self) -> tuple[int, object]:
        """Return the number of the last request and the time of a virtual clock (None for another clock)."""
        if self._lab is None:
            return self._session.exchanges.last, None
        return self._lab.service.requests_served, self._lab.clock.now() if self._lab.clock.is_virtual else None

    def _has_writes_since(self, since: int) -> bool:
        if self._lab is None:
            return any(exchange.method not in _READS for exchange in self._session.exchanges if exchange.n > since)
        rows = self._lab.service.journal(since=since if since <= self._last_state[0] else 0)
        return any(row["method"] not in _READS for row in rows)


_POLL_INTERVAL = 0.5
"""Seconds between two polls."""

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
    DashboardTab("upload", "Upload", _form("upload.form", "UploadForm")),
    DashboardTab("export", "Export", _form("export_form", "ExportForm")),
    DashboardTab("events", "Events", _form("event.form", "EventPage")),
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
        self._detector = ChangeDetector(self.session, self.lab)
        self.head = widgets.HTML()
        self._placeholders = [widgets.HTML(tag("p", f"{page.title} …")) for page in self._tabs]
        panes = [widgets.VBox([words]) for words in self._placeholders]
        self.tabs = widgets.Tab(panes, titles=[page.title for page in self._tabs])
        self.tabs.observe(lambda _change: self._guard(self._open), "selected_index")
        self.tabs.selected_index = 0
        self._compose(style_sheet("dashboard.css"), self.head, self.status, self.alert, self.tabs)
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
        from .sandbox_panel import LabPanel

        assert self.lab is not None
        return LabPanel(self.lab, self._sign_in)

    def _sign_in(self, session: Session, user: str) -> None:
        """Switch all tabs except "Lab controls" to the session of another user."""
        if any(form.busy for key, form in self.forms.items() if key != "lab"):
            raise ValueError("A task is running in another tab. Wait for it, or cancel it.")
        self._session, self._user = session, user
        self._detector = ChangeDetector(session, self.lab)
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
        active, changed = self._detector.poll()
        if not active:
            return
        remote = {page.key for page in self._tabs if page.reads_service} if changed else set()
        local = {page.key for page in self._tabs if not page.reads_service}
        self._stale |= (remote | local) & set(self.forms)
        self._refresh_open_tab()
        self._show_head()

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
