"""Streaming encoder and decoder for multipart/related bodies with metadata and content (A2).

The encoder computes the body length before it reads the content. The decoder takes pieces of any size, returns events,
and holds back at most the length of a boundary.

RFC 2387 and 2046 require CRLF, but some clients write bare LF. The line end after the first boundary is therefore the
line end of the whole body, and content keeps its own line ends (A2-03).
"""

from __future__ import annotations

import binascii
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from .content_coding import BODY_DIGESTS, DigestVerifier
from .messages import Headers, JSONObject

_PARAMETER = re.compile(r';\s*([^\s=;]+)\s*=\s*("(?:\\.|[^"\\])*"|[^\s;]*)')
_TOKEN = re.compile(r"[0-9A-Za-z!#$%&'*+\-.^_`|~]+")
_BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]")
# RFC 2046 allows blanks after a boundary. The limit protects the decoder from endless blanks.
_LINE_END = re.compile(rb"(?P<closing>--)?[ \t]{0,256}\r?\n")
_PERHAPS_LINE_END = re.compile(rb"-?-?[ \t]{0,256}\r?")
_MAX_HEADER_BYTES = 16_384


class MultipartError(ValueError):
    """A multipart body violates RFC 2387. The message names the violation."""


@dataclass(frozen=True, slots=True)
class MediaType:
    """A parsed Content-Type header. `essence` is type/subtype in lower case."""

    essence: str
    parameters: dict[str, str]

    @staticmethod
    @lru_cache(maxsize=64)  # a request reads its Content-Type several times
    def parse(text: str) -> MediaType:
        """Parse a Content-Type header, with parameter names in lower case and values without quotes.

        >>> MediaType.parse('Multipart/Related; Boundary="a b"').parameters
        {'boundary': 'a b'}
        """
        essence = text.partition(";")[0].strip().lower()
        parameters = {
            key.lower(): re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
            for key, value in _PARAMETER.findall(text)
        }
        return MediaType(essence, parameters)


def boundary_of(content_type: str) -> str:
    """Return the boundary of a multipart Content-Type header. Raises MultipartError without a valid boundary."""
    boundary = MediaType.parse(content_type).parameters.get("boundary", "")
    if not _BOUNDARY.fullmatch(boundary):
        raise MultipartError("Content-Type must have a boundary parameter of 1 to 70 characters.")
    return boundary


@dataclass(frozen=True, slots=True)
class MultipartRelated:
    """The bytes `head` and `tail` around the content of a multipart/related body, and its Content-Type.

    >>> body = MultipartRelated.of({"name": "a.txt"}, "text/plain", boundary="b")
    >>> body.content_type, body.tail
    ('multipart/related; boundary=b', b'\\r\\n--b--\\r\\n')
    """

    content_type: str
    head: bytes
    tail: bytes

    @classmethod
    def of(cls, metadata: JSONObject, media_type: str, *, boundary: str) -> MultipartRelated:
        """Create the head and tail of a body with this metadata and content of this media type."""
        head = (
            f"--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n"
            f"{json.dumps(metadata, ensure_ascii=False)}\r\n"
            f"--{boundary}\r\nContent-Type: {media_type}\r\n\r\n"
        )
        quoted = boundary if _TOKEN.fullmatch(boundary) else '"' + re.sub(r'(["\\])', r"\\\1", boundary) + '"'
        return cls(f"multipart/related; boundary={quoted}", head.encode(), f"\r\n--{boundary}--\r\n".encode())


@dataclass(frozen=True, slots=True)
class PartBegins:
    """A decoder event at the beginning of a body part, with the part's headers."""

    headers: Headers


@dataclass(frozen=True, slots=True)
class PartData:
    """A decoder event with content bytes of the current body part, without their Content-Transfer-Encoding."""

    data: bytes


@dataclass(frozen=True, slots=True)
class PartEnds:
    """A decoder event at the end of the current body part."""


MultipartEvent: TypeAlias = PartBegins | PartData | PartEnds


class _BoundaryLine(NamedTuple):
    """A boundary line in the buffer from `start` to `end`, or to None if the line is incomplete."""

    start: int
    end: int | None
    closing: bool = False


def _decode_base64(data: bytes, is_last: bool) -> tuple[bytes, bytes]:
    text = data.translate(None, b" \t\r\n")
    end = len(text) if is_last else max(0, len(text) - 1) // 4 * 4  # only the last group can have padding
    if not is_last and b"=" in text[:end]:
        raise ValueError
    return binascii.a2b_base64(text[:end], strict_mode=True), text[end:]


def _decode_quoted_printable(data: bytes, is_last: bool) -> tuple[bytes, bytes]:
    escape = data.rfind(b"=", max(0, len(data) - 2))  # the last escape, if it may be incomplete
    end = len(data) if escape < 0 or is_last else escape
    text = data[:end].removesuffix(b"=") if is_last else data[:end]  # the line end belongs to the boundary
    if re.search(rb"=(?![0-9A-Fa-f]{2}|\r?\n)", text):
        raise ValueError
    return binascii.a2b_qp(text), data[end:]


# For each Content-Transfer-Encoding (RFC 2045, 6), a function that returns the decoded bytes and the bytes that the
# next call needs again. It raises ValueError for invalid data. `is_last` is True for the end of the part.
_TRANSFER_ENCODINGS: dict[str, Callable[[bytes, bool], tuple[bytes, bytes]]] = {
    **dict.fromkeys(("", "7bit", "8bit", "binary"), lambda data, is_last: (data, b"")),
    "base64": _decode_base64,
    "quoted-printable": _decode_quoted_printable,
}


_DECODED_HEADERS = frozenset(name.lower() for name in ("Content-Transfer-Encoding", "Content-Encoding", *BODY_DIGESTS))


class _PartDecoder:
    """Decodes the content of a part, and verifies its digests. Raises ValueError if it cannot."""

    def __init__(self, headers: Headers) -> None:
        self._name = headers.get("Content-Transfer-Encoding", "").lower()
        if self._name not in _TRANSFER_ENCODINGS:
            expected = ", ".join(filter(None, _TRANSFER_ENCODINGS))
            raise ValueError(f"the Content-Transfer-Encoding {self._name[:40]!r} of a part is not one of {expected}.")
        if headers.get("Content-Encoding", "identity").lower() != "identity":
            raise ValueError("a part cannot have a Content-Encoding; encode the whole body, or leave the header out.")
        self._rest = b""
        self._digests = DigestVerifier(headers, BODY_DIGESTS)

    def decode(self, data: bytes, *, is_last: bool) -> bytes:
        try:
            decoded, self._rest = _TRANSFER_ENCODINGS[self._name](self._rest + data, is_last)
        except ValueError:
            cure = "encode it again, or leave its Content-Transfer-Encoding out"
            raise ValueError(f"a part is not valid {self._name}; {cure}.") from None
        self._digests.update(decoded)
        if is_last:
            self._digests.verify()
        return decoded


class MultipartDecoder:
    """Decodes the pieces of a multipart body into events. Call `close` at the end of the body.

    Decodes the Content-Transfer-Encoding of a part, and verifies its digests.
    """

    def __init__(self, boundary: str) -> None:
        self._dash = b"--" + boundary.encode()
        self._newline = b"\r\n"
        self._buffer = bytearray()
        # Reads the buffer in the current state. It returns None if it needs more bytes. None: after the last part.
        self._step: Callable[[], list[MultipartEvent] | None] | None = self._preamble
        self._part: _PartDecoder | None = None
        self._at_part_start = False  # no content of this part was emitted, and its blank line is still in the buffer

    def feed(self, data: bytes) -> Iterator[MultipartEvent]:
        """Yield the events that the new bytes complete. Raises MultipartError if the body is malformed."""
        self._buffer += data
        try:
            while self._step and (events := self._step()) is not None:
                yield from events
        except ValueError as error:
            raise MultipartError(str(error)) from None
        if self._step is None:
            self._buffer.clear()

    def close(self) -> list[MultipartEvent]:
        """Return the last events at the end of the body. Raises MultipartError without a closing boundary."""
        # The body may end within the line of the closing boundary. The added line end completes no other event.
        last = list(self.feed(b"\r\n")) if self._step == self._content else []
        if self._step:
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
        return self._skip_boundary(edge)

    def _headers(self) -> list[MultipartEvent] | None:
        if self._buffer.startswith(self._newline):
            return self._begin(Headers(), 0)
        end = self._buffer.find(self._newline * 2)
        if end < 0:
            self._check_size()
            return None
        return self._begin(parse_headers(bytes(self._buffer[:end]), self._newline), end + len(self._newline))

    def _begin(self, headers: Headers, blank_line: int) -> list[MultipartEvent]:
        # The blank line stays in the buffer, because its line end may begin the boundary if the content is empty.
        del self._buffer[:blank_line]
        self._step, self._at_part_start = self._content, True
        self._part = None if _DECODED_HEADERS.isdisjoint(headers.by_name()) else _PartDecoder(headers)
        return [PartBegins(headers)]

    def _content(self) -> list[MultipartEvent] | None:
        delimiter = self._newline + self._dash
        edge = self._find_boundary(delimiter)
        if edge and edge.end is not None:
            last = self._emit(edge.start, is_last=True)
            return [*last, PartEnds(), *self._skip_boundary(edge._replace(end=edge.end - edge.start))]
        return self._emit(edge.start if edge else len(self._buffer) - len(delimiter) + 1) or None

    def _find_boundary(self, mark: bytes, begin: int = 0) -> _BoundaryLine | None:
        """Return the first boundary line at or after `begin`, or None. Skips lines that only begin like a boundary."""
        at = self._buffer.find(mark, begin)
        while at >= 0:
            end = at + len(mark)
            if match := _LINE_END.match(self._buffer, end):
                return _BoundaryLine(at, match.end(), match["closing"] is not None)
            if _PERHAPS_LINE_END.fullmatch(self._buffer, end):
                return _BoundaryLine(at, None)
            at = self._buffer.find(mark, at + 1)
        return None

    def _skip_boundary(self, edge: _BoundaryLine) -> list[MultipartEvent]:
        del self._buffer[: edge.end]
        self._step = None if edge.closing else self._headers
        return []

    def _emit(self, upto: int, *, is_last: bool = False) -> list[MultipartEvent]:
        start, data = len(self._newline) if self._at_part_start else 0, b""
        if upto >= max(start, 1):
            data = bytes(self._buffer[start:upto])
            del self._buffer[:upto]
            self._at_part_start = False
        if self._part:
            data = self._part.decode(data, is_last=is_last)
        return [PartData(data)] if data else []

    def _check_size(self) -> None:
        if len(self._buffer) > _MAX_HEADER_BYTES:
            raise MultipartError(f"no boundary or blank line within {_MAX_HEADER_BYTES} bytes.")


def parse_headers(block: bytes, newline: bytes) -> Headers:
    """Parse header lines with continuation lines (RFC 2045, RFC 5322). Raises MultipartError for any other line."""
    unfolded = re.sub(re.escape(newline) + rb"[ \t]+", b" ", block)
    headers = []
    for line in unfolded.split(newline):
        name, colon, value = line.partition(b":")
        if not colon or line.startswith((b" ", b"\t")):
            raise MultipartError(f"{line[:80].decode('latin-1')!r} is not a header line.")
        headers.append((name.decode("latin-1").strip(), value.decode("latin-1").strip(" \t")))
    return Headers(headers)
