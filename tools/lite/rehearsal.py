"""Runs the notebooks on this machine as a page would (python -m tools.lite.rehearsal NOTEBOOK...).

Threads, sockets and child processes raise errors, and packages that Pyodide does not have are hidden. Prints a line of
JSON for each cell that ends in an error.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from svc_notebooks.cli.notebook_files import skip_address_parsers
from svc_notebooks.core.platform import BROWSER, override

HIDDEN = ("h11", "trustme", "formualizer", "tesserocr", "pypandoc")
"""What a page has not."""

EMPTY = ("fcntl", "resource", "termios")
"""What a page has as a name with nothing in it."""


class Forbidden(RuntimeError):
    """Raised for a capability that browsers do not have."""


def run(paths: list[Path]) -> Iterator[dict[str, Any]]:
    """Yield a row for each failed cell. The restrictions apply to the rest of this process."""
    import ipywidgets  # noqa: F401 - these look at the machine while they are imported
    import pandas  # noqa: F401
    import requests  # noqa: F401
    import sqlalchemy  # noqa: F401

    for name in HIDDEN:
        sys.modules[name] = None  # type: ignore[assignment]
    for name in EMPTY:
        sys.modules[name] = ModuleType(name)
    with override(BROWSER), asyncio.Runner() as runner:
        runner.run(asyncio.sleep(0))  # the loop has its sockets, as a page's has something like them
        _forbid()
        for path in paths:
            yield from runner.run(_notebook(path))


def _forbid() -> None:
    threading.Thread.start = _never("a thread")  # type: ignore[method-assign]
    socket.socket.__init__ = _never("a socket")  # type: ignore[method-assign,assignment]
    subprocess.Popen.__init__ = _never("a process")  # type: ignore[method-assign,assignment]
    os.fork = _never("a fork")


def _never(capability: str) -> Callable[..., NoReturn]:
    def refused(*_args: object, **_kwargs: object) -> NoReturn:
        raise Forbidden(f"{capability}: there is none in a browser")

    return refused


async def _notebook(path: Path) -> list[dict[str, Any]]:
    skip_address_parsers()
    import nbformat

    notebook = nbformat.read(path, 4)
    os.chdir(path.parent)
    shell = _shell()
    cells = [(n, cell.source) for n, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    rows = [await _cell(shell, source) | {"cell": n} for n, source in cells]
    return [row | {"notebook": path.name} for row in rows if row["ename"]]


def _shell() -> InteractiveShell:
    InteractiveShell.clear_instance()
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "NoColor"
    return InteractiveShell.instance(config=config)


async def _cell(shell: InteractiveShell, source: str) -> dict[str, Any]:
    output = io.StringIO()
    with redirect_stdout(output):
        result = await shell.run_cell_async(source, store_history=True, transformed_cell=shell.transform_cell(source))
    error = result.error_before_exec or result.error_in_exec
    shown = output.getvalue().strip()
    return {"ename": error and type(error).__name__, "evalue": str(error), "shown": shown if error else ""}


if __name__ == "__main__":
    for row in run([Path(name).resolve() for name in sys.argv[1:]]):
        sys.stdout.write(json.dumps(row) + "\n")
