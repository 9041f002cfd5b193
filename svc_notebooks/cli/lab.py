"""`svc-notebooks lab`: the notebooks in a folder of your own, open in JupyterLab."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from .jupyter_settings import environment, trust
from .notebook_files import START, CopiedFile, CopyOutcome, copy_notebooks, notebooks_folder, restore_notebook


def lab(directory: Path, arguments: Sequence[str] = (), *, fresh: str | None = None, only_copy: bool = False) -> int:
    """Copy the notebooks to a folder, open JupyterLab there, and give its exit status."""
    if find_spec("jupyterlab") is None and not only_copy:
        return _fail('JupyterLab is not installed here: pip install "svc-notebooks[lab]"')
    if directory.exists() and not directory.is_dir():
        return _fail(f"{directory} is a file; name a folder, or one that does not exist yet")
    try:
        _copy_notebooks(directory, fresh)
    except LookupError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{error.filename or directory}: {error.strerror}; name a folder that you may write to")
    return 0 if only_copy else _open(directory, arguments)


def _copy_notebooks(directory: Path, fresh: str | None) -> None:
    if directory.resolve() == notebooks_folder().resolve():  # in a checkout they are worked with where they are
        if fresh is not None:
            raise LookupError(f"{directory} is of a checkout; git restore brings back what was there")
    else:
        for line in _copy_summary(directory, copy_notebooks(directory)):
            sys.stderr.write(f"svc-notebooks lab: {line}\n")
    if fresh is not None:
        name, kept = restore_notebook(directory, fresh)
        where = f"; yours is {kept} now" if kept else ""
        sys.stderr.write(f"svc-notebooks lab: {name} is as it came{where}\n")
    if find_spec("nbformat"):
        trust(_unchanged_copies(directory))


def _copy_summary(directory: Path, copied: Sequence[CopiedFile]) -> list[str]:
    new = sum(file.outcome is CopyOutcome.COPIED for file in copied)
    first = f"{new} of {len(copied)} files copied to {directory}" if new else f"all files are in {directory} already"
    return [first, *(f"{file.name}: {file.outcome.value}" for file in copied if file.outcome is CopyOutcome.KEPT)]


def _unchanged_copies(directory: Path) -> list[Path]:
    """Notebooks there that are as they were shipped: what is in them is ours."""
    shipped = notebooks_folder()
    pairs = ((directory / path.relative_to(shipped), path) for path in sorted(shipped.rglob("*.ipynb")))
    return [mine for mine, theirs in pairs if mine.is_file() and mine.read_bytes() == theirs.read_bytes()]


def _open(directory: Path, arguments: Sequence[str]) -> int:
    # As the default address rather than as a file, so that the link for --no-browser leads there too.
    first = f"--LabApp.default_url=/lab/tree/{START}"
    command = [sys.executable, "-m", "jupyterlab", first, *_as_root(), *arguments]
    process = subprocess.Popen(command, cwd=directory, env=environment(os.environ))
    before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())  # who ends this one means JupyterLab
    try:
        return _wait_for(process)
    finally:
        signal.signal(signal.SIGTERM, before)


def _wait_for(process: "subprocess.Popen[bytes]") -> int:
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # the terminal sent it to JupyterLab as well, which asks before it stops


def _as_root() -> list[str]:
    """In a container one is often root, and JupyterLab wants to hear that it is meant."""
    return ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


def _fail(message: str) -> int:
    sys.stderr.write(f"svc-notebooks lab: {message}\n")
    return 1
