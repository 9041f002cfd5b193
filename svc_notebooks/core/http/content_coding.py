"""Decodes the content codings of a body (RFC 9110, 8.4)."""

from __future__ import annotations

import hashlib
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from .messages import Headers

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


# The headers with digests of the body of a message.
BODY_DIGESTS = ("Content-MD5", "Content-Digest")

# The headers with digests of a whole content, of which a body with a Content-Range can be a part.
REPRESENTATION_DIGESTS = ("Digest", "Repr-Digest")

_ALGORITHMS = {"md5": "md5", "sha": "sha1", "sha-256": "sha256", "sha-512": "sha512"}


class DigestVerifier:
    """The digests in the headers `names`. Ignores unknown algorithms. Raises ValueError for a malformed digest.

    >>> verifier = DigestVerifier(Headers({"Content-MD5": "kAFQmDzST7DWlj99KOF/cg=="}), BODY_DIGESTS)
    >>> verifier.update(b"abc")
    >>> verifier.verify()
    """

    def __init__(self, headers: Headers, names: Sequence[str]) -> None:
        self._expected = []
        for name in names:
            text = ",".join(headers.all(name))
            for item in [f"md5={text}"] if name == "Content-MD5" and text else text.split(","):
                key, _, value = item.strip().partition("=")
                if algorithm := _ALGORITHMS.get(key.lower()):
                    hasher = hashlib.new(algorithm, usedforsecurity=False)
                    self._expected.append((name, hasher, _read_digest(name, value, hasher.digest_size)))

    def update(self, block: bytes) -> None:
        """Add a block of the body."""
        for _, hasher, _ in self._expected:
            hasher.update(block)

    def verify(self) -> None:
        """Raise ValueError if a digest is not that of the body."""
        for name, hasher, expected in self._expected:
            if hasher.digest() != expected:
                raise ValueError(f"{name}: the received body has another {hasher.name} digest; send it again.")


def _read_digest(name: str, text: str, size: int) -> bytes:
    text, digest = text.partition(";")[0].strip(" \t:"), b""  # RFC 9530 has the form `:...:`, with parameters
    with suppress(ValueError):
        digest = b64decode(text + "=" * (-len(text) % 4), validate=True)
    if len(digest) != size:
        raise ValueError(f"{name}: expected a digest of {size} bytes in base64.")
    return digest
