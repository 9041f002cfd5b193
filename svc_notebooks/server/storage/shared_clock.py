"""The clock of a service whose store several processes share."""

from __future__ import annotations

from .clock import SystemClock, VirtualClock


class SharedClock(SystemClock):
    """The clock of this machine, which cannot be stopped, because the other processes would not notice."""

    def stop(self) -> VirtualClock:
        """Raise ValueError."""
        raise ValueError(unshared("the clock cannot be stopped or moved"))


def unshared(sentence: str) -> str:
    """Return the message of an error about something that belongs to one process."""
    return f"{sentence}, because several processes share this store and each has its own; serve it without --shared"
