"""The permit of a thread that answers a request, which the thread releases while it waits.

The socket server limits the number of threads that run at the same time, because threads of one process compete for the
interpreter. A function that waits for a client, a lock or another process therefore uses `release_permit`. The code in
its `with` block must not need the permit to end, and a lock that a request needs must not be held around the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import local
from time import monotonic
from typing import Any, Protocol, TypeVar

# The time after which `in_slices` may pause.
SLICE_SECONDS = 0.0005

# The most items of a list that is short enough to need no pause.
FEW = 25

T = TypeVar("T")


class Released(AbstractContextManager[None], Protocol):
    """A context manager that releases the permit of a thread and takes it again. It is used for several blocks."""

    @property
    def others_wait(self) -> bool:
        """True if requests of other users wait for a permit."""


class _Thread(local):
    released: Released | None = None
    check: Callable[[bool], None] | None = None
    # The time from which long work lets others run.
    due = 0.0


_thread = _Thread()


def set_permit(released: Released | None) -> None:
    """Set the context manager that releases the permit of this thread, or None without a permit."""
    _thread.released = released


class release_permit:
    """Let other requests run during a `with` block that waits. Without a permit, do nothing.

    >>> with release_permit():
    ...     pass
    """

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


def let_others_run() -> None:
    """Release the permit of this thread and take it again if other users wait, so that long work has pauses.

    Does so only in a block of `checked_slices`.
    """
    if _thread.check is not None and (released := _thread.released) is not None:
        others_wait = released.others_wait
        _thread.check(others_wait)
        if others_wait:
            with release_permit():
                pass
    _thread.due = monotonic() + SLICE_SECONDS


def in_slices(items: Iterable[T]) -> Iterator[T]:
    """Return the items, with a pause for the requests of others after each `SLICE_SECONDS`."""
    return iter(items) if isinstance(items, list) and len(items) <= FEW else _sliced(items)


def _sliced(items: Iterable[T]) -> Iterator[T]:
    for item in items:
        yield item
        if monotonic() >= _thread.due:
            let_others_run()


@contextmanager
def checked_slices(check: Callable[[bool], None]) -> Iterator[None]:
    """Call `check` after each slice of the work in a `with` block, with True if a pause follows.

    It may raise an exception to end the work. The block must not hold a lock that another request needs.
    """
    outer, _thread.check = _thread.check, check
    _thread.due = monotonic() + SLICE_SECONDS
    try:
        yield
    finally:
        _thread.check = outer
