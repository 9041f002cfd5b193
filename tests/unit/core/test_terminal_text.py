import pytest

from svc_notebooks.cli.marks.gradebook import table
from svc_notebooks.core.printable_text import printable, terminal_text
from svc_notebooks.course.catalogue import DEFINITIONS
from svc_notebooks.course.definition import ExerciseOutcome, Verdict
from svc_notebooks.course.grading import SubmissionResult

HOSTILE = {
    "a color": "ada\x1b[31mred",
    "a cleared screen": "\x1b[2J\x1b[H",
    "a title": "\x1b]0;owned\x07",
    "a hyperlink": "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "C1 codes": "\x9b31m\x9d0;x\x9c",
    "a line": "ada\nbob: 30",
    "a return": "ada\rbob",
    "a vertical tab and a form feed": "a\x0b\x0cb",
    "other line ends": "a\u2028b\u2029c\x85d",
    "backspaces": "ada\b\b\bbob",
    "the other direction": "\u202egnp.ipynb",
    "isolates": "\u2066a\u2069\u2067b\u2069",
    "marks of direction": "\u200e\u200fa\u061c",
    "an invisible letter": "a\u200bd\ufeffa\u2060",
    "a bell and a null": "\x07\x00",
    "a lone surrogate": "ada\udcff",
    "tags": "a\U000e0041",
}


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_a_name_changes_neither_the_terminal_nor_the_lines(name):
    for text in (terminal_text(name), printable(name)):
        assert text.isprintable()
        assert text.isascii() or not set(text) & set(name) - set("adbobred")
    result = SubmissionResult(name, dict.fromkeys(DEFINITIONS, Verdict(ExerciseOutcome.CORRECT, "")), (name,), (), "")
    quiet = SubmissionResult("x", result.results, ("x",), (), "")
    assert all(line.isprintable() for line in table([result]).split("\n"))
    assert table([result]).count("\n") == table([quiet]).count("\n")


@pytest.mark.parametrize("name", ["Zoë Müller", "山田 太郎", "می\u200cخواهم", "محمد", "👩\u200d🔬", "O'Neil-Smith (2)"])
def test_a_name_of_any_script_stays(name):
    assert terminal_text(name) == name
