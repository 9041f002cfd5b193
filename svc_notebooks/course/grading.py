"""Grades submissions: each notebook runs in a process of its own, and the judge here has seen what it asked."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

from ..server.transports.socket import SocketServer
from .grading_service import Judge
from .runner import run_cells
from .student_exercise import JUDGE, KEY
from .submissions import Submission, Unreadable, exercise_cells

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from ..server.service import Service
    from .verdict import Verdict

_WARM = (
    "IPython.core.interactiveshell", "pandas", "requests", "svc_notebooks.course.runner",
    "svc_notebooks.course.student_exercise",
    "svc_notebooks.notebook.events.query", "svc_notebooks.notebook.events.events", "svc_notebooks.notebook.files.files",
    "svc_notebooks.notebook.files.uploads", "svc_notebooks.notebook.notifications.channels",
    "svc_notebooks.client.transport.http",
)  # fmt: skip
"""What most submissions import: a process that runs one begins with it."""

_THREADS = 64
_LONGEST = 32
_TRIES = 4


@dataclass(frozen=True, slots=True)
class GradingLimits:
    """How long a cell and a whole notebook may run, in seconds."""

    cell: float = 30.0
    notebook: float = 120.0


@dataclass(frozen=True, slots=True)
class Mark:
    """What became of one submission: a verdict for each exercise, and what was in the way."""

    student: str
    verdicts: dict[str, Verdict]
    remarks: tuple[str, ...]

    @property
    def solved(self) -> int:
        """How many exercises are correct."""
        return sum(one.solved for one in self.verdicts.values())


def grade(
    found: Iterable[Submission],
    seed: str,
    *,
    limits: GradingLimits | None = None,
    jobs: int | None = None,
    told: Callable[[Mark], object] = lambda mark: None,
) -> list[Mark]:
    """Grade submissions, some at a time; `told` hears of each when it is done. The marks, in the order of the students.

    Args:
        found: What was handed in.
        seed: What the data of the exercises depend on, together with the student's name.
        limits: How long a cell and a notebook may take.
        jobs: How many run at the same time; None: one for each processor.
        told: Called with each mark, from another thread.
    """
    judge = Judge()
    served = cast("Service", judge)  # it has what the socket asks of a service: `handle`, `policy` and `user_of`
    with SocketServer(served, threads=_THREADS) as server, ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        room = _Room(judge, server.base_url, seed, limits or GradingLimits())

        def one(submission: Submission) -> Mark:
            mark = room.mark(submission)
            told(mark)
            return mark

        return list(pool.map(one, found))


class _Room:
    """Where submissions are run."""

    def __init__(self, judge: Judge, base_url: str, seed: str, limits: GradingLimits) -> None:
        self._judge, self._base_url, self._seed, self._limits = judge, base_url, seed, limits
        # Fresh processes at the price of a fork, from a server that has imported what they all need and nothing else.
        fresh = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
        self._processes: Any = get_context(fresh)
        if fresh == "forkserver":
            self._processes.set_forkserver_preload(list(_WARM))

    def mark(self, submission: Submission) -> Mark:
        """Run the notebooks of a submission, one after the other."""
        key = self._judge.open(f"{self._seed}/{submission.student}")
        remarks = [said for path in submission.notebooks for said in self._sit(path, key)]
        if not submission.notebooks:
            remarks.append("there is no notebook in the folder")
        return Mark(submission.student, self._judge.close(key), tuple(remarks))

    def _sit(self, path: Path, key: str) -> list[str]:
        try:
            cells = exercise_cells(path)
        except Unreadable as error:
            return [f"{path.name} cannot be read: {error}"]
        return [f"{path.name} {said}" for said in self._run(cells, key)] if cells else []

    def _run(self, cells: list[str], key: str) -> list[str]:
        for _ in range(_TRIES):
            with TemporaryDirectory(prefix="svc-grade-", ignore_cleanup_errors=True) as folder:
                given = {JUDGE: self._base_url, KEY: key, "HOME": folder, "IPYTHONDIR": folder}
                with suppress(
                    OSError, EOFError
                ):  # somebody's notebook has ended the server of processes: a new one comes
                    return self._run_once(cells, folder, given)
        return ["could not be run: its process did not begin"]

    def _run_once(self, cells: list[str], folder: str, given: dict[str, str]) -> list[str]:
        ours, theirs = self._processes.Pipe(duplex=False)
        arguments = (cells, folder, given, self._limits.cell, theirs)
        process = self._processes.Process(target=run_cells, args=arguments, daemon=True)
        with ours:
            with theirs:
                process.start()
            try:
                return _watched(ours, self._limits)
            finally:
                _ended(process)


def _watched(line: Connection, limits: GradingLimits) -> list[str]:
    """Listen until a notebook has come to its end or its time is over; what was in its way."""
    ends, at, remarks = time.monotonic() + limits.notebook, 0, list[str]()
    while line.poll(max(0.0, ends - time.monotonic())):
        word, number = _heard(line)
        if word == "end":
            return remarks
        if word == "slow":
            remarks.append(f"took more than {limits.cell:g} s in cell {number}, which was cut off")
        elif word != "cell":
            return [*remarks, f"ended its process in cell {at}"]
        at = number
    return [*remarks, f"took more than {limits.notebook:g} s and was cut off in cell {at}"]


def _heard(line: Connection) -> tuple[str, int]:
    """A word and a number, as text: what a submission's process says is never unpickled."""
    try:
        word, _, number = line.recv_bytes(_LONGEST).decode().partition(" ")
        return word, int(number)
    except (EOFError, OSError, ValueError):
        return "", 0


def _ended(process: Any) -> None:
    """End a process and whatever it has started."""
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join(5)
