"""Limits the number of long lists that are built at the same time.

Work that pauses after each slice (core/thread_permit.py) lets the requests of others run. If they were long, too, all
would be in memory, and would occupy all readers of the database. Therefore long work needs a turn at its first pause.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from typing import TypeVar

from ...convert.pool.converter import Abandoned, Admission, TooManyWaiting
from ...core.http.messages import Disconnected
from ...core.thread_permit import checked_slices, release_permit

_MAX_RUNNING, _MAX_WAITING = 4, 1_000_000

T = TypeVar("T")


class LongReads:
    """Lets users take turns with long work that only reads."""

    def __init__(self) -> None:
        self._turns = Admission(_MAX_RUNNING, _MAX_WAITING)

    def run(self, read: Callable[[], T], user: str, is_gone: Callable[[], bool], *, waits: bool) -> T:
        """Return the result of `read`. Raises Disconnected if the client has gone.

        Long work waits for its turn. If `waits` is false, it does not wait where it is, because it has a reader of the
        database: `read` is called again when its turn has come.
        """
        has_turn = False

        def check(pauses: bool) -> None:
            nonlocal has_turn
            if is_gone():
                raise Disconnected("the client has closed its connection")
            if pauses and not has_turn:
                with release_permit() if waits else nullcontext():
                    stack.enter_context(self._turns.turn(user, is_gone, waits=waits))
                has_turn = True

        try:
            with ExitStack() as stack:
                try:
                    with checked_slices(check):
                        return read()
                except TooManyWaiting:
                    with release_permit():
                        stack.enter_context(self._turns.turn(user, is_gone))
                    has_turn = True
                with checked_slices(check):
                    return read()
        except Abandoned:
            raise Disconnected("the client has closed its connection") from None
