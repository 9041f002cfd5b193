"""The system clock, and a virtual clock that shows the same time until a program moves it.

A virtual clock that is moved forward stops at the time of each event of its agenda, and lets the event happen.
"""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta
from threading import Lock, RLock
from types import TracebackType
from typing import Protocol

from ...core.durations import Duration, parse_duration
from ...core.errors.public_calls import public
from ...core.time_arguments import instant_of

DEFAULT_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
"""The default start of a virtual clock. It is fixed, so that a seeded sandbox has the same times in every run."""


class Agenda(Protocol):
    """The timed events of a service, which happen while a virtual clock is moved."""

    def next(self) -> datetime | None:
        """Return the time of the next event after the clock's present time, or None if there is no such event."""

    def deliver(self) -> None:
        """Perform all events that are due at the clock's present time, such as deliveries of notifications."""


class ReentrantLock(Protocol):
    """The lock of the thread that moves a virtual clock. The thread may acquire it again."""

    def acquire(self, blocking: bool = True) -> bool:
        """Acquire the lock. Return False if another thread has the lock and `blocking` is false."""

    def release(self) -> None:
        """Release the lock once."""

    def __enter__(self) -> object: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> object: ...


class SystemClock:
    """The clock of this machine. It becomes a virtual clock when a program stops or moves it."""

    def __init__(self) -> None:
        self._virtual: VirtualClock | None = None
        self._agenda: Agenda | None = None
        self._lock = Lock()

    @property
    def virtual(self) -> VirtualClock | None:
        """The virtual clock that this clock has become, or None."""
        return self._virtual

    def now(self) -> datetime:
        """Return the present time in UTC."""
        virtual = self.virtual
        return virtual.now() if virtual else datetime.now(UTC)

    @property
    def is_virtual(self) -> bool:
        """Return whether the clock has become a virtual clock."""
        return self.virtual is not None

    @property
    def agenda(self) -> Agenda | None:
        """The events that happen while the clock is moved."""
        return self._agenda

    @agenda.setter
    def agenda(self, agenda: Agenda | None) -> None:
        self._agenda = agenda
        if virtual := self.virtual:
            virtual.agenda = agenda

    def stop(self) -> VirtualClock:
        """Stop the clock at the present time, unless it is already virtual, and return the virtual clock."""
        with self._lock:
            if self._virtual is None:
                virtual = VirtualClock(datetime.now(UTC))
                virtual.agenda = self._agenda
                self._virtual = virtual
            return self._virtual

    def freeze(self) -> datetime:
        """Stop the clock and return the time at which it stands."""
        return self.stop().freeze()

    @public
    def advance(self, duration: Duration) -> datetime:
        """Stop the clock and move it like `VirtualClock.advance`. An invalid `duration` leaves the clock running."""
        step = parse_step(duration)
        return self.stop().advance(step)

    @public
    def set(self, instant: date | str) -> datetime:
        """Stop the clock and set it like `VirtualClock.set`. An invalid `instant` leaves the clock running."""
        target = parse_instant(instant, self.now())
        return self.stop().set(target)

    def wait(self, seconds: float) -> None:
        """Wait for this number of seconds. A virtual clock is moved forward instead."""
        if virtual := self.virtual:
            virtual.wait(seconds)
        else:
            time.sleep(seconds)


class VirtualClock:
    """A clock that moves only when a program moves it.

    >>> clock = VirtualClock(); clock.advance("7d").isoformat()
    '2026-01-12T09:00:00+00:00'
    """

    is_virtual = True

    def __init__(self, start: datetime = DEFAULT_START) -> None:
        self._start = self._now = start
        self._moving: ReentrantLock = RLock()
        self.agenda: Agenda | None = None

    @property
    def start(self) -> datetime:
        """The time to which `restart` sets the clock."""
        return self._start

    def __repr__(self) -> str:
        return f"<VirtualClock at {self.now():%Y-%m-%d %H:%M:%S} UTC>"

    def now(self) -> datetime:
        """Return the time of the clock in UTC."""
        return self._now

    def _show(self, instant: datetime) -> None:
        """Set the clock to an instant in UTC. The caller holds the lock."""
        self._now = instant

    @public
    def advance(self, duration: Duration) -> datetime:
        """Move the clock forward and return the new time. Raises ValueError for an invalid or negative duration."""
        step = parse_step(duration)
        with self._moving:
            try:
                end = self.now() + step
            except OverflowError:
                raise ValueError(f"advance() by {step} would exceed the year 9999") from None
            return self._go_to(end)

    @public
    def set(self, instant: date | str) -> datetime:
        """Set the clock to an instant and return the new time. All events up to a later instant happen.

        An earlier instant sets the clock back. Files, tokens and channels then keep their times.

        The instant is a datetime, a date (its midnight), or a text such as "2026-06-01 10:00" or "tomorrow 10:00".
        Times without a zone are in UTC. Raises TypeError or ValueError for any other value.
        """
        target = parse_instant(instant, self.now())
        with self._moving:
            return self._go_to(target)

    def freeze(self) -> datetime:
        """Return the time of the clock. A virtual clock never runs by itself, so nothing is stopped."""
        return self.now()

    def wait(self, seconds: float) -> None:
        """Move the clock forward by this number of seconds.

        If another thread is moving the clock, return at once, because a receiver could otherwise wait forever.
        """
        if self._moving.acquire(blocking=False):
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


def virtual_clock_of(clock: SystemClock | VirtualClock) -> VirtualClock | None:
    """Return the virtual clock that a clock is or has become, or None for a running system clock."""
    return clock if isinstance(clock, VirtualClock) else clock.virtual


def parse_step(duration: Duration) -> timedelta:
    """Parse a duration for `VirtualClock.advance`. Raises ValueError for an invalid or negative duration."""
    is_negative = isinstance(duration, str) and duration.lstrip().startswith("-")
    step = timedelta(-1) if is_negative else parse_duration(duration)
    if step < timedelta(0):
        raise ValueError(f"advance() moves the clock forward, not by {duration!r}; clock.set(time) can set it back")
    return step


def parse_instant(instant: object, now: datetime) -> datetime:
    """Convert an argument of `VirtualClock.set` to a datetime in UTC. Raises TypeError or ValueError."""
    if isinstance(instant, timedelta):
        raise TypeError("instant must be a time, not a duration; clock.advance(duration) moves the clock by a duration")
    return instant_of("instant", instant, now).astimezone(UTC)
