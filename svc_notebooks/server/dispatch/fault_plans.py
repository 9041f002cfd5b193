"""Faults on purpose: the plans that are in force, what each step waits for, and how often it has happened (X-05).

The language of a plan is core/faults/plan.py's; what a step does to a request is fault_injection.py's, the same
in-process and over a socket.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count as count_from
from threading import Lock
from typing import Any

from ...core.faults.plan import Action, FaultTarget, Match, count, object_member
from ...core.faults.presets import preset
from ...core.http.messages import JSONObject
from .fault_injection import ArmedFault, FaultInjection

FROM_HEADER = "the request's own"


class Step:
    """One step of a plan: what it waits for, what it does, how often it did and how near it came."""

    def __init__(self, document: JSONObject) -> None:
        if unknown := document.keys() - {"match", "times", "action"}:
            raise ValueError(f"a fault step takes match, times and action, not {min(unknown)}")
        self.document = document
        self.match = Match.read(object_member(document, "match"))
        self.action = Action.read(object_member(document, "action"))
        self.times = count("times", document.get("times", 1))
        self.seen = 0
        self.fired = 0
        self._longest = 0
        self._nearest: tuple[int, str] | None = None

    @property
    def used_up(self) -> bool:
        """Whether it has happened as often as it may."""
        return self.fired >= self.times

    def fires_for(self, target: FaultTarget) -> bool:
        """Whether this request is one for it, and it is not used up; counts the request either way."""
        misses = self.match.mismatches(target)
        if misses:
            self._remember_miss(target, misses)
            return False
        self.seen += 1
        self._longest = max(self._longest, target.size or 0)
        if self.used_up or self.seen < self.match.nth or self._too_short(target):
            return False
        self.fired += 1
        return True

    def _too_short(self, target: FaultTarget) -> bool:
        """A cut takes something away, or it is none."""
        cut = self.action.kind == "cut_request_after"
        return cut and target.size is not None and target.size <= self.action.number

    def _remember_miss(self, target: FaultTarget, misses: tuple[str, ...]) -> None:
        if self._nearest is None or len(misses) < self._nearest[0]:
            self._nearest = (len(misses), f"{target}, by its {' and '.join(misses)}")

    def undo(self) -> None:
        """It was meant to happen, and something else was faster."""
        self.fired -= 1

    def nearest_miss(self) -> str:
        """How near it came to happening."""
        if not self.seen:
            return f"the nearest was another: {self._nearest[1]}" if self._nearest else "no request came at all"
        came = f"{self.seen} such request{'s' if self.seen > 1 else ''} came"
        if self.seen < self.match.nth:
            return came
        if self.action.kind == "cut_request_after":
            return f"{came}, the longest with {self._longest:,} bytes"
        return f"{came}, and it could not happen to {'any of them' if self.seen > 1 else 'it'}"


class ArmedPlan:
    """Steps that were given together; `name` is that of a preset."""

    def __init__(self, key: str, document: JSONObject) -> None:
        self.key = key
        self.name = document.get("preset")
        steps, self._in_order = _steps(document)
        self.steps = [Step(step) for step in steps]
        self.requests = 0

    def faults_for(self, target: FaultTarget, wait: Callable[[float], object]) -> Iterator[ArmedFault]:
        """What the steps do to this request."""
        self.requests += 1
        for number, step in enumerate(self.steps):
            over = step.used_up
            if step.fires_for(target):
                yield ArmedFault(f"{self.key}/{number}", step.action, wait, step.undo)
            if self._in_order and not over:
                return

    def unfired(self) -> str | None:
        """Which steps never happened, and why, in words; of a preset it is enough that one did."""
        silent = [number for number, step in enumerate(self.steps) if not step.fired]
        if not silent or (self.name and len(silent) < len(self.steps)):
            return None
        return "; ".join(self._why(number) for number in silent)

    def _why(self, number: int) -> str:
        step, before = self.steps[number], self.steps[number - 1] if number else None
        waited = f"step {number} of {self.name or self.key} ({step.action.description}) waited for {step.match}"
        if self._in_order and before and not before.used_up:
            return (
                f"{waited}, and its turn never came: step {number - 1} happened {before.fired} of {before.times} times"
            )
        return f"{waited}; {step.nearest_miss()}"

    def row(self) -> dict[str, Any]:
        """The plan as it was given, and how often each step fired."""
        named = {"preset": self.name} if self.name else {}
        steps = [{**step.document, "seen": step.seen, "fired": step.fired} for step in self.steps]
        return {"id": self.key, **named, "in_order": self._in_order, "steps": steps}


def _steps(document: JSONObject) -> tuple[list[JSONObject], bool]:
    if unknown := document.keys() - {"steps", "in_order", "preset"}:
        raise ValueError(f"a plan takes steps and in_order, or a preset, not {min(unknown)}")
    if "preset" in document:
        if len(document) > 1:
            raise ValueError("a preset takes no steps and no order: it has its own")
        known = preset(str(document["preset"]))
        return list(known.steps), known.in_order
    steps, in_order = document.get("steps"), document.get("in_order", False)
    if not isinstance(steps, list) or not steps or not all(isinstance(step, dict) for step in steps):
        raise ValueError('a plan takes {"steps": [step, ...]}')
    if not isinstance(in_order, bool):
        raise ValueError("in_order takes true or false")
    return [step for step in steps if isinstance(step, dict)], in_order


class Faults:
    """The plans that are in force; `wait` lets seconds pass."""

    def __init__(self, wait: Callable[[float], object] = time.sleep) -> None:
        self._plans: dict[str, ArmedPlan] = {}
        self._numbers = count_from(1)
        self._lock = Lock()
        self._wait = wait

    def __bool__(self) -> bool:
        return bool(self._plans)

    def add(self, document: JSONObject) -> ArmedPlan:
        """Put a plan in force. Raises ValueError for one that cannot be read."""
        return self.add_all([document])[0]

    def add_all(self, documents: Iterable[JSONObject]) -> list[ArmedPlan]:
        """Put plans in force, all or none. Raises ValueError for one that cannot be read."""
        plans = [ArmedPlan(f"faults-{next(self._numbers)}", document) for document in documents]
        self._plans |= {plan.key: plan for plan in plans}
        return plans

    def remove(self, plans: Iterable[ArmedPlan]) -> None:
        """Plans are over."""
        for plan in plans:
            self._plans.pop(plan.key, None)

    @contextmanager
    def during(self, steps: Sequence[JSONObject | str], *, in_order: bool) -> Iterator[None]:
        """Put these steps, and presets by name, in force for a block. Raises what `Service.faults` says."""
        own = [step for step in steps if not isinstance(step, str)]
        documents: list[JSONObject] = [{"preset": name} for name in steps if isinstance(name, str)]
        if own or not documents:
            documents.append({"steps": list(own), "in_order": in_order})
        plans = self.add_all(documents)
        try:
            yield
        finally:
            self.remove(plans)
        if silent := [why for plan in plans if (why := plan.unfired())]:
            raise AssertionError(f"this fault never happened: {'; '.join(silent)}")

    def clear(self) -> None:
        """All plans are over."""
        self._plans.clear()

    def rows(self) -> list[dict[str, Any]]:
        """The plans, with how often each step fired."""
        return [plan.row() for plan in list(self._plans.values())]

    def inject(self, target: FaultTarget, from_header: Iterable[Action] = ()) -> FaultInjection:
        """What happens to this request: by the plans, and by what it asks for itself."""
        with self._lock:
            faults = [fault for plan in list(self._plans.values()) for fault in plan.faults_for(target, self._wait)]
        # Whoever asks for a delay waits for it: the clock is everybody's, and not theirs to move.
        faults += [ArmedFault(FROM_HEADER, action, time.sleep) for action in from_header]
        return FaultInjection(faults, target.size, self._lock)
