"""Grades submissions. Each notebook runs in its own process and uses the grading service in this process."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_all_start_methods, get_context
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

from ..server.transports.socket_server import SocketServer
from .grading_service import GradingService
from .runner import run_cells
from .student_exercise import GRADER, KEY
from .submissions import NotebookContent, Submission, SubmissionContent, read_submission

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

ISOLATION = (
    "a notebook ran in a process with its own folder and limits of memory, file size and time, but without a sandbox:"
    " it could read your files and use the network"
)
"""What the report says about the isolation of submissions."""

_THREADS = 64
_MAX_MESSAGE = 1024
_ATTEMPTS = 4
_JOIN_SECONDS = 5


@dataclass(frozen=True, slots=True)
class GradingLimits:
    """The time limits of a cell and of a notebook, in seconds."""

    cell: float = 30.0
    notebook: float = 120.0


@dataclass(frozen=True, slots=True)
class SubmissionResult:
    """A student's results by exercise name, and what happened to the notebooks.

    `remarks` name notebooks that could not be read or did not run to the end, and submissions without an exercise.
    `errors` has the first exception of each notebook.
    """

    student: str
    results: dict[str, Verdict]
    remarks: tuple[str, ...]
    errors: tuple[str, ...] = ()
    digest: str = ""

    @property
    def happened(self) -> tuple[str, ...]:
        """All remarks and errors, or one sentence that all notebooks ran to the end."""
        return (*self.remarks, *self.errors) or ("all notebooks ran to the end without an exception",)

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
    earlier: Mapping[str, SubmissionResult] | None = None,
) -> list[SubmissionResult]:
    """Grade submissions in parallel, and return a result for each submission, in the order of the submissions.

    All notebooks are read before the first one runs. KeyboardInterrupt and other exceptions kill the running notebooks.

    Args:
        submissions: The submissions to grade.
        seed: A seed. The seed and the student's name determine the data of a student's exercises.
        limits: The time limits. None: the default limits.
        jobs: The number of submissions that are graded at the same time. None: one for each processor.
        on_result: A function that is called with each result as soon as a submission is graded, in a worker thread.
        earlier: Results of an earlier run by student. A submission that has not changed since then is not run again.
    """
    grader, contents = GradingService(), [read_submission(submission) for submission in submissions]
    served = cast("Service", grader)  # it has the attributes that the server uses: handle, policy, user_of and provider
    with SocketServer(served, threads=_THREADS) as server:
        runner = _SubmissionRunner(grader, server.base_url, seed, limits or GradingLimits())

        def grade_one(content: SubmissionContent) -> SubmissionResult:
            known = (earlier or {}).get(content.student)
            if known is not None and known.digest == content.digest:
                return known
            mark = runner.grade(content)
            on_result(mark)
            return mark

        pool = ThreadPoolExecutor(jobs or os.cpu_count() or 1)
        try:
            return list(pool.map(grade_one, contents))
        finally:
            runner.stop()
            pool.shutdown(cancel_futures=True)


class _SubmissionRunner:
    """Runs the notebooks of submissions, each in its own process, and collects the results."""

    def __init__(self, grader: GradingService, base_url: str, seed: str, limits: GradingLimits) -> None:
        self._grader, self._base_url, self._seed, self._limits = grader, base_url, seed, limits
        # The fork server has imported these modules, so that a new process starts quickly.
        start_method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
        self._processes: Any = get_context(start_method)
        if start_method == "forkserver":
            self._processes.set_forkserver_preload(list(_PRELOADED_MODULES))
            _start_fork_server()

        self._running: set[Any] = set()
        self._stopped = False

    def grade(self, submission: SubmissionContent) -> SubmissionResult:
        """Run all notebooks of a submission, and return its result. Raises CancelledError after `stop`."""
        key, remarks, errors = self._grader.open(f"{self._seed}/{submission.student}"), list[str](), list[str]()
        for notebook in submission.notebooks:
            report = self._run_notebook(notebook, key)
            remarks += [f"{notebook.name} {remark}" for remark in report.remarks]
            errors += [f"{notebook.name} {report.error}"] if report.error else []
        results = self._grader.close(key)
        if self._stopped:
            raise CancelledError
        if not submission.notebooks:
            remarks.append("no exercise found: the folder has no notebook")
        elif not any(notebook.cells or notebook.problem for notebook in submission.notebooks):
            names = ", ".join(notebook.name for notebook in submission.notebooks)
            remarks.append(f"no exercise found: no cell of {names} uses the module course"[:_MAX_MESSAGE])
        return SubmissionResult(submission.student, results, tuple(remarks), tuple(errors), submission.digest)

    def stop(self) -> None:
        """Kill the running notebooks. Their submissions have no result."""
        self._stopped = True
        for process in list(self._running):
            _kill_group(process)

    def _run_notebook(self, notebook: NotebookContent, key: str) -> _NotebookReport:
        if notebook.problem:
            return _NotebookReport([f"cannot be read: {notebook.problem}"])
        for _ in range(_ATTEMPTS if notebook.cells else 0):
            with TemporaryDirectory(prefix="svc-grade-", ignore_cleanup_errors=True) as folder:
                variables = {GRADER: self._base_url, KEY: key, "HOME": folder, "IPYTHONDIR": folder}
                with suppress(OSError, EOFError):  # a notebook has killed the fork server; the next attempt restarts it
                    return self._run_once(notebook.cells, folder, variables)
        return _NotebookReport(["could not be run, because its process did not start"] if notebook.cells else [])

    def _run_once(self, cells: Sequence[str], folder: str, variables: dict[str, str]) -> _NotebookReport:
        receiver, sender = self._processes.Pipe(duplex=False)
        arguments = (cells, folder, variables, self._limits.cell, 2 * self._limits.notebook, sender)
        process = self._processes.Process(target=run_cells, args=arguments, daemon=True)
        with receiver:
            with sender:
                process.start()
            self._running.add(process)
            try:
                return _NotebookReport() if self._stopped else _watch(receiver, self._limits, process)
            finally:
                self._running.discard(process)
                _kill_group(process)
                process.join(_JOIN_SECONDS)


def _start_fork_server() -> None:
    """Start the fork server with SIGINT blocked, so that Ctrl-C in the terminal does not end it with a traceback."""
    from multiprocessing.forkserver import ensure_running  # not on every system

    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


@dataclass(slots=True)
class _NotebookReport:
    """What happened to a notebook: remarks about a notebook that did not run to the end, and its first exception."""

    remarks: list[str] = field(default_factory=list)
    error: str = ""


def _watch(connection: Connection, limits: GradingLimits, process: Any) -> _NotebookReport:
    """Wait until a notebook has ended or its time limit is over, and return what happened."""
    deadline, cell, report = time.monotonic() + limits.notebook, 0, _NotebookReport()
    while connection.poll(max(0.0, deadline - time.monotonic())):
        word, number, text = _receive(connection)
        if word == "end":
            return report
        if word == "slow":
            report.remarks.append(f"was interrupted in cell {number}, because it timed out after {limits.cell:g} s")
        elif word == "error":
            text = "".join(filter(str.isprintable, text))
            report.error = report.error or f"raised an exception in cell {number}: {text}"
        elif word != "cell":
            report.remarks.append(f"{_ending(process)} in cell {cell}")
            return report
        cell = number
    report.remarks.append(f"was stopped in cell {cell}, because it timed out after {limits.notebook:g} s")
    return report


def _ending(process: Any) -> str:
    """Return how a process ended: by itself, or killed by a signal, for example because the memory was full."""
    process.join(_JOIN_SECONDS)
    if process.exitcode is None or process.exitcode >= 0:
        return "ended its process"
    return f"was killed by signal {-process.exitcode} ({signal.strsignal(-process.exitcode)})"


def _receive(connection: Connection) -> tuple[str, int, str]:
    """Read a message "word number text", because unpickling is unsafe. Return ("", 0, "") without a valid message."""
    try:
        word, number, *text = connection.recv_bytes(_MAX_MESSAGE).decode().split(" ", 2)
        return word, int(number), "".join(text)
    except (EOFError, OSError, ValueError):
        return "", 0, ""


def _kill_group(process: Any) -> None:
    """Kill a submission's process and its child processes."""
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
