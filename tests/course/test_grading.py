"""Tests of grading, with every submission in a process of its own and the grading service's records as evidence."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from svc_notebooks.cli import main
from svc_notebooks.cli.grade import table
from svc_notebooks.cli.solutions import solve_notebook
from svc_notebooks.course import grading
from svc_notebooks.course.catalogue import DEFINITIONS
from svc_notebooks.course.check_result import ExerciseOutcome, Verdict
from svc_notebooks.course.grading import GradingLimits, SubmissionResult
from svc_notebooks.course.submissions import Submission, UnreadableNotebookError, exercise_cells, submissions
from tests.patience import PATIENCE

FIRST = "import svc_notebooks as svc\nfrom svc_notebooks import course"
SOLVED = """given = course.exercise("upload-with-a-name").begin()
svc.upload(given.content, name=given.name)"""
CHECK = 'course.exercise("upload-with-a-name").check()'

PATCHED = """
from svc_notebooks.course import check_result, exercise_service, grading_service, student_exercise
yes = check_result.Verdict(check_result.ExerciseOutcome.CORRECT, "of course")
student_exercise.Exercise.check = exercise_service.ExerciseService.result = lambda self: yes
grading_service.GradedSubmission.end = lambda self: {"upload-with-a-name": yes}
course.exercise("upload-with-a-name").begin()
svc.upload(b"wrong")
print("correct")
"""
REDEFINED = """
class course:
    def exercise(name):
        return course
    def begin():
        return course
    def check():
        return "correct"
print(course.exercise("upload-with-a-name").check())
"""
STUBBORN = """
import signal
signal.signal(signal.SIGALRM, signal.SIG_IGN)
import time
while True: time.sleep(0.1)
"""
SPEAKS = """
import os
for fd in range(3, 64):
    try:
        os.write(fd, b"x" * 100)
    except OSError:
        pass
"""

CLASS: dict[str, list[str]] = {
    "ada": [FIRST, SOLVED, CHECK],
    "cut": [FIRST, "import time\nwhile True: time.sleep(0.1)", SOLVED, CHECK],
    "deleted": [FIRST, CHECK],
    "dies": [FIRST, SOLVED, "import os; os._exit(0)"],
    "exits": [FIRST, "import sys; sys.exit(3)", "exit()", "quit()", SOLVED],
    "hard-coded": [FIRST, "course.exercise('upload-with-a-name').begin(); svc.upload(b'x', name='ponds-760.csv')"],
    "hungry": [FIRST, "kept = bytearray(10**12)", SOLVED],
    "kills-its-parent": [FIRST, "import os, signal; os.kill(os.getppid(), signal.SIGKILL)", SOLVED],
    "leaves-a-child": [FIRST, SOLVED, "import subprocess; subprocess.Popen(['sleep', '4242'])"],
    "loud": [FIRST, "for _ in range(200): print('x' * 1_000_000)", SOLVED],
    "many": [FIRST, 'for _ in range(30): course.exercise("upload-with-a-name").begin()', SOLVED],
    "patched": [FIRST, PATCHED, CHECK],
    "redefined": [FIRST, REDEFINED],
    "speaks": [FIRST, SOLVED, SPEAKS, "1"],
    "stubborn": [FIRST, SOLVED, STUBBORN],
    "stumbles": [FIRST, "1 / 0", "this is no Python", SOLVED],
    "throws": [FIRST, SOLVED, "raise KeyboardInterrupt", "raise BaseException"],
}
LIMITS = GradingLimits(cell=15, notebook=35)  # whoever is honest needs a second, and a slow machine ten


def notebook(path: Path, *cells: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    every = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": c} for c in cells]
    path.write_text(json.dumps({"cells": every, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, SubmissionResult]]:
    """A whole class, graded once."""
    folder = tmp_path_factory.mktemp("class")
    for student, cells in CLASS.items():
        notebook(folder / student / "e1.ipynb", *cells)
    (folder / "unreadable").mkdir()
    (folder / "unreadable" / "e1.ipynb").write_text("<<<<<<< mine")
    notebook(folder / "unreadable" / "e2.ipynb", FIRST, SOLVED)
    (folder / "nothing").mkdir()
    notebook(folder / "single.ipynb", FIRST, SOLVED)
    os.environ["SVC_TOKEN"] = "a teacher's"
    try:
        yield {result.student: result for result in grading.grade(submissions(folder), "7", limits=LIMITS, jobs=4)}
    finally:
        del os.environ["SVC_TOKEN"]


def outcome(result: SubmissionResult) -> ExerciseOutcome:
    return result.results["upload-with-a-name"].outcome


class TestClass:
    """What a teacher of thirty meets in one class."""

    HONEST = ("ada", "single", "exits", "hungry", "loud", "stumbles", "throws")

    @pytest.mark.parametrize("student", HONEST)
    def test_a_solved_exercise_is_correct(self, results: dict[str, SubmissionResult], student: str):
        assert outcome(results[student]) is ExerciseOutcome.CORRECT
        assert results[student].solved == 1
        assert results[student].remarks == ()

    @pytest.mark.parametrize("student", ["redefined", "deleted", "nothing"])
    def test_an_exercise_without_requests_is_not_tried(self, results: dict[str, SubmissionResult], student: str):
        assert outcome(results[student]) is ExerciseOutcome.NOT_TRIED

    def test_a_patched_check_does_not_change_the_result(self, results: dict[str, SubmissionResult]):
        assert outcome(results["patched"]) is ExerciseOutcome.NOT_YET  # its upload shows that the patches were made

    def test_an_answer_that_was_copied_from_a_screen_is_refused(self, results: dict[str, SubmissionResult]):
        assert outcome(results["hard-coded"]) is ExerciseOutcome.NOT_YET

    def test_an_endless_cell_is_interrupted_and_the_next_ones_count(self, results: dict[str, SubmissionResult]):
        assert results["cut"].remarks == ("e1.ipynb was interrupted in cell 2 after 15 s",)
        assert outcome(results["cut"]) is ExerciseOutcome.CORRECT

    def test_a_cell_that_catches_the_interrupt_is_killed_with_its_notebook(self, results: dict[str, SubmissionResult]):
        assert results["stubborn"].remarks == ("e1.ipynb was stopped in cell 3 after 35 s",)
        assert outcome(results["stubborn"]) is ExerciseOutcome.CORRECT

    def test_a_process_that_ends_itself_is_named_and_keeps_what_it_did(self, results: dict[str, SubmissionResult]):
        assert results["dies"].remarks == ("e1.ipynb ended its process in cell 3",)
        assert outcome(results["dies"]) is ExerciseOutcome.CORRECT

    def test_an_unreadable_notebook_is_named_and_the_others_count(self, results: dict[str, SubmissionResult]):
        assert results["unreadable"].remarks[0].startswith("e1.ipynb cannot be read: the file is not a notebook")
        assert outcome(results["unreadable"]) is ExerciseOutcome.CORRECT

    def test_the_number_of_begins_is_limited(self, results: dict[str, SubmissionResult]):
        assert outcome(results["many"]) is ExerciseOutcome.NOT_TRIED

    def test_fake_reports_of_the_runner_do_not_change_the_result(self, results: dict[str, SubmissionResult]):
        assert outcome(results["speaks"]) is ExerciseOutcome.CORRECT
        assert results["speaks"].solved == 1

    def test_killing_the_fork_server_does_not_harm_other_submissions(self, results: dict[str, SubmissionResult]):
        assert outcome(results["kills-its-parent"]) is ExerciseOutcome.CORRECT

    def test_no_process_is_left_over(self, results: dict[str, SubmissionResult]):
        assert outcome(results["leaves-a-child"]) is ExerciseOutcome.CORRECT
        assert not [
            process for process in psutil.process_iter(["cmdline"]) if process.info["cmdline"] == ["sleep", "4242"]
        ]


def test_a_notebook_sees_nothing_of_the_teachers_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SVC_TOKEN", "a teacher's")
    out = tmp_path / "seen"
    spy = f"import os; open({str(out)!r}, 'w').write(repr(dict(os.environ)))"

    grading.grade([Submission("spy", (notebook(tmp_path / "e1.ipynb", FIRST, spy),))], "1")

    assert "teacher" not in out.read_text()
    assert "SVC_COURSE_JUDGE" in out.read_text()


def test_every_solution_is_accepted_by_the_grading_service(tmp_path: Path):
    book = [path for path in sorted((Path(__file__).parents[2] / "notebooks" / "exercises").glob("*.ipynb"))]
    for path in book:
        (tmp_path / path.name).write_text(json.dumps(solve_notebook(path)))

    (result,) = grading.grade([Submission("teacher", tuple(sorted(tmp_path.glob("*.ipynb"))))], "23")

    assert [name for name, check in result.results.items() if not check.solved] == []
    assert result.remarks == ()


class TestSubmissions:
    """Whose is what."""

    def test_a_folder_or_a_notebook_for_each(self, tmp_path: Path):
        notebook(tmp_path / "bob" / "sub" / "e1.ipynb", "1")
        notebook(tmp_path / "bob" / ".ipynb_checkpoints" / "e1.ipynb", "1")
        notebook(tmp_path / "ada.ipynb", "1")
        (tmp_path / "notes.txt").write_text("")

        handed_in = submissions(tmp_path)

        assert [(submission.student, [path.name for path in submission.notebooks]) for submission in handed_in] == [
            ("ada", ["ada.ipynb"]),
            ("bob", ["e1.ipynb"]),
        ]

    def test_a_link_to_somebody_elses_work_does_not_count(self, tmp_path: Path):
        target = notebook(tmp_path / "ada" / "e1.ipynb", "1")
        (tmp_path / "bob").mkdir()
        (tmp_path / "bob" / "e1.ipynb").symlink_to(target)

        assert submissions(tmp_path)[1].notebooks == ()

    def test_two_submissions_of_one_name_are_refused(self, tmp_path: Path):
        notebook(tmp_path / "ada" / "e1.ipynb", "1")
        notebook(tmp_path / "ada.ipynb", "1")

        with pytest.raises(ValueError, match="'ada' is both a folder and a notebook"):
            submissions(tmp_path)

    def test_a_notebook_of_the_course_is_not_run(self, tmp_path: Path):
        assert exercise_cells(notebook(tmp_path / "00.ipynb", "import svc_notebooks as svc")) == []

    @pytest.mark.parametrize("text", ["", "[]", '{"worksheets": []}', "[" * 100_000, "\x00"])
    def test_an_invalid_notebook_is_an_error(self, tmp_path: Path, text: str):
        (tmp_path / "x.ipynb").write_text(text)

        with pytest.raises(UnreadableNotebookError):
            exercise_cells(tmp_path / "x.ipynb")

    @pytest.mark.parametrize(
        "cells", [[None], [{"cell_type": "code"}], [{"cell_type": "code", "source": ["course", 1]}]]
    )
    def test_unusual_cells_are_read(self, tmp_path: Path, cells: list[object]):
        (tmp_path / "x.ipynb").write_text(json.dumps({"cells": cells}))

        assert exercise_cells(tmp_path / "x.ipynb") in ([], ["course1"])


def graded(student: str, *solved: str, remarks: tuple[str, ...] = ()) -> SubmissionResult:
    outcomes = {name: ExerciseOutcome.CORRECT if name in solved else ExerciseOutcome.NOT_YET for name in DEFINITIONS}
    return SubmissionResult(
        student, {name: Verdict(outcome, f"saw {name}") for name, outcome in outcomes.items()}, remarks
    )


class TestCommand:
    """`svc-notebooks grade DIR`."""

    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        notebook(tmp_path / "class" / "ada.ipynb", "1")
        results = [graded("ada", "expired-session"), graded("=evil()", remarks=("e1.ipynb cannot be read",))]
        monkeypatch.setattr(grading, "grade", lambda *_, **__: results)
        return tmp_path / "class"

    def test_prints_who_has_solved_what(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        assert main(["grade", str(folder), "--seed", "5"]) == 1

        out = capsys.readouterr().out
        assert out.splitlines()[1].split() == ["ada", *("-" * 4), "+", *("-" * 12), "1"]
        assert "=evil(): e1.ipynb cannot be read" in out
        assert "--seed 5" in out

    def test_writes_what_the_service_saw(self, folder: Path, tmp_path: Path):
        main(["grade", str(folder), "--json", str(tmp_path / "marks.json"), "--csv", str(tmp_path / "marks.csv")])

        first = json.loads((tmp_path / "marks.json").read_text())["submissions"][0]
        assert first["exercises"]["expired-session"] == {"outcome": "correct", "saw": "saw expired-session"}
        rows = (tmp_path / "marks.csv").read_text().splitlines()
        assert rows[0].startswith("student,upload-with-a-name,")
        assert rows[2].startswith("'=evil()")

    @pytest.mark.parametrize("made", ["nothing", "file", "empty"])
    def test_says_when_there_is_nothing_to_grade(self, tmp_path: Path, capsys: pytest.CaptureFixture[str], made: str):
        path = tmp_path / "there"
        path.mkdir() if made == "empty" else path.write_text("") if made == "file" else None

        assert main(["grade", str(path)]) == 2
        assert capsys.readouterr().err.startswith("svc-notebooks grade: ")

    def test_the_sum_of_a_class_stands_below(self):
        lines = table([graded("ada", "expired-session"), graded("bob", "expired-session", "too-often")]).splitlines()

        assert lines[3].split()[-1] == "3"


class TestSolutions:
    """`svc-notebooks solutions DIR`: for teachers, and never in a student's copy."""

    def test_writes_solved_notebooks_and_keeps_what_is_there(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        notebook(tmp_path / "t" / "e1-uploads.ipynb", "mine")

        assert main(["solutions", str(tmp_path / "t")]) == 0

        assert "mine" in (tmp_path / "t" / "e1-uploads.ipynb").read_text()
        assert "kept the existing file" in capsys.readouterr().err
        assert "svc.resume_upload(given.session_uri" in (tmp_path / "t" / "e2-resumable.ipynb").read_text()

    def test_every_exercise_has_its_cell(self):
        text = "".join(path.read_text() for path in (Path(__file__).parents[2] / "notebooks/exercises").glob("*.ipynb"))

        assert [name for name in DEFINITIONS if f'exercise(\\"{name}\\").begin()' not in text] == []

    def test_no_solution_is_in_a_students_copy(self):
        for path in (Path(__file__).parents[2] / "notebooks").rglob("*"):
            assert path.stem not in DEFINITIONS
        for path in (Path(__file__).parents[2] / "notebooks" / "exercises").glob("*.ipynb"):
            for cell in json.loads(path.read_text())["cells"]:
                source = "".join(cell["source"])
                if ".begin()" in source and cell["cell_type"] == "code":
                    below = source.partition(".begin()\n")[2].strip()
                    assert below in [definition.answer for definition in DEFINITIONS.values()]


def test_time_is_bounded_for_a_submission(tmp_path: Path):
    busy = "while True: pass"
    endless = [notebook(tmp_path / f"e{n}.ipynb", FIRST, cell) for n, cell in enumerate([STUBBORN, busy])]
    begun = time.monotonic()

    grading.grade([Submission("slow", tuple(endless))], "1", limits=GradingLimits(cell=1, notebook=3))

    assert time.monotonic() - begun < PATIENCE
