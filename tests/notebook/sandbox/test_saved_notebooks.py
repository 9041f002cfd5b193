import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "notebooks"
NOTEBOOKS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.ipynb")}


def code(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def source(cell):
    return "".join(cell["source"])


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_short_and_begins_with_a_sandbox(name):
    cells = code(NOTEBOOKS[name])
    questions = [cell for cell in cells if source(cell).startswith("course.predict(")]

    assert len(cells) - len(questions) <= 16
    assert "svc.sandbox(" in source(cells[0]) or "course.exercise(" in source(cells[0])
    assert all(len(source(cell).splitlines()) < 30 for cell in cells)
    assert max(len(line) for cell in cells for line in source(cell).splitlines()) <= 100


def test_the_sessions_of_the_interface_are_all_shown():
    text = json.dumps([cell["outputs"] for cell in code(NOTEBOOKS["02-resumable-by-hand"])])

    for words in ("<td>open</td>", "now complete", "now cancelled", "a week (404)", "cancel (499)"):
        assert words in text, words
    for status in (200, 308, 404, 503):
        assert f"<td>{status}</td>" in text, status
