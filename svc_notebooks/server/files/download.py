"""Content on its way out: alt=media, whole or in a range (A6)."""

from __future__ import annotations

from ...core.api.operations import CONTENT
from ...core.errors.catalogue import ApiError, refuse
from ...core.http.messages import Headers, Response, let_go
from ...core.http.ranges import ByteRange, ContentRange, Span
from ..context.access_tokens import Caller, require
from ..context.html import confined
from ..context.service_context import Call, House
from ..storage.content import Outflow
from ..store.files import FileRow
from . import rows as drafts
from .access_control import check_taking


def download(house: House, call: Call) -> Response:
    """The bytes of a file; a download that has begun completes whatever happens to the file.

    Raises DamagedContent before the response begins, as far as `Outflow.check` sees.
    """
    caller = require(call.caller, CONTENT, call.operation)
    with house.store.transaction():  # the row and its parts as of one moment
        row = drafts.seen_file(house, caller, call.file_id)
        if row.content is None or row.size is None:
            raise refuse("notDownloadable")
        check_taking(house, caller.user, row, "cannotDownload")
        _check_abuse(call, caller, row)
        span = None if "If-Range" in call.headers else _span(call.headers.all("Range"), row.size)
        response = _answer(house, call, row, row.size, span)
    if isinstance(response.body, Outflow):
        response.body.check()  # not in the transaction: it reads
    # Not `call.method`: a POST that names HEAD is answered as HEAD is, but its client waits for the bytes.
    if call.request.method == "HEAD":
        let_go(response.body)
        return Response(response.status, response.headers)
    return response


def _check_abuse(call: Call, caller: Caller, row: FileRow) -> None:
    """A flagged file is for its owner alone, who must know what it is (A6-03). Raises ApiError (403)."""
    if row.abusive and (call.query.get("acknowledgeAbuse") != "true" or row.owner != caller.user):
        raise refuse("abusive")


def _span(asked: list[str], size: int) -> Span | None:
    """The one range that is asked for; None: the whole, as for a header that is no single range."""
    if len(asked) != 1:
        return None
    try:
        wanted = ByteRange.parse(asked[0])
    except ValueError:
        return None
    span = wanted.resolve(size)
    if span is None:
        refused = refuse("badRange", size=size)
        raise ApiError(refused.rows, [("Content-Range", str(ContentRange(None, size)))])
    return span


def _answer(house: House, call: Call, row: FileRow, size: int, span: Span | None) -> Response:
    call.entry.decided_by = _rule(call, row, span)
    first, last = (0, size) if span is None else (span.first, (span.last or 0) + 1)
    headers = [
        ("Content-Type", row.mime_type),
        ("Content-Length", str(last - first)),
        ("Accept-Ranges", "bytes"),
        ("Cache-Control", "private, max-age=0, must-revalidate"),
        *confined(call.headers),
    ]
    if span is not None:
        headers.append(("Content-Range", str(ContentRange(span, size))))
    status = 200 if span is None else 206
    if first == last:
        return Response(status, Headers(headers))
    assert row.content is not None
    return Response(status, Headers(headers), house.content.read(row.content, first, last))


def _rule(call: Call, row: FileRow, span: Span | None) -> str:
    """What decides on what is sent."""
    if row.abusive:
        return "A6-03"
    if span is not None:
        return "A6-02"
    return "multi_range" if "," in ",".join(call.headers.all("Range")) else "A6-01"
