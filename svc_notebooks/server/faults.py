"""Faults by script: what can go wrong between a client and a service, at a chosen request and byte (X-05).

A step says when (`match`), how often (`times`) and what (`action`):

    {"match": {"operation": "upload.session", "nth": 2}, "action": {"cut_request_after": 300000}}

Faults stand in front of a service and act the same whatever carries it. They know nothing of it but the
names of its operations; nothing in the service knows of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from ..core.catalogue import ApiError, refuse
from ..core.wire import Body, Disconnected, Headers, Request, Response, as_body
from .reply import as_error
from .routing import Routes

MATCHES = ("operation", "method", "path", "nth")
ACTIONS = (
    "status",
    "headers",
    "body",
    "reset",
    "cut_request_after",
    "cut_response_after",
    "delay",
)
_ENVELOPES = {
    403: "userRateLimit",
    429: "rateLimit",
    500: "backendError",
    502: "badGateway",
    503: "unavailable",
    504: "timedOut",
}


@dataclass(slots=True)
class Step:
    """One thing that goes wrong. `seen` counts the requests that it fits, `fired` how often it happened."""

    match: Mapping[str, Any]
    action: Mapping[str, Any]
    times: int = 1
    seen: int = field(default=0, init=False)
    fired: int = field(default=0, init=False)

    def due(self, request: Request, operation: str | None) -> bool:
        """Count this request, and say whether it is one to go wrong."""
        if self.fired >= self.times or not self._fits(request, operation):
            return False
        self.seen += 1
        return bool(self.seen >= self.match.get("nth", 1))

    def _fits(self, request: Request, operation: str | None) -> bool:
        wanted = self.match
        return (
            wanted.get("operation", operation) == operation
            and wanted.get("method", request.method) == request.method
            and fnmatchcase(request.path, wanted.get("path", "*"))
        )


def step_of(given: Mapping[str, Any]) -> Step:
    """A step as it is written. Raises ValueError that names what it may be.

    >>> step_of({"match": {"nth": 2}, "action": {"status": 503}}).times
    1
    """
    unknown = set(given) - {"match", "action", "times"}
    match, action, times = given.get("match", {}), given.get("action", {}), given.get("times", 1)
    unknown |= set(match) - set(MATCHES) | set(action) - set(ACTIONS)
    if unknown:
        raise ValueError(
            f"a fault has no {', '.join(sorted(unknown))}; match takes {', '.join(MATCHES)},"
            f" action takes {', '.join(ACTIONS)}"
        )
    if not action or action.get("reset", "before") not in ("before", "after"):
        raise ValueError('a fault needs an action, like {"status": 503} or {"reset": "before"}')
    return Step(match, action, times)


class Faults:
    """A service with things that go wrong. `wait` is how a delay passes (seconds)."""

    def __init__(
        self,
        handle: Callable[[Request], Response],
        routes: Routes,
        wait: Callable[[float], object],
    ) -> None:
        self._handle = handle
        self._routes = routes
        self._wait = wait
        self.steps: list[Step] = []

    def handle(self, request: Request) -> Response:
        """Answer as the service does, unless a step is due. Raises Disconnected for a cut connection."""
        operation = self._operation(request) if self.steps else None
        due = [step for step in self.steps if step.due(request, operation)]
        if not due:
            return self._handle(request)
        due[0].fired += 1
        return self._go_wrong(request, due[0].action)

    def _operation(self, request: Request) -> str | None:
        try:
            return self._routes.find(request.method, request.path, request.query).operation.name
        except ApiError:
            return None

    def _go_wrong(self, request: Request, action: Mapping[str, Any]) -> Response:
        self._wait(action.get("delay", 0))
        if action.get("reset") == "before":
            raise Disconnected("the connection was cut before the service heard anything")
        if "status" in action:
            return _answer(action)
        if "cut_request_after" in action:
            return self._cut_request(request, action["cut_request_after"])
        response = self._handle(request)
        if action.get("reset") == "after":
            raise Disconnected("the connection was cut before the answer came")
        if "cut_response_after" in action:
            return _cut_response(response, action["cut_response_after"])
        return response

    def _cut_request(self, request: Request, size: int) -> Response:
        body = CutBody(as_body(request.body), size)
        self._handle(Request(request.method, request.url, request.headers, body))
        raise Disconnected(f"the connection was cut after {size} bytes of the request")


def _answer(action: Mapping[str, Any]) -> Response:
    status = action["status"]
    headers = tuple((str(name), str(value)) for name, value in action.get("headers", {}).items())
    if "body" in action:
        return Response(status, Headers(headers), str(action["body"]).encode())
    if status in _ENVELOPES:
        answer = as_error(refuse(_ENVELOPES[status]))
        return Response(status, answer.headers.plus(*headers), answer.body)
    return Response(status, Headers(headers))


def _cut_response(response: Response, size: int) -> Response:
    blocks = [response.body] if isinstance(response.body, bytes) else response.body
    return Response(response.status, response.headers, _cut(blocks, size))


def _cut(blocks: Iterable[bytes], size: int) -> Iterator[bytes]:
    left = size
    for block in blocks:
        if len(block) > left:
            yield block[:left]
            raise Disconnected(f"the connection was cut after {size} bytes of the answer")
        left -= len(block)
        yield block


class CutBody:
    """A body whose sender goes away after so many bytes."""

    __slots__ = ("_body", "_left")

    def __init__(self, body: Body, size: int) -> None:
        self._body = body
        self._left = size

    def read(self, size: int = -1, /) -> bytes:
        """As the body inside. Raises Disconnected where it is cut."""
        if not self._left:
            raise Disconnected("the client went away")
        data = self._body.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data
