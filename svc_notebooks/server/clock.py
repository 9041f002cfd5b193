"""The two clocks: the system's, and one that stands still until somebody moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Lock

from ..core.clock import parse_duration

DEFAULT_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
"""Where a virtual clock begins unless told, so that a seeded sandbox shows the same times at every run."""


class SystemClock:
    """The time of this machine, until a virtual clock takes over; who holds this one goes over with it."""

    def __init__(self) -> None:
        self._successor: VirtualClock | None = None
        self._lock = Lock()

    def now(self) -> datetime:
        """The present instant."""
        return self._successor.now() if self._successor else datetime.now(UTC)

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

    def __init__(self, start: datetime = DEFAULT_START) -> None:
        self._start = start
        self._now = start
        self._lock = Lock()

    def now(self) -> datetime:
        """The instant that it shows."""
        return self._now

    def advance(self, duration: str | float | timedelta) -> datetime:
        """Move it forward; the instant it shows then. Raises ValueError for a duration that it cannot go."""
        step = parse_duration(duration)
        if step < timedelta(0):
            raise ValueError(f"advance() goes forward only, not by {step}; give a duration of zero or more")
        with self._lock:
            try:
                self._now += step
            except OverflowError:
                raise ValueError(f"advance() by {step} would leave the year 9999") from None
            return self._now

    def set(self, instant: datetime) -> datetime:
        """Put it to this instant, which has a time zone."""
        if instant.tzinfo is None:
            raise ValueError(f"{instant} has no time zone; give one, for example UTC")
        with self._lock:
            self._now = instant.astimezone(UTC)
            return self._now

    def restart(self) -> datetime:
        """Put it back to where it began."""
        return self.set(self._start)
