"""A made class, graded by the command in bubblewrap: every mark as planted, and nobody's file changed.

The class has 60 students, or as many as `make marks ARGS="--students 300 -s"` says, in the same proportion.
"""

import json

import psutil
import pytest

from svc_notebooks.cli import main
from tests.course import answers, made_class as made, wrong

pytestmark = pytest.mark.marks


def test_every_mark_is_as_planted_and_no_file_is_changed(tmp_path, capsys, pytestconfig):
    folder, report = tmp_path / "class", tmp_path / "marks.json"
    students = pytestconfig.getoption("--students", default=made.SIZE)
    # Those that change the service in the student's kernel find none in a sandbox.
    tried = {
        name: [code for code in codes.values() if "_environment" not in code]
        for name, codes in answers.read(wrong.ANSWERS).items()
    }
    planted = made.make_class(folder, tried, students // made.SIZE)
    before = made.contents(folder)
    options = ["--isolation", "bubblewrap", "--cell-timeout", "20", "--timeout", "90", "--jobs", "2"]

    assert main(["grade", str(folder), "--json", str(report), *options]) == 1

    *_, timing, isolation = capsys.readouterr().out.splitlines()
    assert "in bubblewrap" in isolation
    with capsys.disabled():
        print(f"\n{timing}")
    marks = {mark["student"]: mark for mark in json.loads(report.read_text())["submissions"]}
    assert len(planted) == len(marks) == students
    seen = {
        student: {name for name, result in mark["exercises"].items() if result["outcome"] == "correct"}
        for student, mark in marks.items()
    }
    assert seen == {each.student: each.solved for each in planted}
    missing = [each for each in planted if each.says not in "; ".join(marks[each.student]["happened"])]
    assert missing == [], [marks[each.student]["happened"] for each in missing]
    assert made.contents(folder) == before
    assert not [process for process in psutil.process_iter(["cmdline"]) if "4245" in (process.info["cmdline"] or ())]
