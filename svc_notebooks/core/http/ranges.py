"""Parses and formats the HTTP headers that contain byte ranges.

    Content-Range   of an upload       bytes 0-262143/524288   A3   ContentRange
    Range           of a 308           bytes=0-262143          A3   format_stored / parse_stored
    Range           of a download      bytes=0-99              A6   ByteRange
    Content-Range   of a 206           bytes 0-99/500          A6   ContentRange

Parsing raises ValueError with an error message for the response. Offsets count from 0, and ends are inclusive. Numbers
in upload headers have at most 18 digits, to fit 64 bits. A download range may end after the content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

_CONTENT_RANGE = re.compile(r"(?:bytes[ \t]+)?(?:(\d{1,18})-(\d{1,18}|\*)|\*)/(\d{1,18}|\*)", re.ASCII | re.IGNORECASE)
_STORED = re.compile(r"bytes[= ]0-(\d{1,18})", re.ASCII)
_BYTE_RANGE = re.compile(r"(?P<first>\d+)?-(?P<last>\d+)?", re.ASCII)
_MAX_OFFSET = 10**18 - 1


class ByteSpan(NamedTuple):
    """The bytes from `first` to `last` inclusive, or to the end of the body if `last` is None."""

    first: int
    last: int | None = None

    @property
    def size(self) -> int | None:
        """The number of bytes, or None if the last byte is unknown."""
        return None if self.last is None else self.last - self.first + 1


class ContentRange(NamedTuple):
    """A Content-Range header. `span` is None for a status query. `total` is the size of the content or None if unknown.

    >>> ContentRange.parse("bytes 0-262143/*")
    ContentRange(span=ByteSpan(first=0, last=262143), total=None)
    >>> str(ContentRange(None, 524288))
    'bytes */524288'
    """

    span: ByteSpan | None
    total: int | None = None

    @classmethod
    def parse(cls, text: str) -> ContentRange:
        """Parse a Content-Range header, in which the unit `bytes` may be missing. Raises ValueError if invalid."""
        match = _CONTENT_RANGE.fullmatch(text.strip())
        if not match:
            raise ValueError("Failed to parse Content-Range header.")
        first_text, last_text, total_text = match.groups()
        total = None if total_text == "*" else int(total_text)
        if first_text is None:
            return cls(None, total)
        first = int(first_text)
        if last_text == "*":
            last, end = None, first
        else:
            last = end = int(last_text)
        if end < first:
            raise ValueError(f"Content-Range ends at byte {last}, before its first byte {first}.")
        if total is not None and end >= total:
            raise ValueError(f"Content-Range reaches byte {end}, but the total is {total} bytes.")
        return cls(ByteSpan(first, last), total)

    def __str__(self) -> str:
        span, total = self.span, "*" if self.total is None else self.total
        if span is None:
            return f"bytes */{total}"
        return f"bytes {span.first}-{'*' if span.last is None else span.last}/{total}"


def format_stored(stored: int) -> str | None:
    """Return the Range header of a 308 response, or None if no byte is stored (A3-07)."""
    return f"bytes=0-{stored - 1}" if stored else None


def parse_stored(text: str | None) -> int:
    """Return the number of stored bytes from a Range header, 0 if None (A3-07). Raises ValueError if invalid.

    >>> parse_stored("bytes=0-0"), parse_stored(None)
    (1, 0)
    """
    if text is None:
        return 0
    match = _STORED.fullmatch(text.strip())
    if not match:
        raise ValueError(f"the Range header of a 308 must be bytes=0-<last>, not {text!r}")
    return int(match[1]) + 1


def _offset(digits: str) -> int:
    """Parse a byte offset of at most 18 digits. Longer offsets become `_MAX_OFFSET`, because int() would be slow."""
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= 18 else _MAX_OFFSET


@dataclass(frozen=True, slots=True)
class ByteRange:
    """A Range header for the bytes `first` to `last` (None for the end), or the last `last` bytes if `first` is None.

    >>> ByteRange.parse("bytes=-100").resolve(500)
    ByteSpan(first=400, last=499)
    >>> str(ByteRange(100))
    'bytes=100-'
    """

    first: int | None
    last: int | None = None

    @classmethod
    def parse(cls, text: str) -> ByteRange:
        """Parse a Range header with a single byte range. Raises ValueError for any other header."""
        unit, _, ranges = text.strip().partition("=")
        match = _BYTE_RANGE.fullmatch(ranges.strip())
        if unit.strip().lower() != "bytes" or not match or ranges.strip() == "-":
            raise ValueError(f"{text!r} is not a single range of bytes; write bytes=0-99, bytes=100- or bytes=-100")
        first, last = (None if n is None else _offset(n) for n in match.groups())
        if first is not None and last is not None and last < first:
            raise ValueError(f"{text!r} ends before it begins")
        return cls(first, last)

    def resolve(self, size: int) -> ByteSpan | None:
        """Return the byte span in a content of `size` bytes, or None (a 416 error) if the range selects no byte."""
        if self.first is None:
            first = max(0, size - (self.last or 0))
            return ByteSpan(first, size - 1) if self.last and size else None
        last = size - 1 if self.last is None else min(self.last, size - 1)
        return ByteSpan(self.first, last) if self.first < size else None

    def __str__(self) -> str:
        return f"bytes={'' if self.first is None else self.first}-{'' if self.last is None else self.last}"
