"""A made class of 60, graded by the command in bubblewrap: every mark as planted, and nobody's file changed."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import psutil
import pytest

from svc_notebooks.cli import main

pytestmark = pytest.mark.marks


def load(name: str) -> ModuleType:
    """A module of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(f"course_{name}", Path(__file__).with_name(f"{name}.py"))
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_mark_is_as_planted_and_no_file_is_changed(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    made, wrong = load("made_class"), load("wrong").WRONG
    folder, report = tmp_path / "class", tmp_path / "marks.json"
    planted = made.make_class(folder, {name: [answer.code for answer in answers] for name, answers in wrong.items()})
    before = made.contents(folder)
    options = ["--isolation", "bubblewrap", "--cell-timeout", "20", "--timeout", "90", "--jobs", "2"]

    assert main(["grade", str(folder), "--json", str(report), *options]) == 1

    with capfd.disabled():
        sys.stdout.write(capfd.readouterr().out.splitlines()[-2] + "\n")
    marks = {mark["student"]: mark for mark in json.loads(report.read_text())["submissions"]}
    assert len(planted) == len(marks) == 60
    seen = {
        student: {name for name, result in mark["exercises"].items() if result["outcome"] == "correct"}
        for student, mark in marks.items()
    }
    assert seen == {each.student: each.solved for each in planted}
    missing = [each for each in planted if each.says not in "; ".join(marks[each.student]["happened"])]
    assert missing == [], [marks[each.student]["happened"] for each in missing]
    assert made.contents(folder) == before
    assert not [process for process in psutil.process_iter(["cmdline"]) if "4245" in (process.info["cmdline"] or ())]
