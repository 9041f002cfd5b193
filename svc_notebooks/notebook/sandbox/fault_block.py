"""The arguments and the context manager of `lab.faults()`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ContextDecorator
from types import TracebackType
from typing import Any

from ...core.errors.caller_warning import warn_caller
from ...core.errors.public_calls import unknown_argument
from ...core.faults.plan import ACTION_KEYS, MATCH_KEYS
from ...core.http.messages import JSONObject


def fault_steps(steps: Sequence[Any], one: Mapping[str, Any], times: int) -> list[JSONObject | str]:
    """Return the fault steps of positional arguments, and of the keyword arguments `one` as a last step.

    Raises TypeError for an argument of another type, for an unknown keyword argument, or without any argument.
    """
    for step in steps:
        if not isinstance(step, str | dict):
            kinds = "names of presets, texts such as 'status=503' or dicts"
            raise TypeError(f"faults() takes {kinds} by position, not {type(step).__name__}")
    known = [*MATCH_KEYS, *ACTION_KEYS, "in_order", "times"]
    for name in one:
        if name not in known:
            raise TypeError(unknown_argument("Sandbox.faults", name, known))
    if not steps and not one:
        raise TypeError("faults() needs a preset such as 'lost receipt', or a fault such as status=503")
    if not one:
        if times != 1:
            raise TypeError(f"times={times} needs a fault as keyword arguments, such as status=503, times={times}")
        return list(steps)
    match = {name: value for name, value in one.items() if name in MATCH_KEYS}
    action = {name: value for name, value in one.items() if name in ACTION_KEYS}
    return [*steps, {"match": match, "action": action, "times": times}]


class FaultBlock(ContextDecorator):
    """Faults that happen to the requests inside of a with block, or inside of a function that they decorate.

    `code` is the call that made the faults. If the object is neither used nor displayed, a warning says that it had no
    effect.
    """

    def __init__(self, begin: Callable[[], AbstractContextManager[None]], code: str) -> None:
        self._begin = begin
        self._code = code
        self._entered: list[AbstractContextManager[None]] = []  # the innermost block last
        self._noticed = False

    def __enter__(self) -> None:
        self._noticed = True
        block = self._begin()
        block.__enter__()
        self._entered.append(block)

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._entered.pop().__exit__(error_type, error, trace)

    def _recreate_cm(self) -> FaultBlock:
        """Return the context manager for each call of a decorated function (ContextDecorator)."""
        self._noticed = True
        return self

    def __repr__(self) -> str:
        self._noticed = True
        return self._advice()

    def _advice(self) -> str:
        return f"{self._code} does nothing by itself. Put requests into a block: with {self._code}: ..."

    def __del__(self) -> None:
        if not self._noticed and not sys.is_finalizing():
            warn_caller(self._advice())


def fault_plan_rows(plans: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a record for each step of the active fault plans of a service."""
    from ...core.faults.plan import Action, Match

    return [
        {
            "plan": plan["id"],
            "preset": plan.get("preset"),
            "step": number,
            "waits_for": str(Match.read(step.get("match", {}))),
            "does": Action.read(step["action"]).description,
            "times": step.get("times", 1),
            "seen": step["seen"],
            "fired": step["fired"],
        }
        for plan in plans
        for number, step in enumerate(plan["steps"])
    ]
