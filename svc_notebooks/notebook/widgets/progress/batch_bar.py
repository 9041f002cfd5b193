"""The progress bar of a batch, with a button that interrupts the kernel."""

from __future__ import annotations

import ipywidgets as widgets

from ..html import tag
from .progress_bar import ProgressBar

_READ_ONLY_BY_SCREEN_READERS = {"height": "1px", "min_height": "0", "margin": "0", "overflow": "hidden"}

_NO_BUTTON = "Interrupt the kernel to stop."


class BatchBar(ProgressBar):
    """A bar with a line of text that changes often, and a Cancel button while the work can be interrupted.

    A screen reader reads the line only at each tenth of the work, and at the end.

    >>> bar = BatchBar("Upload", interruptible=False)
    >>> bar.show(50, 200, "1 of 4 files")
    >>> bar.end("Stopped at 1 of 4 files")
    >>> bar.text
    'Stopped at 1 of 4 files'
    """

    def __init__(self, label: str, *, interruptible: bool) -> None:
        self._details, self._status = widgets.HTML(), ""
        super().__init__(label)
        self._line.layout = _READ_ONLY_BY_SCREEN_READERS
        self.children = [self._bar, self._line, self._details, *([_cancel_button()] if interruptible else ())]

    @property
    def status(self) -> str:
        """The last text."""
        return self._status

    def show(self, done: int, total: int | None, text: str) -> None:
        """Show that `done` of `total` bytes or rows are done, and a text."""
        if total != self.total:
            self._drawn = -1
        self._status = text
        self.report(done, total)
        self._details.value = tag("span", text)

    def end(self, text: str) -> None:
        """Show the last text, and remove the Cancel button."""
        self.total = self.total or self.done  # a bar with an unknown total would go on moving
        self._bar.value = self._bar_html()
        self.show_text(text)
        self._line.layout = {}
        self.children = [self._bar, self._line]


def _cancel_button() -> widgets.Widget:
    """Return a button that interrupts the kernel, or a text for front ends in which it cannot.

    The kernel gets no messages from widgets while it runs a cell, so JavaScript in the page interrupts it.
    """
    try:
        from .cancel_button import CancelButton
    except ImportError:  # anywidget is not installed
        return widgets.HTML(tag("span", _NO_BUTTON))
    return CancelButton(text=_NO_BUTTON)
