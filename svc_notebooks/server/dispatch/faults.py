"""Keeps the active fault plans, counts how often each step has happened, and injects the faults of a request (X-05).

core/fault_plan.py defines the language of fault plans. The faults of a request are fault responses, delays and cut
connections, in the same way in-process and over a socket. A cut raises the exception `Disconnected`, and each transport
then breaks the connection. A cut withholds at least one byte. If a body ends before the position of the cut, the body
is complete and the fault has not happened.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ...core.errors.catalogue import CATALOGUE, ApiError, Row, refuse, row as error_row
from ...core.fault_plan import ANY_NUMBER, Action, FaultTarget, Match, check_keys, count, object_member, preset
from ...core.http.messages import JSON, Body, Disconnected, Headers, JSONObject, Request, Response, close_body
from ...core.thread_permit import release_permit
from ..store.blob_store import BLOCK
from ..store.values import LocalValues
from .journal import JournalEntry
from .requests_and_responses import RequestBody, ResponseStream, encode_json, error_response
from .service_context import ServiceContext

if TYPE_CHECKING:
    from ..store.postgres.state import SharedValues

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
        return error_row(_REASONS[status])
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


FROM_HEADER = "the request's own"

# The key of the value with the plans, and the number of the last one.
FAULTS = "faults"

NO_FAULTS: Any = {"last": 0, "plans": ()}


class Step:
    """A step of a fault plan, which counts the matching requests and how often its action has happened."""

    def __init__(self, document: JSONObject, counts: tuple[int, int, int, Any] = (0, 0, 0, None)) -> None:
        """Read a step. `counts` is what the step has counted before."""
        check_keys("a fault step", document, ("match", "times", "action"))
        self.match = Match.read(object_member(document, "match"))
        self.action = Action.read(object_member(document, "action"))
        self.times = count("times", document.get("times", 1))
        self.document = {**document, "action": self.action.raw}
        self.seen, self.fired, self._longest, self._nearest = counts

    @property
    def counts(self) -> JSON:
        """What the step has counted. The last one is the request that came nearest, with the number of differences."""
        return [self.seen, self.fired, self._longest, self._nearest]

    @property
    def used_up(self) -> bool:
        """True after the step has happened `times` times."""
        return self.fired >= self.times

    @property
    def is_missing(self) -> bool:
        """True for a step that has not happened as often as it should. A step with a probability need not happen."""
        enough = self.fired and self.times >= ANY_NUMBER
        return not (self.used_up or enough or "probability" in object_member(self.document, "match"))

    def fires_for(self, target: FaultTarget) -> bool:
        """Count a request if it matches the step. Return True if the step happens to the request."""
        if misses := self.match.mismatches(target):
            if self._nearest is None or len(misses) < self._nearest[0]:
                self._nearest = [len(misses), f"{target}, which differs in {' and '.join(misses)}"]
            return False
        self.seen += 1
        self._longest = max(self._longest, target.size or 0)
        is_cut = self.action.kind == "cut_request_after"
        too_short = is_cut and target.size is not None and target.size <= self.action.number
        if self.used_up or too_short or not self.match.happens(self.seen):
            return False
        self.fired += 1
        return True

    def nearest_miss(self) -> str:
        """Describe the request that came nearest to the condition of the step, for an error message."""
        if not self.seen:
            return f"the most similar request was {self._nearest[1]}" if self._nearest else "there was no request"
        came = f"there {'were' if self.seen > 1 else 'was'} {self.seen} such request{'s' if self.seen > 1 else ''}"
        if self.seen < self.match.nth:
            return came
        if self.action.kind == "cut_request_after":
            return f"{came}, the longest with {self._longest:,} bytes"
        return f"{came}, but the fault was not possible in {'these requests' if self.seen > 1 else 'this request'}"


class ArmedPlan:
    """The steps of one active fault plan. `name` is the name of the preset, or None for a plan with its own steps."""

    def __init__(self, key: str, document: JSONObject, ends: float = math.inf, counts: Sequence[Any] = ()) -> None:
        """Read a plan. `ends` is in Unix seconds, and `counts` is what the steps have counted before."""
        self.key = key
        self.document = document
        self.ends = ends
        self.name = document.get("preset")
        steps, self._in_order = _read_plan(document)
        self.steps = [*map(Step, steps, counts)] if counts else [*map(Step, steps)]

    def steps_for(self, target: FaultTarget) -> Iterator[tuple[int, Step]]:
        """Yield the steps that happen to a request, with their numbers. `in_order` allows the first unfinished only."""
        for number, step in enumerate(self.steps):
            over = step.used_up
            if step.fires_for(target):
                yield number, step
            if self._in_order and not over:
                return

    def describe_missing(self) -> str | None:
        """Describe the steps that did not happen as often as they should. Return None if any step of a preset did."""
        if self.name and any(step.fired for step in self.steps):
            return None
        missing = [n for n, step in enumerate(self.steps) if step.is_missing]
        return "; ".join(self._describe_missing_step(number) for number in missing) or None

    def _describe_missing_step(self, number: int) -> str:
        step, before = self.steps[number], self.steps[number - 1] if number else None
        named = f"step {number} of {self.name or self.key} ({step.action.description})"
        if step.fired:
            often = f"this fault happened {step.fired} of {step.times} times"
            return f"{often}; times={ANY_NUMBER} stands for any number of times: {named}"
        waited = f"this fault never happened: {named} waited for {step.match}"
        if self._in_order and before and not before.used_up:
            return f"{waited}, but was not reached: step {number - 1} happened {before.fired} of {before.times} times"
        return f"{waited}; {step.nearest_miss()}"

    def arguments(self) -> dict[str, Any]:
        """Return the arguments that make an equal plan."""
        counts = [step.counts for step in self.steps]
        return {"key": self.key, "document": self.document, "ends": self.ends, "counts": counts}

    def row(self) -> dict[str, Any]:
        """Return the plan as a dict, with the number of times that each step happened."""
        named = {"preset": self.name} if self.name else {}
        steps = [{**step.document, "seen": step.seen, "fired": step.fired} for step in self.steps]
        return {"id": self.key, **named, "in_order": self._in_order, "steps": steps}


def _seconds(document: JSONObject) -> float:
    """Return the seconds of real time for which a plan is active, by default without an end."""
    seconds = document.get("seconds", math.inf)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise ValueError("seconds must be a number above 0")
    return seconds


def _read_plan(document: JSONObject) -> tuple[list[JSONObject], bool]:
    check_keys("a fault plan", document, ("steps", "in_order", "preset", "seconds"))
    if "preset" in document:
        if {"steps", "in_order"} & document.keys():
            raise ValueError("a fault plan with preset must not have steps or in_order")
        known = preset(str(document["preset"]))
        return list(known.steps), known.in_order
    steps, in_order = document.get("steps"), document.get("in_order", False)
    if not isinstance(steps, list) or not steps or not all(isinstance(step, dict) for step in steps):
        raise ValueError('a fault plan must be {"steps": [step, ...]}')
    if not isinstance(in_order, bool):
        raise ValueError("in_order must be true or false")
    return [step for step in steps if isinstance(step, dict)], in_order


class Faults:
    """The active fault plans of a service, or of all processes that share its store."""

    def __init__(self, context: ServiceContext) -> None:
        shared = context.store.shared
        self.values: LocalValues | SharedValues = shared.values if shared else LocalValues()
        self._plans: dict[str, ArmedPlan] = {}
        self._last = 0
        self._clock, self._delay = context.clock, context.policy.fault_delay

    @contextmanager
    def _changing(self) -> Iterator[dict[str, ArmedPlan]]:
        """Return the plans whose time is not over by key, for a `with` block in which nobody else changes them."""
        with self.values.editing(FAULTS) as edited:
            value = edited.value or NO_FAULTS
            self._last, before = value["last"], {row["key"]: ArmedPlan(**row) for row in value["plans"]}
            self._plans = {key: plan for key, plan in before.items() if plan.ends > time.time()}
            yield self._plans
            edited.is_announced = self._plans.keys() != before.keys()
            edited.value = {"last": self._last, "plans": [plan.arguments() for plan in self._plans.values()]}

    def add(self, document: JSONObject) -> ArmedPlan:
        """Activate a fault plan and return the plan. Raises ValueError for an invalid plan."""
        with self._changing() as plans:
            return self._add(document, plans)

    def _add(self, document: JSONObject, plans: dict[str, ArmedPlan]) -> ArmedPlan:
        plan = ArmedPlan(f"faults-{self._last + 1}", document, time.time() + _seconds(document))
        self._last += 1
        plans[plan.key] = plan
        return plan

    def during(self, steps: Sequence[JSONObject | str], *, in_order: bool) -> AbstractContextManager[list[ArmedPlan]]:
        """Return a context manager that activates fault steps for the duration of a `with` block.

        Its value is the list of the plans, whose counts are complete at the end of the block.

        A step may be the name of a preset, or a text such as "status=503". Raises ValueError for an invalid step,
        before the block begins. Raises AssertionError at the end of the block if a step did not happen
        as often as it should.
        """
        own, documents = list[JSON](), list[JSONObject]()
        for step in steps:
            if not isinstance(step, str):
                own.append(step)
            elif "=" in step:
                own.append({"action": Action.parse_header(step).raw})
            else:
                documents.append({"preset": step})
        if own or not documents:
            documents.append({"steps": own, "in_order": in_order})
        for document in documents:
            ArmedPlan("", document)
        return self._during(documents)

    @contextmanager
    def _during(self, documents: Sequence[JSONObject]) -> Iterator[list[ArmedPlan]]:
        with self._changing() as plans:
            added = [self._add(document, plans) for document in documents]
        try:
            yield added
        finally:
            with self._changing() as plans:
                added[:] = [plans.pop(plan.key, plan) for plan in added]
        if missing := [text for plan in added if (text := plan.describe_missing())]:
            raise AssertionError("; ".join(missing))

    def clear(self) -> None:
        """Remove all fault plans."""
        with self._changing() as plans:
            plans.clear()

    def rows(self) -> list[dict[str, Any]]:
        """Return each plan as a dict, with the number of times that each step happened."""
        with self._changing() as plans:
            return [plan.row() for plan in plans.values()]

    def inject(
        self, target: FaultTarget, from_header: Iterable[Action] = (), *, over_socket: bool = False
    ) -> FaultInjection:
        """Return the faults that apply to a request, from the active plans and from the request's own header.

        `over_socket` is True for a client that measures real time, such as a program with a timeout.
        """
        in_real_time = self._delay == "sleep" or (self._delay == "auto" and over_socket)
        wait = time.sleep if in_real_time else self._clock.wait
        with self._changing() as plans:
            faults = [
                ArmedFault(f"{key}/{number}", step.action, wait, partial(self._undo, key, number))
                for key, plan in plans.items()
                for number, step in plan.steps_for(target)
            ]
        # A delay from a header passes in real time, because one request must not move the clock of all users.
        faults += [ArmedFault(FROM_HEADER, action, time.sleep) for action in from_header]
        return FaultInjection(faults)

    def _undo(self, key: str, number: int) -> None:
        """Decrease the number of times that a step happened, because another fault ended the request first."""
        with self._changing() as plans:
            if plan := plans.get(key):
                plan.steps[number].fired -= 1
