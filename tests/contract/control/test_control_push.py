"""Push notifications over sockets by the system clock, as a program in any language tests with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.store.clock import SystemClock
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.contract.conftest import Answer, OverSocket
from tests.receivers import Receiver, receiver


@pytest.fixture
def service() -> Iterator[Service]:
    with open_service(clock=SystemClock()) as service:
        yield service


@pytest.fixture
def wire(service: Service) -> Iterator[OverSocket]:
    with SocketServer(service, control=True, threads=4) as server:
        yield OverSocket(service, server.base_url)


@pytest.fixture
def webhook() -> Iterator[Receiver]:
    with receiver() as webhook:
        yield webhook


def post_control(wire: OverSocket, name: str, body: dict[str, Any]) -> Answer:
    return wire.post_json(f"/_control/{name}", body, token=None)


def get_control(wire: OverSocket, name: str) -> Any:
    return wire.send("GET", f"/_control/{name}", token=None).json[name]


def watch(wire: OverSocket, webhook: Receiver, **fields: Any) -> Answer:
    body = {"id": "c1", "type": "web_hook", "address": webhook.address, **fields}
    return wire.post_json("/storage/v3/changes/watch", body)


@pytest.mark.spec("A8-05", "N-01", "N-01a")
def test_register_trust_watch_and_look(wire: OverSocket, webhook: Receiver) -> None:
    assert watch(wire, webhook).status == 401
    assert post_control(wire, "domains", {"domain": "LocalHost"}).json == {"domain": "localhost"}
    assert post_control(wire, "trust", {"ca_pem": webhook.ca_pem}).status == 204
    assert watch(wire, webhook).status == 200
    wire.create()

    assert [notification.resource_state for notification in webhook.wait_for(2)] == ["sync", "change"]
    wire.service.deliver()  # the receivers have answered; now that is written down, too
    rows = get_control(wire, "deliveries")
    assert rows[0].keys() == {
        "channel_id", "resource_id", "message_number", "state", "attempt", "due", "time", "status", "outcome", "error",
    }  # fmt: skip
    assert [(row["state"], row["attempt"], row["status"], row["outcome"]) for row in rows] == [
        ("sync", 1, 200, "delivered"), ("change", 1, 200, "delivered"),
    ]  # fmt: skip


@pytest.mark.spec("N-08", "N-08b")
def test_retries_by_the_systems_clock(wire: OverSocket, webhook: Receiver) -> None:
    post_control(wire, "domains", {"domain": "localhost"})
    post_control(wire, "trust", {"ca_pem": webhook.ca_pem})
    webhook.answers = [503]
    watch(wire, webhook)

    assert [notification.number for notification in webhook.wait_for(2)] == [1, 1]


@pytest.mark.spec("N-08", "N-08b", "A10-03")
def test_advancing_the_clock_delivers_everything_in_order(wire: OverSocket, webhook: Receiver) -> None:
    post_control(wire, "domains", {"domain": "localhost"})
    post_control(wire, "trust", {"ca_pem": webhook.ca_pem})
    post_control(wire, "clock", {"now": "2026-03-01T12:00:00Z"})
    webhook.answers = [503] * 3
    watch(wire, webhook)
    assert post_control(wire, "clock", {"advance": "1m"}).json == {"now": "2026-03-01T12:01:00.000Z"}

    rows = get_control(wire, "deliveries")
    assert [(row["attempt"], row["outcome"]) for row in rows] == [
        (1, "retry"), (2, "retry"), (3, "retry"), (4, "delivered"),
    ]  # fmt: skip
    assert "2026-03-01T12:00:05" < rows[-1]["time"] < "2026-03-01T12:00:08"
    post_control(wire, "clock", {"advance": "2h"})
    wire.create()
    post_control(wire, "clock", {"advance": "1m"})
    assert len(webhook.requests) == 4


@pytest.mark.parametrize(
    "name, body",
    [
        ("domains", {}),
        ("domains", {"domain": ""}),
        ("domains", {"domain": 5}),
        ("domains", {"domain": "https://hooks.example/in"}),
        ("domains", {"domain": "hooks.example:8443"}),
        ("domains", {"domain": "*"}),
        ("trust", {}),
        ("trust", {"ca_pem": "no certificate"}),
        ("trust", {"ca_pem": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"}),
        ("trust", {"ca_pem": ["x"]}),
    ],
)
def test_invalid_domains_and_certificates_are_refused(wire: OverSocket, name: str, body: dict[str, Any]) -> None:
    answer = post_control(wire, name, body)

    assert (answer.status, answer.error["reason"]) == (400, "badRequest")


def test_a_reset_deletes_channels_and_keeps_domains(wire: OverSocket, webhook: Receiver) -> None:
    post_control(wire, "domains", {"domain": "localhost"})
    post_control(wire, "trust", {"ca_pem": webhook.ca_pem})
    assert watch(wire, webhook).status == 200
    webhook.wait_for(1)
    post_control(wire, "reset", {})

    assert get_control(wire, "deliveries") == []
    assert watch(wire, webhook).status == 200  # the same id is free again
    assert len(webhook.wait_for(2)) == 2


def test_the_control_api_is_off_by_default(service: Service) -> None:
    with SocketServer(service, threads=4) as server:
        wire = OverSocket(service, server.base_url)
        assert post_control(wire, "domains", {"domain": "localhost"}).status in (401, 404)
