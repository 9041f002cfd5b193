"""The two clocks: the system's, and one that stands still until somebody moves it.

A virtual clock that is moved forward stops wherever its agenda has something, and lets it happen at its time.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Lock, RLock
from typing import Protocol

from ..core.clock import parse_duration

DEFAULT_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
"""Where a virtual clock begins unless told, so that a seeded sandbox shows the same times at every run."""


class Agenda(Protocol):
    """What happens at its time while a virtual clock moves."""

    def next(self) -> datetime | None:
        """When something will happen, behind the present instant."""

    def deliver(self) -> None:
        """Let everything happen that is due now."""


class SystemClock:
    """The time of this machine, until a virtual clock takes over; who holds this one goes over with it."""

    def __init__(self) -> None:
        self._successor: VirtualClock | None = None
        self._lock = Lock()

    def now(self) -> datetime:
        """The present instant."""
        return self._successor.now() if self._successor else datetime.now(UTC)

    @property
    def is_virtual(self) -> bool:
        """Whether a virtual clock has taken over."""
        return self._successor is not None

    def stop(self) -> VirtualClock:
        """The one virtual clock that takes over, and stands where this one stood."""
        with self._lock:
            self._successor = self._successor or VirtualClock(datetime.now(UTC))
            return self._successor


class VirtualClock:
    """A clock that is moved by hand.

    >>> clock = VirtualClock(); clock.advance("7d").isoformat()
    '2026-01-12T09:00:00+00:00'
    """

    is_virtual = True

    def __init__(self, start: datetime = DEFAULT_START) -> None:
        self._start = start
        self._now = start
        self._moving = RLock()
        self.agenda: Agenda | None = None

    def now(self) -> datetime:
        """The instant that it shows."""
        return self._now

    def advance(self, duration: str | float | timedelta) -> datetime:
        """Move it forward; the instant it shows then. Raises ValueError for a duration that it cannot go."""
        step = parse_duration(duration)
        if step < timedelta(0):
            raise ValueError(f"advance() goes forward only, not by {step}; give a duration of zero or more")
        with self._moving:
            try:
                end = self._now + step
            except OverflowError:
                raise ValueError(f"advance() by {step} would leave the year 9999") from None
            return self._go_to(end)

    def set(self, instant: datetime) -> datetime:
        """Put it to this instant, which has a time zone; on a way forward everything happens at its time."""
        if instant.tzinfo is None:
            raise ValueError(f"{instant} has no time zone; give one, for example UTC")
        with self._moving:
            return self._go_to(instant.astimezone(UTC))

    def put(self, instant: datetime) -> datetime:
        """Put it to this instant as if it had always stood there: nothing happens on the way."""
        with self._moving:
            self._now = instant.astimezone(UTC)
            return self._now

    def restart(self) -> datetime:
        """Put it back to where it began."""
        return self.put(self._start)

    def _go_to(self, end: datetime) -> datetime:
        if self.agenda and end >= self._now:
            self.agenda.deliver()
            while (stop := self.agenda.next()) and self._now < stop <= end:
                self._now = stop
                self.agenda.deliver()
        self._now = end
        if self.agenda:
            self.agenda.deliver()
        return self._now
