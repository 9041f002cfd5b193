"""Nothing that a receiver sends makes `send` raise, exceed its timeout, or affect the next message."""

import asyncio
import socket
import time
from contextlib import suppress
from itertools import pairwise
from typing import Any
from unittest.mock import Mock

import h11
import pytest
from hypothesis import HealthCheck, given, strategies as st

from svc_notebooks.core.notifications.deliveries import AttemptOutcome
from svc_notebooks.server.notifications.https_sender import Connection, ConnectionState, NoResponse, plain_status
from tests.examples import examples
from tests.patience import PATIENCE
from tests.receivers import receiver
from tests.unit.server.notifications.conftest import Sender

PIECES = [
    b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 204 \r\n", b"HTTP/1.0 503 No\r\n", b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\n", b"HTTP/1.1 102 Processing\r\n\r\n", b"HTTP/2 200\r\n",
    b"Content-Length: 5\r\n", b"Content-Length: 99999999999999999999\r\n", b"Content-Length: -1\r\n",
    b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n", b"Connection: upgrade\r\nUpgrade: websocket\r\n",
    b" folded\r\n", b"5\r\nhello\r\n", b"0\r\n\r\n", b"ffffffffffffffff\r\n", b"hello", b"\r\n", b"\n", b"\0",
]  # fmt: skip
ANSWERS = st.lists(st.sampled_from(PIECES) | st.binary(max_size=40), max_size=8).map(b"".join)


async def hear(blocks: list[bytes]) -> tuple[int | str, ConnectionState]:
    """Return the status or the error for a response in these blocks, and the state of the connection before its end."""
    line, transport = Connection(lambda _: None, rest=60, idle=60), Mock()
    line.connection_made(transport)
    pending = asyncio.ensure_future(line.send(b""))
    await asyncio.sleep(0)
    for block in blocks:
        if not transport.abort.called:
            line.data_received(block)
    standing = line.state
    line.connection_lost(None)
    try:
        return await pending, standing
    except NoResponse as error:
        return str(error), standing


@given(ANSWERS, st.lists(st.integers(0, 200)))
@examples(2)
def test_a_response_is_the_same_in_any_blocks(answer, cuts):
    at = sorted({0, len(answer), *(cut for cut in cuts if cut < len(answer))})
    blocks = [answer[first:last] for first, last in pairwise(at)]

    whole, _ = asyncio.run(hear([answer]))
    in_blocks, standing = asyncio.run(hear(blocks))

    assert isinstance(whole, int) == isinstance(in_blocks, int)
    if isinstance(whole, int):
        assert whole == in_blocks
        assert whole == 102 or 200 <= whole <= 999
    assert standing is not ConnectionState.AWAITING_RESPONSE or isinstance(in_blocks, str)


HEADER_LINES = st.sampled_from(PIECES[8:17]) | st.from_regex(rb"[!-~]{1,9}: ?[ -~\t]{0,9}\r\n", fullmatch=True)
LIKELY = st.tuples(
    st.sampled_from(PIECES[:8]),
    st.lists(HEADER_LINES, max_size=4).map(b"".join),
    st.just(b"\r\n"),
    st.sampled_from([b"", b"hello", b"\r\n", b"5\r\nhello\r\n0\r\n\r\n"]),
).map(b"".join)


@given(LIKELY)
@examples(2)
def test_plain_status_agrees_with_h11(answer):
    """Two readers of a response must not disagree."""
    status = plain_status(answer)
    if status:
        machine = h11.Connection(h11.CLIENT)
        machine.send(h11.Request(method="POST", target="/", headers=[("Host", "x"), ("Content-Length", "0")]))
        machine.send(h11.EndOfMessage())
        machine.receive_data(answer)
        events = [machine.next_event()]
        while not isinstance(events[-1], h11.EndOfMessage):
            assert events[-1] not in (h11.NEED_DATA, h11.PAUSED)
            events.append(machine.next_event())

        assert isinstance(events[0], h11.Response)
        assert events[0].status_code == status
        assert machine.states == {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE}
        assert machine.trailing_data == (b"", False)


@pytest.fixture(scope="module")
def hostile():
    with receiver() as hostile:
        yield hostile


@given(ANSWERS)
@examples(0.4, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_bad_response_does_not_affect_the_next_message(hostile, answer):
    """The next message gets its own status, whatever came before and whether the connection is closed or not."""

    def say(connection):
        connection.settimeout(1)
        connection.sendall(answer)
        with suppress(OSError):  # the next request, for which the same connection may be taken
            if connection.recv(65536):
                connection.sendall(b"HTTP/1.1 277 Mine\r\nContent-Length: 0\r\n\r\n")

    sender = Sender()
    sender.timeout = 0.5
    hostile.answers[:] = [say, b"HTTP/1.1 277 Mine\r\nContent-Length: 0\r\n\r\n"]

    first, second = sender.in_a_row(hostile.address, 2)

    assert isinstance(first, AttemptOutcome)
    assert (first.status is None) == bool(first.error)
    assert second == AttemptOutcome(277)


def _slowly(text: bytes, pause: float = 0.05) -> Any:
    def say(connection: socket.socket) -> None:
        with suppress(OSError):
            for at in range(len(text)):
                connection.sendall(text[at : at + 1])
                time.sleep(pause)

    return say


def _without_end(block: bytes) -> Any:
    def say(connection: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection.sendall(block)

    return say


@pytest.mark.parametrize(
    "say",
    [
        _slowly(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        _slowly(b"HTTP/1.1 100 Continue\r\n\r\n" * 4),
        _slowly(b"\r\n" * 50),
        _without_end(b"X: y\r\n"),
        _without_end(b"HTTP/1.1 100 Continue\r\n\r\n"),
        _without_end(b"\r\n"),
        _without_end(b"\0" * 60_000),
    ],
    ids=range(7),
)
def test_no_receiver_is_waited_for_beyond_the_timeout(sender, https_receiver, say):
    https_receiver.answers = [say]
    sender.timeout = 0.6

    assert sender.send(https_receiver.address).status is None
    assert sender.seconds < PATIENCE
