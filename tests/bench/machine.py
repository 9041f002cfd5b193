"""Describes the machine: processor, cores, memory, Python, and the date."""

from __future__ import annotations

import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path

import psutil


def describe_machine() -> str:
    """One sentence for above the table."""
    memory = psutil.virtual_memory().total / 1024**3
    today = datetime.now(UTC).date().isoformat()
    return (
        f"Measured on {today}: {_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()},"
        f" Python {platform.python_version()}."
    )


def _processor() -> str:
    try:
        match = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        match = None
    return match[1].strip() if match else platform.machine()
