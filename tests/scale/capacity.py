"""Measures what two workers cost over HTTP, and the size of rows: `python -m tests.scale.capacity`.

The requests a second are those of one processor that does nothing else: 1 divided by the CPU time of a request, in a
worker and in PostgreSQL's processes. So other programs of the machine hardly change them.
"""

from __future__ import annotations

import http.client
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import psycopg

from tests.scale.conftest import Place
from tests.scale.cpu import server_cpu, server_process
from tests.scale.postgres_server import running_server
from tests.scale.workers import workers

_FILES = 3000
_REQUESTS = 1500
_SIZES = (
    "SELECT relname, pg_total_relation_size(relid) FROM pg_stat_user_tables"
    " WHERE relname IN ('files', 'changes', 'contents', 'rope', 'events')"
)


def main() -> int:
    """Print the requests a second of a processor, and the bytes of a row, and return the exit status."""
    with tempfile.TemporaryDirectory() as scratch, running_server() as address:
        with psycopg.connect(f"{address}/postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE capacity")
            postgres = server_process(connection)
        place = Place(f"{address}/capacity", Path(scratch, "content"))
        with workers(place, 2, "t") as running:
            worker = psutil.Process(running[0].process_id)
            parts = urlsplit(running[0].base_url)
            client = http.client.HTTPConnection(str(parts.hostname), parts.port)
            for name, (act, number) in _actions(client).items():
                before = sum(worker.cpu_times()[:2]), server_cpu(postgres)
                for each in range(number):
                    act(each)
                own = (sum(worker.cpu_times()[:2]) - before[0]) / number
                rows = (server_cpu(postgres) - before[1]) / number
                print(f"| {name} | {own * 1e6:.0f} µs | {rows * 1e6:.0f} µs | {1 / own:.0f} | {1 / rows:.0f} |")
            client.close()
            place.execute("ANALYZE")
            for table, size in place.execute(_SIZES):
                (number,) = place.execute(f"SELECT count(*) FROM {table}")[0]
                print(f"{table}: {int(str(size)) / max(1, int(str(number))):.0f} bytes a row with indexes")
    return 0


def _actions(client: http.client.HTTPConnection) -> dict[str, tuple[Callable[[int], str], int]]:
    """Return the requests of each kind, and how often each is sent."""
    ids: list[str] = []

    def send(method: str, target: str, body: bytes = b"", media_type: str = "application/json") -> str:
        client.request(method, target, body, {"Authorization": "Bearer t", "Content-Type": media_type})
        response = client.getresponse()
        content = response.read()
        assert response.status == 200, content
        return content.decode("latin-1")

    def upload(number: int) -> str:
        made = send("POST", "/upload/storage/v3/files?uploadType=media", bytes(1000), "application/x-data")
        ids.append(json.loads(made)["id"])
        return made

    event = json.dumps({"summary": "x", "start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}).encode()
    files = "/storage/v3/files"
    return {
        "upload of 1,000 bytes": (upload, _FILES),
        "metadata of a file": (lambda number: send("GET", f"{files}/{ids[number]}"), _REQUESTS),
        "download of 1,000 bytes": (lambda number: send("GET", f"{files}/{ids[number]}?alt=media"), _REQUESTS),
        "list of 100 files": (lambda number: send("GET", f"{files}?pageSize=100"), _REQUESTS // 10),
        "new event": (lambda number: send("POST", "/calendar/v3/calendars/primary/events", event), _REQUESTS),
    }


if __name__ == "__main__":
    sys.exit(main())
