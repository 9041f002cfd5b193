"""Streams the bytes of an upload source as the body of a request."""

from __future__ import annotations

from collections.abc import Callable

from ..transport.in_process import BLOCK
from .sources import Progress, UploadSource, change_error


class SourceStream:
    """A request body with `size` bytes of a source from the offset `first` on, or all if None (A2-05, A3-26).

    `head` and `tail` are sent before and after. `sent` is the number of source bytes that were read so far.
    `on_sent` is called when the end of the body is read, which is before the service can respond.
    """

    __slots__ = ("_first", "_head", "_on_sent", "_progress", "_size", "_source", "_tail", "sent")

    def __init__(
        self,
        source: UploadSource,
        first: int,
        size: int | None,
        progress: Progress | None = None,
        *,
        head: bytes = b"",
        tail: bytes = b"",
        on_sent: Callable[[], None] | None = None,
    ) -> None:
        self.sent = 0
        self._source = source
        self._first, self._size = first, size
        self._progress = progress
        self._head, self._tail = head, tail
        self._on_sent = on_sent

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes of the body, or all remaining bytes if negative.

        Raises SourceChanged if the source changed during the upload, and OSError if the source cannot be read.
        """
        if size < 0:
            return b"".join(iter(lambda: self.read(BLOCK), b""))
        if self._head:
            piece, self._head = self._head[:size], self._head[size:]
            return piece
        at = self._first + self.sent
        size_to_read = size if self._size is None else min(size, self._size - self.sent)
        if size_to_read and (data := self._source.read(at, size_to_read)):
            self.sent += len(data)
            if self._progress is not None:
                self._progress(at + len(data), self._source.size)
            return data
        if size_to_read and self._size is not None:
            raise change_error(self._source.name, self._first + self._size, at)
        if self._on_sent is not None:
            self._on_sent()
        piece, self._tail = self._tail[:size], self._tail[size:]
        return piece
