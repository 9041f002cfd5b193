"""Grades submissions. Each notebook runs in its own process and uses the grading service in this process."""

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
"""The modules that most submissions import. The process of a submission starts with these modules loaded."""

_THREADS = 64
_MAX_MESSAGE = 32
_ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class GradingLimits:
    """The time limits of a cell and of a notebook, in seconds."""

    cell: float = 30.0
    notebook: float = 120.0


@dataclass(frozen=True, slots=True)
class SubmissionResult:
    """A student's results by exercise name, and remarks about notebooks that could not be read or run."""

    student: str
    results: dict[str, Verdict]
    remarks: tuple[str, ...]

    @property
    def solved(self) -> int:
        return sum(result.solved for result in self.results.values())


def grade(
    submissions: Iterable[Submission],
    seed: str,
    *,
    limits: GradingLimits | None = None,
    jobs: int | None = None,
    on_result: Callable[[SubmissionResult], object] = lambda mark: None,
) -> list[SubmissionResult]:
    """Grade submissions in parallel, and return a result for each submission, in the order of the submissions.

    Args:
        submissions: The submissions to grade.
        seed: A seed. The seed and the student's name determine the data of a student's exercises.
        limits: The time limits. None: the default limits.
        jobs: The number of submissions that are graded at the same time. None: one for each processor.
        on_result: A function that is called with each result as soon as a submission is graded, in a worker thread.
    """
    grader = GradingService()
    served = cast("Service", grader)  # it has the attributes that the server uses: handle, policy and user_of
    with SocketServer(served, threads=_THREADS) as server, ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        runner = _SubmissionRunner(grader, server.base_url, seed, limits or GradingLimits())

        def grade_one(submission: Submission) -> SubmissionResult:
            mark = runner.grade(submission)
            on_result(mark)
            return mark

        return list(pool.map(grade_one, submissions))


class _SubmissionRunner:
    """Runs the notebooks of submissions, each in its own process, and collects the results."""

    def __init__(self, grader: GradingService, base_url: str, seed: str, limits: GradingLimits) -> None:
        self._grader, self._base_url, self._seed, self._limits = grader, base_url, seed, limits
        # The fork server has imported these modules, so that a new process starts quickly.
        start_method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
        self._processes: Any = get_context(start_method)
        if start_method == "forkserver":
            self._processes.set_forkserver_preload(list(_PRELOADED_MODULES))

    def grade(self, submission: Submission) -> SubmissionResult:
        key = self._grader.open(f"{self._seed}/{submission.student}")
        remarks = [remark for path in submission.notebooks for remark in self._run_notebook(path, key)]
        if not submission.notebooks:
            remarks.append("the folder has no notebook")
        return SubmissionResult(submission.student, self._grader.close(key), tuple(remarks))

    def _run_notebook(self, path: Path, key: str) -> list[str]:
        try:
            cells = exercise_cells(path)
        except UnreadableNotebookError as error:
            return [f"{path.name} cannot be read: {error}"]
        if not cells:
            return []
        for _ in range(_ATTEMPTS):
            with TemporaryDirectory(prefix="svc-grade-", ignore_cleanup_errors=True) as folder:
                variables = {GRADER: self._base_url, KEY: key, "HOME": folder, "IPYTHONDIR": folder}
                with suppress(OSError, EOFError):  # a notebook has killed the fork server; the next attempt restarts it
                    return [f"{path.name} {remark}" for remark in self._run_once(cells, folder, variables)]
        return [f"{path.name} could not be run, because its process did not start"]

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
    """Wait until a notebook has ended or its time limit is over, and return texts about problems."""
    deadline, cell, remarks = time.monotonic() + limits.notebook, 0, list[str]()
    while connection.poll(max(0.0, deadline - time.monotonic())):
        word, number = _receive(connection)
        if word == "end":
            return remarks
        if word == "slow":
            remarks.append(f"was interrupted in cell {number} after {limits.cell:g} s")
        elif word != "cell":
            return [*remarks, f"ended its process in cell {cell}"]
        cell = number
    return [*remarks, f"was stopped in cell {cell} after {limits.notebook:g} s"]


def _receive(connection: Connection) -> tuple[str, int]:
    """Read a (word, number) message as text, because unpickling is unsafe. Return ("", 0) without a valid message."""
    try:
        word, _, number = connection.recv_bytes(_MAX_MESSAGE).decode().partition(" ")
        return word, int(number)
    except (EOFError, OSError, ValueError):
        return "", 0


def _kill(process: Any) -> None:
    """Kill a submission's process and its child processes."""
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join(5)
