"""Converts a recorded exchange, which contains no secrets, to HTTP text."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...client.transport.recorder import KEPT
from ...core.http.messages import reason
from ...core.http.redaction import REDACTED

if TYPE_CHECKING:
    from ...client.transport.recorder import Exchange


def status_line(status: int | None) -> str:
    """Return an HTTP status code with its reason phrase, or "no response" if the status is None.

    >>> status_line(308), status_line(200), status_line(None)
    ('308 Resume Incomplete', '200 OK', 'no response')
    """
    if status is None:
        return "no response"
    return f"{status} {reason(status)}".rstrip()


def target(exchange: Exchange) -> str:
    """Return the request target of an exchange, which is the path with the query of the URL."""
    parts = urlsplit(exchange.url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def body_text(size: int, text: str | None) -> str:
    """Return the recorded body text and the number of bytes that were not recorded, or "" for an empty body."""
    if not text:
        return f"<{size} bytes>" if size else ""
    shown = len(text.encode())
    hidden = REDACTED in text and shown < KEPT  # the whole body is recorded, except for the secrets
    remaining = 0 if hidden else size - shown
    return text + (f"\n<{remaining} bytes more>" if remaining > 0 else "")


def http_text(exchange: Exchange) -> str:
    """Return the request and the response of an exchange as HTTP text. A binary body is replaced by its size."""
    request = [f"{exchange.method} {target(exchange)} HTTP/1.1"]
    request += [f"{name}: {value}" for name, value in exchange.request_headers]
    parts = ["\n".join(request), body_text(exchange.sent, exchange.request_body)]
    if exchange.status is None:
        parts.append(f"(no response: {exchange.error or 'still under way'})")
    else:
        response = [f"HTTP/1.1 {status_line(exchange.status)}"]
        response += [f"{name}: {value}" for name, value in exchange.response_headers]
        parts += ["\n".join(response), body_text(exchange.received, exchange.response_body)]
    return "\n\n".join(part for part in parts if part)
