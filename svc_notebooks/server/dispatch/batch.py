"""Reads the requests of a multipart/mixed batch, and performs them one after another, each like a request of its own.

Each part has the media type application/http and contains a request line, headers, a blank line and a body.

The response is sent while the requests are performed, so that only one of their responses is in memory. The journal,
the rate limits and the faults see each request. A request has the headers of the batch, except those that
describe the body, unless it has its own.
"""

from __future__ import annotations

import hmac
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from ...core.api.public_endpoints import BATCHES
from ...core.errors.catalogue import refuse
from ...core.http import multipart
from ...core.http.messages import Body, Disconnected, Headers, Query, Request, Response, is_gone, reason
from ...core.thread_permit import checked_slices, let_others_run
from .origin import without_prefix
from .service_context import ServiceContext, bearer

_REQUEST_LINE = re.compile(rb"(?P<method>[A-Z]{1,20}) (?P<target>[!-~]{1,8192})(?: HTTP/1\.[01])?")
_CONTENT_ID = re.compile(r"[ -~]{1,1000}")


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """A request in a batch. `target` is a path with an optional query, `content_id` is None without a Content-ID."""

    content_id: str | None
    method: str
    target: str
    headers: Headers
    body: bytes


# The Content-ID of a request in a batch, and the response to it.
BatchResponse: TypeAlias = tuple[str | None, Response]


def read_batch(content_type: str, blocks: Iterable[bytes], most: int) -> list[BatchRequest]:
    """Return the requests of a batch in their order. Raises MultipartError if a part is malformed.

    A batch has 1 to `most` requests. `blocks` are the blocks of its body.

    >>> body = b"--b\\r\\nContent-Type: application/http\\r\\n\\r\\nGET /storage/v3/about?fields=user\\r\\n--b--\\r\\n"
    >>> [request.target for request in read_batch("multipart/mixed; boundary=b", [body], most=10)]
    ['/storage/v3/about?fields=user']
    """
    if multipart.MediaType.parse(content_type).essence != "multipart/mixed":
        raise multipart.MultipartError("the Content-Type must be multipart/mixed.")
    requests = []
    for number, (headers, content) in enumerate(read_parts(multipart.boundary_of(content_type), blocks), start=1):
        if number > most:
            raise multipart.MultipartError(f"it has more than {most} requests.")
        try:
            requests.append(_read_request(headers, content))
        except multipart.MultipartError as error:
            raise multipart.MultipartError(f"part {number}: {error}") from None
    if not requests:
        raise multipart.MultipartError("it has no requests.")
    return requests


def read_parts(boundary: str, blocks: Iterable[bytes]) -> Iterator[tuple[Headers, bytes]]:
    """Yield the headers and the content of each part."""
    headers, data, decoder = Headers(), list[bytes](), multipart.MultipartDecoder(boundary)

    def events() -> Iterator[multipart.MultipartEvent]:
        for block in blocks:
            yield from decoder.feed(block)
        yield from decoder.close()

    for event in events():
        if isinstance(event, multipart.PartBegins):
            headers, data = event.headers, []
        elif isinstance(event, multipart.PartData):
            data.append(event.data)
        else:
            yield headers, b"".join(data)


def _read_request(part_headers: Headers, content: bytes) -> BatchRequest:
    if multipart.MediaType.parse(part_headers.get("Content-Type", "")).essence != "application/http":
        raise multipart.MultipartError("the Content-Type must be application/http.")
    content_id = part_headers.get("Content-ID")
    if content_id is not None and not _CONTENT_ID.fullmatch(content_id):
        raise multipart.MultipartError("the Content-ID must have 1 to 1000 printable ASCII characters.")
    line, _, rest = content.lstrip(b"\r\n").partition(b"\n")
    newline = b"\r\n" if line.endswith(b"\r") else b"\n"
    match = _REQUEST_LINE.fullmatch(line.rstrip(b"\r"))
    if not match:
        raise multipart.MultipartError(
            f"{line[:80].decode('latin-1')!r} is not a request line such as 'GET /path HTTP/1.1'."
        )
    block, _, body = (newline + rest).partition(newline * 2)
    url = urlsplit(match["target"].decode())
    target = url.path + (f"?{url.query}" if url.query else "")
    lines = block.strip(newline)
    headers = multipart.parse_headers(lines, newline) if lines else Headers()
    return BatchRequest(content_id, match["method"].decode(), target, headers, body)


def write_batch(responses: Iterable[BatchResponse], boundary: str) -> Iterator[bytes]:
    """Yield the body with these responses in their order. The Content-IDs begin with `response-`.

    >>> body = b"".join(write_batch([("<a + 1>", Response(204))], "b"))
    >>> body.splitlines()[2:5]
    [b'Content-ID: <response-a + 1>', b'', b'HTTP/1.1 204 No Content']
    """
    delimiter = f"--{boundary}".encode()
    for content_id, response in responses:
        yield delimiter + b"\r\n" + _head(content_id, response)
        yield response.content()
        yield b"\r\n"
    yield delimiter + b"--\r\n"


def _head(content_id: str | None, response: Response) -> bytes:
    lines = ["Content-Type: application/http"]
    if content_id is not None:
        opening = "<" if content_id.startswith("<") else ""
        lines.append(f"Content-ID: {opening}response-{content_id.removeprefix('<')}")
    status_line = f"HTTP/1.1 {response.status} {reason(response.status)}"
    headers = response.headers.pairs or [("Cache-Control", "no-store")]  # stock parsers need a header in each response
    lines += ["", status_line, *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace")


Handle: TypeAlias = Callable[[Request], Response]
Check: TypeAlias = Callable[[Request, ServiceContext], None]
Refusal: TypeAlias = Callable[[Request, Check, str], Response | None]

# The largest number of requests in a batch for files, and in a batch for calendars.
MAX_REQUESTS: Mapping[str, int] = dict(zip(BATCHES, (100, 1000), strict=True))

_MIB = 1024 * 1024

# The largest size of a batch in bytes, and of every body that is not an upload.
MAX_BATCH = 16 * _MIB

_MAX_RESPONSE, _MAX_SECONDS = 64 * _MIB, 30
_BATCHES_OF_USER = 4  # the number of batches of a user that can use their whole budgets at the same time

_processor_time = getattr(time, "thread_time", time.perf_counter)  # not on every system

_NOT_INHERITED = frozenset({"connection", "expect", "origin", "transfer-encoding", "x-http-method-override"})

# The headers of a request in a batch that are ignored, because the batch has the connection and the length.
_OF_THE_CONNECTION = frozenset({"host", "connection", "content-length", "expect", "origin", "transfer-encoding"})


class BatchBudget:
    """The share of the budget of a batch that requests have taken: 1 is the whole budget."""

    spent = 0.0


class Batches:
    """Performs batches. The batches that send requests of a user at the same time share a budget.

    `handle` performs a request. `refusal` returns the response to a request that a check refuses. `user_of` returns the
    user of an access token.
    """

    def __init__(
        self, context: ServiceContext, handle: Handle, refusal: Refusal, user_of: Callable[[str], str | None]
    ) -> None:
        self._context, self._handle, self._refusal, self._user_of = context, handle, refusal, user_of
        self._budgets: WeakValueDictionary[str, BatchBudget] = WeakValueDictionary()

    def run(self, request: Request, body: Body, operation: str) -> Response:
        """Return a response whose body performs the requests of a batch, in their order, while it is read.

        `operation` is "batch.storage" or "batch.calendar". Raises ApiError (400 or 413), before any request is
        performed, for a malformed batch.
        """
        content_type = request.headers.get("Content-Type") or ""
        digest = hmac.new(self._context.secret.encode(), digestmod="sha256")
        try:
            requests = read_batch(content_type, _blocks(body, digest.update), MAX_REQUESTS[operation])
        except multipart.MultipartError as error:
            raise refuse("badBatch", message=str(error)) from None
        boundary = f"batch_{digest.hexdigest()[:32]}"  # nobody could store a text that contains it
        blocks = write_batch(self._responses(request, body, operation, requests), boundary)
        return Response(200, Headers([("Content-Type", f"multipart/mixed; boundary={boundary}")]), blocks)

    def _responses(
        self, batch: Request, body: Body, operation: str, requests: list[BatchRequest]
    ) -> Iterator[BatchResponse]:
        """Yield the responses, as long as the client of the batch is there. Raises Disconnected."""
        names = self._context.names
        root = names.path("") if operation == BATCHES[0] else names.calendar_path("")

        def gone(_: bool) -> None:
            if is_gone(body):
                raise Disconnected("the client of a batch has closed its connection")

        own, budgets = BatchBudget(), dict[str, BatchBudget]()  # keeps the budgets of the users until the batch ends
        for each in requests:
            with checked_slices(gone):
                let_others_run()
            inner = _request_of(self._context, batch, each)
            token = bearer(inner) or inner.query.get("access_token") or inner.query.get("oauth_token")
            user = (token and self._user_of(token)) or ""
            shared = budgets[user] = self._budgets.setdefault(user, BatchBudget())
            is_full = own.spent > 1 or shared.spent > _BATCHES_OF_USER
            check = partial(_check_request, root=root, is_full=is_full)
            begin = _processor_time()
            response = self._refusal(inner, check, operation) or self._handle(inner)
            content = response.content()
            share = len(content) / _MAX_RESPONSE + (_processor_time() - begin) / _MAX_SECONDS
            own.spent, shared.spent = own.spent + share, shared.spent + share
            yield each.content_id, Response(response.status, response.headers, content)


def _blocks(body: Body, update: Callable[[bytes], None]) -> Iterator[bytes]:
    """Yield the blocks of a batch, which are passed to `update`, too. Raises ApiError (413) after `MAX_BATCH` bytes."""
    size = 0
    while block := body.read(_MIB):
        size += len(block)
        if size > MAX_BATCH:
            raise refuse("batchTooLarge", limit=MAX_BATCH)
        update(block)
        yield block


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


def _check_request(request: Request, _: ServiceContext, root: str, *, is_full: bool) -> None:
    """Raise ApiError (400 or 413) for a request that cannot be part of a batch with requests below `root`."""
    parts = urlsplit(request.url)
    if not parts.path.startswith(root):
        raise refuse("notInBatch", message=f"its path must begin with {root}.")
    alt = Query.parse(parts.query).get("alt") or ""
    if alt.lower() == "media" or parts.path.removeprefix(root).split("/")[2:] == ["export"]:
        raise refuse("notInBatch", message="download content with a request of its own.")
    if is_full:
        raise refuse("batchResponseTooLarge", limit=_MAX_RESPONSE, seconds=_MAX_SECONDS)
