"""The parent's side of the worker processes: kept warm, stopped when they take too long, replaced when they die."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Timer
from typing import Any, Protocol

from ..core.fork import after_fork, keep_forever
from .job import Limits

_DIED = {"error": "the conversion ended without an answer: it needs more memory than it may use.", "kind": "large"}
_JOBS = 200
"""After so many a worker is replaced: what its libraries have hoarded goes with it."""


class Hands(Protocol):
    """Whoever runs errands."""

    def run(self, errand: Mapping[str, Any]) -> dict[str, Any]:
        """What came of it."""

    def close(self) -> None:
        """End what is running."""


class Worker:
    """One process."""

    def __init__(self, limits: Limits) -> None:
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

    def run(self, errand: Mapping[str, Any]) -> dict[str, Any]:
        """What came of an errand; after too long a time the process, with all it began, is no more."""
        self._jobs += 1
        late = Timer(self._limits.seconds, self.stop)
        late.daemon = True
        late.start()
        try:
            line = self._ask(json.dumps(errand))
        finally:
            on_time = late.is_alive()
            late.cancel()
        if line:
            found: dict[str, Any] = json.loads(line)
            return found
        self.stop()
        self._process.wait()
        return _DIED if on_time else _late(self._limits.seconds)

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
    home = str(Path(__file__).parents[2])
    paths = [home, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


class Workers:
    """A few processes, begun when they are first needed. Threads may share it."""

    def __init__(self, limits: Limits, most: int = 2) -> None:
        self._limits = limits
        self._most = most
        self._begin()
        after_fork(self, Workers._begin)

    def _begin(self) -> None:
        """No process yet; a forked child begins anew with its own."""
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        self._room = BoundedSemaphore(self._most)

    def run(self, errand: Mapping[str, Any]) -> dict[str, Any]:
        """What came of an errand, once a process has time for it."""
        with self._room:
            worker = self._take()
            try:
                return worker.run(errand)
            finally:
                if worker.fresh:
                    self._idle.put(worker)
                else:
                    worker.close()

    def _take(self) -> Worker:
        while True:
            try:
                worker = self._idle.get_nowait()
            except Empty:
                return Worker(self._limits)
            if worker.fresh:
                return worker
            worker.close()

    def close(self) -> None:
        """End the processes that wait."""
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return


class Here:
    """Runs errands in this process: where no other can be started (Pyodide)."""

    def run(self, errand: Mapping[str, Any]) -> dict[str, Any]:
        """What came of an errand."""
        from .worker import run

        return run(errand)

    def close(self) -> None:
        """There is nothing to end."""
