import csv
import io
import json
import os
import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from svc_notebooks.cli import main
from svc_notebooks.cli.marks.gradebook import (
    class_page,
    feedback_page,
    gradebook_text,
    read_pseudonyms,
    similar_notebooks,
)
from svc_notebooks.cli.marks.roster import (
    GradebookRow,
    Student,
    SubmissionDeadline,
    assign_submissions,
    gradebook,
    parse_deadline,
    read_points,
    read_roster,
)
from svc_notebooks.cli.notebook_files import notebooks_folder
from svc_notebooks.course import grading
from svc_notebooks.course.catalogue import DEFINITIONS
from svc_notebooks.course.definition import ExerciseOutcome, PartResult, Verdict
from svc_notebooks.course.grading import SubmissionResult
from svc_notebooks.course.submissions import NotebookContent, Submission, SubmissionContent, exercise_cells, submissions

POINTS = {name: 2.0 if name == "expired-session" else 0.5 for name in DEFINITIONS}
POSSIBLE = f"{2 + (len(DEFINITIONS) - 1) / 2:g}"


def mark(student: str, *solved: str, errors: tuple[str, ...] = ()) -> SubmissionResult:
    correct, not_yet = ExerciseOutcome.CORRECT, ExerciseOutcome.NOT_YET
    verdicts = {name: Verdict(correct if name in solved else not_yet, f"<saw> {name}") for name in DEFINITIONS}
    return SubmissionResult(student, verdicts, (), errors)


HANDED_IN = Submission("ada", {}, time=datetime(2026, 12, 1, 12, tzinfo=UTC))
ROWS = [
    GradebookRow(
        Student("Ada Lovelace", "ada@svc.example", "71", "ada"),
        mark("ada", "expired-session", "too-often", errors=("e1.ipynb raised <x>",)),
        submission=HANDED_IN,
        due=datetime(2026, 11, 30, 18, tzinfo=UTC),
    ),
    GradebookRow(Student("=Bob", "bob@svc.example", "72"), None),
]


WORKSHEET = """\ufeffIdentifier,"Full name","ID number","Email address",Status,Grade,"Maximum grade",\
"Grade can be changed","Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 4711","Ada Lovelace",A1,ada@svc.example,"Submitted for grading - ",,10.00,Yes,\
"Tuesday, 1 December 2026, 12:05 AM",-,
"Participant 4712","Bob Adams",,bob@svc.example,"Submitted for grading - ",,10.00,Yes,\
"Monday, November 30, 2026, 11:55 PM",-,
"Participant 4713","Bob Adams",,bob2@svc.example,"No submission - ",,10.00,Yes,-,-,
"""


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


class TestRoster:
    ROSTER = (
        Student("Ada Lovelace", "ada.l@svc.example", "71"), Student("Bob Adams", login="bob7"), Student("Eve Smith")
    )  # fmt: skip

    @pytest.mark.parametrize(
        "submission, number, student",
        [
            ("lovelaceada", "", "Ada Lovelace"), ("Lovelace, Ada", "", "Ada Lovelace"), ("ada.l", "", "Ada Lovelace"),
            ("somebody", "71", "Ada Lovelace"), ("BOB7", "", "Bob Adams"), ("Eve  Smith", "999", "Eve Smith"),
            ("Group 7b-Eve Smith", "998", "Eve Smith"),
        ],
    )  # fmt: skip
    def test_a_submission_is_found_by_name_address_login_or_number(self, submission: str, number: str, student: str):
        handed_in = [Submission(submission, {}, number, layout="Moodle")]

        assigned, problems = assign_submissions(self.ROSTER, handed_in, Path("roster.csv"))

        assert [each.name for each in assigned.values()] == [student]
        others = [each.name for each in self.ROSTER if each.name != student]
        assert problems == [f"nothing was handed in by {', '.join(others)}"]

    def test_strangers_and_second_submissions_are_told_apart_with_the_nearest_name(self):
        names = ["ada.l", "lovelaceada", "Evi Smith", "zzz"]

        assigned, problems = assign_submissions(self.ROSTER, [Submission(name, {}) for name in names], Path("r.csv"))

        assert list(assigned) == ["ada.l"]
        assert problems == [
            "Ada Lovelace has handed in twice, as ada.l and lovelaceada; lovelaceada does not count",
            "Evi Smith is not in r.csv; the nearest name is Eve Smith",
            "zzz is not in r.csv",
            "nothing was handed in by Bob Adams, Eve Smith",
        ]
        rows = gradebook(self.ROSTER, [mark("ada.l"), mark("zzz")], [], assigned)
        assert [row.mark and row.mark.student for row in rows] == ["ada.l", None, None]

    def test_a_name_that_two_students_have_belongs_to_neither(self):
        twins = [Student("Ada Lovelace", id="1"), Student("Ada Lovelace", id="2")]

        problem, _ = assign_submissions(twins, [Submission("Ada Lovelace", {})], Path("r.csv"))[1]

        fits = "Ada Lovelace fits two students of r.csv: Ada Lovelace (1), Ada Lovelace (2); name it"
        assert problem.startswith(fits)

    def test_reads_a_spreadsheet_of_excel(self, tmp_path: Path):
        text = "Name, E-Mail,Email,Role\r\nÜnal,x,u@svc.example,\r\nTea,,t@svc.example,Teacher\r\n"
        (tmp_path / "roster.csv").write_bytes(text.encode("utf-8-sig"))

        assert read_roster(tmp_path / "roster.csv") == [Student("Ünal", "u@svc.example")]

    @pytest.mark.parametrize(
        "read, text, message",
        [
            *((read_roster, text, "") for text in ("", "student\nada\n", "name,email\n,x\n")),
            (read_roster, "name,deadline\nAda,\nBob,soon\n", ", line 3: 'soon' is not a time"),
            (read_roster, WORKSHEET.replace("Tuesday, 1 December", "mardi 1 décembre"), ", line 2: 'mardi .* is not a"),
            *((read_points, f"exercise,points\n{line}\n", "")
              for line in ("no-such-exercise,1", "too-often,many", "too-often,-1", "too-often,nan")),
        ],
    )  # fmt: skip
    def test_a_file_that_cannot_be_used_is_refused(self, tmp_path: Path, read: Any, text: str, message: str):
        (tmp_path / "list.csv").write_text(text, encoding="utf-8")

        with pytest.raises(ValueError, match=rf"list\.csv{message}"):
            read(tmp_path / "list.csv")


class TestDeadlines:
    ROSTER = (Student("Ada"), Student("Bob", deadline=parse_deadline("2026-12-02 12:00")), Student("Eve"))
    MARKS = tuple(mark(name, "expired-session") for name in ("ada", "bob", "eve"))

    def rows(self, hour: int, *, deadline: str | None = "2026-11-30", late: bool = False) -> list[GradebookRow]:
        modified = datetime(2026, 12, 1, hour).astimezone()
        handed_in = [Submission(name, {}, late=late, time=modified) for name in ("ada", "bob")]
        rule = SubmissionDeadline(parse_deadline(deadline) if deadline else None, 0.5)
        assigned = dict(zip(("ada", "bob", "eve"), self.ROSTER, strict=True))
        return gradebook(self.ROSTER, self.MARKS, handed_in, assigned, rule)

    def test_a_late_submission_keeps_its_share_and_is_named(self):
        ada, bob, eve = self.rows(0)

        late = "was handed in late: 2026-12-01 00:00, after 2026-11-30 23:59; late submissions keep 50%"
        assert ada.late.startswith(late)
        assert (bob.late, eve.late) == ("", "")  # Bob has a deadline of his own
        assert ada.points(POINTS) == 1.0
        assert ada.late in feedback_page(ada, POINTS, "Uploads")

    def test_the_mark_of_canvas_counts_unless_the_student_has_a_deadline(self):
        ada, bob, eve = self.rows(5, deadline=None, late=True)

        assert ada.late.startswith("was handed in late, as Canvas says")
        assert (bob.late, eve.late, bob.points(POINTS)) == ("", "", 2.0)

    @pytest.mark.parametrize("text, time", [("", "23:59"), (" 18:00", "18:00"), ("T18", "18:00")])
    def test_a_date_is_the_end_of_its_day(self, text: str, time: str):
        deadline = parse_deadline(f"2026-11-30{text}")

        assert f"{deadline:%Y-%m-%d %H:%M}" == f"2026-11-30 {time}"
        assert deadline.tzinfo

    def test_the_times_of_files_and_the_mark_of_canvas_are_read(self, tmp_path: Path):
        for name in ("smitheve_LATE_202_9002_e1.ipynb", "ada.ipynb"):
            (tmp_path / name).write_text("{}")
            os.utime(tmp_path / name, (1_800_000_000, 1_800_000_000))

        ada, eve = submissions(tmp_path)[0]

        assert (ada.late, eve.late) == (False, True)
        assert ada.time == datetime.fromtimestamp(1_800_000_000, UTC)


class TestMoodleWorksheet:
    @pytest.fixture
    def roster(self, tmp_path: Path) -> list[Student]:
        (tmp_path / "grades.csv").write_text(WORKSHEET, encoding="utf-8")
        return read_roster(tmp_path / "grades.csv")

    def test_its_columns_are_those_of_a_roster(self, roster: list[Student]):
        times = [datetime(2026, 12, 1, 0, 5).astimezone(), datetime(2026, 11, 30, 23, 55).astimezone(), None]

        ada = roster[0]
        assert (ada.name, ada.email, ada.id, ada.participant) == ("Ada Lovelace", "ada@svc.example", "A1", "4711")
        assert [student.submitted for student in roster] == times

    def test_the_folders_of_the_download_belong_to_the_participants(self, tmp_path: Path, roster: list[Student]):
        for name in ("Ada Lovelace_4711", "Bob Adams_4712", "Bob Adams_4713"):
            (tmp_path / "class" / f"{name}_assignsubmission_file_").mkdir(parents=True)
        handed_in, _ = submissions(tmp_path / "class")

        assigned, problems = assign_submissions(roster, handed_in, Path("grades.csv"))

        participants = {"Ada Lovelace": "4711", "Bob Adams (4712)": "4712", "Bob Adams (4713)": "4713"}
        assert {name: student.participant for name, student in assigned.items()} == participants
        assert problems == []

    def test_the_time_of_the_worksheet_replaces_that_of_the_files(self, roster: list[Student]):
        early = datetime(2026, 11, 1).astimezone()
        handed_in = [Submission(student.name, {}, student.participant, time=early) for student in roster[:2]]
        assigned = {student.name: student for student in roster[:2]}
        marks, rule = [mark("Ada Lovelace"), mark("Bob Adams")], SubmissionDeadline(parse_deadline("2026-11-30"))

        ada, bob, _ = gradebook(roster, marks, handed_in, assigned, rule)

        assert (ada.late, bob.late) == ("was handed in late: 2026-12-01 00:05, after 2026-11-30 23:59", "")


class TestFormats:
    @pytest.mark.parametrize(
        "format, ada, bob",
        [
            ("csv", {"email": "ada@svc.example", "expired-session": "correct", "Uploads": "2.5"},
             {"name": "'=Bob", "Uploads": "0", "happened": "nothing was handed in"}),
            ("canvas", {"ID": "71", "SIS Login ID": "ada", "Uploads": "2.5"}, {"Student": "'=Bob", "Uploads": "0"}),
            ("moodle",
             {"Email address": "ada@svc.example", "Uploads": "2.5", "Feedback comments": "e1.ipynb raised <x>"},
             {"Feedback comments": "nothing was handed in"}),
        ],
    )  # fmt: skip
    def test_each_format_has_the_student_the_points_and_what_happened(self, format: str, ada: Any, bob: Any):
        *first, ada_row, bob_row = table(gradebook_text(format, ROWS, POINTS, "Uploads"))

        assert ada_row | ada == ada_row
        assert bob_row | bob == bob_row
        if format == "canvas":
            assert list(ada_row) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Uploads"]
            assert [(row["Student"].strip(), row["Uploads"]) for row in first] == [("Points Possible", POSSIBLE)]

    def test_parts_have_their_share_of_the_points_and_the_class_page_says_how_often_they_fail(self):
        parts = PartResult("asked <first>", 3, True), PartResult("no byte twice", 1, False)
        results = {"expired-session": Verdict(ExerciseOutcome.NOT_YET, "sent twice", parts)}
        rows = [GradebookRow(Student(name), SubmissionResult(name, results, ())) for name in ("Ada", "Bob")]

        assert rows[0].points(POINTS) == 1.5
        page, feedback = class_page(rows, POINTS, "Uploads", {}), feedback_page(rows[0], POINTS, "Uploads")
        assert "<td>no byte twice</td><td>2</td><td>2</td>" in page
        assert "<td>asked &lt;first&gt;</td><td>0</td><td>2</td>" in page
        assert "- no byte twice (0 of 1)" in feedback
        assert "1.5 of 2" in feedback

    def test_nbgrader_has_its_eleven_columns_with_the_raw_score_and_the_penalty(self):
        ada, bob = table(gradebook_text("nbgrader", [replace(ROWS[0], share=0.5), ROWS[1]], POINTS, "Uploads"))

        assert ada == {
            "assignment": "Uploads", "duedate": "2026-11-30 18:00:00", "timestamp": "2026-12-01 12:00:00",
            "student_id": "ada", "last_name": "Lovelace", "first_name": "Ada", "email": "ada@svc.example",
            "raw_score": "2.5", "late_submission_penalty": "1.25", "score": "1.25", "max_score": POSSIBLE,
        }  # fmt: skip
        assert (bob["timestamp"], bob["raw_score"], bob["late_submission_penalty"], bob["score"]) == ("", "0", "0", "0")

    def test_pages_show_text_of_students_as_text(self):
        page = feedback_page(ROWS[0], POINTS, "<i>")

        assert "&lt;saw&gt; expired-session" in page
        assert "e1.ipynb raised &lt;x&gt;" in page
        assert f"2.5 of {POSSIBLE} points" in page
        overview = class_page(ROWS, POINTS, "<i>", {"Similar notebooks": ["<b>ada</b> and bob"]})
        assert "<i>" not in page + overview
        assert "<b>" not in overview
        assert "1 of 1: &lt;saw&gt; the-lost-receipt" in overview


def content(student: str, *cells: str) -> SubmissionContent:
    return SubmissionContent(student, (NotebookContent("e1.ipynb", cells),), "", {})


class TestSimilarity:
    TASK = "from svc_notebooks import course\ngiven = course.exercise('x').begin()\ngiven.check()\nprint(given)\n" * 3
    OWN = "".join(f"total_{n} = count({n}) + offset\nsave('{n}', total_{n})\n" for n in range(8))

    def test_a_copy_with_other_names_comments_and_spaces_is_found(self):
        copy = self.OWN.replace("total", "sum").replace(" + ", "+").replace("save(", "save( ") + "# mine\n"
        others = [content(f"s{n}", self.TASK, f"upload({n})\nshare({n * n})\n" * 9) for n in range(20)]
        class_ = [content("ada", self.TASK, self.OWN), content("bob", self.TASK, copy), *others]

        assert similar_notebooks(class_) == ["ada and bob have 16 of 16 lines of their own in common"]

    def test_the_same_code_is_found_in_a_small_class_and_the_text_of_the_course_does_not_count(self):
        answer = "svc.upload(given.content, name=given.name)"
        students = [content("ada", self.TASK, answer), content("bob", self.TASK, answer + "  # mine")]
        task = next((notebooks_folder() / "exercises").glob("e1*")).read_bytes()
        untouched = [content(name, *exercise_cells(task)) for name in ("eve", "ivo")]

        class_ = [*students, content("cem", self.TASK, answer), *untouched]
        assert similar_notebooks(class_) == ["ada and cem have the same code"]

    def test_an_answer_that_everybody_finds_is_no_pair(self):
        answer = "a = 1\nb = 2\nc = a + b\nsvc.upload(str(c), name=given.name)\n"

        assert similar_notebooks([content(f"s{n}", self.TASK, answer + f"# {n}") for n in range(30)]) == []

    def test_code_that_is_not_python_is_compared(self):
        lines = "\n".join(f"%magic {n} (" for n in range(9))

        (pair,) = similar_notebooks([content("ada", lines, "a = 1"), content("bob", lines, "b = c(2)")])
        assert pair == "ada and bob have 9 of 10 lines of their own in common"


def test_pseudonyms_stay_the_same_and_no_other_file_is_replaced(tmp_path: Path):
    path = tmp_path / "names.csv"
    first = read_pseudonyms(path, ["Ada", "Bob"])
    second = read_pseudonyms(path, ["Eve", "Ada"])
    kept = path.read_text()

    assert {name: second[name] for name in first} == first
    assert len({*second.values()}) == 3
    assert path.stat().st_mode & 0o077 == 0
    assert read_pseudonyms(path, ["Ada"]) == second
    assert path.read_text() == kept
    path.write_text("student,pseudonym,phone\nAda,x,1\n")
    with pytest.raises(ValueError, match=r"names\.csv must be"):
        read_pseudonyms(path, ["Ada"])
    assert path.read_text() == "student,pseudonym,phone\nAda,x,1\n"


class TestCommand:
    def grade(self, folder: Path, *arguments: str, **files: str) -> int:
        options = [text for option, name in files.items() for text in (f"--{option.replace('_', '-')}", name)]
        return main(["grade", str(folder), *arguments, *options])

    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.chdir(tmp_path)

        def grade(contents: list[SubmissionContent], *_: object, **__: object) -> list[SubmissionResult]:
            return [mark(each.student, "expired-session") for each in contents]

        monkeypatch.setattr(grading, "grade", grade)
        for name in ("ada_101_9001_e1.ipynb", "zoe.pdf", "Bob_4711_assignsubmission_file_/work.zip"):
            (tmp_path / "class" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "class" / name).write_text("{}")
        (tmp_path / "roster.csv").write_text("name,email\nAda,ada@svc.example\nBob,b@svc.example\nEve/../x,\n")
        (tmp_path / "points.csv").write_text("exercise,points\nexpired-session,3\n")
        return tmp_path / "class"

    def test_writes_gradebook_feedback_and_class_page_and_replaces_no_file(self, folder, tmp_path, capsys):
        files = {"roster": "roster.csv", "points": "points.csv", "output": "out.csv", "class_page": "class.html"}

        assert self.grade(folder, "--format", "moodle", **files, feedback="pages") == 0
        errors = capsys.readouterr().err
        assert "zoe is not in roster.csv" in errors
        assert "nothing was handed in by Eve/../x" in errors
        assert table((tmp_path / "out.csv").read_text())[0]["class"] == "3"
        pages = {"ada_101_9001_feedback.html", "Bob_4711_assignsubmission_file_feedback.html", "Eve____x.html"}
        assert {path.name for path in (tmp_path / "pages").iterdir()} == pages
        assert "Eve/../x" in (tmp_path / "class.html").read_text()
        for option in ("output", "class_page"):
            assert self.grade(folder, roster="roster.csv", **{option: files[option]}) == 2
            assert f"{files[option]} exists" in capsys.readouterr().err

    def test_only_one_student_or_exercise_is_graded_and_the_rest_is_kept(self, folder, tmp_path, capsys, monkeypatch):
        assert self.grade(folder, roster="roster.csv", json="marks.json") == 0
        graded = list[str]()

        def grade(contents: list[SubmissionContent], *_: object, **__: object) -> list[SubmissionResult]:
            graded.extend(each.student for each in contents)
            return [mark(each.student, "too-often") for each in contents]

        monkeypatch.setattr(grading, "grade", grade)
        only = ["--resume", "--only", "ada@svc.example", "--only", "too-often"]
        assert self.grade(folder, *only, roster="roster.csv", json="marks.json") == 0

        assert graded == ["ada"]
        written = json.loads((tmp_path / "marks.json").read_text())["submissions"]
        marks = {each["student"]: each["exercises"] for each in written}
        assert set(marks) == {"ada", "Bob", "zoe"}
        correct = {name for name, each in marks["ada"].items() if each["outcome"] == "correct"}
        assert correct == {"expired-session", "too-often"}
        capsys.readouterr()
        assert self.grade(folder, "--only", "too-oftn") == 2
        assert "the nearest name is too-often" in capsys.readouterr().err
        assert self.grade(folder, "--only", "too-often") == 0
        assert len(capsys.readouterr().out.splitlines()[0].split()) == 3  # student, one exercise, sum

    def test_pseudonyms_replace_the_names(self, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        files = {"csv": "marks.csv", "class_page": "class.html", "pseudonyms": "names.csv", "output": "out.csv"}

        assert self.grade(folder, **files) == 0
        shown = capsys.readouterr().out + (tmp_path / "marks.csv").read_text() + (tmp_path / "class.html").read_text()
        assert not {"ada", "Bob", "zoe"} & set(re.findall(r"\w+", shown))
        assert "ada" in (tmp_path / "out.csv").read_text()

    def test_an_archive_is_a_class(self, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        shutil.make_archive(str(tmp_path / "hand-ins"), "zip", tmp_path, "class")

        assert self.grade(tmp_path / "hand-ins.zip", "--roster", "roster.csv") == 0
        assert "nothing was handed in by Eve/../x" in capsys.readouterr().err
        (tmp_path / "broken.tar.gz").write_text("x")
        assert self.grade(tmp_path / "broken.tar.gz") == 2
        assert "broken.tar.gz cannot be opened as an archive" in capsys.readouterr().err
