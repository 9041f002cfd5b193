"""Describes the machine (processor, cores, memory, Python, and how fast it is now), the date, and the commit."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import psutil

_COPIED = 64 * 1024**2
_NUMBERS = 20_000


def describe_machine() -> str:
    """One sentence for above the table."""
    memory = psutil.virtual_memory().total / 1024**3
    return (
        f"The newest rows were measured on: {_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB,"
        f" {platform.system()}, Python {platform.python_version()}."
    )


class Speed(NamedTuple):
    """The milliseconds for arithmetic and for a copy of 64 MiB, the shortest of a few.

    Both grow while other programs, or other virtual machines of the same host, use the processor and the memory.
    """

    arithmetic: float
    copy: float

    @classmethod
    def now(cls) -> Speed:
        """Measure for about 50 milliseconds."""
        source, target = bytearray(_COPIED), bytearray(_COPIED)

        def copy() -> None:
            target[:] = source

        return cls(_shortest(lambda: sum(number * number for number in range(_NUMBERS))), _shortest(copy))


def _shortest(work: Callable[[], object]) -> float:
    def milliseconds() -> float:
        begun = perf_counter()
        work()
        return (perf_counter() - begun) * 1000

    return min(milliseconds() for _ in range(3))


def describe_speeds(speeds: Sequence[Speed]) -> str:
    """One sentence with the range of the speeds of a run. At a quiet time both ranges are small."""
    arithmetic, copies = zip(*speeds, strict=True)
    return (
        f"arithmetic took {min(arithmetic):.1f} to {max(arithmetic):.1f} ms, and a copy of 64 MiB"
        f" {min(copies):.0f} to {max(copies):.0f} ms: the smaller the ranges, the quieter the machine"
    )


def today() -> str:
    """The date in UTC."""
    return datetime.now(UTC).date().isoformat()


def describe_priority() -> str:
    """What other programs cannot take from this process, for example with `chrt -f 5`; empty for a usual priority."""
    real_time = hasattr(os, "sched_getscheduler") and os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR)
    return ", real-time priority" if real_time else ""


def stay_on_one_core() -> None:
    """Run this process, and those that it starts from now on, on one core, on systems that can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def describe_commit() -> str:
    """The commit of this checkout, with a plus sign if a file of the package or of the benchmarks differs from it."""
    root = Path(__file__).parents[1]

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout.strip()

    changed = git("status", "--porcelain", "--", "svc_notebooks", "bench", "requirements")
    return git("rev-parse", "--short=8", "HEAD") + ("+" if changed else "")


def _processor() -> str:
    try:
        match = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        match = None
    return match[1].strip() if match else platform.machine()
