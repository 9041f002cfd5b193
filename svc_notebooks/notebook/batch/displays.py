"""Shows the progress of a batch with a widget in notebooks, with tqdm in terminals, and as lines in logs (D-03)."""

from __future__ import annotations

import sys
from threading import current_thread, main_thread
from typing import Protocol

from ...core.platform import capabilities
from ...core.printable_text import terminal_text
from ..frontend import detect_frontend, is_unattended

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

        from ..widgets.progress.batch_bar import BatchBar

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
