"""Runs the contenders by turns and compares their costs within each round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import TypeAlias

Run: TypeAlias = Callable[[], float]
"""Does the work once and says what it cost, in seconds."""

Costs: TypeAlias = tuple[float, ...]
"""What each round cost one contender."""


def timed(work: Callable[[], object], times: int = 1) -> Run:
    """The seconds that one piece of work takes, as the mean of so many in a row."""

    def run() -> float:
        begun = perf_counter()
        for _ in range(times):
            work()
        return (perf_counter() - begun) / times

    return run


def seconds_of_each(work: Callable[[], object], times: int) -> list[float]:
    """The seconds of every single one of so many calls."""
    run = timed(work)
    return [run() for _ in range(times)]


def median_of(work: Callable[[], object], times: int) -> Run:
    """The seconds of a typical call: the middle one of so many, so that what else the machine does is left out."""
    return lambda: median(seconds_of_each(work, times))


def alternate(contenders: Mapping[str, Run], rounds: int) -> dict[str, Costs]:
    """What each contender cost in each round; a first round, which warms up, is not counted."""
    measured = [{name: run() for name, run in contenders.items()} for _ in range(rounds + 1)][1:]
    return {name: tuple(costs[name] for costs in measured) for name in contenders}


@dataclass(frozen=True, slots=True)
class Ratio:
    """The middle of the ratios of the rounds, with the least and the greatest."""

    median_ratio: float
    minimum: float
    maximum: float

    @classmethod
    def of(cls, above: Costs, below: Costs) -> Ratio:
        """Cost by cost, each divided by its neighbour of the same round."""
        ratios = sorted(cost / neighbour for cost, neighbour in zip(above, below, strict=True))
        return cls(median(ratios), ratios[0], ratios[-1])

    def __str__(self) -> str:
        return f"{self.median_ratio:.2f} ({self.minimum:.2f} to {self.maximum:.2f})"
