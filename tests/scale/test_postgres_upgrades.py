import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from svc_notebooks.server.store.postgres import upgrades as postgres_upgrades
from tests.contract.wire import InProcess
from tests.scale.conftest import Place
from tests.scale.workers import sent, workers

pytestmark = pytest.mark.scale

_OLD = Path(__file__).parent.parent / "stores" / "postgres_4.psql"
_PART = "56c78447d098408f8aca5b1800000001"
_STORE = "d33834b775ee4f9db09ae97b7dd2619e"
_COLUMNS = (
    "SELECT table_name, column_name, data_type, is_nullable, collation_name, ordinal_position"
    " FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position"
)
_INDEXES = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexdef"


@pytest.fixture
def old(place: Place) -> Place:
    """A database of the first version on PostgreSQL, and its folder."""
    place.execute(_OLD.read_text(encoding="utf-8"))
    part = place.content / "parts" / _PART[:2] / _PART
    part.parent.mkdir(parents=True)
    part.write_bytes(b"kept")
    marker = {"format": "svc-notebooks contents", "version": 1, "store": _STORE}
    (place.content / "svc-contents.json").write_text(json.dumps(marker))
    return place


def version(place: Place) -> object:
    return place.execute("SELECT version FROM svc_store")[0][0]


def test_an_old_database_is_upgraded_with_all_rows(old: Place) -> None:
    with old.opened() as service:
        wire = InProcess(service, "http://svc.test")
        wire.token = "old-token"
        files = {file["name"]: file["id"] for file in wire.send("GET", "/storage/v3/files").json["files"]}

        assert version(old) == postgres_upgrades.VERSION
        assert service.notes[0].startswith("the database had schema version 4 and was upgraded to ")
        assert files.keys() == {"Untitled", "plan"}
        assert wire.send("GET", f"/storage/v3/files/{files['Untitled']}?alt=media").body == b"kept"
    with old.opened() as service:
        assert service.notes == []


def test_an_upgrade_composes_the_names_that_are_searched(old: Place) -> None:
    old.execute("UPDATE files SET name = U&'U\\0308b', name_key = U&'u\\0308b', words = ' u b' WHERE name = 'plan'")
    old.execute("""UPDATE files SET extra = '{"description": "e\\u0301"}' WHERE name = 'Untitled'""")
    with old.opened() as service:
        wire = InProcess(service, "http://svc.test")
        wire.token = "old-token"

        for q, name in (("name = '%C3%9Cb'", "U\u0308b"), ("fullText contains '%C3%A9'", "Untitled")):
            found = wire.send("GET", f"/storage/v3/files?q={q.replace(' ', '+')}").json["files"]
            assert [file["name"] for file in found] == [name]


def test_an_upgraded_database_has_the_tables_of_a_new_one(server: str, old: Place) -> None:
    old.opened().close()
    upgraded = old.execute(_COLUMNS), old.execute(_INDEXES)
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE new_one")
    new = Place(f"{server}/new_one", old.content.with_name("new"))
    try:
        new.opened().close()

        assert upgraded == (new.execute(_COLUMNS), new.execute(_INDEXES))
    finally:
        old.execute("DROP DATABASE new_one WITH (FORCE)")


def test_processes_that_start_at_once_upgrade_once(old: Place) -> None:
    with ThreadPoolExecutor(4) as pool:
        opening = [pool.submit(old.opened, shared=True) for _ in range(4)]
    services = [future.result() for future in opening]
    upgrades = [note for service in services for note in service.notes if "was upgraded" in note]
    for service in services:
        service.close()

    assert len(upgrades) == 1


def test_an_upgrade_waits_for_no_service_of_the_older_version(old: Place) -> None:
    with psycopg.connect(old.address, autocommit=True) as running:
        running.execute("SELECT pg_advisory_lock_shared(7566947, hashtext(current_schema()))")  # as that version does
        with pytest.raises(OSError, match="schema version 4 and is in use: stop all services of the older version"):
            old.opened(shared=True)

    assert version(old) == 4


def test_a_failed_upgrade_changes_nothing(old: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(driver: object) -> None:
        raise OSError("out of ink")

    monkeypatch.setattr(postgres_upgrades, "STEPS", (*postgres_upgrades.STEPS, fail))
    monkeypatch.setattr(postgres_upgrades, "VERSION", postgres_upgrades.VERSION + 1)
    before = old.execute(_COLUMNS)
    with pytest.raises(OSError, match="out of ink"):
        old.opened()

    assert old.execute(_COLUMNS) == before


def test_a_newer_database_is_refused_and_not_changed(place: Place) -> None:
    place.opened().close()
    newer = postgres_upgrades.VERSION + 1
    place.execute(f"UPDATE svc_store SET version = {newer}")
    with pytest.raises(OSError, match=f"schema version {newer}, .* versions 4 to {newer - 1}: use the version of"):
        place.opened()

    assert version(place) == newer


def test_a_process_that_connects_again_to_an_upgraded_database_stops_writing(place: Place) -> None:
    with workers(place, 1, "t") as (worker,):
        sent(worker, "POST", "/storage/v3/files", {})
        place.execute(f"UPDATE svc_store SET version = {postgres_upgrades.VERSION + 1}")
        place.disconnect()
        with pytest.raises(AssertionError, match=r"\(50"):
            sent(worker, "POST", "/storage/v3/files", {})

    assert place.execute("SELECT count(*) FROM files WHERE parent IS NOT NULL") == [(1,)]
