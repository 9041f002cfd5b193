"""Tests of the roster, the points and the formats of a gradebook."""

import csv
import io
import os
from datetime import datetime
from pathlib import Path

import pytest

from svc_notebooks.cli import main
from svc_notebooks.cli.marks.gradebook import feedback_page, gradebook_text
from svc_notebooks.cli.marks.roster import (
    GradebookRow,
    Student,
    SubmissionDeadline,
    gradebook,
    parse_deadline,
    read_points,
    read_roster,
)
from svc_notebooks.course import grading
from svc_notebooks.course.catalogue import DEFINITIONS
from svc_notebooks.course.definition import ExerciseOutcome, Verdict
from svc_notebooks.course.grading import SubmissionResult
from svc_notebooks.course.submissions import Submission, submissions

POINTS = {name: 2.0 if name == "expired-session" else 0.5 for name in DEFINITIONS}
POSSIBLE = f"{2 + (len(DEFINITIONS) - 1) / 2:g}"


def mark(student: str, *solved: str, errors: tuple[str, ...] = ()) -> SubmissionResult:
    results = {
        name: Verdict(ExerciseOutcome.CORRECT if name in solved else ExerciseOutcome.NOT_YET, f"<saw> {name}")
        for name in DEFINITIONS
    }
    return SubmissionResult(student, results, (), errors)


ROWS = [
    GradebookRow(
        Student("Ada Lovelace", "ada@svc.example", "71", "ada"),
        mark("ada", "expired-session", "too-often", errors=("e1.ipynb raised <x>",)),
    ),
    GradebookRow(Student("=Bob", "bob@svc.example", "72"), None),
]


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


class TestRoster:
    """Which submission belongs to which student."""

    ROSTER = (
        Student("Ada Lovelace", "ada.l@svc.example", "71"),
        Student("Bob Adams", login="bob7"),
        Student("Eve Smith"),
    )

    @pytest.mark.parametrize(
        "submission, number, student",
        [
            ("lovelaceada", "", "Ada Lovelace"),
            ("Lovelace, Ada", "", "Ada Lovelace"),
            ("ada.l", "", "Ada Lovelace"),
            ("somebody", "71", "Ada Lovelace"),
            ("BOB7", "", "Bob Adams"),
            ("Eve  Smith", "999", "Eve Smith"),
        ],
    )
    def test_a_submission_is_found_by_name_address_login_or_number(self, submission: str, number: str, student: str):
        rows, unknown = gradebook(self.ROSTER, [mark(submission)], [Submission(submission, (), number)])

        assert [row.student.name for row in rows if row.mark] == [student]
        assert unknown == []

    def test_strangers_and_second_submissions_are_named_and_students_without_one_stay_in_the_table(self):
        marks = [mark("ada.l"), mark("lovelaceada"), mark("zoe")]

        rows, unknown = gradebook(self.ROSTER, marks, [])

        assert [row.mark for row in rows] == [marks[0], None, None]
        assert unknown == ["lovelaceada", "zoe"]

    def test_a_name_that_two_students_have_belongs_to_neither(self):
        twins = [Student("Ada Lovelace", id="1"), Student("Ada Lovelace", id="2")]

        assert gradebook(twins, [mark("Ada Lovelace")], [])[1] == ["Ada Lovelace"]

    def test_reads_a_spreadsheet_of_excel(self, tmp_path: Path):
        (tmp_path / "roster.csv").write_bytes("Name, E-Mail,Email\r\nÜnal,x,u@svc.example\r\n".encode("utf-8-sig"))

        assert read_roster(tmp_path / "roster.csv") == [Student("Ünal", "u@svc.example")]

    @pytest.mark.parametrize("text", ["", "student\nada\n", "name,email\n,x\n"])
    def test_a_roster_without_names_is_refused(self, tmp_path: Path, text: str):
        (tmp_path / "roster.csv").write_text(text)

        with pytest.raises(ValueError, match=r"roster\.csv"):
            read_roster(tmp_path / "roster.csv")

    @pytest.mark.parametrize("line", ["no-such-exercise,1", "too-often,many", "too-often,-1", "too-often,nan"])
    def test_unknown_exercises_and_points_that_are_no_number_are_refused(self, tmp_path: Path, line: str):
        (tmp_path / "points.csv").write_text(f"exercise,points\n{line}\n")

        with pytest.raises(ValueError, match=r"points\.csv"):
            read_points(tmp_path / "points.csv")


class TestDeadlines:
    """Late submissions are named, and keep a share of their points."""

    ROSTER = (Student("Ada"), Student("Bob", deadline="2026-12-02 12:00"), Student("Eve"))
    MARKS = tuple(mark(name, "expired-session") for name in ("ada", "bob", "eve"))

    def rows(self, hour: int, *, deadline: str | None = "2026-11-30", late: bool = False) -> list[GradebookRow]:
        modified = datetime(2026, 12, 1, hour).astimezone()
        handed_in = [Submission(name, (), late=late, modified=modified) for name in ("ada", "bob")]
        rule = SubmissionDeadline(parse_deadline(deadline) if deadline else None, 0.5)
        return gradebook(self.ROSTER, self.MARKS, handed_in, rule)[0]

    def test_a_late_submission_keeps_its_share_and_is_named(self):
        ada, _, _ = self.rows(0)

        assert ada.late.startswith(
            "was handed in late: 2026-12-01 00:00, after 2026-11-30 23:59; late submissions keep 50%"
        )
        assert ada.points(POINTS) == 1.0
        assert ada.late in feedback_page(ada, POINTS, "Uploads")

    def test_the_deadline_of_a_student_replaces_that_of_the_class(self):
        assert [bool(row.late) for row in self.rows(5)] == [True, False, False]

    def test_the_mark_of_canvas_counts_unless_the_student_has_a_deadline(self):
        ada, bob, eve = self.rows(5, deadline=None, late=True)

        assert ada.late.startswith("was handed in late, as Canvas says")
        assert (bob.late, eve.late, bob.points(POINTS)) == ("", "", 2.0)

    @pytest.mark.parametrize(
        "text, expected",
        [
            ("2026-11-30", "2026-11-30 23:59"),
            ("2026-11-30 18:00", "2026-11-30 18:00"),
            ("2026-11-30T18", "2026-11-30 18:00"),
        ],
    )
    def test_a_date_is_the_end_of_its_day(self, text: str, expected: str):
        assert f"{parse_deadline(text):%Y-%m-%d %H:%M}" == expected
        assert parse_deadline(text).tzinfo

    def test_a_time_that_is_none_is_refused_with_its_line(self, tmp_path: Path):
        (tmp_path / "roster.csv").write_text("name,deadline\nAda,\nBob,soon\n")

        with pytest.raises(ValueError, match=r"roster\.csv, line 3: 'soon' is not a time"):
            read_roster(tmp_path / "roster.csv")

    def test_the_times_of_files_and_the_mark_of_canvas_are_read(self, tmp_path: Path):
        for name in ("smitheve_LATE_202_9002_e1.ipynb", "ada.ipynb"):
            (tmp_path / name).write_text("{}")
            os.utime(tmp_path / name, (1_800_000_000, 1_800_000_000))

        ada, eve = submissions(tmp_path)

        assert (ada.late, eve.late) == (False, True)
        assert ada.modified.timestamp() == 1_800_000_000


WORKSHEET = """\ufeffIdentifier,"Full name","ID number","Email address",Status,Grade,"Maximum grade",\
"Grade can be changed","Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 4711","Ada Lovelace",A1,ada@svc.example,"Submitted for grading - ",,10.00,Yes,\
"Tuesday, 1 December 2026, 12:05 AM",-,
"Participant 4712","Bob Adams",,bob@svc.example,"Submitted for grading - ",,10.00,Yes,\
"Monday, November 30, 2026, 11:55 PM",-,
"Participant 4713","Bob Adams",,bob2@svc.example,"No submission - ",,10.00,Yes,-,-,
"""


class TestMoodleWorksheet:
    """The grading worksheet of Moodle is a roster with the times of the submissions."""

    @pytest.fixture
    def roster(self, tmp_path: Path) -> list[Student]:
        (tmp_path / "grades.csv").write_text(WORKSHEET, encoding="utf-8")
        return read_roster(tmp_path / "grades.csv")

    def test_its_columns_are_those_of_a_roster(self, roster: list[Student]):
        assert roster[0].name == "Ada Lovelace"
        assert (roster[0].email, roster[0].id, roster[0].participant) == ("ada@svc.example", "A1", "4711")
        assert [student.submission_time for student in roster] == [
            datetime(2026, 12, 1, 0, 5).astimezone(), datetime(2026, 11, 30, 23, 55).astimezone(), None,
        ]  # fmt: skip

    def test_the_folders_of_the_download_belong_to_the_participants(self, tmp_path: Path, roster: list[Student]):
        for name in ("Ada Lovelace_4711", "Bob Adams_4712", "Bob Adams_4713"):
            (tmp_path / "class" / f"{name}_assignsubmission_file_").mkdir(parents=True)
        handed_in = submissions(tmp_path / "class")

        rows, unknown = gradebook(roster, [mark(each.student) for each in handed_in], handed_in)

        assert [row.mark.student if row.mark else None for row in rows] == [
            "Ada Lovelace", "Bob Adams (4712)", "Bob Adams (4713)",
        ]  # fmt: skip
        assert unknown == []

    def test_the_time_of_the_worksheet_replaces_that_of_the_files(self, roster: list[Student]):
        early = datetime(2026, 11, 1).astimezone()
        handed_in = [Submission(student.name, (), student.participant, modified=early) for student in roster[:2]]
        rule = SubmissionDeadline(parse_deadline("2026-11-30"))

        ada, bob, _ = gradebook(roster, [mark("Ada Lovelace"), mark("Bob Adams")], handed_in, rule)[0]

        assert ada.late == "was handed in late: 2026-12-01 00:05, after 2026-11-30 23:59"
        assert bob.late == ""

    def test_a_time_in_another_language_is_refused_with_its_line(self, tmp_path: Path):
        (tmp_path / "grades.csv").write_text(
            WORKSHEET.replace("Tuesday, 1 December", "mardi 1 décembre"), encoding="utf-8"
        )

        with pytest.raises(ValueError, match=r"grades\.csv, line 2: 'mardi .* is not a time"):
            read_roster(tmp_path / "grades.csv")


class TestFormats:
    """What the systems of a school import."""

    def test_csv_has_the_roster_the_outcomes_and_the_points(self):
        ada, bob = table(gradebook_text("csv", ROWS, POINTS, "Uploads"))

        assert (ada["email"], ada["expired-session"], ada["Uploads"]) == ("ada@svc.example", "correct", "2.5")
        assert (bob["name"], bob["Uploads"], bob["happened"]) == ("'=Bob", "0", "nothing was handed in")

    def test_canvas_has_its_columns_and_the_points_possible(self):
        possible, ada, bob = table(gradebook_text("canvas", ROWS, POINTS, "Uploads"))

        assert list(ada) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Uploads"]
        assert (possible["Student"].strip(), possible["Uploads"]) == ("Points Possible", POSSIBLE)
        assert (ada["ID"], ada["SIS Login ID"], ada["Uploads"]) == ("71", "ada", "2.5")
        assert (bob["Student"], bob["Uploads"]) == ("'=Bob", "0")

    def test_moodle_has_the_address_the_points_and_the_feedback(self):
        ada, bob = table(gradebook_text("moodle", ROWS, POINTS, "Uploads"))

        assert (ada["Email address"], ada["Uploads"]) == ("ada@svc.example", "2.5")
        assert ada["Feedback comments"] == "e1.ipynb raised <x>"
        assert bob["Feedback comments"] == "nothing was handed in"

    def test_nbgrader_has_the_score_and_the_largest_score(self):
        ada, _ = table(gradebook_text("nbgrader", ROWS, POINTS, "Uploads"))

        assert (ada["student_id"], ada["last_name"], ada["score"], ada["max_score"]) == (
            "ada",
            "Lovelace",
            "2.5",
            POSSIBLE,
        )

    def test_pages_show_text_of_students_as_text(self):
        page = feedback_page(ROWS[0], POINTS, "<i>")

        assert "&lt;saw&gt; expired-session" in page
        assert "e1.ipynb raised &lt;x&gt;" in page
        assert f"2.5 of {POSSIBLE} points" in page
        assert "<i>" not in page + gradebook_text("html", ROWS, POINTS, "<i>")


def test_the_command_writes_gradebook_and_feedback_and_replaces_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "ada.ipynb").write_text("{}")
    (tmp_path / "roster.csv").write_text("name,email\nAda,ada@svc.example\nBob/../x,b@svc.example\n")
    (tmp_path / "points.csv").write_text("exercise,points\nexpired-session,3\n")
    monkeypatch.setattr(grading, "grade", lambda *_, **__: [mark("ada", "expired-session", "too-often"), mark("zoe")])
    files = {"--roster": "roster.csv", "--points": "points.csv", "--output": "out.csv", "--feedback": "pages"}
    arguments = [text for option, name in files.items() for text in (option, str(tmp_path / name))]

    assert main(["grade", str(tmp_path / "class"), "--format", "moodle", *arguments]) == 0
    assert "zoe is not in" in capsys.readouterr().err
    assert table((tmp_path / "out.csv").read_text())[0]["class"] == "3"
    assert {path.name for path in (tmp_path / "pages").iterdir()} == {"Ada.html", "Bob____x.html"}
    assert main(["grade", str(tmp_path / "class"), *arguments]) == 2
    assert "out.csv exists" in capsys.readouterr().err
