"""The rows of the benchmark table, and the table as text, as Markdown and in docs/benchmarks.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.bench.rounds import Costs, Ratio

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
HEADINGS = ("work", "ours", "peer", "ratio", "goal", "held")

_WIDTHS = (62, 12, 56, 22, 18, 4)
_TABLE_MARKERS = re.compile(r"(?<=<!-- bench -->\n).*?(?=<!-- /bench -->)", re.DOTALL)


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

    def cells(self) -> tuple[str, ...]:
        """Under the headings, in order."""
        return (self.work, self.ours, self.peer, self.ratio, self.goal, self.held)


def compare(work: str, ours: Costs, peer: Costs, name: str, goal: Goal, show: Callable[[float], str]) -> Row:
    """A row for one peer; `show` writes a cost of seconds as a figure with its unit."""
    ratio = Ratio.of(peer, ours) if goal.speed else Ratio.of(ours, peer)
    peer_text = f"{name}: {show(median(peer))}"
    return Row(work, show(median(ours)), peer_text, str(ratio), str(goal), _verdict(goal, ratio.median_ratio))


def _verdict(goal: Goal, figure: float) -> str:
    if not goal.held(figure):
        return "no"
    return "yes" if goal.stretch is None or figure < goal.stretch else "yes, stretch too"


def microseconds(seconds: float) -> str:
    """A short call."""
    return f"{seconds * 1e6:.1f} µs"


def milliseconds(seconds: float) -> str:
    """A longer one."""
    return f"{seconds * 1e3:.1f} ms"


def rate(mib: int) -> Callable[[float], str]:
    """A transfer of so many MiB, as its speed."""
    return lambda seconds: f"{mib / seconds:.0f} MiB/s"


def text_line(cells: Iterable[str]) -> str:
    """One line of the table on a terminal."""
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True)).rstrip()


def markdown(rows: Iterable[Row], measured: str) -> str:
    """The table as Markdown, with where and when it was measured above it."""
    lines = [f"| {' | '.join(cells)} |" for cells in (HEADINGS, ("---",) * 6, *(row.cells() for row in rows))]
    return "\n".join([measured, "", *lines]) + "\n"


def write_to_page(text: str) -> None:
    """Put it between the markers. Raises ValueError when they are not there."""
    page, count = _TABLE_MARKERS.subn(lambda _: text, PAGE.read_text(encoding="utf-8"))
    if count != 1:
        raise ValueError("docs/benchmarks.md has no <!-- bench --> and <!-- /bench --> to write between")
    PAGE.write_text(page, encoding="utf-8")
