"""Tests of grading, with every submission in a process of its own and the grading service's records as evidence."""

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing import Pipe
from pathlib import Path

import psutil
import pytest

from svc_notebooks.cli import main
from svc_notebooks.cli.marks.gradebook import SavedMarks, table
from svc_notebooks.cli.notebook_files import solve_notebook
from svc_notebooks.course import grading
from svc_notebooks.course.catalogue import DEFINITIONS
from svc_notebooks.course.definition import ExerciseOutcome, Verdict
from svc_notebooks.course.grading import GradingLimits, SubmissionResult
from svc_notebooks.course.sandbox import find_sandbox
from svc_notebooks.course.submission_process import NotebookReport, ReportReader
from svc_notebooks.course.submissions import Submission, SubmissionContent, read_submission, submissions
from tests.course.notebooks import FIRST, SOLVED, write_notebook
from tests.patience import PATIENCE

LESSONS = Path(grading.__file__).with_name("lessons.md").read_text()
PROGRAMS = re.findall(r"^## (\S+)\n[^#]*?```python\n(.*?)```\n\n```text\n(.*?)```", LESSONS, re.MULTILINE | re.DOTALL)
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
EXERCISES = sorted((NOTEBOOKS / "exercises").glob("*.ipynb"))
CHECK = 'course.exercise("upload-with-a-name").check()'


PATCHED = """
from svc_notebooks.course import definition, exercise_service, grading_service, student_exercise
yes = definition.Verdict(definition.ExerciseOutcome.CORRECT, "of course")
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
KILLS_ITS_PARENT = "import os, signal, time; os.kill(os.getppid(), signal.SIGKILL); time.sleep(600)"

CLASS: dict[str, list[str]] = {
    "ada": [FIRST, SOLVED, CHECK],
    "deleted": [FIRST, CHECK],
    "dies": [FIRST, SOLVED, "import os; os._exit(0)"],
    "exits": [FIRST, "import sys; sys.exit(3)", "exit()", "quit()", SOLVED],
    "hard-coded": [FIRST, "course.exercise('upload-with-a-name').begin(); svc.upload(b'x', name='ponds-760.csv')"],
    "hungry": [FIRST, "kept = bytearray(10**12)", SOLVED],
    "kills-its-parent": [FIRST, SOLVED, KILLS_ITS_PARENT],
    "leaves-a-child": [FIRST, SOLVED, "import subprocess; subprocess.Popen(['sleep', '4242'], start_new_session=True)"],
    "loud": [FIRST, "for _ in range(200): print('x' * 1_000_000)", SOLVED],
    "many": [FIRST, 'for _ in range(30): course.exercise("upload-with-a-name").begin()', SOLVED],
    "patched": [FIRST, PATCHED, CHECK],
    "redefined": [FIRST, REDEFINED],
    "speaks": [FIRST, SOLVED, SPEAKS, "1"],
    "stumbles": [FIRST, "import no_such_package", "this is no Python", SOLVED],
    "throws": [FIRST, SOLVED, "raise KeyboardInterrupt", "raise BaseException"],
}
ENDLESS: dict[str, list[str]] = {
    "cut": [FIRST, SOLVED, "import time\nwhile True: time.sleep(0.1)", SOLVED],
    "stubborn": [FIRST, SOLVED, STUBBORN],
}
LIMITS = GradingLimits(cell=60, notebook=PATIENCE)  # honest notebooks need a second, and a slow machine ten
SHORT = GradingLimits(cell=8, notebook=16)
WITHOUT_SANDBOX = find_sandbox("limits")


def handed_in(student: str, path: Path) -> SubmissionContent:
    return read_submission(Submission(student, {path.name: path}))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, SubmissionResult]]:
    """A whole class, graded once, without a sandbox. test_sandbox.py has a class in bubblewrap."""
    folder = tmp_path_factory.mktemp("class")
    for student, cells in CLASS.items():
        write_notebook(folder / student / "e1.ipynb", *cells)
    (folder / "unreadable").mkdir()
    (folder / "unreadable" / "e1.ipynb").write_text("<<<<<<< mine")
    write_notebook(folder / "unreadable" / "e2.ipynb", FIRST, SOLVED)
    write_notebook(folder / "goes-on" / "e1.ipynb", FIRST, KILLS_ITS_PARENT)
    write_notebook(folder / "goes-on" / "e2.ipynb", FIRST, "from helper import name", SOLVED, "assert name == 'ponds'")
    (folder / "goes-on" / "helper.py").write_text("name = 'ponds'")
    (folder / "nothing").mkdir()
    write_notebook(folder / "single.ipynb", FIRST, SOLVED)
    os.environ["SVC_TOKEN"] = "a teacher's"
    try:
        contents = list(map(read_submission, submissions(folder)[0]))
        marks = grading.grade(contents, "7", limits=LIMITS, jobs=4, sandbox=WITHOUT_SANDBOX)
        yield {result.student: result for result in marks}
    finally:
        del os.environ["SVC_TOKEN"]


def outcome(result: SubmissionResult) -> ExerciseOutcome:
    return result.results["upload-with-a-name"].outcome


def running(argument: str) -> list[psutil.Process]:
    return [each for each in psutil.process_iter(["cmdline"]) if argument in (each.info["cmdline"] or ())]


class TestClass:
    """What a teacher of thirty meets in one class."""

    HONEST = ("ada", "single", "exits", "hungry", "stumbles", "throws")

    def test_only_what_a_submission_did_counts(self, results: dict[str, SubmissionResult]):
        fooled = ("dies", "goes-on", "kills-its-parent", "leaves-a-child", "loud", "speaks", "unreadable")

        assert {student: outcome(result) for student, result in results.items()} == {
            **dict.fromkeys((*self.HONEST, *fooled), ExerciseOutcome.CORRECT),
            **dict.fromkeys(("hard-coded", "patched"), ExerciseOutcome.NOT_YET),
            **dict.fromkeys(("deleted", "many", "nothing", "redefined"), ExerciseOutcome.NOT_TRIED),
        }
        assert {results[student].solved for student in (*self.HONEST, "speaks")} == {1}
        assert not running("4242")

    def test_remarks_name_what_was_stopped_or_cannot_be_read(self, results: dict[str, SubmissionResult]):
        assert [results[student].remarks for student in self.HONEST] == [()] * len(self.HONEST)
        assert results["dies"].remarks == ("e1.ipynb ended its process in cell 3",)
        assert results["loud"].remarks == (
            "e1.ipynb was interrupted in cell 2, because its output was more than 10,000,000 characters",
        )
        assert results["goes-on"].remarks[0].startswith("e1.ipynb ended its process in cell")
        assert results["unreadable"].remarks[0].startswith("e1.ipynb cannot be read: it is not a notebook")

    def test_the_first_exception_is_in_the_report(self, results: dict[str, SubmissionResult]):
        assert results["stumbles"].errors == (
            "e1.ipynb raised an exception in cell 2: ModuleNotFoundError: No module named 'no_such_package'",
        )
        assert results["hungry"].errors == ("e1.ipynb ran out of memory in cell 2: MemoryError",)
        # The second notebook of goes-on finds the module in the folder of the submission.
        assert results["ada"].errors == results["exits"].errors == results["goes-on"].errors == ()
        assert results["nothing"].happened == ("handed in an empty folder",)
        assert results["ada"].happened == ("all notebooks ran to the end without an exception",)


def test_endless_cells_are_interrupted_and_notebooks_that_catch_the_interrupt_are_stopped(tmp_path: Path):
    class_ = [handed_in(name, write_notebook(tmp_path / f"{name}.ipynb", *cells)) for name, cells in ENDLESS.items()]

    cut, stubborn = grading.grade(class_, "7", limits=SHORT, jobs=2, sandbox=WITHOUT_SANDBOX)

    assert cut.remarks == ("cut.ipynb was interrupted in cell 3, because it timed out after 8 s",)
    assert stubborn.remarks == ("stubborn.ipynb was stopped in cell 3, because it timed out after 16 s",)
    assert [outcome(cut), outcome(stubborn)] == [ExerciseOutcome.CORRECT] * 2
    assert "without a sandbox" in WITHOUT_SANDBOX.description


def test_a_notebook_sees_nothing_of_the_teachers_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SVC_TOKEN", "a teacher's")
    out = tmp_path / "seen"
    seen = "repr(dict(os.environ)) + f'; {resource.getrlimit(resource.RLIMIT_CPU)}'"
    spy = f"import os, resource; open({str(out)!r}, 'w').write({seen})"

    grading.grade([handed_in("spy", write_notebook(tmp_path / "e1.ipynb", FIRST, spy))], "1", sandbox=WITHOUT_SANDBOX)

    assert "teacher" not in out.read_text()
    assert "SVC_COURSE_JUDGE" in out.read_text()
    assert out.read_text().endswith("; (240, 240)")  # twice the time of a notebook


def test_every_solution_is_accepted_by_the_grading_service(tmp_path: Path):
    for path in EXERCISES:
        (tmp_path / path.name).write_text(json.dumps(solve_notebook(path)))

    solved = Submission("teacher", {path.name: path for path in sorted(tmp_path.glob("*.ipynb"))})
    (result,) = grading.grade([read_submission(solved)], "23", sandbox=WITHOUT_SANDBOX)

    assert [name for name, check in result.results.items() if not check.solved] == []
    assert result.remarks == ()


def test_a_class_of_other_notebooks_has_no_exercise_and_the_exit_status_of_a_problem(tmp_path: Path):
    (result,) = grading.grade([handed_in("ada", write_notebook(tmp_path / "00-start.ipynb", "1"))], "1")

    assert result.remarks == ("no exercise found: no cell of 00-start.ipynb uses the module course",)


class TestReports:
    def read(self, *messages: bytes, notebooks: int = 1) -> list[NotebookReport]:
        ours, theirs = Pipe()
        with ours, theirs:
            for message in messages:
                theirs.send_bytes(message)
            theirs.close()
            reader = ReportReader([NotebookReport() for _ in range(notebooks)], GradingLimits(1, 2, 3), lambda: 0.0)
            reader.read(ours)
            return reader.reports

    JUNK = (b"\xff", b"", b"exit", b"exit 0 many", b"cell x", b"start 1 2 3", b"x" * 2000)

    @pytest.mark.parametrize(
        "ends, remark",
        [
            ([b"exit 0 -9"], "was killed by signal 9 (Killed) in cell 2"),
            ([b"exit 0 -24"], "was killed in cell 2, because it used too much processor time"),
            ([b"exit 0 0"], "ended its process in cell 2"),
            ([b"excess 0 it had too many", b"exit 0 -9"], "was stopped in cell 2, because it had too many"),
            *(([junk], "ended its process in cell 2") for junk in JUNK),
        ],
    )
    def test_the_remark_names_the_reason_of_the_end(self, ends: list[bytes], remark: str):
        (report,) = self.read(b"start 0", b"cell 1", b"cell 2", *ends)

        assert report.remarks == [remark]

    def test_the_number_of_remarks_is_limited(self):
        (report,) = self.read(*[b"slow 1"] * 100)

        assert len(report.remarks) == 20


class TestResume:
    def test_an_unchanged_submission_is_not_run_again_and_a_changed_one_is(self, tmp_path: Path):
        paths = {name: write_notebook(tmp_path / f"{name}.ipynb", name) for name in ("ada", "bob")}
        contents = [handed_in(name, path) for name, path in paths.items()]
        first = {result.student: result for result in grading.grade(contents, "1", sandbox=WITHOUT_SANDBOX)}
        write_notebook(tmp_path / "bob.ipynb", "changed")
        graded_again: list[str] = []

        changed = [handed_in(name, path) for name, path in paths.items()]
        options = {"on_result": lambda mark: graded_again.append(mark.student), "sandbox": WITHOUT_SANDBOX}
        again = grading.grade(changed, "1", earlier=first, **options)

        assert again[0] is first["ada"]
        assert graded_again == ["bob"]

    def test_an_interrupt_kills_what_runs_and_keeps_what_was_graded(self, tmp_path: Path):
        endless = "import subprocess; subprocess.run(['sleep', '4243'])"
        contents = [
            handed_in("ada", write_notebook(tmp_path / "ada.ipynb", "1")),
            handed_in("endless", write_notebook(tmp_path / "endless.ipynb", FIRST, endless)),
        ]
        kept: list[str] = []

        def interrupt(mark: SubmissionResult) -> None:
            kept.append(mark.student)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            grading.grade(contents, "1", on_result=interrupt, jobs=2, sandbox=WITHOUT_SANDBOX)

        assert kept == ["ada"]
        assert not running("4243")


def graded(student: str, *solved: str, remarks: tuple[str, ...] = ()) -> SubmissionResult:
    correct, not_yet = ExerciseOutcome.CORRECT, ExerciseOutcome.NOT_YET
    verdicts = {name: Verdict(correct if name in solved else not_yet, f"saw {name}") for name in DEFINITIONS}
    return SubmissionResult(student, verdicts, remarks)


class TestCommand:
    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        write_notebook(tmp_path / "class" / "ada.ipynb", "1")
        write_notebook(tmp_path / "class" / "=evil().ipynb", "1")
        results = [graded("ada", "expired-session"), graded("=evil()", remarks=("e1.ipynb cannot be read",))]
        monkeypatch.setattr(grading, "grade", lambda *_, **__: results)
        return tmp_path / "class"

    def test_prints_who_has_solved_what(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        assert main(["grade", str(folder), "--seed", "5"]) == 1

        out = capsys.readouterr().out
        signs = "----+" + "-" * (len(DEFINITIONS) - 5)
        assert next(line for line in out.splitlines() if line.startswith("ada")).split() == ["ada", *signs, "1"]
        assert "=evil(): e1.ipynb cannot be read" in out
        assert "--seed 5" in out

    def test_writes_what_the_service_saw(self, folder: Path, tmp_path: Path):
        main(["grade", str(folder), "--json", str(tmp_path / "marks.json"), "--csv", str(tmp_path / "marks.csv")])

        first = json.loads((tmp_path / "marks.json").read_text())["submissions"][-1]
        verdict = {"outcome": "correct", "saw": "saw expired-session", "parts": []}
        assert first["exercises"]["expired-session"] == verdict
        assert first["happened"] == ["all notebooks ran to the end without an exception"]
        rows = (tmp_path / "marks.csv").read_text().splitlines()
        assert rows[0].startswith("student,upload-with-a-name,")
        assert any(row.startswith("'=evil()") for row in rows)

    def test_an_interrupted_run_keeps_its_marks_and_is_resumed(self, folder, tmp_path, capsys, monkeypatch):
        (folder / "=evil().ipynb").rename(folder / "bob.ipynb")
        marks, seen = tmp_path / "marks.json", []

        def interrupted(*_: object, on_result: Callable[[SubmissionResult], None], **__: object) -> None:
            on_result(replace(graded("ada", "expired-session"), isolation="in bubblewrap"))
            raise KeyboardInterrupt

        def resumed(_: object, seed: str, *, earlier: dict[str, SubmissionResult], **__: object) -> object:
            seen.append((seed, list(earlier)))
            return [earlier["ada"], replace(graded("bob"), isolation="without a sandbox")]

        monkeypatch.setattr(grading, "grade", interrupted)
        assert main(["grade", str(folder), "--seed", "5", "--json", str(marks)]) == 130
        assert "after 1 of 2 submissions" in capsys.readouterr().err
        monkeypatch.setattr(grading, "grade", resumed)
        assert main(["grade", str(folder), "--json", str(marks), "--resume", "--isolation", "limits"]) == 0

        assert seen == [("5", ["ada"])]
        written = json.loads(marks.read_text())
        assert written["complete"]
        assert [(mark["student"], mark["solved"], mark["isolation"]) for mark in written["submissions"]] == [
            ("ada", 1, "in bubblewrap"), ("bob", 0, "without a sandbox"),
        ]  # fmt: skip
        out = capsys.readouterr().out
        assert "isolation: in bubblewrap (1 of 2)\nisolation: without a sandbox (1 of 2)" in out

    def test_a_file_that_another_program_has_written_is_not_replaced_between_two_marks(self, tmp_path: Path):
        saved = SavedMarks(tmp_path / "marks.json", "5", overwrite=False)
        saved.save([graded("ada")], complete=False)
        (tmp_path / "marks.json").write_text("mine")
        saved.save([graded("ada"), graded("bob")], complete=True)

        assert (tmp_path / "marks.json").read_text() == "mine"
        (other,) = set(tmp_path.glob("marks*.json")) - {tmp_path / "marks.json"}
        assert json.loads(other.read_text())["complete"]

    @pytest.mark.parametrize(
        "text, arguments, message",
        [
            ("mine", ["--resume"], "cannot be read as the JSON file of an earlier run"),
            ('{"seed": "5", "submissions": []}', ["--resume", "--seed", "6"], "has the seed 5, not 6"),
        ],
    )
    def test_what_cannot_be_resumed_is_refused_and_stays(self, folder, capsys, text, arguments, message):
        marks = folder.parent / "marks.json"
        marks.write_text(text)

        assert main(["grade", str(folder), "--json", str(marks), *arguments]) == 2
        assert message in capsys.readouterr().err
        assert marks.read_text() == text

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
        write_notebook(tmp_path / "t" / "e1-uploads.ipynb", "mine")

        assert main(["solutions", str(tmp_path / "t")]) == 0

        assert "mine" in (tmp_path / "t" / "e1-uploads.ipynb").read_text()
        assert "kept the existing file" in capsys.readouterr().err
        assert "svc.resume_upload(given.session_uri" in (tmp_path / "t" / "e2-resumable.ipynb").read_text()
        assert (tmp_path / "t" / "lessons.md").read_text() == LESSONS

    def test_every_lesson_with_a_question_to_try_has_an_answer(self):
        asked = [path.stem for path in NOTEBOOKS.glob("*.ipynb") if re.search(r"\*\*Try:\*\*.*\?", path.read_text())]

        assert sorted(asked) == re.findall("^## (.+)$", LESSONS, re.MULTILINE)

    @pytest.mark.parametrize("name, program, printed", PROGRAMS, ids=[name for name, *_ in PROGRAMS])
    def test_the_answer_of_a_lesson_prints_what_is_below_it(self, name, program, printed, capsys):
        exec(compile(program, name, "exec"), names := {})

        if "lab" in names:
            names["lab"].close()  # its thread of deliveries would wait for half a minute
        assert capsys.readouterr().out == printed

    def test_a_students_copy_has_a_cell_for_every_exercise_and_no_solution(self):
        text = "".join(path.read_text() for path in EXERCISES)
        assert [name for name in DEFINITIONS if f'exercise(\\"{name}\\").begin()' not in text] == []
        assert not DEFINITIONS.keys() & {path.stem for path in NOTEBOOKS.rglob("*")}
        for path in EXERCISES:
            for cell in json.loads(path.read_text())["cells"]:
                source = "".join(cell["source"])
                if ".begin()" in source and cell["cell_type"] == "code":
                    below = source.partition(".begin()\n")[2].strip()
                    assert "# Your " in below
                    assert len(below.splitlines()) <= 3
