import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from svc_notebooks import Session
from svc_notebooks.client.transport.recorder import KEPT, Recorder
from svc_notebooks.core.http.messages import Headers, Response
from svc_notebooks.server.dispatch.journal import Journal

NOW = datetime(2026, 11, 2, tzinfo=UTC)
JSON = Headers([("Content-Type", "application/json")])
LONG = b'{"name": "' + b"x" * 5000 + b'"}'


def session(recorder: Recorder, answer: bytes | Iterator[bytes] = b"{}") -> Session:
    return Session("https://api.example", "T", handler=lambda request: Response(200, JSON, answer), recorder=recorder)


def test_the_journal_keeps_the_last_rows_and_fewer_of_them_with_a_long_url():
    few, journal = Journal(3, 1_000_000), Journal(100, 20_000)
    for _ in range(100):
        few.open(NOW, "GET", "/x", "")
        journal.open(NOW, "GET", "/x", "")
    short = len(journal.rows())
    assert [row["n"] for row in few.rows()] == [98, 99, 100]

    journal.open(NOW, "GET", "/" + "x" * 15_000, "")

    assert len(journal.rows()) < short < 100


def test_the_record_keeps_the_last_exchanges_and_is_bounded_by_bytes():
    few, recorder = Recorder(limit=3), Recorder(most_bytes=50_000)
    for talk in (session(few), session(recorder, LONG)):
        for _ in range(100):
            talk.call("GET", "/x")

    assert [exchange.n for exchange in few] == [98, 99, 100]
    assert 5 < len(recorder) < 20
    assert recorder[-1].n == 100
    assert len(recorder[-1].response_body or "") == KEPT


@pytest.mark.parametrize("length", [1, 2000])
def test_memory_does_not_grow_with_the_number_of_requests(length):
    journal, recorder = Journal(200, 100_000), Recorder(limit=200, most_bytes=100_000)
    path = "/" + "x" * length

    def ask(times):
        for _ in range(times):
            journal.open(NOW, "GET", path + "", "")
            entry = recorder.begin("GET", f"https://x{path}", JSON, NOW)
            entry.answer(Response(200, JSON), 0.0)
            entry.record_received(LONG)
            entry.end(0.0)

    ask(1_000)
    tracemalloc.start()
    ask(1_000)
    before = tracemalloc.get_traced_memory()[0]
    ask(3_000)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()

    assert grown < 30_000
