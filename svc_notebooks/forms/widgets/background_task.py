"""Runs long work in a thread with a progress bar and a Cancel button, or in the click handler without threads."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import ipywidgets as widgets

from ...core.platform import capabilities
from ...notebook.batch.progress_bar import ProgressBar
from . import ui

Value = TypeVar("Value")

# A function that reports progress. The arguments are the finished bytes and the total, or None for an unknown total.
#
# The function raises Stopped after the person has clicked Cancel.
Report: TypeAlias = Callable[[int, int | None], None]

_STATUS_INTERVAL = 5  # seconds between two status texts of a long task


class Stopped(BaseException):
    """Raised inside a task after the person has clicked Cancel. It is no Exception, so that calls pass it on."""


class BackgroundTask(widgets.VBox):  # type: ignore[misc]
    """Runs one task at a time, with its progress and a Cancel button. `on_error` gets the exceptions of a task."""

    def __init__(self, on_error: Callable[[Any], None]) -> None:
        self._on_error = on_error
        self._task: asyncio.Task[None] | None = None
        self._stop_requested = False
        self.bar = ProgressBar("Work")
        self.cancel = widgets.Button(description="Cancel", tooltip="Stop the running task")
        self.cancel.on_click(lambda _button: self.stop())
        super().__init__([self.bar, ui.row(self.cancel)])
        ui.set_visible(self, False)

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    def stop(self) -> None:
        """Request the end of the task, which stops when it reports progress the next time.

        Raises ValueError while no task runs.
        """
        if not self.busy:
            raise ValueError("Nothing is running that could be cancelled.")
        self._stop_requested = True
        self.bar.show_text("Stopping …")

    def require_idle(self) -> None:
        """Raise ValueError while a task runs."""
        if self.busy:
            raise ValueError("A task is running. Wait for it, or cancel it.")

    def begin(
        self, label: str, work: Callable[[Report], Value], on_done: Callable[[Value], None], *, in_thread: bool
    ) -> None:
        """Run `work`, optionally in a thread, and pass its value to `on_done`. Raises ValueError while a task runs."""
        self.require_idle()
        self._stop_requested = False
        if in_thread:
            self.bar.begin(label, None)
            ui.set_visible(self, True)
        if not in_thread or not can_run_in_background():
            try:
                on_done(work(self._report))
            except (Exception, Stopped) as error:
                self._on_error(error)
            ui.set_visible(self, False)
            return
        self._task = asyncio.ensure_future(self._run_in_thread(work, on_done))

    def _report(self, done: int, total: int | None) -> None:
        if self._stop_requested:
            raise Stopped
        self.bar.report(done, total)

    async def _run_in_thread(self, work: Callable[[Report], Value], on_done: Callable[[Value], None]) -> None:
        loop = asyncio.get_running_loop()

        def report(done: int, total: int | None) -> None:
            if self._stop_requested:
                raise Stopped
            loop.call_soon_threadsafe(self.bar.report, done, total)

        future = asyncio.ensure_future(asyncio.to_thread(work, report))
        seconds = 0
        while not (await asyncio.wait([future], timeout=_STATUS_INTERVAL))[0]:
            seconds += _STATUS_INTERVAL
            self.bar.show_text(f"{self.bar.text.partition(';')[0]}; {seconds} seconds so far")
        ui.set_visible(self, False)
        self._task = None  # on_done may begin another task
        try:
            on_done(future.result())
        except (Exception, Stopped) as error:
            self._on_error(error)


class LatestTask:
    """Runs requests of which only the latest matters, such as the pages of a list that changes while a person types.

    A new request replaces a waiting one, and the result of a request that was replaced is dropped. `on_error` gets
    the exceptions.

    >>> task = LatestTask(print)
    >>> task.begin(lambda: "page", print, in_thread=False)
    page
    """

    def __init__(self, on_error: Callable[[Exception], None]) -> None:
        self._on_error = on_error
        self._task: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    def cancel(self) -> None:
        """Drop the waiting or running request. A running thread goes on to its end."""
        if self._task:
            self._task.cancel()
        self._task = None

    def begin(
        self, work: Callable[[], Value], on_done: Callable[[Value], None], *, in_thread: bool, delay: float = 0
    ) -> None:
        """Run `work` after `delay` seconds without another call, then call `on_done` with the value of `work`.

        Without an event loop nothing is delayed.
        """
        self.cancel()
        in_thread = in_thread and can_run_in_background()
        if in_thread or (delay and running_loop()):
            self._task = asyncio.ensure_future(self._run_later(work, on_done, in_thread=in_thread, delay=delay))
            return
        try:
            on_done(work())
        except Exception as error:
            self._on_error(error)

    async def _run_later(
        self, work: Callable[[], Value], on_done: Callable[[Value], None], *, in_thread: bool, delay: float
    ) -> None:
        await asyncio.sleep(delay)
        try:
            on_done(await asyncio.to_thread(work) if in_thread else work())
        except Exception as error:
            self._on_error(error)


def can_run_in_background() -> bool:
    """Return whether a task can run without blocking its caller, which requires an event loop and threads."""
    return running_loop() is not None and capabilities().threads


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop of the current thread, or None."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
