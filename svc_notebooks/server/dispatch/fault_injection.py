"""Injects the faults of one request, which are fault responses, delays and cut connections.

A cut raises the exception `Disconnected`, and each transport then breaks the connection. A cut withholds at least one
byte. If a body ends before the position of the cut, the body is complete and the fault has not happened.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from ...core.errors.catalogue import CATALOGUE, ApiError, Row, refuse, row
from ...core.fault_plan import Action
from ...core.http.messages import Body, Disconnected, Headers, Request, Response, close_body
from ...core.thread_permit import release_permit
from ..store.blob_store import BLOCK
from .bodies import RequestBody, ResponseStream
from .journal import JournalEntry
from .messages import encode_json, error_response
from .service_context import ServiceContext

_BODILESS = (204, 304)
_REASONS = {
    403: "userRateLimit", 429: "rateLimit", 500: "backendError", 502: "badGateway",
    503: "unavailable", 504: "timedOut",
}  # fmt: skip


@dataclass(slots=True)
class ArmedFault:
    """A fault that may happen to one request. `wait` sleeps, and `undo` is called if the fault does not happen."""

    name: str
    action: Action
    wait: Callable[[float], object]
    undo: Callable[[], None] = lambda: None
    fired: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.action}"


class FaultInjection:
    """The faults of one request, applied before, during and after its handler."""

    def __init__(self, faults: list[ArmedFault]) -> None:
        self._armed = faults
        self._decided: ArmedFault | None = None
        self._cut: CutRequestBody | None = None

    def __str__(self) -> str:
        return ", ".join(str(fault) for fault in self._armed)

    @property
    def decided_by(self) -> str | None:
        """The text "fault" and the name of the fault that decided the response, or None without such a fault."""
        return f"fault {self._decided.name}" if self._decided else None

    def before(self, expire: Callable[[], bool]) -> Response | None:
        """Apply the faults that happen before the handler. Return the first `status` fault's response, or None.

        `expire` ends the upload session and returns True if there was a session. Raises Disconnected if a fault resets
        the connection.
        """
        for fault in self._armed:
            action = fault.action
            if action.kind == "delay":
                fault.fired = True
                with release_permit():
                    fault.wait(action.number)
            elif action.kind == "expire":
                fault.fired = expire()
            elif action.kind == "reset" and action.value == "before":
                raise self._disconnect(fault, "before the request was served")
            elif action.kind == "status":
                self._decide(fault)
                return fault_response(action)
        return None

    def request_body(self, body: Body | bytes, entry: JournalEntry) -> RequestBody | None:
        """Return a request body that raises Disconnected where a fault cuts it, or None if no fault cuts the body."""
        cuts = [fault for fault in self._armed if fault.action.kind == "cut_request_after"]
        if cuts:
            first = min(cuts, key=lambda fault: fault.action.number)
            size = int(first.action.number)
            self._cut = CutRequestBody(
                body, entry, size, lambda: self._disconnect(first, "in the middle of the request")
            )
        return self._cut

    def after(self, response: Response, entry: JournalEntry) -> Response:
        """Apply the faults that happen after the handler, and return the response.

        Raises Disconnected if a fault resets the connection. A body that a fault cuts raises Disconnected later.
        """
        if self._cut:
            self._cut.drain()
        if self._armed and not isinstance(response.body, bytes) and "Content-Length" not in response.headers:
            response = Response(response.status, response.headers, response.content())  # performs the whole batch
        for fault in self._armed:
            if fault.action.kind == "reset" and fault.action.value == "after":
                close_body(response.body)
                raise self._disconnect(fault, "after the request was served")
            if fault.action.kind == "cut_response_after" and fault.action.number < _size(response):
                self._decide(fault)
                blocks = [response.body] if isinstance(response.body, bytes) else response.body
                stream = ResponseStream(blocks, entry, length=None, cut_after=int(fault.action.number))
                return Response(response.status, response.headers, stream)
        return response

    def end(self) -> None:
        """Undo the faults that did not happen."""
        unfired = [fault for fault in self._armed if not fault.fired]
        self._armed = [fault for fault in self._armed if fault.fired]
        for fault in unfired:
            fault.undo()

    def _decide(self, fault: ArmedFault) -> None:
        fault.fired = True
        self._decided = fault

    def _disconnect(self, fault: ArmedFault, when: str) -> Disconnected:
        self._decide(fault)
        return Disconnected(f"a fault cut the connection {when}")


class CutRequestBody(RequestBody):
    """A request body that raises Disconnected after `size` bytes, if the body is longer."""

    __slots__ = ("_disconnect", "_disconnected", "_is_longer", "_left")

    def __init__(
        self, body: Body | bytes, entry: JournalEntry, size: int, disconnect: Callable[[], Disconnected]
    ) -> None:
        super().__init__(body, entry)
        self._read = self._read_until_cut
        self._left = size
        self._is_longer = entry.declared is not None and entry.declared > size
        self._disconnect = disconnect
        self._disconnected: Disconnected | None = None

    def _read_until_cut(self, size: int) -> bytes:
        if size < 0:
            return b"".join(iter(lambda: self._read_until_cut(BLOCK), b""))
        if size and not self._left and not self._disconnected and (self._is_longer or self._body.read(1)):
            self._disconnected = self._disconnect()
        if self._disconnected:
            raise self._disconnected
        block = self._body.read(min(size, self._left))
        self._left -= len(block)
        return block

    def drain(self) -> None:
        """Read the bytes that the handler did not read, up to the cut. Raises Disconnected at the cut."""
        with suppress(ApiError):  # a body with an error was not cut by the fault
            while self._read_until_cut(BLOCK):
                pass


def _size(response: Response) -> int:
    """Return the length of a response body in bytes, whose Content-Length is known if it is streamed."""
    body = response.body
    return len(body) if isinstance(body, bytes) else int(response.headers["Content-Length"])


def fault_response(action: Action) -> Response:
    """Return the response that a fault of the kind `status` describes."""
    status, headers = int(action.number), action.raw.get("headers")
    extra = [(name, str(value)) for name, value in headers.items()] if isinstance(headers, dict) else []
    if status in _BODILESS:
        return Response(status, Headers(extra))
    if "body" in action.raw:
        body = action.raw["body"]
        content = body.encode() if isinstance(body, str) else encode_json(body)
        media_type = "text/plain; charset=utf-8" if isinstance(body, str) else "application/json; charset=UTF-8"
        known = Headers([("Content-Type", media_type), ("Content-Length", str(len(content)))])
        return Response(status, known.plus(*extra), content)
    if status < 400:
        return Response(status, Headers([("Content-Length", "0")]).plus(*extra))
    refusal = error_response(ApiError([_row(status)]))
    return Response(status, refusal.headers.plus(*extra), refusal.body)


def _row(status: int) -> Row:
    if status in _REASONS:
        return row(_REASONS[status])
    reason = next((entry.reason for entry in CATALOGUE.values() if entry.status == status), "badRequest")
    return Row(status, reason, "X-05", f"A fault returned {status}.")


def faults_from_header(request: Request, context: ServiceContext, *, signed_in: bool) -> list[Action]:
    """Return the fault actions in the fault header of a request. Raises ApiError (400) for an invalid fault.

    Return [] without a valid access token, unless `policy.fault_header` is "anyone". A delay in this header may last at
    most `policy.body_timeout`, because it occupies a thread. Longer delays need a fault plan.
    """
    name, allowed = context.names.header("Fault"), context.policy.fault_header
    if not allowed or (allowed != "anyone" and not signed_in):
        return []
    try:
        actions = [Action.parse_header(text) for text in request.headers.all(name)]
    except ValueError as error:
        raise refuse("invalidHeader", name=name, message=f"{error}.") from None
    if any(action.kind == "delay" and action.number > context.policy.body_timeout for action in actions):
        message = f"delay must be at most {context.policy.body_timeout:g} seconds in this header."
        raise refuse("invalidHeader", name=name, message=message)
    return actions
