from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks import course
from svc_notebooks.client.session import Session
from svc_notebooks.notebook import frames
from svc_notebooks.notebook.class_control import ClassControl, report_prediction
from svc_notebooks.server.dispatch.service_context import Quota
from svc_notebooks.server.transports.control_api import with_control
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.contract.school import ADA, BOB, EVE, School


class Notebooks:
    """The sessions of a class, as the notebooks of its accounts have them."""

    def __init__(self, school: School) -> None:
        handle, tokens = with_control(school.service), school.tokens()
        self.ada, self.bob, self.eve = (
            Session("http://127.0.0.1", tokens[who.email], handler=handle) for who in (ADA, BOB, EVE)
        )
        self.control = ClassControl(self.ada)


@pytest.fixture
def notebooks(tmp_path: Path) -> Iterator[Notebooks]:
    school = School(tmp_path, quota=Quota())
    with school.service:
        yield Notebooks(school)


def dtypes(rows: pd.DataFrame) -> dict[str, str]:
    return dict(rows.dtypes.astype(str))


def test_the_students_and_their_requests(notebooks: Notebooks) -> None:
    svc.upload(b"hello", name="a.txt", session=notebooks.bob)
    with pytest.raises(svc.NotFound):
        svc.file("0" * 20, session=notebooks.bob)

    rows = notebooks.control.students()

    assert dtypes(rows) == frames.STUDENTS.dtypes
    assert rows["name"].tolist() == ["Ada", "Bob", "Eve"]
    assert rows.loc[1, ["requests", "errors", "bytes"]].tolist() == [2, 1, 5]
    assert rows.loc[1, "operations"] == "files.create 1, files.get 1 (1 failed)"
    assert rows["last"].isna().tolist() == [True, False, True]


def test_the_steps_and_the_journal_of_one_student(notebooks: Notebooks) -> None:
    file = svc.upload(b"hello", name="a.txt", session=notebooks.bob)
    svc.share(file, EVE.email, session=notebooks.bob)
    svc.files(session=notebooks.eve)

    steps, journal = notebooks.control.steps(BOB.email), notebooks.control.journal(BOB.email)

    assert (dtypes(steps), dtypes(journal)) == (frames.CLASS_STEPS.dtypes, frames.JOURNAL.dtypes)
    shared = steps.query("exercise == 'share-with-one'")
    assert shared[["step", "of", "text"]].values.tolist() == [[1, 1, "Share a file"]]
    assert journal["operation"].tolist() == ["files.create", "permissions.list", "permissions.create"]
    assert notebooks.control.journal(since=3)["user"].tolist() == [EVE.email]
    assert notebooks.control.steps()["email"].unique().tolist() == [BOB.email]
    students = notebooks.control.students()
    assert notebooks.control.journal(students[1:])["user"].unique().tolist() == [BOB.email, EVE.email]
    assert notebooks.control.journal(students.iloc[1])["user"].unique().tolist() == [BOB.email]
    own = ClassControl(notebooks.bob).journal()
    assert own[["user", "operation", "decided_by"]].equals(journal[["user", "operation", "decided_by"]])
    with pytest.raises(svc.NotAllowed):
        ClassControl(notebooks.bob).journal(EVE.email)


def test_the_first_prediction_of_each_student_is_counted(notebooks: Notebooks) -> None:
    for session, answer in ((notebooks.bob, "3"), (notebooks.bob, "2"), (notebooks.eve, "3"), (notebooks.ada, "2")):
        with session:
            report_prediction("http-range", answer, answer == "3")
    with svc.sandbox().session:
        report_prediction("http-range", "2", False)

    rows = notebooks.control.predictions()

    assert dtypes(rows) == frames.CLASS_PREDICTIONS.dtypes
    assert rows.values.tolist() == [["http-range", "2", False, 1], ["http-range", "3", True, 2]]
    with pytest.raises(svc.NotAllowed):
        ClassControl(notebooks.eve).predictions()


def test_a_prediction_goes_to_the_service_in_the_environment(notebooks: Notebooks, monkeypatch) -> None:
    monkeypatch.setattr("svc_notebooks.notebook.class_control.new_session", lambda: notebooks.bob)
    with svc.sandbox().session:
        prediction = course.predict("http-range")
        for option in prediction.options:
            prediction.choice.value = option
        prediction.reporter.join()

    assert notebooks.control.predictions()["answer"].tolist() == [prediction.options[0].text]


def test_a_student_is_reset_and_restored(notebooks: Notebooks) -> None:
    svc.upload(b"hello", name="a.txt", session=notebooks.bob)

    done = notebooks.control.reset(BOB.email)
    empty = svc.files(session=notebooks.bob)
    restored = notebooks.control.restore(done["backup"].item())

    assert dtypes(done) == dtypes(restored) == frames.RESET_STUDENT.dtypes
    assert (len(empty), done["files"].item(), restored["files"].item()) == (0, 1, 1)
    assert svc.read(svc.files(session=notebooks.bob), session=notebooks.bob) == b"hello"
    backups = notebooks.control.backups()
    assert dtypes(backups) == frames.BACKUPS.dtypes
    assert backups["user"].tolist() == [BOB.email] * 2
    assert all(Path(path).is_file() for path in backups["path"])


def test_faults_for_all_begin_and_end(notebooks: Notebooks) -> None:
    control, before = notebooks.control, len(notebooks.ada.exchanges)
    with pytest.raises(ValueError, match="slow service"):
        control.faults("slow servise")
    with pytest.raises(ValueError, match="duration"):
        control.advance("soon")
    assert len(notebooks.ada.exchanges) == before

    broken = control.break_network(60)
    preset = control.faults("slow service", seconds=5)
    ended = control.clear_faults()
    assert dtypes(broken) == dtypes(ended) == frames.FAULT_PLANS.dtypes
    assert broken["does"].tolist() == ["closes the connection before it performs the request"]
    assert preset["preset"].dropna().tolist() == ["slow service"]
    assert ended.empty


def test_a_registered_receiver_gets_messages_without_a_registered_domain(tmp_path: Path) -> None:
    school = School(tmp_path, quota=Quota())
    with school.service, SocketServer(school.service, control=True) as server:
        bob = Session(server.base_url, school.tokens()[BOB.email])
        with svc.receiver(register=True, session=bob) as rx:
            svc.watch_changes(rx, session=bob)

            assert rx.wait_for("sync", timeout=60)["verified"].tolist() == [True]
        assert [row["outcome"] for row in school.service.deliveries()] == ["delivered"]
