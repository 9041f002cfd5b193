import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import svc_notebooks as svc
from svc_notebooks.forms.class_dashboard import ClassDashboard
from svc_notebooks.notebook.class_control import report_prediction
from svc_notebooks.server.dispatch.service_context import Quota
from tests.contract.school import BOB, School
from tests.notebook.test_class_control import Notebooks


@pytest.fixture
def notebooks(tmp_path: Path) -> Iterator[Notebooks]:
    """The sessions of a teacher and a student, and the dashboard of the teacher."""
    school = School(tmp_path, quota=Quota())
    with school.service:
        notebooks = Notebooks(school)
        svc.upload(b"hello", name="a.txt", session=notebooks.bob)
        with pytest.raises(svc.NotFound):
            notebooks.bob.call("GET", "/storage/v3/files/<script>")
        notebooks.board = ClassDashboard(notebooks.ada)
        yield notebooks


def test_the_students_are_listed_and_names_are_text(notebooks: Notebooks) -> None:
    board = notebooks.board
    assert repr(board) == "<ClassDashboard: 3 accounts>"
    assert board.result["name"].tolist() == ["Ada", "Bob", "Eve"]
    assert "Ada (teacher)" in board.table.value
    assert "3 accounts, 1 with a request in the last 5 minutes. 2 requests, 1 error." in board.head.value
    assert board.code() == "school = svc.class_control()\nschool.students()"
    assert board.last_error is None

    board.view_choice.value = "errors"
    assert len(board.result) == 1
    assert "<script>" not in board.table.value
    own = ClassDashboard(notebooks.bob)
    assert isinstance(own.last_error, svc.NotAllowed)
    assert "Only the sign-in token of a teacher" in own.alert.value


def test_the_predictions_have_no_names(notebooks: Notebooks) -> None:
    with notebooks.bob:
        report_prediction("http-range", "2", False)
    notebooks.board.student.chooser.value = BOB.email
    notebooks.board.view_choice.value = "predictions"

    assert notebooks.board.result.values.tolist() == [["http-range", "2", False, 1]]
    assert notebooks.board.code().splitlines()[1] == "school.predictions()"


def test_a_reset_asks_first(notebooks: Notebooks) -> None:
    board = notebooks.board
    board.student.chooser.value = BOB.email
    board.student.reset.click()
    board.question.no.click()
    kept = svc.files(session=notebooks.bob)

    board.student.reset.click()
    board.question.yes.click()

    assert (len(kept), len(svc.files(session=notebooks.bob))) == (1, 0)
    path = board.control.backups()["path"].item()
    assert f"The backup is {path}" in board.status.value
    assert board.code().splitlines()[1] == f"school.reset({BOB.email!r})"


def test_faults_and_the_clock(notebooks: Notebooks) -> None:
    board = notebooks.board
    codes = []
    board.faults.start.click()
    codes.append(board.code().splitlines()[1])
    board.faults.preset.value = "slow service"
    board.faults.start.click()
    codes.append(board.code().splitlines()[1])
    active = board.faults.armed.value
    board.faults.stop.click()
    board.clock.step.value = "2h"
    board.clock.advance.click()
    board.question.yes.click()
    codes.append(board.code().splitlines()[1])

    assert codes == ["school.break_network(60)", "school.faults('slow service', seconds=60)", "school.advance('2h')"]
    assert "slow service: delays the response by 20 seconds" in active
    assert "No fault is active." in board.faults.armed.value
    assert "The clock was advanced by 2h" in board.status.value


def test_the_lists_are_refreshed_beside_the_kernel(notebooks: Notebooks) -> None:
    """The event loop goes on while the lists are loaded, and a new request appears without a click."""

    async def watch() -> str:
        board = ClassDashboard(notebooks.ada, every=0.01)
        while board.result["requests"].sum() != 2:
            await asyncio.sleep(0)
        svc.files(session=notebooks.bob)
        while board.result["requests"].sum() != 3:
            await asyncio.sleep(0)
        board.close()
        return board.head.value

    assert "3 requests, 1 error." in asyncio.run(asyncio.wait_for(watch(), 60))
