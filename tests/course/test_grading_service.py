import json
import socket
from contextlib import closing
from typing import Any, cast

import pytest
from urllib3.util.connection import create_connection

from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.course.catalogue import DEFINITIONS
from svc_notebooks.course.grading_service import GradingService
from svc_notebooks.course.student_exercise import RemoteEnvironment, _connections
from svc_notebooks.server.service import Service
from svc_notebooks.server.transports.socket_server import SocketServer


def begin(grader: GradingService, key: str) -> dict[str, Any]:
    body = json.dumps({"exercise": "resumable-loop"}).encode()
    headers = Headers([("Authorization", f"Bearer {key}")])
    response = grader.handle(Request("POST", "http://127.0.0.1/_course/begin", headers, body))
    return {name: value for name, value in json.loads(response.content()).items() if name != "token"}


def test_a_seed_has_the_same_data_and_the_next_attempt_has_other_data():
    grader = GradingService()
    one, other = grader.open("ada"), grader.open("ada")

    first = begin(grader, one)

    assert first["given"]
    assert first == begin(grader, other)
    assert begin(grader, one) == begin(grader, other) != first
    grader.close(one)
    grader.close(other)


def test_the_exercises_of_a_notebook_share_one_connection(monkeypatch: pytest.MonkeyPatch):
    connected: list[tuple[str, int]] = []

    def connect(address: tuple[str, int], *arguments: Any, **options: Any) -> socket.socket:
        connected.append(address)
        return create_connection(address, *arguments, **options)

    monkeypatch.setattr("urllib3.util.connection.create_connection", connect)
    _connections.cache_clear()
    grader = GradingService()
    key = grader.open("ada")
    with SocketServer(cast(Service, grader)) as server, closing(_connections()):
        for name in ("resumable-loop", "too-often", "resumable-loop"):
            exercise = RemoteEnvironment(DEFINITIONS[name], server.base_url, key)
            assert exercise.session().call("GET", "/storage/v3/files")["files"] is not None
            exercise.close()
    grader.close(key)

    assert len(connected) == 1


@pytest.mark.parametrize("path", ["/", "/_live/activity"])
def test_submissions_have_no_live_page(path: str):
    response = GradingService().handle(Request("GET", f"http://127.0.0.1{path}", Headers({"Accept": "text/html"})))

    assert (GradingService.policy.live_page, response.status) == (False, 404)
