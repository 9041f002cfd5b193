"""The pages in HTML about a class: the feedback for a student, and the overview for the teacher."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from ...course.catalogue import DEFINITIONS

if TYPE_CHECKING:
    from .roster import GradebookRow

_STYLE = (
    "body{font-family:sans-serif;max-width:70em;margin:2em auto;padding:0 1em;line-height:1.4}"
    "table{border-collapse:collapse}td,th{text-align:left;padding:3px 12px 3px 0;vertical-align:top;"
    "border-bottom:1px solid #ddd;overflow-wrap:anywhere}td.n,th.n{text-align:right;white-space:nowrap}"
    "span.bar{display:inline-block;height:.8em;background:#b26a00;vertical-align:baseline}"
)
_MAX_MESSAGES = 3


def feedback_page(row: GradebookRow, points: Mapping[str, float], assignment: str) -> str:
    """Return the page of a student, with the message of each check and what happened to the files."""
    results = row.mark.results if row.mark else {}
    cells = [
        (DEFINITIONS[name].title, str(result.outcome),
         f"{points.get(name, 0) if result.solved else 0:g} of {points.get(name, 0):g}", result.message)
        for name, result in results.items()
    ]  # fmt: skip
    happened = "".join(f"<li>{escape(text)}</li>" for text in row.happened)
    total = f"<p>{row.points(dict(points)):g} of {sum(points.values()):g} points</p>"
    body = html_table(("exercise", "result", "points", "what the check says"), cells)
    return html_page(f"{assignment}: {row.student.name}", f"{total}{body}<h2>Your files</h2><ul>{happened}</ul>")


def class_page(
    rows: Sequence[GradebookRow], points: Mapping[str, float], assignment: str, notes: Iterable[tuple[str, list[str]]]
) -> str:
    """Return the page of a class: students, how often each exercise and each part fails, and what was noticed.

    `notes` are headings with sentences, such as those about similar notebooks. All texts of students are escaped.
    """
    marks = [row.mark for row in rows if row.mark]
    exercises = []
    for name in points:
        results = [mark.results[name] for mark in marks if name in mark.results]
        counts = Counter(str(result.outcome) for result in results)
        wrong = Counter(result.message for result in results if str(result.outcome) == "not yet")
        exercises.append((
            DEFINITIONS[name].title, f"{counts['correct']}", f"{counts['not yet']}",
            f"{counts['not tried'] + len(rows) - len(results)}", counts["not yet"] / max(1, len(rows)),
            "; ".join(f"{count} times: {message}" for message, count in wrong.most_common(_MAX_MESSAGES)),
        ))  # fmt: skip
    students = [
        (row.student.name, f"{row.points(dict(points)):g}", f"{sum(points.values()):g}", "; ".join(row.happened))
        for row in rows
    ]
    body = (
        f"<p>{len(rows)} students, {len(marks)} hand-ins</p><h2>Exercises</h2>"
        + html_table(("exercise", "correct", "not yet", "not tried", "share of not yet", "why"), exercises)
        + "<h2>Students</h2>"
        + html_table(("student", "points", "of", "what happened"), students)
    )
    for heading, sentences in notes:
        items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
        body += f"<h2>{escape(heading)}</h2><ul>{items}</ul>" if sentences else ""
    return html_page(assignment, body)


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str | float]]) -> str:
    """Return a table. A cell of digits is aligned at the right, and a float from 0 to 1 is a bar."""
    lines = [f"<tr>{''.join(f'<th>{escape(head)}</th>' for head in heads)}</tr>"]
    for row in rows:
        lines.append(f"<tr>{''.join(map(_cell, row))}</tr>")
    return f"<table>{''.join(lines)}</table>"


def _cell(value: str | float) -> str:
    if isinstance(value, float):
        return f'<td><span class="bar" style="width:{8 * value:.2f}em"></span> {value:.0%}</td>'
    return f'<td class="n">{value}</td>' if value.replace(".", "", 1).isdecimal() else f"<td>{escape(value)}</td>"


def html_page(title: str, body: str) -> str:
    """Return a page with a title, which is escaped, and a body in HTML."""
    heading = escape(title)
    return (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{heading}</title><style>{_STYLE}</style><h1>{heading}</h1>{body}</html>\n"
    )
