"""A service on a socket, for programs that know nothing of us."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.socket_server import SocketServer


@pytest.fixture
def service() -> Iterator[Service]:
    service = open_service(seed=0)
    yield service
    service.close()


@pytest.fixture
def base_url(service: Service) -> Iterator[str]:
    with SocketServer(service) as server:
        yield server.base_url


@pytest.fixture
def token(service: Service) -> str:
    return service.sign_in()
