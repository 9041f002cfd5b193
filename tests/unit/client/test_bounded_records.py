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


def test_the_journal_keeps_the_last_rows():
    journal = Journal(3, 1_000_000)
    for _ in range(5):
        journal.open(NOW, "GET", "/x", "")

    assert [row["n"] for row in journal.rows()] == [3, 4, 5]


def test_a_long_url_removes_more_rows_than_a_short_one():
    journal = Journal(100, 20_000)
    for _ in range(100):
        journal.open(NOW, "GET", "/x", "")
    short = len(journal.rows())
    journal.open(NOW, "GET", "/" + "x" * 15_000, "")

    assert len(journal.rows()) < short < 100


def test_the_record_keeps_the_last_exchanges():
    recorder = Recorder(limit=3)
    talk = session(recorder)
    for _ in range(5):
        talk.call("GET", "/x")

    assert [exchange.n for exchange in recorder] == [3, 4, 5]


def test_the_record_is_bounded_by_bytes():
    recorder = Recorder(most_bytes=50_000)
    talk = session(recorder, LONG)
    for _ in range(100):
        talk.call("GET", "/x")

    assert 5 < len(recorder) < 20
    assert recorder[-1].n == 100
    assert len(recorder[-1].response_body or "") == KEPT


@pytest.mark.parametrize("length", [1, 2000])
def test_memory_does_not_grow_with_the_number_of_requests(length: int):
    """A few thousand requests take no more memory than a thousand."""
    journal, recorder = Journal(200, 100_000), Recorder(limit=200, most_bytes=100_000)
    path, now = "/" + "x" * length, NOW

    def ask(times: int) -> None:
        for _ in range(times):
            journal.open(now, "GET", path + "", "")
            entry = recorder.begin("GET", f"https://x{path}", JSON, now)
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
