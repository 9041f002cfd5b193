"""`python -m tests.bench [names]`: measure, print, and with --write put the table into the README."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module

from .machine import described
from .table import HEADINGS, Row, markdown, text_line, write_to_readme

# In the order of the table: the file and the function, loaded when measured, so that no row waits for another's peers.
BENCHES = {
    "metadata": ("in_process", "metadata"),
    "busy": ("in_process", "busy"),
    "upload": ("transfers", "upload_in_large_chunks"),
    "upload-small": ("transfers", "upload_in_small_chunks"),
    "creates": ("emulator", "creates"),
    "chunks": ("emulator", "chunks"),
    "linear": ("emulator", "linear"),
    "many": ("emulator", "many"),
    "download": ("transfers", "download_to_disk"),
    "memory": ("memory", "growth"),
    "frames": ("start", "frames"),
    "import": ("start", "imports"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is named, or everything."""
    options = _parser().parse_args(arguments)
    if options.write and options.names:
        raise SystemExit("--write puts the whole table into the README: leave the names out")
    print(text_line(HEADINGS), flush=True)
    rows = list(_measured(options.names or BENCHES))
    if options.markdown:
        print(markdown(rows, described()), end="")
    if options.write:
        write_to_readme(markdown(rows, described()))
    return 0


def _measured(names: Sequence[str]) -> Iterator[Row]:
    for name in names:
        room, function = BENCHES[name]
        for row in getattr(import_module(f".{room}", __package__), function)():
            print(text_line(row.cells()), flush=True)
            yield row


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("names", nargs="*", type=_known, metavar="NAME", help=f"of {', '.join(BENCHES)}; or all")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown too")
    parser.add_argument("--write", action="store_true", help="put the table between the markers of README.md")
    return parser


def _known(name: str) -> str:
    if name not in BENCHES:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(BENCHES)}")
    return name


sys.exit(main())
