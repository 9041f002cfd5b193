"""Reads the recorded text of a request body, so that the request can be sent again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...client.transport.recorder import KEPT
from ...core.http.multipart import MultipartError, boundary_of
from ...core.http.ranges import ByteSpan, ContentRange
from ...core.http.redaction import REDACTED

if TYPE_CHECKING:
    from ...client.transport.recorder import Exchange


def whole_body(exchange: Exchange) -> str | None:
    """Return the request body if all of it was recorded, apart from secrets. Otherwise return None.

    A recorder keeps at most 2 KiB of a text body, and nothing of a binary body.
    """
    recorded = exchange.request_body or ""
    is_whole = len(recorded.encode()) == exchange.sent or (REDACTED in recorded and len(recorded) < KEPT)
    return recorded if is_whole else None


def sent_span(exchange: Exchange) -> ByteSpan | None:
    """Return the byte range of the file that the request body has, or None if the request has no Content-Range."""
    content_range = dict(exchange.request_headers).get("Content-Range")
    return ContentRange.parse(content_range).span if content_range else None


def multipart_frame(exchange: Exchange) -> tuple[str, str] | None:
    """Return the text before and after the file in a multipart body.

    Return None if the body is not multipart, or if the recorded text does not include all metadata.
    """
    try:
        boundary = boundary_of(dict(exchange.request_headers).get("Content-Type") or "")
    except MultipartError:
        return None
    first, mark, second = (exchange.request_body or "").partition(f"\r\n--{boundary}\r\n")
    headers, blank, _ = second.partition("\r\n\r\n")
    if not blank:
        return None  # the metadata is longer than the recorded part, so the whole body must come from the file
    return first + mark + headers + blank, f"\r\n--{boundary}--\r\n"
