"""An exchange as text, as it stood on the wire. No secret is in it: the record never had it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...client.transport.recorder import KEPT
from ...core.http.messages import reason
from ...core.http.redaction import REDACTED

if TYPE_CHECKING:
    from ...client.transport.recorder import Exchange


def status_line(status: int | None) -> str:
    """A status and its reason phrase.

    >>> status_line(308), status_line(200), status_line(None)
    ('308 Resume Incomplete', '200 OK', 'no answer')
    """
    if status is None:
        return "no answer"
    return f"{status} {reason(status)}".rstrip()


def target(exchange: Exchange) -> str:
    """The path and the query of an exchange."""
    parts = urlsplit(exchange.url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def body_text(size: int, text: str | None) -> str:
    """A body as far as it can be shown; bytes that are no text are counted."""
    if not text:
        return f"<{size} bytes>" if size else ""
    shown = len(text.encode())
    hidden = REDACTED in text and shown < KEPT  # the whole of it is there, but for what was taken out
    remaining = 0 if hidden else size - shown
    return text + (f"\n<{remaining} bytes more>" if remaining > 0 else "")


def http_text(exchange: Exchange) -> str:
    """Request and response as they stood on the wire, bodies of other than text as their sizes."""
    request = [f"{exchange.method} {target(exchange)} HTTP/1.1", *_lines(exchange.request_headers)]
    parts = ["\n".join(request), body_text(exchange.sent, exchange.request_body), _response(exchange)]
    return "\n\n".join(part for part in parts if part)


def _response(exchange: Exchange) -> str:
    if exchange.status is None:
        return f"(no answer: {exchange.error or 'still under way'})"
    head = "\n".join([f"HTTP/1.1 {status_line(exchange.status)}", *_lines(exchange.response_headers)])
    body = body_text(exchange.received, exchange.response_body)
    return f"{head}\n\n{body}" if body else head


def _lines(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    return [f"{name}: {value}" for name, value in pairs]
