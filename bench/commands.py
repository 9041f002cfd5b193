"""Measures what a person waits for: a sandbox, a folder of notebooks, the marks of a student, JupyterLab after a clone.

These goals are times. Beside each stands the least of its kind, measured in the same rounds, which says what the
machine can do at this moment.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

from bench.processes import folder
from bench.rounds import Run, Stopwatch, alternate, processor_timed
from bench.table import Row, milliseconds, tenths, within
from svc_notebooks.notebook.files.search import files
from svc_notebooks.notebook.sandbox.sandbox import sandbox
from svc_notebooks.server.service import open_service

ROOT = Path(__file__).parents[1]
CLI = [sys.executable, "-m", "svc_notebooks.cli"]
SANDBOXES = 25
START_SECONDS = 120

# Starts a kernel as nbclient does, and executes one cell.
_ONE_KERNEL = """
import nbformat
from nbclient import NotebookClient
cell = nbformat.v4.new_code_cell("1 + 1")
NotebookClient(nbformat.v4.new_notebook(cells=[cell])).execute()
"""


def first_answer() -> Iterator[Row]:
    """`sandbox()` to its first answer, beside an empty database in memory with the same tables."""
    schema = _schema()

    def ours() -> None:
        with sandbox():
            files()

    def database() -> None:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(schema)
            connection.execute("SELECT * FROM files").fetchall()

    costs = alternate({name: _each(work) for name, work in (("ours", ours), ("database", database))})
    work = "sandbox() to the first answer (processor time)"
    yield within(work, costs["ours"], 0.004, costs["database"], "sqlite3 with the same tables", milliseconds)


def _each(work: Callable[[], object]) -> Run:
    def repeat() -> None:
        for _ in range(SANDBOXES):
            work()

    run = processor_timed(repeat)
    return lambda: run() / SANDBOXES


def _schema() -> str:
    """The tables and indexes of the database, except those that the full-text index creates for itself."""
    query = """SELECT sql FROM sqlite_master LEFT JOIN pragma_table_list AS tables USING (name)
        WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND coalesce(tables.type, '') <> 'shadow'"""
    with open_service(seed=0) as service:
        return ";\n".join(row[0] for row in service._context.store.database.driver.execute(query))


def run_notebooks() -> Iterator[Row]:
    """`svc-notebooks run` with the notebooks of the package, beside one kernel for one cell."""
    costs = alternate({"ours": _command([*CLI, "run"]), "kernel": _one_kernel()})
    work = "svc-notebooks run, the notebooks of the package"
    yield within(work, costs["ours"], 15, costs["kernel"], "one kernel for one cell", tenths)


def grade_one_student() -> Iterator[Row]:
    """The marks of a student with seven notebooks, beside one kernel for one cell."""
    with folder() as path:
        student = path / "class" / "ada"
        subprocess.run([*CLI, "solutions", str(student)], check=True, capture_output=True)
        (student / "e8-capstone.ipynb").unlink()
        costs = alternate({"ours": _command([*CLI, "grade", str(path / "class")]), "kernel": _one_kernel()})
    work = "grade one student with seven notebooks"
    yield within(work, costs["ours"], 2, costs["kernel"], "one kernel for one cell", tenths)


def clone_to_jupyterlab() -> Iterator[Row]:
    """A clone of this checkout, `make lab` and its first answer, with the packages in uv's cache."""
    costs = alternate({"ours": _clone_and_start, "installed": _start_installed})
    work = "fresh clone to JupyterLab (packages in the cache)"
    yield within(work, costs["ours"], 14, costs["installed"], "jupyter lab, installed", tenths)


def _command(command: Sequence[str]) -> Run:
    def run() -> float:
        watch = Stopwatch()
        subprocess.run(command, check=True, capture_output=True)
        return watch.stop()

    return run


def _one_kernel() -> Run:
    return _command([sys.executable, "-c", _ONE_KERNEL])


def _clone_and_start() -> float:
    with tempfile.TemporaryDirectory(prefix="svc-bench-") as name:
        clone, port = Path(name, "clone"), _free_port()
        watch = Stopwatch()
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        options = f"--no-browser --allow-root --ServerApp.ip=127.0.0.1 --port {port} --IdentityProvider.token="
        return _until_answer(["make", "lab", f"ARGS={options}"], clone, port, watch)


def _start_installed() -> float:
    with tempfile.TemporaryDirectory(prefix="svc-bench-") as name:
        port, watch = _free_port(), Stopwatch()
        options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--IdentityProvider.token="]
        return _until_answer([sys.executable, "-m", "jupyter", "lab", *options], Path(name), port, watch)


def _until_answer(command: Sequence[str], cwd: Path, port: int, watch: Stopwatch) -> float:
    """Start a command in a process group of its own, and end the group when its JupyterLab answers."""
    process = subprocess.Popen(
        command, cwd=cwd, env=_without_this_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip
    try:
        end = time.monotonic() + START_SECONDS
        while not _answers(port):
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{command[0]} did not start JupyterLab")
            time.sleep(0.05)
        return watch.stop()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 15)
        process.communicate()


def _answers(port: int) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/api", timeout=5):
        return True
    return False


def _without_this_environment() -> Mapping[str, str]:
    return {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS")}


def _free_port() -> int:
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
