"""The parent's side of the worker processes: kept warm, replaced when they die.

They are stopped when they take too long, and when the client that waits for them has gone.
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

from ...core.fork import after_fork, keep_forever
from ..job import JobLimits
from .admission import LOOK_SECONDS, Abandoned, Admission

_DIED = {"error": "the conversion ended without an answer: it needs more memory than it may use.", "kind": "large"}
_JOBS = 200
"""After so many a worker is replaced: what its libraries have hoarded goes with it."""


def _never() -> bool:
    return False


class Executor(Protocol):
    """Whoever runs errands."""

    def run(self, errand: Mapping[str, Any], *, user: str = "", is_gone: Callable[[], bool] = _never) -> dict[str, Any]:
        """What came of it. Raises Abandoned or TooManyWait."""

    def close(self) -> None:
        """End what is running."""


class _Watch:
    """Stops a worker that takes too long, or whose client has gone; `verdict` says which of them it was."""

    def __init__(self, stop: Callable[[], None], seconds: float, is_gone: Callable[[], bool]) -> None:
        self.verdict: str | None = None
        self._stop, self._end, self._is_gone = stop, time.monotonic() + seconds, is_gone
        self._over = Event()
        self._thread = Thread(target=self._look, name="svc-conversion", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Watch no more."""
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(min(LOOK_SECONDS, max(0.0, self._end - time.monotonic()))):
            self.verdict = "late" if time.monotonic() >= self._end else "gone" if self._is_gone() else None
            if self.verdict:
                self._stop()
                return


class Worker:
    """One process."""

    def __init__(self, limits: JobLimits) -> None:
        self._limits = limits
        self._jobs = 0
        command = [sys.executable, "-m", f"{__package__}.worker", str(limits.memory), str(limits.output)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            encoding="utf-8",
            start_new_session=True,
        )
        after_fork(self, Worker._leave)

    def _leave(self) -> None:
        """In a forked child: the process is the parent's. Its pipes are closed without a flush."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe and not pipe.closed:
                os.close(pipe.fileno())
        keep_forever(self._process)

    @property
    def fresh(self) -> bool:
        """Whether it can take another errand."""
        return self._process.poll() is None and self._jobs < _JOBS

    def run(self, errand: Mapping[str, Any], is_gone: Callable[[], bool] = _never) -> dict[str, Any]:
        """What came of an errand; after too long a time the process, with all it began, is no more.

        Raises Abandoned: the client has gone, and the process with it.
        """
        self._jobs += 1
        watch = _Watch(self.stop, self._limits.seconds, is_gone)
        try:
            line = self._ask(json.dumps(errand))
        finally:
            watch.end()
        if line and not watch.verdict:
            found: dict[str, Any] = json.loads(line)
            return found
        self.stop()
        self._process.wait()
        if watch.verdict == "gone":
            raise Abandoned
        return _late(self._limits.seconds) if watch.verdict else _DIED

    def _ask(self, errand: str) -> str:
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(errand + "\n")
            self._process.stdin.flush()
            return self._process.stdout.readline()
        except OSError:
            return ""

    def stop(self) -> None:
        """End the process and all it began."""
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def close(self) -> None:
        """End it, and its pipes."""
        self.stop()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe:
                    pipe.close()


def _late(seconds: float) -> dict[str, Any]:
    return {"error": f"it took more than {seconds:g} seconds.", "kind": "large"}


def _environment() -> dict[str, str]:
    """This process's own, with the package to be found wherever it was found here."""
    home = str(Path(__file__).parents[3])
    paths = [home, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


class ProcessPool:
    """A few processes, begun when they are first needed. Threads may share it.

    A user gets the process that they had before, so that what one user breaks is warm for the others.
    """

    def __init__(self, limits: JobLimits, most: int = 2, most_waiting: int = 8) -> None:
        self._limits = limits
        self._most = most
        self._most_waiting = most_waiting
        self._begin()
        after_fork(self, ProcessPool._begin)

    def _begin(self) -> None:
        """No process yet; a forked child starts its own."""
        self._admission = Admission(self._most, self._most_waiting)
        self._lock = Lock()
        self._idle: list[tuple[str, Worker]] = []
        self._busy = 0

    def run(self, errand: Mapping[str, Any], *, user: str = "", is_gone: Callable[[], bool] = _never) -> dict[str, Any]:
        """What came of an errand, once it is the user's turn.

        Raises:
            Abandoned: `is_gone` says that nobody waits for it any more.
            TooManyWait: the user has too many errands waiting.
        """
        with self._admission.turn(user, is_gone):
            worker = self._take(user)
            try:
                return worker.run(errand, is_gone)
            finally:
                self._put_back(user, worker)

    def _take(self, user: str) -> Worker:
        with self._lock:
            stale = [worker for _, worker in self._idle if not worker.fresh]
            self._idle = [(owner, worker) for owner, worker in self._idle if worker not in stale]
            own = [index for index, (owner, _) in enumerate(self._idle) if owner == user]
            is_full = self._busy + len(self._idle) >= self._most
            self._busy += 1
            kept = self._idle.pop(own[-1] if own else 0)[1] if own or is_full else None
        for worker in stale:
            worker.close()
        return kept or Worker(self._limits)

    def _put_back(self, user: str, worker: Worker) -> None:
        with self._lock:
            self._busy -= 1
            if worker.fresh:
                self._idle.append((user, worker))
                return
        worker.close()

    def close(self) -> None:
        """End the processes that wait."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, worker in idle:
            worker.close()


class InlineExecutor:
    """Runs errands in this process: where no other can be started (Pyodide)."""

    def run(self, errand: Mapping[str, Any], *, user: str = "", is_gone: Callable[[], bool] = _never) -> dict[str, Any]:
        """What came of an errand; nobody can end it here."""
        from .worker import run

        return run(errand)

    def close(self) -> None:
        """There is nothing to end."""
