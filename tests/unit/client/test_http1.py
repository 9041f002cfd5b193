import errno
import io
from http.client import HTTPException, HTTPResponse

import pytest

from svc_notebooks.client.transport.http1 import Received, ReceivedResponse, exchange, plain_head, read_response
from svc_notebooks.core.http.messages import Headers, Request

# The first bytes of a connection from the service.
HEADS = {
    "chunk stored": b"HTTP/1.1 308 Resume Incomplete\r\nRange: bytes=0-262143\r\nContent-Length: 0\r\n\r\n",
    "body with a length": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    "repeated header": b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n",
    "chunked body": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Length: 9\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "body to the end": b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello",
    "closed connection": b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    "no content": b"HTTP/1.1 204 No Content\r\n\r\n",
    "after 100": b"HTTP/1.1 100 Continue\r\nX: 1\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    "HTTP/1.0 kept open": b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n{}",
    "no reason": b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n",
    "empty value, colons, tabs": b"HTTP/1.1 200 OK\r\nA:\r\nB:c:d\r\nE:\tf\r\nContent-Length: 0\r\n\r\n",
    "Latin-1": b"HTTP/1.1 200 OK\r\nX-Name: caf\xe9\r\nContent-Length: 0\r\n\r\n",
    "bare line feeds": b"HTTP/1.1 200 OK\nX: 1\nContent-Length: 0\n\n",
    "length below 0": b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhello",
}

INVALID = {
    "not HTTP": b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
    "another version": b"HTTP/2.0 200 OK\r\n\r\n",
    "long line": b"HTTP/1.1 200 OK\r\nX: " + bytes(70_000) + b"\r\n\r\n",
    "many headers": b"HTTP/1.1 200 OK\r\n" + b"X: 1\r\n" * 101 + b"\r\n",
    "large head": b"HTTP/1.1 200 OK\r\n" + (b"X: " + b"1" * 30_000 + b"\r\n") * 10 + b"\r\n",
    "many interim responses": b"HTTP/1.1 103 Early Hints\r\n\r\n" * 11,
    "line without a colon": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nnonsense\r\nX: 1\r\n\r\n",
    "head that breaks off": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n",
    "body that breaks off": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello",
    "chunk that breaks off": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello",
    "chunk with a wrong size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
    "many trailers": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"X: 1\r\n" * 101 + b"\r\n",
    "nothing": b"",
}


class Wire:
    """A socket that has received some bytes, and whose peer reads only the head of a request."""

    def __init__(self, received: bytes, failure: OSError | None = None, at_once: int = 16_384) -> None:
        self._received = received
        self._failure = failure
        self._at_once = at_once
        self.sent: list[bytes] = []

    def sendall(self, data: bytes) -> None:
        if self.sent and self._failure:
            raise self._failure
        self.sent.append(data)

    def makefile(self, mode: str) -> io.BytesIO:
        return io.BytesIO(self._received)

    def recv(self, size: int) -> bytes:
        size = min(size, self._at_once)
        data, self._received = self._received[:size], self._received[size:]
        return data


def read(received: bytes, method: str = "PUT", at_once: int = 16_384) -> tuple[ReceivedResponse, bytes]:
    answer = read_response(Received(Wire(received, at_once=at_once)), method)
    return answer, b"".join(answer.blocks())


@pytest.mark.parametrize("at_once", [1, 16_384])
@pytest.mark.parametrize("method", ["PUT", "HEAD"])
@pytest.mark.parametrize("received", HEADS.values(), ids=HEADS)
def test_a_response_is_read_as_http_client_reads_it(received, method, at_once):
    theirs = HTTPResponse(Wire(received), method=method)
    theirs.begin()

    answer, body = read(received, method, at_once)

    assert (answer.status, list(answer.headers.pairs), body) == (theirs.status, theirs.msg.items(), theirs.read())
    assert answer.keeps_open != theirs.will_close


@pytest.mark.parametrize("received", INVALID.values(), ids=INVALID)
def test_an_invalid_response_is_an_error(received):
    with pytest.raises(HTTPException):
        read(received)


def test_a_folded_line_is_one_header_and_a_length_of_5000_digits_is_unknown():
    answer, _ = read(b"HTTP/1.1 200 OK\r\nX-Long: a\r\n b\r\nContent-Length: 0\r\n\r\n")
    assert answer.headers["X-Long"] == "a b"
    assert read(b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\nhello")[1] == b"hello"


def test_the_head_of_a_request_has_its_path_query_and_headers():
    headers = Headers([("Accept", "application/json"), ("Content-Length", "1")])
    head = plain_head(Request("PUT", "http://user@[::1]:8080/a%20b?c=%2Fd#e", headers, b"x"), "[::1]:8080")
    assert head is not None
    assert head.split(b"\r\n") == [
        b"PUT /a%20b?c=%2Fd HTTP/1.1",
        b"Host: [::1]:8080",
        b"Accept-Encoding: identity",
        b"Accept: application/json",
        b"Content-Length: 1",
        b"",
        b"",
    ]


@pytest.mark.parametrize(
    "request_",
    [
        Request("POST", "http://x/", Headers(), b"body of unknown length"),
        Request("POST", "http://x/"),
        Request("GET", "http://x/a b"),
        Request("GET", "http://x/\xe9"),
        Request("GET", "http://x/", Headers([("X-Name", "caf\xe9")])),
        Request("GET", "http://x/", Headers([("X-Name", "a\r\nX-Smuggled: b")])),
        Request("GET", "http://x/", Headers([("X-Name\n", "a")])),
    ],
    ids=["body without length", "POST without length", "space", "URL", "header", "line break", "line break in a name"],
)
def test_a_request_that_is_not_plain_is_sent_by_requests(request_):
    assert plain_head(request_, "x") is None


@pytest.mark.parametrize("failure", [BrokenPipeError(errno.EPIPE, ""), ConnectionResetError(errno.ECONNRESET, "")])
def test_a_response_is_read_although_the_service_closed_the_connection(failure):
    with pytest.raises(TimeoutError):
        exchange(Wire(b"", TimeoutError("timed out")), b"head", b"body", "PUT")
    wire = Wire(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\n{}", failure)
    answer = exchange(wire, b"head", b"body", "PUT")
    assert (answer.status, b"".join(answer.blocks()), wire.sent) == (413, b"{}", [b"head"])
    assert not answer.keeps_open
