"""A PostgreSQL server for all tests, and an empty database with a folder for contents for each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from tests.contract.tested_store import SERVER
from tests.scale.postgres_server import NoServer, running_server

_numbers = count(1)


class Place(NamedTuple):
    """The address of an empty database, and a folder for contents that does not exist yet."""

    address: str
    content: Path

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        """Run a statement in the database, and return its rows."""
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


@pytest.fixture
def place(server: str, tmp_path: Path) -> Iterator[Place]:
    name = f"scale_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield Place(f"{server}/{name}", tmp_path / "content")
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
