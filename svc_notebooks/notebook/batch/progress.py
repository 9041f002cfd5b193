"""Shows the progress of a batch, or of one transfer, after a time or from a size on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import ceil
from threading import Lock, current_thread, get_ident, main_thread
from typing import Protocol, TypeAlias

from ...client.session import Session
from ...core.errors.public_calls import check_function, show_error
from ...core.platform import capabilities
from ...core.printable_text import terminal_text
from ..display import MIB, progress_text, share_text, size_text
from ..frontend import detect_frontend, is_unattended

# -- counts the rows, bytes and failures of a batch, and says in a line how far it is


# A function that is called with the bytes done and the total bytes. The total is None if it is not known.
Report: TypeAlias = Callable[[int, int | None], None]


class Counts:
    """The numbers of rows, bytes and failures of a batch. `report` and `end` may be called in any thread.

    `sizes` are the sizes of the rows in bytes, None for a size that is not known. It is None for rows without content.

    >>> counts = Counts(2, "files", [1_048_576, 1_048_576])
    >>> counts.report(0, 524_288, 1_048_576)
    >>> counts.end(1, failed=True)
    >>> counts.text(seconds=0.0)
    '1 of 2 files, 0.5 of 2 MiB, 1 failed'
    """

    def __init__(self, rows: int, unit: str, sizes: Iterable[int | None] | None = None) -> None:
        self.rows, self.unit = rows, unit
        self.rows_done = self.failed = self.moved = self._skipped = 0
        self._sizes = None if sizes is None else list(sizes)
        self.known_size = sum(size or 0 for size in self._sizes or ())
        self._unknown = sum(size is None for size in self._sizes or ())
        self._sent = 0  # the bytes that this call has sent or received, without those that were there before
        self._running: dict[int, int] = {}
        self._lock = Lock()

    def report(self, n: int, done: int, total: int | None) -> None:
        """Count the bytes that a running row has transferred."""
        with self._lock:
            if self._sizes is None:
                self._sizes, self._unknown = [None] * self.rows, self.rows
            before = self._sizes[n]
            if total is not None and total != before:
                self._unknown -= before is None
                self.known_size += total - (before or 0)
                self._sizes[n] = total
            self._move(n, done, sent=True)

    def end(self, n: int, *, failed: bool, sent: bool = True) -> None:
        """Count a row that has ended. `sent` is False if its content was not transferred, such as for "unchanged"."""
        with self._lock:
            self.rows_done += 1
            self.failed += failed
            size = self._sizes[n] if self._sizes else None
            if not failed and size is not None:
                self._move(n, size, sent=sent)
            self._running.pop(n, None)

    def skip(self, n: int) -> None:
        """Count a row that an earlier call has done, before others run."""
        self.rows_done += 1
        self._skipped += 1
        self.moved += (self._sizes[n] or 0) if self._sizes else 0

    def _move(self, n: int, done: int, *, sent: bool) -> None:
        step = done - self._running.get(n, 0)
        self._running[n] = done
        self.moved += step
        self._sent += max(0, step) if sent else 0

    @property
    def total_size(self) -> int | None:
        """The bytes of all rows, or None if the size of a row is not known, or if rows have no content."""
        return None if self._sizes is None or self._unknown else self.known_size

    @property
    def share(self) -> tuple[int, int | None]:
        """What a bar shows: the bytes done and their total, or the rows if the total is not known."""
        total = self.total_size
        return (self.moved, total) if total or self._is_one_file else (self.rows_done, self.rows)

    @property
    def _is_one_file(self) -> bool:
        return self.rows == 1 and self._sizes is not None

    def text(self, seconds: float) -> str:
        """Return what is done, the mean speed, the time left and the number of failures, after some seconds."""
        rows, (done, total) = self.rows_done - self._skipped, self.share
        parts, step = [self.done_text()], self._sent if self.total_size else rows
        if self._sent and seconds > 0:
            parts.append(f"{size_text(round(self._sent / seconds))}/s")
        elif rows and self.rows != 1 and seconds > 0:
            parts.append(f"{rows / seconds:.1f} {self.unit}/s")
        if total and step and done < total and seconds > 0:
            parts.append(f"{duration_text(ceil((total - done) * seconds / step))} left")
        return ", ".join([*parts, *self._failures()])

    def summary(self, seconds: float) -> str:
        """Return what is done, the duration and the number of failures."""
        return ", ".join([f"{self.done_text()} in {duration_text(seconds)}", *self._failures()])

    def done_text(self) -> str:
        """Return the rows and bytes that are done, or only the bytes of a single file."""
        if self._is_one_file:
            return progress_text(self.moved, self.total_size)
        rows = f"{self.rows_done:,} of {self.rows:,} {self.unit}"
        return f"{rows}, {share_text(self.moved, self.total_size)}" if self.moved or self.total_size else rows

    def _failures(self) -> list[str]:
        return [f"{self.failed:,} failed"] if self.failed and self.rows != 1 else []


def duration_text(seconds: float) -> str:
    """Return a duration as text in a unit that fits.

    >>> duration_text(40.2), duration_text(200), duration_text(7500)
    ('40 s', '3 min 20 s', '2 h 5 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


_LINE_INTERVAL = 10.0  # the seconds between two lines of a log


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
    from IPython.display import display

    from .progress_bar import BatchBar

    bar = BatchBar(title, interruptible=current_thread() is main_thread() and capabilities().threads)
    display(bar)  # type: ignore[no-untyped-call]
    return [bar, *([lines] if is_unattended() else [])]


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


# None shows a bar for much work only, True always, False never. A function replaces the bar.
Progress: TypeAlias = "bool | Report | None"

# The size in bytes from which a progress bar is shown by default.
BAR_MIN_SIZE = 8 * MIB

_BAR_DELAY = 2.0  # the seconds after which several rows get a progress bar by default

_DRAW_INTERVAL = 0.2

_NOT_SENT = frozenset({"unchanged", "skipped"})


def check_progress(progress: object) -> None:
    """Raise TypeError if `progress` is not None, True, False or a function."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        expected = "None, True, False or a function of (done, total)"
        raise TypeError(f"progress must be {expected}, not {type(progress).__name__}")
    if callable(progress):
        check_function("progress", progress, ("done", "total"))


def _guarded(function: Report) -> Report:
    """Return the function, whose first error is shown and ends its calls. The transfer goes on."""
    has_failed = False

    def report(done: int, total: int | None) -> None:
        nonlocal has_failed
        if not has_failed:
            try:
                function(done, total)
            except Exception as error:
                has_failed = True
                show_error("The function progress is not called any more, because it failed. The work goes on:", error)

    return report


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
        self._function = None if progress is None or isinstance(progress, bool) else _guarded(progress)
        self._patience, self._elapsed = patience, elapsed
        self._displays: list[Display] | None = None
        self._thread, self._function_lock = get_ident(), Lock()
        self._started = elapsed()
        self._drawn_at, self._drawn_percent = float("-inf"), -1

    def reports(self, n: int) -> Report:
        """Return the function that reports the bytes of a row, given its number."""

        def report(done: int, total: int | None) -> None:
            self._counts.report(n, done, total)
            self._call_function()
            if get_ident() == self._thread:
                self.draw()

        return report

    def end(self, n: int, *, failed: bool, outcome: object = None) -> None:
        """Count a row that has ended."""
        self._counts.end(n, failed=failed, sent=outcome not in _NOT_SENT)
        self._call_function()
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
        text = self._counts.text(now - self._started)
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

    def _call_function(self) -> None:
        if self._function:
            with self._function_lock:
                self._function(*self._counts.share)


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


# -- shows the progress of one transfer, as the progress of a batch of one row (D-03)


@contextmanager
def reporting(progress: Progress, label: str, total: int | None) -> Iterator[Report]:
    """Yield a function that reports progress, and finish its progress bar at the end of the block."""
    if callable(progress) and not isinstance(progress, bool):
        yield _guarded(progress)
        return
    with showing(BatchProgress(Counts(1, "files", [total]), label, progress)) as bar:
        yield bar.reports(0)
