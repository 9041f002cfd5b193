"""Shows the progress of a batch, or of one transfer, after a time or from a size on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, get_ident
from typing import TYPE_CHECKING, TypeAlias

from ..byte_sizes import MIB
from .counts import Counts
from .displays import Display, displays
from .row_call import Report

if TYPE_CHECKING:
    from ...client.session import Session

Progress: TypeAlias = "bool | Report | None"
"""None shows a bar for much work only, True always, False never. A function replaces the bar."""

BAR_MIN_SIZE = 8 * MIB
"""The size in bytes from which a progress bar is shown by default."""

_BAR_DELAY = 2.0
"""The seconds after which several rows get a progress bar by default."""

_DRAW_INTERVAL = 0.2

_NOT_SENT = frozenset({"unchanged", "skipped"})


def check_progress(progress: object) -> None:
    """Raise TypeError if `progress` is not None, True, False or a function."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise TypeError(
            f"progress must be None, True, False or a function of (done, total), not {type(progress).__name__}"
        )


class BatchProgress:
    """Counts what the threads of a batch report, and shows it from the thread that made this object.

    `patience` is the number of seconds after which a bar is shown by default, or None for a bar only because of the
    size. `elapsed` returns a time in seconds, and `rate` the requests per second that a rate limit allows at a time.
    """

    def __init__(
        self,
        counts: Counts,
        title: str,
        progress: Progress,
        *,
        patience: float | None = None,
        elapsed: Callable[[], float] = time.monotonic,
        rate: Callable[[float], float | None] = lambda now: None,
    ) -> None:
        self._counts, self._title, self._progress = counts, title, progress
        self._function = None if progress is None or isinstance(progress, bool) else progress
        self._patience, self._elapsed, self._rate = patience, elapsed, rate
        self._displays: list[Display] | None = None
        self._thread, self._function_lock = get_ident(), Lock()
        self._started = elapsed()
        self._drawn_at, self._drawn_percent = float("-inf"), -1

    def reports(self, n: int) -> Report:
        """Return the function that reports the bytes of a row, given its number."""

        def report(done: int, total: int | None) -> None:
            self._counts.report(n, done, total)
            if self._function:
                self._call_function(self._function)
            if get_ident() == self._thread:
                self.draw()

        return report

    def end(self, n: int, *, failed: bool, outcome: object = None) -> None:
        """Count a row that has ended."""
        self._counts.end(n, failed=failed, sent=outcome not in _NOT_SENT)
        if self._function:
            self._call_function(self._function)
        self.draw()

    def draw(self) -> None:
        """Show how far the batch is, at most a few times a second. Call this in the thread that made the object."""
        if self._displays is None and not self._is_due():
            return
        done, total = self._counts.share
        now, percent = self._elapsed(), 100 * done // total if total else 0
        if percent == self._drawn_percent and now - self._drawn_at < _DRAW_INTERVAL:
            return
        if self._displays is None:
            self._displays = displays(self._title, requested=self._progress is True, now=self._started)
        self._drawn_at, self._drawn_percent = now, percent
        text = self._text(now)
        for display in self._displays:
            display.show(done, total, text, now)

    def close(self, word: str) -> None:
        """Show the last state. `word` is "Done", "Stopped" or "Failed"."""
        self._drawn_at, self._drawn_percent = float("-inf"), -1
        if self._displays is not None:
            self.draw()
        for display in self._displays or ():
            display.end(word, self._counts.summary(self._elapsed() - self._started))

    def _is_due(self) -> bool:
        if self._progress is False or self._function:
            return False
        if self._progress is True or self._counts.known_size >= BAR_MIN_SIZE:
            return True
        patience = self._patience
        return patience is not None and self._counts.rows > 1 and self._elapsed() - self._started >= patience

    def _text(self, now: float) -> str:
        rate = self._rate(now)
        text = self._counts.text(now)
        return text if rate is None else f"{text}, slowed to {rate:.1f} requests/s"

    def _call_function(self, function: Report) -> None:
        with self._function_lock:
            function(*self._counts.share)


@contextmanager
def showing(progress: BatchProgress) -> Iterator[BatchProgress]:
    """Yield `progress`, and show at the end of the block how the work ended."""
    progress.draw()
    try:
        yield progress
    except BaseException as error:
        progress.close("Stopped" if isinstance(error, KeyboardInterrupt) else "Failed")
        raise
    progress.close("Done")


def session_progress(session: Session, counts: Counts, title: str, progress: Progress) -> BatchProgress:
    """Return the progress of a batch with the clock and the rate limit of a session.

    In a sandbox the time is no reason for a bar, so that the outputs of a notebook do not depend on the machine.
    """
    patience = None if session.in_process else _BAR_DELAY
    return BatchProgress(
        counts, title, progress, patience=patience, elapsed=session.elapsed, rate=session.throttle.rate
    )
