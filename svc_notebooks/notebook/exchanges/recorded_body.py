"""Reads the recorded headers and body of a request, so that another program can send the request again."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...client.transport.recorder import KEPT
from ...core.http.messages import reason
from ...core.http.multipart import MultipartError, boundary_of
from ...core.http.ranges import ByteSpan, ContentRange
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


_SET_BY_CLIENT = frozenset({"authorization", "host", "content-length", "user-agent", "accept-encoding"})
"""Headers that curl and the library requests set themselves, and the token, which is a variable."""

_LONGEST_CHARACTER = 4
"""The bytes of the longest character of UTF-8. A recorder does not keep a character whose bytes were cut."""


def whole_body(exchange: Exchange) -> str | None:
    """Return the request body if all of it was recorded, apart from secrets. Otherwise return None.

    A recorder keeps at most 2 KiB of a text body, and nothing of a binary body.
    """
    recorded = exchange.request_body or ""
    size = len(recorded.encode())
    if size == exchange.sent:
        return recorded
    was_cut = size > KEPT - _LONGEST_CHARACTER or (_boundary(exchange) is not None and not _has_last_boundary(exchange))
    return recorded if REDACTED in recorded and not was_cut else None


def client_headers(exchange: Exchange) -> list[tuple[str, str]]:
    """Return the request headers that a command or program must set, without secrets and without the token."""
    return [
        (name, value)
        for name, value in exchange.request_headers
        if name.lower() not in _SET_BY_CLIENT and REDACTED not in value
    ]


def has_token(exchange: Exchange) -> bool:
    """Return True if the request had the header Authorization."""
    return any(name.lower() == "authorization" for name, _ in exchange.request_headers)


def sent_span(exchange: Exchange) -> ByteSpan | None:
    """Return the byte range of the file that the request body has, or None if the request has no Content-Range."""
    content_range = dict(exchange.request_headers).get("Content-Range")
    return ContentRange.parse(content_range).span if content_range else None


def multipart_frame(exchange: Exchange) -> tuple[str, str] | None:
    """Return the text before and after the file in a multipart body.

    Return None if the body is not multipart, or if the recorded text does not include all metadata.
    """
    boundary = _boundary(exchange)
    if boundary is None:
        return None
    first, mark, second = (exchange.request_body or "").partition(f"\r\n--{boundary}\r\n")
    headers, blank, _ = second.partition("\r\n\r\n")
    if not blank:
        return None  # the metadata is longer than the recorded part, so the whole body must come from the file
    return first + mark + headers + blank, f"\r\n--{boundary}--\r\n"


def _boundary(exchange: Exchange) -> str | None:
    """Return the boundary of a multipart body, or None for another body."""
    try:
        return boundary_of(dict(exchange.request_headers).get("Content-Type") or "")
    except MultipartError:
        return None


def _has_last_boundary(exchange: Exchange) -> bool:
    """Return False if the recorded text of a multipart body ends before its last boundary, as at binary data."""
    return f"--{_boundary(exchange)}--" in (exchange.request_body or "")
