"""`svc-notebooks run`: every notebook from top to bottom, without a browser."""

import os
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from .shipped import copy_notebooks, notebooks_in

if TYPE_CHECKING:
    from nbformat import NotebookNode

CELL_TIMEOUT = 120  # seconds; the slowest cell of ours takes a few

# What a notebook shows may depend on neither the zone nor the hash seed of the machine.
SAME_EVERYWHERE = {"TZ": "UTC", "PYTHONHASHSEED": "0"}


def run(directory: Path | None = None) -> int:
    """Execute the notebooks of a folder, a line each; 1 if one fails, else 0."""
    if find_spec("nbclient") is None:
        return _fail('what executes notebooks is not installed: pip install "svc-notebooks[lab]"')
    if directory is None:
        with tempfile.TemporaryDirectory(prefix="svc-notebooks-") as folder:
            copy_notebooks(Path(folder))
            return _run_all(Path(folder))
    if not directory.is_dir():
        return _fail(f"{directory} is no folder; svc-notebooks lab {directory} makes it")
    return _run_all(directory)


def _run_all(folder: Path) -> int:
    notebooks = notebooks_in(folder)
    if not notebooks:
        return _fail(f"{folder} holds no notebook")
    failures = [path for path in notebooks if not _run_one(path, path.relative_to(folder))]
    print(f"{len(notebooks) - len(failures)} of {len(notebooks)} notebooks ran to the end")
    return 1 if failures else 0


def _run_one(path: Path, name: Path) -> bool:
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    print(f"{name} ...", end=" ", flush=True)
    begun = time.monotonic()
    try:
        executed(path)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        print(f"FAILED\n{error}", flush=True)
        return False
    print(f"ok {time.monotonic() - begun:.1f} s", flush=True)
    return True


def executed(path: Path) -> "NotebookNode":
    """The notebook with the outputs of a run in its own folder; the file stays as it is."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],  # it warns that a loopback connection is not encrypted
        resources={"metadata": {"path": str(path.parent)}},
    )
    return client.execute(env={**os.environ, **SAME_EVERYWHERE})


def _fail(message: str) -> int:
    sys.stderr.write(f"svc-notebooks run: {message}\n")
    return 1
