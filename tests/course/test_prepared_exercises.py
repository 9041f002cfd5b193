import json
import socket
from contextlib import closing
from threading import Event
from typing import Any, cast

import pytest
from urllib3.util.connection import create_connection

from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.course.catalogue import DEFINITIONS
from svc_notebooks.course.exercise_service import ExerciseService
from svc_notebooks.course.grading_service import GradingService, PreparedExercises, begun_in
from svc_notebooks.course.student_exercise import RemoteEnvironment, _connections
from svc_notebooks.server.service import Service
from svc_notebooks.server.transports.socket_server import SocketServer

CELL = 'given = course.exercise("resumable-loop").begin()'


class MadeExercise:
    """Stands for the service of an exercise."""

    def __init__(self, name: str) -> None:
        self.name, self.closed = name, False

    def close(self) -> None:
        self.closed = True


class ExerciseMaker:
    """Makes services. Each one is finished when `finish` is set."""

    def __init__(self) -> None:
        self.made: list[MadeExercise] = []
        self.begun, self.finish = Event(), Event()

    def make(self, name: str) -> ExerciseService:
        self.begun.set()
        assert self.finish.wait(60)
        self.made.append(MadeExercise(name))
        return cast(ExerciseService, self.made[-1])


def begin(grader: GradingService, key: str) -> dict[str, Any]:
    body = json.dumps({"exercise": "resumable-loop"}).encode()
    headers = Headers([("Authorization", f"Bearer {key}")])
    response = grader.handle(Request("POST", "http://127.0.0.1/_course/begin", headers, body))
    return {name: value for name, value in json.loads(response.content()).items() if name != "token"}


def test_a_prepared_exercise_has_the_same_data_and_the_next_attempt_has_other_data():
    grader = GradingService()
    prepared, plain = grader.open("ada", [CELL]), grader.open("ada")

    first = begin(grader, prepared)

    assert first["given"]
    assert first == begin(grader, plain)
    assert begin(grader, prepared) == begin(grader, plain) != first
    grader.close(prepared)
    grader.close(plain)


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


def test_finds_the_exercises_that_cells_begin_in_their_order():
    cells = [CELL, 'course.exercise("too-often")', 'course.exercise("expired-session").begin()', CELL, "begin()"]

    assert begun_in(cells) == ["resumable-loop", "expired-session"]


def test_the_caller_makes_an_exercise_that_nobody_has_begun_to_make():
    maker = ExerciseMaker()
    exercises = PreparedExercises(["first", "second"], maker.make)
    assert maker.begun.wait(60)

    assert exercises.take("second") is None
    maker.finish.set()
    first = exercises.take("first")

    assert [first] == maker.made
    assert exercises.take("first") is exercises.take("third") is None
    exercises.close()
    assert [made.closed for made in maker.made] == [False]


def test_closes_the_exercises_that_nobody_has_taken():
    maker = ExerciseMaker()
    exercises = PreparedExercises(["first", "second"], maker.make)
    maker.finish.set()
    first = exercises.take("first")
    exercises.close()

    assert [made.name for made in maker.made if not made.closed] == [cast(MadeExercise, first).name]


def test_an_error_of_the_set_up_is_that_of_the_caller():
    def fail(name: str) -> ExerciseService:
        raise RuntimeError(name)

    exercises = PreparedExercises(["first", "second"], fail)
    with pytest.raises(RuntimeError, match="first"):
        exercises.take("first")
    exercises.close()


@pytest.mark.parametrize("path", ["/", "/_live/activity"])
def test_submissions_have_no_live_page(path: str):
    response = GradingService().handle(Request("GET", f"http://127.0.0.1{path}", Headers({"Accept": "text/html"})))

    assert (GradingService.policy.live_page, response.status) == (False, 404)
