"""The contract is spoken in raw HTTP: the same tests call the service in-process, over a socket, and wherever
`svc-notebooks conformance` points them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.core.wire import Request, Response
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.socket import SocketServer

from .deployed import run_of
from .diary import BOB, Diary
from .wire import Answer as Answer, InProcess as InProcess, OverSocket as OverSocket, Q as Q, Wire as Wire


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """In a run against a deployment: go there."""
    if run := run_of(session.config):
        run.arrive()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """And leave it as it was, when pytest has ended the test that an interrupt cut short."""
    if run := run_of(session.config):
        run.leave()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Against a deployment: a file that names none of the chosen rules is not even read."""
    run = run_of(config)
    return True if run and not run.wants_file(collection_path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Against a deployment the tests of its rules run, each one way."""
    if run := run_of(config):
        items[:] = [item for item in items if run.wants(item)]


@pytest.fixture
def policy() -> Policy:
    """The policy of the service under test; a test file may override it."""
    return Policy()


@pytest.fixture
def service(policy: Policy) -> Iterator[Service]:
    """A seeded service in memory, on a virtual clock; whatever a test asks, the journal knows what decided it."""
    service = open_service(seed=0, policy=policy)
    yield service
    undecided = [row for row in service.journal() if row["status"] and not row["decided_by"]]
    service.close()
    assert undecided == []


class Stage:
    """Whatever service a test has, behind one socket that all of them share."""

    policy = Policy()

    def __init__(self) -> None:
        self.service: Service | None = None

    def handle(self, request: Request) -> Response:
        assert self.service
        return self.service.handle(request)

    def user_of(self, token: str) -> str | None:
        return self.service.user_of(token) if self.service else None


@pytest.fixture(scope="session")
def stage() -> Iterator[tuple[Stage, str]]:
    """One socket for all tests, and its address."""
    stage = Stage()
    with SocketServer(cast(Service, stage)) as server:
        yield stage, server.base_url


@pytest.fixture
def base_url(stage: tuple[Stage, str], service: Service) -> str:
    """Where the service under test is on the shared socket."""
    stage[0].service = service
    return stage[1]


@pytest.fixture(params=["in-process", "socket"])
def way(request: pytest.FixtureRequest) -> str:
    """How the service is spoken to; where only a real connection shows something, a file says so."""
    return cast(str, request.param)


@pytest.fixture
def wire(request: pytest.FixtureRequest, way: str) -> Iterator[Wire]:
    """Raw HTTP, both ways; in a run against a deployment, to that."""
    if run := run_of(request.config):
        yield from run.visit(request)
        return
    service: Any = request.getfixturevalue("service")
    if way == "socket":
        yield OverSocket(service, request.getfixturevalue("base_url"))
    else:
        yield InProcess(service, "http://svc.test")


@pytest.fixture
def ada(wire: Wire) -> Diary:
    """The calendar of the person that most tests are about."""
    return Diary(wire)


@pytest.fixture
def bob(wire: Wire) -> Diary:
    """The calendar of somebody who is invited to hers."""
    return Diary(wire, BOB)
