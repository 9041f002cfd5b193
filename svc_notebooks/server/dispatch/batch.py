"""Performs the requests of a batch one after another, each like a request of its own.

The journal, the rate limits and the faults see each request. A request has the headers of the batch, except those that
describe the body, unless it has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias
from urllib.parse import urlsplit

from ...core.api.public_endpoints import BATCHES
from ...core.errors.catalogue import refuse
from ...core.http.batch import BatchRequest, BatchResponse, read_batch, write_batch
from ...core.http.messages import Body, Disconnected, Headers, Query, Request, Response
from ...core.http.multipart import MultipartError
from ..context.external_origin import without_prefix
from ..context.service_context import ServiceContext

Handle: TypeAlias = Callable[[Request], Response]
Check: TypeAlias = Callable[[Request, ServiceContext], None]
Refusal: TypeAlias = Callable[[Request, Check, str], Response | None]

MAX_REQUESTS: Mapping[str, int] = dict(zip(BATCHES, (100, 1000), strict=True))
"""The largest number of requests in a batch for files, and in a batch for calendars."""

_MIB = 1024 * 1024
MAX_BATCH = 16 * _MIB
"""The largest size of a batch in bytes, and of every body that is not an upload."""

_MAX_RESPONSE = 64 * _MIB

_NOT_INHERITED = frozenset({"connection", "expect", "origin", "transfer-encoding", "x-http-method-override"})

_OF_THE_CONNECTION = frozenset({"host", "connection", "content-length", "expect", "origin", "transfer-encoding"})
"""The headers of a request in a batch that are ignored, because the batch has the connection and the length."""


class BatchDisconnected(Disconnected):
    """A fault cut the connection during a request of a batch, so the connection of the batch is cut."""


def run_batch(
    context: ServiceContext, request: Request, body: Body, operation: str, handle: Handle, refusal: Refusal
) -> Response:
    """Perform the requests of a batch and return their responses in the same order.

    `operation` is "batch.storage" or "batch.calendar". `handle` performs a request. `refusal` returns the response to a
    request that a check refuses. Raises ApiError (400 or 413), before any request is performed, for a malformed batch.
    """
    root = context.names.path("") if operation == BATCHES[0] else context.names.calendar_path("")
    content_type = request.headers.get("Content-Type") or ""
    try:
        requests = read_batch(content_type, _read_body(body), MAX_REQUESTS[operation])
    except MultipartError as error:
        raise refuse("badBatch", message=str(error)) from None
    responses: list[BatchResponse] = []
    size = 0
    for each in requests:
        inner = _request_of(context, request, each)

        def check(inner: Request, _: ServiceContext, *, is_full: bool = size > _MAX_RESPONSE) -> None:
            _check_request(inner, root, is_full=is_full)

        try:
            response = refusal(inner, check, operation) or handle(inner)
            content = response.content()
        except Disconnected as error:
            raise BatchDisconnected(str(error)) from error
        size += len(content)
        responses.append(BatchResponse(each.content_id, response.status, response.headers, content))
    response_type, content = write_batch(responses)
    return Response(200, Headers([("Content-Type", response_type), ("Content-Length", str(len(content)))]), content)


def _read_body(body: Body) -> bytes:
    content = bytearray()
    while block := body.read(_MIB):
        content += block
        if len(content) > MAX_BATCH:
            raise refuse("batchTooLarge", limit=MAX_BATCH)
    return bytes(content)


def _request_of(context: ServiceContext, batch: Request, each: BatchRequest) -> Request:
    """Return a request of a batch as a request of its own, at the address of the batch."""
    not_inherited = {*_NOT_INHERITED, context.names.header("Fault").lower()}
    inherited = Headers(
        (name, value)
        for name, value in batch.headers.pairs
        if name.lower() not in not_inherited and not name.lower().startswith(("content-", "digest", "repr-digest"))
    )
    own = [(name, value) for name, value in each.headers.pairs if name.lower() not in _OF_THE_CONNECTION]
    headers = inherited.plus(*own, ("Content-Length", str(len(each.body))))
    request = Request(each.method, batch.origin + each.target, headers, each.body, batch.client)
    return without_prefix(request, context.policy.path_prefix)


def _check_request(request: Request, root: str, *, is_full: bool) -> None:
    """Raise ApiError (400 or 413) for a request that cannot be part of a batch with requests below `root`."""
    parts = urlsplit(request.url)
    if not parts.path.startswith(root):
        raise refuse("notInBatch", message=f"its path must begin with {root}.")
    alt = Query.parse(parts.query).get("alt") or ""
    if alt.lower() == "media" or parts.path.removeprefix(root).split("/")[2:] == ["export"]:
        raise refuse("notInBatch", message="download content with a request of its own.")
    if is_full:
        raise refuse("batchResponseTooLarge", limit=_MAX_RESPONSE)
