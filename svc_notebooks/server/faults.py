"""Faults on purpose: answers, delays and cut connections, by plan, the same in-process and over a socket (X-05).

A plan is a list of steps; a step says which request it is for and what happens to it:

    {"match": {"operation"?, "method"?, "path"?, "user"?, "nth"?}, "times": 1, "action": {...}}

`operation` is a name of core/operations.py, `path` a glob without the query, `nth` counts the matching requests
from 1. With `in_order` a step is looked at only when the one before it is used up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import count
from threading import Lock
from typing import Any

from ..core.catalogue import CATALOGUE, ApiError, Row, row
from ..core.wire import JSON, Body, Disconnected, Headers, JSONObject, Response, as_body
from .reply import as_error, dump

_MATCH = ("operation", "method", "path", "user", "nth")
_ACTIONS = ("status", "reset", "cut_request_after", "cut_response_after", "delay")
_BODILESS = (204, 304)
_LONGEST_DELAY = 86_400
_REASONS = {
    403: "userRateLimit", 429: "rateLimit", 500: "backendError", 502: "badGateway",
    503: "unavailable", 504: "timedOut",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """What is known of a request when a fault may strike it."""

    operation: str | None
    method: str
    path: str
    user: str | None


class Step:
    """One step of a plan: what it waits for, what it does, how often it did."""

    def __init__(self, given: JSONObject) -> None:
        self.given = given
        self._match = _part(given, "match", _MATCH)
        self.action = _part(given, "action", (*_ACTIONS, "headers", "body"))
        self._times = given.get("times", 1)
        self._seen = 0
        self.fired = 0
        self._check()

    def _check(self) -> None:
        if unknown := self.given.keys() - {"match", "times", "action"}:
            raise ValueError(f"a fault step takes match, times and action, not {min(unknown)}")
        _count("times", self._times)
        kinds = [name for name in _ACTIONS if name in self.action]
        if len(kinds) != 1:
            raise ValueError(f"an action has one of {', '.join(_ACTIONS)}; this one has {', '.join(kinds) or 'none'}")
        _VALUES[kinds[0]](self.action[kinds[0]])
        if kinds != ["status"] and (extra := self.action.keys() - set(_ACTIONS)):
            raise ValueError(f"{kinds[0]} takes no {min(extra)}: only an action with a status has one")
        _headers(self.action.get("headers", {}))
        for name, value in self._match.items():
            (_count if name == "nth" else _text)(name, value)

    @property
    def used_up(self) -> bool:
        """Whether it has fired as often as it may."""
        return self.fired >= int(str(self._times))

    def strikes(self, target: Target) -> bool:
        """Whether this request is one for it, which is not used up; counts the request."""
        if not self._fits(target):
            return False
        self._seen += 1
        if self._seen < int(str(self._match.get("nth", 1))):
            return False
        self.fired += 1
        return True

    def _fits(self, target: Target) -> bool:
        wanted = self._match
        return (
            wanted.get("operation") in (None, target.operation)
            and wanted.get("method") in (None, target.method)
            and wanted.get("user") in (None, target.user)
            and fnmatchcase(target.path, str(wanted.get("path", "*")))
        )


def _part(given: JSONObject, name: str, keys: tuple[str, ...]) -> JSONObject:
    value = given.get(name, {})
    if not isinstance(value, dict):
        raise ValueError(f"{name} takes an object")
    if unknown := value.keys() - set(keys):
        raise ValueError(f"{name} takes {', '.join(keys)}, not {min(unknown)}")
    return value


def _text(name: str, value: JSON) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{name} takes a text")


def _count(name: str, value: JSON) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} takes a whole number from 1 on")


def _headers(value: JSON) -> None:
    if not isinstance(value, dict):
        raise ValueError("headers takes an object of names and values")


def _status(value: JSON) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 200 <= value <= 599:
        raise ValueError("status takes a number from 200 to 599")


def _moment(value: JSON) -> None:
    if value not in ("before", "after"):
        raise ValueError("reset takes before or after")


def _size(value: JSON) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("a cut takes a number of bytes from 0 on")


def _seconds(value: JSON) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LONGEST_DELAY:
        raise ValueError(f"delay takes a number of seconds from 0 to {_LONGEST_DELAY}")


_VALUES: Mapping[str, Callable[[JSON], None]] = {
    "status": _status,
    "reset": _moment,
    "cut_request_after": _size,
    "cut_response_after": _size,
    "delay": _seconds,
}


class Plan:
    """Steps that were given together."""

    def __init__(self, key: str, given: JSONObject) -> None:
        steps = given.get("steps")
        if not isinstance(steps, list) or not steps or not all(isinstance(step, dict) for step in steps):
            raise ValueError('a plan takes {"steps": [step, ...]}')
        self.key = key
        if not isinstance(given.get("in_order", False), bool):
            raise ValueError("in_order takes true or false")
        self._in_order = given.get("in_order") is True
        self.steps = [Step(step) for step in steps if isinstance(step, dict)]

    def strike(self, target: Target) -> Iterator[Step]:
        """The steps that strike this request."""
        for step in self.steps:
            if step.used_up:
                continue
            if step.strikes(target):
                yield step
            if self._in_order:
                return

    def unfired(self) -> list[JSONObject]:
        """The steps that never fired."""
        return [step.given for step in self.steps if not step.fired]

    def row(self) -> dict[str, Any]:
        """The plan as it was given, and how often each step fired."""
        return {
            "id": self.key,
            "in_order": self._in_order,
            "steps": [{**step.given, "fired": step.fired} for step in self.steps],
        }


class Faults:
    """The plans that are in force."""

    def __init__(self, sleep: Callable[[float], None] = time.sleep) -> None:
        self._plans: dict[str, Plan] = {}
        self._numbers = count(1)
        self._lock = Lock()
        self._sleep = sleep

    def __bool__(self) -> bool:
        return bool(self._plans)

    def add(self, given: JSONObject) -> Plan:
        """Put a plan in force. Raises ValueError for one that cannot be read."""
        plan = Plan(f"faults-{next(self._numbers)}", given)
        self._plans[plan.key] = plan
        return plan

    def remove(self, plan: Plan) -> None:
        """A plan is over."""
        self._plans.pop(plan.key, None)

    def clear(self) -> None:
        """All plans are over."""
        self._plans.clear()

    def rows(self) -> list[dict[str, Any]]:
        """The plans, with how often each step fired."""
        return [plan.row() for plan in self._plans.values()]

    def strike(self, target: Target) -> Strike:
        """What happens to this request."""
        with self._lock:
            steps = [step for plan in self._plans.values() for step in plan.strike(target)]
        return Strike([step.action for step in steps], self._sleep)


class Strike:
    """The faults of one request, each at its moment."""

    def __init__(self, actions: list[JSONObject], sleep: Callable[[float], None]) -> None:
        self._actions = actions
        self._sleep = sleep

    def __str__(self) -> str:
        return ", ".join(f"{name} {action[name]}" for action in self._actions for name in _ACTIONS if name in action)

    def before(self) -> Response | None:
        """Before anything is done: wait, cut (raises Disconnected), or answer instead of the service."""
        for action in self._actions:
            if "delay" in action:
                self._sleep(float(str(action["delay"])))
            if action.get("reset") == "before":
                raise Disconnected("a fault cut the connection before the request was served")
            if "status" in action:
                return _injected(action)
        return None

    def body(self, body: Body | bytes) -> Body | bytes:
        """The request's body, cut off where a fault says."""
        cuts = [int(str(action["cut_request_after"])) for action in self._actions if "cut_request_after" in action]
        return CutBody(body, min(cuts)) if cuts else body

    def after(self, response: Response) -> Response:
        """After the service has answered: cut (raises Disconnected), now or in the middle of the answer."""
        for action in self._actions:
            if action.get("reset") == "after" or "cut_request_after" in action:
                raise Disconnected("a fault cut the connection after the request was served")
            if "cut_response_after" in action:
                most = int(str(action["cut_response_after"]))
                response = Response(response.status, response.headers, _cut(response, most))
        return response


class CutBody:
    """A body whose sender goes away after so many bytes."""

    def __init__(self, body: Body | bytes, most: int) -> None:
        self._body = as_body(body)
        self._left = most

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes. Raises Disconnected where the cut is."""
        if not self._left:
            raise Disconnected("a fault cut the request")
        block = self._body.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(block)
        return block


def _cut(response: Response, most: int) -> Iterator[bytes]:
    blocks = [response.body] if isinstance(response.body, bytes) else response.body
    for block in blocks:
        yield block[:most]
        most -= len(block)
        if most <= 0:
            break
    raise Disconnected("a fault cut the answer")


def _injected(action: JSONObject) -> Response:
    status, headers = int(str(action["status"])), action.get("headers")
    extra = [(name, str(value)) for name, value in headers.items()] if isinstance(headers, dict) else []
    if status in _BODILESS:
        return Response(status, Headers(extra))
    if "body" not in action:
        known = as_error(ApiError([_row(status)]))
        return Response(status, known.headers.plus(*extra), known.body)
    body = action["body"]
    content = body.encode() if isinstance(body, str) else dump(body)
    kind = "text/plain; charset=utf-8" if isinstance(body, str) else "application/json; charset=UTF-8"
    known_headers = Headers([("Content-Type", kind), ("Content-Length", str(len(content)))])
    return Response(status, known_headers.plus(*extra), content)


def _row(status: int) -> Row:
    if status in _REASONS:
        return row(_REASONS[status])
    reason = next((found.reason for found in CATALOGUE.values() if found.status == status), "badRequest")
    return Row(status, reason, f"A fault answered {status}.")
