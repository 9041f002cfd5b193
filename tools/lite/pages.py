"""Copies the notebooks to the site, with a notice above each cell that cannot run in a browser."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat

HEAD = (
    "*This notebook runs in your browser, and so does the service: no data leaves the page. The first cell takes a"
    " while, because the browser loads Python and its packages.*"
)
LACKS = "*Not in a browser.* The next cell cannot run here and shows why. The result below was made in JupyterLab."
FOLLOWS = (
    "*Not in a browser.* The next cell needs the result of an earlier cell that cannot run here. The result below was"
    " made in JupyterLab."
)
MISSING = """if "{name}" not in globals():
    raise svc.Unsupported("{name} is missing: the cell above that makes it cannot run in a browser.")
"""
_UNKNOWN = re.compile(r"name '(\w+)' is not defined")

Row = dict[str, Any]


def lay_out(notebooks: Path, target: Path) -> list[Row]:
    """Write the site's copies of the notebooks and their data, and return a row for each cell that cannot run."""
    shutil.copytree(notebooks, target, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    paths = sorted(target.rglob("*.ipynb"))
    rows = rehearsed(paths)
    for path in paths:
        _rewrite(path, {row["cell"]: row for row in rows if row["notebook"] == path.name})
    return rows


def rehearsed(paths: Iterable[Path]) -> list[Row]:
    """Return a row (`notebook`, `cell`, `ename`, `evalue`) for each cell that fails only in a browser."""
    command = [sys.executable, "-W", "ignore", "-m", "tools.lite.rehearsal", *map(str, paths)]
    with tempfile.TemporaryDirectory() as scratch:  # the notebooks leave files of many megabytes
        state = {"TMPDIR": scratch, "SVC_NOTEBOOKS_STATE": f"{scratch}/state", "TZ": "UTC", "PYTHONHASHSEED": "0"}
        options = {
            "capture_output": True,
            "text": True,
            "cwd": Path(__file__).parents[2],
            "env": {**os.environ, **state},
        }
        done = subprocess.run(command, check=True, **options)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    meant = {(path.name, n) for path in paths for n in _meant(path)}
    return [row for row in rows if (row["notebook"], row["cell"]) not in meant]


def _meant(path: Path) -> Iterable[int]:
    """Return the numbers of the cells whose saved output is an error."""
    for n, cell in enumerate(nbformat.read(path, 4).cells):
        if any(output.output_type == "error" for output in cell.get("outputs", [])):
            yield n


def _rewrite(path: Path, failing: dict[int, Row]) -> None:
    notebook = nbformat.read(path, 4)
    cells = []
    for n, cell in enumerate(notebook.cells):
        row = failing.get(n)
        if row:
            words = LACKS if row["ename"] == "Unsupported" else FOLLOWS
            cells.append(nbformat.v4.new_markdown_cell(words, id=f"note-{n:02d}"))
            cell.source = _with_missing_notice(cell.source, row)
        if row or n in set(_meant(path)):
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "raises-exception"]  # so that "Run all" continues
        cells.append(cell)
    notebook.cells = [cells[0], nbformat.v4.new_markdown_cell(HEAD, id="lite"), *cells[1:]]
    notebook.metadata["kernelspec"] = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}
    path.write_text(json.dumps(notebook, ensure_ascii=False))  # each source as one str, not a list of lines


def _with_missing_notice(source: str, row: Row) -> str:
    """Return the cell's source, preceded by a check that explains a missing name from an earlier cell."""
    unknown = _UNKNOWN.fullmatch(row["evalue"])
    if row["ename"] != "NameError" or not unknown:
        return source
    lines = source.splitlines(keepends=True)
    at = next((statement.lineno - 1 for statement in ast.parse(source).body if _asks(statement, unknown[1])), 0)
    return "".join([*lines[:at], MISSING.format(name=unknown[1]), *lines[at:]])


def _asks(statement: ast.stmt, name: str) -> bool:
    """Return whether a statement needs the name at once. A function needs the name only when it is called."""
    names = (node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
    return not isinstance(statement, ast.FunctionDef) and name in names
