"""Starts the process that runs a submission, in the sandbox or without one, and reads its reports."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from subprocess import TimeoutExpired
from typing import TYPE_CHECKING, Any

from .supervisor import PRELOADED_MODULES, GradingLimits, kill_below, run_submission

if TYPE_CHECKING:
    from ..server.transports.socket_server import SocketServer
    from .sandbox import SubmissionSandbox

# The modules that the fork server of submissions imports.
SUBMISSION_MODULES = ("svc_notebooks.course.supervisor", *PRELOADED_MODULES)

_MAX_MESSAGE = 1024
_MAX_REMARKS = 20
_MAX_DIGITS = 6
_START_SECONDS = 60.0
_JOIN_SECONDS = 5.0
_END_SECONDS = 1.0


@dataclass(slots=True)
class NotebookReport:
    """What happened to a notebook: remarks about a notebook that did not run to the end, and its first exception."""

    remarks: list[str] = field(default_factory=list)
    error: str = ""

    def add(self, remark: str) -> None:
        if len(self.remarks) < _MAX_REMARKS:
            self.remarks.append(remark)


class SandboxedProcess:
    """The process of a submission in the sandbox, which loads its modules and then waits for a job."""

    def __init__(self, sandbox: SubmissionSandbox) -> None:
        self._server: SocketServer | None = None
        self._listener: socket.socket | None = None
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = sandbox.python(
                "-m", "svc_notebooks.course.supervisor", f"{theirs.fileno()}", pass_fds=(theirs.fileno(),)
            )
        self.connection = Connection(ours.detach())

    def connect(self, server: SocketServer) -> str | None:
        """Let the server accept connections of the sandbox's own network.

        Returns the address of the server in the sandbox, or None if the process did not start.
        """
        listener = self._receive_listener()
        if listener is None:
            return None
        self._server = server
        server.add_listener(listener)
        return f"http://127.0.0.1:{listener.getsockname()[1]}{server.policy.path_prefix}"

    def _receive_listener(self) -> socket.socket | None:
        """Return the socket that the process sends once when it has started, or None if it could not start."""
        if self._listener is None and self.connection.poll(_START_SECONDS):
            with socket.socket(fileno=os.dup(self.connection.fileno())) as channel:
                _, descriptors, *_ = socket.recv_fds(channel, 1, 1)
            self._listener = socket.socket(fileno=descriptors[0]) if descriptors else None
        return self._listener

    def end(self) -> None:
        """Wait a moment until the process, whose work is done, has ended by itself."""
        with suppress(TimeoutExpired):
            self._process.wait(_END_SECONDS)

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        """Kill all processes of the submission, and wait until the process has ended."""
        with suppress(OSError):  # bubblewrap leaves a process behind if it is killed while it starts
            self._receive_listener()
        self.kill()
        self._process.wait(_JOIN_SECONDS)
        if self._listener:
            if self._server:
                self._server.remove_listener(self._listener)
            self._listener.close()
            deadline = time.monotonic() + _JOIN_SECONDS
            with suppress(OSError, EOFError):  # until the processes that the system kills after the first have ended
                while self.connection.poll(max(0.0, deadline - time.monotonic())):
                    self.connection.recv_bytes(_MAX_MESSAGE)
        self.connection.close()


class LimitedProcess:
    """The process of a submission without a sandbox, which a fork server has forked, where the system has one."""

    def __init__(self) -> None:
        context = process_context()
        self.connection, theirs = context.Pipe()
        self._process: Any = context.Process(target=run_submission, args=(theirs,), daemon=True)
        with theirs:
            self._process.start()

    def connect(self, server: SocketServer) -> str:
        """Return the address of the server. The process uses the network of this machine."""
        return server.base_url

    def end(self) -> None:
        """Wait a moment until the process, whose work is done, has ended by itself."""
        self._process.join(_END_SECONDS)

    def kill(self) -> None:
        """Kill the processes of the submission."""
        with suppress(OSError):
            kill_below(self._process.pid)
        self._process.terminate()  # its handler kills the running notebook, also where the system has no /proc
        self._process.join(_JOIN_SECONDS)
        self._process.kill()

    def close(self) -> None:
        self.kill()
        self._process.join(_JOIN_SECONDS)
        self.connection.close()


def process_context() -> Any:
    """Return the multiprocessing context, which starts a process as a fork of the fork server where it can."""
    return get_context("forkserver" if "forkserver" in get_all_start_methods() else "spawn")


def start_fork_server(modules: Sequence[str] = SUBMISSION_MODULES) -> None:
    """Start a fork server that has imported these modules, so that a process starts quickly.

    SIGINT is blocked, so that Ctrl-C in the terminal does not end it with a traceback.
    """
    context = process_context()
    if hasattr(context, "set_forkserver_preload"):
        context.set_forkserver_preload(list(modules))
    if "forkserver" not in get_all_start_methods():
        return
    from multiprocessing.forkserver import ensure_running  # not on every system

    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def default_jobs() -> int:
    """Return the number of submissions that are graded at the same time by default, which is one for each processor."""
    return os.cpu_count() or 1


class ProcessStarter:
    """Starts the processes of submissions, the first `count` of them at once."""

    def __init__(self, sandbox: SubmissionSandbox, count: int) -> None:
        self._waiting: deque[SandboxedProcess | LimitedProcess] = deque()
        self.sandbox = sandbox
        if not sandbox.is_bubblewrap:
            start_fork_server()
        with suppress(OSError):  # a submission tries it again
            for _ in range(count):
                self._waiting.append(self._new())

    def _new(self) -> SandboxedProcess | LimitedProcess:
        return SandboxedProcess(self.sandbox) if self.sandbox.is_bubblewrap else LimitedProcess()

    def start(self) -> SandboxedProcess | LimitedProcess:
        """Return a process that waits for a job. Raises OSError if no process can be started."""
        try:
            return self._waiting.popleft()
        except IndexError:
            return self._new()

    def close(self) -> None:
        """Kill the processes that no submission has used."""
        while self._waiting:
            self._waiting.pop().close()


class ReportReader:
    """Reads the reports about the notebooks of a submission. Each notebook has a report and a deadline of its own."""

    def __init__(
        self, reports: list[NotebookReport], limits: GradingLimits, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.reports = reports
        # The number of the current notebook, which is the number of notebooks that have ended.
        self.number = 0
        self._limits, self._clock = limits, clock
        self._cell, self._ended = 0, False

    @property
    def is_complete(self) -> bool:
        return self.number == len(self.reports)

    def read(self, connection: Connection) -> None:
        """Read reports until all notebooks have ended, or one has to be stopped. `number` is then the next notebook."""
        deadline = self._clock() + self._limits.notebook + _START_SECONDS
        self._cell = 0
        while not self.is_complete:
            if not connection.poll(max(0.0, deadline - self._clock())):
                self._end(f"was stopped in cell {self._cell}, because it timed out after {self._limits.notebook:g} s")
                return
            first, number = self._cell == 0, self.number
            if not self._take(*_receive(connection)):
                return
            if number != self.number or (first and self._cell):  # importing modules is not the notebook's time
                deadline = self._clock() + self._limits.notebook

    def _take(self, word: str, number: int, text: str) -> bool:
        """Record a report, and return whether the process goes on."""
        report = self.reports[self.number]
        if word == "cell":
            self._cell = max(1, number)
        elif word == "slow":
            report.add(f"was interrupted in cell {number}, because it timed out after {self._limits.cell:g} s")
        elif word == "loud":
            limit = f"{self._limits.output:,} characters"
            report.add(f"was interrupted in cell {number}, because its output was more than {limit}")
        elif word == "error":
            text = "".join(filter(str.isprintable, text))
            happened = "ran out of memory" if text.startswith("MemoryError") else "raised an exception"
            report.error = report.error or f"{happened} in cell {number}: {text}"
        elif word == "excess":
            self._end(f"was stopped in cell {self._cell}, because {text}", next_notebook=False)
        elif word == "end":
            self._ended = True
        elif word == "exit":
            self._end("" if self._ended else _ending(_integer(text), self._cell))
        elif word != "start":
            self._end("" if self._ended else _ending(0, self._cell))
            return False
        return True

    def _end(self, remark: str, *, next_notebook: bool = True) -> None:
        if remark:
            self.reports[self.number].add(remark)
        self._ended = not next_notebook
        self.number += next_notebook
        self._cell *= not next_notebook


def _integer(text: str) -> int:
    return int(text) if text.removeprefix("-").isdecimal() and len(text) < _MAX_DIGITS else 0


def _ending(status: int, cell: int) -> str:
    """Return how a process ended: by itself, or killed by a signal, for example because the memory was full."""
    if status >= 0:
        return f"ended its process in cell {cell}"
    if hasattr(signal, "SIGXCPU") and status == -signal.SIGXCPU:
        return f"was killed in cell {cell}, because it used too much processor time"
    return f"was killed by signal {-status} ({signal.strsignal(-status)}) in cell {cell}"


def _receive(connection: Connection) -> tuple[str, int, str]:
    """Read a message "word number text", because unpickling is unsafe. Return ("", 0, "") without a valid message."""
    try:
        word, number, *text = connection.recv_bytes(_MAX_MESSAGE).decode().split(" ", 2)
        return word, int(number), "".join(text)
    except (EOFError, OSError, ValueError):
        return "", 0, ""
