"""The part of the panel of HTTP exchanges in which a person edits a request before it is sent again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ...byte_sizes import size_text
from ...exchanges.http_text import target
from ...exchanges.recorded_body import whole_body
from ...exchanges.resend import editable_headers
from ...widgets.field import LABEL, describe, set_visible, text_area, text_field
from ...widgets.html import tag
from ...widgets.styles import row

if TYPE_CHECKING:
    from ....client.transport.recorder import Exchange
    from ...exchanges.exchange_view import ExchangeView

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_ABOUT_TOKEN = "The session adds its token (Authorization: Bearer …) and the Content-Length."


class ExchangeEditor(widgets.VBox):  # type: ignore[misc]
    """The method, URL, headers and body of a request that a person can edit.

    The buttons call `send` and `cancel`. The token of the session is neither shown nor edited.
    """

    def __init__(self, send: Callable[[], None], cancel: Callable[[], None]) -> None:
        self.edited: ExchangeView | None = None
        """The exchange whose request is edited, or None if the editor is closed."""
        self.head = widgets.HTML()
        self.method = widgets.Dropdown(options=METHODS, **describe("Method", "The method of the request"), style=LABEL)
        self.url = text_area("URL", "The path with its query, or a whole URL", rows=3)
        self.headers = text_area("Headers", "One header in each line: Name: value", rows=5)
        self.body = text_area("Body", "The text of the body", rows=6)
        self.file = text_field("Body from file", "The path of a file with the body", hint="path of a file")
        self.send = widgets.Button(description="Send", tooltip="Send the edited request", button_style="primary")
        self.cancel = widgets.Button(description="Cancel", tooltip="Close the editor and send nothing")
        self.cancel.add_class("svc-cancel")
        self.send.on_click(lambda _button: send())
        self.cancel.on_click(lambda _button: cancel())
        fields = (self.method, self.url, self.headers, self.body, self.file)
        super().__init__([self.head, *fields, row(self.send, self.cancel)])
        self.add_class("svc-question")
        set_visible(self, False)

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
        self.head.value = tag("p", title, tag("br"), f"{_ABOUT_TOKEN}{incomplete}")
        self.method.options = tuple(dict.fromkeys((*METHODS, exchange.method)))
        self.method.value = exchange.method
        self.url.value = target(exchange)
        self.headers.value = "\n".join(f"{name}: {value}" for name, value in editable_headers(exchange))
        self.body.value = body or ""
        self.file.value = ""
        set_visible(self, True)
        self.url.focus()

    def close_editor(self) -> None:
        """Hide the editor."""
        self.edited = None
        set_visible(self, False)

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
        recorded, body = whole_body(exchange) or "", _line_ends_of(exchange, self.body.value)
        if body != recorded:
            changed["body"] = body
        return changed

    def body_file(self) -> Path | None:
        """Return the path of the file that is the body, or None if no file is named. Raises ValueError for no file."""
        path = Path(self.file.value.strip()).expanduser()
        if self.file.value.strip() and not path.is_file():
            raise ValueError(f"Body from file: {path} is not a file. Enter the path of a file, or nothing.")
        return path if self.file.value.strip() else None

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


def _line_ends_of(exchange: Exchange, text: str) -> str:
    """Return a text with the line ends of the recorded body, because a browser turns CRLF into LF."""
    is_crlf = "\r\n" in (exchange.request_body or "")
    return text.replace("\r\n", "\n").replace("\n", "\r\n") if is_crlf else text
