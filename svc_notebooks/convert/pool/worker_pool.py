"""Runs conversions in a pool of worker processes, or in the calling process.

A worker process is killed when its conversion exceeds the time limit, and when the client has disconnected.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, Protocol

from ...core.processes import after_fork, keep_forever
from ..job import MIB, JobLimits
from .admission import POLL_SECONDS, Abandoned, Admission

_CRASHED = {
    "error": "the conversion process ended, probably because it needed more memory than the limit.",
    "kind": "large",
}
_MAX_PEAK_MEMORY = 256 * MIB
"""The memory in bytes, at any time, above which the pool ends a worker process after its conversion."""
_MAX_JOBS = 200
"""The number of conversions after which the pool replaces a worker process, to release the memory of libraries."""


def _never() -> bool:
    return False


class ConversionExecutor(Protocol):
    """The interface of a process pool and of an inline executor, which run conversions."""

    def run(
        self, request: Mapping[str, Any], *, user: str = "", is_gone: Callable[[], bool] = _never
    ) -> dict[str, Any]:
        """Run the requested conversion, and return the response of `worker.run`. Raises Abandoned or TooManyWaiting."""

    def close(self) -> None:
        """End the idle worker processes."""


class _Watchdog:
    """A thread that stops a worker at the deadline (`outcome` "late") or after the client has disconnected ("gone")."""

    def __init__(self, stop: Callable[[], None], seconds: float, is_gone: Callable[[], bool]) -> None:
        self.outcome: str | None = None
        self._stop, self._deadline, self._is_gone = stop, time.monotonic() + seconds, is_gone
        self._ended = Event()
        self._thread = Thread(target=self._watch, name="svc-conversion", daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(min(POLL_SECONDS, max(0.0, self._deadline - time.monotonic()))):
            self.outcome = "late" if time.monotonic() >= self._deadline else "gone" if self._is_gone() else None
            if self.outcome:
                self._stop()
                return


class Worker:
    """A process that runs conversions one after another, each within the limits."""

    def __init__(self, limits: JobLimits) -> None:
        self._limits = limits
        self._jobs = self._peak_memory = 0
        command = [sys.executable, "-m", f"{__package__}.worker", str(limits.memory), str(limits.output)]
        # The worker finds the package where this process found it.
        paths = [str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            encoding="utf-8",
            start_new_session=True,
        )
        after_fork(self, Worker._close_pipes_in_child)

    def _close_pipes_in_child(self) -> None:
        """Close the pipes in a forked child without flushing, since the process belongs to the parent."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe and not pipe.closed:
                os.close(pipe.fileno())
        keep_forever(self._process)

    @property
    def is_reusable(self) -> bool:
        """True if the process is running, is not large, and has not reached its maximum number of conversions."""
        return self._process.poll() is None and self._jobs < _MAX_JOBS and self._peak_memory <= _MAX_PEAK_MEMORY

    def run(self, request: Mapping[str, Any], is_gone: Callable[[], bool] = _never) -> dict[str, Any]:
        """Run the requested conversion, and return the response (an error after a crash). Raises Abandoned."""
        self._jobs += 1
        watchdog = _Watchdog(self.stop, self._limits.seconds, is_gone)
        try:
            line = self._exchange(json.dumps(request))
        finally:
            watchdog.end()
        if line and not watchdog.outcome:
            response: dict[str, Any] = json.loads(line)
            self._peak_memory = response.pop("peak_memory")
            return response
        self.stop()
        self._process.wait()
        if watchdog.outcome == "gone":
            raise Abandoned
        if watchdog.outcome:
            return {"error": f"the conversion took more than {self._limits.seconds:g} seconds.", "kind": "large"}
        return _CRASHED

    def _exchange(self, request: str) -> str:
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(request + "\n")
            self._process.stdin.flush()
            return self._process.stdout.readline()
        except OSError:
            return ""

    def stop(self) -> None:
        """Kill the process and its children."""
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def close(self) -> None:
        """Kill the process, and close its pipes."""
        self.stop()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe:
                    pipe.close()


class ProcessPool:
    """A thread-safe pool of worker processes. Users keep their process, so that a crash rarely affects other users."""

    def __init__(self, limits: JobLimits, size: int = 2, max_waiting: int = 8) -> None:
        self._limits = limits
        self._size = size
        self._max_waiting = max_waiting
        self._reset()
        after_fork(self, ProcessPool._reset)

    def _reset(self) -> None:
        """Set up an empty pool. A forked child calls this method, because the processes belong to the parent."""
        self._admission = Admission(self._size, self._max_waiting)
        self._lock = Lock()
        self._idle: list[tuple[str | None, Worker]] = []
        self._busy = 0

    def run(
        self, request: Mapping[str, Any], *, user: str = "", is_gone: Callable[[], bool] = _never
    ) -> dict[str, Any]:
        """Run the requested conversion in a worker process at the user's turn. Raises Abandoned or TooManyWaiting."""
        with self._admission.turn(user, is_gone):
            worker = self._acquire(user)
            try:
                return worker.run(request, is_gone)
            finally:
                self._return(user, worker)

    def start(self) -> None:
        """Start a process that the next user without a process gets. Raises OSError if it cannot be started."""
        worker = Worker(self._limits)
        with self._lock:
            self._idle.append((None, worker))

    def _acquire(self, user: str) -> Worker:
        with self._lock:
            stale = [worker for _, worker in self._idle if not worker.is_reusable]
            self._idle = [(owner, worker) for owner, worker in self._idle if worker not in stale]
            own = [index for index, (owner, _) in enumerate(self._idle) if owner in (user, None)]
            is_full = self._busy + len(self._idle) >= self._size
            self._busy += 1
            reused = self._idle.pop(own[-1] if own else 0)[1] if own or is_full else None
        for worker in stale:
            worker.close()
        return reused or Worker(self._limits)

    def _return(self, user: str, worker: Worker) -> None:
        with self._lock:
            self._busy -= 1
            if worker.is_reusable:
                self._idle.append((user, worker))
                return
        worker.close()

    def close(self) -> None:
        """End the idle worker processes."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, worker in idle:
            worker.close()


class InlineExecutor:
    """Runs conversions in the calling process, for platforms that cannot start processes (Pyodide)."""

    def run(
        self, request: Mapping[str, Any], *, user: str = "", is_gone: Callable[[], bool] = _never
    ) -> dict[str, Any]:
        """Run the requested conversion, and return the response. `user` and `is_gone` are ignored."""
        from .worker import run

        return run(request)

    def close(self) -> None:
        """Do nothing, since there are no worker processes."""
