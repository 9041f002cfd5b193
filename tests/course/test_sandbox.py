"""Tests of submissions in bubblewrap, which see no files, processes and networks except the exercises."""

import json
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
from tests.patience import PATIENCE

FIRST = "import svc_notebooks as svc\nfrom svc_notebooks import course"
SOLVED = """given = course.exercise("upload-with-a-name").begin()
svc.upload(given.content, name=given.name)"""

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


def notebook(path: Path, *cells: str) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    every = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": c} for c in cells]
    path.write_text(json.dumps({"cells": every, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path.read_bytes()


@contextmanager
def listener() -> Iterator[int]:
    """A port of this machine at which something listens."""
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
        before = {name: notebook(folder / name / "e1.ipynb", *cells) for name, cells in class_.items()}
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

    assert {student: result.solved for student, result in results.items()} == {
        **dict.fromkeys(("bob", "eve", "ivo", "max"), 1),
        **dict.fromkeys(("lea", "tom"), 0),
    }
    # Eve looks for the files, processes, networks and tokens of the teacher.
    assert results["eve"].errors == ()
    assert results["eve"].remarks == ()
    (error_of_write,) = results["max"].errors
    assert "FileNotFoundError" in error_of_write or "Read-only" in error_of_write
    assert results["ivo"].remarks == ("e1.ipynb was stopped in cell 4, because it had more than 32 processes",)
    assert results["lea"].errors == ("e1.ipynb raised an exception in cell 3: ZeroDivisionError: division by zero",)
    commands = [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
    assert ["sleep", "4244"] not in commands


def test_the_process_of_a_submission_does_not_load_the_service() -> None:
    code = (
        "import sys; from importlib import import_module\n"
        "from svc_notebooks.course.supervisor import PRELOADED_MODULES\n"
        "[import_module(name) for name in PRELOADED_MODULES]\n"
        "print([name for name in sys.modules if name.startswith(('sqlalchemy', 'svc_notebooks.server.service'))])"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_a_process_without_a_job_has_started_before_it_is_killed() -> None:
    sandbox = find_sandbox()
    if not sandbox.is_bubblewrap:
        pytest.skip("bubblewrap does not work here")
    process = SandboxedProcess(sandbox)

    process.close()

    assert process._listener is not None


def test_the_shell_is_prepared_without_the_folder_from_which_a_submission_imports(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    code = (
        "import os, sys\n"
        "from svc_notebooks.course.supervisor import prepare_shell\n"
        "before = os.getcwd(), sys.path.copy()\n"
        f"prepare_shell({str(tmp_path)!r}, {str(tmp_path / 'state')!r})\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "print((os.getcwd(), sys.path) == before, shell.starting_dir, shell.ipython_dir)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == f"True {tmp_path} {tmp_path / 'state'}\n"


def test_the_shell_does_not_format_a_table_that_nobody_sees(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    code = (
        "from svc_notebooks.course.supervisor import prepare_shell\n"
        f"prepare_shell({str(tmp_path)!r}, {str(tmp_path / 'state')!r})\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "InteractiveShell.instance().run_cell('import pandas; pandas.DataFrame({1: [2]})')\n"
        "InteractiveShell.instance().run_cell('print(_); _.size')"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "Out[0]: a DataFrame\n   1\n0  2\nOut[0]: 1\n"


class TestChoice:
    """Which way is used, and the reason."""

    def test_bubblewrap_that_is_asked_for_and_missing_is_an_error(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(sandbox, "which", lambda name: None)

        with pytest.raises(NoSandboxError, match="not installed"):
            find_sandbox("bubblewrap")
        assert find_sandbox().description.endswith("(bubblewrap: not installed)")

    def test_the_command_grades_without_bubblewrap_if_it_cannot_start(self, tmp_path, monkeypatch, capsys):
        program = tmp_path / "bwrap"
        program.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
        program.chmod(0o755)
        monkeypatch.setattr(sandbox, "which", lambda name: str(program))
        (tmp_path / "class" / "ada").mkdir(parents=True)
        notebook(tmp_path / "class" / "ada" / "e1.ipynb", FIRST, SOLVED)

        assert main(["grade", str(tmp_path / "class")]) == 0
        report = capsys.readouterr().out
        assert "(bubblewrap: it cannot start: No permissions to create new namespace)" in report
        assert "ada" in report
        assert main(["grade", str(tmp_path / "class"), "--isolation", "bubblewrap"]) == 2
        assert "cannot be used: it cannot start: No permissions" in capsys.readouterr().err

    def test_a_class_folder_below_the_folder_of_python_is_hidden(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        program = tmp_path / "bwrap"
        program.write_text("#!/bin/sh\nexit 0\n")
        program.chmod(0o755)
        monkeypatch.setattr(sandbox, "which", lambda name: str(program))
        hidden = Path(sandbox.__file__).parents[1] / "class"

        command = find_sandbox(hidden=[hidden, tmp_path]).command

        assert command[command.index(str(hidden)) - 1] == "--tmpfs"
        assert str(tmp_path) not in command
