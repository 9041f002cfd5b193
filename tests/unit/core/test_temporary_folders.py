import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the locks of files are those of POSIX")

USE = """
import sys
from svc_notebooks.core.platform import temporary_folder
with temporary_folder("convert-") as folder:
    (folder / "page.png").write_text("x")
    print(folder, flush=True)
    sys.stdin.read()
"""
START = "from svc_notebooks.core.platform import temporary_folder\nwith temporary_folder('x-'): pass"


def started(folder: Path) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", USE], env={**os.environ, "TMPDIR": str(folder)}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    return process, Path(process.stdout.readline().strip())


def start_another(folder: Path) -> None:
    subprocess.run([sys.executable, "-c", START], env={**os.environ, "TMPDIR": str(folder)}, check=True)


def test_the_folder_of_a_killed_process_is_removed_at_the_next_start(tmp_path):
    process, left = started(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    assert left.is_dir()

    start_another(tmp_path)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("signaled", [signal.SIGSTOP, None])
def test_the_folder_of_a_living_process_stays(tmp_path, signaled):
    process, used = started(tmp_path)
    if signaled:
        process.send_signal(signaled)

    start_another(tmp_path)

    assert (used / "page.png").read_text() == "x"
    process.send_signal(signal.SIGCONT)
    process.communicate(timeout=PATIENCE)
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_ours_stays(tmp_path):
    kept = tmp_path / "documents"
    kept.mkdir()
    (kept / "lock").write_text("mine")
    (tmp_path / "svc-process-link").symlink_to(kept)
    (tmp_path / "svc-process-file").write_text("mine")
    (tmp_path / "svc-process-without-lock").mkdir()
    (tmp_path / "convert-mine").mkdir()
    linked = tmp_path / "svc-process-linked-lock"
    linked.mkdir()
    (linked / "lock").symlink_to(kept / "lock")
    before = sorted(tmp_path.rglob("*"))

    start_another(tmp_path)

    assert sorted(tmp_path.rglob("*")) == before
