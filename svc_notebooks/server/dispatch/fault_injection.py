"""Injects the faults of one request: responses, delays, and connections cut at a moment or a byte.

A cut is the exception `Disconnected`, which every edge turns into what its caller would see. It takes at least one
byte away: a body that is over before the cut is whole, and the fault has not happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass
from typing import Any

from ...core.errors.catalogue import CATALOGUE, ApiError, Row, refuse, row
from ...core.faults.plan import Action
from ...core.http.messages import (
    Body,
    Disconnected,
    Headers,
    Request,
    Response,
    abort_body,
    as_body,
    close_body,
    is_gone,
)
from ..blobs.blob_store import BLOCK
from ..context.responses import encode_json, error_response
from ..context.service_context import ServiceContext

_BODILESS = (204, 304)
_REASONS = {
    403: "userRateLimit", 429: "rateLimit", 500: "backendError", 502: "badGateway",
    503: "unavailable", 504: "timedOut",
}  # fmt: skip


def _nothing() -> None:
    """Nothing is to be taken back."""


@dataclass(slots=True)
class ArmedFault:
    """What one step means to do to one request.

    `wait` lets seconds pass, `take_back` is called if it does not come to that.
    """

    name: str
    action: Action
    wait: Callable[[float], object]
    undo: Callable[[], None] = _nothing
    fired: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.action}"


class FaultInjection:
    """The faults of one request, each at its moment."""

    def __init__(
        self,
        faults: list[ArmedFault],
        size: int | None,
        lock: AbstractContextManager[object],
    ) -> None:
        """`size` of the request's body in bytes, None: not declared."""
        self._armed = faults
        self._size = size
        self._lock = lock
        self._decided: ArmedFault | None = None
        self._cut: TruncatedBody | None = None

    def __bool__(self) -> bool:
        return bool(self._armed)

    def __str__(self) -> str:
        return ", ".join(str(fault) for fault in self._armed)

    @property
    def decided_by(self) -> str | None:
        """The fault that decided what became of the request, if one did."""
        return f"fault {self._decided.name}" if self._decided else None

    def before(self, expire: Callable[[], bool]) -> Response | None:
        """Before anything is done: wait, let a session expire, cut (raises Disconnected), or answer."""
        for fault in self._armed:
            action = fault.action
            if action.kind == "delay":
                fault.fired = True
                fault.wait(action.number)
            elif action.kind == "expire":
                fault.fired = expire()
            elif action.kind == "reset" and action.value == "before":
                raise self._disconnect(fault, "before the request was served")
            elif action.kind == "status":
                self._decide(fault)
                return injected(action)
        return None

    def body(self, body: Body | bytes) -> Body | bytes:
        """The request's body, cut off where a fault says."""
        cuts = [fault for fault in self._armed if fault.action.kind == "cut_request_after"]
        if not cuts:
            return body
        first = min(cuts, key=lambda fault: fault.action.number)
        most = int(first.action.number)
        longer = self._size is not None and self._size > most
        self._cut = TruncatedBody(body, most, longer, lambda: self._disconnect(first, "in the middle of the request"))
        return self._cut

    def after(self, response: Response) -> Response:
        """After the service has answered: cut (raises Disconnected), now or in the middle of the answer."""
        if self._cut:
            self._cut.drain()
        for fault in self._armed:
            if fault.action.kind == "reset" and fault.action.value == "after":
                close_body(response.body)
                raise self._disconnect(fault, "after the request was served")
            if fault.action.kind == "cut_response_after" and fault.action.number < _size(response):
                self._decide(fault)
                return Response(response.status, response.headers, _cut(response, int(fault.action.number)))
        return response

    def end(self) -> None:
        """Take back what has not happened."""
        unfired = [fault for fault in self._armed if not fault.fired]
        self._armed = [fault for fault in self._armed if fault.fired]
        with self._lock:
            for fault in unfired:
                fault.undo()

    def _decide(self, fault: ArmedFault) -> None:
        fault.fired = True
        self._decided = fault

    def _disconnect(self, fault: ArmedFault, when: str) -> Disconnected:
        self._decide(fault)
        return Disconnected(f"a fault cut the connection {when}")


class TruncatedBody:
    """A body whose sender goes away after so many bytes, unless it is over by then; `longer`: it is not."""

    def __init__(self, body: Body | bytes, most: int, longer: bool, cut: Callable[[], Disconnected]) -> None:
        self._body = as_body(body)
        self._left = most
        self._is_longer = longer
        self._cut = cut
        self._disconnected: Disconnected | None = None

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes. Raises Disconnected where the cut is."""
        if size < 0:
            return b"".join(iter(lambda: self.read(BLOCK), b""))
        if size and not self._left and not self._disconnected and (self._is_longer or self._body.read(1)):
            self._disconnected = self._cut()
        if self._disconnected:
            raise self._disconnected
        block = self._body.read(min(size, self._left))
        self._left -= len(block)
        return block

    def drain(self) -> None:
        """Who answered did not want all of it: the sender goes on, up to the cut. Raises Disconnected there."""
        with suppress(ApiError):  # a body that cannot be read on was not cut
            while self.read(BLOCK):
                pass

    def abort(self) -> None:
        """Stop the other side, where there is one that can be stopped."""
        abort_body(self._body)

    def gone(self) -> bool:
        """Whether the other side has closed its connection."""
        return is_gone(self._body)


def _size(response: Response) -> int:
    """How many bytes the answer's body has."""
    if isinstance(response.body, bytes):
        return len(response.body)
    return int(response.headers["Content-Length"])  # a stream that does not say is not ours


def _cut(response: Response, most: int) -> Iterator[bytes]:
    with closing(_ResponseBlocks(response)) as blocks:
        for block in blocks:
            if most:
                yield block[:most]
            if len(block) > most:
                break
            most -= len(block)
    raise Disconnected("a fault cut the answer")


class _ResponseBlocks:
    """The blocks of an answer, to be let go of when enough of them are taken."""

    def __init__(self, response: Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        body = self._response.body
        blocks: Iterable[bytes] = [body] if isinstance(body, bytes) else body
        return iter(blocks)

    def close(self) -> None:
        close_body(self._response.body)


def injected(action: Action) -> Response:
    """The answer that a fault gives in the service's place."""
    status, headers = int(action.number), action.raw.get("headers")
    extra = [(name, str(value)) for name, value in headers.items()] if isinstance(headers, dict) else []
    if status in _BODILESS:
        return Response(status, Headers(extra))
    if "body" in action.raw:
        return _with_body(status, action.raw["body"], extra)
    if status < 400:
        return Response(status, Headers([("Content-Length", "0")]).plus(*extra))
    known = error_response(ApiError([_row(status)]))
    return Response(status, known.headers.plus(*extra), known.body)


def _with_body(status: int, body: Any, extra: list[tuple[str, str]]) -> Response:
    content = body.encode() if isinstance(body, str) else encode_json(body)
    media_type = "text/plain; charset=utf-8" if isinstance(body, str) else "application/json; charset=UTF-8"
    headers = Headers([("Content-Type", media_type), ("Content-Length", str(len(content)))])
    return Response(status, headers.plus(*extra), content)


def _row(status: int) -> Row:
    if status in _REASONS:
        return row(_REASONS[status])
    reason = next((entry.reason for entry in CATALOGUE.values() if entry.status == status), "badRequest")
    return Row(status, reason, "X-05", f"A fault answered {status}.")


def faults_from_header(request: Request, context: ServiceContext, *, signed_in: bool) -> list[Action]:
    """The faults that this request asks for. Raises ApiError (400) for what is none.

    Without a valid access token the header is ignored, unless the policy lets anyone ask. A thread is held no longer
    than by a body that does not come: longer delays are for plans.
    """
    name, allowed = context.names.header("Fault"), context.policy.fault_header
    if not allowed or (allowed != "anyone" and not signed_in):
        return []
    try:
        actions = [Action.parse_header(text) for text in request.headers.all(name)]
    except ValueError as error:
        raise refuse("invalidHeader", name=name, message=f"{error}.") from None
    if any(action.kind == "delay" and action.number > context.policy.body_timeout for action in actions):
        message = f"a request may wait {context.policy.body_timeout:g} seconds at most."
        raise refuse("invalidHeader", name=name, message=message)
    return actions
