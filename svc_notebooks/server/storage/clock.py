"""The two clocks: the system's, and one that stands still until somebody moves it.

A virtual clock that is moved forward stops wherever its agenda has something, and lets it happen at its time.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from threading import Lock, RLock
from typing import Protocol

from ...core.clock import parse_duration, parse_time

DEFAULT_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
"""Where a virtual clock begins unless told, so that a seeded sandbox shows the same times at every run."""


class Agenda(Protocol):
    """What happens at its time while a virtual clock moves."""

    def next(self) -> datetime | None:
        """When something will happen, behind the present instant."""

    def deliver(self) -> None:
        """Let everything happen that is due now."""


class SystemClock:
    """The time of this machine, until somebody stops or moves it.

    A virtual clock takes over then, and who holds this one goes over with it.
    """

    def __init__(self) -> None:
        self.virtual: VirtualClock | None = None
        self._agenda: Agenda | None = None
        self._lock = Lock()

    def now(self) -> datetime:
        """The present instant."""
        return self.virtual.now() if self.virtual else datetime.now(UTC)

    @property
    def is_virtual(self) -> bool:
        """Whether a virtual clock has taken over."""
        return self.virtual is not None

    @property
    def agenda(self) -> Agenda | None:
        """What happens while the clock is moved."""
        return self._agenda

    @agenda.setter
    def agenda(self, agenda: Agenda | None) -> None:
        self._agenda = agenda
        if self.virtual:
            self.virtual.agenda = agenda

    def stop(self) -> VirtualClock:
        """The one virtual clock that takes over, and stands where this one stood."""
        with self._lock:
            if self.virtual is None:
                virtual = VirtualClock(datetime.now(UTC))
                virtual.agenda = self._agenda
                self.virtual = virtual
            return self.virtual

    def freeze(self) -> datetime:
        """Stop it; the instant at which it stands from now on."""
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
        """Let so many seconds pass."""
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
        """The instant that it shows."""
        return self._now

    def advance(self, duration: str | float | timedelta) -> datetime:
        """Move it forward; the instant it shows then. Raises ValueError for a duration that it cannot go."""
        step = parse_step(duration)
        with self._moving:
            try:
                end = self._now + step
            except OverflowError:
                raise ValueError(f"advance() by {step} would leave the year 9999") from None
            return self._go_to(end)

    def set(self, instant: datetime | str) -> datetime:
        """Put it to this instant; on a way forward everything happens at its time.

        A datetime with a time zone, or a text such as "2026-01-12T09:00:00Z". Raises ValueError, TypeError.
        """
        target = parse_instant(instant)
        with self._moving:
            return self._go_to(target)

    def freeze(self) -> datetime:
        """The instant at which it stands: it never runs by itself."""
        return self._now

    def wait(self, seconds: float) -> None:
        """Let so many seconds pass, by moving it. While somebody else moves it, time passes for both of them.

        So a receiver that is told something in the middle of a move may wait, too, and nobody waits for ever.
        """
        if self._moving.acquire(blocking=False):
            try:
                self.advance(seconds)
            finally:
                self._moving.release()

    def put(self, instant: datetime) -> datetime:
        """Put it to this instant as if it had always stood there: nothing happens on the way."""
        with self._moving:
            self._now = instant.astimezone(UTC)
            return self._now

    def restart(self) -> datetime:
        """Put it back to where it began."""
        return self.put(self.start)

    def _go_to(self, end: datetime) -> datetime:
        ahead = end >= self._now
        if self.agenda and ahead:
            self.agenda.deliver()
            while (stop := self.agenda.next()) and self._now < stop <= end:
                self._now = stop
                self.agenda.deliver()
        self._now = max(end, self._now) if ahead else end  # what happened on the way may have moved it further
        if self.agenda:
            self.agenda.deliver()
        return self._now


def virtual_clock_of(clock: SystemClock | VirtualClock) -> VirtualClock | None:
    """The clock that is moved by hand; None: time passes by itself."""
    return clock if isinstance(clock, VirtualClock) else clock.virtual


def parse_step(duration: str | float | timedelta) -> timedelta:
    """A length of time that a clock can be moved by. Raises ValueError."""
    step = parse_duration(duration)
    if step < timedelta(0):
        seconds = f"{step.total_seconds():g}"
        raise ValueError(f"advance() goes forward only, not by {seconds} seconds; give a duration of zero or more")
    return step


def parse_instant(instant: object) -> datetime:
    """An instant in UTC; a text is RFC 3339. Raises ValueError, TypeError for what is none."""
    if isinstance(instant, str):
        return parse_time(instant).astimezone(UTC)
    if not isinstance(instant, datetime):
        kind = type(instant).__name__
        raise TypeError(f"set() takes a datetime or a text such as 2026-01-12T09:00:00Z, not a {kind}")
    if instant.tzinfo is None:
        raise ValueError(f"{instant} has no time zone; give one, for example UTC")
    return instant.astimezone(UTC)
