"""The permit of a thread that answers a request, which the thread releases while it waits.

The socket server limits the number of threads that run at the same time, because threads of one process compete for the
interpreter. A function that waits for a client, a lock or another process therefore uses `release_permit`. The code in
its `with` block must not need the permit to end, and a lock that a request needs must not be held around the block.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import local
from typing import Any, TypeAlias

Release: TypeAlias = Callable[[], AbstractContextManager[None]]


class _Thread(local):
    release: Release | None = None


_thread = _Thread()


def set_permit(release: Release | None) -> None:
    """Set the context manager that releases the permit of this thread and takes it again, or None without a permit."""
    _thread.release = release


class _ReleasedPermit:
    __slots__ = ("_release", "_released")

    def __enter__(self) -> None:
        self._release = release = _thread.release
        if release is not None:
            self._released = release()
            self._released.__enter__()
            _thread.release = None  # an inner block has no permit to release

    def __exit__(self, *error: Any) -> None:
        if self._release is not None:
            _thread.release = self._release
            self._released.__exit__(*error)


def release_permit() -> AbstractContextManager[None]:
    """Let other requests run during a `with` block that waits. Without a permit, do nothing.

    >>> with release_permit():
    ...     pass
    """
    return _ReleasedPermit()
