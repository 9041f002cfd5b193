"""Shows the progress of a transfer, with a widget in notebooks and tqdm in terminals (D-03).

The bar in a notebook is displayed once and then only changes its traits, so that the saved notebook is the same at
every run. It shows no rates and no times for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from ..byte_sizes import MIB
from ..frontend import detect_frontend

Report: TypeAlias = Callable[[int, int | None], None]
"""A function that is called with the bytes done, and the bytes in all or None."""

Progress: TypeAlias = "bool | Report | None"
"""None shows a bar from `BAR_MIN_SIZE` on, True always, False never; a function is called instead."""

BAR_MIN_SIZE = 8 * MIB
"""Transfers below this many bytes are too short for a bar."""


def check_progress(progress: object) -> None:
    """Raise TypeError where `progress` is not None, True, False or a function."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise TypeError(
            f"progress must be None, True, False or a function of (done, total), not {type(progress).__name__}"
        )


@contextmanager
def reporting(progress: Progress, label: str, total: int | None) -> Iterator[Report]:
    """Give a function for reports of progress, and finish its bar at the end of the block."""
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
