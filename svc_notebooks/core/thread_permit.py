"""The permit of a thread that answers a request, which the thread releases while it waits.

The socket server limits the number of threads that run at the same time, because threads of one process compete for the
interpreter. A function that waits for a client, a lock or another process therefore uses `release_permit`. The code in
its `with` block must not need the permit to end, and a lock that a request needs must not be held around the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import local
from typing import TypeAlias

Release: TypeAlias = Callable[[], AbstractContextManager[None]]


class _Thread(local):
    release: Release | None = None


_thread = _Thread()


def set_permit(release: Release | None) -> None:
    """Set the context manager that releases the permit of this thread and takes it again, or None without a permit."""
    _thread.release = release


@contextmanager
def release_permit() -> Iterator[None]:
    """Let other requests run during a `with` block that waits. Without a permit, do nothing.

    >>> with release_permit():
    ...     pass
    """
    release = _thread.release
    if release is None:
        yield
        return
    _thread.release = None  # an inner block has no permit to release
    try:
        with release():
            yield
    finally:
        _thread.release = release
