"""Finds, measures and kills the processes below a process. On systems without /proc no process is found."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36
_ROUNDS = 50


def descendants(pid: int, most: int = 10_000) -> list[int]:
    """Return the ids of the running processes below a process, and no more than about `most` of them."""
    below: set[int] = set()
    waiting = [pid]
    while waiting and len(below) <= most:
        children = [child for child in _children(waiting.pop()) if child not in below and _is_running(child)]
        below.update(children)
        waiting += children
    return list(below)


def _children(pid: int) -> list[int]:
    ids: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            ids += map(int, (task / "children").read_text().split())
    return ids


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1] not in (b"Z", b"X")
    except OSError:
        return False


def kill_below(pid: int) -> bool:
    """Kill the processes below a process, and return whether none is left."""
    for _ in range(_ROUNDS):
        below = descendants(pid)
        if not below:
            return True
        for child in below:
            with suppress(OSError):
                os.kill(child, signal.SIGKILL)
    return False


def resident_bytes(pids: list[int]) -> int:
    """Return the memory of processes in bytes. The memory that several processes share counts once."""
    kilobytes = 0
    for pid in pids:
        with suppress(OSError, ValueError):
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
            kilobytes += int(text.partition("\nPss:")[2].split(maxsplit=1)[0])
    return kilobytes * 1024


def largest_memory(pids: list[int]) -> int:
    """Return an upper bound of `resident_bytes` that is fast to read, because it counts shared memory repeatedly."""
    pages = 0
    for pid in pids:
        with suppress(OSError, IndexError):
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * (os.sysconf("SC_PAGE_SIZE") if pages else 0)


def adopt_orphans() -> None:
    """Make this process the parent of each process below it whose parent has ended, where the system can."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def end_with_parent() -> None:
    """Let the system kill this process when its parent ends, where the system can."""
    _prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    from ctypes import CDLL

    with suppress(OSError, AttributeError, TypeError):  # only Linux has prctl
        CDLL(None).prctl(option, value, 0, 0, 0)
