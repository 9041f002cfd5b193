"""Lists, filters, shows, compares, edits and resends the HTTP exchanges of a session (D-04)."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import ipywidgets as widgets

from ...client.session import SessionLike
from ...notebook.display import Markup, count_text, join_html, size_text, tag
from ...notebook.exchanges.compare import archive, compare_exchanges
from ...notebook.exchanges.exchanges import ExchangeView, editable_headers, exchange, exchange_filter, exchanges
from ...notebook.exchanges.request_code import target, whole_body
from ..widgets import ui
from ..widgets.background_task import BackgroundTask
from ..widgets.dialogs import Dialog, comparison_table
from ..widgets.file_picker import DownloadWidget
from ..widgets.form import Form, code_view
from ..widgets.grid import Grid

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.transport.recorder import Exchange


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_ABOUT_TOKEN = "The session adds its token (Authorization: Bearer …) and the Content-Length."


class ExchangeEditor(Dialog):
    """The method, URL, headers and body of a request that a person can edit.

    The buttons call `send` and `cancel`. The token of the session is neither shown nor edited.
    """

    def __init__(self, send: Callable[[], None], cancel: Callable[[], None]) -> None:
        # The exchange whose request is edited, or None if the editor is closed.
        self.edited: ExchangeView | None = None
        self.method = ui.dropdown("Method", "The method of the request", METHODS)
        self.url = ui.text_area("URL", "The path with its query, or a whole URL", rows=3)
        self.headers = ui.text_area("Headers", "One header in each line: Name: value", rows=5)
        self.body = ui.text_area("Body", "The text of the body", rows=6)
        self.send = ui.button("Send", "Send the edited request", send, "primary")
        self.cancel = ui.cancel_button("Close the editor and send nothing", cancel)
        super().__init__(self.method, self.url, self.headers, self.body, ui.row(self.send, self.cancel))

    def edit(self, view: ExchangeView) -> None:
        """Show the request of an exchange.

        Raises ValueError if the person has changed the request of another exchange.
        """
        if self.edited and self.edited.n == view.n:
            self.url.focus()
            return
        if self.edited and self.changes():
            raise ValueError(f"The request of exchange {self.edited.n} is being edited. Send it, or click Cancel.")
        self.edited, exchange = view, view.exchange
        body = whole_body(exchange)
        incomplete = f" Its body of {size_text(exchange.sent)} was not recorded: enter a body." if body is None else ""
        title = tag("strong", f"Edit and resend exchange {exchange.n}")
        self.method.options = tuple(dict.fromkeys((*METHODS, exchange.method)))
        self.method.value = exchange.method
        self.url.value = target(exchange)
        self.headers.value = "\n".join(f"{name}: {value}" for name, value in editable_headers(exchange))
        self.body.value = body or ""
        self.ask_with(tag("p", title, tag("br"), f"{_ABOUT_TOKEN}{incomplete}"))
        self.url.focus()

    def dismiss(self) -> None:
        self.edited = None
        super().dismiss()

    def changes(self) -> dict[str, Any]:
        """Return the arguments of `ExchangeView.resend` for the values that the person has changed.

        Raises ValueError for a header line without a colon.
        """
        assert self.edited is not None
        exchange = self.edited.exchange
        changed: dict[str, Any] = {}
        if self.method.value != exchange.method:
            changed["method"] = self.method.value
        if (url := "".join(line.strip() for line in self.url.value.splitlines())) != target(exchange):
            changed["url"] = url
        if headers := self._changed_headers(dict(editable_headers(exchange))):
            changed["headers"] = headers
        recorded, body = whole_body(exchange) or "", self.body.value.replace("\r\n", "\n")
        if "\r\n" in (exchange.request_body or ""):  # which a browser turns into LF
            body = body.replace("\n", "\r\n")
        if body != recorded:
            changed["body"] = body
        return changed

    def _changed_headers(self, recorded: dict[str, str]) -> dict[str, str | None]:
        edited: dict[str, str] = {}
        for number, line in enumerate(self.headers.value.splitlines(), 1):
            name, colon, value = line.partition(":")
            if line.strip() and not (colon and name.strip()):
                raise ValueError(f"Line {number} of the headers is {line!r}; write a name, a colon and a value.")
            if line.strip():
                edited[name.strip()] = value.strip()
        removed: dict[str, str | None] = {name: None for name in recorded if name not in edited}
        return removed | {name: value for name, value in edited.items() if recorded.get(name) != value}

    def __repr__(self) -> str:
        return f"<ExchangeEditor: {f'exchange {self.edited.n}' if self.edited else 'closed'}>"


_MESSAGES = ("request", "response")
_EQUAL = "The recorded requests and responses are equal. Only the first 2 KiB of each text body are recorded."


def difference_view(old: ExchangeView, new: ExchangeView) -> Markup:
    """Return HTML with a table of the different columns and headers, and a unified diff of each different body."""
    title = tag("p", tag("strong", f"Difference between exchanges {old.n} and {new.n}"))
    differences = compare_exchanges(old, new)
    if differences.empty:
        return join_html(title, tag("p", _EQUAL))
    is_body = differences["what"].isin([f"{message} body" for message in _MESSAGES])
    changed = set(differences["what"])
    bodies = [_body_difference(old, new, message) for message in _MESSAGES if f"{message} body" in changed]
    lines = differences[~is_body][["what", "first", "second"]].fillna("(none)").itertuples(index=False, name=None)
    headings = (f"Exchange {old.n}", f"Exchange {new.n}")
    return join_html(title, comparison_table("Differences", headings, lines) if not is_body.all() else "", *bodies)


def _body_difference(old: ExchangeView, new: ExchangeView, message: str) -> Markup:
    before, after = ((getattr(view, f"{message}_body") or "").splitlines() for view in (old, new))
    lines = difflib.unified_diff(before, after, f"exchange {old.n}", f"exchange {new.n}", lineterm="")
    return join_html(tag("p", f"Body of the {message}"), tag("pre", "\n".join(lines)))


_STATUSES = ("2xx", "3xx", "308", "4xx", "404", "5xx", "-")


class ExchangeFilterFields(widgets.HBox):  # type: ignore[misc]
    """The fields `method`, `status` and `path`. `changed` is called when a person changes one of them.

    >>> fields = ExchangeFilterFields(lambda: None)
    >>> fields.status.value = "4xx, 308"; fields.code()
    "svc.exchanges(status=['4xx', '308'])"
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        methods = [("All", ""), *((method, method) for method in METHODS)]
        self.method = ui.dropdown("Method", "List only exchanges with this method", methods, style={})
        self.status = widgets.Combobox(
            options=_STATUSES,
            placeholder="404, 4xx, - for no response",
            continuous_update=False,
            **ui.describe("Status", "List only exchanges with one of these statuses"),
        )
        self.path = ui.text_field("Path", "List only exchanges whose path or query contains this text", style={})
        self.path.continuous_update = True
        super().__init__([self.method, self.status, self.path])
        self.add_class("svc-filters")
        ui.on_change(changed, self.method, self.status, self.path)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `exchanges` for the fields that are not empty."""
        statuses = self.status.value.replace(",", " ").split()
        arguments = {
            "method": self.method.value,
            "status": statuses[0] if len(statuses) == 1 else statuses,
            "path": self.path.value.strip(),
        }
        return {name: value for name, value in arguments.items() if value}

    def select(self, recorded: Iterable[Exchange]) -> list[Exchange]:
        """Return the exchanges that match the fields. Raises ValueError for an invalid status."""
        return [*filter(exchange_filter(**self.arguments()), recorded)]

    def code(self) -> str:
        """Return the call that lists the selected exchanges."""
        return f"svc.exchanges({', '.join(f'{name}={value!r}' for name, value in self.arguments().items())})"

    def clear(self) -> None:
        """Empty all fields."""
        for field in (self.method, self.status, self.path):
            field.value = ""

    def __repr__(self) -> str:
        return f"<ExchangeFilterFields: {self.arguments() or 'all exchanges'}>"


# The maximum number of exchanges in the list, which shows the latest. `exchanges()` returns all exchanges.
MAX_LISTED = 200

_COLUMNS = {"asked": "Request", "status": "Status", "sent": "Sent", "received": "Received", "time": "At (UTC)"}
_VIEWS = (
    ("Headers and bodies", "http"),
    ("curl command", "curl"),
    ("Python code (requests)", "python"),
    ("Diagram with the requests before it", "diagram"),
    ("Difference between two", "difference"),
)
_SELECT_ONE = "Select an exchange in the list."
_SELECT_TWO = "Select two exchanges in the list (the second with Ctrl or Space) to compare them."


class WirePanel(Form):
    """A form that lists the latest HTTP exchanges, newest first, and sends a request again with changes.

    `result` is the DataFrame of the exchanges that match the filter.
    """

    title = "HTTP exchanges"
    instead = "svc.exchanges()"

    def __init__(self, session: SessionLike = None) -> None:
        super().__init__(session)
        self._last_action: tuple[list[str], str] = ([], "")
        self.rows = Grid("Exchanges", _COLUMNS)
        self.filter = ExchangeFilterFields(self._guarded(self.refresh))
        self.view_format = ui.radio_buttons("View", "How the selected exchange is shown", _VIEWS, "svc-across")
        self.view = widgets.HTML()
        self.edit_button = self._button(
            "Edit and resend",
            "Change the selected request and send it again",
            lambda: self.editor.edit(self._selected()),
        )
        self.resend_button = self._button("Resend", "Send the selected request again", self._resend)
        self.har_button = self._button("Save as HAR", "Save the listed exchanges as an HTTP archive", self._save_har)
        self.clear_button = self._button("Clear", "Remove all exchanges from the record of the session", self._clear)
        self.refresh_button = self._button("Refresh", "Reload the list", self.refresh)
        self.editor = ExchangeEditor(self._guarded(self._send_edited), self._guarded(self._close_editor))
        self.work = BackgroundTask(self._show_failure)
        self.browser_download = DownloadWidget()
        self.rows.watch(self._show, lambda _id: None, lambda: None)
        ui.on_change(self._show, self.view_format)
        buttons = (self.edit_button, self.resend_button, self.har_button, self.clear_button, self.refresh_button)
        self._compose(
            self.filter,
            self.status,
            self.rows,
            ui.row(*buttons),
            self.browser_download,
            self.alert,
            self.work,
            self.editor,
            self.view_format,
            self.view,
        )
        self._guard(self.refresh)

    @property
    def result(self) -> DataFrame:
        """The exchanges that match the filter, with the columns of `exchanges()`."""
        return exchanges(session=self._session, **self.filter.arguments())

    def code(self) -> str:
        """Return the call that shows or has sent the selected exchange, or that lists the exchanges."""
        chosen = self.rows.ids()
        ids, code = self._last_action
        if code and ids == chosen:
            return code
        if not chosen:
            return self.filter.code()
        if self.view_format.value == "difference" and len(chosen) > 1:
            return f"svc.compare_exchanges(svc.exchange({chosen[-1]}), svc.exchange({chosen[0]}))"
        view = {"http": "", "difference": ""}.get(self.view_format.value, f".{self.view_format.value}()")
        return f"svc.exchange({chosen[0]}){view}"

    def refresh(self) -> None:
        """Show the latest exchanges that the session has recorded. No request is sent."""
        recorded = self.session.exchanges
        if len(recorded) and not self._last_action[0]:
            self._last_action = [], ""  # the record was cleared or saved before
        listed = self.filter.select(recorded)
        latest = listed[-MAX_LISTED:][::-1]
        empty_message = "No exchange matches the filter." if len(recorded) else "Nothing was sent yet."
        self.rows.show([_table_row(entry) for entry in latest], empty_message)
        self._show_status(_count(len(listed), len(recorded)))
        self._show()

    def _clear_status(self) -> None:
        """Keep the number of exchanges, which an error does not change."""

    # -- the list

    def _selected(self) -> ExchangeView:
        """Return the newest selected exchange. Raises ValueError if no exchange is selected."""
        ids = self.rows.ids()
        if not ids:
            raise ValueError(_SELECT_ONE)
        return exchange(int(ids[0]), session=self._session)

    def _clear(self) -> None:
        self.filter.select(())  # with an invalid filter nothing is removed, because nothing could be listed
        self.session.exchanges.clear()
        self.refresh()
        self._last_action = [], "svc.current_session().exchanges.clear()"
        self._show_code()

    def _save_har(self) -> None:
        listed = self.filter.select(self.session.exchanges)
        if not listed:
            raise ValueError("There is no exchange to save.")
        content = json.dumps(archive(listed), ensure_ascii=False, indent=1).encode()
        outcome = self.browser_download.save("exchanges.har", "application/json", content)
        self._show_status(f"{_count(len(listed), len(listed))}: {outcome}")
        chosen = f", exchanges={self.filter.code()}" if self.filter.arguments() else ""
        self._last_action = self.rows.ids(), f'svc.save_har("exchanges.har"{chosen})'
        self._show_code()

    # -- sending again

    def _close_editor(self) -> None:
        """Close the editor, and focus the button that opens the editor if the focus was in the editor."""
        if self.editor.edited:
            self.editor.dismiss()
            self.edit_button.focus()

    def _send_edited(self) -> None:
        edited = self.editor.edited
        if edited is None:
            return
        changes = self.editor.changes()
        if "body" not in changes and whole_body(edited.exchange) is None:
            raise ValueError(f"The body of exchange {edited.n} was not recorded. Enter a body.")
        self._resend(edited, changes)

    def _resend(self, edited: ExchangeView | None = None, changes: dict[str, Any] | None = None) -> None:
        """Send the selected or the edited request, and then show the difference between both exchanges."""
        old = edited or self._selected()
        written = ", ".join(f"{name}={value!r}" for name, value in (changes or {}).items())
        lines = [f"old = svc.exchange({old.n})", f"new = old.resend({written})", "svc.compare_exchanges(old, new)"]

        def on_done(new: ExchangeView) -> None:
            if edited and self.editor.edited is edited:
                self._close_editor()
            if new.n not in {exchange.n for exchange in self.filter.select(self.session.exchanges)}:
                self.filter.clear()  # which hides the new exchange
            self.refresh()
            recorded = {exchange.n for exchange in self.session.exchanges}
            chosen = [str(view.n) for view in (new, old) if view.n in recorded]
            self._last_action = chosen, "\n".join(lines)
            self.rows.chosen = chosen
            self.view_format.value = "difference" if len(chosen) > 1 else "http"
            self._show()

        in_thread = not self.session.in_process
        self.work.begin("Sending", lambda _report: old.resend(**(changes or {})), on_done, in_thread=in_thread)

    # -- the selected exchange

    def _show(self) -> None:
        self._guard(self._show_selection)
        self._show_code()

    def _show_selection(self) -> None:
        ids, view_format = self.rows.ids(), self.view_format.value
        if not ids:
            self.view.value = ""
        elif view_format == "http":
            self.view.value = self._selected()._repr_html_()
        elif view_format == "difference":
            pair = (exchange(int(n), session=self._session) for n in (ids[-1], ids[0]))
            self.view.value = difference_view(*pair) if len(ids) > 1 else tag("p", _SELECT_TWO)
        else:
            self.view.value = code_view(getattr(self._selected(), view_format)(), self.view_format.label)

    def _summary(self) -> str:
        return f"<WirePanel: {len(self.session.exchanges)} exchanges>"


def _count(listed: int, recorded: int) -> str:
    count = count_text(recorded, "exchange")
    of = f"{listed} of {count}" if listed != recorded else count
    return f"{of}, newest first" + (f"; the last {MAX_LISTED} are listed" if listed > MAX_LISTED else "")


def _table_row(entry: Exchange) -> dict[str, Any]:
    path = urlsplit(entry.url).path
    return {
        "id": str(entry.n),
        "asked": f"{entry.n}: {entry.method} {path}",
        "status": str(entry.status) if entry.status else "none",
        "sent": size_text(entry.sent) if entry.sent else "",
        "received": size_text(entry.received) if entry.received else "",
        "time": f"{entry.time:%H:%M:%S}",
        "note": entry.error or "",
        "more": f"status {entry.status or 'none'}, {size_text(entry.sent)} sent, {size_text(entry.received)} received",
    }
