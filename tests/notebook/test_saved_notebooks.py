"""The saved notebooks are what they promise to be: short, run in order, the same for everybody."""

import json
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.ipynb")}


def code(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_short_and_begins_with_a_sandbox(name):
    cells = code(NOTEBOOKS[name])

    assert len(cells) <= 12
    assert "svc.sandbox()" in "".join(cells[0]["source"])
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert all(cell["outputs"] for cell in cells)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_its_outputs_are_compared_to_the_letter(name):
    tags = {tag for cell in NOTEBOOKS[name]["cells"] for tag in cell["metadata"].get("tags", [])}

    assert tags <= {"raises-exception"}
    assert list(FOLDER.parent.glob("**/*sanitize*")) == []


@pytest.mark.spec("T-05")
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_it_holds_no_token_no_path_and_no_address_of_a_machine(name):
    text = json.dumps(NOTEBOOKS[name])

    assert re.findall(r"Bearer (?!\[redacted\])\S+", text) == []
    assert re.findall(r"/(?:home|root|tmp|work|Users)/\S+|0x[0-9a-f]{8,}|127\.0\.0\.1", text) == []


def test_the_sessions_of_the_interface_are_all_shown():
    text = json.dumps(code(NOTEBOOKS["02-resumable-by-hand"]))

    for state in ("open", "complete", "cancelled", "expired"):
        assert f"<td>{state}</td>" in text, state
    for status in (200, 308, 404, 499, 503):
        assert f"<td>{status}</td>" in text, status
