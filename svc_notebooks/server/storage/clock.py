"""The clock of the system, and a virtual clock that stands still until it is moved.

A virtual clock that is moved forward stops at each instant of its agenda, whose events then happen at their time.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from threading import Lock, RLock
from typing import Protocol

from ...core.clock import parse_duration, parse_time

DEFAULT_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
"""The default start of a virtual clock, so that a seeded sandbox shows the same times in every run."""


class Agenda(Protocol):
    """The events that happen while a virtual clock is moved."""

    def next(self) -> datetime | None:
        """Return the time of the next event after the present instant, or None."""

    def deliver(self) -> None:
        """Let all due events happen."""


class SystemClock:
    """The clock of this machine, which becomes a virtual clock when it is stopped or moved."""

    def __init__(self) -> None:
        self.virtual: VirtualClock | None = None
        self._agenda: Agenda | None = None
        self._lock = Lock()

    def now(self) -> datetime:
        """Return the present instant."""
        return self.virtual.now() if self.virtual else datetime.now(UTC)

    @property
    def is_virtual(self) -> bool:
        """Return whether it has become a virtual clock."""
        return self.virtual is not None

    @property
    def agenda(self) -> Agenda | None:
        """The events that happen while the clock is moved."""
        return self._agenda

    @agenda.setter
    def agenda(self, agenda: Agenda | None) -> None:
        self._agenda = agenda
        if self.virtual:
            self.virtual.agenda = agenda

    def stop(self) -> VirtualClock:
        """Become a virtual clock at the present instant, if it is none yet, and return that."""
        with self._lock:
            if self.virtual is None:
                virtual = VirtualClock(datetime.now(UTC))
                virtual.agenda = self._agenda
                self.virtual = virtual
            return self.virtual

    def freeze(self) -> datetime:
        """Stop it and return the instant."""
        return self.stop().freeze()

    def advance(self, duration: str | float | timedelta) -> datetime:
        """Stop it and move it forward, as `VirtualClock.advance` does. A refused move leaves it running."""
        step = parse_step(duration)
        return self.stop().advance(step)

    def set(self, instant: datetime | str) -> datetime:
        """Stop it and put it to this instant, as `VirtualClock.set` does. A refused instant leaves it running."""
        target = parse_instant(instant)
        return self.stop().set(target)

    def wait(self, seconds: float) -> None:
        """Wait for so many seconds."""
        if self.virtual:
            self.virtual.wait(seconds)
        else:
            time.sleep(seconds)


class VirtualClock:
    """A clock that is moved by hand.

    >>> clock = VirtualClock(); clock.advance("7d").isoformat()
    '2026-01-12T09:00:00+00:00'
    """

    is_virtual = True

    def __init__(self, start: datetime = DEFAULT_START) -> None:
        self.start = start
        self._now = start
        self._moving = RLock()
        self.agenda: Agenda | None = None

    def now(self) -> datetime:
        """Return the instant of the clock."""
        return self._now

    def advance(self, duration: str | float | timedelta) -> datetime:
        """Move it forward and return the new instant. Raises ValueError for an invalid duration."""
        step = parse_step(duration)
        with self._moving:
            try:
                end = self._now + step
            except OverflowError:
                raise ValueError(f"advance() by {step} would leave the year 9999") from None
            return self._go_to(end)

    def set(self, instant: datetime | str) -> datetime:
        """Set it to an instant, with all events on the way if it lies ahead, and return the instant.

        Takes a datetime with a time zone, or a text such as "2026-01-12T09:00:00Z". Raises ValueError, TypeError.
        """
        target = parse_instant(instant)
        with self._moving:
            return self._go_to(target)

    def freeze(self) -> datetime:
        """Return the instant of the clock, which never runs by itself."""
        return self._now

    def wait(self, seconds: float) -> None:
        """Move it forward by so many seconds, or return at once if another thread moves it.

        So a receiver that waits during a move does not wait forever.
        """
        if self._moving.acquire(blocking=False):
            try:
                self.advance(seconds)
            finally:
                self._moving.release()

    def put(self, instant: datetime) -> datetime:
        """Set it to an instant without any event on the way."""
        with self._moving:
            self._now = instant.astimezone(UTC)
            return self._now

    def restart(self) -> datetime:
        """Set it to its start without any event."""
        return self.put(self.start)

    def _go_to(self, end: datetime) -> datetime:
        ahead = end >= self._now
        if self.agenda and ahead:
            self.agenda.deliver()
            while (stop := self.agenda.next()) and self._now < stop <= end:
                self._now = stop
                self.agenda.deliver()
        self._now = max(end, self._now) if ahead else end  # an event on the way may have moved it further
        if self.agenda:
            self.agenda.deliver()
        return self._now


def virtual_clock_of(clock: SystemClock | VirtualClock) -> VirtualClock | None:
    """Return the virtual clock, or None if time passes by itself."""
    return clock if isinstance(clock, VirtualClock) else clock.virtual


def parse_step(duration: str | float | timedelta) -> timedelta:
    """Return a duration for `advance`. Raises ValueError for an invalid or negative one."""
    step = parse_duration(duration)
    if step < timedelta(0):
        seconds = f"{step.total_seconds():g}"
        raise ValueError(f"advance() goes forward only, not by {seconds} seconds; give a duration of zero or more")
    return step


def parse_instant(instant: object) -> datetime:
    """Return an instant in UTC. A text must be RFC 3339. Raises ValueError, TypeError."""
    if isinstance(instant, str):
        return parse_time(instant).astimezone(UTC)
    if not isinstance(instant, datetime):
        kind = type(instant).__name__
        raise TypeError(f"set() takes a datetime or a text such as 2026-01-12T09:00:00Z, not a {kind}")
    if instant.tzinfo is None:
        raise ValueError(f"{instant} has no time zone; give one, for example UTC")
    return instant.astimezone(UTC)
