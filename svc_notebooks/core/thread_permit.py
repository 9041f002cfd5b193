"""The permit of a thread that answers a request, which the thread releases while it waits.

The socket server limits the number of threads that run at the same time, because threads of one process compete for the
interpreter. A function that waits for a client, a lock or another process therefore uses `release_permit`. The code in
its `with` block must not need the permit to end, and a lock that a request needs must not be held around the block.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from threading import local
from typing import Any


class _Thread(local):
    released: AbstractContextManager[None] | None = None


_thread = _Thread()


def set_permit(released: AbstractContextManager[None] | None) -> None:
    """Set the context manager that releases the permit of this thread and takes it again, or None without a permit.

    It is used for several blocks.
    """
    _thread.released = released


class _ReleasedPermit:
    __slots__ = ("_released",)

    def __enter__(self) -> None:
        self._released = released = _thread.released
        if released is not None:
            released.__enter__()
            _thread.released = None  # an inner block has no permit to release

    def __exit__(self, *error: Any) -> None:
        if self._released is not None:
            _thread.released = self._released
            self._released.__exit__(*error)


def release_permit() -> AbstractContextManager[None]:
    """Let other requests run during a `with` block that waits. Without a permit, do nothing.

    >>> with release_permit():
    ...     pass
    """
    return _ReleasedPermit()


def let_others_run() -> None:
    """Release the permit of this thread and take it again, so that long work has pauses for the requests of others."""
    with release_permit():
        pass
