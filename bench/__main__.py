"""`python -m bench [names]`: measure and print; --write puts the rows into docs and README.md."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from time import monotonic
from traceback import print_exc

from bench.benches import BENCHES, BY_NAME_ONLY, GROUPS, ON_ONE_CORE, measure
from bench.machine import Speed, describe_commit, describe_machine, describe_priority, describe_speeds, today
from bench.pages import write_pages
from bench.table import HEADINGS, MISSED, Row, text_line

_LONGEST = 8


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is named, or everything."""
    options = _parser().parse_args(arguments)
    commit, begun = describe_commit(), monotonic()
    seconds: dict[str, float] = {}
    speeds: list[Speed] = []
    print(text_line(HEADINGS), flush=True)
    measured: dict[str, list[Row]] = {}
    for name, rows, speed in _measured(_benches(options.names), all_cores=options.all_cores):
        measured[name] = rows
        speeds.append(speed)
        seconds[name] = monotonic() - begun - sum(seconds.values())
        if options.write and rows:  # at once, so that an interrupted run keeps what it has measured
            cores = ", one core" if name in ON_ONE_CORE and not options.all_cores else ""
            cells = [(*row.cells(), f"{today()}, {commit}{describe_priority()}{cores}") for row in rows]
            write_pages(describe_machine(), {name: cells})
    rows = [(name, row) for name, rows in measured.items() for row in rows]
    missed = [f"{name}: {row.work}: {row.ours}, {row.ratio}" for name, row in rows if row.held == MISSED]
    missed += [f"{name}: not measured because of an error" for name, rows in measured.items() if not rows]
    print(f"{len(measured)} benchmarks in {monotonic() - begun:.0f} s, commit {commit}; missed goals: {len(missed)}")
    print("".join(f"    {line}\n" for line in missed), end="")
    longest = sorted(seconds, key=lambda name: -seconds[name])[:_LONGEST]
    print(describe_speeds(speeds))
    print("longest: " + ", ".join(f"{name} {seconds[name]:.0f} s" for name in longest))
    return 1 if options.check and missed else 0


def _benches(names: Sequence[str]) -> list[str]:
    """Return the benchmarks of these names and groups, or all that need not be named."""
    if not names:
        return [name for name in BENCHES if name not in BY_NAME_ONLY]
    return [bench for name in names for bench in GROUPS.get(name, (name,))]


def _measured(names: Sequence[str], *, all_cores: bool) -> Iterator[tuple[str, list[Row], Speed]]:
    """Each in a process of its own: none inherits what another has loaded and left. The speed is that before it."""
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as fresh:
        for name, running in [(name, fresh.submit(measure, name, all_cores=all_cores)) for name in names]:
            try:
                rows, speed = running.result()
            except Exception:  # the other benchmarks are measured nevertheless
                print_exc()
                rows, speed = [], Speed.now()
            for row in rows:
                print(text_line(row.cells()), flush=True)
            yield name, rows, speed


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    names = ", ".join([*BENCHES, *GROUPS])
    parser.add_argument("names", nargs="*", type=_known, metavar="NAME", help=f"of {names}; or all")
    parser.add_argument("--write", action="store_true", help="put the rows into docs/benchmarks.md and README.md")
    parser.add_argument(
        "--all-cores",
        action="store_true",
        help="use all cores also for programs that wait for each other, which run on one core by default",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="exit with 1 if the median of a row misses its goal, and every round of it does too",
    )
    return parser


def _known(name: str) -> str:
    if name not in BENCHES and name not in GROUPS:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join([*BENCHES, *GROUPS])}")
    return name


if __name__ == "__main__":
    sys.exit(main())
