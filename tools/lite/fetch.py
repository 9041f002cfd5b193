"""Downloads the packages of the site from PyPI and npm with their own clients."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from .wheels import PLATFORM, PYTHON

_FOR_PYODIDE = (
    "--no-deps", "--only-binary=:all:", f"--platform={PLATFORM}", f"--python-version={PYTHON}", "--implementation=cp",
)  # fmt: skip


def pip_download(arguments: Iterable[str], folder: Path) -> None:
    """Download wheels for Pyodide to a folder. `arguments` are arguments of pip."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *_FOR_PYODIDE, f"--dest={folder}", *arguments], check=True)


def npm_package(package: str, folder: Path) -> Path:
    """Download an npm package as an archive, and return its path. Raises RuntimeError without npm."""
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError("npm is needed for this, and is not on the PATH")
    folder.mkdir(parents=True, exist_ok=True)
    command = [npm, "pack", "--silent", package, f"--pack-destination={folder}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return folder / done.stdout.split()[-1]
