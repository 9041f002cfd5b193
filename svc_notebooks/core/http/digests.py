"""Verifies the digests of a body that its headers declare (RFC 1864, RFC 3230, RFC 9530)."""

from __future__ import annotations

import hashlib
from base64 import b64decode
from collections.abc import Sequence
from contextlib import suppress

from .messages import Headers

BODY_DIGESTS = ("Content-MD5", "Content-Digest")
"""The headers with digests of the body of a message."""

REPRESENTATION_DIGESTS = ("Digest", "Repr-Digest")
"""The headers with digests of a whole content, of which a body with a Content-Range can be a part."""

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
