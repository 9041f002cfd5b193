"""Work that takes long, beside the kernel's loop: a bar tells how far it is, and Cancel stops it where it can be.

A kernel hears nothing while a handler runs. So what may take long runs in a thread that the loop waits for; where
there is no loop (a program) or are no threads (a browser) it runs at once, to its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias, TypeVar

import ipywidgets as widgets

from ...core.platform import capabilities
from .field import show
from .progress_bar import ProgressBar
from .styles import row

Value = TypeVar("Value")
Report: TypeAlias = Callable[[int, int | None], None]
"""Told the bytes that are done and the bytes in all; raises Stopped once the person has pressed Cancel."""

_SPOKEN = 5
"""Seconds between two words about work that takes long."""

_UNDER_WAY = "Something is under way: wait for it, or cancel it."


class Stopped(Exception):
    """The person pressed Cancel; what has come so far is kept."""


class BackgroundTask(widgets.VBox):  # type: ignore[misc]
    """One piece of work at a time; to be seen while it goes on. `failed` is told what went wrong."""

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._task: asyncio.Task[None] | None = None
        self._stop = False
        self.bar = ProgressBar("Work", None)
        self.cancel = widgets.Button(description="Cancel", tooltip="Stop what is under way")
        self.cancel.on_click(lambda _button: self.stop())
        super().__init__([self.bar, row(self.cancel)])
        show(self, False)

    @property
    def busy(self) -> bool:
        """Whether something is under way."""
        return self._task is not None and not self._task.done()

    def stop(self) -> None:
        """Stop what is under way at its next step."""
        self._stop = True
        self.bar.say("Stopping …")

    def begin(self, label: str, act: Callable[[Report], Value], then: Callable[[Value], None], *, aside: bool) -> None:
        """Do `act`, and `then` with what it gave. Raises ValueError while something else is under way.

        Args:
            aside: It may take long. What a service in this kernel answers at once is not worth a thread.
        """
        if self.busy:
            raise ValueError(_UNDER_WAY)
        self._stop = False
        loop = _loop()
        if not aside or loop is None or not capabilities().threads:
            then(act(self._report))
            return
        self.bar.begin(label, None)
        show(self, True)
        self._task = loop.create_task(self._beside(loop, act, then))

    def _report(self, done: int, total: int | None) -> None:
        if self._stop:
            raise Stopped
        self.bar.report(done, total)

    async def _beside(
        self, loop: asyncio.AbstractEventLoop, act: Callable[[Report], Value], then: Callable[[Value], None]
    ) -> None:
        def report(done: int, total: int | None) -> None:
            if self._stop:
                raise Stopped
            loop.call_soon_threadsafe(self.bar.report, done, total)

        work = asyncio.ensure_future(asyncio.to_thread(act, report))
        waited = 0
        while not (await asyncio.wait([work], timeout=_SPOKEN))[0]:
            waited += _SPOKEN
            self.bar.say(f"{self.bar.words.partition(';')[0]}; {waited} seconds so far")
        show(self, False)
        try:
            then(work.result())
        except Exception as error:
            self._failed(error)


def _loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
