"""Implements `svc-notebooks lab`, which copies the notebooks to a folder and opens JupyterLab there."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ..core.printable_text import terminal_text
from .notebook_files import START, CopyOutcome, copy_notebooks, environment, notebooks_folder, restore_notebook, trust
from .output_file import fail


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
        new = sum(file.outcome is CopyOutcome.COPIED for file in files)
        summary = (
            f"{new} of {len(files)} files copied to {directory}" if new else f"all files are in {directory} already"
        )
        kept = [f"{file.name}: {file.outcome.value}" for file in files if file.outcome is CopyOutcome.KEPT]
        for line in [summary, *kept]:
            sys.stderr.write(f"svc-notebooks lab: {terminal_text(line)}\n")
    if fresh is not None:
        name, backup = restore_notebook(directory, fresh, with_outputs=with_outputs)
        where = f"; your version is {backup} now" if backup else ""
        sys.stderr.write(f"svc-notebooks lab: {terminal_text(name)} is restored{where}\n")
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
