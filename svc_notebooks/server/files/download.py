"""Downloads the content of a file, or one byte range of it (A6)."""

from __future__ import annotations

from ...core.api.operations import CONTENT
from ...core.errors.catalogue import refuse
from ...core.http.messages import Headers, Response, close_body
from ...core.http.ranges import ByteRange, ByteSpan, ContentRange
from ..dispatch.requests_and_responses import sandbox_headers
from ..dispatch.service_context import RequestContext, ServiceContext, require_scopes
from ..store.contents import ContentReader
from .access import check_right, file_for
from .tables import FileRow


def download(context: ServiceContext, request: RequestContext) -> Response:
    """Return a response with the bytes of a file. Raises DamagedContent for damage found before the response begins."""
    caller = require_scopes(request.caller, CONTENT, request.operation)
    with context.store.transaction():  # so that the row and the parts belong together
        row = file_for(context, caller, request.file_id)
        if row.content is None or row.size is None:
            raise refuse("notDownloadable")
        check_right(context, caller.user, row, "canDownload", "cannotDownload")
        if row.abusive and (request.query.get("acknowledgeAbuse") != "true" or row.owner != caller.user):
            raise refuse("abusive")  # only the owner may download a flagged file, and must acknowledge it (A6-03)
        span = None if "If-Range" in request.headers else _parse_range(request.headers.all("Range"), row.size)
        response = _response(context, request, row, row.size, span)
    if isinstance(response.body, ContentReader):
        response.body.check()  # outside the transaction, because it reads files
    # Not `request.method`, because the client of a POST that overrides its method with HEAD waits for the bytes.
    if request.http_request.method == "HEAD":
        close_body(response.body)
        return Response(response.status, response.headers)
    return response


def _parse_range(headers: list[str], size: int) -> ByteSpan | None:
    """Return the byte range that a request selects. Raises ApiError (416) if the range contains no byte.

    Returns None, for the whole content, if the header is missing, invalid or repeated, or has several ranges.
    """
    if len(headers) != 1:
        return None
    try:
        byte_range = ByteRange.parse(headers[0])
    except ValueError:
        return None
    span = byte_range.resolve(size)
    if span is None:
        raise refuse("badRange", headers=[("Content-Range", str(ContentRange(None, size)))], size=size)
    return span


def _response(
    context: ServiceContext, request: RequestContext, row: FileRow, size: int, span: ByteSpan | None
) -> Response:
    many = "," in ",".join(request.headers.all("Range"))
    rule = "A6-02" if span is not None else "multi_range" if many else "A6-01"
    request.journal_entry.decided_by = "A6-03" if row.abusive else rule
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
