"""Faults of plans, in-process (X-05)."""

from __future__ import annotations

import json
from queue import Queue

import pytest

from svc_notebooks.core.http.messages import Disconnected, Headers, Request, Response
from svc_notebooks.server.dispatch.fault_plans import ArmedPlan
from svc_notebooks.server.service import open_service
from tests.framed import framed
from tests.patience import PATIENCE


@pytest.fixture
def service():
    with open_service(seed=0) as service:
        yield service


@pytest.fixture
def ask(service):
    token = service.sign_in()

    def send(method="GET", target="/storage/v3/files", body=b""):
        headers = Headers([("Authorization", f"Bearer {token}")])
        return service.handle(framed(Request(method, f"http://svc.local{target}", headers, body)))

    return send


@pytest.mark.spec("X-05", "X-05a")
@pytest.mark.parametrize(
    "status, reason", [(403, "userRateLimitExceeded"), (429, "rateLimitExceeded"), (503, "backendError")]
)
def test_a_status_without_a_body_gets_its_error_envelope(service, ask, status, reason):
    with service.faults({"match": {"operation": "files.list"}, "action": {"status": status}}):
        answer = ask()

    assert (answer.status, json.loads(answer.content())["error"]["errors"][0]["reason"]) == (status, reason)
    assert ask().status == 200


@pytest.mark.spec("X-05", "X-05a")
def test_nth_and_times_count_the_matching_requests(service, ask):
    step = {"match": {"method": "GET", "path": "*/files", "nth": 2}, "times": 2, "action": {"status": 500}}

    with service.faults(step):
        assert [ask().status for _ in range(4)] == [200, 500, 500, 200]


@pytest.mark.spec("X-05", "X-05b")
@pytest.mark.parametrize("most", [0, 1, 6, 9])
def test_a_cut_is_made_at_its_exact_byte(service, ask, most):
    target = "/upload/storage/v3/files?uploadType=media"
    with service.faults({"action": {"cut_request_after": most}}), pytest.raises(Disconnected):
        ask("POST", target, b"0123456789")
    assert service.journal()[-1]["received"] == most

    with service.faults({"action": {"cut_response_after": most}}):
        came = []
        with pytest.raises(Disconnected):
            came.extend(ask().body)
        assert len(b"".join(came)) == most


@pytest.mark.spec("X-05", "X-05a")
@pytest.mark.parametrize("in_order", [False, True])
def test_a_step_that_is_used_up_still_counts_requests(service, ask, in_order):
    steps = [{"match": {"method": method}, "action": {"status": 500}} for method in ("GET", "DELETE")]

    with service.faults(*steps, in_order=in_order):
        assert [ask(method).status for method in ("GET", "GET", "GET", "DELETE")] == [500, 200, 200, 500]
        plan = service.fault_plans()[0]

    assert [(step["seen"], step["fired"]) for step in plan["steps"]] == [(3, 1), (1, 1)]


@pytest.mark.spec("X-05", "X-05b")
@pytest.mark.parametrize("moment, files", [("before", 0), ("after", 1)])
def test_a_reset_comes_before_or_after_the_work(service, ask, moment, files):
    with service.faults({"action": {"reset": moment}}), pytest.raises(Disconnected):
        ask("POST", "/upload/storage/v3/files?uploadType=media", b"hello")

    assert len(json.loads(ask().content())["files"]) == files


@pytest.mark.spec("X-05", "X-05b")
def test_a_streamed_response_is_cut_after_the_given_bytes(service, ask):
    file_id = json.loads(ask("POST", "/upload/storage/v3/files?uploadType=media", b"hello").content())["id"]

    with service.faults({"action": {"cut_response_after": 2}}):
        blocks = iter(ask("GET", f"/storage/v3/files/{file_id}?alt=media").body)
        assert next(blocks) == b"he"
        with pytest.raises(Disconnected):
            next(blocks)


@pytest.mark.spec("X-05", "X-05a")
def test_steps_in_order_apply_to_successive_requests(service, ask):
    steps = {"action": {"status": 500}}, {"action": {"status": 502}}, {"times": 2, "action": {"status": 503}}

    with service.faults(*steps, in_order=True):
        assert [ask().status for _ in range(5)] == [500, 502, 503, 503, 200]


@pytest.mark.spec("X-05", "X-05a")
@pytest.mark.parametrize("status", [204, 304])
def test_a_status_that_allows_no_body_has_none(service, ask, status):
    with service.faults({"action": {"status": status}}):
        answer = ask()

    assert (answer.status, answer.content()) == (status, b"")
    assert "Content-Length" not in answer.headers


@pytest.mark.spec("X-05", "X-05b")
def test_the_response_to_a_head_has_no_byte_to_cut(service, ask):
    with pytest.raises(AssertionError, match="never"), service.faults({"action": {"cut_response_after": 0}}):
        assert ask("HEAD").status == 200


def test_a_fault_that_never_happened_is_an_error(service):
    with pytest.raises(AssertionError, match="never"), service.faults({"action": {"status": 500}}):
        pass


@pytest.mark.parametrize(
    "step",
    [
        {},
        {"action": {}},
        {"action": {"status": 99}},
        {"action": {"status": 500, "delay": 1}},
        {"action": {"reset": "never"}},
        {"action": {"status": 500}, "match": {"verb": "GET"}},
        {"action": {"status": 500}, "times": 0},
        {"action": {"status": 500}, "match": {"nth": "x"}},
        {"action": {"status": 500}, "match": {"nth": 0}},
        {"action": {"status": 500}, "match": {"method": 5}},
        {"action": {"status": 500, "headers": ["Retry-After"]}},
        {"action": {"status": 500, "headers": {"A B": "1"}}},
        {"action": {"status": 500, "headers": {"": "1"}}},
        {"action": {"status": 500, "headers": {"X": "1\r\nSet-Cookie: a=b"}}},
        {"action": {"status": 500, "headers": {"X": "€"}}},
        {"action": {"reset": "before", "body": "x"}},
        {"action": {"delay": 1e15}},
        {"action": {"delay": float("inf")}},
    ],
)
def test_an_invalid_step_is_refused(service, step):
    with pytest.raises(ValueError, match=r"must|allowed only|can have only"), service.faults(step):
        pass


@pytest.mark.parametrize("plan", [{}, {"steps": []}, {"steps": [{"action": {"status": 500}}], "in_order": "yes"}])
def test_an_invalid_plan_is_refused(service, plan):
    with pytest.raises(ValueError, match="must"):
        service.add_faults(plan)


@pytest.mark.spec("X-05", "X-05b")
def test_a_change_is_notified_although_its_response_is_lost(service, ask):
    """The after-commit hook wakes the thread that delivers."""
    states: Queue[str] = Queue()
    service.register_domain("hooks.example")
    service.receive_at("https://hooks.example/", lambda request: states.put(_state(request)) or Response(200))
    body = {"id": "c", "type": "web_hook", "address": "https://hooks.example/"}
    assert ask("POST", "/storage/v3/changes/watch", json.dumps(body).encode()).status == 200
    assert states.get(timeout=PATIENCE) == "sync"

    with service.faults({"action": {"reset": "after"}}), pytest.raises(Disconnected):
        ask("POST", "/upload/storage/v3/files?uploadType=media", b"hello")

    assert states.get(timeout=PATIENCE) == "change"


def _state(request):
    return request.headers["X-Svc-Resource-State"]


@pytest.mark.spec("X-05", "X-05b")
def test_a_plan_may_be_added_during_a_request(service, ask, monkeypatch):
    look = ArmedPlan.steps_for

    def added_meanwhile(plan, target):
        monkeypatch.undo()
        service.add_faults({"steps": [{"action": {"status": 500}}]})
        return look(plan, target)

    service.add_faults({"steps": [{"match": {"method": "DELETE"}, "action": {"status": 503}}]})
    monkeypatch.setattr(ArmedPlan, "steps_for", added_meanwhile)

    assert [ask().status for _ in range(3)] == [200, 500, 200]
