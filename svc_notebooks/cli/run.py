"""`svc-notebooks run`: every notebook from top to bottom, without a browser, one on each processor."""

import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .notebook_files import copy_notebooks, notebooks_in

if TYPE_CHECKING:
    from nbformat import NotebookNode

CELL_TIMEOUT = 120  # seconds; the slowest cell of ours takes a few
MAX_JOBS = 4  # a kernel takes up to 300 MB
INTERRUPTED = 130  # what shells give for Ctrl-C

# What a notebook shows may depend on neither the zone nor the hash seed of the machine.
FIXED_ENVIRONMENT = {"TZ": "UTC", "PYTHONHASHSEED": "0"}
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def run(directory: Path | None = None, at_once: int | None = None) -> int:
    """Execute the notebooks of a folder, a line each; 1 if one fails, 130 after Ctrl-C, else 0."""
    if find_spec("nbclient") is None:
        return _fail('what executes notebooks is not installed: pip install "svc-notebooks[lab]"')
    if directory is None:
        with tempfile.TemporaryDirectory(prefix="svc-notebooks-", ignore_cleanup_errors=True) as folder:
            copy_notebooks(Path(folder))
            return _run_all(Path(folder), at_once)
    if not directory.is_dir():
        return _fail(f"{directory} is no folder; svc-notebooks lab {directory} makes it")
    return _run_all(directory, at_once)


@dataclass(frozen=True, slots=True)
class NotebookRun:
    """How one notebook went; `problem` is empty if it ran to the end."""

    name: str
    seconds: float
    problem: str = ""

    def line(self, width: int) -> str:
        """What is said about it: one line, and the problem below."""
        head = f"{self.name:<{width}}  {'FAILED' if self.problem else 'ok':<6}  {self.seconds:5.1f} s"
        return f"{head}\n{self.problem}\n" if self.problem else head


@dataclass(slots=True)
class Kernels:
    """Those that run now, so that an interrupt ends them and all that they have started."""

    clients: list[Any] = field(default_factory=list)
    ended: bool = False

    @contextmanager
    def running(self, client: Any) -> Iterator[None]:
        """Know of this one as long as it runs."""
        self.clients.append(client)
        try:
            yield
        finally:
            self.clients.remove(client)

    def end(self) -> None:
        """Let none run on, and none go on with a next cell."""
        self.ended = True
        for client in list(self.clients):
            with suppress(AttributeError, OSError):  # not there yet, or there no more
                _kill(client.km.provisioner.pid)


def _kill(pid: int) -> None:
    if os.name == "posix":
        os.killpg(pid, signal.SIGKILL)  # each kernel leads a group of its own
    else:
        os.kill(pid, signal.SIGTERM)


def _run_all(folder: Path, at_once: int | None) -> int:
    paths = notebooks_in(folder)
    if not paths:
        return _fail(f"{folder} holds no notebook")
    started = time.monotonic()
    runs: list[NotebookRun] = []
    kernels = Kernels()
    pool = ThreadPoolExecutor(at_once or _processors())
    futures = [pool.submit(_run_one, path, path.relative_to(folder).as_posix(), kernels) for path in paths]
    try:
        _print_as_completed(futures, runs, width=max(len(path.relative_to(folder).as_posix()) for path in paths))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        return INTERRUPTED
    finally:
        for future in futures:
            future.cancel()
        kernels.end()
        pool.shutdown()
    succeeded = sum(not notebook.problem for notebook in runs)
    print(f"{succeeded} of {len(runs)} notebooks ran to the end, in {time.monotonic() - started:.0f} s")
    return 0 if succeeded == len(runs) else 1


def _print_as_completed(futures: "Sequence[Future[NotebookRun]]", runs: list[NotebookRun], width: int) -> None:
    for future in as_completed(futures):
        runs.append(future.result())
        print(runs[-1].line(width), flush=True)


def _processors() -> int:
    able = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(able or 1, MAX_JOBS)


def _run_one(path: Path, name: str, kernels: Kernels) -> NotebookRun:
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
    from nbformat.reader import NotJSONError
    from nbformat.validator import NotebookValidationError

    started = time.monotonic()
    problem = ""
    try:
        execute(path, kernels)
    except CellExecutionError as error:
        problem = COLOUR.sub("", str(error)).strip()
    except CellTimeoutError:
        problem = f"a cell was not done after {CELL_TIMEOUT} s"
    except DeadKernelError:
        problem = "its kernel died"
    except (NotJSONError, NotebookValidationError, OSError) as error:
        problem = f"it cannot be read: {str(error).splitlines()[0]}"
    return NotebookRun(name, time.monotonic() - started, problem)


def execute(path: Path, kernels: Kernels | None = None) -> "NotebookNode":
    """The notebook with the outputs of a run in its own folder; the file stays as it is."""
    import nbformat
    from nbclient import NotebookClient

    kernels = kernels or Kernels()
    client = NotebookClient(
        nbformat.read(path, as_version=4),
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],  # it warns that a loopback connection is not encrypted
        resources={"metadata": {"path": str(path.parent)}},
    )
    # Cell by cell: `client.execute` takes Ctrl-C for itself, which only works for one notebook at a time.
    with kernels.running(client), client.setup_kernel(env={**os.environ, **FIXED_ENVIRONMENT}):
        for number, cell in enumerate(client.nb.cells):
            if kernels.ended:
                break
            client.execute_cell(cell, number)
    return client.nb


def _fail(message: str) -> int:
    sys.stderr.write(f"svc-notebooks run: {message}\n")
    return 1
