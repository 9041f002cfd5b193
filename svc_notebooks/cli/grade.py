"""Implements `svc-notebooks grade`, which grades the submissions in a folder and prints a table."""

from __future__ import annotations

import argparse
import atexit
import gc
import sys
import time
from collections import Counter
from collections.abc import Sequence, Set
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from ..core.printable_text import terminal_text
from .options import check_output_paths, fail, warn, write_report

if TYPE_CHECKING:
    from ..course.grading import SubmissionResult
    from ..course.submission_process import ProcessStarter
    from ..course.submissions import Submission, SubmissionContent
    from .marks.gradebook import Gradebook
    from .marks.roster import Student

_INTERRUPTED = 130  # the exit status after Ctrl-C

# The number of new objects after which a collection looks for cycles. By default Python does so after 700.
_COLLECTION_THRESHOLD = 50_000


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
    from ..core.platform import temporary_folder
    from ..course.archives import SUFFIXES, unpack
    from ..course.sandbox import NoSandboxError, find_sandbox
    from ..course.submission_process import ProcessStarter, default_jobs
    from .marks.roster import read_roster

    if find_spec("IPython") is None:
        return fail("grade", 'IPython, which runs notebooks, is not installed: pip install "svc-notebooks[lab]"')
    is_archive = options.directory.is_file() and options.directory.name.lower().endswith(SUFFIXES)
    if not (is_archive or options.directory.is_dir()):
        expected = "one with a folder or a notebook for each student, or an archive"
        return fail("grade", f"{options.directory} is not a folder; give {expected}")
    with temporary_folder("svc-grade-") as unpacked:
        try:
            left_out = unpack(options.directory, unpacked) if is_archive else {}
            roster = read_roster(options.roster) if options.roster else None
            handed_in = _find(options, roster, unpacked if is_archive else options.directory, left_out)
            hidden = options.directory.parent if is_archive else options.directory
            sandbox = find_sandbox(options.isolation, [hidden])
        except (ValueError, NoSandboxError) as error:
            return fail("grade", str(error))
        if not handed_in:
            return fail("grade", f"{options.directory} has neither folders nor notebooks")
        with closing(ProcessStarter(sandbox, min(options.jobs or default_jobs(), len(handed_in)))) as starter:
            return _grade_with(starter, options, roster, handed_in)


def _find(
    options: argparse.Namespace, roster: Sequence[Student] | None, folder: Path, left_out: dict[str, str]
) -> list[Submission]:
    """Find the submissions, and say which files are none."""
    from ..course.archives import archive_stem
    from ..course.submissions import names_pattern, submissions
    from .marks.roster import name_key

    keys = {key for student in roster or () for key in student.keys}
    own = (options.json, options.csv, options.output, options.class_page, options.feedback, options.pseudonyms)
    handed_in, unplaced = submissions(
        folder,
        names=names_pattern(options.names) if options.names else None,
        is_student=lambda name: name_key(name) in keys,
        exclude=[path for path in (*own, options.roster, options.points) if path],
        archive=archive_stem(options.directory.name) if folder != options.directory else "",
        left_out=left_out,
    )
    certain = [each for each in handed_in if each.certain or name_key(each.student) in keys]
    unplaced += [name for each in handed_in if each not in certain for name in each.files]
    if unplaced:
        warn("grade", f"not a submission: {', '.join(unplaced)}")
    return certain


def _selected(
    options: argparse.Namespace, book: Gradebook, handed_in: Sequence[Submission]
) -> tuple[set[str], set[str]]:
    """Return the names of the submissions and of the exercises to grade. Raises ValueError for an unknown name."""
    from difflib import get_close_matches

    from ..course.catalogue import DEFINITIONS

    students, exercises = set[str](), set[str]()
    for name in options.only:
        matches = [each.student for each in handed_in if book.is_submission_of(each.student, name)]
        students.update(matches)
        exercises.update({name} & DEFINITIONS.keys())
        if not matches and name not in DEFINITIONS:
            close = get_close_matches(name, [*DEFINITIONS, *(each.student for each in handed_in)], 1)
            near = f"; the nearest name is {close[0]}" if close else ""
            raise ValueError(f"--only {name}: there is neither such a student nor such an exercise{near}")
    return students or {each.student for each in handed_in}, exercises or set(DEFINITIONS)


def _grade_with(
    starter: ProcessStarter,
    options: argparse.Namespace,
    roster: Sequence[Student] | None,
    handed_in: Sequence[Submission],
) -> int:
    # Not at the top of the module: the started processes load their modules while this process loads these.
    import secrets

    from ..course import grading
    from ..course.submissions import read_submission
    from .marks.gradebook import Gradebook, SavedMarks, csv_text, read_marks, similar_notebooks, table

    try:
        book = Gradebook(options, roster)
        for mismatch in book.expect(handed_in):
            warn("grade", mismatch)
        if options.resume and options.json is None:
            raise ValueError("--resume needs --json FILE, the file of the earlier run")
        resumed = options.resume and options.json.exists()
        students, exercises = _selected(options, book, handed_in)
        seed, earlier = read_marks(options.json) if resumed else (options.seed or f"{secrets.randbelow(10**6)}", {})
    except ValueError as error:
        return fail("grade", str(error))
    if options.seed not in (None, seed):
        return fail("grade", f"{options.json} has the seed {seed}, not {options.seed}; give --resume without --seed")
    paths = None if resumed else options.json, options.csv, options.output, options.class_page, options.feedback
    if problem := check_output_paths(*paths, overwrite=options.overwrite):
        return fail("grade", problem)
    started, limits = time.monotonic(), grading.GradingLimits(options.cell_timeout, options.timeout)
    contents = [read_submission(submission) for submission in handed_in]
    names = {submission.student for submission in handed_in}
    done = {student: mark for student, mark in earlier.items() if student in names}
    saved, lock = SavedMarks(options.json, seed, overwrite=options.overwrite or resumed), Lock()

    def save(mark: SubmissionResult) -> None:
        with lock:
            done[mark.student] = _merged(mark, exercises, earlier.get(mark.student))
            saved.save(done.values(), complete=False)
            if sys.stderr.isatty():
                sys.stderr.write(terminal_text(book.shown(f"{mark.student}: {done[mark.student].solved}")) + "\n")

    saved.save(done.values(), complete=False)
    chosen = [_with_exercises(content, exercises) for content in contents if content.student in students]
    kept = {} if options.only else earlier
    try:
        graded = grading.grade(
            chosen, seed, limits=limits, jobs=options.jobs, on_result=save, earlier=kept, starter=starter
        )
    except KeyboardInterrupt:
        if done:
            sys.stdout.write(table([book.shown_mark(mark) for mark in done.values()]))
        return _report_interrupt(options, len(done), len(handed_in))
    done |= {mark.student: _merged(mark, exercises, earlier.get(mark.student)) for mark in graded}
    marks = [done[submission.student] for submission in handed_in if submission.student in done]
    saved.save(marks, complete=True)
    shown, similar = [book.shown_mark(mark) for mark in marks], similar_notebooks(contents, book.name_of)
    sys.stdout.write(table(shown) + "".join(terminal_text(book.shown(f"similar: {each}")) + "\n" for each in similar))
    if options.csv:
        write_report(options.csv, csv_text(shown), overwrite=options.overwrite)
    isolations = Counter(mark.isolation for mark in marks if mark.isolation)
    said = [f"{text} ({count} of {len(marks)})" if len(isolations) > 1 else text for text, count in isolations.items()]
    book.write(marks, handed_in, {"Similar notebooks": similar, "Isolation": said})
    seconds = time.monotonic() - started
    print(f"{len(marks)} submissions in {seconds:.0f} s; --seed {seed} gives the students the same data again")
    print("\n".join(f"isolation: {text}" for text in said or [starter.sandbox.description]))
    return 1 if any(mark.remarks for mark in marks) else 0


def _with_exercises(content: SubmissionContent, exercises: Set[str]) -> SubmissionContent:
    """Return the submission with the notebooks that have one of the exercises."""
    chosen = [
        each if any(name in cell for name in exercises for cell in each.cells) else replace(each, cells=())
        for each in content.notebooks
    ]
    return replace(content, notebooks=tuple(chosen)) if any(each.cells for each in chosen) else content


def _merged(mark: SubmissionResult, exercises: Set[str], earlier: SubmissionResult | None) -> SubmissionResult:
    """Return the results of the chosen exercises, beside those of an earlier run."""
    if len(mark.results) == len(exercises):
        return mark
    chosen = {name: mark.results[name] for name in mark.results.keys() & exercises}
    results = (earlier.results if earlier else {}) | chosen
    same = earlier is not None and earlier.digest == mark.digest
    return replace(mark, results=results, digest=mark.digest if same else "")


def _report_interrupt(options: argparse.Namespace, graded: int, count: int) -> int:
    more = "with --json FILE, the marks are saved after each submission, and --resume continues"
    if options.json:
        more = f"the others are graded by the same command with --resume, because {options.json} has the marks"
    return fail("grade", f"interrupted after {graded} of {count} submissions; {more}", _INTERRUPTED)
