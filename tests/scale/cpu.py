"""Measures the CPU time of requests on PostgreSQL beside SQLite: `python -m tests.scale.cpu`.

A service in this process handles the same requests on both, without HTTP. Each cell has the time of this process, and
after a plus sign that of PostgreSQL's processes. The last row shows the least that a look-up on PostgreSQL costs: the
request for metadata on SQLite, and one call of libpq that reads the same columns of a file. Below the table is how long
requests hold the lock of all processes that write.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from unittest.mock import patch

import psutil
import psycopg

from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.store.postgres.connection import PostgresConnection
from tests.scale.postgres_server import running_server

_REQUESTS = 1000
_FILES = 500
_ROUNDS = 3
_WRITES = _CHANGE, _NEW_FILE, _NEW_EVENT = "change of a file", "new file", "new event"
_METADATA, _FLOOR = "metadata of a file", "metadata on SQLite, and a look-up by libpq"


def _requests(service: Service) -> dict[str, Callable[[int], object]]:
    token = service.sign_in()

    def send(method: str, target: str, value: object = None) -> dict[str, str]:
        body = b"" if value is None else json.dumps(value).encode()
        headers = [("Authorization", f"Bearer {token}"), ("Content-Length", str(len(body)))]
        headers += [("Content-Type", "application/json")] if body else []
        response = service.handle(Request(method, f"http://svc.test{target}", Headers(headers), body))
        assert response.status == 200, response.body
        return json.loads(response.body)

    files, events = "/storage/v3/files", "/calendar/v3/calendars/primary/events"
    ids = [send("POST", files, {"name": f"file {number}"})["id"] for number in range(_FILES)]
    event = {"summary": "x", "start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}
    return {
        _METADATA: lambda number: send("GET", f"{files}/{ids[number % _FILES]}"),
        "list of 100 files": lambda number: send("GET", f"{files}?pageSize=100"),
        "search by a word": lambda number: send("GET", f"{files}?q=name+contains+%27{number % _FILES}%27"),
        _CHANGE: lambda number: send("PATCH", f"{files}/{ids[number % _FILES]}", {"starred": True}),
        _NEW_FILE: lambda number: send("POST", files, {"name": "new"}),
        _NEW_EVENT: lambda number: send("POST", events, event),
    }


class _Cpu(NamedTuple):
    """Microseconds of a request in this process and in PostgreSQL's processes."""

    service: float
    server: float

    def beside(self, sqlite: float) -> str:
        both = self.service + self.server
        return f"{self.service:.0f} + {self.server:.0f} µs | {self.service / sqlite:.1f} | {both / sqlite:.1f}"


def _measured(act: Callable[[int], object], number: int, server: psutil.Process) -> _Cpu:
    before = time.process_time(), server_cpu(server)
    for each in range(number):
        act(each)
    after = time.process_time(), server_cpu(server)
    return _Cpu(*((end - start) / number * 1e6 for start, end in zip(before, after, strict=True)))


def server_cpu(server: psutil.Process) -> float:
    """Return the CPU seconds that a PostgreSQL server and all its processes have used."""
    ended = server.cpu_times()
    running = [Path(f"/proc/{each.pid}/schedstat").read_text() for each in server.children(recursive=True)]
    return ended.children_user + ended.children_system + sum(int(each.split()[0]) / 1e9 for each in running)


def server_process(connection: psycopg.Connection) -> psutil.Process:
    """Return the first process of the PostgreSQL server of a connection."""
    (data,) = connection.execute("SHOW data_directory").fetchone() or ("",)
    return psutil.Process(int(Path(str(data), "postmaster.pid").read_text().split()[0]))


@contextmanager
def _timed_locks() -> Iterator[list[float]]:
    """Collect how many seconds each transaction holds the lock, from its request to the response to its COMMIT."""
    times, begun = list[float](), [0.0]
    send = PostgresConnection._send

    def timed(connection: PostgresConnection, queue: Sequence[Any]) -> list[Any]:
        start = time.perf_counter()
        results = send(connection, queue)
        if any("pg_advisory_xact_lock" in each.sql for each in queue):
            begun[0] = start
        if queue[-1].sql == "COMMIT":
            times.append(time.perf_counter() - begun[0])
        return results

    with patch.object(PostgresConnection, "_send", timed):
        yield times


def _with_a_look_up(sqlite: Callable[[int], object], connection: psycopg.Connection) -> Callable[[int], object]:
    """Return a request on SQLite that also looks up a file on PostgreSQL with libpq alone."""
    (file,) = connection.execute("SELECT id FROM files LIMIT 1").fetchone() or ("",)
    connection.pgconn.prepare(b"look_up", b"SELECT * FROM files WHERE id = $1")

    def act(number: int) -> None:
        sqlite(number)
        result = connection.pgconn.exec_prepared(b"look_up", [str(file).encode()])
        assert result.ntuples == 1, result.error_message

    return act


def main() -> int:
    """Print a table with the microseconds of each kind of request, and return the exit status."""
    with tempfile.TemporaryDirectory() as scratch, running_server() as address:
        with psycopg.connect(f"{address}/postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE one")
            connection.execute("CREATE DATABASE several")
            server = server_process(connection)
        folder = Path(scratch)
        with (
            open_service(folder / "sqlite") as sqlite,
            open_service(f"{address}/one", content=folder / "one") as alone,
            open_service(f"{address}/several", content=folder / "several", shared=True) as several,
        ):
            stores = [_requests(service) for service in (sqlite, alone, several)]
            with psycopg.connect(f"{address}/one", autocommit=True) as connection:
                stores[0][_FLOOR] = stores[0][_METADATA]
                stores[1][_FLOOR] = stores[2][_FLOOR] = _with_a_look_up(stores[0][_METADATA], connection)
                print("| request | SQLite | one process | ratio | with the server | shared | ratio | with the server |")
                print("|---|--:|--:|--:|--:|--:|--:|--:|")
                for name in stores[0]:
                    number = _REQUESTS // 10 if name.startswith("list") else _REQUESTS
                    rounds = [[_measured(store[name], number, server) for store in stores] for _ in range(_ROUNDS)]
                    sqlite_cpu, own, shared = (min(column, key=sum) for column in zip(*rounds, strict=True))
                    print(
                        f"| {name} | {sqlite_cpu.service:.0f} µs |"
                        f" {own.beside(sqlite_cpu.service)} | {shared.beside(sqlite_cpu.service)} |",
                        flush=True,
                    )
                for name in _WRITES:
                    with _timed_locks() as times:
                        for number in range(_REQUESTS):
                            stores[2][name](number)
                    print(
                        f"{name}: {len(times) / _REQUESTS:.1f} transactions, {median(times) * 1e6:.0f} µs with the lock"
                    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
