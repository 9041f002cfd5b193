"""Sends the request of a recorded exchange again, as it was or with changes, through the same session.

The session adds its token and records the new exchange, so that both exchanges can be compared.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urljoin, urlsplit

from ...client.transport.bounds import WHOLE_RESPONSE
from ...client.transport.in_process import TransportError
from ...core.errors.errors import ServiceFailed
from ...core.http.messages import Headers, Request
from ...core.http.redaction import REDACTED
from .request_code import headers_without, whole_body

if TYPE_CHECKING:
    from ...client.session import Session
    from ...client.transport.recorder import Exchange

BodyArgument: TypeAlias = "bytes | str | dict[str, object] | list[object] | None"

_SET_BY_SESSION = frozenset({"authorization", "host", "content-length", "transfer-encoding"})
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A method or the name of a header (RFC 9110, 5.6.2)."""


def edited_request(
    exchange: Exchange,
    *,
    method: str | None = None,
    url: str | None = None,
    headers: Mapping[str, str | None] | None = None,
    body: BodyArgument = None,
) -> Request:
    """Return the request of an exchange with changes. None keeps the recorded value.

    The arguments are those of `ExchangeView.resend`. The same errors are raised.
    """
    content = _content(exchange, body)
    verb = _method(exchange.method if method is None else method)
    pairs = [*_headers(exchange, headers or {}, is_json=isinstance(body, dict | list))]
    if content or verb in _WITH_BODY:
        pairs.append(("Content-Length", str(len(content))))
    return Request(verb, _url(exchange, url), Headers(pairs), content)


def send_and_record(session: Session, request: Request) -> int:
    """Send a request once, read its response to the end, and return the number of the new exchange.

    If no response arrives, the new exchange has the reason. Raises RuntimeError if the new exchange is no longer
    recorded.
    """
    before = session.exchanges.last
    with suppress(TransportError, ServiceFailed):
        response = session.send(request, WHOLE_RESPONSE)
        if not isinstance(response.body, bytes):
            deque(response.body, maxlen=0)
    new = [recorded for recorded in session.exchanges if recorded.n > before]
    if not new:
        raise RuntimeError("The request was sent. Its response is lost, because the record of the session was cleared.")
    sent = request.method, request.path  # other threads may have sent other requests meanwhile
    return next((each.n for each in new if (each.method, urlsplit(each.url).path) == sent), new[-1].n)


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


def _headers(exchange: Exchange, changes: Mapping[str, str | None], *, is_json: bool) -> list[tuple[str, str]]:
    if not isinstance(changes, Mapping):
        raise TypeError(f"headers must be a dict, not {type(changes).__name__}")
    for name, value in changes.items():
        _check_header(name, value)
    changed = {name.lower() for name in changes}
    pairs = [(name, value) for name, value in editable_headers(exchange) if name.lower() not in changed]
    pairs += [(name, value) for name, value in changes.items() if value is not None]
    if is_json and "content-type" not in {name.lower() for name, _ in pairs}:
        pairs.append(("Content-Type", "application/json; charset=UTF-8"))
    return pairs


def _check_header(name: object, value: object) -> None:
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        raise ValueError(f"headers has the name {name!r}; a name consists of letters, digits and -")
    if name.lower() in _SET_BY_SESSION:
        raise ValueError(f"headers has {name}, which the session sets itself: leave it out")
    if value is not None and not isinstance(value, str):
        raise TypeError(f"headers[{name!r}] must be a text, or None to remove it, not {type(value).__name__}")
    if value is not None and not (value.isprintable() and value.isascii()):
        raise ValueError(f"headers[{name!r}] is {value!r}; a value consists of printable ASCII")


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
