"""Displays a recorded exchange as HTML in a notebook, and as HTTP text in other front ends (D-04).

A sequence diagram of exchanges is text with lines, an SVG image, or text in the Mermaid language (D-04d).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...core.errors.public_calls import public_methods
from ...core.http.messages import Query
from ...core.printable_text import terminal_text
from ...core.suggestions import missing_attribute
from ..byte_sizes import size_text
from ..html import Markup, join_html, tag
from .charts import LIGHT_AND_DARK, SENT, drawing, image
from .request_code import body_text, curl_text, http_text, python_text, status_line
from .resend import BodyArgument, edited_request, send_and_record

if TYPE_CHECKING:
    from ...client.session import Session
    from ...client.transport.recorder import Exchange


_ESCAPES = str.maketrans({"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;"})
_MARGIN, _ROW, _LETTER = 40, 34, 7.3
_LOOK = LIGHT_AND_DARK + (
    "svg{background:#fff;font:12px ui-monospace,monospace}text{fill:currentColor}"
    "line{stroke:currentColor;stroke-opacity:.5}@media(prefers-color-scheme:dark){svg{background:#111}}"
)


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow of the diagram. `lost` is True for a response that did not arrive."""

    label: str
    is_request: bool
    lost: bool = False


class Diagram(str):
    """A sequence diagram as text with a line for each request and each response. A notebook displays an image.

    `mermaid` is the same diagram in the Mermaid language, for a Markdown page.
    """

    arrows: tuple[Arrow, ...]

    def __new__(cls, arrows: Iterable[Arrow]) -> Diagram:
        arrows = tuple(arrows)
        diagram = super().__new__(cls, "\n".join(_lines(arrows)))
        diagram.arrows = arrows
        return diagram

    def __getnewargs__(self) -> tuple[tuple[Arrow, ...]]:  # type: ignore[override]  # for pickle and copy
        return (self.arrows,)

    @property
    def mermaid(self) -> str:
        """The diagram as a str in the Mermaid language."""
        lines = ["sequenceDiagram", "    participant C as client", "    participant S as service"]
        for arrow in self.arrows:
            head = "C->>S" if arrow.is_request else "S--xC" if arrow.lost else "S-->>C"
            lines.append(f"    {head}: {arrow.label.translate(_ESCAPES)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        width = round(2 * _MARGIN + _LETTER * (4 + max((len(arrow.label) for arrow in self.arrows), default=0)))
        return str(image(_svg(self.arrows, width), self, width))


def sequence_diagram(exchanges: Iterable[Exchange]) -> Diagram:
    """Return the sequence diagram of exchanges, the oldest first."""
    arrows: list[Arrow] = []
    for exchange in exchanges:
        arrows.append(Arrow(terminal_text(_request_label(exchange)), is_request=True))
        lost = exchange.status is None
        arrows.append(Arrow(terminal_text(_response_label(exchange)), is_request=False, lost=lost))
    return Diagram(arrows)


def _request_label(exchange: Exchange) -> str:
    headers = dict(exchange.request_headers)
    byte_range = headers.get("Content-Range") or headers.get("Range") or ""
    body = f"({size_text(exchange.sent)})" if exchange.sent else ""
    return " ".join(part for part in (exchange.method, _target(exchange.url), byte_range, body) if part)


def _target(url: str) -> str:
    """Return "session URI" for an upload session, otherwise the path with the parameters `uploadType` and `alt`."""
    parts = urlsplit(url)
    query = Query.parse(parts.query)
    if "upload_id" in query:
        return "session URI"
    parameters = [f"{name}={query.get(name)}" for name in ("uploadType", "alt") if name in query]
    return "?".join([parts.path, *parameters])


def _response_label(exchange: Exchange) -> str:
    if exchange.status is None:
        return exchange.error or "no response"
    headers = dict(exchange.response_headers)
    return f"{status_line(exchange.status)} {headers.get('Range') or headers.get('Content-Range') or ''}".rstrip()


def _lines(arrows: Sequence[Arrow]) -> Iterable[str]:
    width = max((len(arrow.label) for arrow in arrows), default=10) + 4
    yield f"client{'service':>{width + 5}}"
    for label, is_request, lost in ((arrow.label, arrow.is_request, arrow.lost) for arrow in arrows):
        if is_request:
            yield f"  │─ {label} {'─' * (width - len(label))}>│"
        else:
            yield f"  │{'  x' if lost else '<'}- {label} {'-' * (width - len(label) - 2 * lost)} │"


def _svg(arrows: Sequence[Arrow], width: int) -> Markup:
    left, right, height = _MARGIN, width - _MARGIN, _MARGIN + _ROW * len(arrows)
    parts = [tag("style", Markup(_LOOK))]
    for x, name in ((left, "client"), (right, "service")):
        parts += [tag("text", name, x=x, y=18, text_anchor="middle", font_weight=700)]
        parts += [tag("line", x1=x, x2=x, y1=26, y2=height)]
    for row, arrow in enumerate(arrows, start=1):
        y, end = _MARGIN - 6 + _ROW * row, right if arrow.is_request else left
        start, back = (left, -9) if arrow.is_request else (right, 9)
        end += 5 * back if arrow.lost else 0
        head = f"M{end + back},{y - 4} L{end},{y} L{end + back},{y + 4}"
        if arrow.lost:
            head = f"M{end - 5},{y - 5} L{end + 5},{y + 5} M{end - 5},{y + 5} L{end + 5},{y - 5}"
        dashes = None if arrow.is_request else "4 3"
        parts += [
            tag("text", arrow.label, x=left + 14, y=y - 7),
            tag("path", d=f"M{start},{y} L{end},{y}", stroke=SENT, stroke_width=1.5, stroke_dasharray=dashes),
            tag("path", d=head, stroke=SENT, stroke_width=1.5, fill="none"),
        ]
    return drawing(width, height, *parts)


_SHELL_BASE_URL = "$SVC_BASE_URL"
_NAME = "text-align: left; vertical-align: top; width: 11em"
# JupyterLab removes `overflow-wrap: anywhere` from saved outputs, so a table with long values has a fixed layout.
_TABLE = "table-layout: fixed; width: 100%"
_VALUE = "text-align: left; vertical-align: top; overflow-wrap: break-word"
_TWO_COLUMNS = "display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1.5em"
_PRE = "white-space: pre-wrap; word-break: normal; overflow-wrap: break-word; margin: 0; font-family: monospace"
_MAX_LINES = 20


class CodeText(str):
    """A str with a command or code of several lines, which IPython shows as these lines and without quotes."""

    __slots__ = ()

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        for number, line in enumerate(self.split("\n")):
            if number:
                printer.break_()
            printer.text(line)


@public_methods
class ExchangeView:
    """A recorded HTTP exchange, which is a request and its response.

    `http()` and `str()` return the HTTP text, `curl()` a curl command, `python()` Python code and `diagram()` a
    sequence diagram. `resend()` sends the request again. The other attributes are `n`, `time`, `method`, `url`,
    `status`, `sent` and `received` (numbers of bytes), `request_headers`, `response_headers`, `request_body`,
    `response_body` and `error`.
    """

    def __init__(self, exchanges: Sequence[Exchange], position: int, session: Session) -> None:
        self._exchanges = tuple(exchanges[: position + 1])
        self._exchange = exchanges[position]
        self._session = session

    @property
    def exchange(self) -> Exchange:
        """The record of the exchange, which has the attributes of this view."""
        return self._exchange

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return getattr(self._exchange, name)
        except AttributeError:
            raise missing_attribute("an exchange", self, name) from None

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(field.name for field in fields(self._exchange))})

    def __str__(self) -> str:
        return http_text(self._exchange)

    def __repr__(self) -> str:
        exchange = self._exchange
        return f"<Exchange {exchange.n}: {exchange.method} {_path(exchange)} -> {status_line(exchange.status)}>"

    def http(self) -> str:
        """Return the request and the response as HTTP text without secrets.

        The text has the first 2 KiB of each text body, and only the size of a binary body.
        """
        return http_text(self._exchange)

    def curl(self, base_url: str | None = None) -> str:
        """Return a curl command for bash (str) that sends the request again.

        The command uses the shell variable `SVC_TOKEN`. If the whole body was not recorded, it also uses `FILE`, the
        path of the file. For a service inside this kernel it also uses `SVC_BASE_URL`, the `base_url` of `lab.serve()`.

        Args:
            base_url: An address that replaces the recorded scheme and host. None: the recorded address.
        """
        return CodeText(curl_text(self._exchange, base_url or (_SHELL_BASE_URL if self._session.in_process else None)))

    def python(self, base_url: str | None = None) -> str:
        """Return Python code (str) that sends the request again with the library requests.

        The code reads the environment variable `SVC_TOKEN`. If the whole body was not recorded, it also reads `FILE`,
        the path of the file. For a service inside this kernel it also reads `SVC_BASE_URL`, the `base_url` of
        `lab.serve()`.

        Args:
            base_url: An address that replaces the recorded scheme and host. None: the recorded address.
        """
        return CodeText(python_text(self._exchange, base_url, in_process=self._session.in_process))

    def resend(
        self,
        *,
        method: str | None = None,
        url: str | None = None,
        headers: Mapping[str, str | None] | None = None,
        body: BodyArgument = None,
    ) -> ExchangeView:
        """Send the request again, once and through the same session, and return the new exchange.

        The session adds its token. An error response is not raised: `compare_exchanges(old, new)` lists the
        differences. None keeps the recorded value of an argument.

        Args:
            method: Another method, such as "GET".
            url: Another path with its query, such as "/storage/v3/files?pageSize=1", or a whole URL.
            headers: Headers that are added or replaced. A header with the value None is removed.
            body: Another body. A dict or a list is sent as JSON, and a str as UTF-8. b"" sends no body.

        Returns:
            The new exchange, an `ExchangeView`. Without a response its `status` is None and its `error` is the reason.

        Raises:
            ValueError: An argument is invalid, the recorded body is incomplete, or a secret was removed from the
                recorded URL or body, so that `url` or `body` is needed.
            TypeError: An argument has the wrong type.
            RuntimeError: The record of the session was cleared while the request was sent.
        """
        request = edited_request(self._exchange, method=method, url=url, headers=headers, body=body)
        number = send_and_record(self._session, request)
        recorded = list(self._session.exchanges)
        return ExchangeView(recorded, [exchange.n for exchange in recorded].index(number), self._session)

    def diagram(self, last: int = 10) -> Diagram:
        """Return a sequence diagram of this exchange and the exchanges before it, with an arrow for each message.

        A notebook displays it as an image. `print` shows it as text with lines, and its attribute `mermaid` is the
        diagram in the Mermaid language, for a Markdown page.

        Args:
            last: The largest number of exchanges in the diagram, including this exchange.

        Raises:
            ValueError: `last` is less than 1.
        """
        if last < 1:
            raise ValueError(f"last is {last}; it must be 1 or more")
        return sequence_diagram(self._exchanges[-last:])

    def _repr_html_(self) -> str:
        exchange = self._exchange
        title = f"{exchange.method} {_path(exchange)} → {status_line(exchange.status)}"
        query = Query.parse(urlsplit(exchange.url).query).pairs
        request = tag(
            "div",
            _table("Request", exchange.request_headers),
            _table("Query", query) if query else "",
            _text(exchange.sent, exchange.request_body),
        )
        response = tag(
            "div", _table("Response", exchange.response_headers), _text(exchange.received, exchange.response_body)
        )
        answer = response if exchange.status else tag("p", exchange.error or "")
        parts = tag("summary", tag("code", title)), tag("div", request, answer, style=_TWO_COLUMNS)
        return str(tag("details", *parts, open=""))


def _path(exchange: Exchange) -> str:
    return urlsplit(exchange.url).path


def _table(title: str, pairs: tuple[tuple[str, str], ...]) -> Markup:
    rows = [
        tag("tr", tag("th", name, scope="row", style=_NAME), tag("td", value, style=_VALUE)) for name, value in pairs
    ]
    return tag("table", tag("caption", title, style="text-align: left; font-weight: 600"), *rows, style=_TABLE)


def _text(size: int, text: str | None) -> Markup:
    lines = body_text(size, text).splitlines(keepends=True)
    shown, rest = tag("pre", "".join(lines[:_MAX_LINES]), style=_PRE), lines[_MAX_LINES:]
    if not lines or not rest:
        return shown if lines else Markup()
    more = tag("summary", f"{len(rest)} more line{'s' if len(rest) > 1 else ''}")
    return join_html(shown, tag("details", more, tag("pre", "".join(rest), style=_PRE)))
