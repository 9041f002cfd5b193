"""The command line: what it copies, what it runs, and what it says when it cannot."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from svc_notebooks.cli import lab as lab_module, main
from svc_notebooks.cli.shipped import Copied, Outcome, copy_notebooks, notebooks_in
from tests.patience import PATIENCE


def write_notebook(path: Path, *cells: str) -> Path:
    """A notebook of code cells that nobody has run yet."""
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    return path


def until(happened: Callable[[], object]) -> None:
    """Wait for something to happen, a minute at most."""
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """A folder of notebooks as a wheel would have it, with what must not be copied."""
    folder = tmp_path / "shipped"
    for name in ("00-start.ipynb", "data/cities.csv", ".ipynb_checkpoints/00-start.ipynb"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("of this version")
    return folder


class TestCopy:
    """`svc-notebooks lab` gives a person a copy of the notebooks that is theirs."""

    def test_brings_everything_that_a_notebook_needs(self, shipped: Path, tmp_path: Path):
        copied = copy_notebooks(tmp_path / "mine", shipped)

        assert copied == [Copied("00-start.ipynb", Outcome.COPIED), Copied("data/cities.csv", Outcome.COPIED)]
        assert (tmp_path / "mine" / "data" / "cities.csv").read_text() == "of this version"

    def test_leaves_what_a_person_changed(self, shipped: Path, tmp_path: Path):
        mine = tmp_path / "mine"
        copy_notebooks(mine, shipped)
        (mine / "00-start.ipynb").write_text("with my notes")

        copied = copy_notebooks(mine, shipped)

        assert [one.outcome for one in copied] == [Outcome.KEPT, Outcome.SAME]
        assert (mine / "00-start.ipynb").read_text() == "with my notes"

    def test_leaves_checkpoints_behind(self, shipped: Path):
        assert [path.name for path in notebooks_in(shipped)] == ["00-start.ipynb"]


class TestLab:
    """JupyterLab gets the folder, the first notebook and every argument that is not ours."""

    @pytest.fixture
    def started(self, monkeypatch: pytest.MonkeyPatch, shipped: Path) -> dict[str, object]:
        seen: dict[str, object] = {}

        class Process:
            def __init__(self, command: list[str], cwd: Path) -> None:
                seen.update(command=command, cwd=cwd)

            def wait(self) -> int:
                return 0

        monkeypatch.setattr(lab_module.subprocess, "Popen", Process)
        monkeypatch.setattr(lab_module, "copy_notebooks", lambda target: copy_notebooks(target, shipped))
        return seen

    def test_opens_the_first_notebook_of_the_folder(self, started: dict[str, object], tmp_path: Path):
        assert main(["lab", str(tmp_path / "mine")]) == 0

        assert started["cwd"] == tmp_path / "mine"
        assert started["command"][:3] == [sys.executable, "-m", "jupyterlab"]
        assert started["command"][3].endswith("/lab/tree/00-start.ipynb")

    @pytest.mark.parametrize("own", [["--no-browser", "--port", "8890"], ["--", "--port", "8890"]])
    def test_hands_on_its_arguments(
        self, started: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: list[str]
    ):
        monkeypatch.chdir(tmp_path)

        assert main(["lab", *own]) == 0

        assert started["cwd"] == Path("svc-notebooks")
        assert started["command"][-2:] == ["--port", "8890"]

    def test_says_so_when_the_folder_is_a_file(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        (tmp_path / "mine").write_text("")

        assert main(["lab", str(tmp_path / "mine")]) == 1

        assert "is a file; name a folder" in capsys.readouterr().err

    def test_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
        monkeypatch.setattr(lab_module, "find_spec", lambda _: None)

        assert main(["lab"]) == 1

        assert 'pip install "svc-notebooks[lab]"' in capsys.readouterr().err


class TestRun:
    """Notebooks run from top to bottom, a line each, and a failure is an exit status."""

    def run(self, folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.command(folder), capture_output=True, text=True, check=False, timeout=120)

    def command(self, folder: Path) -> list[str]:
        return [sys.executable, "-m", "svc_notebooks.cli", "run", str(folder)]

    def test_failures_are_told_and_the_others_run(self, tmp_path: Path):
        write_notebook(tmp_path / "00-bad.ipynb", "x = 1", "x / 0")
        write_notebook(tmp_path / "01-dies.ipynb", "import os; os._exit(3)")
        (tmp_path / "02-broken.ipynb").write_text("{")
        good = write_notebook(tmp_path / "sub" / "01-good.ipynb", "import os; assert os.environ['TZ'] == 'UTC'")
        before = good.read_bytes()

        result = self.run(tmp_path)
        how = dict(re.findall(r"^(\S+\.ipynb) +(ok|FAILED) +\d+\.\d s$", result.stdout, re.MULTILINE))

        assert result.returncode == 1
        assert how == dict.fromkeys(["00-bad.ipynb", "01-dies.ipynb", "02-broken.ipynb"], "FAILED") | {
            "sub/01-good.ipynb": "ok"
        }
        for words in ("x / 0", "ZeroDivisionError: division by zero", "its kernel died", "it cannot be read"):
            assert words in result.stdout
        assert "\x1b[" not in result.stdout
        assert re.search(r"\n1 of 4 notebooks ran to the end, in \d+ s\n$", result.stdout)
        assert result.stderr == ""
        assert good.read_bytes() == before

    @pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to another process")
    def test_an_interrupt_ends_the_kernels_and_what_they_started(self, tmp_path: Path):
        path = tmp_path / "pid"
        sleeper = "import pathlib, subprocess; child = subprocess.Popen(['sleep', '99'])"
        write_notebook(
            tmp_path / "00-slow.ipynb",
            f"{sleeper}; pathlib.Path({str(path)!r}).write_text(str(child.pid))",
            "child.wait()",
        )
        # A job in the background of a shell ignores SIGINT, and so would this one.
        listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
        program = f"{listening}; from svc_notebooks.cli import main; raise SystemExit(main(['run', {str(tmp_path)!r}]))"

        with subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            until(lambda: path.exists() and path.read_text())
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=60)

        assert (process.returncode, output, errors) == (130, "interrupted\n", "")
        until(lambda: not psutil.pid_exists(int(path.read_text())))

    def test_a_folder_without_notebooks_is_a_mistake(self, tmp_path: Path):
        result = self.run(tmp_path)

        assert result.returncode == 1
        assert "holds no notebook" in result.stderr

    def test_a_folder_that_is_not_there_is_a_mistake(self, tmp_path: Path):
        result = self.run(tmp_path / "nowhere")

        assert result.returncode == 1
        assert "is no folder" in result.stderr


class TestServe:
    """`svc-notebooks serve` is a program for other programs: one line when ready, a clean end."""

    def serve(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "svc_notebooks.cli", "serve", *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    @pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
    def test_says_when_it_is_ready_and_ends_cleanly(self, end: signal.Signals):
        with self.serve("--token", "secret", "--control") as process:
            ready = json.loads(process.stdout.readline())
            process.send_signal(end)
            rest, errors = process.communicate(timeout=PATIENCE)

        assert ready["base_url"].startswith("http://127.0.0.1:")
        assert ready == {
            "base_url": ready["base_url"],
            "token": "secret",
            "auth_scope_base": "https://svc.example/auth",
            "ca": None,
            "control": True,
        }
        assert (process.returncode, rest, errors) == (0, "", "")

    def test_answers_to_its_token_and_to_no_other(self):
        import requests

        with self.serve() as process:
            ready = json.loads(process.stdout.readline())
            url = ready["base_url"] + "/storage/v3/files"
            signed_in = requests.get(url, headers={"Authorization": f"Bearer {ready['token']}"}, timeout=PATIENCE)
            stranger = requests.get(url, headers={"Authorization": "Bearer other"}, timeout=PATIENCE)
            control = requests.get(ready["base_url"] + "/_control/clock", timeout=PATIENCE)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE)

        assert (signed_in.status_code, stranger.status_code, control.status_code) == (200, 401, 404)

    def test_speaks_tls_with_an_authority_of_its_own(self):
        import requests

        with self.serve("--tls", "--token", "t") as process:
            ready = json.loads(process.stdout.readline())
            ca = Path(ready["ca"])
            url = ready["base_url"] + "/storage/v3/files"
            signed_in = {"Authorization": "Bearer t"}
            answer = requests.get(url, headers=signed_in, verify=str(ca), timeout=PATIENCE)
            pem = ca.read_text()
            mode = ca.stat().st_mode & 0o777
            process.send_signal(signal.SIGTERM)
            rest, errors = process.communicate(timeout=PATIENCE)

        assert ready["base_url"].startswith("https://127.0.0.1:")
        assert answer.json()["files"] == []
        assert "PRIVATE" not in pem
        assert (mode, ca.exists()) == (0o644, False)
        assert (process.returncode, rest, errors) == (0, "", "")

    def test_keeps_files_in_its_store(self, tmp_path: Path):
        import requests

        names = []
        for _ in range(2):
            with self.serve("--store", str(tmp_path / "store"), "--token", "t") as process:
                ready = json.loads(process.stdout.readline())
                signed_in = {"Authorization": "Bearer t"}
                url = ready["base_url"] + "/storage/v3/files"
                requests.post(url, json={"name": "kept"}, headers=signed_in, timeout=PATIENCE).raise_for_status()
                names.append(
                    [file["name"] for file in requests.get(url, headers=signed_in, timeout=PATIENCE).json()["files"]]
                )
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=PATIENCE)

        assert names == [["kept"], ["kept", "kept"]]

    @pytest.mark.parametrize(
        "arguments,message",
        [
            (["--store", "postgresql://db/files"], "is supported yet"),
            (["--port", "70000"], "'70000' is no port"),
            (["--token", "two words"], "one word"),
            (["--host", "192.0.2.1"], "192.0.2.1"),
            (["--store", str(Path(__file__, "store"))], "test_cli.py"),
            (["--colour"], "unrecognized arguments: --colour"),
        ],
    )
    def test_says_what_is_wrong_with_an_argument(self, arguments: list[str], message: str):
        with self.serve(*arguments) as process:
            output, errors = process.communicate(timeout=PATIENCE)

        assert process.returncode == 2
        assert output == ""
        assert message in errors
        assert "Traceback" not in errors
