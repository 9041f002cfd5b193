"""One content on its way in: asked for again from where it broke, until it is all there (A6-06)."""

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
from ..transport.retry import RetryBudget, interrupted
from ..uploads.sources import Progress

_MAX_RESTARTS = 3


class Sink(Protocol):
    """Where the bytes go; `end`: how many it should have when all have come, None: not known."""

    have: int
    end: int | None
    lasting: bool
    """Whether another run can resume from the bytes received so far."""

    def write(self, block: bytes) -> None:
        """Append a block."""

    def restart(self, mark: Mapping[str, object] | None = None) -> None:
        """Throw away what has come."""


class Fetch:
    """A content, or a range of it, from the service into a sink.

    `resumed` tells afterwards whether it came in more than one piece, so that it should be verified. Without
    `ranges` the content is made anew for each request, and begins anew after a break.
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
        self._content_size: int | None = None  # the size of the whole content, once an answer told it
        self._end: int | None = None  # how many bytes the sink should have in the end
        self._restarts = 0
        self._furthest = sink.have
        self.resumed = sink.have > 0

    def run(self) -> None:
        """Fetch until all is there. Raises SvcError, and OSError when the sink cannot be written."""
        while not (self._is_full() or self._try_once()):
            self.resumed |= self._sink.have > 0

    def _is_full(self) -> bool:
        """Whether an earlier run had left nothing of a range to ask for."""
        if self._requested is None or self._requested.first is None or self._requested.last is None:
            return False
        return self._requested.first + self._sink.have > self._requested.last

    def _start_over(self) -> bool:
        """Begin anew: what came is of another content."""
        self._restarts += 1
        if self._restarts > _MAX_RESTARTS:
            raise ContentMismatch("The content changed each time it was fetched.")
        self._sink.restart()
        return False

    def _try_once(self) -> bool:
        request = Request("GET", self._url, self._session.headers(*self._range()))
        try:
            return self._handle_response(request, self._session.send(request))
        except TransportError as broken:
            if broken.hopeless or self._out_of_restarts() or not self._budget.wait():
                resumable = self._ranges and self._sink.lasting and self._sink.have > 0
                raise interrupted(broken, request, resumable=resumable) from broken
            return False

    def _out_of_restarts(self) -> bool:
        """Throw away the piece of what has no ranges; whether that has happened too often."""
        if self._ranges or not self._sink.have:
            return False
        self._restarts += 1
        self._sink.restart()
        return self._restarts > _MAX_RESTARTS

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
        error = self._session.error(response.status, content)
        if not ResponseFacts(response.status, reason=error.reason).worth_retrying:
            raise error
        if not self._budget.wait(self._session.retry_after(response)):
            raise self._budget.explain(error)
        return False

    def _handle_partial(self, response: Response) -> bool:
        """206: the next bytes, if they are those that were asked for."""
        try:
            content_range = ContentRange.parse(response.headers.get("Content-Range", ""))
        except ValueError:
            content_range = ContentRange(None)
        if content_range.span is None or content_range.span.last is None:
            raise ServiceFailed("The service sent a part without saying which.", location="Content-Range")
        if self._requested is not None and self._requested.first is None:
            self._requested = ByteRange(
                content_range.span.first, content_range.span.last
            )  # the end is counted from the front now
        if self._changed(content_range):
            return self._start_over()
        if content_range.span.first != self._first + self._sink.have:
            raise ServiceFailed("The service sent other bytes than were asked for.", location="Content-Range")
        self._end = content_range.span.last + 1 - self._first
        return self._write_blocks(response.body, 0, None)

    @property
    def _first(self) -> int:
        return (self._requested.first or 0) if self._requested else 0

    def _changed(self, content_range: ContentRange) -> bool:
        """Whether the content has another size than when the first piece came."""
        before, self._content_size = self._content_size, content_range.total
        return bool(self._sink.have) and None not in (before, content_range.total) and before != content_range.total

    def _handle_whole(self, response: Response) -> bool:
        """200: everything from the start, whatever was asked for; take what is wanted of it."""
        if self._sink.have:
            self._sink.restart()
        length = response.headers.get("Content-Length", "")
        self._content_size = self._end = int(length) if length.isdecimal() else None
        if self._requested is None:
            return self._write_blocks(response.body, 0, None)
        span = self._requested.resolve(self._content_size) if self._content_size is not None else None
        if span is None or span.last is None:
            raise ServiceFailed("The service does not answer ranges of this content.", status=200)
        self._end = span.last + 1 - span.first
        return self._write_blocks(response.body, span.first, self._end)

    def _handle_unsatisfiable(self, response: Response) -> bool:
        """416 to a continuation: there is nothing left, or the content is another one."""
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
                if self._sink.have > self._furthest:  # what comes again after a start from nothing is no progress
                    self._furthest = self._sink.have
                    self._budget.progress()
                if self._progress is not None:
                    self._progress(self._sink.have, self._end)
        if self._end is not None and self._sink.have != self._end:
            if self._sink.have > self._end:
                raise Interrupted("The service sent more bytes than it said.")
            raise TransportError(f"the content ended at byte {self._sink.have} of {self._end}")
        return True


def _slice_blocks(blocks: Iterable[bytes], skip: int, take: int | None) -> Generator[bytes, None, None]:
    """The bytes behind the first `skip`, at most `take` of them."""
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
