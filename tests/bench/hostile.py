"""`python -m tests.bench.hostile FOLDER [--make N --seeds FILES]`: converts hostile files within the limits.

Prints the time and the memory of each conversion, and the files above the limits at the end. The memory is what the
worker process and the programs that it starts have together. With `--make N` the folder gets N files first, which
are ordinary files from `FILES` (folders by extension) with one change each (see hostile_files.py).
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any

from svc_notebooks.convert.job import MIB, ConversionError, JobLimits
from svc_notebooks.convert.pool.converter import Converted, Converter
from svc_notebooks.core.http import native_formats
from tests.bench import hostile_files

_LIMITS = JobLimits()
_INTERVAL = 0.01
_TYPES = {
    extension: (row.media_types[0], row.native)
    for row in reversed(native_formats.IMPORTS)
    for extension in row.extensions
}


def main() -> bool:
    """Convert the files, and print the measurements. Returns whether a conversion exceeded a limit."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.hostile", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--make", type=int, default=0, metavar="N", help="the number of files to make first")
    parser.add_argument("--seeds", type=Path, help="ordinary files, in folders by extension")
    parser.add_argument("--exports", type=int, default=3, metavar="N", help="the number of exports of each file")
    options = parser.parse_args()
    if options.make:
        hostile_files.make(options.folder, options.make, options.seeds)
    exceeded: list[str] = []
    for path in sorted(options.folder.iterdir()):
        media_type, native = _TYPES[path.suffix[1:].lower()]
        with closing(Converter(_LIMITS, extended=True)) as converter:  # a new one has no idle LibreOffice
            name = f"{path.name} -> {native}"
            document = measured(name, exceeded, converter.read, path.read_bytes(), media_type, native)
            targets = converter.exports[native] if document else []
            for target in Random(path.name).sample(targets, len(targets))[: options.exports]:
                measured(f"{path.name} -> {target}", exceeded, converter.write, document, native, target)
    print(f"{len(exceeded)} conversions above a limit:", *exceeded, sep="\n")
    return bool(exceeded)


def measured(name: str, exceeded: list[str], convert: Callable[..., Converted], *arguments: Any) -> bytes | None:
    """Convert a file, and print the time and the memory. Returns the result, or None if the file was refused."""
    ended, samples, message, result = Event(), [0], "written", None
    thread = Thread(target=_sample, args=(samples, ended), daemon=True)
    thread.start()
    start = time.monotonic()
    try:
        result = convert(*arguments).body
    except ConversionError as error:
        message = str(error)
    seconds = time.monotonic() - start
    ended.set()
    thread.join()
    # A process that starts another one appears twice for a moment, but not in two samples.
    memory = max(map(min, samples, samples[1:]), default=0)
    line = f"{memory // MIB:5} MiB {seconds:6.1f} s  {name}: {message}"
    print(line, flush=True)
    if memory > _LIMITS.memory or seconds > _LIMITS.seconds + 2:  # the worker is ended after the limit of time
        exceeded.append(line)
    return result


def _sample(samples: list[int], ended: Event) -> None:
    while not ended.wait(_INTERVAL):
        samples.append(sum(map(_resident, _descendants(os.getpid()))))


def _descendants(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in _text(task).split():
            yield int(child)
            yield from _descendants(int(child))


def _resident(pid: int) -> int:
    """Return the resident memory of a process in bytes, with its share of the pages that processes have in common."""
    match = re.search(r"^Pss:\s+(\d+) kB", _text(Path(f"/proc/{pid}/smaps_rollup")), re.MULTILINE)
    return int(match[1]) * 1024 if match else 0


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # the process has ended
        return ""


if __name__ == "__main__":
    sys.exit(main())
