"""Decodes the content codings of a body (RFC 9110, 8.4)."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_CODINGS = frozenset({"gzip", "x-gzip", "deflate"})
_MAX_CODINGS = 4
_PIECE = 64 * 1024


def read_codings(values: Iterable[str]) -> list[str]:
    """Return the codings in the values of Content-Encoding, in the order in which they were applied.

    Raises LookupError for a coding that cannot be decoded, and for more than 4 codings.

    >>> read_codings(["identity, GZip", "deflate"])
    ['gzip', 'deflate']
    """
    names = (name.strip().lower() for name in ",".join(values).split(","))
    codings = [name for name in names if name not in ("identity", "")]
    for coding in codings:
        if coding not in _CODINGS:
            raise LookupError(f"{coding[:40]!r} is not supported; use gzip or deflate, or leave the header out.")
    if len(codings) > _MAX_CODINGS:
        raise LookupError(f"a body may have at most {_MAX_CODINGS} codings, not {len(codings)}.")
    return codings


def decode(blocks: Iterable[bytes], coding: str, check: Callable[[int], None]) -> Iterator[bytes]:
    """Yield the decoded bytes of a body in small pieces. Call `check` with the number of bytes before each piece.

    A gzip body may have several members. A body without bytes has no content. Raises ValueError for any other body that
    is incomplete or invalid.

    >>> b"".join(decode([zlib.compress(b"abc")], "deflate", lambda size: None))
    b'abc'
    """
    decoder: Any = None
    data, size, members = b"", 0, 0
    try:
        for block in blocks:
            data += block
            while data:
                if decoder is None or decoder.eof:
                    if decoder and coding == "deflate":
                        raise zlib.error
                    if len(data) < 2:
                        break
                    decoder = zlib.decompressobj(_window_bits(coding, data))
                    members += 1
                    check(members * 1024)  # a body of many empty members is too large, too
                while piece := decoder.decompress(data, _PIECE):
                    size += len(piece)
                    check(size)
                    yield piece
                    data = decoder.unconsumed_tail
                data = decoder.unused_data
    except zlib.error:
        raise ValueError(f"Content-Encoding: the body is not {coding}. Encode it, or leave the header out.") from None
    if data or (decoder and not decoder.eof):
        raise ValueError(f"Content-Encoding: the body ends before the end of the {coding} data.")


def _window_bits(coding: str, data: bytes) -> int:
    """Return the format for zlib. Some clients send deflate without the zlib header (RFC 9110, 8.4.1.2)."""
    if coding != "deflate":
        return 16 + zlib.MAX_WBITS
    has_header = data[0] & 15 == zlib.DEFLATED and (data[0] * 256 + data[1]) % 31 == 0
    return zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS
