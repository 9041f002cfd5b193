"""`svc-notebooks lab`: the notebooks in a folder of your own, open in JupyterLab."""

import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from .shipped import START, Outcome, copy_notebooks


def lab(directory: Path, arguments: Sequence[str] = ()) -> int:
    """Copy the notebooks to a folder, open JupyterLab there, and give its exit status."""
    if find_spec("jupyterlab") is None:
        return _fail('JupyterLab is not installed here: pip install "svc-notebooks[lab]"')
    if directory.exists() and not directory.is_dir():
        return _fail(f"{directory} is a file; name a folder, or one that does not exist yet")
    for copied in copy_notebooks(directory):
        if copied.outcome is not Outcome.SAME:
            sys.stderr.write(f"{copied.name}: {copied.outcome.value}\n")
    return _open(directory, arguments)


def _open(directory: Path, arguments: Sequence[str]) -> int:
    # As the default address rather than as a file, so that the link for --no-browser leads there too.
    first = f"--LabApp.default_url=/lab/tree/{START}"
    command = [sys.executable, "-m", "jupyterlab", first, *_as_root(), *arguments]
    process = subprocess.Popen(command, cwd=directory)
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
