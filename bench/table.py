"""The rows of the benchmark table, with their goals, as lines on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from statistics import median

from bench.rounds import Costs, Ratio, processor_of

HEADINGS = ("work", "ours", "peer", "ratio", "processor time: ours, peer", "goal", "held")

HELD, PARTLY, MISSED = "yes", "in some rounds", "no"
"""Whether the median of the ratios is within the goal, only some of them, or none of them."""

_WIDTHS = (62, 12, 56, 22, 26, 18, 4)


@dataclass(frozen=True, slots=True)
class Goal:
    """What a ratio shall be: at most (a cost) or at least (a speed)."""

    limit: float
    speed: bool
    stretch: float | None = None

    def held(self, figure: float) -> bool:
        """Whether the figure is within the goal."""
        return figure >= self.limit if self.speed else figure <= self.limit

    def __str__(self) -> str:
        sign = "≥" if self.speed else "≤"
        return f"{sign} {self.limit:g}" + (f", stretch {self.stretch:g}" if self.stretch else "")


def at_most(limit: float) -> Goal:
    """Ours may cost so many times what the peer costs."""
    return Goal(limit, speed=False)


def at_least(limit: float, *, stretch: float | None = None) -> Goal:
    """Ours shall be so many times as fast as the peer."""
    return Goal(limit, speed=True, stretch=stretch)


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement as the reader sees it."""

    work: str
    ours: str
    peer: str
    ratio: str
    goal: str
    held: str
    processor: str = ""

    def cells(self) -> tuple[str, ...]:
        """Under the headings, in order."""
        return (self.work, self.ours, self.peer, self.ratio, self.processor, self.goal, self.held)


def compare(work: str, ours: Costs, peer: Costs, name: str, goal: Goal, show: Callable[[float], str]) -> Row:
    """A row for one peer; `show` writes a cost of seconds as a figure with its unit."""
    ratio = Ratio.of(peer, ours) if goal.speed else Ratio.of(ours, peer)
    peer_text = f"{name}: {show(median(peer))}"
    return Row(work, show(median(ours)), peer_text, str(ratio), str(goal), verdict(goal, ratio), _processor(ours, peer))


def within(work: str, ours: Costs, limit: float, base: Costs, name: str, show: Callable[[float], str]) -> Row:
    """A row whose goal is a time: at most `limit` seconds. Beside it stands what the least of this kind costs."""
    goal, spread = at_most(limit), Ratio(median(ours), min(ours), max(ours))
    base_text = f"{name}: {show(median(base))}"
    row = Row(work, show(median(ours)), base_text, str(Ratio.of(ours, base)), f"≤ {show(limit)}", verdict(goal, spread))
    return replace(row, processor=_processor(ours, base))


def verdict(goal: Goal, ratio: Ratio) -> str:
    """Whether the goal is held: by the median, else by some of the rounds, or by none."""
    if not goal.held(ratio.median_ratio):
        return PARTLY if goal.held(ratio.maximum if goal.speed else ratio.minimum) else MISSED
    return HELD if goal.stretch is None or ratio.median_ratio < goal.stretch else f"{HELD}, stretch too"


def _processor(ours: Costs, peer: Costs) -> str:
    times = [processor_of(costs) for costs in (ours, peer)]
    return ", ".join(_duration(time) for time in times if time is not None) if None not in times else ""


def _duration(seconds: float) -> str:
    if seconds < 1:
        return microseconds(seconds) if seconds < 0.001 else milliseconds(seconds)
    return tenths(seconds)


def microseconds(seconds: float) -> str:
    """A short call."""
    return f"{seconds * 1e6:.1f} µs"


def milliseconds(seconds: float) -> str:
    """A longer one."""
    return f"{seconds * 1e3:.1f} ms"


def tenths(seconds: float) -> str:
    """A command, in seconds with one decimal place."""
    return f"{seconds:.1f} s"


def rate(mib: int) -> Callable[[float], str]:
    """A transfer of so many MiB, as its speed."""
    return lambda seconds: f"{mib / seconds:.0f} MiB/s"


def text_line(cells: Iterable[str]) -> str:
    """One line of the table on a terminal."""
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True)).rstrip()
