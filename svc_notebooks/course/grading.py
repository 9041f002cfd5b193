"""Grades submissions. Each notebook runs in its own process and uses the grading service in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..core.platform import temporary_folder
from .definition import GRADER, KEY, Verdict
from .sandbox import FOLDER, SubmissionSandbox, find_sandbox
from .submission_process import (
    LimitedProcess,
    NotebookReport,
    ProcessStarter,
    ReportReader,
    SandboxedProcess,
    default_jobs,
)
from .submissions import SubmissionContent
from .supervisor import GradingLimits as GradingLimits, SubmissionJob

if TYPE_CHECKING:
    from ..server.service import Service
    from ..server.transports.socket_server import SocketServer
    from .grading_service import GradingService

_THREADS = 64
_ATTEMPTS = 4
_MAX_MESSAGE = 1024


@dataclass(frozen=True, slots=True)
class SubmissionResult:
    """A student's results by exercise name, and what happened to the notebooks.

    `remarks` name notebooks that could not be read or did not run to the end, and submissions without an exercise.
    `errors` has the first exception of each notebook, and `notes` name the other files. `isolation` says how the
    notebooks were isolated.
    """

    student: str
    results: dict[str, Verdict]
    remarks: tuple[str, ...]
    errors: tuple[str, ...] = ()
    digest: str = ""
    notes: tuple[str, ...] = ()
    isolation: str = ""

    @property
    def happened(self) -> tuple[str, ...]:
        """All remarks and errors, or one sentence that all notebooks ran to the end, and the notes."""
        problems = (*self.remarks, *self.errors) or ("all notebooks ran to the end without an exception",)
        return (*problems, *self.notes)

    @property
    def solved(self) -> int:
        return sum(result.solved for result in self.results.values())


def grade(
    submissions: Sequence[SubmissionContent],
    seed: str,
    *,
    limits: GradingLimits | None = None,
    jobs: int | None = None,
    on_result: Callable[[SubmissionResult], object] = lambda mark: None,
    earlier: Mapping[str, SubmissionResult] | None = None,
    sandbox: SubmissionSandbox | None = None,
    starter: ProcessStarter | None = None,
) -> list[SubmissionResult]:
    """Grade submissions in parallel, and return a result for each submission, in the order of the submissions.

    KeyboardInterrupt and other exceptions kill the running notebooks.

    Args:
        submissions: The submissions to grade. All of them were read before the first one runs.
        seed: A seed. The seed and the student's name determine the data of a student's exercises.
        limits: The limits of each submission. None: the default limits.
        jobs: The number of submissions that are graded at the same time. None: one for each processor.
        on_result: A function that is called with each result as soon as a submission is graded, in a worker thread.
        earlier: Results of an earlier run by student. A submission that has not changed since then is not run again.
        sandbox: How the submissions are isolated. None: bubblewrap where it works, else limits of processes only.
        starter: The started processes, which the caller closes. None: processes in `sandbox`.
    """
    jobs = jobs or default_jobs()
    with ExitStack() as stack:
        if starter is None:
            starter = ProcessStarter(sandbox or find_sandbox(), min(jobs, len(submissions)))
            stack.enter_context(closing(starter))
        # Not at the top of the module: the first processes load their modules while this process loads these.
        from ..server.transports.socket_server import SocketServer
        from .exercise_service import start_converter
        from .grading_service import GradingService

        start_converter()
        grader = GradingService()
        served = cast("Service", grader)  # it has what the server uses: handle, policy, user_of, provider
        with SocketServer(served, threads=_THREADS) as server:
            runner = _SubmissionRunner(grader, server, seed, limits or GradingLimits(), starter)

            def grade_one(content: SubmissionContent) -> SubmissionResult:
                known = (earlier or {}).get(content.student)
                if known is not None and known.digest == content.digest:
                    return known
                mark = runner.grade(content)
                on_result(mark)
                return mark

            pool = ThreadPoolExecutor(jobs)
            try:
                return list(pool.map(grade_one, submissions))
            finally:
                runner.stop()
                pool.shutdown(cancel_futures=True)


class _SubmissionRunner:
    """Runs the notebooks of submissions, each in its own process, and collects the results."""

    def __init__(
        self, grader: GradingService, server: SocketServer, seed: str, limits: GradingLimits, starter: ProcessStarter
    ) -> None:
        self._grader, self._server, self._seed, self._limits, self._starter = grader, server, seed, limits, starter
        self._running: set[SandboxedProcess | LimitedProcess] = set()
        self._stopped = False

    def grade(self, submission: SubmissionContent) -> SubmissionResult:
        """Run all notebooks of a submission, and return its result. Raises CancelledError after `stop`."""
        key = self._grader.open(f"{self._seed}/{submission.student}")
        remarks, errors = list[str](), list[str]()
        reports = self._run(submission, key)
        for notebook, report in zip(submission.notebooks, reports, strict=True):
            remarks += [f"{notebook.name} {remark}" for remark in report.remarks]
            errors += [f"{notebook.name} {report.error}"] if report.error else []
        results = self._grader.close(key)
        if self._stopped:
            raise CancelledError
        notes = submission.notes
        if not submission.notebooks:
            remarks, notes = [*notes], ()
        elif not any(notebook.cells or notebook.problem for notebook in submission.notebooks):
            names = ", ".join(notebook.name for notebook in submission.notebooks)
            remarks.append(f"no exercise found: no cell of {names} uses the module course"[:_MAX_MESSAGE])
        isolation = self._starter.sandbox.description
        said = tuple(remarks), tuple(errors)
        return SubmissionResult(submission.student, results, *said, submission.digest, notes, isolation)

    def stop(self) -> None:
        """Kill the running notebooks. Their submissions have no result."""
        self._stopped = True
        for process in list(self._running):
            process.kill()

    def _run(self, submission: SubmissionContent, key: str) -> list[NotebookReport]:
        """Run the notebooks of a submission that have exercises, and return a report for every notebook."""
        problems = (notebook.problem for notebook in submission.notebooks)
        reports = [NotebookReport([f"cannot be read: it {problem}"] if problem else []) for problem in problems]
        to_run = [number for number, notebook in enumerate(submission.notebooks) if notebook.cells]
        reader, failures = ReportReader([reports[number] for number in to_run], self._limits), 0
        notebooks = [list(submission.notebooks[number].cells) for number in to_run]
        while not (reader.is_complete or self._stopped or failures == _ATTEMPTS):
            first = reader.number
            with temporary_folder("svc-grade-") as folder, suppress(OSError):
                self._run_once(notebooks, submission.files, key, folder, reader)
            failures += reader.number == first  # a process did not start, or a notebook has killed the fork server
        for report in reader.reports[reader.number :]:
            report.add("could not be run, because its process did not start")
        return reports

    def _run_once(
        self, notebooks: list[list[str]], files: dict[str, str], key: str, folder: Path, reader: ReportReader
    ) -> None:
        """Run the notebooks in a process from the next one on, in the sandbox or in the temporary folder."""
        in_sandbox = self._starter.sandbox.is_bubblewrap
        base = Path(FOLDER) if in_sandbox else folder
        own = {"TMPDIR": str(base / ".tmp"), "USER": "student", "LOGNAME": "student"}
        environment = {KEY: key, **dict.fromkeys(("HOME", "IPYTHONDIR"), str(base / ".home")), **own}
        process = self._starter.start()
        self._running.add(process)
        try:
            address = process.connect(self._server)
            if address and not self._stopped:
                environment[GRADER] = address
                job = SubmissionJob(
                    notebooks, files, str(base), environment, self._limits, in_sandbox, first=reader.number
                )
                process.connection.send_bytes(job.to_bytes())
                reader.read(process.connection)
                if reader.is_complete:
                    process.end()
        finally:
            self._running.discard(process)
            process.close()
