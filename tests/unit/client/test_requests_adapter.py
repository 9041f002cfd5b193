"""Tests the adapter that lets requests call an in-process service."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
import requests

from svc_notebooks.client.session import Session
from svc_notebooks.client.transport.requests_adapter import DirectAdapter
from svc_notebooks.core.http.messages import Body, Disconnected, Headers, Request, Response, as_body

URL = "https://api.example.org/x"


def web(handler: object) -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    session.mount("https://", DirectAdapter(handler))  # type: ignore[arg-type]
    return session


def echo(request: Request) -> Response:
    body = as_body(request.body)
    content = b"".join(iter(lambda: body.read(7), b""))
    return Response(
        200, Headers([("X-Method", request.method), ("X-Length", request.headers.get("Content-Length", ""))]), content
    )


@pytest.mark.parametrize(
    "data, sent",
    [
        (b"hello", b"hello"),
        ("héllo", "héllo".encode()),
        ({"a": "1 2"}, b"a=1+2"),
        (io.BytesIO(b"from a file"), b"from a file"),
        (iter([b"in ", b"", b"blocks"]), b"in blocks"),
        (None, b""),
    ],
    ids=["bytes", "text", "form", "file", "blocks", "none"],
)
def test_bodies_of_every_kind_arrive(data: object, sent: bytes) -> None:
    answer = web(echo).post(URL, data=data)  # type: ignore[arg-type]

    assert (answer.content, answer.headers["x-method"], answer.status_code, answer.reason) == (sent, "POST", 200, "OK")


def test_responses_stream_and_are_closed_when_reading_stops() -> None:
    closed: list[bool] = []

    class Blocks:
        def __iter__(self) -> Iterator[bytes]:
            yield from (b"one", b"two", b"three")

        def close(self) -> None:
            closed.append(True)

    session = web(lambda request: Response(200, body=Blocks()))
    with session.get(URL, stream=True) as answer:
        assert answer.raw.read(4) == b"onet"
        assert next(answer.iter_content(2)) == b"wo"
        assert closed == []
    assert closed == [True]
    assert b"".join(session.get(URL, stream=True).iter_content(2)) == b"onetwothree"


def test_a_connection_that_is_cut_is_a_connection_error() -> None:
    def before(request: Request) -> Response:
        raise Disconnected("reset")

    def during(request: Request) -> Response:
        def blocks() -> Iterator[bytes]:
            yield b"half"
            raise Disconnected("cut")

        return Response(200, body=blocks())

    with pytest.raises(requests.ConnectionError, match="reset"):
        web(before).get(URL)
    with pytest.raises(requests.exceptions.ChunkedEncodingError, match="cut"):
        web(during).get(URL)


class Failing:
    """A body that cannot be read."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def read(self, size: int = -1, /) -> bytes:
        raise self._error


def swallows(request: Request) -> Response:
    """A service that takes an error of the body as a client that disconnects."""
    try:
        as_body(request.body).read(10)
    except Disconnected:
        return Response(499)
    except Exception:
        return Response(500)
    return Response(200)


@pytest.mark.parametrize("error", [OSError("bad disk"), KeyboardInterrupt(), ValueError("odd")], ids=repr)
def test_an_unreadable_body_is_an_error_of_the_client_and_not_of_the_service(error: BaseException) -> None:
    body: Body = Failing(error)

    with pytest.raises(type(error)):
        Session(URL, handler=swallows).send(Request("PUT", URL, body=body))
    with pytest.raises(type(error)):
        web(swallows).put(URL, data=body)  # type: ignore[arg-type]
