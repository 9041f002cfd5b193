"""The interface through which the service lists and runs conversions, in a pool of worker processes.

Users take turns. A worker process is killed when its conversion exceeds the time limit, and when the client has
disconnected.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, NamedTuple

from ...core.platform import after_fork, capabilities, skip_finalizers, temporary_folder
from ...core.thread_permit import release_permit
from ..job import MIB, ConversionError, Job, JobLimits, TooLarge
from ..registry import MODELS, Conversion, exporters, importers, load, readers, writers

POLL_SECONDS = 0.1  # the interval, in seconds, at which the service checks that a client is still connected


class Abandoned(Exception):
    """Raised when the client that requested a conversion has disconnected."""


class TooManyWaiting(Exception):
    """Raised when a user requests a conversion and already has the maximum number of waiting conversions."""


class Admission:
    """Lets at most `max_running` conversions run at the same time, and lets users take turns.

    Each user can have `max(1, max_running - 1)` running conversions and `max_waiting` waiting conversions.
    """

    def __init__(self, max_running: int, max_waiting: int) -> None:
        self._free_slots, self._share, self._max_waiting = max_running, max(1, max_running - 1), max_waiting
        self._waiting: list[tuple[str, Event]] = []
        self._running: Counter[str] = Counter()
        self._turns = 0
        self._last_turn: Counter[str] = Counter()  # the number of the last turn of each user
        self._lock = Lock()

    @contextmanager
    def turn(self, user: str, is_gone: Callable[[], bool], *, waits: bool = True) -> Iterator[None]:
        """Occupy a running slot from the user's turn to the end of the context. Raises TooManyWaiting or Abandoned.

        If `waits` is false, TooManyWaiting is raised where the turn would not begin at once.
        """
        entry = user, Event()
        with self._lock:
            self._waiting.append(entry)
            self._admit()
            waiting = sum(other == user for other, _ in self._waiting)
            if entry in self._waiting and waiting > (self._max_waiting if waits else 0):
                self._waiting.remove(entry)
                raise TooManyWaiting
        try:
            while not entry[1].wait(POLL_SECONDS):
                if is_gone():
                    raise Abandoned
            yield
        finally:
            with self._lock:
                if entry in self._waiting:
                    self._waiting.remove(entry)
                else:
                    self._running[user] -= 1
                    self._free_slots += 1
                self._admit()

    def _admit(self) -> None:
        """Give the free slots to the waiting users whose last turn is the longest time ago."""
        while self._free_slots:
            possible = [entry for entry in self._waiting if self._running[entry[0]] < self._share]
            if not possible:
                return
            user, admitted = entry = min(possible, key=lambda entry: self._last_turn[entry[0]])
            self._waiting.remove(entry)
            self._free_slots -= 1
            self._running[user] += 1
            self._turns += 1
            self._last_turn[user] = self._turns
            admitted.set()


_CRASHED = {
    "error": "the conversion process ended, probably because it needed more memory than the limit.",
    "kind": "large",
}
_MAX_PEAK_MEMORY = 256 * MIB  # above which the pool ends a process after its conversion
_MAX_JOBS = 200  # after which the pool replaces a process, to release the memory of libraries


def _never() -> bool:
    return False


class Worker:
    """A process that runs conversions one after another, each within the limits."""

    def __init__(self, limits: JobLimits) -> None:
        self._limits = limits
        self._jobs = self._peak_memory = 0
        command = [sys.executable, "-m", f"{__package__}.worker", str(limits.memory), str(limits.output)]
        # The worker finds the package where this process found it.
        paths = [str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, encoding="utf-8", start_new_session=True,
        )  # fmt: skip
        after_fork(self, Worker._close_pipes_in_child)

    def _close_pipes_in_child(self) -> None:
        """Close the pipes in a forked child without flushing, since the process belongs to the parent."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe and not pipe.closed:
                os.close(pipe.fileno())
        skip_finalizers(self._process)

    @property
    def is_reusable(self) -> bool:
        """True if the process is running, is not large, and has not reached its maximum number of conversions."""
        return self._process.poll() is None and self._jobs < _MAX_JOBS and self._peak_memory <= _MAX_PEAK_MEMORY

    def run(self, request: Mapping[str, Any], is_gone: Callable[[], bool] = _never) -> dict[str, Any]:
        """Run the requested conversion, and return the response (an error after a crash). Raises Abandoned."""
        self._jobs += 1
        lines, deadline = list[str](), time.monotonic() + self._limits.seconds
        thread = Thread(
            target=lambda: lines.append(self._exchange(json.dumps(request))), name="svc-conversion", daemon=True
        )
        thread.start()
        outcome = ""
        try:
            while thread.is_alive() and not outcome:
                thread.join(min(POLL_SECONDS, max(0.0, deadline - time.monotonic())))
                if thread.is_alive():
                    outcome = "late" if time.monotonic() >= deadline else "gone" if is_gone() else ""
        finally:
            if thread.is_alive():
                self.stop()
                thread.join()
        if (line := "".join(lines)) and not outcome:
            response: dict[str, Any] = json.loads(line)
            self._peak_memory = response.pop("peak_memory")
            return response
        self.stop()
        self._process.wait()
        if outcome == "gone":
            raise Abandoned
        if outcome:
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


_log = logging.getLogger(__name__)


class Client(NamedTuple):
    """The user who requests a conversion, and a function that returns whether the user's client has disconnected."""

    user: str = ""
    is_gone: Callable[[], bool] = _never


ANONYMOUS = Client()


@dataclass(frozen=True, slots=True)
class Converted:
    """The bytes that a conversion returned, and notes for the journal about content that was left out or changed."""

    body: bytes
    notes: tuple[str, ...] = ()


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


class Converter:
    """Converts files to native documents (types "document", "spreadsheet" and so on) and back. It is thread-safe."""

    def __init__(
        self, limits: JobLimits | None = None, *, extended: bool = False, office: bool = False, max_waiting: int = 8
    ) -> None:
        """Create a converter, whose worker processes start when conversions need them.

        extended: whether to offer the extended formats in core/http/media_types.py.
        office: whether LibreOffice reads and writes Office, OpenDocument and PDF files, where it is installed.
        max_waiting: the maximum number of waiting conversions of each user.
        """
        self._limits = limits or JobLimits()
        self._extended = extended
        self._office = office
        self._readers, self._writers = readers(extended=extended), writers(extended=extended)
        self._pool = ProcessPool(self._limits, max_waiting=max_waiting)

    @property
    def imports(self) -> dict[str, list[str]]:
        """A dict from each readable media type to the list of native types into which a source can be converted."""
        return _grouped((it.media_type, it.native) for it in importers(extended=self._extended))

    @property
    def exports(self) -> dict[str, list[str]]:
        """A dict from each native type to the list of media types into which a document can be converted."""
        return _grouped((it.native, it.media_type) for it in exporters(extended=self._extended))

    def can_read(self, media_type: str, native: str) -> bool:
        """Return whether a source of this media type can be converted to this native type."""
        conversion = self._readers.get((native, media_type))
        return conversion is not None and conversion.is_available

    def can_write(self, native: str, media_type: str) -> bool:
        """Return whether a document of this native type can be converted to this media type."""
        conversion = self._writers.get((native, media_type))
        return conversion is not None and conversion.is_available

    def missing_engine_message(self, native: str, media_type: str, *, reads: bool) -> str | None:
        """Return the end of an error message about the first missing engine, or None if no engine is missing."""
        conversion = (self._readers if reads else self._writers).get((native, media_type))
        engine = conversion.missing_engine if conversion else None
        return engine.missing if engine else None

    def read(
        self, source: bytes, media_type: str, native: str, client: Client = ANONYMOUS, **options: Any
    ) -> Converted:
        """Convert a source file to the stored bytes of a native document.

        `options` sets fields of Job, such as `name`. Raises ConversionError, TooLarge, Abandoned or TooManyWaiting.
        """
        return self._run(self._readers[native, media_type], source, client, reads=True, options=options)

    def write(
        self, body: bytes | None, native: str, media_type: str, client: Client = ANONYMOUS, **options: Any
    ) -> Converted:
        """Convert the stored bytes of a native document, or an empty document if `body` is None, to a file.

        `options` sets fields of Job, such as `now`. Raises the same exceptions as `read`.
        """
        return self._run(self._writers[native, media_type], body, client, reads=False, options=options)

    def _run(
        self, conversion: Conversion, source: bytes | None, client: Client, *, reads: bool, options: Mapping[str, Any]
    ) -> Converted:
        with temporary_folder("convert-") as folder:
            source_file, target, work = folder / "source", folder / "target", folder / "work"
            work.mkdir()
            if source is not None:
                source_file.write_bytes(source)
            job = Job(conversion.media_type, work, office=self._office, limits=self._limits, **options)
            request = {
                "function": f".{conversion.function}", "native": conversion.native,
                "model": f".{MODELS[conversion.native]}", "reads": reads,
                "source": None if source is None else str(source_file), "target": str(target),
                "job": dataclasses.asdict(job) | {"folder": str(job.folder), "now": job.now.isoformat()},
            }  # fmt: skip
            with release_permit():
                if capabilities().processes:
                    response = self._pool.run(request, user=client.user, is_gone=client.is_gone)
                else:
                    response = load(".pool.worker:run")(request)
            if "error" in response:
                raise _error_from(conversion, response)
            return Converted(target.read_bytes(), tuple(response["notes"]))

    def start(self) -> None:
        """Start a worker process, so that the first conversion need not wait for it. Raises OSError if it cannot."""
        if capabilities().processes:
            self._pool.start()

    def close(self) -> None:
        """End the idle worker processes. Later conversions start new processes."""
        self._pool.close()


def _error_from(conversion: Conversion, response: Mapping[str, Any]) -> ConversionError:
    if response["kind"] == "large":
        return TooLarge(response["error"])
    if response["kind"] == "refused":
        return ConversionError(response["error"])
    _log.warning("%s failed: %s", conversion.function, response["error"])
    return ConversionError("the content is damaged, or does not match its media type.")


@cache
def shared(limits: JobLimits, *, extended: bool, office: bool, max_waiting: int) -> Converter:
    """Return the converter that all callers with equal arguments share until the process ends."""
    converter = Converter(limits, extended=extended, office=office, max_waiting=max_waiting)
    atexit.register(converter.close)
    return converter
