import asyncio
import socket
from threading import Condition, Event

import pytest

from svc_notebooks.core.notifications.deliveries import AttemptOutcome
from tests.patience import PATIENCE
from tests.unit.server.notifications.conftest import HEADERS

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
GOOD = AttemptOutcome(200)


def test_the_request(sender, https_receiver):
    address = https_receiver.address.replace("/hook", "/a%20b/ü?x=1&y=%2F&z=ß/?")
    headers = [("Content-Type", "application/json"), ("X-Svc-Channel-Token", "für dich, für mich")]

    assert sender.send(address, headers=headers, body=b'{"kind": "svc#changes"}') == GOOD

    (request,) = https_receiver.requests
    assert request.path == "/a%20b/%C3%BC?x=1&y=%2F&z=%C3%9F/?"
    assert request.body == b'{"kind": "svc#changes"}'
    assert request.headers == {
        "host": address.split("/")[2],
        "content-type": "application/json",
        "x-svc-channel-token": "für dich, für mich".encode().decode("latin-1"),
        "content-length": "23",
    }


@pytest.mark.spec("N-08", "N-08c")
def test_a_redirect_is_not_followed(sender, https_receiver):
    head = f"HTTP/1.1 307 Go\r\nLocation: {https_receiver.address}\r\nContent-Length: 0\r\n\r\n"
    https_receiver.answers = [head.encode()]

    assert sender.send(https_receiver.address) == AttemptOutcome(307)
    assert len(https_receiver.requests) == 1


@pytest.mark.spec("N-08", "N-08a")
def test_102_counts_at_once_and_its_connection_is_used_again(sender, https_receiver):
    counted = Event()

    def progress(connection):
        connection.sendall(b"HTTP/1.1 102 Processing\r\n\r\n")
        assert counted.wait(PATIENCE)
        connection.sendall(b"HTTP/1.1 500 No\r\nContent-Length: 3\r\n\r\nno!")
        while not connection.recv(65_536).endswith(b"\r\n\r\n"):
            pass
        connection.sendall(b"HTTP/1.1 204 OK\r\n\r\n")
        connection.recv(1)

    https_receiver.answers = [progress]

    async def work(https):
        first = await https.send(https_receiver.address, HEADERS, b"")
        counted.set()
        await asyncio.sleep(0.5)  # until the rest has come: nothing tells
        return [first, await https.send(https_receiver.address, HEADERS, b"")]

    assert sender.run(work) == [AttemptOutcome(102), AttemptOutcome(204)]
    assert len(https_receiver.requests) == 1  # the second came on the connection that `progress` had


def test_answers_that_do_not_end_count_as_connections(sender, https_receiver):
    open_now, changed = 0, Condition()

    def linger(connection):
        nonlocal open_now
        with changed:
            open_now += 1
        connection.sendall(b"HTTP/1.1 102 Processing\r\n\r\n")
        try:
            connection.recv(1)
        finally:
            with changed:
                open_now -= 1
                changed.notify_all()

    def wait_for_two():
        with changed:  # the receiver notices a closed connection some time later
            return changed.wait_for(lambda: open_now <= 2, PATIENCE)

    https_receiver.answers, sender.connections = [linger] * 12, 2

    async def send_pairs(https):
        outcomes = []
        for _ in range(6):
            outcomes += await asyncio.gather(*(https.send(https_receiver.address, HEADERS, b"") for _ in range(2)))
            assert await asyncio.to_thread(wait_for_two)
        return outcomes

    assert sender.run(send_pairs) == [AttemptOutcome(102)] * 12


@pytest.mark.spec("N-09", "N-09b")
def test_a_silent_name_server_does_not_delay_others(sender, https_receiver, monkeypatch):
    ask, over = socket.getaddrinfo, Event()

    def getaddrinfo(host, *rest, **options):
        if host.endswith(".example"):
            over.wait(PATIENCE)
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return ask(host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    sender.timeout = 1.0
    try:
        *silent, good = sender.at_once(*[f"https://h{n}.example/" for n in range(60)], https_receiver.address)
    finally:
        over.set()

    assert good == GOOD
    assert {outcome.status for outcome in silent} == {None}
    assert silent[0].error == "h0.example:443 gave no response within 1 seconds"


def test_a_connection_that_was_closed_meanwhile_is_replaced(sender, https_receiver):
    https_receiver.answers = [OK] * 3  # bytes: closed after each

    assert sender.in_a_row(https_receiver.address, 4) == [GOOD] * 4
    assert sender.in_a_row(https_receiver.address, 3, pause=0.1) == [GOOD] * 3
    assert len(https_receiver.requests) == 7


@pytest.mark.parametrize("more", [b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", b"\r\n", b"x"])
def test_data_after_a_response_is_not_the_next_response(sender, https_receiver, more):
    def two(connection):
        connection.sendall(OK + more)
        connection.recv(1)

    https_receiver.answers = [two]

    assert sender.in_a_row(https_receiver.address, 2) == [GOOD, GOOD]
    assert len({request.port for request in https_receiver.requests}) == 2


def test_a_message_that_was_received_is_not_sent_twice(sender, https_receiver):
    https_receiver.answers = [200, b"HTTP/1.1 2"]

    good, broken = sender.in_a_row(https_receiver.address, 2)
    assert (good, broken.status) == (GOOD, None)
    assert broken.error
    assert broken.error.endswith("closed the connection in the middle of its response")
    assert len(https_receiver.requests) == 2


def test_cancelling_a_message_that_is_under_way(sender, https_receiver):
    https_receiver.delay = 4

    async def work(https):
        task = asyncio.ensure_future(https.send(https_receiver.address, HEADERS, b""))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    sender.run(work)
    assert sender.seconds < https_receiver.delay
