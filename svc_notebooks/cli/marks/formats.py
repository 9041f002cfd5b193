"""The gradebook of a class in the formats of Canvas, Moodle and nbgrader, and as HTML with a page for each student."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from html import escape
from typing import TypeAlias

from ...course.catalogue import DEFINITIONS
from .roster import GradebookRow
from .table import escape_formula

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
