"""multipart/related with two parts, metadata and content (A2): written as a stream, read as a stream.

The encoder knows the length of the whole before the first byte of the content is read. The decoder is fed
pieces of any size and gives back events; it holds at most one boundary's length of content back, so that a
body of any size passes through in constant memory.

RFC 2387 and 2046 ask for CRLF. Some clients of the family write bare LF, all of them alike within one body:
the line end behind the first boundary decides for the whole body, so content keeps its own line ends, byte
for byte (A2-03). A line that merely begins like the boundary is content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple, TypeAlias

from .messages import Headers, JSONObject

_PARAMETER = re.compile(r';\s*([^\s=;]+)\s*=\s*("(?:\\.|[^"\\])*"|[^\s;]*)')
_TOKEN = re.compile(r"[0-9A-Za-z!#$%&'*+\-.^_`|~]+")
_BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]")
# RFC 2046 lets blanks stand behind a boundary; so many, and not any number, that nobody can make us wait for the rest.
_LINE_END = re.compile(rb"(?P<closing>--)?[ \t]{0,256}\r?\n")
_PERHAPS_LINE_END = re.compile(rb"-?-?[ \t]{0,256}\r?")
_MAX_HEADER_BYTES = 16_384


class MultipartError(ValueError):
    """The body is not what RFC 2387 describes; the message says where."""


@dataclass(frozen=True, slots=True)
class MediaType:
    """A Content-Type header, taken apart: `essence` is type/subtype in lower case."""

    essence: str
    parameters: dict[str, str]

    @classmethod
    def parse(cls, text: str) -> MediaType:
        """Read the header's value; names without regard to case, values quoted or not.

        >>> MediaType.parse('Multipart/MultipartRelated; Boundary="a b"').parameters
        {'boundary': 'a b'}
        """
        essence = text.partition(";")[0].strip().lower()
        parameters = {key.lower(): _unquote(value) for key, value in _PARAMETER.findall(text)}
        return cls(essence, parameters)


def _unquote(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value


def _quote(value: str) -> str:
    return value if _TOKEN.fullmatch(value) else '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'


def boundary_of(content_type: str) -> str:
    """The boundary that a multipart Content-Type names. Raises MultipartError."""
    boundary = MediaType.parse(content_type).parameters.get("boundary", "")
    if not _BOUNDARY.fullmatch(boundary):
        raise MultipartError("Content-Type must name a boundary of 1 to 70 characters.")
    return boundary


@dataclass(frozen=True, slots=True)
class MultipartRelated:
    """A multipart/related body around a content that is streamed between `head` and `tail`.

    >>> body = MultipartRelated.of({"name": "a.txt"}, "text/plain", boundary="b")
    >>> body.content_type, body.length(3)
    ('multipart/related; boundary=b', 118)
    """

    content_type: str
    head: bytes
    tail: bytes

    @classmethod
    def of(cls, metadata: JSONObject, media_type: str, *, boundary: str) -> MultipartRelated:
        """Around this metadata and a content of this media type."""
        head = (
            f"--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n"
            f"{json.dumps(metadata, ensure_ascii=False)}\r\n"
            f"--{boundary}\r\nContent-Type: {media_type}\r\n\r\n"
        )
        return cls(f"multipart/related; boundary={_quote(boundary)}", head.encode(), f"\r\n--{boundary}--\r\n".encode())

    def length(self, content_length: int) -> int:
        """The size of the whole body around a content of this size, in bytes."""
        return len(self.head) + content_length + len(self.tail)


@dataclass(frozen=True, slots=True)
class PartBegins:
    """A part and its headers."""

    headers: Headers


@dataclass(frozen=True, slots=True)
class PartData:
    """Some bytes of the part that is open."""

    data: bytes


@dataclass(frozen=True, slots=True)
class PartEnds:
    """The part is complete."""


MultipartEvent: TypeAlias = PartBegins | PartData | PartEnds


class _State(Enum):
    PREAMBLE = auto()
    HEADERS = auto()
    CONTENT = auto()
    EPILOGUE = auto()


class _BoundaryLine(NamedTuple):
    """A boundary in the buffer: from `start` to `end`, None while its line is not complete."""

    start: int
    end: int | None
    closing: bool = False


class MultipartDecoder:
    """Turns the bytes of a multipart body, as they come, into events; `close` at the end of the body."""

    def __init__(self, boundary: str) -> None:
        self._dash = b"--" + boundary.encode()
        self._newline = b"\r\n"
        self._buffer = bytearray()
        self._state = _State.PREAMBLE
        self._at_part_start = (
            False  # nothing of this part's content was given out, its blank line is still in the buffer
        )
        self._steps = {
            _State.PREAMBLE: self._preamble,
            _State.HEADERS: self._headers,
            _State.CONTENT: self._content,
        }

    def feed(self, data: bytes) -> Iterator[MultipartEvent]:
        """The events that these bytes complete. Raises MultipartError."""
        self._buffer += data
        while (step := self._steps.get(self._state)) and (events := step()) is not None:
            yield from events
        if self._state is _State.EPILOGUE:
            self._buffer.clear()

    def close(self) -> list[MultipartEvent]:
        """The body is over: the last events. Raises MultipartError if the closing boundary has not come."""
        # The line of the closing boundary may end with the body; this ends it, and nothing else is complete by it.
        last = list(self.feed(b"\r\n")) if self._state is _State.CONTENT else []
        if self._state is not _State.EPILOGUE:
            raise MultipartError("the closing boundary is missing.")
        return last

    def _preamble(self) -> list[MultipartEvent] | None:
        edge = self._find_boundary(self._dash)
        while edge and edge.start and self._buffer[edge.start - 1] != ord("\n"):
            edge = self._find_boundary(self._dash, edge.start + 1)
        if edge is None or edge.end is None:
            self._check_size()
            return None
        self._newline = b"\r\n" if self._buffer[edge.end - 2 : edge.end] == b"\r\n" else b"\n"
        return self._pass_boundary(edge)

    def _headers(self) -> list[MultipartEvent] | None:
        if self._buffer.startswith(self._newline):
            return self._begin(Headers(), 0)
        end = self._buffer.find(self._newline * 2)
        if end < 0:
            self._check_size()
            return None
        return self._begin(_parse_headers(bytes(self._buffer[:end]), self._newline), end + len(self._newline))

    def _begin(self, headers: Headers, blank_line: int) -> list[MultipartEvent]:
        # The blank line stays: when the content is empty, its end is also the beginning of the boundary.
        del self._buffer[:blank_line]
        self._state, self._at_part_start = _State.CONTENT, True
        return [PartBegins(headers)]

    def _content(self) -> list[MultipartEvent] | None:
        delimiter = self._newline + self._dash
        edge = self._find_boundary(delimiter)
        if edge and edge.end is not None:
            return [*self._emit(edge.start), PartEnds(), *self._pass_boundary(edge._replace(end=edge.end - edge.start))]
        return self._emit(edge.start if edge else len(self._buffer) - len(delimiter) + 1) or None

    def _find_boundary(self, mark: bytes, begin: int = 0) -> _BoundaryLine | None:
        """The first boundary from `begin` on; a line that only begins like one is passed over."""
        at = self._buffer.find(mark, begin)
        while at >= 0:
            end = at + len(mark)
            if match := _LINE_END.match(self._buffer, end):
                return _BoundaryLine(at, match.end(), match["closing"] is not None)
            if _PERHAPS_LINE_END.fullmatch(self._buffer, end):
                return _BoundaryLine(at, None)
            at = self._buffer.find(mark, at + 1)
        return None

    def _pass_boundary(self, edge: _BoundaryLine) -> list[MultipartEvent]:
        del self._buffer[: edge.end]
        self._state = _State.EPILOGUE if edge.closing else _State.HEADERS
        return []

    def _emit(self, upto: int) -> list[MultipartEvent]:
        """Give out the content up to there, without the blank line's end in front of it."""
        start = len(self._newline) if self._at_part_start else 0
        if upto < max(start, 1):
            return []
        data = bytes(self._buffer[start:upto])
        del self._buffer[:upto]
        self._at_part_start = False
        return [PartData(data)] if data else []

    def _check_size(self) -> None:
        if len(self._buffer) > _MAX_HEADER_BYTES:
            raise MultipartError(f"no boundary or blank line within {_MAX_HEADER_BYTES} bytes.")


def _parse_headers(block: bytes, newline: bytes) -> Headers:
    """The headers of a part. A long one goes on in lines that begin with a blank (RFC 2045 by way of RFC 5322)."""
    unfolded = re.sub(re.escape(newline) + rb"[ \t]+", b" ", block)
    return Headers([_header(line) for line in unfolded.split(newline)])


def _header(line: bytes) -> tuple[str, str]:
    name, colon, value = line.partition(b":")
    if not colon or line.startswith((b" ", b"\t")):
        raise MultipartError(f"{line[:80].decode('latin-1')!r} is no header of a part.")
    return name.decode("latin-1").strip(), value.decode("latin-1").strip(" \t")
