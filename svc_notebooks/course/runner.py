"""Runs one notebook of a submission, in a process that is made for it and thrown away.

The cells run in IPython as in a kernel, with nobody listening: what they print goes nowhere. What became of the
exercises is not told by this process, which belongs to the submission; it says only which cell it is at.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_MEMORY = 4 * 1024**3
_FILE = 256 * 1024**2
_MOST_OPEN = 4096
_KEPT = (
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
"""What is left of the environment: a teacher's tokens are no student's."""

_AGAIN = 0.5
"""Seconds; a cell that catches its interruption is interrupted again, until its whole process is ended."""


def run_cells(
    cells: Sequence[str], folder: str, environment: Mapping[str, str], seconds: float, line: Connection
) -> None:
    """Run the cells one after the other, each for so long at most; say through the line at which one it is.

    A cell that fails or takes too long does not keep the next ones from running.
    """
    _detached(folder, environment, line.fileno())
    shell = _shell()
    for number, cell in enumerate(cells, start=1):
        line.send_bytes(b"cell %d" % number)
        try:
            _alarm(seconds)
            found = shell.run_cell(cell, store_history=False)
            slow = isinstance(found.error_in_exec, TooSlow)
        except TooSlow:
            slow = True
        finally:
            _alarm(0)
        if slow:
            line.send_bytes(b"slow %d" % number)
    line.send_bytes(b"end %d" % len(cells))


class TooSlow(BaseException):
    """The time of a cell is over."""


def _alarm(seconds: float) -> None:
    """Interrupt in so many seconds; 0: no more. Where there is no such signal the process is ended in time, alone."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _interrupted)
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN if seconds else 0)


def _interrupted(_signal: int, _frame: object) -> None:
    raise TooSlow


def _detached(folder: str, environment: Mapping[str, str], line: int) -> None:
    """A group and a folder of its own, no output, no way to what began it but one, and bounds for memory and files."""
    with suppress(OSError):
        os.setsid()
    os.closerange(3, line)
    os.closerange(line + 1, _MOST_OPEN)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    os.environ.clear()
    os.environ.update(kept | dict(environment))
    os.chdir(folder)
    sys.path.insert(0, folder)
    _bounded()


def _bounded() -> None:
    try:
        import resource
    except ImportError:  # not on every system
        return
    for what, most in ((resource.RLIMIT_AS, _MEMORY), (resource.RLIMIT_FSIZE, _FILE), (resource.RLIMIT_CORE, 0)):
        with suppress(OSError, ValueError):
            resource.setrlimit(what, (most, most))


def _shell() -> Any:
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    settings = Config()
    settings.HistoryManager.enabled = False
    settings.InteractiveShell.colors = "NoColor"
    return InteractiveShell.instance(config=settings)
