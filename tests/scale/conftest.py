"""A PostgreSQL server for all tests, and an empty database with a folder or a bucket for contents for each."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import psycopg
import pytest

from svc_notebooks.server.service import Service, open_service
from tests.contract.tested_store import SERVER
from tests.s3_server import NoS3Server, address_of, s3_endpoint
from tests.scale.postgres_server import NoServer, running_server

_numbers = count(1)


class Place(NamedTuple):
    """The address of an empty database, and a folder for contents that does not exist yet, or an empty bucket."""

    address: str
    content: Path | str

    def opened(self, **options: Any) -> Service:
        return open_service(self.address, content=self.content, **options)

    def disconnect(self, condition: str = "TRUE") -> None:
        """Let the server end the connections of others that meet a condition."""
        self.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            f" WHERE datname = current_database() AND pid <> pg_backend_pid() AND {condition}"
        )

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.address, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of the server that `make scale` started, or else of a new one."""
    if address := os.environ.get(SERVER):
        yield address
        return
    try:
        with running_server() as address:
            yield address
    except NoServer as error:
        pytest.fail(str(error))


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    try:
        with s3_endpoint() as endpoint:
            yield endpoint
    except NoS3Server as error:
        pytest.fail(str(error))


@pytest.fixture
def bucket(endpoint: str) -> str:
    """The address of an empty prefix."""
    return address_of(endpoint, f"scale/{uuid4().hex}")


@contextmanager
def empty_database(server: str) -> Iterator[str]:
    """Create an empty database for a `with` block, and return its address."""
    name = f"scale_{os.getpid()}_{next(_numbers)}"
    everything = Place(f"{server}/postgres", "")
    everything.execute(f"CREATE DATABASE {name}")
    yield f"{server}/{name}"
    everything.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def address(server: str) -> Iterator[str]:
    with empty_database(server) as address:
        yield address


@pytest.fixture
def place(address: str, tmp_path: Path) -> Place:
    return Place(address, tmp_path / "content")


@pytest.fixture(params=["folder", "bucket"])
def each_place(request: pytest.FixtureRequest, address: str, tmp_path: Path) -> Place:
    return Place(address, tmp_path / "content" if request.param == "folder" else request.getfixturevalue("bucket"))
