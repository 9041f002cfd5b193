"""Lists the HTTP exchanges of a session, and shows the selected exchange in full (D-04)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import ipywidgets as widgets

from ...byte_sizes import size_text
from ...current_session import session_or_current
from ...exchanges.exchanges import exchange, exchanges
from ...widgets.field import LABEL, describe
from ...widgets.form import Form
from ...widgets.html import tag
from ...widgets.row_list import RowList, default_row_list
from ...widgets.styles import row

if TYPE_CHECKING:
    from pandas import DataFrame

    from ....client.session import Session
    from ....client.transport.recorder import Exchange

MAX_LISTED = 200
"""The maximum number of exchanges in the list, which shows the latest. `exchanges()` returns all exchanges."""

_COLUMNS = {"asked": "Request", "status": "Status", "sent": "Sent", "received": "Received", "time": "At (UTC)"}
_VIEWS = (
    ("Headers and bodies", "http"),
    ("curl command", "curl"),
    ("Diagram with the requests before it", "diagram"),
)


class WirePanel(Form):
    """A form that lists the latest HTTP exchanges, newest first. `result` is the DataFrame of all exchanges."""

    title = "HTTP exchanges"

    def __init__(
        self, session: Session | None = None, make_list: Callable[[str, dict[str, str]], RowList] = default_row_list
    ) -> None:
        super().__init__(session)
        self.rows = make_list("Exchanges", _COLUMNS)
        self.view_format = widgets.RadioButtons(
            options=_VIEWS, **describe("View", "How the selected exchange is shown"), style=LABEL
        )
        self.view_format.add_class("svc-across")
        self.status, self.view = widgets.HTML(), widgets.HTML()
        self.refresh_button = self._button("Refresh", "Reload the list", self.refresh)
        self.rows.watch(self._show, lambda _id: None, lambda: None)
        self.view_format.observe(lambda _change: self._show(), "value")
        self._compose(row(self.refresh_button, self.status), self.rows, self.view_format, self.alert, self.view)
        self._guard(self.refresh)

    @property
    def result(self) -> DataFrame:
        """All exchanges, with the columns of `exchanges()`."""
        return exchanges(session=self._session)

    def code(self) -> str:
        """Return the call that shows the selected exchange, or `svc.exchanges()` without a selection."""
        chosen = self._selection()
        if chosen is None:
            return "svc.exchanges()"
        view = {"http": "", "curl": ".curl()", "diagram": ".diagram()"}[self.view_format.value]
        return f"svc.exchange({chosen}){view}"

    def refresh(self) -> None:
        """Show the latest exchanges that the session has recorded. No request is sent."""
        recorded = session_or_current(self._session).exchanges
        latest = list(recorded[-MAX_LISTED:])[::-1]
        self.rows.show([_table_row(entry) for entry in latest], "Nothing was sent yet.")
        count = f"{len(recorded)} exchanges" if len(recorded) != 1 else "1 exchange"
        left_out = f"; the last {MAX_LISTED} are listed" if len(recorded) > MAX_LISTED else ""
        self.status.value = tag("span", f"{count}, newest first{left_out}", role="status")
        self._show()

    def _selection(self) -> int | None:
        ids = self.rows.ids()
        return int(ids[0]) if ids else None

    def _show(self) -> None:
        self._guard(self._show_selection)
        self._show_code()

    def _show_selection(self) -> None:
        chosen = self._selection()
        if chosen is None:
            self.view.value = ""
            return
        selected = exchange(chosen, session=self._session)
        view_format = self.view_format.value
        self.view.value = (
            selected._repr_html_()
            if view_format == "http"
            else tag("pre", selected.curl() if view_format == "curl" else selected.diagram())
        )

    def __repr__(self) -> str:
        return f"<WirePanel: {len(session_or_current(self._session).exchanges)} exchanges>"


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
