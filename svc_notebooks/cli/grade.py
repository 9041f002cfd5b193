"""Implements `svc-notebooks grade`, which grades the submissions in a folder and prints a table."""

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
    from ..course.grading import SubmissionResult

_SIGNS = {"correct": "+", "not yet": "-", "not tried": "."}


def grade(options: argparse.Namespace) -> int:
    """Grade submissions and return an exit status, 1 if a submission did not finish, 2 if none was graded, else 0."""
    from ..course import grading
    from ..course.submissions import submissions

    if find_spec("IPython") is None:
        return _fail('IPython, which runs notebooks, is not installed: pip install "svc-notebooks[lab]"')
    if not options.directory.is_dir():
        return _fail(f"{options.directory} is not a folder; give one with a folder or a notebook for each student")
    try:
        handed_in = submissions(options.directory)
    except ValueError as error:
        return _fail(str(error))
    if not handed_in:
        return _fail(f"{options.directory} has neither folders nor notebooks")
    if problem := check_output_paths(options.json, options.csv, overwrite=options.overwrite):
        return _fail(problem)
    seed, started = options.seed or f"{secrets.randbelow(10**6)}", time.monotonic()
    limits = grading.GradingLimits(options.cell_timeout, options.timeout)

    def show_progress(mark: SubmissionResult) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"{mark.student}: {mark.solved}\n")

    marks = grading.grade(handed_in, seed, limits=limits, jobs=options.jobs, on_result=show_progress)
    sys.stdout.write(table(marks))
    if options.json:
        report = {"seed": seed, "submissions": [_record(mark) for mark in marks]}
        text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
        write_report(options.json, text, overwrite=options.overwrite)
    if options.csv:
        write_report(options.csv, _csv_text(marks), overwrite=options.overwrite)
    seconds = time.monotonic() - started
    print(f"{len(marks)} submissions in {seconds:.0f} s; --seed {seed} gives the students the same data again")
    return 1 if any(mark.remarks for mark in marks) else 0


def table(marks: list[SubmissionResult]) -> str:
    """Return the result table, with a row for each student, a column for each exercise, sums and a legend."""
    names = list(marks[0].results)
    width = max(len("student"), *(len(mark.student) for mark in marks))
    heads = [f"{number:>3}" for number in range(1, len(names) + 1)]
    lines = [" ".join([f"{'student':{width}}", *heads, "sum"])]
    for mark in marks:
        signs = [f"{_SIGNS[str(result.outcome)]:>3}" for result in mark.results.values()]
        lines.append(" ".join([f"{mark.student:{width}}", *signs, f"{mark.solved:>3}"]))
    by_all = [f"{sum(mark.results[name].solved for mark in marks):>3}" for name in names]
    lines.append(" ".join([f"{'solved by':{width}}", *by_all, f"{sum(mark.solved for mark in marks):>3}"]))
    legend = "   ".join(f"{sign} {word}" for word, sign in _SIGNS.items())
    exercises = [f"{number:>3} {name}" for number, name in enumerate(names, start=1)]
    remarks = [f"{mark.student}: {remark}" for mark in marks for remark in mark.remarks]
    return "\n".join([*lines, "", legend, *exercises, *([""] if remarks else []), *remarks, ""]) + "\n"


def _record(mark: SubmissionResult) -> dict[str, object]:
    verdicts = {name: {"outcome": str(result.outcome), "saw": result.message} for name, result in mark.results.items()}
    return {"student": mark.student, "solved": mark.solved, "exercises": verdicts, "remarks": list(mark.remarks)}


def _csv_text(marks: list[SubmissionResult]) -> str:
    text = io.StringIO(newline="")
    rows = csv.writer(text)
    rows.writerow(["student", *marks[0].results, "solved", "remarks"])
    for mark in marks:
        outcomes = [str(result.outcome) for result in mark.results.values()]
        remarks = "; ".join(map(_escape_formula, mark.remarks))
        rows.writerow([_escape_formula(mark.student), *outcomes, mark.solved, remarks])
    return text.getvalue()


def _escape_formula(text: str) -> str:
    """Return the text of a CSV cell, with an apostrophe before a text that a spreadsheet would read as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t") else text


def _fail(message: str) -> int:
    sys.stderr.write(f"svc-notebooks grade: {message}\n")
    return 2
