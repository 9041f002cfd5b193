"""The ids of the tests are the same in every process: xdist ends a run whose workers collected different tests."""

import os
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

ONE = {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8"}
OTHER = {
    "PYTHONHASHSEED": "2",
    "TZ": "Asia/Kathmandu",
    "LC_ALL": "C",
    "LANG": "C",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONUTF8": "0",
}
# Nothing is run: without nbval, the assertion rewriter and the cache it takes half the time.
COLLECT = [sys.executable, "-m", "pytest", "--collect-only", "-q"]
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


def collected(surroundings: dict[str, str], home: Path, *arguments: str) -> list[str]:
    """The ids that a process with these surroundings collects; it has a home and a temporary folder of its own."""
    home.mkdir()
    done = subprocess.run(
        [*COLLECT, *arguments],
        cwd=ROOT,
        env=os.environ | surroundings | {"HOME": str(home), "TMPDIR": str(home)},
        capture_output=True,
        text=True,
        errors="backslashreplace",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_another_process_collects_the_same_tests_in_the_same_order(tmp_path: Path, request: pytest.FixtureRequest):
    """Whatever its hash seed, time zone, locale, home, temporary folder, date and second; -k may have left some out."""
    here = [item.nodeid for item in request.session.items]
    files = dict.fromkeys(nodeid.partition("::")[0] for nodeid in here)

    there = collected(OTHER, tmp_path / "other", *LATER, *files)

    known = set(here)
    pairs = zip_longest(here, [nodeid for nodeid in there if nodeid in known])
    assert [(a, b) for a, b in pairs if a != b][:5] == []


def test_an_id_that_depends_on_the_process_is_found(tmp_path: Path) -> None:
    """The comparison sees each kind of value that is not the same in two processes."""
    (tmp_path / "test_depends.py").write_text(DEPENDS)

    arguments = f"--rootdir={tmp_path}", str(tmp_path / "test_depends.py")

    first = collected(ONE, tmp_path / "one", *arguments)
    other = collected(OTHER, tmp_path / "other", *LATER, *arguments)

    kinds = {a.split("[")[1].split("-")[0] for a, b in zip(first, other, strict=True) if a != b}
    assert kinds == set(DEPENDENT)
