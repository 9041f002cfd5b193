"""The SQL statements of a chunk, a creation and a list, and the blocks in which a body is received."""

from __future__ import annotations

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
from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.client_connection import RequestReader

Q = 262_144
MAX_STATEMENTS_OF_A_CREATION = 11
"""With those of triggers and of the index of words; it was 15 when the words of each file were indexed at once."""

MAX_STATEMENTS_OF_A_LIST = {"files": 3, "events": 6}
"""With an empty cache of rows; for events one of them reads the number of the last removed event."""

MAX_COPIED_BYTES = 4096
"""Of the head of a request and the bytes of its body that arrive with it."""


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
def test_a_list_that_did_not_change_takes_few_statements(kind: str) -> None:
    with open_service(seed=0) as service:
        send = list_of(service, kind)
        send()
        service.sign_in("another@svc.example")  # empties the cache of rows
        statements = statements_of(service, send)

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
