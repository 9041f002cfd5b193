"""Downloads that continue with a range request after a broken connection (A6-06)."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import closing
from typing import Protocol

from ...core.errors.errors import ContentMismatch, Interrupted, ServiceFailed
from ...core.http.messages import Request, Response
from ...core.http.ranges import ByteRange, ContentRange
from ...core.uploads.client_state_machine import ResponseFacts
from ..session import Session
from ..transport.in_process import TransportError
from ..transport.retry import RetryBudget, connection_error, response_error
from ..uploads.sources import Progress

_MAX_RESTARTS = 3


class Sink(Protocol):
    """A destination for downloaded bytes, with the number of received (`have`) and expected (`end`, or None) bytes."""

    have: int
    end: int | None
    lasting: bool
    """True if the received bytes outlive the process, so that another run can continue the download."""

    def write(self, block: bytes) -> None:
        """Append a block of bytes."""

    def restart(self, mark: Mapping[str, object] | None = None) -> None:
        """Discard the received bytes. `mark` identifies the content that follows."""


class Fetch:
    """A download of content, or of a byte range, into a sink.

    After `run`, `resumed` is True if the bytes came in several pieces, which the caller should verify. `ranges=False`
    means that the service generates the content for each request, so that a broken download starts again.
    """

    def __init__(
        self,
        session: Session,
        url: str,
        sink: Sink,
        requested: ByteRange | None = None,
        progress: Progress | None = None,
        *,
        ranges: bool = True,
    ) -> None:
        self._session = session
        self._url = url
        self._ranges = ranges
        self._sink = sink
        self._requested = requested
        self._progress = progress
        self._budget = RetryBudget(session)
        self._renewed = False
        self._content_size: int | None = None  # the size of the whole content, or None if unknown
        self._end: int | None = None  # the expected number of bytes in the sink
        self._restarts = 0
        self._furthest = sink.have
        self.resumed = sink.have > 0

    def run(self) -> None:
        """Download all bytes into the sink. Raises SvcError, or OSError if the sink cannot be written."""
        while True:
            span = self._requested
            if span and span.first is not None and span.last is not None and span.first + self._sink.have > span.last:
                return  # an earlier run received the whole range
            if self._try_once():
                return
            self.resumed |= self._sink.have > 0

    def _start_over(self) -> bool:
        """Discard the received bytes and return False. Raises ContentMismatch if the content changed too often."""
        self._restarts += 1
        if self._restarts > _MAX_RESTARTS:
            raise ContentMismatch("The content changed during every download attempt.")
        self._sink.restart()
        return False

    def _try_once(self) -> bool:
        """Send one request. Returns False if another request is needed to complete the download."""
        request = Request("GET", self._url, self._session.headers(*self._range()))
        try:
            return self._handle_response(request, self._session.send(request))
        except TransportError as broken:
            if not self._ranges and self._sink.have:  # the next response begins with the first byte
                self._restarts += 1
                self._sink.restart()
            if broken.hopeless or self._restarts > _MAX_RESTARTS or not self._budget.wait():
                resumable = self._ranges and self._sink.lasting and self._sink.have > 0
                raise connection_error(broken, request, resumable=resumable) from broken
            return False

    def _range(self) -> list[tuple[str, str]]:
        have = self._sink.have
        if self._requested is None:
            return [("Range", str(ByteRange(have)))] if have else []
        if self._requested.first is None:
            return [("Range", str(self._requested))]
        return [("Range", str(ByteRange(self._requested.first + have, self._requested.last)))]

    def _handle_response(self, request: Request, response: Response) -> bool:
        if response.status == 206:
            return self._handle_partial(response)
        if response.status == 200:
            return self._handle_whole(response)
        content = response.content()
        if response.status == 416 and self._sink.have:
            return self._handle_unsatisfiable(response)
        if response.status == 401 and not self._renewed:
            self._renewed = True
            if self._session.renew():
                return False
        error = response_error(self._session, Response(response.status, response.headers, content))
        if not ResponseFacts(response.status, reason=error.reason).worth_retrying:
            raise error
        if not self._budget.wait(self._session.retry_after(response)):
            raise self._budget.explain(error)
        return False

    def _handle_partial(self, response: Response) -> bool:
        """Write a 206 response to the sink, and return True if complete. Raises ServiceFailed for other bytes."""
        try:
            content_range = ContentRange.parse(response.headers.get("Content-Range", ""))
        except ValueError:
            content_range = ContentRange(None)
        if content_range.span is None or content_range.span.last is None:
            raise ServiceFailed(
                "The service sent a partial response without a valid Content-Range.", location="Content-Range"
            )
        if self._requested is not None and self._requested.first is None:
            # Replace a range of last bytes by absolute offsets.
            self._requested = ByteRange(content_range.span.first, content_range.span.last)
        before, self._content_size = self._content_size, content_range.total
        if self._sink.have and None not in (before, content_range.total) and before != content_range.total:
            return self._start_over()
        if content_range.span.first != self._first + self._sink.have:
            raise ServiceFailed("The service sent a different byte range than requested.", location="Content-Range")
        self._end = content_range.span.last + 1 - self._first
        return self._write_blocks(response.body, 0, None)

    @property
    def _first(self) -> int:
        return (self._requested.first or 0) if self._requested else 0

    def _handle_whole(self, response: Response) -> bool:
        """Write the requested bytes of a 200 response to the sink and return True.

        Raises ServiceFailed if a byte range was requested and the size of the content is unknown.
        """
        if self._sink.have:
            self._sink.restart()
        length = response.headers.get("Content-Length", "")
        self._content_size = self._end = int(length) if length.isdecimal() else None
        if self._requested is None:
            return self._write_blocks(response.body, 0, None)
        span = self._requested.resolve(self._content_size) if self._content_size is not None else None
        if span is None or span.last is None:
            raise ServiceFailed("The service does not support range requests for this content.", status=200)
        self._end = span.last + 1 - span.first
        return self._write_blocks(response.body, span.first, self._end)

    def _handle_unsatisfiable(self, response: Response) -> bool:
        """Return True if a 416 response shows that the sink has all bytes. Otherwise discard the received bytes."""
        try:
            total = ContentRange.parse(response.headers.get("Content-Range", "")).total
        except ValueError:
            total = None
        if total == self._first + self._sink.have:
            return True
        return self._start_over()

    def _write_blocks(self, body: bytes | Iterable[bytes], skip: int, take: int | None) -> bool:
        blocks = [body] if isinstance(body, bytes) else body
        self._sink.end = self._end
        with closing(_slice_blocks(blocks, skip, take)) as blocks_to_write:
            for block in blocks_to_write:
                self._sink.write(block)
                if self._sink.have > self._furthest:  # repeated bytes after a restart are no progress
                    self._furthest = self._sink.have
                    self._budget.progress()
                if self._progress is not None:
                    self._progress(self._sink.have, self._end)
        if self._end is not None and self._sink.have != self._end:
            if self._sink.have > self._end:
                raise Interrupted("The service sent more bytes than it declared.")
            raise TransportError(f"the content ended at byte {self._sink.have} of {self._end}")
        return True


def _slice_blocks(blocks: Iterable[bytes], skip: int, take: int | None) -> Generator[bytes, None, None]:
    for block in blocks:
        piece = block[skip:] if skip else block
        skip = max(0, skip - len(block))
        if take is not None:
            piece = piece[:take]
            take -= len(piece)
        if piece:
            yield piece
        if take == 0:
            return
