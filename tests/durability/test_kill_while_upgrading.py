import json
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.store import upgrades
from tests.patience import PATIENCE
from tests.stores import dump, old_store

EVENTS = 150_000
TOKEN = "a-token-of-this-test"
SERVE = [sys.executable, "-m", "svc_notebooks.cli", "serve", "--token", TOKEN, "--store"]
URL = "http://svc.test"


def large_store(folder: Path) -> Path:
    """A store of an earlier commit with so many events that an upgrade of its tables takes a while."""
    old_store(folder, dump("7af5d85"))
    with closing(sqlite3.connect(folder / "svc.sqlite")) as database:
        (last,) = database.execute("SELECT max(seq) FROM events").fetchone()
        columns = [name for _, name, *_ in database.execute("PRAGMA table_info(events)")]
        copied = {"seq": "n", "id": "'copy' || n", "uid": "'copy' || n", "created": "created + n"}
        values = ", ".join(copied.get(name, f'"{name}"') for name in columns)
        database.execute(
            f"WITH RECURSIVE numbers(n) AS (SELECT {last} + 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {EVENTS})"
            f" INSERT INTO events SELECT {values} FROM numbers, (SELECT * FROM events WHERE seq = {last})"
        )
        database.commit()
    return folder


def start(folder: Path) -> subprocess.Popen[str]:
    """`serve`, until its upgrade has begun: the copy of the database is being written."""
    process = subprocess.Popen([*SERVE, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE
    while not (folder / "svc.sqlite.bak.unfinished").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        threading.Event().wait(0.001)
    return process


def is_old(folder: Path, scratch: Path) -> bool:
    """Whether the database is still of an older version, as a copy of it and its log says."""
    for name in ("svc.sqlite", "svc.sqlite-wal"):
        source = folder / name
        (scratch / name).write_bytes(source.read_bytes() if source.exists() else b"")
    with closing(sqlite3.connect(scratch / "svc.sqlite")) as database:
        return upgrades.version(database) < upgrades.VERSION


def ask(service: Service, target: str) -> bytes:
    response = service.handle(Request("GET", URL + target, Headers([("Authorization", f"Bearer {TOKEN}")])))
    assert response.status == 200
    return response.content()


@pytest.mark.durability
def test_twenty_kills_in_the_middle_of_an_upgrade(tmp_path: Path) -> None:
    folder, scratch, dice = large_store(tmp_path / "store"), tmp_path / "scratch", random.Random(2026)
    scratch.mkdir()
    process = start(large_store(tmp_path / "timed"))
    begun = time.monotonic()
    assert process.stdout
    assert process.stdout.readline(), "an upgrade that nobody kills ends"
    duration = time.monotonic() - begun
    process.kill()
    process.communicate()

    inside = kills = 0
    while inside < 20:
        kills += 1
        assert kills < 100, "the moments are too late"
        process = start(folder)
        threading.Event().wait(dice.random() * duration * 0.8)
        process.kill()
        process.communicate()
        if is_old(folder, scratch):
            inside += 1
        else:  # the kill came too late: the next ones are for another old store
            check(folder)
            shutil.rmtree(folder)
            large_store(folder)
    print(f"{inside} of {kills} kills in the middle of an upgrade of {duration:.1f} s")
    check(folder)


def check(folder: Path) -> None:
    """The store is upgraded, has everything, and a copy of the database as it was."""
    with open_service(folder) as service:
        service.sign_in(token=TOKEN)
        files = json.loads(ask(service, "/storage/v3/files?fields=files(id,size)"))["files"]
        assert [file["size"] for file in files] == ["100", "100"]
        assert all(len(ask(service, f"/storage/v3/files/{file['id']}?alt=media")) == 100 for file in files)
    with closing(sqlite3.connect(folder / "svc.sqlite")) as database:
        assert upgrades.version(database) == upgrades.VERSION
        assert (
            database.execute("SELECT count(*), count(DISTINCT place), max(seq) FROM events").fetchone() == (EVENTS,) * 3
        )
    versions = set()
    for copy in folder.glob("*.bak"):  # a start after a kill between two steps copies the database between them
        with closing(sqlite3.connect(copy)) as database:
            versions.add(upgrades.version(database))
            assert database.execute("SELECT count(*) FROM events").fetchone() == (EVENTS,)
    assert 0 in versions
