import json
from queue import Queue

import pytest

from svc_notebooks.core.http.messages import Disconnected, Response
from svc_notebooks.server.dispatch.faults import ArmedPlan
from svc_notebooks.server.service import open_service
from tests.framed import requester
from tests.patience import PATIENCE


@pytest.fixture
def service():
    with open_service(seed=0) as service:
        yield service


@pytest.fixture
def ask(service):
    send = requester(service)
    return lambda method="GET", target="/storage/v3/files", body=b"": send(method, target, body)


@pytest.mark.spec("X-05", "X-05b")
def test_the_response_to_a_head_has_no_byte_to_cut(service, ask):
    with pytest.raises(AssertionError, match="never"), service.faults({"action": {"cut_response_after": 0}}):
        assert ask("HEAD").status == 200


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


def test_a_fault_that_happens_too_rarely_is_an_error(service, ask):
    with (
        pytest.raises(AssertionError, match=r"happened 1 of 2 times.*: step 0 of faults-1 \(returns 503\)"),
        service.faults({"times": 2, "action": {"status": 503}}),
    ):
        ask()


@pytest.mark.parametrize("probability, hits", [(0, 0), (0.5, 9), (1, 20)])
def test_a_fault_with_a_probability_happens_to_the_same_requests_in_every_run(service, ask, probability, hits):
    match = {"probability": probability, "seed": 1}
    statuses = []
    for _ in range(2):
        with service.faults({"match": match, "times": 20, "action": {"status": 503}}):
            statuses.append([ask().status for _ in range(20)])

    assert statuses[0] == statuses[1]
    assert statuses[0].count(503) == hits
