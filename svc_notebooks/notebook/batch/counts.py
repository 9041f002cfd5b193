"""Counts the rows, bytes and failures of a batch, and says in a line how far it is."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from math import ceil
from threading import Lock

from ..byte_sizes import progress_text, share_text, size_text

_WINDOW = 10.0
"""The seconds over which speeds are measured."""

_SAMPLE_INTERVAL = 0.2


class Counts:
    """The numbers of rows, bytes and failures of a batch. `report` and `end` may be called in any thread.

    `sizes` are the sizes of the rows in bytes, None for a size that is not known. It is None for rows without content.

    >>> counts = Counts(2, "files", [1_048_576, 1_048_576])
    >>> counts.report(0, 524_288, 1_048_576)
    >>> counts.end(1, failed=True)
    >>> counts.text(now=0.0)
    '1 of 2 files, 0.5 of 2 MiB, 1 failed'
    """

    def __init__(self, rows: int, unit: str, sizes: Iterable[int | None] | None = None) -> None:
        self.rows, self.unit = rows, unit
        self.rows_done = self.failed = self.moved = 0
        self._sizes = None if sizes is None else list(sizes)
        self.known_size = sum(size or 0 for size in self._sizes or ())
        self._unknown = sum(size is None for size in self._sizes or ())
        self._sent = 0  # the bytes that this call has sent or received, without those that were there before
        self._running: dict[int, int] = {}
        self._samples: deque[tuple[float, int, int, int]] = deque()
        self._lock = Lock()

    def report(self, n: int, done: int, total: int | None) -> None:
        """Count the bytes that a running row has transferred."""
        with self._lock:
            if self._sizes is None:
                self._sizes, self._unknown = [None] * self.rows, self.rows
            if total is not None and total != self._sizes[n]:
                self._set_size(self._sizes, n, total)
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

    def skip(self, numbers: Iterable[int]) -> None:
        """Count rows that an earlier call has done."""
        for n in numbers:
            self.end(n, failed=False, sent=False)

    def _set_size(self, sizes: list[int | None], n: int, size: int) -> None:
        self._unknown -= sizes[n] is None
        self.known_size += size - (sizes[n] or 0)
        sizes[n] = size

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

    def text(self, now: float) -> str:
        """Return what is done, the speed, the time left and the number of failures. `now` is a time in seconds."""
        return ", ".join([self.done_text(), *self._speed(now), *self._failures()])

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

    def _speed(self, now: float) -> list[str]:
        samples = self._samples
        if not samples or now - samples[-1][0] >= _SAMPLE_INTERVAL:
            samples.append((now, self.rows_done, self.moved, self._sent))
        while now - samples[0][0] > _WINDOW and len(samples) > 2:
            samples.popleft()
        since, rows_done, moved, sent = samples[0]
        seconds = now - since
        if seconds <= 0:
            return []
        texts = []
        if self._sent > sent:
            texts.append(f"{size_text(round((self._sent - sent) / seconds))}/s")
        elif self.rows_done > rows_done and self.rows != 1:
            texts.append(f"{(self.rows_done - rows_done) / seconds:.1f} {self.unit}/s")
        done, total = self.share
        step = self.moved - moved if self.total_size else self.rows_done - rows_done
        if total and step > 0 and done < total:
            texts.append(f"{duration_text(ceil((total - done) * seconds / step))} left")
        return texts


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
