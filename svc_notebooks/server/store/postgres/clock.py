"""The clock of a service whose store several processes share. If it was stopped or moved, all of them follow."""

from __future__ import annotations

from datetime import datetime
from threading import RLock
from typing import TYPE_CHECKING

from ..clock import SystemClock, VirtualClock

if TYPE_CHECKING:
    from .side_connections import ProcessLock
    from .state import SharedValues


_CLOCK = "clock"


class SharedClock(SystemClock):
    """The clock of the database server, or the virtual clock in the database if a process has stopped the clock.

    Only one of the processes moves it at a time.
    """

    def __init__(self, values: SharedValues, start: datetime | None = None) -> None:
        """Follow the clock of the store. With `start`, begin its virtual clock at this time, unless it has one."""
        super().__init__()
        self._values = values
        self._moving = ClockLock(values.clock_lock)
        self._shown: tuple[object, datetime | None] = (None, None)
        if start and not self.is_virtual:
            self._stop_at(start)

    @property
    def is_virtual(self) -> bool:
        """Return whether a process has stopped the clock."""
        return bool(self._values.get(_CLOCK))

    @property
    def start(self) -> datetime:
        """The time to which `restart` sets the clock."""
        return datetime.fromisoformat(self._values.get(_CLOCK)["start"])

    def now(self) -> datetime:
        """Return the present time in UTC, whatever the clock of this machine shows."""
        value = self._values.get(_CLOCK)
        if not value:
            return self._values.now()
        known, instant = self._shown
        if known is not value or instant is None:
            instant = datetime.fromisoformat(value["now"])
            self._shown = value, instant
        return instant

    def stop(self) -> VirtualClock:
        """Stop the clock of all processes at the present time, unless it is virtual, and return the clock."""
        if not self.is_virtual:
            self._stop_at(self._values.now())
        return self

    def _stop_at(self, start: datetime) -> None:
        with self._values.editing(_CLOCK) as edited:
            edited.is_announced = edited.value is None  # another process may have stopped the clock meanwhile
            edited.value = edited.value or {"start": start.isoformat(), "now": start.isoformat()}

    def _show(self, instant: datetime) -> None:
        if instant != self.now():
            self._values.set(_CLOCK, {**self._values.get(_CLOCK), "now": instant.isoformat()})


class ClockLock:
    """The lock of a thread that moves the clock, which no other process may move then."""

    def __init__(self, between_processes: ProcessLock) -> None:
        self._threads = RLock()
        self._processes = between_processes
        self._depth = 0

    def acquire(self, blocking: bool = True) -> bool:
        """Acquire the lock. Return False if another thread or process has it and `blocking` is false."""
        if not self._threads.acquire(blocking):
            return False
        try:
            if not self._depth and not self._processes.acquire(blocking=blocking):
                self._threads.release()
                return False
        except BaseException:
            self._threads.release()
            raise
        self._depth += 1
        return True

    def release(self) -> None:
        """Release the lock once."""
        self._depth -= 1
        if not self._depth:
            self._processes.release()
        self._threads.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()


def unshared(sentence: str) -> str:
    """Return the message of an error about something that belongs to one process."""
    return f"{sentence}, because several processes share this store and each has its own; serve it without --shared"
