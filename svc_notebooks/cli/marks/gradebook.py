"""Writes the gradebook and the feedback pages that the options of `svc-notebooks grade` ask for."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Callable, Sequence
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


def plain(rows: Sequence[GradebookRow], points: Points, assignment: str) -> str:
    """Return a CSV file with the columns of the roster, the outcome of each exercise, and the points."""
    heads = ("name", "email", "id", "login", "section", *points, assignment, "late", "happened")
    students = [
        (
            row.student.name, row.student.email, row.student.id, row.student.login, row.student.section,
            *(str(row.mark.results[name].outcome) if row.mark else "" for name in points),
            f"{row.points(points):g}", "late" if row.late else "", "; ".join(row.happened),
        )
        for row in rows
    ]  # fmt: skip
    return _csv(heads, *students)


def canvas(rows: Sequence[GradebookRow], points: Points, assignment: str) -> str:
    """Return the CSV file that Canvas' gradebook imports."""
    heads = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", assignment)
    possible = ("    Points Possible", "", "", "", "", f"{sum(points.values()):g}")
    students = [
        (row.student.name, row.student.id, "", row.student.login, row.student.section, f"{row.points(points):g}")
        for row in rows
    ]
    return _csv(heads, possible, *students)


def moodle(rows: Sequence[GradebookRow], points: Points, assignment: str) -> str:
    """Return a CSV file for Moodle's import of grades. The e-mail address identifies a student."""
    students = [
        (row.student.name, row.student.id, row.student.email, f"{row.points(points):g}", "; ".join(row.happened))
        for row in rows
    ]
    return _csv(("Full name", "ID number", "Email address", assignment, "Feedback comments"), *students)


def nbgrader(rows: Sequence[GradebookRow], points: Points, assignment: str) -> str:
    """Return a CSV file with the columns of `nbgrader export`."""
    heads = ("assignment", "student_id", "first_name", "last_name", "email", "raw_score", "score", "max_score")
    possible, students = f"{sum(points.values()):g}", []
    for row in rows:
        first, _, last = row.student.name.rpartition(" ")
        identity = row.student.login or row.student.id or row.student.name
        score = f"{row.points(points):g}"
        students.append((assignment, identity, first, last, row.student.email, score, score, possible))
    return _csv(heads, *students)


def html(rows: Sequence[GradebookRow], points: Points, assignment: str) -> str:
    """Return an HTML page with a row for each student."""
    cells = [
        (row.student.name, f"{row.points(points):g} of {sum(points.values()):g}", "; ".join(row.happened))
        for row in rows
    ]
    return _page(assignment, _table(("student", "points", "what happened"), cells))


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


FORMATS: dict[str, Callable[[Sequence[GradebookRow], Points, str], str]] = {
    "csv": plain,
    "canvas": canvas,
    "moodle": moodle,
    "nbgrader": nbgrader,
    "html": html,
}


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
    text = io.StringIO(newline="")
    rows = csv.writer(text)
    rows.writerow(["student", *marks[0].results, "solved", "happened"])
    for mark in marks:
        outcomes = [str(result.outcome) for result in mark.results.values()]
        happened = "; ".join(map(escape_formula, mark.happened))
        rows.writerow([escape_formula(mark.student), *outcomes, mark.solved, happened])
    return text.getvalue()


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
            text = FORMATS[self._options.format](rows, self._points, self._assignment)
            write_report(self._options.output, text, overwrite=self._options.overwrite)
        if self._options.feedback:
            self._options.feedback.mkdir(parents=True, exist_ok=True)
            for row in rows:
                path: Path = self._options.feedback / f"{_file_name(row.student.name)}.html"
                write_report(path, feedback_page(row, self._points, self._assignment), overwrite=False)


def _file_name(name: str) -> str:
    """Return a name that is safe on every system. `write_report` gives two students of one name two files."""
    return "".join(letter if letter.isalnum() or letter in " -_" else "_" for letter in name).strip()[:100] or "student"
