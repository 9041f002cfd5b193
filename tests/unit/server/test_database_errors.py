"""Errors of the database file, each with one sentence, after which the process goes on."""

import json
import sqlite3
import subprocess
from random import Random
from typing import Any

import pytest

from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.store.engine import Database
from svc_notebooks.server.store.errors import DatabaseDamaged, store_error
from tests.commands import command

TOKEN = "svc.a-token-of-this-test"
FILES = "http://svc.test/storage/v3/files"


@pytest.mark.parametrize(
    "code, message",
    [
        (sqlite3.SQLITE_BUSY, "in use by another service"),
        (sqlite3.SQLITE_CORRUPT, "is damaged"),
        (sqlite3.SQLITE_CORRUPT_VTAB, "is damaged"),
        (sqlite3.SQLITE_NOTADB, "not a database of this service"),
        (sqlite3.SQLITE_READONLY, "cannot be written"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "cannot be written"),
        (sqlite3.SQLITE_CANTOPEN, "permission to read and write"),
        (sqlite3.SQLITE_IOERR_READ, "check the disk"),
        (sqlite3.SQLITE_FULL, "is full"),
    ],
)
def test_each_error_has_a_sentence_with_its_cause(tmp_path, code, message):
    raised = sqlite3.OperationalError("what SQLite says")
    raised.sqlite_errorcode = code

    error = store_error(raised, tmp_path / "svc.sqlite")

    assert message in str(error)
    assert str(tmp_path / "svc.sqlite") in str(error)
    assert ("another service" in str(error)) == (code == sqlite3.SQLITE_BUSY)
    assert isinstance(error, DatabaseDamaged) == ("damaged" in message or "not a database" in message)


def ask(service: Service, url: str = FILES) -> tuple[int, Any]:
    response = service.handle(Request("GET", url, Headers([("Authorization", f"Bearer {TOKEN}")])))
    return response.status, json.loads(response.content())


@pytest.fixture
def service(tmp_path):
    with open_service(tmp_path, seed=0) as service:
        service.sign_in(token=TOKEN)
        yield service


def forget_pages(database: Database) -> None:
    """Clear the page caches of the connections, of which none is in use."""
    idle = database._readers._idle.queue if database._readers else ()
    for driver in (database._driver, *(reader._driver for reader in idle if reader)):
        driver.execute("PRAGMA shrink_memory")


def test_a_database_that_is_damaged_while_it_is_used(service, tmp_path, caplog):
    assert ask(service)[0] == 200
    database, path = service._context.store.database, tmp_path / "svc.sqlite"
    database.checkpoint()
    whole = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(Random(1).randbytes(len(whole) - 4096))
    forget_pages(database)

    status, answer = ask(service)
    others = service.handle(Request("GET", "http://svc.test/openapi.json")).status
    path.write_bytes(whole)
    forget_pages(database)

    assert (status, answer["error"]["errors"][0]["reason"]) == (500, "databaseDamaged")
    assert others == 200
    assert any("is damaged" in record.message for record in caplog.records)
    assert ask(service)[0] == 200


@pytest.fixture
def read_only(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(disk)], capture_output=True, check=False).returncode:
        pytest.skip("needs the permission to mount a file system")
    try:
        open_service(disk / "store").close()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        yield disk / "store"
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_read_only_disk_is_reported(read_only):
    done = subprocess.run(command("serve", "--store", str(read_only)), capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "cannot be written" in done.stderr
    assert "another service" not in done.stderr
