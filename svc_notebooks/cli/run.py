"""Implements `svc-notebooks run`, which executes notebooks in parallel and without a browser."""

import os
import re
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.platform import temporary_folder
from ..core.printable_text import terminal_text
from .notebook_files import copy_notebooks, notebooks_in, skip_address_parsers
from .options import fail

if TYPE_CHECKING:
    from nbformat import NotebookNode

CELL_TIMEOUT = 120  # seconds; the slowest cell of the package takes a few
MAX_JOBS = 4  # a kernel takes up to 300 MB
INTERRUPTED = 130  # the exit status of shells for Ctrl-C

# The outputs of a notebook must depend neither on the time zone nor on the hash seed of the machine.
FIXED_ENVIRONMENT = {"TZ": "UTC", "PYTHONHASHSEED": "0"}
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def run(directory: Path | None = None, at_once: int | None = None) -> int:
    """Execute all notebooks in a folder, `at_once` in parallel, and print a line for each notebook.

    If `directory` is None, execute the package's notebooks in a temporary folder. Return the exit status, which is 1 if
    a notebook fails, 130 after Ctrl-C, else 0.
    """
    if find_spec("nbclient") is None:
        return fail("run", 'nbclient, which executes notebooks, is not installed: pip install "svc-notebooks[lab]"', 1)
    skip_address_parsers()
    if directory is None:
        with temporary_folder("svc-notebooks-") as folder:
            copy_notebooks(folder)
            return _run_all(folder, at_once)
    if not directory.is_dir():
        return fail("run", f"{directory} is not a folder; svc-notebooks lab {directory} creates it", 1)
    return _run_all(directory, at_once)


@dataclass(slots=True)
class Kernels:
    """The running kernels. `end` kills the kernels and their child processes."""

    clients: list[Any] = field(default_factory=list)
    ended: bool = False

    @contextmanager
    def running(self, client: Any) -> Iterator[None]:
        self.clients.append(client)
        try:
            yield
        finally:
            self.clients.remove(client)

    def end(self) -> None:
        """Kill every running kernel, so that no notebook continues with the next cell."""
        self.ended = True
        for client in list(self.clients):
            with suppress(AttributeError, OSError):  # the kernel has not started, or has ended
                pid = client.km.provisioner.pid
                if os.name == "posix":
                    os.killpg(pid, signal.SIGKILL)  # each kernel leads a process group
                else:
                    os.kill(pid, signal.SIGTERM)


def _run_all(folder: Path, at_once: int | None) -> int:
    from .forked_kernels import forked_kernels  # only here, because it needs jupyter_client

    paths = notebooks_in(folder)
    if not paths:
        return fail("run", f"{folder} has no notebook", 1)
    with forked_kernels(FIXED_ENVIRONMENT):
        return _run_paths(folder, paths, at_once)


def _run_paths(folder: Path, paths: Sequence[Path], at_once: int | None) -> int:
    started = time.monotonic()
    problems: list[str] = []
    kernels = Kernels()
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    pool = ThreadPoolExecutor(at_once or min(processors or 1, MAX_JOBS))
    names = [path.relative_to(folder).as_posix() for path in paths]
    futures = [pool.submit(_run_one, path, name, kernels) for path, name in zip(paths, names, strict=True)]
    try:
        for future in as_completed(futures):
            name, seconds, problem = future.result()
            problems.append(problem)
            state = f"{'FAILED' if problem else 'ok':<6}  {seconds:5.1f} s"
            lines = [f"{name:<{max(map(len, names))}}  {state}", *problem.splitlines()]
            print("\n".join(map(terminal_text, lines)) + "\n" * bool(problem), flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        return INTERRUPTED
    finally:
        for future in futures:
            future.cancel()
        kernels.end()
        pool.shutdown()
    succeeded = problems.count("")
    print(f"{succeeded} of {len(problems)} notebooks ran to the end, in {time.monotonic() - started:.0f} s")
    return 0 if succeeded == len(problems) else 1


def _run_one(path: Path, name: str, kernels: Kernels) -> tuple[str, float, str]:
    """Execute a notebook. Return its name, the seconds, and the error text, which is empty without an error."""
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
        problem = f"a cell did not end within {CELL_TIMEOUT} s"
    except DeadKernelError:
        problem = "the kernel died"
    except (NotJSONError, NotebookValidationError, OSError) as error:
        problem = f"the notebook cannot be read: {str(error).splitlines()[0]}"
    return name, time.monotonic() - started, problem


def execute(path: Path, kernels: Kernels | None = None) -> "NotebookNode":
    """Execute a notebook in its folder without changing the file, and return a notebook object with outputs."""
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
        extra_arguments=["--log-level=ERROR"],  # ipykernel warns that the loopback connection is not encrypted
        resources={"metadata": {"path": str(path.parent)}},
    )
    # Execute cell by cell, because `client.execute` handles Ctrl-C itself, which works only for one notebook at a time.
    with kernels.running(client), client.setup_kernel(env={**os.environ, **FIXED_ENVIRONMENT}):
        for number, cell in enumerate(client.nb.cells):
            if kernels.ended:
                break
            client.execute_cell(cell, number)
    return client.nb
