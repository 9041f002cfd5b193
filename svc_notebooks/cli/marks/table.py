"""The table of a class, with a row for each student and a column for each exercise, as text and as CSV."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from ...core.printable_text import terminal_text

if TYPE_CHECKING:
    from ...course.grading import SubmissionResult

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
