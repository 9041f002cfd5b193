"""Shows the progress of a batch, or of one transfer, after a time or from a size on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, current_thread, get_ident, main_thread
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ...core.platform import capabilities
from ...core.printable_text import terminal_text
from ..byte_sizes import MIB
from ..frontend import detect_frontend, is_unattended
from .counts import Counts
from .row_call import Report

if TYPE_CHECKING:
    from ...client.session import Session


_LINE_INTERVAL = 10.0
"""The seconds between two lines of a log."""


class Display(Protocol):
    """Shows how far a batch is."""

    def show(self, done: int, total: int | None, text: str, now: float) -> None:
        """Show that `done` of `total` bytes or rows are done. `text` says more. `now` is a time in seconds."""

    def end(self, word: str, text: str) -> None:
        """Show the last state. `word` is "Done", "Stopped" or "Failed"."""


def displays(title: str, *, requested: bool, now: float) -> list[Display]:
    """Return the displays for this front end. `requested` is True if the caller asked for progress."""
    frontend = detect_frontend()
    if frontend == "terminal":
        return [TerminalBar(title)]
    lines = LogLines(title, always=requested and frontend == "none", now=now)
    if frontend == "none":
        return [lines]
    return [NotebookBar(title), lines] if is_unattended() else [NotebookBar(title)]


class NotebookBar:
    """A progress bar in a notebook, with a Cancel button that interrupts the kernel."""

    def __init__(self, title: str) -> None:
        from IPython.display import display

        from .progress_bar import BatchBar

        interruptible = current_thread() is main_thread() and capabilities().threads
        self._bar = BatchBar(title, interruptible=interruptible)
        display(self._bar)  # type: ignore[no-untyped-call]

    def show(self, done: int, total: int | None, text: str, now: float) -> None:
        """Draw the bar and its text."""
        self._bar.show(done, total, text)

    def end(self, word: str, text: str) -> None:
        """Show the last text and remove the Cancel button."""
        self._bar.end(f"{word}: {text}" if word == "Done" else f"{word} at {text}")


class TerminalBar:
    """A tqdm bar in a terminal."""

    def __init__(self, title: str) -> None:
        from tqdm import tqdm

        self._line = tqdm(desc=title, bar_format="{desc}", dynamic_ncols=True)

    def show(self, done: int, total: int | None, text: str, now: float) -> None:
        """Draw the line."""
        self._line.n, self._line.total = done, total
        self._draw(text)

    def end(self, word: str, text: str) -> None:
        """Draw the last line, and go to the next line."""
        self._draw(text if word == "Done" else f"{word} at {text}")
        self._line.close()

    def _draw(self, text: str) -> None:
        self._line.bar_format = f"{{l_bar}}{{bar}}| {text}" if self._line.total else f"{{desc}}: {text}"
        self._line.refresh()


class LogLines:
    """Prints a line to standard error every ten seconds, and a last line after these or if `always` is true."""

    def __init__(self, title: str, *, always: bool, now: float) -> None:
        self._title, self._printed, self._last = title, always, now

    def show(self, done: int, total: int | None, text: str, now: float) -> None:
        """Print a line if ten seconds have passed since the last one."""
        if now - self._last >= _LINE_INTERVAL:
            self._last, self._printed = now, True
            self._print(text)

    def end(self, word: str, text: str) -> None:
        """Print the last line."""
        if self._printed:
            self._print(f"{text}. {word}.")

    def _print(self, text: str) -> None:
        if sys.stderr is not None:
            print(terminal_text(f"{self._title}: {text}"), file=sys.stderr, flush=True)


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
    size. `elapsed` returns a time in seconds.
    """

    def __init__(
        self,
        counts: Counts,
        title: str,
        progress: Progress,
        *,
        patience: float | None = None,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        self._counts, self._title, self._progress = counts, title, progress
        self._function = None if progress is None or isinstance(progress, bool) else progress
        self._patience, self._elapsed = patience, elapsed
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
        text = self._counts.text(now)
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
    """Return the progress of a batch with the clock of a session.

    In a sandbox the time is no reason for a bar, so that the outputs of a notebook do not depend on the machine.
    """
    patience = None if session.in_process else _BAR_DELAY
    return BatchProgress(counts, title, progress, patience=patience, elapsed=session.elapsed)
