"""Opens the service under test: in memory, or in one or two processes on the servers that `make scale` started."""

import os
import tempfile
from functools import cache
from typing import cast

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service

SERVER = "SVC_TEST_POSTGRES"
"""The environment variable with the address of a server, without a database, such as postgresql://user@host:port."""

BUCKETS = "SVC_TEST_BUCKET"
"""The environment variable with the address of a bucket for contents, such as s3://bucket. Without it, in a folder."""

TWO_WORKERS = "SVC_TEST_TWO_WORKERS"
"""The environment variable that is set if two processes serve the store on that server."""


def open_tested(policy: Policy) -> Service:
    """Open an empty, seeded service on a virtual clock, in memory unless the environment names a server."""
    server = os.environ.get(SERVER)
    if not server:
        return open_service(seed=0, policy=policy)
    address, folder = _database(server)
    _empty(address)
    if os.environ.get(TWO_WORKERS):
        from tests.scale.two_workers import TwoWorkers

        return cast(Service, TwoWorkers(address, str(folder), policy))
    return open_service(address, content=folder, seed=0, policy=policy)


@cache
def _database(server: str) -> tuple[str, str]:
    """Create a database of this process, and return its address and the folder or bucket for its contents."""
    import psycopg

    name = f"svc_{os.getpid()}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    buckets = os.environ.get(BUCKETS)
    content = f"{buckets}/{name}" if buckets else tempfile.mkdtemp(prefix="svc-contents-")
    return f"{server}/{name}", content


def _empty(address: str) -> None:
    """Delete all rows and restart all row numbers. This takes a tenth of the time of a new database."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        tables = [name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
        sequences = connection.execute("SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'").fetchall()
        statements = [f"DELETE FROM {name}" for name in tables if name != "svc_store"]
        statements += [f"SELECT setval('{name}', 1, false)" for (name,) in sequences]
        if tables:
            connection.execute("; ".join(statements))
