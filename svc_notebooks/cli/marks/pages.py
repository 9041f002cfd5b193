"""The pages in HTML about a class: the feedback for a student, and the overview for the teacher."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, TypeAlias

from ...course.catalogue import DEFINITIONS
from .roster import earned

if TYPE_CHECKING:
    from ...course.definition import Verdict
    from .roster import GradebookRow

Cells: TypeAlias = "tuple[str | float | list[str], ...]"

_STYLE = (
    "body{font-family:sans-serif;max-width:72em;margin:2em auto;padding:0 1em;line-height:1.4}"
    "div{overflow-x:auto}table{border-collapse:collapse}th{white-space:nowrap}"
    ".share{white-space:nowrap}"
    "td,th{text-align:left;padding:3px 14px 3px 0;vertical-align:top;border-bottom:1px solid #ddd}"
    "td{min-width:4em}td:first-child{min-width:11em}td:last-child{overflow-wrap:anywhere;min-width:18em}"
    "span{display:inline-block;height:.8em;margin-right:4px;background:#b26a00}"
)
_MAX_MESSAGES = 3
_DRAWN = re.compile(r"'[^']*'|\d[\d,.]*")
"""The parts of a message that differ between students, because their data differ."""


def feedback_page(row: GradebookRow, points: Mapping[str, float], assignment: str) -> str:
    """Return the page of a student, with the parts and the message of each check and what happened to the files."""
    results = row.mark.results if row.mark else {}
    cells = [
        (DEFINITIONS[name].text.title, str(result.outcome),
         f"{points.get(name, 0) * earned(result):.3g} of {points.get(name, 0):g}",
         [result.message, *map(str, result.parts)])
        for name, result in results.items()
    ]  # fmt: skip
    total = f"<p>{row.points(points):g} of {sum(points.values()):g} points</p>"
    table = _table(("exercise", "result", "points", "what the check says"), cells)
    return _page(f"{assignment}: {row.student.name}", f"{total}{table}{_list('Your files', row.happened)}")


def class_page(
    rows: Sequence[GradebookRow], points: Mapping[str, float], assignment: str, notes: Mapping[str, Sequence[str]]
) -> str:
    """Return the page of a class: how often each exercise and each part fails, the students, and what was noticed.

    `notes` are sentences by their headings, such as those about similar notebooks. All texts of students are escaped.
    """
    marks = [row.mark for row in rows if row.mark]
    results = {name: [mark.results[name] for mark in marks if name in mark.results] for name in points}
    begun = {name: [each for each in all_ if str(each.outcome) != "not tried"] for name, all_ in results.items()}
    exercises, parts = list[Cells](), list[tuple[float, Cells]]()
    for name, tried in begun.items():
        failed = [each for each in tried if not each.solved]
        if tried:
            numbers = len(tried) - len(failed), len(failed), len(rows) - len(tried)
            cells: Cells = (
                DEFINITIONS[name].text.title,
                *map(str, numbers),
                len(failed) / len(tried),
                _reasons(failed),
            )
            exercises.append(cells)
        names = dict.fromkeys(part.name for each in tried for part in each.parts)
        for part_name in names:
            met = [part.met for each in tried for part in each.parts if part.name == part_name]
            missed, share = met.count(False), met.count(False) / len(met)
            parts.append((share, (part_name, str(missed), str(len(met)), share, DEFINITIONS[name].text.title)))
    parts.sort(key=lambda part: -part[0])
    students = [
        (row.student.name, f"{row.points(points):g}", f"{sum(points.values()):g}", list(row.happened)) for row in rows
    ]
    body = f"<p>{len(rows)} students, {len(marks)} hand-ins</p><h2>Exercises</h2>"
    body += _table(("exercise", "correct", "not yet", "not tried", "failed", "why"), exercises)
    untried = ", ".join(DEFINITIONS[name].text.title for name, tried in begun.items() if not tried)
    body += f"<p>Nobody has begun: {escape(untried)}.</p>" if untried else ""
    if parts:
        body += "<h2>Parts</h2>" + _table(("part", "failed", "of", "share", "exercise"), [cells for _, cells in parts])
    body += "<h2>Students</h2>" + _table(("student", "points", "of", "what happened"), students)
    body += "".join(_list(heading, sentences) for heading, sentences in notes.items())
    return _page(assignment, body)


def _reasons(failed: Sequence[Verdict]) -> list[str]:
    """Return the most frequent messages, of which those count as one that differ in names and numbers only."""
    examples = {_DRAWN.sub("", result.message): result.message for result in failed}
    counts = Counter(_DRAWN.sub("", result.message) for result in failed)
    return [f"{count} of {len(failed)}: {examples[kind]}" for kind, count in counts.most_common(_MAX_MESSAGES)]


def _list(heading: str, sentences: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<h2>{escape(heading)}</h2><ul>{items}</ul>" if items else ""


def _table(heads: Sequence[str], rows: Iterable[Cells]) -> str:
    """Return a table. A float from 0 to 1 is a bar, and a list has several lines."""
    lines = [f"<tr>{''.join(f'<th>{escape(head)}</th>' for head in heads)}</tr>"]
    lines += [f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows]
    return f"<div><table>{''.join(lines)}</table></div>"


def _cell(value: str | float | list[str]) -> str:
    if isinstance(value, float):
        return f'<td class="share"><span style="width:{6 * value:.2f}em"></span>{value:.0%}</td>'
    return f"<td>{escape(value) if isinstance(value, str) else '<br>'.join(map(escape, value))}</td>"


def _page(title: str, body: str) -> str:
    heading = escape(title)
    return (
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{heading}</title><style>{_STYLE}</style><h1>{heading}</h1>{body}</html>\n"
    )
