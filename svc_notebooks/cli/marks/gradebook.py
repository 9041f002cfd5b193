"""Writes the gradebook and the feedback pages that the options of `svc-notebooks grade` ask for."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ...core.printable_text import terminal_text
from ...course.catalogue import DEFINITIONS
from ..output_file import write_report
from .roster import GradebookRow, SubmissionDeadline, gradebook, parse_deadline, read_points, read_roster

if TYPE_CHECKING:
    from ...course.grading import SubmissionResult
    from ...course.submissions import Submission


Points: TypeAlias = "dict[str, float]"


# fmt: off
_COLUMNS: dict[str, dict[str, str]] = {
    "csv": {"name": "name", "email": "email", "id": "id", "login": "login", "section": "section",
            "*": "*", "": "score", "late": "late", "happened": "happened"},
    "canvas": {"Student": "name", "ID": "id", "SIS User ID": "none", "SIS Login ID": "login", "Section": "section",
               "": "score"},
    "moodle": {"Full name": "name", "ID number": "id", "Email address": "email", "": "score",
               "Feedback comments": "happened"},
    "nbgrader": {"assignment": "assignment", "student_id": "identity", "first_name": "first", "last_name": "last",
                 "email": "email", "raw_score": "score", "score": "score", "max_score": "possible"},
    "html": {"student": "name", "points": "score_of", "what happened": "happened"},
}
# fmt: on
"""The columns of each format of `--output`: the head and the value (`_values`).

The head "" is the name of the assignment, and "*" stands for the outcome of each exercise.

nbgrader has the columns of `nbgrader export`, and Canvas and Moodle those of their imports.
"""


def gradebook_text(form: str, rows: Sequence[GradebookRow], points: Points, assignment: str) -> str:
    """Return the gradebook in a format of `--output`, with a row for each student."""
    columns: dict[str, str] = {}
    for head, value in _COLUMNS[form].items():
        columns |= dict(zip(points, points, strict=True)) if head == "*" else {head or assignment: value}
    values = [_values(row, points, assignment) for row in rows]
    students = [[student[value] for value in columns.values()] for student in values]
    if form == "html":
        return _page(assignment, _table(list(columns), students))
    possible = [["    Points Possible", "", "", "", "", f"{sum(points.values()):g}"]] if form == "canvas" else []
    return _csv(list(columns), *possible, *students)


def _values(row: GradebookRow, points: Points, assignment: str) -> dict[str, str]:
    student, score, possible = row.student, f"{row.points(points):g}", f"{sum(points.values()):g}"
    first, _, last = student.name.rpartition(" ")
    return {
        **{name: str(row.mark.results[name].outcome) if row.mark else "" for name in points},
        "name": student.name, "first": first, "last": last, "email": student.email, "id": student.id,
        "login": student.login, "section": student.section, "identity": student.login or student.id or student.name,
        "score": score, "possible": possible, "score_of": f"{score} of {possible}", "assignment": assignment,
        "late": "late" if row.late else "", "happened": "; ".join(row.happened), "none": "",
    }  # fmt: skip


def feedback_page(row: GradebookRow, points: Points, assignment: str) -> str:
    """Return an HTML page for a student, with the message of each check and what happened to the notebooks."""
    results = row.mark.results if row.mark else {}
    cells = [
        (DEFINITIONS[name].title, str(result.outcome), f"{points[name] if result.solved else 0:g} of {points[name]:g}",
         result.message)
        for name, result in results.items()
    ]  # fmt: skip
    happened = "".join(f"<li>{escape(text)}</li>" for text in row.happened)
    total = f"<p>{row.points(points):g} of {sum(points.values()):g} points</p>"
    table = _table(("exercise", "result", "points", "what the check says"), cells)
    return _page(f"{assignment}: {row.student.name}", f"{total}{table}<h2>Your notebooks</h2><ul>{happened}</ul>")


def _csv(*rows: Sequence[str]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([escape_formula(cell) for cell in row] for row in rows)
    return text.getvalue()


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"<tr>{''.join(f'<th>{escape(head)}</th>' for head in heads)}</tr>"]
    lines += [f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows]
    return f"<table>{''.join(lines)}</table>"


def _page(title: str, body: str) -> str:
    style = "body{font-family:sans-serif;max-width:60em;margin:2em auto}td,th{text-align:left;padding:2px 12px 2px 0}"
    heading = escape(title)
    return (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{heading}</title><style>{style}</style>'
        f"<h1>{heading}</h1>{body}</html>\n"
    )


_SIGNS = {"correct": "+", "not yet": "-", "not tried": "."}


def table(marks: list[SubmissionResult]) -> str:
    """Return the result table, with a row for each student, a column for each exercise, sums and a legend."""
    names = list(marks[0].results)
    students = [terminal_text(mark.student) for mark in marks]
    width = max(len("student"), *map(len, students))
    heads = [f"{number:>3}" for number in range(1, len(names) + 1)]
    lines = [" ".join([f"{'student':{width}}", *heads, "sum"])]
    for student, mark in zip(students, marks, strict=True):
        signs = [f"{_SIGNS[str(result.outcome)]:>3}" for result in mark.results.values()]
        lines.append(" ".join([f"{student:{width}}", *signs, f"{mark.solved:>3}"]))
    by_all = [f"{sum(mark.results[name].solved for mark in marks):>3}" for name in names]
    lines.append(" ".join([f"{'solved by':{width}}", *by_all, f"{sum(mark.solved for mark in marks):>3}"]))
    legend = "   ".join(f"{sign} {word}" for word, sign in _SIGNS.items())
    exercises = [f"{number:>3} {name}" for number, name in enumerate(names, start=1)]
    remarks = [terminal_text(f"{mark.student}: {remark}") for mark in marks for remark in (*mark.remarks, *mark.errors)]
    return "\n".join([*lines, "", legend, *exercises, *([""] if remarks else []), *remarks, ""]) + "\n"


def csv_text(marks: list[SubmissionResult]) -> str:
    """Return the table as CSV, with a last column that says what happened to the notebooks."""
    heads = ["student", *marks[0].results, "solved", "happened"]
    return _csv(heads, *([
        mark.student, *(str(result.outcome) for result in mark.results.values()), str(mark.solved),
        "; ".join(map(escape_formula, mark.happened)),
    ] for mark in marks))  # fmt: skip


def escape_formula(text: str) -> str:
    """Return the text of a CSV cell, with an apostrophe before a text that a spreadsheet would read as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t") else text


class Gradebook:
    """The options of a gradebook. The constructor raises ValueError for an invalid roster, points file or deadline."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._roster = read_roster(options.roster) if options.roster else None
        self._points = read_points(options.points) if options.points else dict.fromkeys(DEFINITIONS, 1.0)
        deadline = parse_deadline(options.deadline) if options.deadline else None
        self._deadline = SubmissionDeadline(deadline, options.late_points / 100)
        self._assignment = options.assignment or options.directory.resolve().name

    def write(self, marks: Sequence[SubmissionResult], handed_in: Sequence[Submission]) -> None:
        """Write the gradebook and the feedback pages, and name submissions that belong to no student of the roster."""
        rows, unknown = gradebook(self._roster, marks, handed_in, self._deadline)
        for row in rows:
            sys.stdout.write(terminal_text(f"{row.student.name}: {row.late}") + "\n" if row.late else "")
        for student in unknown:
            sys.stderr.write(
                f"svc-notebooks grade: {terminal_text(student)} is not in {self._options.roster}, or is there twice\n"
            )
        if self._options.output:
            text = gradebook_text(self._options.format, rows, self._points, self._assignment)
            write_report(self._options.output, text, overwrite=self._options.overwrite)
        if self._options.feedback:
            self._options.feedback.mkdir(parents=True, exist_ok=True)
            for row in rows:
                path: Path = self._options.feedback / f"{_file_name(row.student.name)}.html"
                write_report(path, feedback_page(row, self._points, self._assignment), overwrite=False)


def _file_name(name: str) -> str:
    """Return a name that is safe on every system. `write_report` gives two students of one name two files."""
    return "".join(letter if letter.isalnum() or letter in " -_" else "_" for letter in name).strip()[:100] or "student"
