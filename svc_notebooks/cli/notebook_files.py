"""Finds the notebooks of the package, copies them to a folder, and opens JupyterLab there."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from importlib.util import find_spec
from itertools import count
from os.path import lexists
from pathlib import Path
from typing import Any

from ..core.errors.errors import PathExists
from ..core.printable_text import terminal_text
from ..local.saving import UNCHANGED, move_into_place, save_bytes
from .options import fail, warn

FOLDER = Path(__file__).with_name("jupyter")


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return a copy of environment variables in which JUPYTER_CONFIG_PATH begins with the package's settings folder.

    >>> environment({"JUPYTER_CONFIG_PATH": "theirs"})["JUPYTER_CONFIG_PATH"].endswith(f"jupyter{os.pathsep}theirs")
    True
    """
    paths = [str(FOLDER), *filter(None, [variables.get("JUPYTER_CONFIG_PATH")])]
    return {**variables, "JUPYTER_CONFIG_PATH": os.pathsep.join(paths)}


def skip_address_parsers() -> None:
    """Prevent nbformat from building 39 parsers of international addresses, which notebooks do not need, in 1.2 s."""
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type] # jsonschema continues if it is missing


def trust(notebooks: Iterable[Path]) -> None:
    """Sign notebooks of the package, so that JupyterLab displays their saved outputs before the notebooks are run."""
    skip_address_parsers()
    import nbformat
    from nbformat.sign import NotebookNotary

    notary = NotebookNotary()
    for path in notebooks:
        with suppress(OSError):  # the home folder is not writable, so outputs are displayed only after a run
            notary.sign(nbformat.read(path, as_version=4))
    notary.store.close()


_CELL = re.compile(r'(?P<head>given = course\.exercise\("(?P<name>[\w-]+)"\)\.begin\(\)\n)')


def solutions(directory: Path) -> int:
    """Write the solved exercises, and the answers of the lessons, to a folder without replacing files.

    Return 1 if the path is a file, else 0.
    """
    if directory.exists() and not directory.is_dir():
        return fail("solutions", f"{directory} is a file; choose a folder, or a new path", 1)
    directory.mkdir(parents=True, exist_ok=True)
    exercises = sorted((notebooks_folder() / "exercises").glob("*.ipynb"))
    files = {path.name: _notebook_bytes(solve_notebook(path)) for path in exercises}
    lessons = PACKAGE / "course" / LESSONS
    for name, content in {**files, LESSONS: lessons.read_bytes()}.items():
        target = directory / name
        try:
            save_bytes(target, content, overwrite=False)
        except PathExists:
            sys.stderr.write(f"{target}: kept the existing file\n")
        else:
            print(terminal_text(target))
    return 0


def solve_notebook(path: Path) -> dict[str, Any]:
    """Return the JSON of an exercise notebook with its solutions and without outputs.

    Below each solution is a cell with the answers to the questions of the notebook.
    """
    from ..course.catalogue import solution_code

    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    cells: list[dict[str, Any]] = []
    for cell in notebook["cells"]:
        cells.append(cell)
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            if match := _CELL.match(source):
                code, answers = solution_code(match["name"])
                source = f"{match['head']}\n{code}"
                text = f"**Answers**\n\n{answers}".splitlines(keepends=True)
                cells.append({"cell_type": "markdown", "id": f"{cell['id']}-answers", "metadata": {}, "source": text})
            cell.update(source=source.splitlines(keepends=True), outputs=[], execution_count=None)
    return {**notebook, "cells": cells}


PACKAGE = Path(__file__).parents[1]
START = "00-start.ipynb"

# The answers to the Try tasks of the lessons.
LESSONS = "lessons.md"


class CopyOutcome(Enum):
    """The outcome of copying a file. The value is the text that is printed."""

    COPIED = "copied"
    SAME = "already there"
    KEPT = "kept your version, which differs from that of this package"


def notebooks_folder() -> Path:
    """Return the folder of the package's notebooks, which is inside the package in a wheel, else beside the package.

    >>> notebooks_folder().name in ("notebooks", "notebooks_shipped")
    True
    """
    inside = PACKAGE / "notebooks_shipped"
    return inside if inside.is_dir() else PACKAGE.with_name("notebooks")


def notebooks_in(folder: Path) -> list[Path]:
    """Return the sorted paths of all notebooks in a folder and its subfolders, without hidden files."""
    return sorted(path for path in folder.rglob("*.ipynb") if not _is_hidden(path, folder))


def _notebook_bytes(notebook: Mapping[str, Any]) -> bytes:
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def copy_notebooks(target: Path, source: Path | None = None, *, with_outputs: bool = False) -> dict[str, CopyOutcome]:
    """Copy the package's notebooks to a folder, keep existing files, and return the outcomes by path in the folder.

    The notebooks have no outputs, so that a person can predict them, or those of the package if `with_outputs` is True.
    """
    source = source or notebooks_folder()
    paths = [path for path in sorted(source.rglob("*")) if path.is_file() and not _is_hidden(path, source)]
    names = [path.relative_to(source).as_posix() for path in paths]
    return {name: _copy_one(source, target, name, with_outputs) for name in names}


def _is_hidden(path: Path, folder: Path) -> bool:
    parts = path.relative_to(folder).parts
    return any(part.startswith((".", "__pycache__")) for part in parts)


def _copy_one(source: Path, target: Path, name: str, with_outputs: bool) -> CopyOutcome:
    path, content = target / name, (source / name).read_bytes()
    versions = [content]
    if path.suffix == ".ipynb":
        notebook = json.loads(content)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell.update(outputs=[], execution_count=None)
        versions.insert(0 if not with_outputs else 1, _notebook_bytes(notebook))
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        outcome = save_bytes(path, versions[0], overwrite=False).outcome
    except PathExists:
        is_other_version = path.is_file() and path.read_bytes() in versions
        return CopyOutcome.SAME if is_other_version else CopyOutcome.KEPT
    return CopyOutcome.SAME if outcome == UNCHANGED else CopyOutcome.COPIED


def restore_notebook(
    target: Path, word: str, source: Path | None = None, *, with_outputs: bool = False
) -> tuple[str, str | None]:
    """Restore the original of the notebook whose name contains `word`, and rename and keep a changed notebook.

    `with_outputs` is as in `copy_notebooks`. Return the path of the notebook, and the new path of the changed file or
    None. Raises LookupError unless exactly one notebook matches.
    """
    source = source or notebooks_folder()
    name = _find_notebook(word, [path.relative_to(source).as_posix() for path in notebooks_in(source)])
    if _copy_one(source, target, name, with_outputs) is not CopyOutcome.KEPT:
        return name, None
    path = target / name
    backups = (path.with_name(f"{path.stem}.kept-{number}{path.suffix}") for number in count(1))
    backup = next(backup for backup in backups if not lexists(backup))
    move_into_place(path, backup, overwrite=False)
    _copy_one(source, target, name, with_outputs)
    return name, backup.relative_to(target).as_posix()


def _find_notebook(text: str, names: Sequence[str]) -> str:
    exact = [name for name in names if text in (name, name.removesuffix(".ipynb"))]
    matches = exact or [name for name in names if text in name]
    if len(matches) != 1:
        problem = "several notebooks:" if matches else "none of"
        raise LookupError(f"{text} matches {problem} {', '.join(matches or names)}")
    return matches[0]


# -- the command `svc-notebooks lab`, which copies the notebooks to a folder and opens JupyterLab there


def lab(
    directory: Path,
    arguments: Sequence[str] = (),
    *,
    fresh: str | None = None,
    only_copy: bool = False,
    with_outputs: bool = False,
) -> int:
    """Copy the notebooks to a folder, open JupyterLab there with `arguments`, and return the exit status of JupyterLab.

    `fresh` is a part of the name of a notebook to restore. With `only_copy`, JupyterLab is not opened. `with_outputs`
    copies the saved outputs too. Return 1 if the notebooks cannot be copied.
    """
    if find_spec("jupyterlab") is None and not only_copy:
        return fail("lab", 'JupyterLab is not installed: pip install "svc-notebooks[lab]"', 1)
    if directory.exists() and not directory.is_dir():
        return fail("lab", f"{directory} is a file; choose a folder, or a new path", 1)
    try:
        _copy_notebooks(directory, fresh, with_outputs=with_outputs)
    except LookupError as error:
        return fail("lab", str(error), 1)
    except OSError as error:
        return fail("lab", f"{error.filename or directory}: {error.strerror}; choose a folder with write permission", 1)
    return 0 if only_copy else _open(directory, arguments)


def _copy_notebooks(directory: Path, fresh: str | None, *, with_outputs: bool) -> None:
    shipped = notebooks_folder()
    if directory.resolve() == shipped.resolve():  # in a checkout the notebooks are used where they are
        if fresh is not None:
            raise LookupError(f"{directory} is in a Git checkout; restore the notebook with git restore")
    else:
        files = copy_notebooks(directory, with_outputs=with_outputs)
        new = sum(outcome is CopyOutcome.COPIED for outcome in files.values())
        copied = f"{new} of {len(files)} files copied to {directory}"
        warn("lab", copied if new else f"all files are in {directory} already")
        for name, outcome in files.items():
            if outcome is CopyOutcome.KEPT:
                warn("lab", f"{name}: {outcome.value}")
    if fresh is not None:
        name, backup = restore_notebook(directory, fresh, with_outputs=with_outputs)
        where = f"; your version is {backup} now" if backup else ""
        warn("lab", f"{name} is restored{where}")
    if find_spec("nbformat"):
        pairs = [(directory / path.relative_to(shipped), path) for path in sorted(shipped.rglob("*.ipynb"))]
        trust(copy for copy, path in pairs if copy.is_file() and copy.read_bytes() == path.read_bytes())


def _open(directory: Path, arguments: Sequence[str]) -> int:
    # Set the start notebook as the default URL rather than as a file argument. With --no-browser, the link that
    # JupyterLab prints then also opens the start notebook.
    options = [f"--LabApp.default_url=/lab/tree/{START}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")  # the user of a container is often root, which JupyterLab refuses without it
    command = [sys.executable, "-m", "jupyterlab", *options, *arguments]
    process = subprocess.Popen(command, cwd=directory, env=environment(os.environ))
    before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue  # the terminal also interrupts JupyterLab, which asks for confirmation
    finally:
        signal.signal(signal.SIGTERM, before)
