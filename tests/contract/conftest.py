"""The contract is spoken in raw HTTP: the same tests call the service in-process, over a socket, and wherever
`svc-notebooks conformance` points them.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service
from tests.contract.calendar_client import BOB, EVE, CalendarClient
from tests.contract.deployment_wire import run_of
from tests.contract.replay import Replay, Stage as Stage, staged
from tests.contract.tested_store import TWO_WORKERS, open_tested
from tests.contract.wire import Answer as Answer, InProcess as InProcess, OverSocket as OverSocket, Q as Q, Wire as Wire

BOTH_WAYS = pytest.mark.parametrize("way", ["in-process", "socket"])
"""For tests of bodies that the service reads in blocks: a socket brings other blocks than a call."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """In a run against a deployment: go there."""
    if run := run_of(session.config):
        run.start()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """And leave it as it was, when pytest has ended the test that an interrupt cut short."""
    if run := run_of(session.config):
        run.report_leftovers()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Against a deployment: a file that names none of the chosen rules is not even read."""
    run = run_of(config)
    return True if run and not run.selects_file(collection_path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Against a deployment the tests of its rules run, each one way."""
    if run := run_of(config):
        items[:] = [item for item in items if run.wants(item)]
    if os.environ.get(TWO_WORKERS):
        for item in items:
            for mark in item.iter_markers("one_process"):
                item.add_marker(pytest.mark.skip(reason=mark.args[0]))


@pytest.fixture
def policy(request: pytest.FixtureRequest) -> Policy:
    """The policy of the service under test, with the settings that the nearest mark `policy` gives."""
    mark = request.node.get_closest_marker("policy")
    return Policy(**mark.kwargs) if mark else Policy()


@pytest.fixture
def service(policy: Policy) -> Iterator[Service]:
    """A seeded service in memory, on a virtual clock; whatever a test asks, the journal knows what decided it."""
    service = open_tested(policy)
    yield service
    undecided = [row for row in service.journal() if row["status"] and not row["decided_by"]]
    service.close()
    assert undecided == []


@pytest.fixture(scope="session")
def stage() -> Iterator[tuple[Stage, str]]:
    """One socket for all tests, and its address."""
    with staged() as stage:
        yield stage


@pytest.fixture(scope="session")
def replay(stage: tuple[Stage, str]) -> Replay:
    return Replay(*stage)


@pytest.fixture
def base_url(stage: tuple[Stage, str], service: Service) -> Iterator[str]:
    """Where the service under test is on the shared socket, or on the socket of one of two processes."""
    if os.environ.get(TWO_WORKERS):
        yield cast(Any, service).base_url
        return
    stage[0].service = service
    yield stage[1]
    stage[0].service = None


@pytest.fixture
def way() -> str:
    """How the service is called; a file about connections says "socket", see also BOTH_WAYS."""
    return "in-process"


@pytest.fixture
def wire(request: pytest.FixtureRequest, way: str) -> Iterator[Wire]:
    """Raw HTTP, in-process and then again over a socket; in a run against a deployment, to that."""
    if run := run_of(request.config):
        yield from run.visit(request)
        return
    service: Any = request.getfixturevalue("service")
    if way == "socket":
        yield OverSocket(service, request.getfixturevalue("base_url"))
        return
    replay: Replay = request.getfixturevalue("replay")
    wire = InProcess(service, "http://svc.test")
    yield wire
    for exchange in wire.exchanges:
        replay.send_again(exchange)


@pytest.fixture
def ada(wire: Wire) -> CalendarClient:
    """The calendar of the person that most tests are about."""
    return CalendarClient(wire)


@pytest.fixture
def bob(wire: Wire) -> CalendarClient:
    """The calendar of somebody who is invited to hers."""
    return CalendarClient(wire, BOB)


@pytest.fixture
def eve(wire: Wire) -> CalendarClient:
    """The calendar of somebody else who is invited to hers."""
    return CalendarClient(wire, EVE)
