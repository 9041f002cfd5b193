"""Lists, shows, draws and resends the recorded exchanges of a session (D-04), from which tokens were removed (T-05)."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias
from urllib.parse import urljoin, urlsplit

from ...client.session import Session, SessionLike, session_or_current
from ...client.transport.bounds import WHOLE_RESPONSE
from ...client.transport.in_process import TransportError
from ...core.errors.errors import ServiceFailed
from ...core.errors.public_calls import public_methods
from ...core.http.messages import Headers, Query, Request
from ...core.http.redaction import REDACTED
from ...core.printable_text import terminal_text
from ...core.suggestions import missing_attribute
from ..display import Markup, join_html, size_text, tag
from ..frames import EXCHANGES, Record, frame
from .charts import LIGHT_AND_DARK, SENT, drawing, image
from .request_code import body_text, curl_text, headers_without, http_text, python_text, status_line, target, whole_body

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.transport.recorder import Exchange


MethodArgument: TypeAlias = "str | Iterable[str] | None"
StatusArgument: TypeAlias = "int | str | Iterable[int | str] | None"

# The status of an exchange without a response, as in `assert_exchanges`.
NO_RESPONSE = "-"

_STATUS = re.compile(r"[1-5]xx|[1-5]\d\d|-")


def exchange_filter(
    method: MethodArgument = None, status: StatusArgument = None, path: str | None = None
) -> Callable[[Exchange], bool]:
    """Return a function that tells whether an exchange meets these arguments of `exchanges`.

    Raises ValueError or TypeError for an invalid argument.
    """
    if path is not None and not isinstance(path, str):
        raise TypeError(f"path must be a text that the path contains, not {type(path).__name__}")
    methods, statuses = _several(method), [str(each).strip().lower() for each in _several(status)]
    if wrong := [text for text in methods if not (isinstance(text, str) and text.isalpha())]:
        raise ValueError(f"method has {wrong[0]!r}; it must be a method such as 'PUT', or several")
    if wrong := [text for text in statuses if not _STATUS.fullmatch(text)]:
        kinds = "a number such as 404, a class such as '4xx', '-' for no response, or several"
        raise ValueError(f"status has {wrong[0]!r}; it must be {kinds}")
    verbs, part = {text.upper() for text in methods}, (path or "").lower()

    def matches(exchange: Exchange) -> bool:
        status = NO_RESPONSE if exchange.status is None else str(exchange.status)
        has_status = not statuses or status in statuses or f"{status[0]}xx" in statuses
        return (not verbs or exchange.method in verbs) and has_status and part in target(exchange).lower()

    return matches


def _several(value: Any) -> list[Any]:
    """Return the values of an argument that is one value, several values or None."""
    if value is None:
        return []
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]


def exchanges(
    *,
    method: MethodArgument = None,
    status: StatusArgument = None,
    path: str | None = None,
    session: SessionLike = None,
) -> DataFrame:
    """List the last 1000 HTTP exchanges of the session. The oldest exchange is the first row.

    `session.exchanges.clear()` removes all exchanges from the list.

    Args:
        method: Only exchanges with this method or one of these methods, such as "PUT".
        status: Only exchanges with this status or one of these: a number such as 404, a class such as "4xx", or "-"
            for no response.
        path: Only exchanges whose path or query contains this text, in upper or lower case.
        session: None: the current session.

    Returns:
        One row for each exchange: n (Int64, the number from 1), time (datetime64[ms, UTC]), method, path (str),
        status (Int64, missing if there was no response), sent and received (Int64, bytes of the bodies),
        content_range and range (str, request headers or else response headers), error (str, the reason if there
        was no response), query (str).

    Raises:
        ValueError: `method` or `status` is invalid.
        TypeError: `path` is not a text.

    >>> lab = svc.sandbox()
    >>> file = svc.upload(b"hello", name="hello.txt")
    >>> svc.exchanges()[["n", "method", "status"]].values.tolist()
    [[1, 'POST', 200]]
    >>> len(svc.exchanges(status="4xx"))
    0
    """
    matches = exchange_filter(method, status, path)
    recorded = session_or_current(session).exchanges
    return frame(EXCHANGES, [exchange_row(exchange) for exchange in recorded if matches(exchange)])


def exchange(n: SupportsIndex = -1, *, session: SessionLike = None) -> ExchangeView:
    """Return a recorded exchange as a view, with methods that show it, convert it to code and send it again.

    The methods are `http()`, `curl()`, `python()`, `diagram()` and `resend()`. A notebook displays the view as HTML.

    Args:
        n: The number of the exchange in column n of `exchanges()`. -1 is the last exchange, -2 the last but one.

    Returns:
        An `ExchangeView`.

    Raises:
        TypeError: `n` is not a whole number.
        ValueError: The session has no exchange with this number, or the exchange is no longer recorded.

    >>> lab = svc.sandbox()
    >>> made = svc.generate_ids(1)
    >>> print(str(svc.exchange()).splitlines()[0])
    GET /storage/v3/files/generateIds?count=1 HTTP/1.1
    """
    if isinstance(n, bool) or not isinstance(n, SupportsIndex):
        raise TypeError(f"n must be a number from the column n of exchanges(), not {type(n).__name__}")
    session, number = session_or_current(session), index(n)
    recorded = list(session.exchanges)
    numbers = [exchange.n for exchange in recorded]
    if number in numbers:
        position = numbers.index(number)
    elif number < 0 and -number <= len(recorded):
        position = len(recorded) + number
    else:
        available = f"the recorded exchanges are {numbers[0]} to {numbers[-1]}" if recorded else "nothing was sent yet"
        raise ValueError(f"n is {number}, but there is no such exchange; {available}")
    return ExchangeView(recorded, position, session)


def exchange_row(exchange: Exchange) -> Record:
    """Return the values of the columns of `exchanges()` for one exchange."""
    request_headers, response_headers = dict(exchange.request_headers), dict(exchange.response_headers)
    parts = urlsplit(exchange.url)
    return {
        "n": exchange.n,
        "time": exchange.time,
        "method": exchange.method,
        "path": parts.path,
        "query": parts.query,
        "status": exchange.status,
        "sent": exchange.sent,
        "received": exchange.received,
        "content_range": request_headers.get("Content-Range") or response_headers.get("Content-Range"),
        "range": request_headers.get("Range") or response_headers.get("Range"),
        "error": exchange.error,
    }


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
        sent, received = dict(exchange.request_headers), dict(exchange.response_headers)
        byte_range = sent.get("Content-Range") or sent.get("Range") or ""
        body = f"({size_text(exchange.sent)})" if exchange.sent else ""
        label = " ".join(filter(None, (exchange.method, _target(exchange.url), byte_range, body)))
        arrows.append(Arrow(terminal_text(label), is_request=True))
        if exchange.status is None:
            arrows.append(Arrow(terminal_text(exchange.error or "no response"), is_request=False, lost=True))
        else:
            byte_range = received.get("Range") or received.get("Content-Range") or ""
            label = f"{status_line(exchange.status)} {byte_range}".rstrip()
            arrows.append(Arrow(terminal_text(label), is_request=False))
    return Diagram(arrows)


def _target(url: str) -> str:
    """Return "session URI" for an upload session, otherwise the path with the parameters `uploadType` and `alt`."""
    parts = urlsplit(url)
    query = Query.parse(parts.query)
    if "upload_id" in query:
        return "session URI"
    parameters = [f"{name}={query.get(name)}" for name in ("uploadType", "alt") if name in query]
    return "?".join([parts.path, *parameters])


def _lines(arrows: Sequence[Arrow]) -> Iterable[str]:
    width = max((len(arrow.label) for arrow in arrows), default=10) + 4
    yield f"client{'service':>{width + 5}}"
    for arrow in arrows:
        line = (width - len(arrow.label) - 2 * arrow.lost) * ("─" if arrow.is_request else "-")
        head = "─" if arrow.is_request else "  x-" if arrow.lost else "<-"
        yield f"  │{head} {arrow.label} {line}{'>' if arrow.is_request else ' '}│"


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
        names = (field.name for field in fields(self._exchange) if not field.name.startswith("_"))
        return sorted({*super().__dir__(), *names, "request_body", "response_body"})

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
        exchange, session = self._exchange, self._session
        content = _content(exchange, body)
        verb = _method(exchange.method if method is None else method)
        pairs = [*_headers(exchange, headers or {}, is_json=isinstance(body, dict | list))]
        if content or verb in _WITH_BODY:
            pairs.append(("Content-Length", str(len(content))))
        request, before = Request(verb, _url(exchange, url), Headers(pairs), content), session.exchanges.last
        with suppress(TransportError, ServiceFailed):
            response = session.send(request, WHOLE_RESPONSE)
            if not isinstance(response.body, bytes):
                deque(response.body, maxlen=0)
        recorded = list(session.exchanges)
        new = [n for n, each in enumerate(recorded) if each.n > before]
        if not new:
            lost = "Its response is lost, because the record of the session was cleared."
            raise RuntimeError(f"The request was sent. {lost}")
        # Other threads may have sent other requests meanwhile.
        own = (n for n in new if (recorded[n].method, urlsplit(recorded[n].url).path) == (request.method, request.path))
        return ExchangeView(recorded, next(own, new[-1]), session)

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
        response = _table("Response", exchange.response_headers), _text(exchange.received, exchange.response_body)
        answer = tag("div", *response) if exchange.status else tag("p", exchange.error or "")
        parts = tag("summary", tag("code", title)), tag("div", request, answer, style=_TWO_COLUMNS)
        return str(tag("details", *parts, open=""))


def _path(exchange: Exchange) -> str:
    return urlsplit(exchange.url).path


def _table(title: str, pairs: tuple[tuple[str, str], ...]) -> Markup:
    cells = ((tag("th", name, scope="row", style=_NAME), tag("td", value, style=_VALUE)) for name, value in pairs)
    rows = [tag("tr", *row) for row in cells]
    return tag("table", tag("caption", title, style="text-align: left; font-weight: 600"), *rows, style=_TABLE)


def _text(size: int, text: str | None) -> Markup:
    lines = body_text(size, text).splitlines(keepends=True)
    shown, rest = tag("pre", "".join(lines[:_MAX_LINES]), style=_PRE), lines[_MAX_LINES:]
    if not lines or not rest:
        return shown if lines else Markup()
    more = tag("summary", f"{len(rest)} more line{'s' if len(rest) > 1 else ''}")
    return join_html(shown, tag("details", more, tag("pre", "".join(rest), style=_PRE)))


# -- sends the request of a recorded exchange again, as it was or with changes, through the same session


BodyArgument: TypeAlias = "bytes | str | dict[str, object] | list[object] | None"

_SET_BY_SESSION = frozenset({"authorization", "host", "content-length", "transfer-encoding"})
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
# A method or the name of a header (RFC 9110, 5.6.2).
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def _method(method: object) -> str:
    if not isinstance(method, str) or not _TOKEN.fullmatch(method):
        raise ValueError(f"method is {method!r}; it must be a method of HTTP, such as 'PUT'")
    return method.upper()


def _url(exchange: Exchange, url: object) -> str:
    if url is not None and not isinstance(url, str):
        raise TypeError(f"url must be a path or a URL, not {type(url).__name__}")
    try:
        whole = exchange.url if url is None else urljoin(exchange.url, url) if url else ""
        whole.encode()
        _ = urlsplit(whole).port
    except ValueError:  # such as half an IPv6 address, a port above 65535, or half of a character
        whole = ""
    if not whole.startswith(("http://", "https://")):
        raise ValueError(f"url is {url!r}; it must be a path such as /storage/v3/files, or a URL of http or https")
    if "@" in urlsplit(whole).netloc:
        raise ValueError("The URL has a user name or a password before its host: give url= without them.")
    if REDACTED in whole:
        raise ValueError(f"The URL has {REDACTED} in the place of a secret: give url= without it.")
    return whole.replace(" ", "%20")


def editable_headers(exchange: Exchange) -> list[tuple[str, str]]:
    """Return the request headers that are sent again, without secrets and without those that the session sets."""
    return headers_without(exchange, _SET_BY_SESSION)


def _headers(exchange: Exchange, changes: Mapping[Any, Any], *, is_json: bool) -> list[tuple[str, str]]:
    if not isinstance(changes, Mapping):
        raise TypeError(f"headers must be a dict, not {type(changes).__name__}")
    for name, value in changes.items():
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise ValueError(f"headers has the name {name!r}; a name consists of letters, digits and -")
        if name.lower() in _SET_BY_SESSION:
            raise ValueError(f"headers has {name}, which the session sets itself: leave it out")
        if value is not None and not isinstance(value, str):
            raise TypeError(f"headers[{name!r}] must be a text, or None to remove it, not {type(value).__name__}")
        if value is not None and not (value.isprintable() and value.isascii()):
            raise ValueError(f"headers[{name!r}] is {value!r}; a value consists of printable ASCII")
    changed = {name.lower() for name in changes}
    pairs = [(name, value) for name, value in editable_headers(exchange) if name.lower() not in changed]
    pairs += [(name, value) for name, value in changes.items() if value is not None]
    if is_json and "content-type" not in {name.lower() for name, _ in pairs}:
        pairs.append(("Content-Type", "application/json; charset=UTF-8"))
    return pairs


def _content(exchange: Exchange, body: BodyArgument) -> bytes:
    if body is None:
        recorded = whole_body(exchange)
        if recorded is None:
            raise ValueError(
                f"Exchange {exchange.n} has a body of {exchange.sent:,} bytes, of which only the beginning of a text is"
                " recorded: give body=, such as Path(file).read_bytes()."
            )
        if REDACTED in recorded:
            raise ValueError(f"The recorded body has {REDACTED} in the place of a secret: give body=.")
        return recorded.encode()
    if isinstance(body, dict | list):
        try:
            return json.dumps(body, ensure_ascii=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise type(error)(f"body cannot be written as JSON: {error}") from None
    if isinstance(body, str):
        if REDACTED in body and REDACTED in (exchange.request_body or ""):
            raise ValueError(f"body still has {REDACTED} in the place of a secret: replace it, or remove its field.")
        return body.encode()
    if isinstance(body, bytes | bytearray):
        return bytes(body)
    raise TypeError(f"body must be bytes, a text, a dict, a list or None, not {type(body).__name__}")
