"""`svc-notebooks grade`: grades the submissions in a folder and prints a table."""

from __future__ import annotations

import argparse
import csv
import io
import json
import secrets
import sys
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING

from .output_file import check_output_paths, write_report

if TYPE_CHECKING:
    from _csv import Writer

    from ..course.grading import SubmissionResult

_SIGNS = {"correct": "+", "not yet": "-", "not tried": "."}


def grade(options: argparse.Namespace) -> int:
    """Grade what is in a folder; 0, 1 if a submission could not be run to its end, 2 if there is nothing to grade."""
    from ..course import grading
    from ..course.submissions import submissions

    if find_spec("IPython") is None:
        return _fail('what runs notebooks is not installed: pip install "svc-notebooks[lab]"')
    if not options.directory.is_dir():
        return _fail(f"{options.directory} is no folder; give the one that has a folder or a notebook for each student")
    try:
        handed_in = submissions(options.directory)
    except ValueError as error:
        return _fail(str(error))
    if not handed_in:
        return _fail(f"{options.directory} holds neither folders nor notebooks")
    if problem := check_output_paths(options.json, options.csv, overwrite=options.overwrite):
        return _fail(problem)
    seed, started = options.seed or f"{secrets.randbelow(10**6)}", time.monotonic()
    limits = grading.GradingLimits(options.cell_timeout, options.timeout)
    marks = grading.grade(handed_in, seed, limits=limits, jobs=options.jobs, on_result=_show_progress)
    sys.stdout.write(table(marks))
    _write_files(options, marks, seed)
    seconds = time.monotonic() - started
    print(f"{len(marks)} submissions in {seconds:.0f} s; --seed {seed} gives everybody the same data again")
    return 1 if any(mark.remarks for mark in marks) else 0


def _show_progress(mark: SubmissionResult) -> None:
    """Progress, where a person waits for it."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{mark.student}: {mark.solved}\n")


def table(marks: list[SubmissionResult]) -> str:
    """Who has solved what: a column for each exercise by its number, the sums, the legend, and what was in the way."""
    names = list(marks[0].results)
    width = max(len("student"), *(len(mark.student) for mark in marks))
    heads = [f"{number:>3}" for number in range(1, len(names) + 1)]
    lines = [" ".join([f"{'student':{width}}", *heads, "sum"])]
    lines += [_line(mark, width) for mark in marks]
    by_all = [f"{sum(mark.results[name].solved for mark in marks):>3}" for name in names]
    lines.append(" ".join([f"{'solved by':{width}}", *by_all, f"{sum(mark.solved for mark in marks):>3}"]))
    legend = "   ".join(f"{sign} {word}" for word, sign in _SIGNS.items())
    exercises = [f"{number:>3} {name}" for number, name in enumerate(names, start=1)]
    remarks = [f"{mark.student}: {remark}" for mark in marks for remark in mark.remarks]
    return "\n".join([*lines, "", legend, *exercises, *([""] if remarks else []), *remarks, ""]) + "\n"


def _line(mark: SubmissionResult, width: int) -> str:
    signs = [f"{_SIGNS[str(result.outcome)]:>3}" for result in mark.results.values()]
    return " ".join([f"{mark.student:{width}}", *signs, f"{mark.solved:>3}"])


def _write_files(options: argparse.Namespace, marks: list[SubmissionResult], seed: str) -> None:
    if options.json:
        report = {"seed": seed, "submissions": [_record(mark) for mark in marks]}
        text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
        write_report(options.json, text, overwrite=options.overwrite)
    if options.csv:
        rows = io.StringIO(newline="")
        _write_rows(csv.writer(rows), marks)
        write_report(options.csv, rows.getvalue(), overwrite=options.overwrite)


def _record(mark: SubmissionResult) -> dict[str, object]:
    verdicts = {name: {"outcome": str(result.outcome), "saw": result.message} for name, result in mark.results.items()}
    return {"student": mark.student, "solved": mark.solved, "exercises": verdicts, "remarks": list(mark.remarks)}


def _write_rows(rows: Writer, marks: list[SubmissionResult]) -> None:
    rows.writerow(["student", *marks[0].results, "solved", "remarks"])
    for mark in marks:
        outcomes = [str(result.outcome) for result in mark.results.values()]
        rows.writerow(
            [_escape_formula(mark.student), *outcomes, mark.solved, "; ".join(map(_escape_formula, mark.remarks))]
        )


def _escape_formula(text: str) -> str:
    """A name that a spreadsheet would take for a formula is none."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t") else text


def _fail(message: str) -> int:
    sys.stderr.write(f"svc-notebooks grade: {message}\n")
    return 2
