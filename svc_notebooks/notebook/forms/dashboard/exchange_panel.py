"""The wire: what a session has sent and what came back, one row each, and one of them in full (D-04)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import ipywidgets as widgets

from ...current_session import session_or_current
from ...exchanges.exchanges import exchange, exchanges
from ...sizes import size_text
from ...widgets.field import LABEL, labelled
from ...widgets.form import Form
from ...widgets.html import tag
from ...widgets.row_list import RowList, default_row_list
from ...widgets.styles import row

if TYPE_CHECKING:
    from pandas import DataFrame

    from ....client.session import Session
    from ....client.transport.recorder import Exchange

MOST = 200
"""So many exchanges are listed, the latest; `exchanges()` has all."""

_COLUMNS = {"asked": "Asked", "status": "Status", "sent": "Sent", "received": "Received", "time": "At (UTC)"}
_VIEWS = (
    ("headers and bodies", "http"),
    ("as a curl command", "curl"),
    ("with those before it, as a diagram", "diagram"),
)


class WirePanel(Form):
    """The last exchanges, the newest first. `result` is the frame of them all."""

    title = "The wire"

    def __init__(
        self, session: Session | None = None, make_list: Callable[[str, dict[str, str]], RowList] = default_row_list
    ) -> None:
        super().__init__(session)
        self.rows = make_list("Exchanges", _COLUMNS)
        self.shown_as = widgets.RadioButtons(
            options=_VIEWS, **labelled("Show it", "How the chosen exchange is shown below"), style=LABEL
        )
        self.shown_as.add_class("svc-across")
        self.status, self.view = widgets.HTML(), widgets.HTML()
        self.reread = self._button("Refresh", "See what was sent meanwhile", self.refresh)
        self.rows.watch(self._show, lambda _id: None, lambda: None)
        self.shown_as.observe(lambda _change: self._show(), "value")
        self._compose(row(self.reread, self.status), self.rows, self.shown_as, self.alert, self.view)
        self._guarded(self.refresh)

    @property
    def result(self) -> DataFrame:
        """Every exchange, with the columns of `exchanges()`."""
        return exchanges(session=self._session)

    def code(self) -> str:
        """The call of a cell that shows the same."""
        chosen = self._chosen()
        if chosen is None:
            return "svc.exchanges()"
        view = {"http": "", "curl": ".curl()", "diagram": ".diagram()"}[self.shown_as.value]
        return f"svc.exchange({chosen}){view}"

    def refresh(self) -> None:
        """See what was sent meanwhile; no request is made for it."""
        found = session_or_current(self._session).exchanges
        latest = list(found[-MOST:])[::-1]
        self.rows.show([_line(one) for one in latest], "Nothing was sent yet.")
        words = f"{len(found)} exchanges" if len(found) != 1 else "1 exchange"
        left_out = f"; the last {MOST} are listed" if len(found) > MOST else ""
        self.status.value = tag("span", f"{words}, the newest first{left_out}", role="status")
        self._show()

    def _chosen(self) -> int | None:
        ids = self.rows.ids()
        return int(ids[0]) if ids else None

    def _show(self) -> None:
        self._guarded(self._show_chosen)
        self._show_code()

    def _show_chosen(self) -> None:
        chosen = self._chosen()
        if chosen is None:
            self.view.value = ""
            return
        one = exchange(chosen, session=self._session)
        way = self.shown_as.value
        self.view.value = (
            one._repr_html_() if way == "http" else tag("pre", one.curl() if way == "curl" else one.diagram())
        )

    def __repr__(self) -> str:
        return f"<WirePanel: {len(session_or_current(self._session).exchanges)} exchanges>"


def _line(one: Exchange) -> dict[str, Any]:
    path = urlsplit(one.url).path
    return {
        "id": str(one.n),
        "asked": f"{one.n}: {one.method} {path}",
        "status": str(one.status) if one.status else "none",
        "sent": size_text(one.sent) if one.sent else "",
        "received": size_text(one.received) if one.received else "",
        "time": f"{one.time:%H:%M:%S}",
        "note": one.error or "",
        "more": f"status {one.status or 'none'}, {size_text(one.sent)} sent, {size_text(one.received)} received",
    }
