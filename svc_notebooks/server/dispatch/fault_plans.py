"""Keeps the active fault plans and counts how often each step has happened (X-05).

core/fault_plan.py defines the language of fault plans. fault_injection.py applies a step to a request, in the same
way in-process and over a socket.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from operator import attrgetter
from threading import RLock
from typing import TYPE_CHECKING, Any

from ...core.fault_plan import Action, FaultTarget, Match, check_keys, count, object_member, preset
from ...core.http.messages import JSON, JSONObject
from .fault_injection import ArmedFault, FaultInjection
from .service_context import ServiceContext

if TYPE_CHECKING:
    from ..store.postgres.values import SharedValues


FROM_HEADER = "the request's own"
_FAULTS = "faults"


class Step:
    """A step of a fault plan, which counts the matching requests and how often its action has happened."""

    def __init__(self, document: JSONObject) -> None:
        check_keys("a fault step", document, ("match", "times", "action"))
        self.match = Match.read(object_member(document, "match"))
        self.action = Action.read(object_member(document, "action"))
        self.times = count("times", document.get("times", 1))
        self.document = {**document, "action": self.action.raw}
        self.seen = 0
        self.fired = 0
        self._longest = 0
        self._nearest: tuple[int, str] | None = None

    def counts(self) -> JSON:
        """Return what the step has counted, for `restore`."""
        return [self.seen, self.fired, self._longest, list(self._nearest) if self._nearest else None]

    def restore(self, counts: Any) -> None:
        """Restore what the step had counted."""
        self.seen, self.fired, self._longest, nearest = counts
        self._nearest = nearest and tuple(nearest)

    @property
    def used_up(self) -> bool:
        """True after the step has happened `times` times."""
        return self.fired >= self.times

    def fires_for(self, target: FaultTarget) -> bool:
        """Count a request if it matches the step. Return True if the step happens to the request."""
        if misses := self.match.mismatches(target):
            if self._nearest is None or len(misses) < self._nearest[0]:
                self._nearest = (len(misses), f"{target}, which differs in {' and '.join(misses)}")
            return False
        self.seen += 1
        self._longest = max(self._longest, target.size or 0)
        is_cut = self.action.kind == "cut_request_after"
        too_short = is_cut and target.size is not None and target.size <= self.action.number
        if self.used_up or self.seen < self.match.nth or too_short:
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

    def __init__(self, key: str, document: JSONObject, ends: float = math.inf) -> None:
        self.key = key
        self.document = document
        self.ends = ends
        self.name = document.get("preset")
        steps, self._in_order = _read_plan(document)
        self.steps = [Step(step) for step in steps]
        self.requests = 0

    def steps_for(self, target: FaultTarget) -> Iterator[tuple[int, Step]]:
        """Yield the steps that happen to a request, with their numbers. `in_order` allows the first unfinished only."""
        self.requests += 1
        for number, step in enumerate(self.steps):
            over = step.used_up
            if step.fires_for(target):
                yield number, step
            if self._in_order and not over:
                return

    def describe_missing(self) -> str | None:
        """Describe the steps that never happened. Return None if all steps, or any step of a preset, happened."""
        missing = [number for number, step in enumerate(self.steps) if not step.fired]
        if not missing or (self.name and len(missing) < len(self.steps)):
            return None
        return "; ".join(self._describe_missing_step(number) for number in missing)

    def _describe_missing_step(self, number: int) -> str:
        step, before = self.steps[number], self.steps[number - 1] if number else None
        waited = f"step {number} of {self.name or self.key} ({step.action.description}) waited for {step.match}"
        if self._in_order and before and not before.used_up:
            return f"{waited}, but was not reached: step {number - 1} happened {before.fired} of {before.times} times"
        return f"{waited}; {step.nearest_miss()}"

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


def _own_step(step: JSONObject | str) -> JSONObject:
    return {"action": Action.parse_header(step).raw} if isinstance(step, str) else step


class Plans:
    """The active fault plans of a service, in memory."""

    active = property(attrgetter("by_key"), doc="True if there are plans. Every request reads it, without a call.")

    def __init__(self) -> None:
        self.last = 0
        self.by_key: dict[str, ArmedPlan] = {}
        self._lock = RLock()

    def now(self) -> float:
        """Return the present time in seconds, on the clock on which plans end."""
        return time.monotonic()

    @contextmanager
    def changing(self) -> Iterator[Plans]:
        """Return the plans for a `with` block, in which no other request changes them."""
        with self._lock:
            yield self

    def add(self, document: JSONObject) -> ArmedPlan:
        """Add a plan with a new key. Raises ValueError for an invalid plan."""
        plan = ArmedPlan(f"faults-{self.last + 1}", document, self.now() + _seconds(document))
        self.last += 1
        self.by_key = {**self.by_key, plan.key: plan}
        return plan

    def pop(self, plan: ArmedPlan) -> ArmedPlan:
        """Remove a plan, and return it with its counts."""
        active = self.by_key.get(plan.key, plan)
        self.by_key = {key: each for key, each in self.by_key.items() if key != plan.key}
        return active

    def remove_ended(self) -> None:
        """Remove the plans whose time is over."""
        now = self.now()
        self.by_key = {key: plan for key, plan in self.by_key.items() if plan.ends > now}


class SharedPlans(Plans):
    """The active fault plans of a store that several processes share. `by_key` has them within `changing` only."""

    def __init__(self, values: SharedValues) -> None:
        super().__init__()
        self._values = values

    @property
    def active(self) -> bool:
        """True if there are plans."""
        return bool((self._values.get(_FAULTS) or {}).get("plans"))

    def now(self) -> float:
        """Return the present time in seconds, which all processes know."""
        return time.time()

    @contextmanager
    def changing(self) -> Iterator[Plans]:
        """Return the plans for a `with` block, in which no other process changes them."""
        with self._values.editing(_FAULTS) as edited:
            value = edited.value or {"last": 0, "plans": []}
            self.last = value["last"]
            self.by_key = before = {row["key"]: _read(row) for row in value["plans"]}
            yield self
            edited.is_announced = self.by_key.keys() != before.keys()
            edited.value = {"last": self.last, "plans": [_written(plan) for plan in self.by_key.values()]}


def _written(plan: ArmedPlan) -> JSON:
    ends = None if math.isinf(plan.ends) else plan.ends
    counts = [step.counts() for step in plan.steps]
    return {"key": plan.key, "document": plan.document, "ends": ends, "requests": plan.requests, "counts": counts}


def _read(row: Any) -> ArmedPlan:
    plan = ArmedPlan(row["key"], row["document"], math.inf if row["ends"] is None else row["ends"])
    plan.requests = row["requests"]
    for step, counts in zip(plan.steps, row["counts"], strict=True):
        step.restore(counts)
    return plan


class Faults:
    """The active fault plans of a service, or of all processes that share its store."""

    def __init__(self, context: ServiceContext) -> None:
        shared = context.store.shared
        self.plans = SharedPlans(shared.values) if shared else Plans()
        self._clock, self._delay = context.clock, context.policy.fault_delay

    def add(self, document: JSONObject) -> ArmedPlan:
        """Activate a fault plan and return the plan. Raises ValueError for an invalid plan."""
        with self.plans.changing() as plans:
            return plans.add(document)

    def during(self, steps: Sequence[JSONObject | str], *, in_order: bool) -> AbstractContextManager[None]:
        """Return a context manager that activates fault steps for the duration of a `with` block.

        A step may be the name of a preset, or a text such as "status=503". Raises ValueError for an invalid step,
        before the block begins. Raises AssertionError at the end of the block if a step never happened.
        """
        own = [_own_step(step) for step in steps if not isinstance(step, str) or "=" in step]
        documents: list[JSONObject] = [{"preset": step} for step in steps if isinstance(step, str) and "=" not in step]
        if own or not documents:
            documents.append({"steps": [*own], "in_order": in_order})
        for document in documents:
            ArmedPlan("", document)
        return self._during(documents)

    @contextmanager
    def _during(self, documents: Sequence[JSONObject]) -> Iterator[None]:
        with self.plans.changing() as plans:
            added = [plans.add(document) for document in documents]
        try:
            yield
        finally:
            with self.plans.changing() as plans:
                ended = [plans.pop(plan) for plan in added]
        if missing := [text for plan in ended if (text := plan.describe_missing())]:
            raise AssertionError(f"this fault never happened: {'; '.join(missing)}")

    def clear(self) -> None:
        """Remove all fault plans."""
        with self.plans.changing() as plans:
            plans.by_key = {}

    def rows(self) -> list[dict[str, Any]]:
        """Return each plan as a dict, with the number of times that each step happened."""
        if not self:
            return []
        with self.plans.changing() as plans:
            plans.remove_ended()
            return [plan.row() for plan in plans.by_key.values()]

    def inject(
        self, target: FaultTarget, from_header: Iterable[Action] = (), *, over_socket: bool = False
    ) -> FaultInjection:
        """Return the faults that apply to a request, from the active plans and from the request's own header.

        `over_socket` is True for a client that measures real time, such as a program with a timeout.
        """
        in_real_time = self._delay == "sleep" or (self._delay == "auto" and over_socket)
        faults = self._planned(target, time.sleep if in_real_time else self._clock.wait) if self else []
        # A delay from a header passes in real time, because one request must not move the clock of all users.
        faults += [ArmedFault(FROM_HEADER, action, time.sleep) for action in from_header]
        return FaultInjection(faults)

    def _planned(self, target: FaultTarget, wait: Callable[[float], object]) -> list[ArmedFault]:
        with self.plans.changing() as plans:
            plans.remove_ended()
            return [
                ArmedFault(f"{key}/{number}", step.action, wait, partial(self._undo, key, number))
                for key, plan in plans.by_key.items()
                for number, step in plan.steps_for(target)
            ]

    def _undo(self, key: str, number: int) -> None:
        """Decrease the number of times that a step happened, because another fault ended the request first."""
        with self.plans.changing() as plans:
            if plan := plans.by_key.get(key):
                plan.steps[number].fired -= 1
