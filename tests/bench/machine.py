"""Describes the machine (processor, cores, memory, Python), the date, and the commit."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import psutil


def describe_machine() -> str:
    """One sentence for above the table."""
    memory = psutil.virtual_memory().total / 1024**3
    return (
        f"The newest rows were measured on: {_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB,"
        f" {platform.system()}, Python {platform.python_version()}."
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
    root = Path(__file__).parents[2]

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout.strip()

    changed = git("status", "--porcelain", "--", "svc_notebooks", "tests/bench", "requirements")
    return git("rev-parse", "--short=8", "HEAD") + ("+" if changed else "")


def _processor() -> str:
    try:
        match = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        match = None
    return match[1].strip() if match else platform.machine()
