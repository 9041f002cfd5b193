"""Sends the content of a file: alt=media, the whole or a range (A6)."""

from __future__ import annotations

from ...core.api.operations import CONTENT
from ...core.errors.catalogue import ApiError, refuse
from ...core.http.messages import Headers, Response, close_body
from ...core.http.ranges import ByteRange, ByteSpan, ContentRange
from ..context.access_tokens import Caller, require_scopes
from ..context.html import sandbox_headers
from ..context.service_context import RequestContext, ServiceContext
from ..storage.content_io import ContentReader
from ..tables.files import FileRow
from .roles import check_can_download
from .rows import file_for


def download(context: ServiceContext, request: RequestContext) -> Response:
    """The bytes of a file; a download that has begun completes whatever happens to the file.

    Raises DamagedContent before the response begins, as far as `ContentReader.check` sees.
    """
    caller = require_scopes(request.caller, CONTENT, request.operation)
    with context.store.transaction():  # the row and its parts as of one moment
        row = file_for(context, caller, request.file_id)
        if row.content is None or row.size is None:
            raise refuse("notDownloadable")
        check_can_download(context, caller.user, row, "cannotDownload")
        _check_abuse(request, caller, row)
        span = None if "If-Range" in request.headers else _requested_span(request.headers.all("Range"), row.size)
        response = _response(context, request, row, row.size, span)
    if isinstance(response.body, ContentReader):
        response.body.check()  # not in the transaction: it reads
    # Not `request.method`: a POST that names HEAD is answered as HEAD is, but its client waits for the bytes.
    if request.http_request.method == "HEAD":
        close_body(response.body)
        return Response(response.status, response.headers)
    return response


def _check_abuse(request: RequestContext, caller: Caller, row: FileRow) -> None:
    """A flagged file is for its owner alone, who must know what it is (A6-03). Raises ApiError (403)."""
    if row.abusive and (request.query.get("acknowledgeAbuse") != "true" or row.owner != caller.user):
        raise refuse("abusive")


def _requested_span(headers: list[str], size: int) -> ByteSpan | None:
    """The one range that is asked for; None: the whole, as for a header that is no single range."""
    if len(headers) != 1:
        return None
    try:
        byte_range = ByteRange.parse(headers[0])
    except ValueError:
        return None
    span = byte_range.resolve(size)
    if span is None:
        refusal = refuse("badRange", size=size)
        raise ApiError(refusal.rows, [("Content-Range", str(ContentRange(None, size)))])
    return span


def _response(
    context: ServiceContext, request: RequestContext, row: FileRow, size: int, span: ByteSpan | None
) -> Response:
    request.journal_entry.decided_by = _rule(request, row, span)
    first, last = (0, size) if span is None else (span.first, (span.last or 0) + 1)
    headers = [
        ("Content-Type", row.mime_type),
        ("Content-Length", str(last - first)),
        ("Accept-Ranges", "bytes"),
        ("Cache-Control", "private, max-age=0, must-revalidate"),
        *sandbox_headers(request.headers),
    ]
    if span is not None:
        headers.append(("Content-Range", str(ContentRange(span, size))))
    status = 200 if span is None else 206
    if first == last:
        return Response(status, Headers(headers))
    assert row.content is not None
    return Response(status, Headers(headers), context.content.read(row.content, first, last))


def _rule(request: RequestContext, row: FileRow, span: ByteSpan | None) -> str:
    """What decides on what is sent."""
    if row.abusive:
        return "A6-03"
    if span is not None:
        return "A6-02"
    return "multi_range" if "," in ",".join(request.headers.all("Range")) else "A6-01"
