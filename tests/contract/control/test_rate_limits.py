from typing import Any

import pytest

from svc_notebooks.core.api.operations import DOWNLOAD_COST, GET_COST, LIST_COST, OPERATIONS, SESSION, UPDATE_COST
from svc_notebooks.server.service import Service
from tests.contract.conftest import Q, Wire
from tests.contract.wire import served

FILES = "/storage/v3/files"
EVENTS = "/calendar/v3/calendars/primary/events"

pytestmark = pytest.mark.spec("X-04", "X-04a", "X-04b")


def ask(wire: Wire, times: int, target: str = FILES, **options: Any) -> list[int]:
    return [wire.send("GET", target, **options).status for _ in range(times)]


def test_a_request_above_the_limit_gets_a_reason_and_a_retry_after(wire: Wire) -> None:
    bob = wire.service.sign_in("bob@svc.example")
    wire.service.limit("ada@svc.example", 2, "60s")

    assert ask(wire, 2) == [200, 200]
    wire.service.clock.advance("20s")
    answer = wire.send("GET", FILES)

    assert (answer.status, answer.error["reason"]) == (403, "userRateLimitExceeded")
    assert (answer.error["domain"], answer.headers["retry-after"]) == ("usageLimits", "40")
    assert "2 requests in 60 seconds" in answer.error["message"]
    assert ask(wire, 3, token=bob) == [200] * 3


def test_a_user_who_waits_for_retry_after_may_go_on(wire: Wire) -> None:
    wire.service.limit("ada@svc.example", 1, 1.5)
    assert ask(wire, 2) == [200, 403]

    wire.service.clock.advance(int(wire.send("GET", FILES).headers["retry-after"]))

    assert ask(wire, 2) == [200, 403]


@pytest.mark.spec("A3-22", "A3-22a")
def test_a_refused_chunk_does_not_change_its_session(wire: Wire) -> None:
    uri = wire.begin()
    wire.service.limit("ada@svc.example", 1, "30s")
    assert wire.put(uri, b"x" * Q, f"bytes 0-{Q - 1}/{2 * Q}").status == 308

    refused = wire.put(uri, b"x" * Q, f"bytes {Q}-{2 * Q - 1}/{2 * Q}")

    assert (refused.status, refused.error["reason"]) == (403, "userRateLimitExceeded")
    wire.service.clock.advance("30s")
    assert wire.put(uri, b"", "bytes */*").headers["range"] == f"bytes=0-{Q - 1}"


@pytest.mark.parametrize("requests, per", [(0, 60), (-1, 60), (True, 60), (1, 0), (1, "soon"), (1, -1)])
def test_an_invalid_limit_is_refused(service: Service, requests: Any, per: Any) -> None:
    with pytest.raises(ValueError, match=r"must be|duration"):
        service.limit(None, requests, per)
    assert service.limits() == []


@pytest.mark.policy(rate_limit=2 * LIST_COST + UPDATE_COST, calendar_rate_limit=2, rate_status=429)
class TestByPolicy:
    def test_operations_have_different_costs(self, wire: Wire) -> None:
        file_id = wire.create(b"hello", fields="id")["id"]

        assert wire.download(file_id).status == 200  # 50 + 200 of 250
        assert ask(wire, 1, f"{FILES}/{file_id}") == [429]

    def test_the_status_is_the_policys_and_calendars_have_a_count_of_their_own(self, wire: Wire) -> None:
        assert ask(wire, 3) == [200, 200, 429]
        assert wire.send("GET", FILES).error["reason"] == "rateLimitExceeded"
        assert ask(wire, 3, EVENTS) == [200, 200, 429]


def test_every_operation_on_files_has_a_cost_of_the_family() -> None:
    files = [operation for operation in (*OPERATIONS, SESSION) if not operation.calendar]

    assert {operation.units for operation in files} == {GET_COST, UPDATE_COST, LIST_COST, DOWNLOAD_COST}
    assert DOWNLOAD_COST > LIST_COST > UPDATE_COST > GET_COST
    assert {operation.units for operation in OPERATIONS if operation.calendar} == {1}


def test_a_limit_is_set_and_seen(service: Service) -> None:
    body = {"user": "ada@svc.example", "requests": 1, "per": "30s"}
    with served(service, control=True, threads=4) as wire:
        assert wire.post_json("/_control/limits", body, token=None).status == 200
        assert ask(wire, 2) == [200, 403]

        limits = wire.send("GET", "/_control/limits", token=None).json["limits"]

    row = {"user": "ada@svc.example", "requests": 1, "per": 30.0, "spent": 1, "until": "2026-01-05T09:00:30.000Z"}
    assert limits == [row]
