"""The statements that requests send to PostgreSQL: few round trips, and the same results as one by one."""

import json
from collections.abc import Iterator
from threading import Thread, current_thread, main_thread

import psycopg
import pytest

from svc_notebooks.server.service import Service
from svc_notebooks.server.store.engine import inserting
from svc_notebooks.server.store.postgres.connection import PostgresConnection
from svc_notebooks.server.store.schema import meta
from tests.contract.wire import InProcess
from tests.scale.conftest import Place

pytestmark = pytest.mark.scale

FILES = "/storage/v3/files"
EVENTS = "/calendar/v3/calendars/primary/events"
JSON = {"Content-Type": "application/json"}
ADD = inserting(meta, ("name", "value"))
VALUE = "SELECT value FROM meta WHERE name = :name"
SET = "UPDATE meta SET value = :value WHERE name = :name"


@pytest.fixture(params=[False, True], ids=["alone", "shared"])
def service(request: pytest.FixtureRequest, place: Place) -> Iterator[Service]:
    with place.opened(shared=request.param) as service:
        yield service


@pytest.fixture
def round_trips(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The statements of each round trip, by their first word."""
    sent = list[list[str]]()
    send = PostgresConnection._send

    def record(self, queue):
        if current_thread() is main_thread():  # not the threads that deliver messages
            sent.append([each.sql.split()[0] for each in queue])
        return send(self, queue)

    monkeypatch.setattr(PostgresConnection, "_send", record)
    return sent


def requests(service: Service) -> dict[str, object]:
    wire = InProcess(service, "http://svc.test")
    file = wire.send("POST", FILES, b'{"name": "x"}', JSON).json["id"]
    event = json.dumps({"start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}).encode()
    return {
        "metadata": lambda: wire.send("GET", f"{FILES}/{file}"),
        "change": lambda: wire.send("PATCH", f"{FILES}/{file}", b'{"starred": true}', JSON),
        "new file": lambda: wire.send("POST", FILES, b"{}", JSON),
        "new event": lambda: wire.send("POST", EVENTS, event, JSON),
    }


@pytest.mark.parametrize("name, most", [("metadata", 1), ("change", 4), ("new file", 3), ("new event", 5)])
def test_a_request_needs_few_round_trips(service: Service, round_trips: list[list[str]], name: str, most: int) -> None:
    """The last one of a request that writes waits for the disk. In a shared store, the first one reads the token."""
    most += service._context.store.is_shared
    request = requests(service)[name]
    assert request().status == 200
    round_trips.clear()

    assert request().status == 200
    assert len(round_trips) <= most, round_trips


def test_a_failed_statement_in_the_queue_rolls_back_the_transaction(service: Service) -> None:
    database = service._context.store.database
    with pytest.raises(psycopg.errors.UniqueViolation), database.transaction():  # noqa: PT012
        database.queue_change(ADD, {"name": "a", "value": "1"})
        database.queue_change(ADD, {"name": "a", "value": "2"})

    assert database.run(VALUE, {"name": "a"}) == []
    with database.transaction():
        database.queue_change(ADD, {"name": "a", "value": "3"})
    assert database.run(VALUE, {"name": "a"}) == [("3",)]


def test_a_connection_that_is_lost_during_a_transaction_is_replaced_for_the_next(service, place):
    database = service._context.store.database

    def write_and_lose() -> None:
        with database.transaction():
            assert database.change(ADD, {"name": "a", "value": "1"}) == 1
            place.disconnect()
            with pytest.raises(OSError, match="has ended the connection"):
                database.run(VALUE, {"name": "a"})
            database.queue_change(ADD, {"name": "b", "value": "1"})

    with pytest.raises(OSError, match="has ended the connection"):
        write_and_lose()
    with database.transaction():
        database.queue_change(ADD, {"name": "c", "value": "1"})

    assert [len(database.run(VALUE, {"name": name})) for name in ("a", "b", "c")] == [0, 0, 1]


def test_a_snapshot_has_the_rows_of_its_first_statement(service: Service) -> None:
    database = service._context.store.database
    database.change(ADD, {"name": "a", "value": "1"})
    seen = list[list[tuple[str, ...]]]()

    def read() -> None:
        seen.append([*database.run(VALUE, {"name": "a"})])
        if len(seen) == 1:
            changing = Thread(target=database.change, args=(SET, {"name": "a", "value": "2"}))
            changing.start()
            changing.join()
        seen.append([*database.run(VALUE, {"name": "b"}), *database.run(VALUE, {"name": "a"})])

    with database.reading():
        read()
    with database.reading():
        read()

    assert seen == [[("1",)], [("1",)], [("2",)], [("2",)]]


def test_a_token_that_another_process_has_revoked_or_changed_is_refused(place: Place) -> None:
    with place.opened(shared=True) as first, place.opened(shared=True) as second:
        first.sign_in(token="t")
        wire = InProcess(second, "http://svc.test")
        wire.token = "t"
        targets = (FILES, "/calendar/v3/colors", f"{FILES}?pageSize=0")  # the last two need no row
        assert [wire.send("GET", target).status for target in targets] == [200, 200, 400]

        first.sign_in(token="t", scopes=["storage.readonly"])
        assert wire.send("GET", FILES).status == 200
        for target in targets:
            first.sign_in(token="t")
            wire.send("GET", FILES)
            wire.send("GET", FILES)
            place.execute("DELETE FROM tokens")
            assert wire.send("GET", target).status == 401
        first.sign_in(token="t")
        wire.send("GET", FILES)
        place.execute("DELETE FROM tokens")
        assert wire.send("POST", FILES, b"{}", JSON).status == 401
        assert place.execute("SELECT count(*) FROM files WHERE parent IS NOT NULL") == [(0,)]
