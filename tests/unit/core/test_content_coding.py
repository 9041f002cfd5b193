import base64
import gzip
import hashlib
import zlib
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, strategies as st

from svc_notebooks.core.http import content_coding
from svc_notebooks.core.http.messages import Headers
from svc_notebooks.core.http.multipart import MultipartDecoder, MultipartError, PartData

NAMES = content_coding.BODY_DIGESTS + content_coding.REPRESENTATION_DIGESTS


def members(content: bytes) -> bytes:
    half = len(content) // 2
    return gzip.compress(content[:half]) + gzip.compress(b"") + gzip.compress(content[half:], 0)


ENCODERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "several members": ("gzip", members),
    "deflate": ("deflate", zlib.compress),
    "deflate without a header": ("deflate", partial(zlib.compress, wbits=-15)),
}


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def decoded(data: bytes, coding: str, size: int = 7, most: int = 10**9) -> bytes:
    def check(count: int) -> None:
        if count > most:
            raise OverflowError

    return b"".join(content_coding.decode(pieces(data, size), coding, check))


@given(st.sampled_from(list(ENCODERS)), st.binary(max_size=300), st.integers(1, 400), st.integers(1, 400))
def test_content_of_any_size_is_decoded_from_blocks_of_any_size(name, half, times, size):
    coding, encode = ENCODERS[name]

    assert decoded(encode(half * times), coding, size) == half * times


@given(st.sampled_from(list(ENCODERS)), st.binary(min_size=1, max_size=99), st.integers(1, 20), st.data())
def test_a_cut_body_is_refused(name, content, size, data):
    coding, encode = ENCODERS[name]
    whole = encode(content)
    end = data.draw(st.integers(1, len(whole) - 1))
    if name == "several members" and end in (len(gzip.compress(content[: len(content) // 2])) + n for n in (0, 20)):
        return  # a cut after a member cannot be seen

    with pytest.raises(ValueError, match="Content-Encoding: the body"):
        decoded(whole[:end], coding, size)


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("rest", [b"x", b"xyz", bytes(3)])
def test_bytes_after_the_end_are_refused(name, rest, size):
    coding, encode = ENCODERS[name]

    with pytest.raises(ValueError, match="Content-Encoding: "):
        decoded(encode(b"abc") + rest, coding, size)


@pytest.mark.parametrize("name", ENCODERS)
def test_the_size_is_checked_while_the_body_is_decoded(name):
    coding, encode = ENCODERS[name]

    with pytest.raises(OverflowError):
        decoded(encode(bytes(1_000_000)), coding, 1000, most=100_000)


@pytest.mark.parametrize(
    "values, codings",
    [([], []), ([""], []), ([" GZIP , Identity", "", "deflate"], ["gzip", "deflate"]), (["gzip,gzip"], ["gzip"] * 2)],
)
def test_at_most_four_codings_are_listed_in_their_order(values, codings):
    assert content_coding.read_codings(values) == codings
    assert content_coding.read_codings(["gzip, identity, gzip, gzip", "gzip"]) == ["gzip"] * 4
    with pytest.raises(LookupError, match="at most 4 codings, not 5"):
        content_coding.read_codings(["gzip"] * 5)


def digest_of(algorithm: str, content: bytes) -> str:
    return base64.b64encode(hashlib.new(algorithm, content).digest()).decode()


CONTENT = b"some content"
RIGHT = {
    "Content-MD5": [digest_of("md5", CONTENT)],
    "Content-Digest": [
        f"sha-256=:{digest_of('sha256', CONTENT)}:",
        f"crc32c=:AAAA:, sha-512=:{digest_of('sha512', CONTENT)}:;a=1",
        f"md5=:{digest_of('md5', CONTENT).rstrip('=')}:",
        "unknown=1",
        "",
    ],
    "Digest": [
        f"SHA-256={digest_of('sha256', CONTENT)}",
        f"md5={digest_of('md5', CONTENT)},SHA={digest_of('sha1', CONTENT)}, unixsum=30637",
    ],
    "Repr-Digest": [f"sha-512=:{digest_of('sha512', CONTENT)}:"],
}
ROWS = [(name, value) for name, values in RIGHT.items() for value in values]


@pytest.mark.parametrize("name, value", ROWS)
def test_a_right_digest_is_accepted_and_a_wrong_one_is_not(name, value):
    for content in (CONTENT, CONTENT[:-1]):
        verifier = content_coding.DigestVerifier(Headers([(name, value)]), NAMES)
        for piece in pieces(content, 5):
            verifier.update(piece)
        if content == CONTENT or value in ("", "unknown=1"):
            verifier.verify()
        else:
            with pytest.raises(ValueError, match=f"{name}: the received body has another"):
                verifier.verify()


@pytest.mark.parametrize(
    "name, value",
    [
        ("Content-MD5", "abc"),
        ("Content-MD5", "é" * 16),
        ("Content-MD5", f"{digest_of('md5', b'')}, {digest_of('md5', b'')}"),
        ("Content-Digest", "sha-256"),
        ("Content-Digest", "sha-256=::"),
        ("Digest", "md5=" + hashlib.md5(b"", usedforsecurity=False).hexdigest()),
        ("Repr-Digest", f"sha-512=:{digest_of('sha256', b'')}:"),
    ],
)
def test_a_malformed_digest_is_refused(name, value):
    with pytest.raises(ValueError, match=f"{name}: expected a digest of"):
        content_coding.DigestVerifier(Headers([(name, value)]), NAMES)


def part_of(headers: str, content: bytes, size: int) -> bytes:
    """Return the content of the part of a multipart body that arrives in blocks of this size."""
    decoder = MultipartDecoder("b")
    body = f"--b\r\n{headers}\r\n\r\n".encode() + content + b"\r\n--b--\r\n"
    events = [event for piece in pieces(body, size) for event in decoder.feed(piece)] + decoder.close()
    return b"".join(event.data for event in events if isinstance(event, PartData))


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize(
    "headers, content, message",
    [
        ("Content-Transfer-Encoding: base64", b"QUJ", "not valid base64; encode it again"),
        ("Content-Transfer-Encoding: base64", b"QQ==QUJD", "not valid base64; encode it again"),
        ("Content-Transfer-Encoding: base64", b"QU*D", "not valid base64; encode it again"),
        ("Content-Transfer-Encoding: base64", b"=", "not valid base64; encode it again"),
        ("Content-Transfer-Encoding: quoted-printable", b"a=4", "not valid quoted-printable"),
        ("Content-Transfer-Encoding: quoted-printable", b"=ZZ", "not valid quoted-printable"),
        ("Content-Transfer-Encoding: quoted-printable", b"a= \r\nb", "not valid quoted-printable"),
        ("Content-Transfer-Encoding: x-uuencode", b"abc", "x-uuencode"),
        ("Content-Encoding: gzip", gzip.compress(b"abc", mtime=0), "a part cannot have a Content-Encoding"),
        ("Content-MD5: AAAAAAAAAAAAAAAAAAAAAA==", b"abc", "Content-MD5"),
        ("Content-MD5: x", b"abc", "Content-MD5"),
    ],
)
def test_a_part_that_cannot_be_decoded_is_refused(headers, content, message, size):
    with pytest.raises(MultipartError, match=message):
        part_of(headers, content, size)
