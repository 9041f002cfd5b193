"""Measures the CPU time of requests on PostgreSQL beside SQLite: `python -m tests.scale.cpu`.

A service in this process handles the same requests on both. The time of PostgreSQL is that of this process and of the
server's processes together.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import psycopg

from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.server.service import Service, open_service
from tests.scale.postgres_server import running_server

_REQUESTS = 1000
_FILES = 500
_ROUNDS = 3


def _requests(service: Service) -> dict[str, Callable[[int], None]]:
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
        "metadata of a file": lambda number: send("GET", f"{files}/{ids[number % _FILES]}"),
        "list of 100 files": lambda number: send("GET", f"{files}?pageSize=100"),
        "search by a word": lambda number: send("GET", f"{files}?q=name+contains+%27{number % _FILES}%27"),
        "change of a file": lambda number: send("PATCH", f"{files}/{ids[number % _FILES]}", {"starred": True}),
        "new file": lambda number: send("POST", files, {"name": "new"}),
        "new event": lambda number: send("POST", events, event),
    }


def _cpu(of: Callable[[], float], act: Callable[[int], None], number: int) -> float:
    before = of()
    for each in range(number):
        act(each)
    return (of() - before) / number * 1e6


def server_cpu(server: psutil.Process) -> float:
    """Return the CPU seconds that a PostgreSQL server and all its processes have used."""
    ended = server.cpu_times()
    running = [each.cpu_times() for each in server.children(recursive=True)]
    return ended.children_user + ended.children_system + sum(each.user + each.system for each in running)


def main() -> int:
    """Print a table with the microseconds of each kind of request, and return the exit status."""
    with tempfile.TemporaryDirectory() as scratch, running_server() as address:
        with psycopg.connect(f"{address}/postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE one")
            connection.execute("CREATE DATABASE several")
            (data,) = connection.execute("SHOW data_directory").fetchone() or ("",)
        server = psutil.Process(int(Path(str(data), "postmaster.pid").read_text().split()[0]))
        folder = Path(scratch)
        with (
            open_service(folder / "sqlite") as sqlite,
            open_service(f"{address}/one", content=folder / "one") as alone,
            open_service(f"{address}/several", content=folder / "several", shared=True) as several,
        ):
            clocks = [time.process_time, *[lambda: time.process_time() + server_cpu(server)] * 2]
            stores = [_requests(service) for service in (sqlite, alone, several)]
            print("| request | SQLite | PostgreSQL, one process | ratio | PostgreSQL, shared | ratio |")
            print("|---|--:|--:|--:|--:|--:|")
            for name in stores[0]:
                number = _REQUESTS // 10 if name.startswith("list") else _REQUESTS
                rounds = [
                    [_cpu(clock, store[name], number) for clock, store in zip(clocks, stores, strict=True)]
                    for _ in range(_ROUNDS)
                ]
                sqlite_time, own_time, shared_time = (min(column) for column in zip(*rounds, strict=True))
                print(
                    f"| {name} | {sqlite_time:.0f} µs | {own_time:.0f} µs | {own_time / sqlite_time:.1f} |"
                    f" {shared_time:.0f} µs | {shared_time / sqlite_time:.1f} |"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
