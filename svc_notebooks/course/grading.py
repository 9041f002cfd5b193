"""Grades submissions: runs each notebook in a process of its own against the grading service in this one."""

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

from ..server.transports.socket_server import SocketServer
from .grading_service import GradingService
from .runner import run_cells
from .student_exercise import GRADER, KEY
from .submissions import Submission, UnreadableNotebookError, exercise_cells

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from ..server.service import Service
    from .check_result import Verdict

_PRELOADED_MODULES = (
    "IPython.core.interactiveshell", "pandas", "requests", "svc_notebooks.course.runner",
    "svc_notebooks.course.student_exercise",
    "svc_notebooks.notebook.events.query", "svc_notebooks.notebook.events.events", "svc_notebooks.notebook.files.files",
    "svc_notebooks.notebook.files.uploads", "svc_notebooks.notebook.notifications.channels",
    "svc_notebooks.client.transport.http",
)  # fmt: skip
"""What most submissions import: a process that runs one begins with it."""

_THREADS = 64
_MAX_MESSAGE = 32
_ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class GradingLimits:
    """How long a cell and a whole notebook may run, in seconds."""

    cell: float = 30.0
    notebook: float = 120.0


@dataclass(frozen=True, slots=True)
class SubmissionResult:
    """What became of one submission: a result for each exercise, and remarks on what went wrong."""

    student: str
    results: dict[str, Verdict]
    remarks: tuple[str, ...]

    @property
    def solved(self) -> int:
        """How many exercises are correct."""
        return sum(result.solved for result in self.results.values())


def grade(
    submissions: Iterable[Submission],
    seed: str,
    *,
    limits: GradingLimits | None = None,
    jobs: int | None = None,
    on_result: Callable[[SubmissionResult], object] = lambda mark: None,
) -> list[SubmissionResult]:
    """Grade submissions, some at a time; `told` hears of each when it is done. The marks, in the order of the students.

    Args:
        found: What was handed in.
        seed: What the data of the exercises depend on, together with the student's name.
        limits: How long a cell and a notebook may take.
        jobs: How many run at the same time; None: one for each processor.
        told: Called with each mark, from another thread.
    """
    grader = GradingService()
    served = cast("Service", grader)  # it has what the socket asks of a service: `handle`, `policy` and `user_of`
    with SocketServer(served, threads=_THREADS) as server, ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        runner = _SubmissionRunner(grader, server.base_url, seed, limits or GradingLimits())

        def grade_one(submission: Submission) -> SubmissionResult:
            mark = runner.grade(submission)
            on_result(mark)
            return mark

        return list(pool.map(grade_one, submissions))


class _SubmissionRunner:
    """Where submissions are run."""

    def __init__(self, grader: GradingService, base_url: str, seed: str, limits: GradingLimits) -> None:
        self._grader, self._base_url, self._seed, self._limits = grader, base_url, seed, limits
        # Fresh processes at the price of a fork, from a server that has imported what they all need and nothing else.
        start_method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
        self._processes: Any = get_context(start_method)
        if start_method == "forkserver":
            self._processes.set_forkserver_preload(list(_PRELOADED_MODULES))

    def grade(self, submission: Submission) -> SubmissionResult:
        """Run the notebooks of a submission, one after the other."""
        key = self._grader.open(f"{self._seed}/{submission.student}")
        remarks = [remark for path in submission.notebooks for remark in self._run_notebook(path, key)]
        if not submission.notebooks:
            remarks.append("there is no notebook in the folder")
        return SubmissionResult(submission.student, self._grader.close(key), tuple(remarks))

    def _run_notebook(self, path: Path, key: str) -> list[str]:
        try:
            cells = exercise_cells(path)
        except UnreadableNotebookError as error:
            return [f"{path.name} cannot be read: {error}"]
        return [f"{path.name} {remark}" for remark in self._run_cells(cells, key)] if cells else []

    def _run_cells(self, cells: list[str], key: str) -> list[str]:
        for _ in range(_ATTEMPTS):
            with TemporaryDirectory(prefix="svc-grade-", ignore_cleanup_errors=True) as folder:
                variables = {GRADER: self._base_url, KEY: key, "HOME": folder, "IPYTHONDIR": folder}
                with suppress(
                    OSError, EOFError
                ):  # somebody's notebook has ended the server of processes: a new one comes
                    return self._run_once(cells, folder, variables)
        return ["could not be run: its process did not begin"]

    def _run_once(self, cells: list[str], folder: str, variables: dict[str, str]) -> list[str]:
        receiver, sender = self._processes.Pipe(duplex=False)
        arguments = (cells, folder, variables, self._limits.cell, sender)
        process = self._processes.Process(target=run_cells, args=arguments, daemon=True)
        with receiver:
            with sender:
                process.start()
            try:
                return _watch(receiver, self._limits)
            finally:
                _kill(process)


def _watch(connection: Connection, limits: GradingLimits) -> list[str]:
    """Listen until a notebook has come to its end or its time is over; what was in its way."""
    deadline, cell, remarks = time.monotonic() + limits.notebook, 0, list[str]()
    while connection.poll(max(0.0, deadline - time.monotonic())):
        word, number = _receive(connection)
        if word == "end":
            return remarks
        if word == "slow":
            remarks.append(f"took more than {limits.cell:g} s in cell {number}, which was cut off")
        elif word != "cell":
            return [*remarks, f"ended its process in cell {cell}"]
        cell = number
    return [*remarks, f"took more than {limits.notebook:g} s and was cut off in cell {cell}"]


def _receive(connection: Connection) -> tuple[str, int]:
    """A word and a number, as text: what a submission's process says is never unpickled."""
    try:
        word, _, number = connection.recv_bytes(_MAX_MESSAGE).decode().partition(" ")
        return word, int(number)
    except (EOFError, OSError, ValueError):
        return "", 0


def _kill(process: Any) -> None:
    """End a process and whatever it has started."""
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join(5)
