"""Runs the notebooks of one submission one after the other, each in its own process, and stops one that uses too much.

This process runs in the sandbox, or below the grading process without one. It starts a process for each notebook, and
kills the processes that a notebook has left before the next notebook starts. The process of a notebook reports the
current cell and the first exception.
"""

from __future__ import annotations

import gc
import json
import mimetypes
import os
import signal
import socket
import sys
import time
from base64 import b64decode
from collections.abc import Sequence
from contextlib import chdir, suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from io import TextIOWrapper
from math import ceil
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from .sandbox import inherited_variables


@dataclass(frozen=True, slots=True)
class GradingLimits:
    """The limits of a submission.

    Args:
        cell: Seconds for a cell.
        notebook: Seconds for a notebook. The processor time of a process may be twice as long.
        output: Characters that a cell may print.
        processes: The number of processes that a notebook may have at the same time.
        memory: The memory in bytes of the processes of a notebook together.
    """

    cell: float = 30.0
    notebook: float = 120.0
    output: int = 10_000_000
    processes: int = 32
    memory: int = 2 * 1024**3


@dataclass(frozen=True, slots=True)
class SubmissionJob:
    """The cells of each notebook to run, the other files of the submission in base64, the limits and the variables."""

    notebooks: list[list[str]]
    files: dict[str, str]
    folder: str
    environment: dict[str, str]
    limits: GradingLimits
    in_sandbox: bool = False
    first: int = 0

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> SubmissionJob:
        values = json.loads(content)
        return cls(**values | {"limits": GradingLimits(**values["limits"])})


_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36
_ROUNDS = 50


def descendants(pid: int, most: int = 10_000) -> list[int]:
    """Return the ids of the running processes below a process, and no more than about `most` of them."""
    below: set[int] = set()
    waiting = [pid]
    while waiting and len(below) <= most:
        children = [child for child in _children(waiting.pop()) if child not in below and _is_running(child)]
        below.update(children)
        waiting += children
    return list(below)


def _children(pid: int) -> list[int]:
    ids: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            ids += map(int, (task / "children").read_text().split())
    return ids


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1] not in (b"Z", b"X")
    except OSError:
        return False


def kill_below(pid: int) -> bool:
    """Kill the processes below a process, and return whether none is left."""
    for _ in range(_ROUNDS):
        below = descendants(pid)
        if not below:
            return True
        for child in below:
            with suppress(OSError):
                os.kill(child, signal.SIGKILL)
    return False


def resident_bytes(pids: list[int]) -> int:
    """Return the memory of processes in bytes. The memory that several processes share counts once."""
    kilobytes = 0
    for pid in pids:
        with suppress(OSError, ValueError, IndexError):
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
            kilobytes += int(text.partition("\nPss:")[2].split(maxsplit=1)[0])
    return kilobytes * 1024


def _prctl(option: int, value: int) -> None:
    """Set an attribute of this process, where the system can: who adopts orphans, or the end with the parent."""
    from ctypes import CDLL

    with suppress(OSError, AttributeError, TypeError):  # only Linux has prctl
        CDLL(None).prctl(option, value, 0, 0, 0)


# The modules that most submissions import. The process of a notebook starts with these modules loaded.
#
# The service is not among them: the exercises of a submission are in the grading process. pyarrow is optional.
PRELOADED_MODULES = (
    "IPython.core.application", "IPython.core.completer", "IPython.core.completerlib", "IPython.core.interactiveshell",
    "IPython.core.magics", "IPython.core.oinspect", "pandas", "pandas.io.formats.html", "pyarrow.pandas_compat",
    "pyarrow.vendored.version", "requests",
    "svc_notebooks.client.transport.http", "svc_notebooks.course.student_exercise",
    "svc_notebooks.notebook.events.events", "svc_notebooks.notebook.files.downloads.downloads",
    "svc_notebooks.notebook.files.files", "svc_notebooks.notebook.files.search",
    "svc_notebooks.notebook.files.uploads", "svc_notebooks.notebook.notifications.channels",
)  # fmt: skip

_CHECK_SECONDS = 0.25


def main(arguments: list[str]) -> None:
    """Run in the sandbox: send a listening socket of the sandbox's own network, then run the submission."""
    (descriptor,) = map(int, arguments)
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(fileno=os.dup(descriptor)) as channel:
        socket.send_fds(channel, [b"\0"], [listener.fileno()])
    gc.disable()
    for name in PRELOADED_MODULES:
        with suppress(ImportError):
            import_module(name)
    run_submission(Connection(descriptor))
    os._exit(0)  # freeing the memory of the modules takes 0.2 s


def run_submission(connection: Connection) -> None:
    """Receive a SubmissionJob, run its notebooks, and report about each cell and the end of each notebook."""
    with suppress(OSError):
        os.setsid()
    job = SubmissionJob.from_bytes(connection.recv_bytes())
    _prctl(_SET_CHILD_SUBREAPER, 1)  # of each process below this one whose parent has ended
    for name in ("HOME", "TMPDIR"):
        Path(job.environment[name]).mkdir(parents=True, exist_ok=True)
    if hasattr(os, "fork"):
        with suppress(OSError):  # the processes of the notebooks try it again
            prepare_shell(job.folder, job.environment["IPYTHONDIR"])
    gc.freeze()  # a collection in the process of a notebook would copy the memory of all modules
    gc.enable()
    _write_files(job)
    for number, cells in enumerate(job.notebooks[job.first :], start=job.first):
        connection.send_bytes(b"start %d" % number)
        if not hasattr(os, "fork"):  # the grading process starts another process for the next notebook
            run_cells(job, cells, connection)
            return
        status = _run_notebook(job, cells, connection)
        connection.send_bytes(b"exit %d %d" % (number, status))


def _write_files(job: SubmissionJob) -> None:
    """Write the other files of a submission to its folder."""
    folder = Path(job.folder)
    for name, content in job.files.items():
        path = folder / name
        with suppress(OSError, ValueError):  # such as a file in place of a folder, or a name that is too long
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b64decode(content))


def _run_notebook(job: SubmissionJob, cells: list[str], connection: Connection) -> int:
    """Run a notebook in a process, and return its exit status, negative for a signal, when nothing of it runs."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    process = os.fork()
    if not process:
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            _prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
            run_cells(job, cells, connection)
        finally:
            os._exit(0)
    signal.signal(signal.SIGTERM, lambda *_: _end(process))
    status = None
    while status is None:
        _wait_for_child()
        status = _reap(process)
        if status is None and (excess := _excess(job.limits)):
            connection.send_bytes(f"excess 0 {excess}".encode())
            _kill_all(process, in_sandbox=job.in_sandbox)
            status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    _kill_all(process, in_sandbox=job.in_sandbox)
    _reap(None)
    return status


def _end(process: int) -> None:
    """End this process and the processes of the running notebook."""
    _kill_all(process, in_sandbox=False)
    os._exit(0)


def _wait_for_child() -> None:
    """Wait until a child ends, but not longer than the interval of the checks."""
    if hasattr(signal, "sigtimedwait"):
        signal.sigtimedwait({signal.SIGCHLD}, _CHECK_SECONDS)
    else:
        time.sleep(_CHECK_SECONDS / 10)


def _reap(process: int | None) -> int | None:
    """Reap all children that have ended, and return the exit status of `process`, or None if it has not ended."""
    with suppress(ChildProcessError):
        while True:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child == process:
                return os.waitstatus_to_exitcode(status)
            if not child:
                break
    return None


def _excess(limits: GradingLimits) -> str:
    """Return which limit the processes of the notebook exceed, or "" for none."""
    running = descendants(os.getpid(), limits.processes)
    if len(running) > limits.processes:
        return f"it had more than {limits.processes} processes"
    if resident_bytes(running) > limits.memory:
        return f"it was out of memory, with more than {limits.memory / 1024**2:g} MiB"
    return ""


def _kill_all(process: int, *, in_sandbox: bool) -> None:
    """Kill the processes of a notebook. In the sandbox, the system kills all processes except this one at once."""
    with suppress(OSError):
        os.killpg(process, signal.SIGKILL)
    if in_sandbox:
        with suppress(OSError):
            os.kill(-1, signal.SIGKILL)
    else:
        kill_below(os.getpid())


# -- the process of a notebook


_MAX_ADDRESS_SPACE = 4 * 1024**3
_MAX_FILE_SIZE = 256 * 1024**2
_MAX_DESCRIPTORS = 4096
_MAX_THREADS = 256  # the largest number of processes and threads of the user in a sandbox, whose user has no others

_NICENESS = 5  # the grading process and its services have precedence over submissions

_MAX_ERROR = 200  # the largest number of characters of a reported exception

# The interval in seconds between further interrupts, if a cell catches the first interrupt and continues.
_ALARM_INTERVAL = 0.5


def run_cells(job: SubmissionJob, cells: Sequence[str], connection: Connection) -> None:
    """Run notebook cells one after the other, and send each cell number on the connection before the cell runs.

    A cell that takes too long or prints too much is interrupted. If a cell fails or is interrupted, the next cell still
    runs. The text of the first exception is sent, too.
    """
    _isolate(job, connection.fileno())
    output = sys.stdout = sys.stderr = _LimitedOutput(job.limits.output)
    shell = _shell(job.environment["IPYTHONDIR"])
    error = ""
    for number, cell in enumerate(cells, start=1):
        connection.send_bytes(b"cell %d" % number)
        output.renew()
        try:
            _set_alarm(job.limits.cell)
            execution = shell.run_cell(cell, store_history=False)
            stopped = execution.error_in_exec
            if not error and (error := _error_text(execution.error_before_exec or stopped)):
                connection.send_bytes(f"error {number} {error}".encode("utf-8", "replace"))
        except (CellTimeout, CellOutputLimit) as interruption:
            stopped = interruption
        finally:
            _set_alarm(0)
        if isinstance(stopped, CellTimeout):
            connection.send_bytes(b"slow %d" % number)
        elif output.is_full:
            connection.send_bytes(b"loud %d" % number)
    connection.send_bytes(b"end %d" % len(cells))


def prepare_shell(folder: str, state: str) -> None:
    """Make the shell that forks of this process use for their cells.

    `folder` is the working folder of the forks, which has no files of a submission yet, because modules are imported.
    `state` is the folder of IPython.
    """
    mimetypes.init()  # reads a file of the system, which each notebook would read
    path = sys.path.copy()
    with chdir(folder):
        _shell(state)
    sys.path[:] = path  # the shell has added the working folder, from which only the forks may import modules


def _shell(state: str) -> Any:
    """Return the IPython shell of this process, which has no history. `state` is the folder of IPython."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    settings = Config()
    settings.HistoryManager.enabled = False
    settings.InteractiveShell.colors = "NoColor"
    shell: Any = InteractiveShell.instance(config=settings, ipython_dir=state)
    shell.ask_exit = lambda: None  # exit() does not end the notebook
    formatter = shell.display_formatter
    formatter.active_types = ["text/plain"]  # as in a terminal: nobody sees an output
    for module in ("pandas", "pandas.core.frame"):  # since pandas 3, and before; a text of a table takes milliseconds
        plain = formatter.formatters["text/plain"]
        plain.for_type_by_name(module, "DataFrame", lambda table, printer, cycle: printer.text("a DataFrame"))
    if "" not in sys.path:
        sys.path.insert(0, "")
    return shell


class CellOutputLimit(BaseException):
    """The exception that interrupts a cell when it has printed too much."""


class _LimitedOutput(TextIOWrapper):
    """The standard output of a cell. It counts what is printed, and interrupts the cell once at the limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(open(os.devnull, "wb"), encoding="utf-8", errors="replace")  # noqa: PTH123, SIM115
        self._limit = self._left = limit
        self.is_full = False

    def renew(self) -> None:
        self._left, self.is_full = self._limit, False

    def write(self, text: str) -> int:
        self._left -= len(text)
        if self._left < 0 and not self.is_full:
            self.is_full = True
            raise CellOutputLimit
        return len(text)


def _error_text(error: BaseException | None) -> str:
    """Return the type and the first line of an exception, or "" for no exception, an exit or an interrupted cell."""
    if error is None or isinstance(error, SystemExit | CellTimeout | CellOutputLimit):
        return ""
    try:
        lines = str(error).splitlines()
    except Exception:
        lines = []
    return ": ".join([type(error).__name__, *lines[:1]])[:_MAX_ERROR]


class CellTimeout(BaseException):
    """The exception that interrupts a cell when its time limit is over."""


def _set_alarm(seconds: float) -> None:
    """Set a timer that raises CellTimeout in the running cell after `seconds`. 0 cancels the timer.

    Without SIGALRM, only the teacher's process ends this process, at the end of the notebook's time limit.
    """

    def interrupt(_signal: int, _frame: object) -> None:
        raise CellTimeout

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, seconds, _ALARM_INTERVAL if seconds else 0)


def _isolate(job: SubmissionJob, connection: int) -> None:
    """Isolate this process from the teacher's files, variables and output before the code of the submission runs.

    The process gets its own process group, the folder of the job as working folder, only its environment variables,
    limits on memory, file size and processor time, and no open file descriptor except `connection`.
    """
    with suppress(OSError, AttributeError):
        os.setsid()
        os.nice(_NICENESS)
    os.closerange(3, connection)
    os.closerange(connection + 1, _MAX_DESCRIPTORS)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    variables = inherited_variables()
    os.environ.clear()
    os.environ.update(variables | job.environment)
    os.chdir(job.folder)
    sys.path.insert(0, job.folder)
    try:
        import resource
    except ImportError:  # not on every system
        return
    for limit, bound in (
        (resource.RLIMIT_AS, _MAX_ADDRESS_SPACE),
        (resource.RLIMIT_FSIZE, _MAX_FILE_SIZE),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, ceil(2 * job.limits.notebook)),  # it also ends processes that outlive their parent
        *([(resource.RLIMIT_NPROC, _MAX_THREADS)] if job.in_sandbox else []),
    ):
        with suppress(OSError, ValueError):
            resource.setrlimit(limit, (bound, bound))


if __name__ == "__main__":
    main(sys.argv[1:])
