"""Byte ranges in the three forms of the interface, each parsed and formatted side by side.

    Content-Range   of an upload       bytes 0-262143/524288   A3   ContentRange
    Range           of a 308 answer    bytes=0-262143          A3   stored_range / parse_stored
    Range           of a download      bytes=0-99              A6   ByteRange
    Content-Range   of a 206 answer    bytes 0-99/500          A6   ContentRange

Parsing raises ValueError with a sentence that can go into an answer. Offsets count from 0, ends are inclusive
as on the wire. No number of an upload has more than 18 digits, so that every one fits a 64-bit integer; a
download may ask for more than there can be, and gets what there is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CONTENT_RANGE = re.compile(
    r"(?:bytes[ \t]+)?(?:(?P<first>\d{1,18})-(?P<last>\d{1,18}|\*)|\*)/(?P<total>\d{1,18}|\*)", re.ASCII | re.IGNORECASE
)
_STORED = re.compile(r"bytes[= ]0-(\d{1,18})", re.ASCII)
_BYTE_RANGE = re.compile(r"(?P<first>\d+)?-(?P<last>\d+)?", re.ASCII)
_MAX_OFFSET = 10**18 - 1


@dataclass(frozen=True, slots=True)
class ByteSpan:
    """Bytes `first` to `last`, both included; without `last`, to the end of the body at hand."""

    first: int
    last: int | None = None

    @property
    def size(self) -> int | None:
        """How many bytes; None when the end is open."""
        return None if self.last is None else self.last - self.first + 1

    def __str__(self) -> str:
        return f"{self.first}-{'*' if self.last is None else self.last}"


@dataclass(frozen=True, slots=True)
class ContentRange:
    """Where a body belongs in the whole, or, without a span, a question about the whole.

    >>> ContentRange.parse("bytes 0-262143/*")
    ContentRange(span=ByteSpan(first=0, last=262143), total=None)
    >>> str(ContentRange(None, 524288))
    'bytes */524288'
    """

    span: ByteSpan | None
    total: int | None = None

    @classmethod
    def parse(cls, text: str) -> ContentRange:
        """Read the header's value; the unit may be missing, as some clients leave it out."""
        match = _CONTENT_RANGE.fullmatch(text.strip())
        if not match:
            raise ValueError("Failed to parse Content-Range header.")
        total = _number(match["total"])
        if match["first"] is None:
            return cls(None, total)
        span = ByteSpan(int(match["first"]), _number(match["last"]))
        _check(span, total)
        return cls(span, total)

    def __str__(self) -> str:
        return f"bytes {'*' if self.span is None else self.span}/{'*' if self.total is None else self.total}"


def _number(text: str) -> int | None:
    return None if text == "*" else int(text)


def _check(span: ByteSpan, total: int | None) -> None:
    if span.last is not None and span.last < span.first:
        raise ValueError(f"Content-Range ends at byte {span.last}, before its first byte {span.first}.")
    end = span.first if span.last is None else span.last
    if total is not None and end >= total:
        raise ValueError(f"Content-Range reaches byte {end}, but the total is {total} bytes.")


def stored_range(stored: int) -> str | None:
    """The Range header of a 308 for so many stored bytes; None when there is none to send (A3-07)."""
    return f"bytes=0-{stored - 1}" if stored else None


def parse_stored(text: str | None) -> int:
    """How many bytes a 308's Range header says are stored; an absent header means 0 (A3-07).

    >>> parse_stored("bytes=0-0"), parse_stored(None)
    (1, 0)
    """
    if text is None:
        return 0
    match = _STORED.fullmatch(text.strip())
    if not match:
        raise ValueError(f"the Range header of a 308 should read bytes=0-<last>, not {text!r}")
    return int(match[1]) + 1


def _offset(digits: str) -> int:
    """What lies beyond every content is all the same."""
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= 18 else _MAX_OFFSET


@dataclass(frozen=True, slots=True)
class ByteRange:
    """What a download asks for: `first` to `last`, from `first` on, or (`first` None) the last `last` bytes.

    >>> ByteRange.parse("bytes=-100").resolve(500)
    ByteSpan(first=400, last=499)
    >>> str(ByteRange(100))
    'bytes=100-'
    """

    first: int | None
    last: int | None = None

    @classmethod
    def parse(cls, text: str) -> ByteRange:
        """Read a Range header that names one range of bytes."""
        unit, _, ranges = text.strip().partition("=")
        match = _BYTE_RANGE.fullmatch(ranges.strip())
        if unit.strip().lower() != "bytes" or not match or ranges.strip() == "-":
            raise ValueError(f"{text!r} is no single range of bytes; write bytes=0-99, bytes=100- or bytes=-100")
        first, last = (None if n is None else _offset(n) for n in match.groups())
        if first is not None and last is not None and last < first:
            raise ValueError(f"{text!r} ends before it begins")
        return cls(first, last)

    def resolve(self, size: int) -> ByteSpan | None:
        """The bytes of a content of this size; None when there are none, which is a 416."""
        if self.first is None:
            first = max(0, size - (self.last or 0))
            return ByteSpan(first, size - 1) if self.last and size else None
        last = size - 1 if self.last is None else min(self.last, size - 1)
        return ByteSpan(self.first, last) if self.first < size else None

    def __str__(self) -> str:
        return f"bytes={'' if self.first is None else self.first}-{'' if self.last is None else self.last}"
