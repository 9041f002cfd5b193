"""The system clock, and a virtual clock that shows the same time until a program moves it.

A virtual clock that is moved forward stops at the time of each event of its agenda, and lets the event happen.
"""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol

from ...core.errors.public_calls import public
from ...core.time_arguments import Duration, instant_of, parse_duration
from .errors import on_error

if TYPE_CHECKING:
    from .postgres.side_connections import ProcessLock
    from .postgres.state import SharedValues

# The default start of a virtual clock. It is fixed, so that a seeded sandbox has the same times in every run.
DEFAULT_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class Agenda(Protocol):
    """The timed events of a service, which happen while a virtual clock is moved."""

    def next(self) -> datetime | None:
        """Return the time of the next event after the clock's present time, or None if there is no such event."""

    def deliver(self) -> None:
        """Perform all events that are due at the clock's present time, such as deliveries of notifications."""


class VirtualClock:
    """A clock that moves only when a program moves it.

    >>> clock = VirtualClock(); clock.advance("7d").isoformat()
    '2026-01-12T09:00:00+00:00'
    """

    def __init__(self, start: datetime | None = DEFAULT_START) -> None:
        """Set the clock to a time, or with None let it run as the clock of this machine until a program stops it."""
        self._start = self._now = start
        self._moving: Any = RLock()
        self.agenda: Agenda | None = None

    @property
    def is_virtual(self) -> bool:
        """Return whether the clock stands still until a program moves it."""
        return self._now is not None

    @property
    def start(self) -> datetime:
        """The time to which `restart` sets the clock."""
        return self._start or self.now()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {self.now():%Y-%m-%d %H:%M:%S} UTC>"

    def now(self) -> datetime:
        """Return the time of the clock in UTC."""
        return self._now or datetime.now(UTC)

    def stop(self) -> VirtualClock:
        """Stop a running clock at the present time, and return the clock."""
        with self._moving:
            if self._now is None:
                self._start = self._now = self.now()
        return self

    def _show(self, instant: datetime) -> None:
        """Set the clock to an instant in UTC. The caller holds the lock."""
        self._now = instant

    @public
    def advance(self, duration: Duration | None = None, **units: float) -> datetime:
        """Stop the clock, move it forward by a duration such as "3h", or by `hours=3`, and return the new time.

        Raises ValueError for an invalid or negative duration, which leaves a running clock running.
        """
        if units and duration is None:
            duration = timedelta(**units)
        is_negative = isinstance(duration, str) and duration.lstrip().startswith("-")
        step = timedelta(-1) if is_negative else parse_duration(duration)
        if step < timedelta(0):
            raise ValueError(f"advance() moves the clock forward, not by {duration!r}; clock.set(time) can set it back")
        with self._moving:
            try:
                end = self.stop().now() + step
            except OverflowError:
                raise ValueError(f"advance() by {step} would exceed the year 9999") from None
            return self._go_to(end)

    @public
    def set(self, instant: date | str) -> datetime:
        """Stop the clock, set it to an instant and return the new time. All events up to a later instant happen.

        An earlier instant sets the clock back. Files, tokens and channels then keep their times.

        The instant is a datetime, a date (its midnight), or a text such as "2026-06-01 10:00" or "tomorrow 10:00".
        Times without a zone are in UTC. Raises TypeError or ValueError for any other value.
        """
        value: object = instant
        if isinstance(value, timedelta):
            raise TypeError(
                "instant must be a time, not a duration; clock.advance(duration) moves the clock by a duration"
            )
        target = instant_of("instant", value, self.now()).astimezone(UTC)
        with self._moving:
            self.stop()
            return self._go_to(target)

    def freeze(self) -> datetime:
        """Stop the clock and return the time at which it stands."""
        return self.stop().now()

    def wait(self, seconds: float) -> None:
        """Wait for this number of seconds. A virtual clock is moved forward instead.

        If another thread is moving the clock, return at once, because a receiver could otherwise wait forever.
        """
        if not self.is_virtual:
            time.sleep(seconds)
        elif self._moving.acquire(blocking=False):
            try:
                self.advance(seconds)
            finally:
                self._moving.release()

    def put(self, instant: datetime) -> datetime:
        """Set the clock to an instant and return the new time. No event happens."""
        with self._moving:
            self._show(instant.astimezone(UTC))
            return self.now()

    def restart(self) -> datetime:
        """Set the clock to its start and return the new time. No event happens."""
        return self.put(self.start)

    def _go_to(self, end: datetime) -> datetime:
        ahead = end >= self.now()
        if self.agenda and ahead:
            self.agenda.deliver()
            while (stop := self.agenda.next()) and self.now() < stop <= end:
                self._show(stop)
                self.agenda.deliver()
        self._show(max(end, self.now()) if ahead else end)  # an event may have moved the clock beyond `end`
        if self.agenda:
            self.agenda.deliver()
        return self.now()


class SystemClock(VirtualClock):
    """The clock of this machine. It becomes a virtual clock when a program stops or moves it."""

    def __init__(self) -> None:
        super().__init__(None)


# -- the clock of a store that several processes share: if it was stopped or moved, all of them follow


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
        with on_error(self._threads.release):
            if self._depth or self._processes.acquire(blocking=blocking):
                self._depth += 1
                return True
        self._threads.release()
        return False

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
