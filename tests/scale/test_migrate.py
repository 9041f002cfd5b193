"""A store is copied from a folder to PostgreSQL and back: nothing is lost, and clients continue."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings, strategies as st

from svc_notebooks.core.http.messages import Response
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.store import migration
from svc_notebooks.server.store.migration import discard, migrate
from tests.contract.wire import InProcess
from tests.examples import examples
from tests.scale.conftest import Place

pytestmark = pytest.mark.scale

JSON = {"Content-Type": "application/json"}
FILES = "/storage/v3/files"
CHANGES = "/storage/v3/changes"
EVENTS = "/calendar/v3/calendars/primary/events"
_DAY = {"start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}
_ADDRESS = "https://hooks.example/in"
_schemas = count(1)


def silent(step: str) -> None:
    """Print nothing."""


def copy(source: object, target: object, content: object) -> migration.Migrated:
    return migrate(str(source), str(target), str(content), ("user-backups",), silent)


def dump(folder: Path) -> dict[str, Any]:
    """All rows, counters and parts of a store in a folder."""
    with closing(sqlite3.connect(folder / "svc.sqlite")) as database:
        tables = [
            name
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not name.startswith(("files_text", "opening")) and name != "sqlite_stat1"
        ]
        rows: dict[str, Any] = {name: sorted(map(repr, database.execute(f"SELECT * FROM {name}"))) for name in tables}
    return rows | {"parts": {path.name: path.read_bytes() for path in (folder / "parts").glob("*/*")}}


def as_bytes(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def wire_of(service: Service) -> InProcess:
    wire = InProcess(service, "http://svc.test")
    wire.token = service.sign_in(token="t")
    return wire


def sent(wire: InProcess, method: str, target: str, value: object = None) -> Any:
    answer = wire.send(method, target, json.dumps(value or {}).encode() if value is not None else b"", JSON)
    assert answer.status in (200, 204), answer.body
    return answer.json if answer.body else None


def filled(folder: Path, *, big: int = 70_000) -> Path:
    """A store with files, events, an upload under way and deleted rows."""
    with open_service(folder) as service:
        wire = wire_of(service)
        for number in range(5):
            wire.send("POST", "/upload/storage/v3/files?uploadType=media", bytes([number]) * big)
        made = sent(wire, "POST", FILES, {"name": "gone"})["id"]
        sent(wire, "DELETE", f"{FILES}/{made}")
        sent(wire, "POST", EVENTS, _DAY)
    return folder


_texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=8)
_actions = st.lists(
    st.one_of(
        st.tuples(st.just("upload"), st.binary(max_size=100)),
        st.tuples(st.just("create"), _texts),
        st.tuples(st.just("describe"), _texts),
        st.tuples(st.just("delete"), st.integers(0, 5)),
        st.tuples(st.just("event"), _texts),
        st.tuples(st.just("session"), st.integers(1, 4)),
    ),
    max_size=12,
)


def perform(wire: InProcess, action: tuple[str, Any]) -> None:
    kind, value = action
    if kind == "upload":
        wire.send("POST", "/upload/storage/v3/files?uploadType=media", value)
    elif kind == "create":
        sent(wire, "POST", FILES, {"name": value, "properties": {"key": value}})
    elif kind == "event":
        sent(wire, "POST", EVENTS, {"summary": value, **_DAY})
    elif kind == "session":
        place = wire.send("POST", "/upload/storage/v3/files?uploadType=resumable", b"{}", JSON).headers["location"]
        chunk = bytes(262_144)
        wire.send("PUT", place, chunk, {"Content-Range": f"bytes 0-262143/{262_144 * (value + 1)}"})
    elif files := sent(wire, "GET", FILES)["files"]:
        if kind == "delete":
            sent(wire, "DELETE", f"{FILES}/{files[value % len(files)]['id']}")
        else:
            sent(wire, "PATCH", f"{FILES}/{files[0]['id']}", {"description": value})


@given(_actions)
@settings(parent=examples(0.3), deadline=None)
def test_a_folder_is_equal_after_a_copy_to_postgresql_and_back(server, tmp_path_factory, actions):
    folder = tmp_path_factory.mktemp("migrate")
    with open_service(folder / "first") as service:
        wire = wire_of(service)
        for action in actions:
            perform(wire, action)
    schema = f"migrated_{next(_schemas)}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        address = f"{server}/postgres?options=-csearch_path%3D{schema},public"
        before, files = dump(folder / "first"), as_bytes(folder / "first")
        try:
            copy(folder / "first", address, folder / "content")
            copy(address, folder / "second", folder / "content")
        finally:
            connection.execute(f"DROP SCHEMA {schema} CASCADE")

    assert dump(folder / "second") == before
    assert as_bytes(folder / "first") == files


class Client:
    """A client with a page token, a token of changes, a sync token, an upload session and a channel."""

    def __init__(self, wire: InProcess) -> None:
        for number in range(3):
            sent(wire, "POST", FILES, {"name": f"file {number}"})
        sent(wire, "POST", EVENTS, _DAY)
        self.page = sent(wire, "GET", f"{FILES}?pageSize=1&orderBy=name")["nextPageToken"]
        self.changes = sent(wire, "GET", f"{CHANGES}/startPageToken")["startPageToken"]
        self.sync = sent(wire, "GET", EVENTS)["nextSyncToken"]
        self.content = bytes(range(256)) * 1024
        started = wire.send("POST", "/upload/storage/v3/files?uploadType=resumable", b"{}", JSON)
        self.session = started.headers["location"]
        self.stored = 0
        channel = {"id": "channel-1", "type": "web_hook", "address": _ADDRESS, "token": "mine"}
        sent(wire, "POST", f"{CHANGES}/watch?pageToken={self.changes}", channel)
        self.messages: list[str] = []
        self.expected = 1  # the message that the channel begins with

    def receive(self, request: Any) -> Response:
        self.messages.append(request.headers["X-Svc-Message-Number"])
        return Response(200)

    def go_on(self, service: Service) -> None:
        """Use each token, and take its next value."""
        wire = wire_of(service)
        service.receive_at(_ADDRESS, self.receive)
        listed = sent(wire, "GET", f"{FILES}?pageSize=1&orderBy=name&pageToken={self.page}")
        assert listed["files"][0]["name"].startswith(("file 1", "file 2"))
        self.page = listed.get("nextPageToken")
        name = sent(wire, "POST", FILES, {"name": "file z"})["id"]
        changed = sent(wire, "GET", f"{CHANGES}?pageToken={self.changes}")
        assert [change["fileId"] for change in changed["changes"]] == [name]
        self.changes = changed["newStartPageToken"]
        event = sent(wire, "POST", EVENTS, _DAY)["id"]
        synced = sent(wire, "GET", f"{EVENTS}?syncToken={self.sync}")
        assert [item["id"] for item in synced["items"]] == [event]
        self.sync = synced["nextSyncToken"]
        service.deliver(10)
        self.expected += 1
        assert len(set(self.messages)) == len(self.messages) == self.expected

    def upload(self, service: Service, *, last: bool = False) -> None:
        wire, half = wire_of(service), len(self.content)
        total = half * 3
        content = self.content if not last else self.content * ((total - self.stored) // half)
        end = self.stored + len(content) - 1
        answer = wire.send("PUT", self.session, content, {"Content-Range": f"bytes {self.stored}-{end}/{total}"})
        assert answer.status == (200 if last else 308), answer.body
        self.stored = end + 1
        if last:
            assert wire.send("GET", f"{FILES}/{answer.json['id']}?alt=media").body == self.content * 3


def test_a_client_goes_on_after_a_copy_to_postgresql_and_back(each_place: Place, tmp_path: Path) -> None:
    place = each_place
    with open_service(tmp_path / "first", background=False) as service:
        service.register_domain("hooks.example")
        client = Client(wire_of(service))
        client.upload(service)
        service.receive_at(_ADDRESS, client.receive)
        service.deliver(10)
    copy(tmp_path / "first", place.address, place.content)
    with place.opened(background=False) as service:
        client.go_on(service)
        client.upload(service)
    copy(place.address, tmp_path / "second", place.content)
    with open_service(tmp_path / "second", background=False) as service:
        client.go_on(service)
        client.upload(service, last=True)


def run_command(source: Path, place: Place) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "svc_notebooks.cli", "migrate", source, place.address, "--content", place.content]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_store_in_use_is_refused(place: Place, tmp_path: Path) -> None:
    filled(tmp_path / "first")
    with open_service(tmp_path / "first"):
        done = run_command(tmp_path / "first", place)

    assert (done.returncode, done.stdout) == (2, "")
    assert "is open in another process" in done.stderr or "is in use" in done.stderr
    assert place.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]


def test_a_database_in_use_is_refused(place: Place, tmp_path: Path) -> None:
    with place.opened(shared=True), pytest.raises(OSError, match="in use by another service"):
        copy(place.address, tmp_path / "second", place.content)

    assert not (tmp_path / "second").exists()


def test_a_database_with_a_store_is_refused_and_not_changed(place: Place, tmp_path: Path) -> None:
    filled(tmp_path / "first")
    place.opened().close()
    with pytest.raises(OSError, match="already has a store"):
        copy(tmp_path / "first", place.address, place.content)

    assert place.execute("SELECT count(*) FROM files") == [(0,)]
    place.opened().close()


def test_a_folder_that_is_not_empty_is_refused_and_not_changed(place: Place, tmp_path: Path) -> None:
    copy(filled(tmp_path / "first"), place.address, place.content)
    (tmp_path / "with a file").mkdir()
    (tmp_path / "with a file" / "thesis.txt").write_text("mine")
    for folder in (filled(tmp_path / "with a store"), tmp_path / "with a file"):
        before = as_bytes(folder)
        with pytest.raises(OSError, match="is not empty"):
            copy(place.address, folder, place.content)

        assert as_bytes(folder) == before


@pytest.mark.parametrize(
    "source, target, content, message",
    [
        ("first", "second", "content", "one of FROM and TO must be a folder"),
        ("postgresql://ada@db/a", "postgresql://ada@db/b", "content", "one of FROM and TO must be a folder"),
        ("first", "postgresql://ada@db/b", None, "add --content"),
    ],
)
def test_other_places_are_refused(source: str, target: str, content: str | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        migrate(source, target, content, (), silent)


def test_a_damaged_source_is_refused(place: Place, tmp_path: Path) -> None:
    part = next((filled(tmp_path / "first") / "parts").glob("*/*"))
    part.write_bytes(bytes(len(part.read_bytes()) - 1) + b"!")
    with pytest.raises(OSError, match=f"part {part.name} has a wrong checksum"):
        copy(tmp_path / "first", place.address, place.content)
    with pytest.raises(OSError, match="a migration that has not ended"):
        place.opened()


class Killed(BaseException):
    """Ends a migration like a kill, at a place of its own."""


@pytest.fixture(params=["to PostgreSQL", "to a folder"])
def interrupted(request, place: Place, tmp_path: Path, monkeypatch) -> tuple[str, str, Place]:
    """A migration that was interrupted after two parts: its source and its target."""
    source, target = str(filled(tmp_path / "first")), place.address
    if request.param == "to a folder":
        copy(source, target, place.content)
        source, target = target, str(tmp_path / "second")
    write_part, numbers = migration.write_part, count(1)

    def fail(*arguments: Any) -> object:
        if next(numbers) > 2:
            raise Killed
        return write_part(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(migration, "write_part", fail)
        with pytest.raises(Killed):
            copy(source, target, place.content)
    return source, target, place


def opened(target: str, place: Place) -> Service:
    return open_service(target, content=place.content if "://" in target else None)


def test_an_interrupted_migration_is_refused_by_a_service_and_continues(interrupted):
    source, target, place = interrupted
    with pytest.raises(OSError, match=r"a migration that has not ended.*repeat the command.*--discard"):
        opened(target, place)
    done = copy(source, target, place.content)

    assert (done.parts, done.reused) == (5, 2)
    with opened(target, place) as service:
        assert len(sent(wire_of(service), "GET", FILES)["files"]) == 5


def test_an_interrupted_migration_is_discarded(interrupted: tuple[str, str, Place]) -> None:
    source, target, place = interrupted
    if "://" not in target:
        (Path(target) / "thesis.txt").write_text("mine")
    discard(source, target, str(place.content))

    if "://" in target:
        assert place.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]
        assert as_bytes(place.content) == {}
    else:
        assert as_bytes(Path(target)) == {"thesis.txt": b"mine"}


def test_a_part_that_changes_after_it_was_copied_is_found(each_place, tmp_path, monkeypatch):
    verify = migration.check_contents

    def damage(database: Any, parts: Any, report: Any) -> None:
        writer = parts.writer(next(parts.listed()).key)
        writer.write(bytes(70_000 - 1) + b"!")
        writer.commit()
        verify(database, parts, report)

    monkeypatch.setattr(migration, "check_contents", damage)
    with pytest.raises(OSError, match="has a wrong checksum"):
        copy(filled(tmp_path / "first"), each_place.address, each_place.content)
    with pytest.raises(OSError, match="a migration that has not ended"):
        each_place.opened()


def test_the_command_copies_backups_of_users_too(place: Place, tmp_path: Path) -> None:
    first = filled(tmp_path / "first")
    (first / "user-backups").mkdir()
    (first / "user-backups" / "ada.svc").write_bytes(b"backup")
    done = run_command(first, place)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("copied and verified: ")
    assert "350,000 bytes in 5 parts" in done.stdout
    assert (place.content / "user-backups" / "ada.svc").read_bytes() == b"backup"


def test_a_text_that_postgresql_cannot_store_is_named(place: Place, tmp_path: Path) -> None:
    with open_service(tmp_path / "first") as service:
        sent(wire_of(service), "POST", FILES, {"name": "a\0b"})
    with pytest.raises(OSError, match=r"the row .*a\\x00b.* of files: .*U\+0000"):
        copy(tmp_path / "first", place.address, place.content)

    assert place.execute("SELECT count(*) FROM users") == [(0,)]
