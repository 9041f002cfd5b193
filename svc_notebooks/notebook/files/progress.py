"""Shows the progress of a transfer, with a widget in notebooks and tqdm in terminals (D-03)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from ..byte_sizes import MIB
from ..frontend import detect_frontend

Report: TypeAlias = Callable[[int, int | None], None]
"""A function that is called with the bytes done and the total bytes. The total is None if it is not known."""

Progress: TypeAlias = "bool | Report | None"
"""None shows a progress bar for `BAR_MIN_SIZE` bytes or more, True always, False never. A function replaces the bar."""

BAR_MIN_SIZE = 8 * MIB
"""The size in bytes from which a transfer gets a progress bar by default."""


def check_progress(progress: object) -> None:
    """Raise TypeError if `progress` is not None, True, False or a function."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise TypeError(
            f"progress must be None, True, False or a function of (done, total), not {type(progress).__name__}"
        )


@contextmanager
def reporting(progress: Progress, label: str, total: int | None) -> Iterator[Report]:
    """Yield a function that reports progress, and finish its progress bar at the end of the block."""
    hidden = progress is False or (progress is None and (total or 0) < BAR_MIN_SIZE)
    frontend = "none" if hidden or callable(progress) else detect_frontend()
    if callable(progress):
        yield progress
    elif frontend == "notebook":
        from IPython.display import display

        from ..widgets.progress_bar import ProgressBar

        bar = ProgressBar(label, total)
        display(bar)  # type: ignore[no-untyped-call]
        try:
            yield bar.report
        except BaseException as error:
            bar.stop("Stopped" if isinstance(error, KeyboardInterrupt) else "Failed")
            raise
        bar.finish()
    elif frontend == "terminal":
        from tqdm import tqdm

        with tqdm(desc=label, total=total, unit="B", unit_scale=True, unit_divisor=1024) as line:

            def report(done: int, total: int | None) -> None:
                line.total = total
                line.update(done - line.n)

            yield report
    else:
        yield lambda done, total: None
