import asyncio
from datetime import date

import pytest

import svc_notebooks as svc
from svc_notebooks.forms.calendar_view.listing import Period
from tests.patience import PATIENCE

KEYS = ["files", "upload", "export", "events", "notifications", "wire", "lab"]


@pytest.fixture
def board(lab):
    svc.upload(b"a,b\n1,2\n", name="table.csv")
    board = svc.dashboard()
    yield board
    board.close()


def listed(board):
    return board.forms["files"].result["name"].tolist()


def test_a_tab_is_created_when_it_is_opened(board):
    assert list(board.forms) == ["files"]
    assert [title for title in board.tabs.titles][-1] == "Lab controls"

    for key in KEYS:
        assert board.show(key) is board.form
        assert board.form.last_error is None
        assert board.code() == board.form.code()
        assert board.result is not None
    assert list(board.forms) == KEYS
    assert board.last_error is None


@pytest.mark.spec("D-04", "D-04a")
def test_an_upload_in_one_tab_is_in_the_files_and_the_exchanges(board, tmp_path):
    board.show("wire")
    (tmp_path / "birds.txt").write_text("coot")
    form = board.show("upload")
    form.controls.files.path.value = str(tmp_path / "birds.txt")
    form.upload.click()
    board.poll()
    assert form.last_error is None

    board.show("files")
    assert listed(board) == ["birds.txt", "table.csv"]
    board.show("wire")
    assert any("POST /upload/" in row["asked"] for row in board.form.rows.rows)


def test_the_dashboard_polls_while_the_kernel_is_idle(lab):
    async def scene():
        board = svc.dashboard()
        svc.upload(b"x", name="later.txt")
        while listed(board) != ["later.txt"]:
            await asyncio.sleep(0.02)
        board.close()

    asyncio.run(asyncio.wait_for(scene(), PATIENCE))


@pytest.mark.spec("W-04", "W-04b")
def test_all_tabs_show_their_lists(board, lab):
    board.show("export")
    board.show("events")
    svc.upload(b"a,b\n1,2\n", name="Sheet", mime_type="text/csv", convert_to="spreadsheet")
    svc.create_event("Tea", start="2026-11-02", end="2026-11-03")
    board.poll()

    board.show("events").show(Period("month", date(2026, 11, 2)))
    assert board.form.listed["summary"].tolist() == ["Tea"]
    assert "Sheet" in board.show("export").controls.document.label


def test_the_lab_controls(board, lab):
    panel = board.show("lab")
    panel.clock.step.value = "8d"
    panel.clock.advance.click()
    assert f"{lab.clock.now():%Y-%m-%d}" == "2026-01-13"
    assert panel.code() == "lab.clock.advance('8d')"
    board.poll()
    assert "2026-01-13" in board.head.value

    panel.faults.preset.value = "lost receipt"
    assert "check before you repeat it" in panel.faults.description.value
    panel.faults.arm.click()
    assert set(lab.fault_plans()["preset"]) == {"lost receipt"}
    assert "lost receipt" in panel.faults.armed.value
    panel.faults.disarm.click()
    assert lab.fault_plans().empty


def test_signing_in_replaces_the_user_of_all_tabs(board):
    panel = board.show("lab")
    panel.people.user.value = "bob@svc.example"
    panel.people.scopes.value = "storage.readonly"
    panel.people.sign_in.click()

    assert "bob@svc.example" in board.head.value
    board.show("files")
    assert listed(board) == []
    board.form.ask["folder"].click()
    board.form.question.name.value = "not allowed"
    board.form.question.yes.click()
    assert isinstance(board.form.last_error, svc.NotAllowed)
    assert board.show("lab") is panel
    panel.people.user.value = "nobody"
    panel.people.sign_in.click()
    assert "enter an address" in panel.alert.value
