"""Limits the CPU time of processes with control groups of Linux."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup/cpu")
_PERIOD = 10_000  # in microseconds
_BEFORE_OTHERS = "100000"  # beside 1024 of a group of other programs
_PATIENCE = 10.0


class NoQuota(Exception):
    """Raised if CPU time cannot be limited here. The message has the reason."""


@contextmanager
def with_cpu(processes: Iterable[int], *, share: float | None = None) -> Iterator[None]:
    """Let processes use CPU time before other programs of the machine during a `with` block.

    With `share`, they use at most that share of one processor. Raises NoQuota.
    """
    processes = list(processes)
    group = _ROOT / f"svc-scale-{os.getpid()}-{processes[0]}"
    if not _ROOT.is_dir():
        raise NoQuota(f"there is no folder {_ROOT} for the CPU quotas of control groups (version 1)")
    try:
        group.mkdir()
    except OSError as error:
        raise NoQuota(f"the control group {group} cannot be created ({error.strerror}): run as root") from None
    try:
        _write(group / "cpu.shares", _BEFORE_OTHERS)
        if share is not None:
            _write(group / "cpu.cfs_period_us", f"{_PERIOD}")
            _write(group / "cpu.cfs_quota_us", f"{share * _PERIOD:.0f}")
        for process in processes:
            _write(group / "cgroup.procs", str(process))
        yield
    finally:
        _remove(group)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text)
    except OSError as error:
        raise NoQuota(f"{file} cannot be written ({error.strerror})") from None


def _remove(group: Path) -> None:
    """Move the processes of a group to the root group, and remove the group."""
    for process in (group / "cgroup.procs").read_text().split():
        try:
            (_ROOT / "cgroup.procs").write_text(process)
        except ProcessLookupError:
            continue
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return group.rmdir()
        except OSError:  # a process that has just ended is still a member
            if time.monotonic() > deadline:
                raise
