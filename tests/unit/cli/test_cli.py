import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
import requests

from svc_notebooks.cli import _parser, main, notebook_files as shipped_module
from svc_notebooks.cli.notebook_files import CopyOutcome, copy_notebooks, restore_notebook
from svc_notebooks.server.service import open_service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.commands import command, serving
from tests.patience import PATIENCE, until


def write_notebook(path: Path, *cells: str) -> Path:
    """A notebook of code cells that nobody has run yet."""
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    return path


def cells_of(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


@pytest.fixture
def shipped(tmp_path):
    """A folder of notebooks as a wheel would have it, with what must not be copied."""
    folder = tmp_path / "shipped"
    write_notebook(folder / "00-start.ipynb", "1 + 1")
    for name in ("data/cities.csv", ".ipynb_checkpoints/00-start.ipynb"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("of this version")
    return folder


class TestCopy:
    def test_brings_everything_that_a_notebook_needs_and_keeps_changed_files(self, shipped, tmp_path):
        mine = tmp_path / "mine"
        copied = copy_notebooks(mine, shipped)

        assert copied == {"00-start.ipynb": CopyOutcome.COPIED, "data/cities.csv": CopyOutcome.COPIED}
        assert (mine / "data" / "cities.csv").read_text() == "of this version"
        (mine / "00-start.ipynb").write_text("with my notes")

        assert [*copy_notebooks(mine, shipped).values()] == [CopyOutcome.KEPT, CopyOutcome.SAME]
        assert (mine / "00-start.ipynb").read_text() == "with my notes"

    def test_restores_a_notebook_and_keeps_the_changed_one(self, shipped, tmp_path):
        mine = tmp_path / "mine"
        copy_notebooks(mine, shipped)
        kept = []
        for notes in ("first", "second"):
            (mine / "00-start.ipynb").write_text(notes)
            kept.append(restore_notebook(mine, "start", shipped))

        assert kept == [("00-start.ipynb", f"00-start.kept-{number}.ipynb") for number in (1, 2)]
        assert [(mine / name).read_text() for _, name in kept] == ["first", "second"]
        assert [cell["source"] for cell in cells_of(mine / "00-start.ipynb")] == [["1 + 1"]]
        assert restore_notebook(mine, "00-start", shipped) == ("00-start.ipynb", None)

    def test_leaves_the_outputs_out_unless_asked(self, shipped, tmp_path):
        original = shipped / "00-start.ipynb"
        notebook = json.loads(original.read_text())
        output = {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {"text/plain": "2"}}
        notebook["cells"][0].update(outputs=[output], execution_count=1)
        original.write_text(json.dumps(notebook))

        for folder, with_outputs in (("plain", False), ("outputs", True)):
            copy_notebooks(tmp_path / folder, shipped, with_outputs=with_outputs)
            again = copy_notebooks(tmp_path / folder, shipped, with_outputs=not with_outputs)

            assert [*again.values()] == [CopyOutcome.SAME, CopyOutcome.SAME]
            assert bool(cells_of(tmp_path / folder / "00-start.ipynb")[0]["outputs"]) is with_outputs
        assert cells_of(tmp_path / "plain" / "00-start.ipynb")[0]["execution_count"] is None

    @pytest.mark.parametrize(
        "word,message", [("0", "matches several notebooks: 00-start.ipynb, 01-more.ipynb"), ("x", "matches none of 00")]
    )
    def test_an_ambiguous_name_is_refused_with_the_candidates(self, shipped, tmp_path, word, message):
        (shipped / "01-more.ipynb").write_text("")

        with pytest.raises(LookupError, match=message):
            restore_notebook(tmp_path / "mine", word, shipped)


class TestLab:
    @pytest.fixture
    def started(self, monkeypatch, shipped, tmp_path):
        seen = {}

        def start(command, **options):
            seen.update(command=command, **options)
            return SimpleNamespace(wait=lambda: 0)

        monkeypatch.setattr(shipped_module, "subprocess", SimpleNamespace(Popen=start))
        monkeypatch.setattr(shipped_module, "notebooks_folder", lambda: shipped)
        monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "signatures"))
        return seen

    def test_its_notebooks_are_trusted_and_those_of_others_are_not(self, started, tmp_path):
        import nbformat
        from nbformat.sign import NotebookNotary

        write_notebook(tmp_path / "mine" / "01-found.ipynb", "1 + 1")

        main(["lab", str(tmp_path / "mine"), "--only-copy", "--with-outputs"])

        notary = NotebookNotary()
        trusted = {
            path.name: notary.check_signature(nbformat.read(path, as_version=4))
            for path in sorted((tmp_path / "mine").glob("*.ipynb"))
        }
        notary.store.close()
        assert trusted == {"00-start.ipynb": True, "01-found.ipynb": False}

    def test_restores_a_notebook_with_the_option_at_any_place(self, started, tmp_path, capsys):
        mine = tmp_path / "mine"
        main(["lab", str(mine)])
        (mine / "00-start.ipynb").write_text("notes")

        assert main(["lab", str(mine), "--no-browser", "--fresh", "00"]) == 0

        assert "00-start.ipynb is restored; your version is 00-start.kept-1.ipynb now" in capsys.readouterr().err
        assert started["command"][-1] == "--no-browser"

    @pytest.mark.parametrize("word", ["99", ""])
    def test_an_unknown_notebook_is_refused_with_a_list_of_all(self, started, shipped, tmp_path, capsys, word):
        write_notebook(shipped / "01-more.ipynb")

        assert main(["lab", str(tmp_path / "mine"), "--fresh", word]) == 1

        assert "00-start.ipynb, 01-more.ipynb" in capsys.readouterr().err
        assert "command" not in started

    @pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM to send to another process")
    def test_ends_jupyterlab_when_it_is_ended(self, tmp_path):
        # A JupyterLab that says who it is, and waits.
        program = "import os, pathlib, time; pathlib.Path('pid').write_text(str(os.getpid())); time.sleep(99)"
        (tmp_path / "jupyterlab.py").write_text(program)
        env = {**os.environ, "PYTHONPATH": str(tmp_path), "HOME": str(tmp_path)}
        pid = tmp_path / "mine" / "pid"

        with subprocess.Popen(command("lab", str(tmp_path / "mine")), env=env, stderr=subprocess.PIPE) as process:
            until(lambda: pid.exists() and pid.read_text())
            process.terminate()
            process.communicate(timeout=PATIENCE)

        assert not psutil.pid_exists(int(pid.read_text()))

    def test_a_missing_package_is_an_error_with_the_command(self, monkeypatch, capsys):
        monkeypatch.setattr(shipped_module, "find_spec", lambda _: None)

        assert main(["lab"]) == 1

        assert 'pip install "svc-notebooks[lab]"' in capsys.readouterr().err


# What a kernel finds on Linux, where it is a fork with imported modules.
CHECKS = """
import multiprocessing, os, signal, sys
assert {"pandas", "svc_notebooks.server.service"} <= sys.modules.keys()
assert sys.modules["pandas"].get_option("display.max_columns") == 20  # and not 0, the default of a terminal
import own_module
assert os.path.dirname(own_module.__file__) == os.getcwd() and os.getsid(0) == os.getpid() != os.getppid()
assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())
assert "LEFT" not in os.environ and not os.environ.get("PYTHONHASHSEED", "0").strip("0")
assert os.environ["TZ"] == "UTC"
process = multiprocessing.get_context("fork").Process(target=print)
process.start(); process.join()
assert process.exitcode == 0
os.environ["LEFT"] = "yes"
"""


class TestRun:
    def test_failures_are_printed_and_each_notebook_has_a_process_of_its_own(self, tmp_path):
        write_notebook(tmp_path / "00-bad.ipynb", "x = 1", "x / 0")
        write_notebook(tmp_path / "01-dies.ipynb", "import os; os._exit(3)")
        (tmp_path / "02-broken.ipynb").write_text("{")
        (tmp_path / "own_module.py").write_text("VALUE = 7")
        (tmp_path / "sub").mkdir()
        (tmp_path / "sub" / "own_module.py").write_text("VALUE = 7")
        checks = CHECKS if sys.platform == "linux" else "import os; assert os.environ['TZ'] == 'UTC'"
        good = [write_notebook(tmp_path / name, checks) for name in ("03-first.ipynb", "sub/01-good.ipynb")]
        before = [path.read_bytes() for path in good]

        words = command("run", str(tmp_path), "--jobs", "1")
        result = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE)
        how = dict(re.findall(r"^(\S+\.ipynb) +(ok|FAILED) +\d+\.\d s$", result.stdout, re.MULTILINE))

        failed = dict.fromkeys(["00-bad.ipynb", "01-dies.ipynb", "02-broken.ipynb"], "FAILED")
        assert how == failed | {"03-first.ipynb": "ok", "sub/01-good.ipynb": "ok"}, result.stdout
        assert (result.returncode, result.stderr) == (1, "")
        for words in ("x / 0", "ZeroDivisionError: division by zero", "the kernel died", "the notebook cannot be read"):
            assert words in result.stdout
        assert "\x1b[" not in result.stdout
        assert re.search(r"\n2 of 5 notebooks ran to the end, in \d+ s\n$", result.stdout)
        assert [path.read_bytes() for path in good] == before

    @pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to another process")
    def test_an_interrupt_ends_the_kernels_and_what_they_started(self, tmp_path):
        path = tmp_path / "pid"
        sleeper = "import pathlib, subprocess; child = subprocess.Popen(['sleep', '99'])"
        started = f"{sleeper}; pathlib.Path({str(path)!r}).write_text(str(child.pid))"
        write_notebook(tmp_path / "00-slow.ipynb", started, "child.wait()")
        # A job in the background of a shell ignores SIGINT, and so would this one.
        listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
        program = f"{listening}; from svc_notebooks.cli import main; raise SystemExit(main(['run', {str(tmp_path)!r}]))"

        pipe = subprocess.PIPE
        with subprocess.Popen([sys.executable, "-c", program], stdout=pipe, stderr=pipe, text=True) as process:
            until(lambda: path.exists() and path.read_text())
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=PATIENCE)

        assert (process.returncode, output, errors) == (130, "interrupted\n", "")
        until(lambda: not psutil.pid_exists(int(path.read_text())))


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["run", "--jobs", "0"], "'0' is not a number"),
        (["grade", "class", "--jobs", "-1"], "'-1' is not a number"),
        (["grade", "class", "--timeout", "0"], "'0' is not a time limit"),
        (["grade", "class", "--cell-timeout", "nan"], "'nan' is not a time limit"),
        (["grade", "class", "--csv", "nowhere/marks.csv"], "'nowhere/marks.csv' cannot be written"),
        (["conformance", "https://files.example", "--timeout", "soon"], "'soon' is not a time limit"),
        (["grade", "class", "--timeout", "2 days"], "'2 days' is not a time limit"),
        (["conformance", "https://files.example", "--json", "."], "'.' cannot be written"),
        (["serve", "--host-name", "files.example:80"], "'files.example:80' is not a host name"),
        (["serve", "--allow-origin", "https://app.example/"], "'https://app.example/' is not an origin"),
        (["serve", "--control", "--control-token", "a b"], "a token must be printable ASCII without spaces"),
    ],
)
def test_an_invalid_argument_is_refused_with_the_reason(arguments, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)

    assert message in capsys.readouterr().err


@pytest.mark.parametrize("text, seconds", [("90", 90), ("0.5", 0.5), ("2min", 120), ("1 day", 86_400)])
def test_a_time_limit_is_a_duration(text, seconds):
    assert _parser().parse_args(["grade", "class", "--timeout", text]).timeout == seconds


@pytest.mark.parametrize("option", ["--csv", "--json"])
def test_an_existing_report_of_marks_is_kept(option, tmp_path, capsys):
    (tmp_path / "class" / "ada").mkdir(parents=True)
    marks = tmp_path / "marks"
    marks.write_text("with notes of the teacher")

    assert main(["grade", str(tmp_path / "class"), option, str(marks)]) == 2

    assert "marks exists (25 bytes, " in (message := capsys.readouterr().err)
    assert "give --overwrite to replace the file" in message
    assert marks.read_text() == "with notes of the teacher"
    assert main(["grade", str(tmp_path / "class"), option, str(marks), "--overwrite"]) in (0, 1)
    assert marks.read_text() != "with notes of the teacher"


def test_a_command_whose_output_is_no_longer_read_ends_without_a_traceback(tmp_path):
    open_service(tmp_path).close()
    with subprocess.Popen(command("check", str(tmp_path)), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()  # as `head` does
        errors = process.stderr.read()

    assert (process.returncode, errors) == (141, b"")


class TestServe:
    @pytest.mark.parametrize("source, end", [("option", signal.SIGINT), ("environment", signal.SIGTERM)])
    def test_says_when_it_is_ready_checks_the_control_token_and_ends_cleanly(self, source, end, monkeypatch):
        arguments = ["--control-token", "of-control"] if source == "option" else []
        if source == "environment":
            monkeypatch.setenv("SVC_CONTROL_TOKEN", "of-control")
        with serving("--token", "secret", "--control", *arguments, end=end) as ready:
            base_url, answers = ready["base_url"], []
            for token in ("of-control", "secret", ""):
                headers = {"Authorization": f"Bearer {token}"}
                answers.append(requests.get(f"{base_url}/_control/clock", headers=headers, timeout=PATIENCE))
            sign_in = requests.post(f"{base_url}/signin", data={"user": "ada@svc.example"}, timeout=PATIENCE)

        assert base_url.startswith("http://127.0.0.1:")
        expected = {"base_url": base_url, "token": "secret", "auth_scope_base": "https://svc.example/auth"}
        assert ready == {**expected, "ca": None, "control": True, "page": f"{base_url}/"}
        assert [answer.status_code for answer in [*answers, sign_in]] == [200, 401, 401, 401]

    def test_speaks_tls_with_an_authority_of_its_own(self):
        with serving("--tls", "--token", "t") as ready:
            ca = Path(ready["ca"])
            url = ready["base_url"] + "/storage/v3/files"
            answer = requests.get(url, headers={"Authorization": "Bearer t"}, verify=str(ca), timeout=PATIENCE)
            assert "PRIVATE" not in ca.read_text()
            assert ca.stat().st_mode & 0o777 == 0o644

        assert ready["base_url"].startswith("https://127.0.0.1:")
        assert answer.json()["files"] == []
        assert not ca.exists()

    @pytest.mark.parametrize(
        "arguments,message",
        [
            (["--store", "postgresql://db/files"], "needs a folder or a bucket for the contents of files"),
            (["--port", "70000"], "'70000' is not a port"),
            (["--token", "two words"], "without spaces"),
            (["--host", "192.0.2.1"], "cannot listen at 192.0.2.1:0: Cannot assign"),
            (["--store", str(Path(__file__, "store"))], "test_cli.py"),
            (["--colour"], "unrecognized arguments: --colour"),
            (["--stor", "files"], "unrecognized arguments: --stor"),
            (["--prefix", "services"], "'services' is not a path; give a path such as /services/svc"),
            (["--hub"], "JUPYTERHUB_SERVICE_NAME is not set; JupyterHub sets it for a service"),
            (["--hub", "--port", "8080"], "--port cannot be used with --hub, because JupyterHub decides this"),
            (["--hub", "--token", "secret"], "--token cannot be used with --hub"),
            (["--hub-domain", "uni.example"], "--hub-domain applies only to JupyterHub; add --hub"),
        ],
    )
    def test_an_invalid_argument_of_serve_is_refused(self, monkeypatch, capsys, arguments, message):
        monkeypatch.setattr(signal, "signal", lambda *_: None)
        monkeypatch.setattr(SocketServer, "serve_forever", lambda server: None)

        try:
            status = main(["serve", *arguments])
        except SystemExit as exit:  # of argparse
            status = exit.code

        output, errors = capsys.readouterr()
        assert (status, output) == (2, "")
        assert message in errors
