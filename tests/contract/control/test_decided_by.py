from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.conftest import Q, Wire

CONTENT = bytes(2 * Q + 100)
SIZE = len(CONTENT)
META_ONLY = ["storage.metadata.readonly"]
EVENT = {"start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}
EVENTS = "/calendar/v3/calendars/primary/events"

Asks = Callable[[Wire], Any]


def decided(wire: Wire, status: int | None = None) -> str:
    """Return the rule that decided the last response, after a check of its status."""
    row = wire.service.journal()[-1]
    assert status in (None, row["status"])
    return row["decided_by"]


def chunk(first: int, stop: int, total: int | str = SIZE) -> str:
    return f"bytes {first}-{stop - 1}/{total}"


def put(wire: Wire, uri: str, first: int, stop: int, total: int | str = SIZE) -> None:
    wire.put(uri, CONTENT[first:stop], chunk(first, stop, total))


def after_a_chunk(wire: Wire, total: int | str = SIZE) -> str:
    uri = wire.begin()
    put(wire, uri, 0, Q, total)
    return uri


@pytest.mark.parametrize(
    "asks, status, by",
    [
        (lambda wire: wire.create(), 200, "A1-01"),
        (lambda wire: wire.begin(), 200, "A3-01"),
        (lambda wire: wire.post_json("/storage/v3/files", {}), 200, "A4-01"),
        (lambda wire: wire.put(wire.begin(), CONTENT), 200, "A3-05"),
        (lambda wire: wire.put(wire.begin(), b""), 200, "A3-16"),
        (lambda wire: put(wire, wire.begin(), 0, Q), 308, "A3-06"),
        (lambda wire: put(wire, wire.begin(), 0, Q + 1), 308, "chunk_rule"),
        (lambda wire: put(wire, wire.begin(), 0, Q, "*"), 308, "A3-15"),
        (lambda wire: put(wire, wire.begin(), 0, Q - 1), 400, "A3-10"),
        (lambda wire: put(wire, after_a_chunk(wire), 0, 2 * Q), 308, "A3-11"),
        (lambda wire: put(wire, after_a_chunk(wire), 2 * Q, SIZE), 503, "A3-11"),
        (lambda wire: put(wire, after_a_chunk(wire), Q, SIZE), 200, "A3-08"),
        (lambda wire: wire.put(after_a_chunk(wire), b"", f"bytes */{SIZE}"), 308, "A3-09"),
        (lambda wire: wire.put(after_a_chunk(wire), b"", f"bytes */{Q}"), 308, "A3-09"),
        (
            lambda wire: wire.put(after_a_chunk(wire, "*"), b"", f"bytes */{Q}"),
            200,
            "A status query with another total",
        ),
        (lambda wire: wire.put(wire.begin(), CONTENT, "bytes 1-0/5"), 400, "A contradictory Content-Range"),
        (lambda wire: wire.put(wire.begin(X_Upload_Content_Length="5"), b"1234"), 400, "A3-03"),
        (lambda wire: wire.put("/upload/storage/v3/files?uploadType=resumable&upload_id=x"), 404, "A3-14"),
        (lambda wire: wire.send("DELETE", wire.begin()), 499, "A cancelled upload"),
    ],
)  # fmt: skip
def test_of_an_upload(wire: Wire, asks: Asks, status: int, by: str) -> None:
    asks(wire)

    assert decided(wire, status) == by


def test_of_a_scope_that_is_missing(wire: Wire) -> None:
    """Content, events and other operations have rules of their own for one reason."""
    file_id, deciders = wire.create()["id"], []
    token = wire.service.sign_in(scopes=META_ONLY)
    content = f"/storage/v3/files/{file_id}?alt=media"
    for method, target in [("GET", content), ("POST", EVENTS), ("POST", "/storage/v3/files")]:
        answer = wire.send(method, target, b"", token=token)
        assert answer.error["reason"] == "insufficientPermissions"
        deciders.append(decided(wire, 403))

    assert deciders == ["T-03", "T-02", "Scopes for files"]


@pytest.mark.parametrize(
    "fields, by",
    [
        ({"start": None}, "E-02"),
        ({"start": {"date": "2 November"}}, "E-03"),
        ({"end": {"date": "2026-11-01"}}, "E-05"),
        ({"attendees": [{"email": "nobody"}]}, "E-07"),
        ({"attendees": [{"email": "a@b.example"}, {"email": "b@b.example", "responseStatus": "maybe"}]}, "E-22"),
        ({"attendees": [{"email": "a@b.example", "additionalGuests": -1}]}, "A negative number of additional guests"),
        ({"gadget": {"display": "large"}}, "gadget.display"),
        ({"sequence": -1}, "A negative sequence"),
        ({"sequence": 2**31}, "Integers beyond 32 bits"),
        ({"extendedProperties": {"private": {"a": 5}}}, "Values of extended properties and gadget preferences"),
        (
            {"reminders": {"useDefault": True, "overrides": [{"method": "popup", "minutes": 5}]}},
            "Reminder overrides with useDefault",
        ),
        ({"conferenceData": {"createRequest": {"conferenceSolutionKey": {}}}}, "A createRequest without a requestId"),
        ({"conferenceData": {"conferenceId": "abc"}}, "Conference data beyond createRequest"),
        ({"conferenceData": "abc"}, "E-09"),
        ({"conferenceData": {"createRequest": {"requestId": ""}}}, "A createRequest without a requestId"),
        ({"recurrence": ["RRULE:FREQ=SOMETIMES"]}, "E-12"),
        ({"reminders": {"overrides": [{"method": "popup", "minutes": 50_000}]}}, "E-13"),
        ({"source": {"url": "ftp://x.example"}}, "E-14"),
        ({"colorId": "99"}, "E-24"),
        ({"summary": 5}, "A4-02"),
    ],
)
def test_of_a_field_of_an_event(wire: Wire, fields: dict[str, Any], by: str) -> None:
    event = {name: value for name, value in {**EVENT, **fields}.items() if value is not None}

    wire.post_json(f"{EVENTS}?conferenceDataVersion=1", event)

    assert decided(wire, 400) == by


@pytest.mark.one_process("the test changes the code of its own process")
def test_an_internal_error_is_named_too(wire: Wire, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    monkeypatch.setattr("svc_notebooks.server.store.ids.Ids.blob", lambda self: 1 / 0)

    wire.send("GET", "/storage/v3/files/generateIds")

    assert decided(wire, 500) == "Internal errors"
