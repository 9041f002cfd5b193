"""`python -m tests.bench [names]`: measure, print, and with --write put the table into docs/benchmarks.md."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.bench.benches import BENCHES, rows_of
from tests.bench.machine import describe_machine
from tests.bench.table import HEADINGS, Row, markdown, text_line, write_to_page


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is named, or everything."""
    options = _parser().parse_args(arguments)
    if options.write and options.names:
        raise SystemExit("--write puts the whole table into docs/benchmarks.md: leave the names out")
    print(text_line(HEADINGS), flush=True)
    rows = list(_measured(options.names or list(BENCHES)))
    if options.markdown:
        print(markdown(rows, describe_machine()), end="")
    if options.write:
        write_to_page(markdown(rows, describe_machine()))
    return 0


def _measured(names: Sequence[str]) -> Iterator[Row]:
    """Each in a process of its own: none inherits what another has loaded and left."""
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as fresh:
        for rows in fresh.map(rows_of, names):
            for row in rows:
                print(text_line(row.cells()), flush=True)
                yield row


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("names", nargs="*", type=_known, metavar="NAME", help=f"of {', '.join(BENCHES)}; or all")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown too")
    parser.add_argument("--write", action="store_true", help="put the table between the markers of docs/benchmarks.md")
    return parser


def _known(name: str) -> str:
    if name not in BENCHES:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(BENCHES)}")
    return name


if __name__ == "__main__":
    sys.exit(main())
