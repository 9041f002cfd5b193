"""Reads the header lines of HTTP/1.1 messages (RFC 9112, 5)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_LINE = re.compile(r"([0-9A-Za-z!#$%&'*+\-.^_`|~]+):[ \t]*([^\r\n\0]*)")
_MAX_CACHED = 512


class HeaderLine(NamedTuple):
    """The name and the value of a header as a pair, and the name in lower case."""

    pair: tuple[str, str]
    name: str


def read_header_line(line: bytes) -> HeaderLine | None:
    """Parse a header line without the line break at its end. Return None for an invalid line.

    >>> read_header_line(b"Content-Type: text/csv ")
    HeaderLine(pair=('Content-Type', 'text/csv'), name='content-type')
    """
    return _read_cached(line) if len(line) <= _MAX_CACHED else _read(line)


def _read(line: bytes) -> HeaderLine | None:
    match = _LINE.fullmatch(line.decode("latin-1"))
    return HeaderLine((match[1], match[2].rstrip(" \t")), match[1].lower()) if match else None


_read_cached = lru_cache(maxsize=256)(_read)  # most lines are the same in all messages of a connection
