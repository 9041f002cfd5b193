"""A progress bar with a status line for screen readers, which the progress bar of ipywidgets does not support."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets

from ..display import Markup, progress_text, tag

_ANNOUNCED_STEP = 10  # percent; screen readers cannot finish reading a line that changes with every chunk


class ProgressBar(widgets.VBox):  # type: ignore[misc]
    """Shows the progress of a transfer. `report(done, total)` updates the progress.

    >>> bar = ProgressBar("Upload survey.csv", 100)
    >>> bar.report(50, 100); bar.status
    '50 bytes of 100 bytes (50 %)'
    """

    def __init__(self, label: str, total: int | None = None) -> None:
        self._bar, self._line = widgets.HTML(), widgets.HTML()
        super().__init__([self._bar, self._line])
        self.begin(label, total)

    def begin(self, label: str, total: int | None) -> None:
        """Reset the bar for a new transfer of `total` bytes (None if unknown)."""
        self.label = label
        self._drawn = self._announced = -1
        self.report(0, total)

    @property
    def status(self) -> str:
        return progress_text(self.done, self.total)

    def report(self, done: int, total: int | None) -> None:
        """Show that `done` of `total` bytes are transferred, with at most one update for each percent."""
        self.done, self.total = done, total
        percent = 100 * done // total if total else done
        if percent == self._drawn:
            return
        if percent < self._drawn:  # another transfer
            self._announced = -1
        self._drawn = percent
        self._bar.value = self._bar_html()
        if self._announced < 0 or not total or percent - self._announced >= _ANNOUNCED_STEP:
            self._announced = percent
            self.show_text(self.status)

    def _bar_html(self) -> Markup:
        unknown = self.total is None
        bar = tag(
            "progress",
            progress_text(self.done, self.total),
            value=None if unknown else self.done if self.total else 1,
            max=None if unknown else self.total or 1,
            style="width: 24em; vertical-align: middle",
        )
        return tag("label", self.label, " ", bar)

    def show_text(self, text: str) -> None:
        self.text = text
        self._line.value = tag("span", text, role="status", aria_live="polite")

    def __repr__(self) -> str:
        return f"<ProgressBar: {self.label}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle = dict(super()._repr_mimebundle_(**options))
        bundle["text/plain"] = repr(self)
        bundle["text/html"] = str(tag("p", self.label, " …"))
        return bundle


_READ_ONLY_BY_SCREEN_READERS = {"height": "1px", "min_height": "0", "margin": "0", "overflow": "hidden"}


class BatchBar(ProgressBar):
    """A bar with a line of text that changes often, and a Cancel button while the work can be interrupted.

    A screen reader reads the line only at each tenth of the work, and at the end.

    >>> bar = BatchBar("Upload", interruptible=False)
    >>> bar.show(50, 200, "1 of 4 files", now=0.0)
    >>> bar.end("Stopped", "1 of 4 files")
    >>> bar.text
    'Stopped at 1 of 4 files'
    """

    def __init__(self, label: str, *, interruptible: bool) -> None:
        self._details, self._status = widgets.HTML(), ""
        super().__init__(label)
        self._line.layout = _READ_ONLY_BY_SCREEN_READERS
        self.children = [self._bar, self._line, self._details, *([CancelButton()] if interruptible else ())]

    @property
    def status(self) -> str:
        """The last text."""
        return self._status

    def show(self, done: int, total: int | None, text: str, now: float) -> None:
        """Show that `done` of `total` bytes or rows are done, and a text."""
        if total != self.total:
            self._drawn = -1
        self._status = text
        self.report(done, total)
        self._details.value = tag("span", text)

    def end(self, word: str, text: str) -> None:
        """Show the last text, and remove the Cancel button."""
        self.total = self.total or self.done  # a bar with an unknown total would go on moving
        self._bar.value = self._bar_html()
        self.show_text(f"{word}: {text}" if word == "Done" else f"{word} at {text}")
        self._line.layout = {}
        self.children = [self._bar, self._line]


class CancelButton(anywidget.AnyWidget):
    """A button that interrupts the kernel, like the Stop button of JupyterLab, or a text where that is not possible.

    The kernel gets no messages from widgets while it runs a cell, so JavaScript in the page interrupts it.

    >>> CancelButton()
    <CancelButton>
    """

    _esm = (Path(__file__).parent / "cancel_button.js").read_text(encoding="utf-8")
    text = traitlets.Unicode("Interrupt the kernel to stop.").tag(sync=True)

    def __repr__(self) -> str:
        return "<CancelButton>"
