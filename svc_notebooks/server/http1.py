"""HTTP/1.1 as bytes: bodies read from a connection, heads written to one. What carries them is socket.py's."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable
from email.utils import formatdate
from functools import lru_cache

from ..core.catalogue import refuse
from ..core.wire import Disconnected, Response, reason
from .parts import BLOCK

_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r\n")
_LINE = 256
_MOST_TRAILER_BYTES = 65_536
_BROKEN = re.compile(r"[\r\n\0]+")


class SizedBody:
    """A body of a declared length.

    `begin` is called before the first byte is read, `cut` stops the peer's side of the connection, and `gone` says
    whether the peer has closed it.
    """

    def __init__(
        self,
        source: io.BufferedReader,
        size: int,
        begin: Callable[[], None],
        cut: Callable[[], None],
        gone: Callable[[], bool],
    ) -> None:
        self._source = source
        self._begin: Callable[[], None] | None = begin
        self._cut = cut
        self.gone = gone
        self._left = size
        self.aborted = False
        self.broken = False  # nothing that follows on this connection can be understood

    def read(self, size: int = -1, /) -> bytes:
        """What has come, at most `size` bytes; all of it without one."""
        if size < 0:
            return b"".join(iter(lambda: self.read(BLOCK), b""))
        if not (wanted := min(size, self._left)):
            return b""
        block = self._receive(wanted)
        self._left -= len(block)
        return block

    def _receive(self, size: int) -> bytes:
        self._start()
        try:
            block = self._source.read1(size)
        except (OSError, ValueError) as error:  # cut off, silent for too long, or closed under us
            raise Disconnected(str(error)) from None
        if not block:
            raise Disconnected("the connection ended before the body did")
        return block

    def _start(self) -> None:
        begin, self._begin = self._begin, None
        if begin:
            begin()

    def abort(self) -> None:
        """Stop reading, now: another request takes over."""
        self.aborted = True
        self._cut()

    def untouched(self) -> bool:
        """Whether nobody has asked for a byte of it."""
        return self._begin is not None

    def over(self) -> bool:
        """Whether its end has been read."""
        return self._left == 0

    def drain(self, most: int, seconds: float) -> bool:
        """Read what is left, up to so many bytes and for so long; whether that was all."""
        end = time.monotonic() + seconds
        try:
            while not (self.over() or self.broken) and most > 0 and time.monotonic() < end:
                most -= len(self.read(min(BLOCK, most)))
        except Exception:  # what is wrong with a body that nobody wants does not matter
            return False
        return self.over()


class ChunkedBody(SizedBody):
    """A body in the chunked transfer coding."""

    def __init__(
        self, source: io.BufferedReader, begin: Callable[[], None], cut: Callable[[], None], gone: Callable[[], bool]
    ) -> None:
        super().__init__(source, 0, begin, cut, gone)
        self._ended = False

    def read(self, size: int = -1, /) -> bytes:
        """What has come, at most `size` bytes. Raises ApiError (400) where the coding is broken."""
        if size < 0:
            return super().read(size)
        if self._ended or not size:
            return b""
        if not self._left and not self._next_chunk():
            return b""
        block = super().read(size)
        if not self._left and self._line() != b"\r\n":
            raise self._wrong("a chunk of the body is longer than it says.")
        return block

    def _next_chunk(self) -> bool:
        found = _SIZE.fullmatch(self._line())
        if not found:
            raise self._wrong("a chunk of the body has no readable size.")
        self._left = int(found[1], 16)
        if not self._left:
            self._pass_trailers()
            self._ended = True
        return not self._ended

    def _pass_trailers(self) -> None:
        """They say nothing here. Of a line that is read in pieces no piece may pass for the blank one at the end."""
        left = _MOST_TRAILER_BYTES
        while (line := self._line(left)) != b"\r\n":
            left -= len(line)
            if not line.endswith(b"\r\n") or left <= 0:
                raise self._wrong("the trailers of the body are no header lines, or too many.")

    def _wrong(self, message: str) -> Exception:
        self.broken = True
        return refuse("badRequest", message=message)

    def _line(self, most: int = _LINE) -> bytes:
        self._start()
        try:
            line = self._source.readline(most)
        except (OSError, ValueError) as error:
            raise Disconnected(str(error)) from None
        if not line:
            raise Disconnected("the connection ended before the body did")
        return line

    def over(self) -> bool:
        return self._ended


def head(response: Response, *, connection: str | None = None) -> bytes:
    """The status line and the headers of a response; `connection`: what becomes of it, where that must be said."""
    lines = [f"HTTP/1.1 {response.status} {reason(response.status) or 'Unknown'}"]
    lines += [f"{name}: {_one_line(value)}" for name, value in response.headers.pairs]
    lines += [f"Date: {_date(int(time.time()))}", "Server: svc"]
    if connection:
        lines.append(f"Connection: {connection}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def _one_line(value: str) -> str:
    return _BROKEN.sub(" ", value)


@lru_cache(maxsize=2)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
