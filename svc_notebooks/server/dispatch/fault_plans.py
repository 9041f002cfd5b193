"""Keeps the active fault plans and counts how often each step has happened (X-05).

core/faults/plan.py defines the language of fault plans. fault_injection.py applies a step to a request, in the same
way in-process and over a socket.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import count as count_from
from threading import Lock
from typing import Any

from ...core.faults.plan import Action, FaultTarget, Match, check_keys, count, object_member
from ...core.faults.presets import preset
from ...core.http.messages import JSONObject
from ..context.service_context import ServiceContext
from ..storage.shared_clock import unshared
from .fault_injection import ArmedFault, FaultInjection

FROM_HEADER = "the request's own"


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

    def undo(self) -> None:
        """Decrease the number of times that the step happened, because another fault ended the request first."""
        self.fired -= 1

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

    def __init__(self, key: str, document: JSONObject) -> None:
        self.key = key
        self.ends = time.monotonic() + _seconds(document)
        self.name = document.get("preset")
        steps, self._in_order = _read_plan(document)
        self.steps = [Step(step) for step in steps]
        self.requests = 0

    def faults_for(self, target: FaultTarget, wait: Callable[[float], object]) -> Iterator[ArmedFault]:
        """Yield a fault for each step that happens to a request. `in_order` allows only the first unfinished step."""
        self.requests += 1
        for number, step in enumerate(self.steps):
            over = step.used_up
            if step.fires_for(target):
                yield ArmedFault(f"{self.key}/{number}", step.action, wait, step.undo)
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


class Faults:
    """The active fault plans of a service. With a shared store they are refused: other processes do not follow them."""

    def __init__(self, context: ServiceContext) -> None:
        self._shared = context.store.is_shared
        self.plans: dict[str, ArmedPlan] = {}
        """The active plans by their ids."""
        self._numbers = count_from(1)
        self._lock = Lock()
        self._wait = context.clock.wait if context.policy.fault_delay == "clock" else time.sleep

    def add(self, document: JSONObject) -> ArmedPlan:
        """Activate a fault plan and return the plan. Raises ValueError for an invalid plan."""
        return self._add_all([document])[0]

    def _add_all(self, documents: Iterable[JSONObject]) -> list[ArmedPlan]:
        if self._shared:
            raise ValueError(unshared("faults cannot be planned"))
        plans = [ArmedPlan(f"faults-{next(self._numbers)}", document) for document in documents]
        self.plans |= {plan.key: plan for plan in plans}
        return plans

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
        plans = self._add_all(documents)
        try:
            yield
        finally:
            for plan in plans:
                self.plans.pop(plan.key, None)
        if missing := [text for plan in plans if (text := plan.describe_missing())]:
            raise AssertionError(f"this fault never happened: {'; '.join(missing)}")

    def clear(self) -> None:
        """Remove all fault plans."""
        self.plans.clear()

    def _remove_ended(self) -> None:
        now = time.monotonic()
        for plan in list(self.plans.values()):
            if plan.ends <= now:
                self.plans.pop(plan.key, None)

    def rows(self) -> list[dict[str, Any]]:
        """Return each plan as a dict, with the number of times that each step happened."""
        self._remove_ended()
        return [plan.row() for plan in list(self.plans.values())]

    def inject(self, target: FaultTarget, from_header: Iterable[Action] = ()) -> FaultInjection:
        """Return the faults that apply to a request, from the active plans and from the request's own header."""
        with self._lock:
            self._remove_ended()
            faults = [fault for plan in list(self.plans.values()) for fault in plan.faults_for(target, self._wait)]
        # A delay from a header passes in real time, because one request must not move the clock of all users.
        faults += [ArmedFault(FROM_HEADER, action, time.sleep) for action in from_header]
        return FaultInjection(faults, self._lock)
