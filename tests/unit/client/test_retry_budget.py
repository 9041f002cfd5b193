import json
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest

import svc_notebooks as svc
from svc_notebooks.client.retry import Throttle
from svc_notebooks.client.session import Session
from svc_notebooks.core.errors.errors import SvcError, Unreachable
from svc_notebooks.core.http.backoff import RetryRule
from svc_notebooks.core.http.messages import Headers, Request, Response
from tests.scripted import Time

CALLS: dict[str, Callable[[Session], object]] = {
    "list": lambda session: svc.files(session=session),
    "upload": lambda session: svc.upload(b"x" * 100, name="a", session=session),
    "resumable": lambda session: svc.upload(b"x" * 100, name="a", upload_type="resumable", session=session),
    "read": lambda session: svc.read("0" * 20, session=session),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("status", [429, 503])
def test_a_retry_after_of_a_year_is_not_waited_for(call, status):
    time, answer = Time(), Response(status, Headers([("Retry-After", "31536000")]))
    session = Session("https://svc.test", handler=lambda _: answer, clock=time, sleep=time.sleep, retry=RetryRule())

    words = r"requires a wait of 31,536,000 seconds \(365 days\); .* waits at most 300 seconds"
    with pytest.raises(SvcError, match=words) as caught:
        call(session)

    assert time.slept == []
    assert caught.value.status == status


@pytest.fixture
def other_program():
    """Start a server that sends these bytes to every connection, and return its address."""
    listening = []

    def listen(sends):
        server = socket.create_server(("127.0.0.1", 0))
        listening.append(server)
        threading.Thread(target=serve, args=(server, sends), daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}"

    def serve(server, sends):
        with suppress(OSError):  # the server is closed
            while True:
                with server.accept()[0] as connection, suppress(OSError):
                    connection.recv(1 << 20)
                    connection.sendall(sends)

    yield listen
    for server in listening:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


def failure(base_url: str, call: str = "list") -> SvcError:
    session = Session(base_url, "token-of-somebody", retry=RetryRule(base=0.001, patience=0.05))
    with session, pytest.raises(SvcError) as caught:
        CALLS[call](session)
    return caught.value


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "sends, words",
    [
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
            "is text/html, perhaps the error",
        ),
        (b"SSH-2.0-OpenSSH_9.2 \x1b[31mred\r\n", r"begins with 'SSH-2.0-OpenSSH_9.2 \x1b[31mred'"),
        (bytes(range(128, 256)) * 9 + b"\n", "is not HTTP"),
        (b"\x15\x03\x01\x00\x02\x02\x28", r"begins with '\x15\x03\x01\x00\x02\x02("),
        (b"x" * 5_000_000, "more than 65536 bytes"),
        (b"HTTP/1.1 502 Bad\r\nContent-Length: 12\r\n\r\nsome\x1b[31m\x00wo", r"some\x1b[31m\x00wo"),
        (b"HTTP/1.1 400 Bad\r\n\r\n" + b'{"error": {"message": "' + b"y" * 1_000_000 + b'"}}', "yyy ..."),
        (b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: http://portal/" + b"z" * 9000 + b"\r\n\r\n", "302"),
    ],
    ids=["page of a network", "ssh", "bytes", "tls", "line", "control letters", "long message", "long address"],
)
def test_an_invalid_response_is_shown_escaped_and_short(other_program, call, sends, words):
    text = str(failure(other_program(sends), call))

    assert len(text) < 2500
    assert text.isprintable()
    assert "token-of-somebody" not in text
    assert words in text or call in ("upload", "resumable")  # a body that nobody read may cut off the answer


@pytest.mark.parametrize("call", CALLS)
def test_a_port_where_nothing_listens_is_named(call):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"

    error = failure(address, call)

    assert isinstance(error, Unreachable)
    assert f"nothing listens at {address}; check the port in base_url" in str(error)
    assert "where it stopped" not in str(error)


def test_a_service_that_has_stopped_is_named_while_the_client_waits():
    time, lab = Time(), svc.sandbox()
    session = Session(lab.serve().base_url, token=str(lab.access_token), clock=time, sleep=time.sleep)
    svc.files(session=session)
    lab.close()

    told = pytest.warns(UserWarning, match="nothing listens at .* for up to 300 seconds")
    with told as warned, pytest.raises(Unreachable):
        svc.files(session=session)
    assert len(warned) == 1
    assert sum(time.slept) == pytest.approx(300)


class Service:
    """A service that returns prepared responses in turn, and then 200. It notes the times of the requests."""

    def __init__(self, *responses: Response, **rule: float) -> None:
        self.time = Time()
        self.requested_at: list[float] = []
        self._responses = list(responses)
        self._start = self.time.now()
        timing = {"clock": self.time, "sleep": self.time.sleep, "random": Random(0), "retry": RetryRule(**rule)}
        self.session = Session("https://svc.test", handler=self._handle, **timing)

    def send(self) -> int:
        return self.session.send(self.session.request("GET", "/storage/v3/files")).status

    def _handle(self, _: Request) -> Response:
        self.requested_at.append((self.time.now() - self._start).total_seconds())
        return self._responses.pop(0) if self._responses else Response(200, body=b"{}")


def refusal(status: int, retry_after: str | None = None, reason: str = "") -> Response:
    headers = Headers([] if retry_after is None else [("Retry-After", retry_after)])
    return Response(status, headers, json.dumps({"error": {"errors": [{"reason": reason}]}}).encode())


REFUSALS = {
    "429": (refusal(429, "7"), 7.0),
    "503": (refusal(503, "7"), 7.0),
    "403": (refusal(403, "7", "userRateLimitExceeded"), 7.0),
    "not allowed": (refusal(403, "7", "insufficientFilePermissions"), 0.0),
    "without Retry-After": (refusal(503), 0.0),
    "not found": (refusal(404, "7"), 0.0),
    "longer than the patience": (refusal(429, "400"), 0.0),
}


@pytest.mark.parametrize("response, wait", REFUSALS.values(), ids=REFUSALS)
def test_the_next_request_of_a_session_waits_for_the_retry_after_of_a_rate_limit(response, wait):
    service = Service(response)

    assert [service.send(), service.send()] == [response.status, 200]
    assert service.requested_at == [0.0, pytest.approx(wait)]


def test_a_session_that_never_waits_is_not_slowed():
    service = Service(refusal(429, "1"), refusal(429), patience=0.0)

    assert [service.send() for _ in range(3)] == [429, 429, 200]
    assert service.time.slept == []


def test_the_wait_is_longer_if_another_thread_is_refused_meanwhile():
    throttle, time = Throttle(), Time()

    def sleep(seconds):
        time.sleep(seconds)
        if len(time.slept) == 1:
            throttle.observe(session, refusal(429, "10"))

    session = Session("https://svc.test", handler=lambda _: Response(200), clock=time, sleep=sleep)
    began = session.elapsed()
    throttle.observe(session, refusal(429, "5"))

    throttle.wait(session)

    assert session.elapsed() - began == pytest.approx(15.0)
