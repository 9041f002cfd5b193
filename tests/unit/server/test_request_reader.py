import socket
from unittest.mock import Mock

import pytest

from svc_notebooks.server.transports.client_connection import RequestReader, access_token

BODY = bytes(range(256)) * 512


def head(length: int) -> bytes:
    start, end = b"PUT /upload HTTP/1.1\r\nX-Padding: ", b"\r\n\r\n"
    return start + b"x" * (length - len(start + end)) + end


@pytest.fixture
def ends():
    """A reader that has received a head of 300 bytes and a body, and the other end of its connection."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * len(BODY))
        ours.settimeout(0)
        reader = RequestReader(ours)
        theirs.sendall(head(300) + BODY)
        assert reader.collect()
        assert reader.take_head() == head(300)
        assert reader.collected
        assert b"".join(read_body(reader)) == BODY
        yield reader, theirs


def read_body(reader: RequestReader) -> list[bytes]:
    blocks, size = [], 0
    while size < len(BODY):
        blocks.append(reader.read1(len(BODY) - size))
        size += len(blocks[-1])
    return blocks


def test_the_body_after_a_large_body_is_received_apart_from_its_head(ends):
    reader, client = ends
    for _ in range(2):
        client.sendall(head(300) + BODY)

        assert reader.collect()
        assert reader.take_head() == head(300)
        assert not reader.collected
        assert b"".join(read_body(reader)) == BODY


@pytest.mark.parametrize("length", [60, 299, 300, 301, 600, 5000, 60_000])
def test_a_head_of_another_length_is_collected_at_once(ends, length):
    reader, client = ends
    client.sendall(head(length) + BODY)

    assert reader.collect()
    assert reader.take_head() == head(length)
    assert b"".join(read_body(reader)) == BODY


def test_an_incomplete_head_is_not_ready_before_its_end(ends):
    reader, client = ends
    for part in (head(700)[:300], head(700)[300:699]):
        client.sendall(part)
        assert not reader.collect()
    client.sendall(head(700)[699:])
    assert reader.collect()
    assert reader.take_head() == head(700)


def test_a_slow_client_does_not_keep_the_thread_that_collects():
    trickle = Mock(recv=Mock(return_value=b"x"))  # another byte has always arrived
    reader = RequestReader(trickle)

    assert not reader.collect()
    assert not reader.collect()
    assert trickle.recv.call_count == 2


def test_the_end_of_the_connection_is_ready(ends):
    reader, client = ends
    client.sendall(head(300)[:100])
    client.close()

    assert not reader.collect()
    assert reader.collect()
    assert reader.is_over
    assert reader.take_head() == head(300)[:100]


@pytest.mark.parametrize(
    "request_head, token",
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer abc\r\n\r\n", "abc"),
        (b"GET / HTTP/1.1\r\nAUTHORIZATION:bEARER   abc\r\nHost: a\r\n\r\n", "abc"),
        (b"GET /?alt=json&access_token=abc HTTP/1.1\r\n\r\n", "abc"),
        (b"GET /?oauth_token=abc&alt=json HTTP/1.1\r\nAuthorization: Basic eA==\r\n\r\n", "abc"),
        (b"GET /?access_token=query HTTP/1.1\r\nAuthorization: Bearer header\r\n\r\n", "header"),
        (b"GET / HTTP/1.1\r\nX-Authorization: Bearer abc\r\n\r\n", None),
        (b"POST / HTTP/1.1\r\nHost: a\r\n\r\n\r\nAuthorization: Bearer of-the-body\r\n", None),
        (b"POST / HTTP/1.1\r\nHost: a\r\n\r\n?access_token=of-the-body", None),
    ],
)
def test_the_access_token_of_a_head_is_found(request_head, token):
    assert access_token(request_head) == token
    assert access_token(bytearray(request_head)) == token
