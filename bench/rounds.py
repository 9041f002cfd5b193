"""Runs the contenders by turns and compares their costs within each round."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time
from typing import TypeAlias

import psutil

ROUNDS = 9
"""The fewest rounds that are counted: other programs disturb some of them, and the median leaves these out."""


class Cost(float):
    """The seconds that a piece of work took, and beside them the processor time of all processes that took part."""

    processor: float

    def __new__(cls, seconds: float, processor: float) -> Cost:
        cost = super().__new__(cls, seconds)
        cost.processor = processor
        return cost

    def __truediv__(self, count: float) -> Cost:
        return Cost(float(self) / count, self.processor / count)


Run: TypeAlias = Callable[[], float]
"""Does the work once and returns its cost: a Cost, or seconds if the processor time is not measured."""

Costs: TypeAlias = tuple[float, ...]
"""What each round cost one contender."""


class Stopwatch:
    """Measures the seconds and the processor time from its creation to `stop`, without its own."""

    def __init__(self) -> None:
        self._of_children = _processor_seconds_of_children()
        self._own = process_time()
        self._begun = perf_counter()

    def stop(self) -> Cost:
        seconds, own = perf_counter() - self._begun, process_time() - self._own
        return Cost(seconds, own + _processor_seconds_of_children() - self._of_children)


def _processor_seconds_of_children() -> float:
    """The processor time until now of all processes that this one has started, whether they have ended or not."""
    ended = os.times()
    total = ended.children_user + ended.children_system
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            times = child.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def timed(work: Callable[[], object], times: int = 1) -> Callable[[], Cost]:
    """The cost of one piece of work, as the mean of so many in a row."""

    def run() -> Cost:
        watch = Stopwatch()
        for _ in range(times):
            work()
        return watch.stop() / times

    return run


def processor_timed(work: Callable[[], object]) -> Run:
    """The processor time of this process for one piece of work, in seconds."""

    def run() -> float:
        begun = process_time()
        work()
        return process_time() - begun

    return run


def seconds_of_each(work: Callable[[], object], times: int) -> list[float]:
    """The seconds of every single one of so many calls."""
    seconds = []
    for _ in range(times):
        begun = perf_counter()
        work()
        seconds.append(perf_counter() - begun)
    return seconds


def median_of(work: Callable[[], object], times: int) -> Run:
    """The seconds of a typical call, the median of so many, and the mean of their processor times.

    The median leaves out the calls during which the machine did something else.
    """

    def run() -> Cost:
        watch = Stopwatch()
        seconds = seconds_of_each(work, times)
        return Cost(median(seconds), watch.stop().processor / times)

    return run


def alternate(contenders: Mapping[str, Run], rounds: int = ROUNDS) -> dict[str, Costs]:
    """What each contender cost in each round; a first round, which warms up, is not counted.

    The order changes from round to round, so that none always runs after the same other.
    Raises ValueError for less than nine rounds.
    """
    if rounds < ROUNDS:
        raise ValueError(f"{rounds} rounds say little on a machine that others use: measure at least {ROUNDS}")
    measured = [_round(contenders, number) for number in range(rounds + 1)][1:]
    return {name: tuple(costs[name] for costs in measured) for name in contenders}


def _round(contenders: Mapping[str, Run], number: int) -> dict[str, float]:
    names = list(contenders)
    first = number % len(names)
    return {name: contenders[name]() for name in names[first:] + names[:first]}


def processor_of(costs: Costs) -> float | None:
    """The median of the processor times of the rounds, or None if they were not measured."""
    times = [cost.processor for cost in costs if isinstance(cost, Cost)]
    return median(times) if len(times) == len(costs) else None


@dataclass(frozen=True, slots=True)
class Ratio:
    """The middle of the ratios of the rounds, with the least and the greatest."""

    median_ratio: float
    minimum: float
    maximum: float

    @classmethod
    def of(cls, above: Costs, below: Costs) -> Ratio:
        """Cost by cost, each divided by its neighbour of the same round."""
        ratios = sorted(float(cost) / float(neighbour) for cost, neighbour in zip(above, below, strict=True))
        return cls(median(ratios), ratios[0], ratios[-1])

    def __str__(self) -> str:
        return f"{self.median_ratio:.2f} ({self.minimum:.2f} to {self.maximum:.2f})"
