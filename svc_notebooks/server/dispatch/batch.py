"""Performs the requests of a batch one after another, each like a request of its own.

The response is sent while the requests are performed, so that only one of their responses is in memory. The journal,
the rate limits and the faults see each request. A request has the headers of the batch, except those that
describe the body, unless it has its own.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TypeAlias
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from ...core.api.public_endpoints import BATCHES
from ...core.errors.catalogue import refuse
from ...core.http.batch import BatchRequest, BatchResponse, read_batch, write_batch
from ...core.http.messages import Body, Disconnected, Headers, Query, Request, Response, is_gone
from ...core.http.multipart import MultipartError
from ...core.thread_permit import checked_slices, let_others_run
from .caller import bearer
from .origin import without_prefix
from .service_context import ServiceContext

Handle: TypeAlias = Callable[[Request], Response]
Check: TypeAlias = Callable[[Request, ServiceContext], None]
Refusal: TypeAlias = Callable[[Request, Check, str], Response | None]

MAX_REQUESTS: Mapping[str, int] = dict(zip(BATCHES, (100, 1000), strict=True))
"""The largest number of requests in a batch for files, and in a batch for calendars."""

_MIB = 1024 * 1024
MAX_BATCH = 16 * _MIB
"""The largest size of a batch in bytes, and of every body that is not an upload."""

_MAX_RESPONSE, _MAX_SECONDS = 64 * _MIB, 30
_BATCHES_OF_USER = 4
"""The number of batches of a user that can use their whole budgets at the same time."""

_processor_time = getattr(time, "thread_time", time.perf_counter)  # not on every system

_NOT_INHERITED = frozenset({"connection", "expect", "origin", "transfer-encoding", "x-http-method-override"})

_OF_THE_CONNECTION = frozenset({"host", "connection", "content-length", "expect", "origin", "transfer-encoding"})
"""The headers of a request in a batch that are ignored, because the batch has the connection and the length."""


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
        except MultipartError as error:
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
            yield BatchResponse(each.content_id, response.status, response.headers, content)


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
