"""A piece of a source as a request's body, told about as it leaves, in constant memory (A2-05, A3-26)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..transport.in_process import BLOCK
from .sources import UploadSource, changed

Progress: TypeAlias = "Callable[[int, int | None], None]"
"""Called with (bytes sent, size of the whole or None) after each block."""


class SourceStream:
    """`size` bytes of a source from `first` on (None: to its end), optionally between two texts."""

    __slots__ = ("_at", "_end", "_first", "_head", "_progress", "_source", "_tail")

    def __init__(
        self,
        source: UploadSource,
        first: int,
        size: int | None,
        progress: Progress | None = None,
        *,
        head: bytes = b"",
        tail: bytes = b"",
    ) -> None:
        self._source = source
        self._at = self._first = first
        self._end = None if size is None else first + size
        self._progress = progress
        self._head, self._tail = head, tail

    @property
    def sent(self) -> int:
        """How many bytes of the source were read for the connection so far."""
        return self._at - self._first

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes, all that is left when it is negative. Raises SourceChanged, SourceFailed."""
        if size < 0:
            return b"".join(iter(lambda: self.read(BLOCK), b""))
        if self._head:
            piece, self._head = self._head[:size], self._head[size:]
            return piece
        if data := self._content(size):
            return data
        piece, self._tail = self._tail[:size], self._tail[size:]
        return piece

    def _content(self, size: int) -> bytes:
        want = size if self._end is None else min(size, self._end - self._at)
        data = self._source.read(self._at, want) if want else b""
        if want and not data and self._end is not None:
            raise changed(self._source.name, self._end, self._at)
        self._at += len(data)
        if data and self._progress is not None:
            self._progress(self._at, self._source.size)
        return data
