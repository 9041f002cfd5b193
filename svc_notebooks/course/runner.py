"""Runs the cells of a notebook in its own process, which reports the current cell and the first exception."""

from __future__ import annotations

import json
import mimetypes
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import chdir, suppress
from dataclasses import asdict, dataclass
from io import TextIOWrapper
from math import ceil
from typing import TYPE_CHECKING, Any

from .sandbox import inherited_variables

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_MAX_ADDRESS_SPACE = 4 * 1024**3
_MAX_FILE_SIZE = 256 * 1024**2
_MAX_DESCRIPTORS = 4096
_MAX_THREADS = 256
"""The largest number of processes and threads of the user in a sandbox, whose user has no others."""

_NICENESS = 5
"""The grading process and its services have precedence over submissions."""

_MAX_ERROR = 200
"""The largest number of characters of a reported exception."""

_ALARM_INTERVAL = 0.5
"""The interval in seconds between further interrupts, if a cell catches the first interrupt and continues."""


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
