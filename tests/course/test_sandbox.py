"""Tests of submissions in bubblewrap, which see no files, processes and networks except the exercises."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from svc_notebooks.cli import main
from svc_notebooks.course import grading, sandbox
from svc_notebooks.course.grading import GradingLimits, SubmissionResult
from svc_notebooks.course.sandbox import NoSandboxError, find_sandbox
from svc_notebooks.course.submission_process import SandboxedProcess
from svc_notebooks.course.submissions import read_submission, submissions
from tests.course.notebooks import FIRST, SOLVED, write_notebook
from tests.patience import PATIENCE

PRYING = """
import os, socket
found = []
for path in ({folder!r}, {folder!r} + "/bob/e1.ipynb", {home!r}, "/etc/shadow", "/etc/passwd"):
    found += [path] if os.path.exists(path) else []
for path in ("/x", svc.__file__, "/usr/x", "/dev/x"):
    try:
        open(path, "a").close()
        found.append("wrote " + path)
    except OSError:
        pass
for address in ("127.0.0.1", "192.0.2.1"):
    try:
        socket.create_connection((address, {port}), 2).close()
        found.append("reached " + address)
    except OSError:
        pass
found += [f"process {{entry}}" for entry in os.listdir("/proc") if entry.isdecimal() and int(entry) > 100]
found += [name for name in os.environ if name == "SVC_TOKEN"]
assert not found, found
"""
LEAVES_A_CHILD = """
import subprocess
for _ in range(3): subprocess.Popen(["sleep", "4244"], start_new_session=True)
"""
CROWD = """
import os, time
for _ in range(40):
    if not os.fork(): time.sleep(600)
time.sleep(600)
"""


@contextmanager
def listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def graded(folder: Path) -> dict[str, SubmissionResult]:
    """Grade a class of six in bubblewrap: right, wrong, broken, hostile. No file of the class is changed."""
    with listener() as port:
        prying = PRYING.format(folder=str(folder), home=str(Path.home() / ".bashrc"), port=port)
        class_ = {
            "bob": [FIRST, SOLVED],
            "eve": [FIRST, SOLVED, prying],
            "ivo": [FIRST, SOLVED, LEAVES_A_CHILD, CROWD],
            "lea": [FIRST, "course.exercise('upload-with-a-name').begin(); svc.upload(b'x')", "1 / 0"],
            "max": [FIRST, SOLVED, f"for path in ('own', {str(folder / 'x')!r}): open(path, 'w').write('x')"],
        }  # fmt: skip
        before = {
            name: write_notebook(folder / name / "e1.ipynb", *cells).read_bytes() for name, cells in class_.items()
        }
        (folder / "tom.ipynb").write_bytes(b"<<<<<<<")
        os.environ["SVC_TOKEN"] = "a teacher's"
        limits = GradingLimits(cell=PATIENCE, notebook=PATIENCE)
        try:
            contents = list(map(read_submission, submissions(folder)[0]))
            marks = grading.grade(contents, "7", limits=limits, sandbox=find_sandbox("bubblewrap", [folder]))
        finally:
            del os.environ["SVC_TOKEN"]
    assert {path.parent.name: path.read_bytes() for path in folder.glob("*/*")} == before
    assert (folder / "tom.ipynb").read_bytes() == b"<<<<<<<"
    return {mark.student: mark for mark in marks}


@pytest.mark.marks
def test_a_class_of_six_in_bubblewrap(tmp_path: Path) -> None:
    if not find_sandbox().is_bubblewrap:
        pytest.skip("bubblewrap is not installed, or cannot start here")
    results = graded(tmp_path)

    solved = {student: result.solved for student, result in results.items()}
    assert solved == {"bob": 1, "eve": 1, "ivo": 1, "lea": 0, "max": 1, "tom": 0}
    # Eve looks for the files, processes, networks and tokens of the teacher.
    assert results["eve"].errors == ()
    assert results["eve"].remarks == ()
    (error_of_write,) = results["max"].errors
    assert "FileNotFoundError" in error_of_write or "Read-only" in error_of_write
    assert results["ivo"].remarks == ("e1.ipynb was stopped in cell 4, because it had more than 32 processes",)
    assert results["lea"].errors == ("e1.ipynb raised an exception in cell 3: ZeroDivisionError: division by zero",)
    commands = [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
    assert ["sleep", "4244"] not in commands


PREPARED = """
import os, sys
from importlib import import_module
from svc_notebooks.course.supervisor import PRELOADED_MODULES, prepare_shell
[import_module(name) for name in PRELOADED_MODULES]
print([name for name in sys.modules if name.startswith(("sqlalchemy", "svc_notebooks.server.service"))])
before = os.getcwd(), sys.path.copy()
prepare_shell(*sys.argv[1:])
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
print((os.getcwd(), sys.path) == before, shell.starting_dir, shell.ipython_dir)
shell.run_cell("import pandas; pandas.DataFrame({1: [2]})")
shell.run_cell("print(_); _.size")
"""


def test_the_process_of_a_submission_is_prepared_without_the_service_and_its_folder(tmp_path: Path) -> None:
    """The shell does not import from the folder, and does not format a table that nobody sees."""
    (tmp_path / "state").mkdir()
    command = [sys.executable, "-P", "-c", PREPARED, tmp_path, tmp_path / "state"]

    done = subprocess.run(command, capture_output=True, text=True, check=True)

    shown = "Out[0]: a DataFrame\n   1\n0  2\nOut[0]: 1\n"
    assert done.stdout == f"[]\nTrue {tmp_path} {tmp_path / 'state'}\n{shown}"


def test_a_process_without_a_job_has_started_before_it_is_killed() -> None:
    sandbox = find_sandbox()
    if not sandbox.is_bubblewrap:
        pytest.skip("bubblewrap does not work here")
    process = SandboxedProcess(sandbox)

    process.close()

    assert process._listener is not None


@pytest.fixture
def bwrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sandbox, "which", lambda name: str(tmp_path / "bwrap"))
    (tmp_path / "bwrap").touch(0o755)
    return tmp_path / "bwrap"


class TestChoice:
    def test_bubblewrap_that_is_asked_for_and_missing_is_an_error(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(sandbox, "which", lambda name: None)

        with pytest.raises(NoSandboxError, match="not installed"):
            find_sandbox("bubblewrap")
        assert find_sandbox().description.endswith("(bubblewrap: not installed)")

    def test_the_command_grades_without_bubblewrap_if_it_cannot_start(self, tmp_path, bwrap, capsys):
        bwrap.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
        write_notebook(tmp_path / "class" / "ada" / "e1.ipynb", FIRST, SOLVED)

        assert main(["grade", str(tmp_path / "class")]) == 0
        report = capsys.readouterr().out
        assert "(bubblewrap: it cannot start: No permissions to create new namespace)" in report
        assert "ada" in report
        assert main(["grade", str(tmp_path / "class"), "--isolation", "bubblewrap"]) == 2
        assert "cannot be used: it cannot start: No permissions" in capsys.readouterr().err

    def test_a_class_folder_below_the_folder_of_python_is_hidden(self, tmp_path, bwrap):
        bwrap.write_text("#!/bin/sh\nexit 0\n")
        hidden = Path(sandbox.__file__).parents[1] / "class"

        command = find_sandbox(hidden=[hidden, tmp_path]).command

        assert command[command.index(str(hidden)) - 1] == "--tmpfs"
        assert str(tmp_path) not in command
