"""Without threads, sockets and other processes, as in a browser: the notebooks, and each thing that needs one of them.

The notebooks run in a process where those are forbidden (tools/lite/rehearsal.py). What a real page makes of them is
seen by tests/lite.
"""

import asyncio
import io
import threading
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import svc_notebooks as svc
from svc_notebooks.convert.engines import available
from svc_notebooks.core.platform import BROWSER, override
from tools.lite.pages import rehearsed

NOTEBOOKS = Path(__file__).parents[3] / "notebooks"


@pytest.fixture
def browser():
    with override(BROWSER):
        yield


@pytest.fixture
def lab(browser):
    with svc.sandbox() as made:
        yield made


def test_a_missing_feature_is_reported_in_one_sentence():
    """What fails in the notebooks where nothing is that a browser has not, and does not fail elsewhere."""
    failures = rehearsed(sorted(path for path in NOTEBOOKS.rglob("*.ipynb") if ".ipynb_" not in str(path)))
    first = {}
    for row in failures:
        first.setdefault(row["notebook"], row)

    assert {row["ename"] for row in first.values()} <= {"Unsupported"}
    assert {row["ename"] for row in failures} <= {"Unsupported", "NameError"}  # a name that such a cell would have made
    for row in failures:
        if row["ename"] == "Unsupported":
            assert "Traceback" not in row["shown"]
            assert row["shown"].startswith("Unsupported: ")
            assert "JupyterLab on your own machine" in row["shown"]


def test_messages_arrive_when_the_clock_moves_and_by_deliver(lab):
    before = threading.active_count()
    rx = svc.receiver()
    channel = svc.watch_changes(rx)
    lab.clock.advance("1s")
    svc.create_file(name="a")
    lab.deliver()

    assert rx.messages()[["state", "verified"]].values.tolist() == [["sync", True], ["change", True]]
    assert svc.notifications()["outcome"].tolist() == ["delivered", "delivered"]
    assert svc.channels()["id"].tolist() == channel["id"].tolist()
    assert threading.active_count() == before


def test_a_receiver_without_a_socket_shows_the_same():
    def story(**options):
        with svc.sandbox(seed=0):
            rx = svc.receiver(**options)
            file = svc.upload(b"x", name="x")
            svc.watch_file(file, rx)
            svc.update(file, name="y")
            rx.wait_for("update")
            return rx.messages(), rx.explain()

    with override(BROWSER):
        messages, headers = story()
    socket_messages, socket_headers = story()

    assert messages.drop(columns="received").equals(socket_messages.drop(columns="received"))
    assert messages.dtypes.equals(socket_messages.dtypes)
    assert headers["header"].tolist() == socket_headers["header"].tolist()


def test_a_call_that_needs_a_socket_is_an_error(lab):
    for call in (
        lab.serve,
        lambda: svc.receiver(direct=False),
        lambda: svc.receiver(session=svc.connect("https://api.example.org", "token")),
    ):
        with pytest.raises(svc.Unsupported, match=r"listens on a socket, and a browser has none\. Use JupyterLab"):
            call()


def test_an_error_about_a_missing_program_names_it(lab):
    program = "the conversion needs the program pandoc"
    with pytest.raises(svc.Unsupported, match=f"{program}, and a browser cannot run programs"):
        svc.upload(b"<p>x", name="x.html", convert_to="document")
    text = svc.upload(b"words", name="x.txt", convert_to="document")
    with pytest.raises(svc.Unsupported, match=f"cannot be exported as text/html here: {program}") as refused:
        svc.export(text, "html")

    assert (refused.value.status, refused.value.reason) == (400, "badRequest")
    assert lab.journal()["decided_by"].iloc[-1].startswith("A7-02")


def test_an_error_about_a_missing_package_has_the_command(monkeypatch):
    monkeypatch.setattr(available.TYPST.__class__, "is_available", lambda engine: engine.name != "typst")
    with svc.sandbox():
        table = svc.upload(b"a,b", name="t.csv", convert_to="spreadsheet")

        with pytest.raises(svc.Unsupported, match="the conversion needs typst, which is not installed"):
            svc.export(table, "pdf")


def test_long_work_of_a_form_goes_on_without_threads(lab, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(asyncio, "to_thread", None)
    monkeypatch.setattr(threading.Thread, "start", None)
    svc.upload(b"a,b\n1,2\n", name="t.csv", convert_to="spreadsheet")
    form = svc.export_form()
    form.controls  # noqa: B018 - it is there before the loop turns

    async def pressed():
        form.export.click()
        while form.busy:
            await asyncio.sleep(0)

    asyncio.run(pressed())
    assert form.last_error is None
    assert form.result["size"].item() > 0


def test_a_notebook_shows_only_the_sentence_of_an_error():
    InteractiveShell.clear_instance()
    config = Config()
    config.HistoryManager.enabled = False
    shell, output = InteractiveShell.instance(config=config), io.StringIO()
    with redirect_stdout(output):
        shell.run_cell("import svc_notebooks as svc; raise svc.Unsupported('Not this.')")
    InteractiveShell.clear_instance()

    assert output.getvalue().strip() == (
        "Unsupported: Not this. Use JupyterLab on your own machine, with all packages installed."
    )
