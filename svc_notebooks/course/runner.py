"""Runs a notebook of a submission in its own process, which reports the current cell and the first exception."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import ceil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_MAX_MEMORY = 4 * 1024**3
_MAX_FILE_SIZE = 256 * 1024**2
_MAX_DESCRIPTORS = 4096
_KEPT_VARIABLES = (
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "PATH",
    "PYTHONHOME",
    "PYTHONPATH",
    "SYSTEMROOT",
    "TMPDIR",
    "TZ",
    "VIRTUAL_ENV",
)
"""The environment variables that a submission inherits. Other variables may contain the teacher's tokens."""

_MAX_ERROR = 200
"""The largest number of characters of a reported exception."""

_ALARM_INTERVAL = 0.5
"""The interval in seconds between further interrupts, if a cell catches the first interrupt and continues."""


def run_cells(
    cells: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    seconds: float,
    processor_seconds: float,
    connection: Connection,
) -> None:
    """Run notebook cells one after the other, and send each cell number on the connection before the cell runs.

    A cell is interrupted after `seconds`. If a cell fails or is interrupted, the next cell still runs. The text of the
    first exception is sent, too.
    """
    _isolate(folder, environment, processor_seconds, connection.fileno())
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    settings = Config()
    settings.HistoryManager.enabled = False
    settings.InteractiveShell.colors = "NoColor"
    shell: Any = InteractiveShell.instance(config=settings)
    shell.ask_exit = lambda: None  # exit() does not end the notebook
    error = ""
    for number, cell in enumerate(cells, start=1):
        connection.send_bytes(b"cell %d" % number)
        try:
            _set_alarm(seconds)
            execution = shell.run_cell(cell, store_history=False)
            timed_out = isinstance(execution.error_in_exec, CellTimeout)
            if not error and (error := _error_text(execution.error_before_exec or execution.error_in_exec)):
                connection.send_bytes(f"error {number} {error}".encode("utf-8", "replace"))
        except CellTimeout:
            timed_out = True
        finally:
            _set_alarm(0)
        if timed_out:
            connection.send_bytes(b"slow %d" % number)
    connection.send_bytes(b"end %d" % len(cells))


def _error_text(error: BaseException | None) -> str:
    """Return the type and the first line of an exception, or "" for no exception, an exit or an interrupted cell."""
    if error is None or isinstance(error, SystemExit | CellTimeout):
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


def _isolate(folder: str, environment: Mapping[str, str], processor_seconds: float, connection: int) -> None:
    """Isolate this process from the teacher's files, variables and output before the code of the submission runs.

    The process gets its own process group, `folder` as working folder, only the given environment variables, limits on
    memory, file size and processor time, and no open file descriptor except `connection`.
    """
    with suppress(OSError):
        os.setsid()
    os.closerange(3, connection)
    os.closerange(connection + 1, _MAX_DESCRIPTORS)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    variables = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    os.environ.clear()
    os.environ.update(variables | dict(environment))
    os.chdir(folder)
    sys.path.insert(0, folder)
    try:
        import resource
    except ImportError:  # not on every system
        return
    for limit, bound in (
        (resource.RLIMIT_AS, _MAX_MEMORY),
        (resource.RLIMIT_FSIZE, _MAX_FILE_SIZE),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, ceil(processor_seconds)),  # it also ends processes that outlive their parent
    ):
        with suppress(OSError, ValueError):
            resource.setrlimit(limit, (bound, bound))
