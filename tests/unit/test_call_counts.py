"""The calls of the package's own functions for one chunk of an upload, and for one notification."""

from __future__ import annotations

import gc
import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from sqlalchemy.sql.compiler import SQLCompiler

import svc_notebooks as svc
from svc_notebooks.client.notifications.inbox import Inbox
from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.server.files.conversion import converter_of
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.request_reader import RequestReader

Q = 262_144
PACKAGE = str(Path(svc.__file__).parent)

MAX_CALLS_OF_A_CHUNK = 120
"""Of a further chunk in a run, with its progress; it was 293."""

MAX_CALLS_OF_SEND_CHUNK = 132
"""Of a further chunk by hand, with the row of its history as a frame; it was 342."""

MAX_CALLS_OF_AN_EXPORT = 425
"""With the progress and the columns of a batch; it was 666."""

MAX_DEPTH = 20
"""It was 26."""

MAX_STATEMENTS_OF_A_CREATION = 11
"""With those of triggers and of the index of words; it was 15 when the words of each file were indexed at once."""

MAX_CALLS_OF_A_CREATION = 182
"""Of the service for a simple upload; it was 213."""

MAX_CALLS_OF_A_LIST = {"files": 278, "events": 414}
"""Of a list of 20 files or events that did not change; it was 358 and 1083."""

MAX_STATEMENTS_OF_A_LIST = {"files": 3, "events": 5}
"""With an empty cache of rows; for events it was 7."""

MAX_COPIED_BYTES = 4096
"""Of the head of a request and the bytes of its body that arrive with it."""

MAX_CALLS_OF_A_NOTIFICATION = 100
"""From the change of a file to the answer of its receiver, beyond those of an unwatched file; it was 176."""


def count_calls(work: Callable[[], object]) -> tuple[int, int]:
    """Return how many calls of the package the work makes in this thread, and how deep they are nested."""
    calls = deepest = 0

    def profile(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal calls, deepest
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            calls += 1
            deepest = max(deepest, depth_of(frame))

    before = sys.getprofile()
    gc.collect()
    gc.disable()  # a finalizer of an earlier test would be counted
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return calls, deepest


def depth_of(frame: FrameType | None) -> int:
    depth = 0
    while frame is not None:
        depth += frame.f_code.co_filename.startswith(PACKAGE)
        frame = frame.f_back
    return depth


def calls_of_a_run(chunks: int) -> int:
    upload = svc.start_upload(bytes(chunks * Q), name="a.bin", chunk_size=Q)
    return count_calls(upload.run)[0]


def test_a_further_chunk_of_a_run_takes_few_calls() -> None:
    svc.sandbox()
    calls_of_a_run(3)  # what is made once and kept

    assert calls_of_a_run(4) - calls_of_a_run(3) <= MAX_CALLS_OF_A_CHUNK


def test_a_chunk_by_hand_takes_few_calls_that_are_not_deep() -> None:
    svc.sandbox()
    upload = svc.start_upload(bytes(3 * Q), name="a.bin", chunk_size=Q)
    upload.send_chunk()  # makes what is kept

    calls, depth = count_calls(upload.send_chunk)

    assert calls <= MAX_CALLS_OF_SEND_CHUNK
    assert depth <= MAX_DEPTH


def test_an_export_takes_few_calls(tmp_path: Path) -> None:
    lab = svc.sandbox()
    converter_of(lab.service.policy).close()  # an idle process of an earlier test would take a call
    table = svc.upload(b"a,b", name="table.csv", convert_to="spreadsheet")
    svc.export(table, "csv", tmp_path / "first.csv")  # reads the formats of the service, which are kept

    calls, _ = count_calls(lambda: svc.export(table, "csv", tmp_path / "second.csv"))

    assert calls <= MAX_CALLS_OF_AN_EXPORT


def calls_of_a_change(*, watched: bool) -> int:
    """Return the calls of renaming a file and delivering what is due, with a receiver that keeps the messages."""
    with open_service(seed=0, background=False) as service:
        headers = Headers([("Authorization", f"Bearer {service.sign_in()}"), ("Content-Type", "application/json")])
        inbox = Inbox(service.names, service.clock)

        def call(method: str, path: str, body: dict[str, str]) -> Any:
            url = f"http://svc.local/storage/v3/{path}"
            response = service.handle(Request(method, url, headers, json.dumps(body).encode()))
            assert response.status == 200
            return json.loads(response.body)

        def rename(name: str) -> None:
            call("PATCH", f"files/{file_id}", {"name": name})
            service.deliver()

        file_id = call("POST", "files", {"name": "a"})["id"]
        if watched:
            service.register_domain("hooks.example")
            service.receive_at("https://hooks.example/", lambda request: inbox.receive(request)[0])
            channel = {"id": "c", "type": "web_hook", "address": "https://hooks.example/"}
            call("POST", f"files/{file_id}/watch", channel)
        rename("b")  # what is made once and kept
        calls, _ = count_calls(lambda: rename("c"))
        assert len(inbox.messages()) == (3 if watched else 0)
        return calls


def test_a_notification_takes_few_calls() -> None:
    assert calls_of_a_change(watched=True) - calls_of_a_change(watched=False) <= MAX_CALLS_OF_A_NOTIFICATION


def statements_of(service: Service, work: Callable[[], object]) -> list[str]:
    """Return the first words of the statements that change the database of a service."""
    statements: list[str] = []
    driver = service._context.store._database.driver
    driver.set_trace_callback(lambda sql: statements.append(" ".join(sql.split()[:3])))
    try:
        work()
    finally:
        driver.set_trace_callback(None)
    return statements


def test_a_chunk_takes_two_statements_and_one_commit(tmp_path: Path) -> None:
    with svc.sandbox(tmp_path / "store") as lab:
        upload = svc.start_upload(bytes(3 * Q), name="a.bin", chunk_size=Q)
        upload.send_chunk()

        statements = statements_of(lab.service, upload.send_chunk)

    assert statements == ["BEGIN IMMEDIATE", "UPDATE sessions SET", "UPDATE rope SET", "COMMIT"]


def test_a_simple_upload_has_one_commit(tmp_path: Path) -> None:
    with svc.sandbox(tmp_path / "store") as lab:
        svc.upload(b"a", name="a.bin")

        statements = statements_of(lab.service, lambda: svc.upload(b"b", name="b.bin"))

    assert statements.count("COMMIT") == 1
    assert len(statements) <= MAX_STATEMENTS_OF_A_CREATION


def test_a_simple_upload_takes_few_calls_and_statements_of_the_service() -> None:
    url = "http://svc.local/upload/storage/v3/files?uploadType=media"
    with open_service(seed=0) as service:
        headers = Headers([("Authorization", f"Bearer {service.sign_in()}"), ("Content-Length", "1024")])

        def create() -> None:
            assert service.handle(Request("POST", url, headers, bytes(1024))).status == 200

        create()  # what is made once and kept
        calls, _ = count_calls(create)
        statements = statements_of(service, create)

    assert calls <= MAX_CALLS_OF_A_CREATION
    assert len(statements) <= MAX_STATEMENTS_OF_A_CREATION


def list_of(service: Service, kind: str) -> Callable[[], object]:
    """Return a function that lists 20 files or events of a new user."""
    headers = Headers([("Authorization", f"Bearer {service.sign_in()}"), ("Content-Type", "application/json")])
    path = {"files": "/storage/v3/files", "events": "/calendar/v3/calendars/primary/events"}[kind]
    day = {"start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}
    for number in range(21):
        body = json.dumps({"name": f"{number}"} if kind == "files" else day).encode()
        assert service.handle(Request("POST", f"http://svc.local{path}", headers, body)).status == 200
    size = "pageSize" if kind == "files" else "maxResults"
    return lambda: service.handle(Request("GET", f"http://svc.local{path}?{size}=20", headers))


@pytest.mark.parametrize("kind", ["files", "events"])
def test_a_list_that_did_not_change_takes_few_calls_and_statements(kind: str) -> None:
    with open_service(seed=0) as service:
        send = list_of(service, kind)
        send()
        service.sign_in("another@svc.example")  # empties the cache of rows
        calls, _ = count_calls(send)
        service.sign_in("third@svc.example")
        statements = statements_of(service, send)

    assert calls <= MAX_CALLS_OF_A_LIST[kind]
    assert len(statements) <= MAX_STATEMENTS_OF_A_LIST[kind]


def test_a_body_is_received_in_large_blocks_without_copies() -> None:
    ours, theirs = socket.socketpair()
    head = b"PUT / HTTP/1.1\r\n\r\n"
    with ours, theirs:
        ours.settimeout(0)
        reader = RequestReader(ours)
        theirs.sendall(head + bytes(65_536))
        reader.collect()
        reader.take_head()
        copied, block = reader.read1(Q), reader.read1(Q)

    assert len(head + copied) <= MAX_COPIED_BYTES
    assert len(copied + block) == 65_536


def test_a_second_sandbox_compiles_no_statement() -> None:
    compiled: list[str] = []

    def profile(frame: FrameType, event: str, arg: Any) -> None:
        if event == "call" and frame.f_code is SQLCompiler.__init__.__code__:
            compiled.append(str(frame.f_locals["statement"]))

    def first_answer() -> None:
        with svc.sandbox():
            svc.files()

    first_answer()
    sys.setprofile(profile)
    try:
        first_answer()
    finally:
        sys.setprofile(None)

    assert compiled == []
