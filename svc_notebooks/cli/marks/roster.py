"""Reads the roster of a class and the points of exercises, and finds the student of each submission."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, time
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import normalize

if TYPE_CHECKING:
    from ...course.definition import Verdict
    from ...course.grading import SubmissionResult
    from ...course.submissions import Submission


# The formats of times in Moodle's grading worksheet, with Moodle in English or in US English.
_MOODLE_TIMES = ("%A, %d %B %Y, %I:%M %p", "%A, %B %d, %Y, %I:%M %p", "%A, %d %B %Y, %H:%M")

_DATE_LENGTH = len("2026-11-30")


@dataclass(frozen=True, slots=True)
class SubmissionDeadline:
    """The deadline of a class, None for no deadline, and the share of the points that a late submission keeps."""

    time: datetime | None = None
    late_share: float = 1.0

    def lateness(self, submission: Submission, own: datetime | None, submitted: datetime | None = None) -> str:
        """Return a sentence about a late submission, or "" for one in time. `own` is the student's own deadline.

        `submitted` is the time in Moodle's worksheet, None for that of the submission.
        Canvas marks late submissions in the names of files. This mark counts unless the student has an own deadline.
        """
        deadline = own or self.time
        kept = "" if self.late_share == 1 else f"; late submissions keep {self.late_share:.0%} of the points"
        if submission.late and own is None:
            return f"was handed in late, as Canvas says{kept}"
        moment = submitted or submission.time
        if deadline is None or moment is None or moment <= deadline:
            return ""
        return f"was handed in late: {moment:%Y-%m-%d %H:%M}, after {deadline:%Y-%m-%d %H:%M}{kept}"


def parse_deadline(text: str) -> datetime:
    """Return a time as an aware datetime. A time without an offset is local, and a date is the end of this day.

    Raises ValueError for another text.

    >>> parse_deadline("2026-11-30T23:59+01:00").isoformat()
    '2026-11-30T23:59:00+01:00'
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is not a time such as 2026-11-30 or 2026-11-30T18:00+01:00") from None
    if len(text.strip()) <= _DATE_LENGTH:
        moment = datetime.combine(moment.date(), time(23, 59, 59))
    return moment if moment.tzinfo else moment.astimezone()


def parse_moodle_time(text: str) -> datetime | None:
    """Return a time of Moodle's grading worksheet as an aware datetime in local time, or None for "-" and "".

    Raises ValueError for another text, such as a time in another language than English.

    >>> parse_moodle_time("Wednesday, 10 June 2026, 2:14 PM").replace(tzinfo=None).isoformat()
    '2026-06-10T14:14:00'
    """
    if text in ("", "-"):
        return None
    for form in _MOODLE_TIMES:
        with suppress(ValueError):
            return datetime.strptime(text, form).astimezone()
    raise ValueError(
        f"{text!r} in the column Last modified (submission) is not a time such as 'Wednesday, 10 June 2026, 2:14 PM';"
        " download the worksheet with Moodle in English, or delete the column"
    )


_COLUMNS = ("name", "email", "id", "login", "section")
_DIGITS = 2
_ALIASES = {
    "e-mail": "email",
    # Moodle's grading worksheet
    "full name": "name",
    "email address": "email",
    "id number": "id",
    "identifier": "participant",
    "last modified (submission)": "submitted",
}


@dataclass(frozen=True, slots=True)
class Student:
    """A student of the roster. The columns that the roster does not have are "" or None.

    `deadline` is the student's own one, or None for that of the class. `participant` is the student's number in the
    names of Moodle's download, and `submitted` the time in its worksheet.
    """

    name: str
    email: str = ""
    id: str = ""
    login: str = ""
    section: str = ""
    participant: str = ""
    deadline: datetime | None = None
    submitted: datetime | None = None

    @property
    def keys(self) -> set[str]:
        """The texts by which a submission names this student, in lower case and without spaces and punctuation."""
        words = self.name.replace(",", " ").split()
        names = [" ".join(words), " ".join([*words[1:], *words[:1]]), " ".join([*words[-1:], *words[:-1]])]
        identifiers = (self.email, self.email.partition("@")[0], self.id, self.login, self.participant)
        return {name_key(text) for text in (*names, *identifiers)} - {""}


def earned(result: Verdict) -> float:
    """Return the share of the points of an exercise that a result has, from 0 to 1, by the parts of its check."""
    return result.points / result.max_points if result.max_points else float(result.solved)


@dataclass(frozen=True, slots=True)
class GradebookRow:
    """A student with a mark, which is None if the student has handed in nothing.

    `late` is a sentence about a late submission, and "" for one in time. `share` of the points counts.
    """

    student: Student
    mark: SubmissionResult | None
    late: str = ""
    share: float = 1.0
    submission: Submission | None = None
    due: datetime | None = None

    def raw_points(self, points: Mapping[str, float]) -> float:
        """Return the points of the exercises and of their parts, without the penalty of a late submission."""
        results = self.mark.results.items() if self.mark else ()
        return round(sum(points.get(name, 0.0) * earned(result) for name, result in results), _DIGITS)

    def points(self, points: Mapping[str, float]) -> float:
        """Return the points that count."""
        return round(self.share * self.raw_points(points), _DIGITS)

    @property
    def happened(self) -> tuple[str, ...]:
        """What happened to the submission, in sentences."""
        if not self.mark:
            return ("nothing was handed in",)
        return (*([self.late] if self.late else []), *self.mark.happened)


def read_roster(path: Path) -> list[Student]:
    """Read a CSV file with the column `name` and other columns, or a grading worksheet of Moodle.

    Raises ValueError for a file that has no names, and for a text that is not a time.
    """
    rows = read_rows(path)
    if not rows or not all(row.get("name") for _, row in rows):
        others = ", ".join((*_COLUMNS[1:], "deadline"))
        raise ValueError(f"{path} must be a CSV file with the column name, and may have {others}")
    students = []
    for line, row in rows:
        if row.get("role", "").casefold() == "teacher":  # the roster of serve --class has teachers
            continue
        texts = {column: row.get(column, "") for column in _COLUMNS}
        try:
            deadline = parse_deadline(row["deadline"]) if row.get("deadline") else None
            submitted = parse_moodle_time(row.get("submitted", ""))
        except ValueError as error:
            raise ValueError(f"{path}, line {line}: {error}") from None
        participant = row.get("participant", "").removeprefix("Participant ")
        students.append(Student(**texts, participant=participant, deadline=deadline, submitted=submitted))
    return students


def read_points(path: Path) -> dict[str, float]:
    """Read a CSV file with the columns `exercise` and `points`. Exercises that it does not name have no points.

    Raises ValueError for an unknown exercise and for points that are not a number from 0 on.
    """
    from ...course.catalogue import DEFINITIONS  # not at the top of the module: it takes long to import

    points = dict.fromkeys(DEFINITIONS, 0.0)
    for _, row in read_rows(path):
        name, text = row.get("exercise", ""), row.get("points", "")
        if name not in DEFINITIONS:
            raise ValueError(f"{path}: there is no exercise {name!r}; the columns are exercise and points")
        if not text.replace(".", "", 1).isdecimal():
            raise ValueError(f"{path}: the points of {name} must be a number such as 2 or 0.5, not {text!r}")
        points[name] = float(text)
    return points


def assign_submissions(
    roster: Sequence[Student], handed_in: Iterable[Submission], path: Path
) -> tuple[dict[str, Student], list[str]]:
    """Return the student of each submission by its name, and sentences about what does not fit the roster at `path`.

    A submission is that of the student whose name, number, address or login is its name. The first one counts.
    """
    counts = Counter(key for student in roster for key in student.keys)
    by_key = {key: student for student in roster for key in student.keys if counts[key] == 1}
    assigned: dict[str, Student] = {}
    first: dict[Student, str] = {}
    problems = []
    for submission in handed_in:
        name = submission.student
        keys = [name_key(submission.number), name_key(name), name_key(name.removesuffix(f" ({submission.number})"))]
        if submission.layout == "Moodle":  # whose names begin with that of the group, if the teacher has selected one
            keys.append(name_key(name.partition("-")[2]))
        student = next((by_key[key] for key in keys if key in by_key), None)
        if student is None and any(counts[key] > 1 for key in keys):
            twins = ", ".join(_facts(each) for each in roster if each.keys.intersection(keys))
            problems.append(f"{name} fits two students of {path}: {twins}; name it by an id, a login or an address")
        elif student is None:
            close = get_close_matches(name_key(name), by_key, 1)
            near = f"; the nearest name is {by_key[close[0]].name}" if close else ""
            problems.append(f"{name} is not in {path}{near}")
        elif student in first:
            both = f"{first[student]} and {name}"
            problems.append(f"{student.name} has handed in twice, as {both}; {name} does not count")
        else:
            first[student], assigned[name] = name, student
    missing = [student.name for student in roster if student not in first]
    return assigned, [*problems, *([f"nothing was handed in by {', '.join(missing)}"] if missing else [])]


def _facts(student: Student) -> str:
    return f"{student.name} ({student.id or student.login or student.email or student.participant or 'no id'})"


def gradebook(
    roster: Sequence[Student] | None,
    marks: Sequence[SubmissionResult],
    handed_in: Iterable[Submission],
    assigned: Mapping[str, Student],
    deadline: SubmissionDeadline = SubmissionDeadline(),
) -> list[GradebookRow]:
    """Return a row for each student of the roster. None is a roster with a student for each submission.

    `assigned` are the students by the names of submissions, from `assign_submissions`.
    """
    by_name = {submission.student: submission for submission in handed_in}

    def row(student: Student, mark: SubmissionResult | None) -> GradebookRow:
        submission, own = by_name.get(mark.student) if mark else None, student.deadline
        late = deadline.lateness(submission, own, student.submitted) if submission else ""
        return GradebookRow(student, mark, late, deadline.late_share if late else 1.0, submission, own or deadline.time)

    if roster is None:
        numbers = {name: submission.number for name, submission in by_name.items()}
        return [row(Student(mark.student, id=numbers.get(mark.student, "")), mark) for mark in marks]
    mark_of = {assigned[mark.student]: mark for mark in marks if mark.student in assigned}
    return [row(student, mark_of.get(student)) for student in roster]


def name_key(text: str) -> str:
    """Return a text in lower case and without spaces and punctuation, by which names are compared.

    >>> name_key("Zoe\u0301 O'Neil")  # a file name of macOS, where the accent is a character of its own
    'zoéoneil'
    """
    return "".join(filter(str.isalnum, normalize("NFC", text).casefold()))


def read_rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Read a CSV file in UTF-8, and return the line number and the columns of each row that is not empty.

    The separator is a comma or a semicolon. The names of the columns are in lower case. Raises ValueError if the file
    cannot be read, and names the line that is not UTF-8.
    """
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}, line {line}: the text is not UTF-8; save the file as CSV in UTF-8") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None
    head = text.partition("\n")[0]
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=";" if head.count(";") > head.count(",") else ",")
    rows = []
    try:
        for row in reader:
            columns = {str(name).strip().casefold(): str(value or "").strip() for name, value in row.items()}
            columns = {_ALIASES.get(name, name): value for name, value in columns.items()}
            if any(columns.values()):
                rows.append((reader.line_num, columns))
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: {error}") from None
    return rows
