"""The ids of the tests are the same in every process: xdist ends a run whose workers collected different tests."""

import os
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).parents[2]

ONE = {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "PYTEST_XDIST_WORKER": "gw0"}
OTHER = {
    "PYTHONHASHSEED": "2",
    "TZ": "Asia/Kathmandu",
    "LC_ALL": "C",
    "LANG": "C",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONUTF8": "0",
    "PYTEST_XDIST_WORKER": "gw1",
}
# Nothing is run: without nbval, the assertion rewriter and the cache it takes half the time.
COLLECT = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", ""]
COLLECT += ["--assert=plain", "-p", "no:nbval", "-p", "no:cacheprovider"]
LATER = ["-p", "tests.shifted_clock"]

DEPENDENT = ["hash", "gzip", "seconds", "time zone", "date", "datetime", "random", "folder", "home", "encoding"]
DEPENDS = """
import gzip, os, random, tempfile, time
from datetime import date, datetime
import pytest

VALUES = {
    "hash": list({"a", "b", "c", "d", "e", "f", "g"}),
    "gzip": [gzip.compress(b"")],
    "seconds": [int(time.time())],
    "time zone": [datetime.fromtimestamp(0).isoformat()],
    "date": [date.today().isoformat()],
    "datetime": [datetime.now().strftime("%Y %S")],
    "random": [random.random()],
    "folder": [tempfile.gettempdir()],
    "home": [os.path.expanduser("~")],
    "encoding": [__import__("locale").getpreferredencoding()],
}

@pytest.mark.parametrize("name, value", [(name, value) for name in VALUES for value in VALUES[name]])
def test_that_has_its_value_in_its_id(name, value): ...
"""


def begin(surroundings: dict[str, str], home: Path, *arguments: str) -> subprocess.Popen[str]:
    """Starts a process that collects, with a home and a folder for temporary files of its own."""
    home.mkdir()
    return subprocess.Popen(
        [*COLLECT, *arguments],
        cwd=ROOT,
        env=os.environ | surroundings | {"HOME": str(home), "TMPDIR": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="backslashreplace",
    )


def ids(process: subprocess.Popen[str]) -> list[str]:
    output, _ = process.communicate()
    assert process.returncode == 0, output[-4000:]
    return [line for line in output.splitlines() if "::" in line]


def differences(tmp_path: Path, *arguments: str) -> list[tuple[str | None, str | None]]:
    """The ids that two unlike processes collect at the same place of their lists and that are not the same."""
    one = begin(ONE, tmp_path / "one", *arguments)
    other = begin(OTHER, tmp_path / "other", *LATER, *arguments)
    pairs = list(zip_longest(ids(one), ids(other)))
    assert pairs
    return [(a, b) for a, b in pairs if a != b]


def test_two_processes_collect_the_same_tests_in_the_same_order(tmp_path: Path) -> None:
    """Whatever the hash seed, the time zone, the locale, the home, the temporary folder, the date and the second."""
    assert differences(tmp_path)[:5] == []


def test_an_id_that_depends_on_the_process_is_found(tmp_path: Path) -> None:
    """The comparison sees each kind of value that is not the same in two processes."""
    (tmp_path / "test_depends.py").write_text(DEPENDS)

    unlike = differences(tmp_path, f"--rootdir={tmp_path}", str(tmp_path / "test_depends.py"))

    kinds = {a.split("[")[1].split("-")[0] for a, _ in unlike if a}
    assert kinds == set(DEPENDENT)
