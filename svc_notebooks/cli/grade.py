"""Implements `svc-notebooks grade`, which grades the submissions in a folder and prints a table."""

from __future__ import annotations

import argparse
import atexit
import gc
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING

from ..core.printable_text import terminal_text

if TYPE_CHECKING:
    from ..course.grading import SubmissionResult
    from ..course.submission_process import ProcessStarter
    from ..course.submissions import Submission

_INTERRUPTED = 130
"""The exit status after Ctrl-C."""

_COLLECTION_THRESHOLD = 50_000
"""The number of new objects after which a collection looks for cycles. By default Python does so after 700."""


def grade(options: argparse.Namespace) -> int:
    """Grade submissions and return an exit status, 1 if a submission did not finish, 2 if none was graded, else 0."""
    atexit.register(gc.freeze)  # the end of the process need not look for cycles in the memory of all modules
    thresholds = gc.get_threshold()
    gc.set_threshold(_COLLECTION_THRESHOLD)
    try:
        return _grade(options)
    finally:
        gc.set_threshold(*thresholds)


def _grade(options: argparse.Namespace) -> int:
    from ..course.sandbox import NoSandboxError, find_sandbox, untried_bubblewrap
    from ..course.submission_process import ProcessStarter, default_jobs
    from ..course.submissions import submissions

    if find_spec("IPython") is None:
        return _fail('IPython, which runs notebooks, is not installed: pip install "svc-notebooks[lab]"')
    if not options.directory.is_dir():
        return _fail(f"{options.directory} is not a folder; give one with a folder or a notebook for each student")
    try:
        handed_in = submissions(options.directory)
        where = options.isolation, [options.directory]
        sandbox = untried_bubblewrap(*where) or find_sandbox(*where)
    except (ValueError, NoSandboxError) as error:
        return _fail(str(error))
    if not handed_in:
        return _fail(f"{options.directory} has neither folders nor notebooks")
    with closing(ProcessStarter(sandbox, min(options.jobs or default_jobs(), len(handed_in)))) as starter:
        return _grade_with(starter, options, handed_in)


def _grade_with(starter: ProcessStarter, options: argparse.Namespace, handed_in: Sequence[Submission]) -> int:
    # Not at the top of the module: the started processes load their modules while this process loads these.
    import secrets

    from ..course import grading
    from ..course.sandbox import NoSandboxError, find_sandbox
    from .marks.gradebook import Gradebook, csv_text, table
    from .marks.saved_marks import SavedMarks, read_marks
    from .output_file import check_output_paths, write_report

    try:
        if not starter.works():
            starter.restart(find_sandbox(options.isolation, [options.directory]))
        resumed, book = _is_resumed(options), Gradebook(options)
        seed, earlier = read_marks(options.json) if resumed else (options.seed or f"{secrets.randbelow(10**6)}", {})
    except (ValueError, NoSandboxError) as error:
        return _fail(str(error))
    sandbox = starter.sandbox
    if options.seed not in (None, seed):
        return _fail(f"{options.json} has the seed {seed}, not {options.seed}; give --resume without --seed")
    paths = None if resumed else options.json, options.csv, options.output, options.feedback
    if problem := check_output_paths(*paths, overwrite=options.overwrite):
        return _fail(problem)
    started, limits = time.monotonic(), grading.GradingLimits(options.cell_timeout, options.timeout)
    students = {submission.student for submission in handed_in}
    done = {student: mark for student, mark in earlier.items() if student in students}
    saved, lock = SavedMarks(options.json, seed, sandbox.description, overwrite=options.overwrite or resumed), Lock()

    def save(mark: SubmissionResult) -> None:
        with lock:
            done[mark.student] = mark
            saved.save(done.values(), complete=False)
            if sys.stderr.isatty():
                sys.stderr.write(f"{terminal_text(mark.student)}: {mark.solved}\n")

    saved.save(done.values(), complete=False)
    try:
        marks = grading.grade(
            handed_in, seed, limits=limits, jobs=options.jobs, on_result=save, earlier=earlier, starter=starter
        )
    except KeyboardInterrupt:
        if done:
            sys.stdout.write(table(list(done.values())))
        return _report_interrupt(options, len(done), len(handed_in))
    saved.save(marks, complete=True)
    sys.stdout.write(table(marks))
    if options.csv:
        write_report(options.csv, csv_text(marks), overwrite=options.overwrite)
    book.write(marks, handed_in)
    seconds = time.monotonic() - started
    print(f"{len(marks)} submissions in {seconds:.0f} s; --seed {seed} gives the students the same data again")
    print(f"isolation: {sandbox.description}")
    return 1 if any(mark.remarks for mark in marks) else 0


def _is_resumed(options: argparse.Namespace) -> bool:
    """Return whether an earlier run is resumed. Raises ValueError if `--resume` is given without `--json`."""
    if options.resume and options.json is None:
        raise ValueError("--resume needs --json FILE, the file of the earlier run")
    return bool(options.resume and options.json.exists())


def _report_interrupt(options: argparse.Namespace, graded: int, count: int) -> int:
    more = (
        f"the others are graded by the same command with --resume, because {options.json} has the marks"
        if options.json
        else "with --json FILE, the marks are saved after each submission, and --resume continues"
    )
    sys.stderr.write(f"svc-notebooks grade: interrupted after {graded} of {count} submissions; {more}\n")
    return _INTERRUPTED


def _fail(message: str) -> int:
    sys.stderr.write(f"svc-notebooks grade: {terminal_text(message)}\n")
    return 2
