"""An exchange as text: as it stood on the wire, and as a curl command that does it again.

The token is in neither: the record never had it, and the command takes it from the shell's `SVC_TOKEN`.
"""

from __future__ import annotations

import shlex
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..core.ranges import ContentRange
from ..core.wire import REASONS

if TYPE_CHECKING:
    from ..client.recorder import Exchange

_CURL_KNOWS = frozenset({"authorization", "host", "content-length", "user-agent", "accept-encoding"})


def status_line(status: int | None) -> str:
    """A status and its reason phrase.

    >>> status_line(308), status_line(200), status_line(None)
    ('308 Resume Incomplete', '200 OK', 'no answer')
    """
    if status is None:
        return "no answer"
    known = {**{one.value: one.phrase for one in HTTPStatus}, **REASONS}
    return f"{status} {known.get(status, '')}".rstrip()


def target(exchange: Exchange) -> str:
    """The path and the query of an exchange."""
    parts = urlsplit(exchange.url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def body_text(size: int, text: str | None) -> str:
    """A body as far as it can be shown; bytes that are no text are counted."""
    if not text:
        return f"<{size} bytes>" if size else ""
    left = size - len(text.encode())
    return text + (f"\n<{left} bytes more>" if left > 0 else "")


def http_text(exchange: Exchange) -> str:
    """Request and response as they stood on the wire, bodies of other than text as their sizes."""
    asked = [f"{exchange.method} {target(exchange)} HTTP/1.1", *_lines(exchange.request_headers)]
    parts = ["\n".join(asked), body_text(exchange.sent, exchange.request_body), _answer(exchange)]
    return "\n\n".join(part for part in parts if part)


def _answer(exchange: Exchange) -> str:
    if exchange.status is None:
        return f"(no answer: {exchange.error or 'still under way'})"
    head = "\n".join([f"HTTP/1.1 {status_line(exchange.status)}", *_lines(exchange.response_headers)])
    body = body_text(exchange.received, exchange.response_body)
    return f"{head}\n\n{body}" if body else head


def _lines(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    return [f"{name}: {value}" for name, value in pairs]


def curl_text(exchange: Exchange) -> str:
    """The command that sends the same request; `SVC_TOKEN` is the token, `FILE` the uploaded file."""
    options = [*_method(exchange), *_headers(exchange), *_data(exchange)]
    return f"{_pipe(exchange)}curl " + " \\\n  ".join([*options, shlex.quote(exchange.url)])


def _method(exchange: Exchange) -> list[str]:
    by_itself = {"GET": [], "HEAD": ["--head"]}
    return by_itself.get(exchange.method, [f"-X {exchange.method}"])


def _headers(exchange: Exchange) -> list[str]:
    signed = any(name.lower() == "authorization" for name, _ in exchange.request_headers)
    token = ['-H "Authorization: Bearer $SVC_TOKEN"'] if signed else []
    others = [
        f"-H {shlex.quote(f'{name}: {value}')}"
        for name, value in exchange.request_headers
        if name.lower() not in _CURL_KNOWS
    ]
    return token + others


def _data(exchange: Exchange) -> list[str]:
    if _is_whole(exchange):
        return [f"--data-raw {shlex.quote(exchange.request_body or '')}"]
    if exchange.sent:
        return ["--data-binary @-" if _pipe(exchange) else '--data-binary "@$FILE"']
    return ["-H 'Content-Length: 0'"] if exchange.method in {"POST", "PUT", "PATCH"} else []


def _is_whole(exchange: Exchange) -> bool:
    """Whether the record holds the whole body: longer ones are cut, binary ones are not kept."""
    kept = exchange.request_body or ""
    return bool(kept) and len(kept.encode()) == exchange.sent


def _pipe(exchange: Exchange) -> str:
    """What cuts the chunk out of the file, for a request that sends one."""
    named = dict(exchange.request_headers).get("Content-Range")
    span = ContentRange.parse(named).span if named and exchange.sent else None
    if span is None or _is_whole(exchange):
        return ""
    return f'tail -c +{span.first + 1} "$FILE" | head -c {exchange.sent} | '
