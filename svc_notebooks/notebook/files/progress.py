"""Shows the progress of one transfer, as the progress of a batch of one row (D-03)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..batch.counts import Counts
from ..batch.progress import BatchProgress, Progress as Progress, check_progress as check_progress, showing
from ..batch.row_call import Report as Report


@contextmanager
def reporting(progress: Progress, label: str, total: int | None) -> Iterator[Report]:
    """Yield a function that reports progress, and finish its progress bar at the end of the block."""
    if callable(progress) and not isinstance(progress, bool):
        yield progress
        return
    with showing(BatchProgress(Counts(1, "files", [total]), label, progress)) as bar:
        yield bar.reports(0)
