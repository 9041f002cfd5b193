"""Runs uploads one after the other in steps, between which the kernel can handle messages such as a click."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ....core.platform import capabilities
from ....core.resources.files import File

if TYPE_CHECKING:
    from ....client.session import Session
    from ....client.uploads.request import UploadRequest
    from ....client.uploads.resumable_upload import ClientUpload

Value = TypeVar("Value")


class Cancelled(Exception):
    """Raised in an upload after a person has clicked Cancel. The service keeps the received bytes."""


class UploadQueue:
    """Runs uploads one after the other. `files` contains the metadata of the finished uploads.

    `report` gets the request, the sent bytes and the total bytes. After an exception, `run` continues the uploads.
    """

    def __init__(
        self, session: Session, requests: list[UploadRequest], report: Callable[[UploadRequest, int, int | None], None]
    ) -> None:
        self.files: list[File] = []
        self._session = session
        self._requests = requests
        self._report = report
        self._upload: ClientUpload | None = None
        self._stop_requested = False

    @property
    def current(self) -> UploadRequest | None:
        """The request of the running or next upload, or None if all uploads are done."""
        return self._requests[len(self.files)] if len(self.files) < len(self._requests) else None

    def drive(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine to its end. In a sandbox, use no event loop, because an event loop would open sockets."""
        if not self._session.in_process:
            return asyncio.run(work)
        with suppress(StopIteration):
            while True:
                work.send(None)

    def cancel(self) -> None:
        self._stop_requested = True

    async def run(self) -> None:
        """Run the remaining uploads. Raises Cancelled after a call of `cancel`, and any error of an upload."""
        self._stop_requested = False
        while (request := self.current) is not None:
            self._report(request, 0, request.source.size)
            self.files.append(await self._upload_file(request))
            self._upload = None

    async def _upload_file(self, request: UploadRequest) -> File:
        from ....client.uploads.prepare import execute

        await self._yield_to_loop()
        if request.upload_type != "resumable":
            return await self._run_step(lambda: execute(self._session, request, self._reporter(request)))
        return await self._in_chunks(request)

    async def _in_chunks(self, request: UploadRequest) -> File:
        from ....client.uploads.prepare import resumable

        steps = self._upload
        if steps is None:
            steps = self._upload = resumable(self._session, request, self._reporter(request))
        try:
            first = True
            while not steps.done:
                await self._run_step(partial(steps.step, first=first))
                first = False
                self._report(request, steps.stored, steps.total)
                await self._yield_to_loop()
        except Cancelled:
            raise
        except BaseException:
            self._upload = None  # Resume continues from the journal, and the failed request is not repeated
            steps.close()
            raise
        return steps.run()

    def _reporter(self, request: UploadRequest) -> Callable[[int, int | None], None]:
        return lambda done, total: self._report(request, done, total)

    async def _yield_to_loop(self) -> None:
        """Let the kernel handle messages. Raises Cancelled after a call of `cancel`."""
        await asyncio.sleep(0)
        if self._stop_requested:
            raise Cancelled

    async def _run_step(self, work: Callable[[], Value]) -> Value:
        if self._session.in_process or not capabilities().threads:
            return work()
        return await asyncio.to_thread(work)
