"""Several uploads, one after the other, that let others speak between two chunks.

A kernel hears a pressed button only between two pieces of work, so an upload that ran to its end in one
go could not be cancelled. In a sandbox, where nothing waits and there may be no thread, the pieces are
steps (a chunk, a question, a wait) on the kernel's own event loop; over a network a step may take long, and a
thread that the loop waits for makes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from ....core.http.messages import JSONObject
from ....core.platform import capabilities

if TYPE_CHECKING:
    from ....client.session import Session
    from ....client.uploads.prepare import UploadRequest
    from ....client.uploads.upload import ClientUpload

Value = TypeVar("Value")


class Cancelled(Exception):
    """The person pressed Cancel; what the service has it keeps."""


class UploadQueue:
    """Uploads to be done; `files` are the finished ones, `current` the one that is under way.

    `report` is told (label, bytes sent, bytes in all) as they go. `run` may be called again after it
    raised: it goes on where it stopped.
    """

    def __init__(
        self, session: Session, orders: list[UploadRequest], report: Callable[[UploadRequest, int, int | None], None]
    ) -> None:
        self.files: list[JSONObject] = []
        self._session = session
        self._orders = orders
        self._report = report
        self._steps: ClientUpload | None = None
        self._stop = False

    @property
    def current(self) -> UploadRequest | None:
        """The upload that is under way or comes next; None when all are done."""
        return self._orders[len(self.files)] if len(self.files) < len(self._orders) else None

    def drive(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` to its end where there is no event loop; making one would open sockets."""
        if not self._session.in_process:
            return asyncio.run(work)
        with suppress(StopIteration):
            while True:
                work.send(None)

    def cancel(self) -> None:
        """Stop before the next chunk."""
        self._stop = True

    async def run(self) -> None:
        """Do what is left. Raises Cancelled, and whatever an upload raises."""
        self._stop = False
        while (order := self.current) is not None:
            self._report(order, 0, order.source.size)
            self.files.append(await self._carried_out(order))
            self._steps = None

    async def _carried_out(self, order: UploadRequest) -> JSONObject:
        from ....client.uploads.prepare import execute

        await self._breathe()
        if order.upload_type != "resumable":
            return await self._aside(lambda: execute(self._session, order, self._reporter(order)))
        return await self._in_chunks(order)

    async def _in_chunks(self, order: UploadRequest) -> JSONObject:
        from ....client.uploads.prepare import resumable

        steps = self._steps
        if steps is None:
            steps = self._steps = resumable(self._session, order, self._reporter(order))
        try:
            while not steps.done:
                await self._aside(steps.step)
                self._report(order, steps.stored, steps.total)
                await self._breathe()
        except Cancelled:
            raise
        except BaseException:
            self._steps = None  # the journal knows where it stopped; what failed is not asked again
            steps.close()
            raise
        return steps.run()

    def _reporter(self, order: UploadRequest) -> Callable[[int, int | None], None]:
        return lambda done, total: self._report(order, done, total)

    async def _breathe(self) -> None:
        """Let the kernel hear what was pressed meanwhile."""
        await asyncio.sleep(0)
        if self._stop:
            raise Cancelled

    async def _aside(self, work: Callable[[], Value]) -> Value:
        if self._session.in_process or not capabilities().threads:
            return work()
        return await asyncio.to_thread(work)
