"""Writes the gradebook, the page of the class and the feedback that the options of `svc-notebooks grade` ask for."""

from __future__ import annotations

import argparse
import ast
import csv
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html import escape
from itertools import combinations
from pathlib import Path
from random import SystemRandom
from string import Template
from typing import TYPE_CHECKING, Any, TypeAlias

from ...core.printable_text import terminal_text
from ...course.archives import archive_stem
from ...course.catalogue import DEFINITIONS
from ...course.definition import Verdict
from ...course.submissions import Submission, SubmissionContent, exercise_cells
from ...local.saving import DEVICE, existing, save_bytes
from ..notebook_files import notebooks_folder
from ..options import write_report
from .roster import (
    GradebookRow,
    Student,
    SubmissionDeadline,
    assign_submissions,
    earned,
    gradebook,
    name_key,
    parse_deadline,
    read_points,
    read_rows,
)

if TYPE_CHECKING:
    from ...course.grading import SubmissionResult


Points: TypeAlias = "dict[str, float]"
Cells: TypeAlias = "tuple[str | float | list[str], ...]"


# fmt: off
# The columns of each format of `--output`: the head and the value (`_values`). The head "" is the name of the
# assignment, and "*" stands for the outcome of each exercise. nbgrader has the columns of `nbgrader export`, and Canvas
# and Moodle those of their imports.
_COLUMNS: dict[str, dict[str, str]] = {
    "csv": {"name": "name", "email": "email", "id": "id", "login": "login", "section": "section",
            "*": "*", "": "score", "late": "late", "happened": "happened"},
    "canvas": {"Student": "name", "ID": "id", "SIS User ID": "none", "SIS Login ID": "login", "Section": "section",
               "": "score"},
    "moodle": {"Full name": "name", "ID number": "id", "Email address": "email", "": "score",
               "Feedback comments": "happened"},
    "nbgrader": {"assignment": "assignment", "duedate": "due", "timestamp": "time", "student_id": "identity",
                 "last_name": "last", "first_name": "first", "email": "email", "raw_score": "raw",
                 "late_submission_penalty": "penalty", "score": "score", "max_score": "possible"},
}
# fmt: on


def gradebook_text(form: str, rows: Sequence[GradebookRow], points: Points, assignment: str) -> str:
    """Return the gradebook in a format of `--output`, with a row for each student."""
    columns: dict[str, str] = {}
    for head, value in _COLUMNS[form].items():
        columns |= dict(zip(points, points, strict=True)) if head == "*" else {head or assignment: value}
    values = [_values(row, points, assignment) for row in rows]
    students = [[student[value] for value in columns.values()] for student in values]
    possible = [["    Points Possible", "", "", "", "", f"{sum(points.values()):g}"]] if form == "canvas" else []
    return _csv(list(columns), *possible, *students)


def _values(row: GradebookRow, points: Points, assignment: str) -> dict[str, str]:
    student, results, submission = row.student, row.mark.results if row.mark else {}, row.submission
    raw, score = row.raw_points(points), row.points(points)
    first, _, last = student.name.rpartition(" ")
    identity = student.login or student.id or student.name
    if submission and submission.layout.startswith("nbgrader"):
        identity = submission.student
    return {
        **{name: str(results[name].outcome) if name in results else "" for name in points},
        "name": student.name, "first": first, "last": last, "email": student.email, "id": student.id,
        "login": student.login, "section": student.section, "identity": identity, "assignment": assignment,
        "score": f"{score:g}", "raw": f"{raw:g}", "penalty": f"{round(raw - score, 2):g}",
        "possible": f"{sum(points.values()):g}", "due": _utc(row.due),
        "time": _utc(submission.time if submission else None),
        "late": "late" if row.late else "", "happened": "; ".join(row.happened), "none": "",
    }  # fmt: skip


def _utc(moment: datetime | None) -> str:
    """Return a time as nbgrader writes it: in UTC, without an offset."""
    return str(moment.astimezone(UTC).replace(tzinfo=None)) if moment else ""


def _csv(*rows: Sequence[str]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([escape_formula(cell) for cell in row] for row in rows)
    return text.getvalue()


_SIGNS = {"correct": "+", "not yet": "-", "not tried": "."}


def table(marks: list[SubmissionResult]) -> str:
    """Return the result table, with a row for each student, a column for each exercise, sums and a legend."""
    names = [name for name in DEFINITIONS if any(name in mark.results for mark in marks)]
    students = [terminal_text(mark.student) for mark in marks]
    width = max(len("student"), *map(len, students))
    heads = [f"{number:>3}" for number in range(1, len(names) + 1)]
    lines = [" ".join([f"{'student':{width}}", *heads, "sum"])]
    for student, mark in zip(students, marks, strict=True):
        signs = [f"{_SIGNS[str(mark.results[name].outcome)] if name in mark.results else '':>3}" for name in names]
        lines.append(" ".join([f"{student:{width}}", *signs, f"{mark.solved:>3}"]))
    by_all = [f"{sum(name in mark.results and mark.results[name].solved for mark in marks):>3}" for name in names]
    lines.append(" ".join([f"{'solved by':{width}}", *by_all, f"{sum(mark.solved for mark in marks):>3}"]))
    legend = "   ".join(f"{sign} {word}" for word, sign in _SIGNS.items())
    exercises = [f"{number:>3} {name}" for number, name in enumerate(names, start=1)]
    remarks = [(mark.student, remark) for mark in marks for remark in (*mark.remarks, *mark.notes, *mark.errors)]
    lines += ["", legend, *exercises, *([""] if remarks else [])]
    lines += [terminal_text(f"{student}: {remark}") for student, remark in remarks]
    return "\n".join(lines) + "\n\n"


def csv_text(marks: list[SubmissionResult]) -> str:
    """Return the table as CSV, with a last column that says what happened to the notebooks."""
    names = [name for name in DEFINITIONS if any(name in mark.results for mark in marks)]
    return _csv(["student", *names, "solved", "happened"], *([
        mark.student, *(str(mark.results[name].outcome) if name in mark.results else "" for name in names),
        str(mark.solved), "; ".join(map(escape_formula, mark.happened)),
    ] for mark in marks))  # fmt: skip


def escape_formula(text: str) -> str:
    """Return the text of a CSV cell, with an apostrophe before a text that a spreadsheet would read as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t") else text


class Gradebook:
    """The options of a gradebook. The constructor raises ValueError for an invalid points file or deadline."""

    def __init__(self, options: argparse.Namespace, roster: Sequence[Student] | None) -> None:
        self._options, self._roster = options, roster
        self._points = read_points(options.points) if options.points else dict.fromkeys(DEFINITIONS, 1.0)
        deadline = parse_deadline(options.deadline) if options.deadline else None
        self._deadline = SubmissionDeadline(deadline, options.late_points / 100)
        self._assignment = options.assignment or archive_stem(options.directory.resolve().name)
        self._assigned: dict[str, Student] = {}
        self._names: dict[str, str] = {}

    def expect(self, handed_in: Sequence[Submission]) -> list[str]:
        """Find the students of the submissions, and return sentences about what does not fit the roster."""
        problems = list[str]()
        if self._roster is not None:
            self._assigned, problems = assign_submissions(self._roster, handed_in, self._options.roster)
        if self._options.pseudonyms:
            names = [student.name for student in self._roster or ()]
            names += [each.student for each in handed_in if each.student not in self._assigned]
            self._names = read_pseudonyms(self._options.pseudonyms, names)
            self._names |= {name: self._names[student.name] for name, student in self._assigned.items()}
        return list(map(self.shown, problems))

    def is_submission_of(self, submission: str, name: str) -> bool:
        """Return whether a name, number, address or login is that of a submission or of its student."""
        student = self._assigned.get(submission)
        return name_key(name) in {name_key(submission), *(student.keys if student else ())}

    def name_of(self, submission: str) -> str:
        """Return the name of the student of a submission, or that of the submission without a roster."""
        return self._assigned[submission].name if submission in self._assigned else submission

    def shown(self, text: str) -> str:
        """Return a text with pseudonyms in place of names, if the options ask for them."""
        for name in sorted(self._names, key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", self._names[name], text)
        return text

    def shown_mark(self, mark: SubmissionResult) -> SubmissionResult:
        """Return a mark with pseudonyms in place of names, if the options ask for them."""
        remarks, errors, notes = (tuple(map(self.shown, texts)) for texts in (mark.remarks, mark.errors, mark.notes))
        return replace(mark, student=self.shown(mark.student), remarks=remarks, errors=errors, notes=notes)

    def _shown_row(self, row: GradebookRow) -> GradebookRow:
        student = replace(row.student, name=self.shown(row.student.name))
        return replace(row, student=student, mark=row.mark and self.shown_mark(row.mark))

    def write(
        self, marks: Sequence[SubmissionResult], handed_in: Sequence[Submission], notes: dict[str, list[str]]
    ) -> None:
        """Write the gradebook, the page of the class with notes by their headings, and the feedback pages."""
        names = {name for mark in marks for name in mark.results}
        points = {name: worth for name, worth in self._points.items() if name in names}
        rows = gradebook(self._roster, marks, handed_in, self._assigned, self._deadline)
        for row in rows:
            if row.late:
                sys.stdout.write(terminal_text(f"{self.shown(row.student.name)}: {row.late}") + "\n")
        noticed = {heading: list(map(self.shown, sentences)) for heading, sentences in notes.items()}
        page = class_page(list(map(self._shown_row, rows)), points, self._assignment, noticed)
        if self._options.class_page:
            write_report(self._options.class_page, page, overwrite=self._options.overwrite)
        if self._options.output:
            form = self._options.format
            text = page if form == "html" else gradebook_text(form, rows, points, self._assignment)
            write_report(self._options.output, text, overwrite=self._options.overwrite)
        if self._options.feedback:
            self._options.feedback.mkdir(parents=True, exist_ok=True)
            for row in rows:
                path = self._options.feedback / f"{_feedback_name(row)}.html"
                write_report(path, feedback_page(row, points, self._assignment), overwrite=False)


def _feedback_name(row: GradebookRow) -> str:
    """Return the name of a feedback file, which Canvas and Moodle take back if the submission comes from there."""
    if row.submission and row.submission.feedback:
        return f"{row.submission.feedback}feedback"
    if row.student.participant:
        return f"{_file_name(row.student.name)}_{row.student.participant}_assignsubmission_file_feedback"
    return _file_name(row.student.name)


def _file_name(name: str) -> str:
    """Return a name that is safe on every system. `write_report` gives two students of one name two files."""
    return "".join(letter if letter.isalnum() or letter in " -_" else "_" for letter in name).strip()[:100] or "student"


def read_pseudonyms(path: Path, names: Iterable[str]) -> dict[str, str]:
    """Read the pseudonyms by name from a CSV file with the columns student and pseudonym, and add those that it lacks.

    The file, which only its owner can read, keeps its rows, so a student has the same pseudonym in the next lesson.
    Raises ValueError for another file.
    """
    rows = [row for _, row in read_rows(path)] if path.exists() else []
    if not all(row.keys() == {"student", "pseudonym"} and all(row.values()) for row in rows):
        raise ValueError(f"{path} must be a CSV file with the columns student and pseudonym")
    known = {row["student"]: row["pseudonym"] for row in rows}
    new = [name for name in dict.fromkeys(names) if name not in known]
    free = [f"student {number:02}" for number in range(1, len(known) + len(new) + 1)]
    free = [each for each in free if each not in known.values()]
    SystemRandom().shuffle(free)
    if new:
        known |= dict(zip(new, free, strict=False))
        text = io.StringIO(newline="")
        csv.writer(text).writerows([("student", "pseudonym"), *known.items()])
        save_bytes(path, text.getvalue().encode(errors="backslashreplace"), overwrite=True, mode=0o600)
    return known


# -- the pages in HTML: the feedback for a student, and the overview of the class for the teacher


_MAX_MESSAGES = 3
# The parts of a message that differ between students, because their data differ.
_DRAWN = re.compile(r"'[^']*'|\d[\d,.]*")


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
            share = len(failed) / len(tried)
            exercises.append((DEFINITIONS[name].text.title, *map(str, numbers), share, _reasons(failed)))
        names = dict.fromkeys(part.name for each in tried for part in each.parts)
        for part_name in names:
            met = [part.met for each in tried for part in each.parts if part.name == part_name]
            missed, share = met.count(False), met.count(False) / len(met)
            parts.append((share, (part_name, str(missed), str(len(met)), share, DEFINITIONS[name].text.title)))
    parts.sort(key=lambda part: -part[0])
    possible = f"{sum(points.values()):g}"
    students = [(row.student.name, f"{row.points(points):g}", possible, list(row.happened)) for row in rows]
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
    template = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    return Template(template).substitute(title=escape(title), body=body)


# -- students with the same code


_MIN_LINES = 4
_MIN_SHARE = 0.8
_MAX_HOLDERS = 0.15


def similar_notebooks(contents: Sequence[SubmissionContent], name_of: Callable[[str], str] = str) -> list[str]:
    """Return sentences about students with the same code, and about pairs who share most of their own lines of code.

    The own lines of a student are those that the course's notebooks do not have. Of these, a pair shares lines that at
    most 15 % of the class have, or two students of a small class, so that an answer that everybody finds does not
    count. They are compared without the names of variables, comments and spaces. It is a reason to talk with the
    students, and no proof. `name_of` returns the name of the student of a submission.
    """
    notebooks = sorted((notebooks_folder() / "exercises").glob("*.ipynb"))
    course = set(_lines(cell for path in notebooks for cell in exercise_cells(path.read_bytes())))
    cells = {each.student: tuple(cell.strip() for book in each.notebooks for cell in book.cells) for each in contents}
    own = {student: set(_lines(code)) - course for student, code in cells.items()}
    holders = Counter(line for lines in own.values() for line in lines)
    most = max(2, int(_MAX_HOLDERS * len(own)))
    same: dict[tuple[str, ...], list[str]] = {}
    for student, code in cells.items():
        if own[student]:
            same.setdefault(code, []).append(student)
    groups = [list(map(name_of, students)) for students in same.values() if len(students) > 1]
    sentences = [f"{', '.join(group[:-1])} and {group[-1]} have the same code" for group in groups]
    for one, other in combinations([students[0] for students in same.values()], 2):
        rare, others = ({line for line in own[each] if holders[line] <= most} for each in (one, other))
        common, fewer = len(rare & others), min(len(rare), len(others))
        if common >= _MIN_LINES and common >= _MIN_SHARE * fewer:
            pair = f"{name_of(one)} and {name_of(other)}"
            sentences.append(f"{pair} have {common} of {fewer} lines of their own in common")
    return sentences


def _lines(cells: Iterable[str]) -> Iterator[str]:
    for cell in cells:
        try:
            tree = ast.parse(cell)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            yield from map(str.strip, cell.splitlines())
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                node.id = "_"
            elif isinstance(node, ast.arg):
                node.arg = "_"
        yield from map(str.strip, ast.unparse(tree).splitlines())


# -- the results as JSON, which are written after each submission, and read for --resume


class SavedMarks:
    """The JSON file of a run, which is replaced after each submission. A path of None saves nothing.

    An existing file is replaced only with `overwrite`. If another program changes the file during the run, the marks
    are written to a free name in the same folder.
    """

    def __init__(self, path: Path | None, seed: str, *, overwrite: bool) -> None:
        self._path, self._seed, self._overwrite = path, seed, overwrite
        self._written: str | None = None

    def save(self, marks: Iterable[SubmissionResult], *, complete: bool) -> None:
        """Write the marks. A device, such as /dev/stdout, receives only the complete marks."""
        existing_file = existing(self._path) if self._path else None
        if self._path is None or (existing_file and existing_file.kind == DEVICE and not complete):
            return
        report = {"seed": self._seed, "complete": complete, "submissions": [_record(mark) for mark in marks]}
        text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
        overwrite = self._overwrite if self._written is None else self._is_unchanged(self._path)
        self._path = write_report(self._path, text, overwrite=overwrite)
        self._written = text

    def _is_unchanged(self, path: Path) -> bool:
        try:
            return path.read_text(encoding="utf-8") == self._written
        except (OSError, ValueError):
            return False


def read_marks(path: Path) -> tuple[str, dict[str, SubmissionResult]]:
    """Read the file of an earlier run, and return its seed and its results by student.

    Results for other exercises than those of this version are left out. Raises ValueError for any other file.
    """
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        marks = [_result(record) for record in report["submissions"]]
        return str(report["seed"]), {mark.student: mark for mark in marks if mark.results.keys() == DEFINITIONS.keys()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ValueError(f"{path} cannot be read as the JSON file of an earlier run of this command") from None


def _record(mark: SubmissionResult) -> dict[str, object]:
    return {
        "student": mark.student,
        "solved": mark.solved,
        "happened": list(mark.happened),
        "exercises": {
            name: {"outcome": str(result.outcome), "saw": result.message, "parts": result.to_json()["parts"]}
            for name, result in mark.results.items()
        },
        "remarks": list(mark.remarks),
        "errors": list(mark.errors),
        "notes": list(mark.notes),
        "isolation": mark.isolation,
        "sha256": mark.digest,
    }


def _result(record: dict[str, Any]) -> SubmissionResult:
    from ...course.grading import SubmissionResult

    results = {
        str(name): Verdict.from_json({**verdict, "message": verdict["saw"], "parts": verdict.get("parts", ())})
        for name, verdict in record["exercises"].items()
    }
    remarks, errors, notes = (tuple(map(str, record.get(key, ()))) for key in ("remarks", "errors", "notes"))
    digest, isolation = str(record["sha256"]), str(record.get("isolation", ""))
    return SubmissionResult(str(record["student"]), results, remarks, errors, digest, notes, isolation)
