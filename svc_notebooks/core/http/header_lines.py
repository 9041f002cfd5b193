"""Reads the header lines of HTTP/1.1 messages (RFC 9112, 5)."""

from __future__ import annotations

import re
from functools import lru_cache

from .messages import Headers

_LINE = re.compile(r"([0-9A-Za-z!#$%&'*+\-.^_`|~]+):[ \t]*([^\r\n\0]*)")
_MAX_CACHED = 4096


def read_headers(block: bytes) -> Headers:
    """Parse header lines, each of which ends with CR LF. Raises ValueError for an invalid line.

    >>> read_headers(b"Content-Type: text/csv \\r\\n")
    Headers([('Content-Type', 'text/csv')])
    """
    *lines, rest = block.split(b"\r\n")
    if rest:
        raise _invalid(rest)
    return Headers(map(_read_cached if len(block) <= _MAX_CACHED else _read, lines))


def _read(line: bytes) -> tuple[str, str]:
    match = _LINE.fullmatch(line.decode("latin-1"))
    if match is None:
        raise _invalid(line)
    return match[1], match[2].rstrip(" \t")


_read_cached = lru_cache(maxsize=256)(_read)  # most lines are the same in all messages of a connection


def _invalid(line: bytes) -> ValueError:
    return ValueError(f"{line[:40]!r} is not a header line")
