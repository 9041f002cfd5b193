import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import pytest

import svc_notebooks as svc
from tests.patience import PATIENCE


@contextmanager
def connected(rx):
    parts = urlsplit(rx.address)
    context = ssl.create_default_context(cadata=rx.ca_pem)
    raw = socket.create_connection((parts.hostname, parts.port), 10)
    with context.wrap_socket(raw, server_hostname=parts.hostname) as connection:
        yield connection


def message(number=1, *more, path="/notifications"):
    lines = [
        f"POST {path} HTTP/1.1", "Host: localhost", "X-Svc-Channel-ID: c", f"X-Svc-Message-Number: {number}",
        "X-Svc-Resource-State: update", *(more or ("Content-Length: 0",)), "", "",
    ]  # fmt: skip
    return "\r\n".join(lines).encode()


def status(connection):
    """The first line's status of the next answer; None: it was closed."""
    text = b""
    while not text.endswith(b"\r\n\r\n"):
        piece = connection.recv(1)
        if not piece:
            return None
        text += piece
    return int(text.split()[1])


@pytest.mark.spec("A11-01", "A11-01a")
def test_one_connection_carries_many_messages_and_the_certificate_is_for_its_host_alone(rx):
    with connected(rx) as connection:
        for number in (1, 2, 3):
            connection.sendall(message(number))
            assert status(connection) == 200
    assert rx.messages()["number"].tolist() == [1, 2, 3]

    parts = urlsplit(rx.address)
    context = ssl.create_default_context(cadata=rx.ca_pem)
    with socket.create_connection((parts.hostname, parts.port)) as raw, pytest.raises(ssl.SSLCertVerificationError):
        context.wrap_socket(raw, server_hostname="hooks.example")


@pytest.mark.parametrize(
    "more, expected",
    [
        (("Transfer-Encoding: chunked",), 411),
        (("Content-Length: -1",), 400),
        (("Content-Length: ²",), 400),
        (("Content-Length: 99999999999999999999",), 413),
        (("Content-Length: 1048577",), 413),
    ],
)
def test_a_body_without_a_fair_length_ends_the_connection(rx, more, expected):
    with connected(rx) as connection:
        connection.sendall(message(1, *more) + message(2))
        assert status(connection) == expected
        assert status(connection) is None, "what follows is never taken for another request"

    assert len(rx.messages()) == 0


def test_a_closed_receiver_ends_kept_connections_and_stalls(rx):
    rx.answer_with(200, delay=PATIENCE)
    with connected(rx) as idle, connected(rx) as stalled:
        stalled.sendall(message())
        rx.wait_for("update")
        begun = time.monotonic()
        rx.close()

        assert time.monotonic() - begun < PATIENCE
        for connection in (idle, stalled):
            with suppress(OSError):
                assert connection.recv(1) == b""
    rx.close()
    assert len(rx.messages()) == 1, "what came can still be looked at"


def test_the_messages_that_are_due_are_delivered_before_they_are_shown(lab):
    for n, look in enumerate((repr, lambda rx: rx.messages()["state"].tolist(), lambda rx: rx.explain(1).size > 0)):
        rx = svc.receiver(direct=True)
        file = svc.upload(b"x")
        svc.watch_file(file, rx)
        svc.update(file, name="new")
        assert look(rx) == ("<Receiver: 2 messages>", ["sync", "update"], True)[n]
        assert len(rx.received()) == 2


def test_a_sandbox_closes_its_receivers_and_one_behind_a_proxy_has_the_address_of_the_proxy():
    with svc.sandbox() as lab:
        parts = urlsplit(svc.receiver().address)
        lab.service.register_domain("hooks.example")
        with svc.receiver(address="https://hooks.example/outside/in") as rx:
            assert svc.watch_changes(rx)["address"].tolist() == ["https://hooks.example/outside/in"]
        with pytest.raises(ValueError, match=r"address is 'hooks\.example/in'"):
            svc.receiver(address="hooks.example/in")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((parts.hostname, parts.port), 2)


@pytest.mark.spec("A11-02", "A11-02b")
def test_waiting_keeps_to_its_time_while_the_receiver_stalls(rx):
    with pytest.raises(ValueError, match=r"state is 'synced'; it must be one of sync, add"):
        rx.wait_for("synced")
    with pytest.raises(ValueError, match="timeout is -1"):
        rx.wait_for(timeout=-1)
    with pytest.raises(ValueError, match=r"delay must be .*, not nan"):
        rx.answer_with(200, delay=float("nan"))
    with pytest.raises(ValueError, match="status is 99"):
        rx.answer_with(99)
    with pytest.raises(ValueError, match="times is 0"):
        rx.answer_with(503, times=0)

    rx.answer_with(200, delay=PATIENCE)
    svc.watch_changes(rx)
    begun = time.monotonic()
    assert rx.wait_for("sync", timeout=0.5)["answers"].tolist() == ["200"]
    assert time.monotonic() - begun < PATIENCE


def test_a_certificate_that_the_sandbox_does_not_trust_is_reported(lab, tmp_path):
    import trustme

    leaf = trustme.CA().issue_cert("localhost")
    leaf.private_key_and_cert_chain_pem.write_to_path(tmp_path / "both.pem")
    with svc.receiver(certificate=(tmp_path / "both.pem", tmp_path / "both.pem")) as rx:
        svc.watch_changes(rx)
        lab.deliver()

        assert len(rx.messages()) == 0
        assert lab.deliveries()["outcome"].tolist() == ["failed"]
        assert "certificate" in lab.deliveries()["error"].item()


def test_many_threads_lose_no_message(rx):
    def send(first):
        with connected(rx) as connection:
            for number in range(first, first + 25):
                connection.sendall(message(number))
                assert status(connection) == 200

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(send, range(0, 200, 25)))

    assert sorted(rx.messages()["number"]) == list(range(200))
