"""The journal names the rule that decided each response."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from svc_notebooks.core import decision_ids
from svc_notebooks.core.policy import Policy
from tests.contract.conftest import Q, Wire

CONTENT = bytes(2 * Q + 100)
SIZE = len(CONTENT)
META_ONLY = ["storage.metadata.readonly"]
EVENT = {"start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}
EVENTS = "/calendar/v3/calendars/primary/events"

Asks = Callable[[Wire], Any]


@pytest.fixture
def way() -> str:
    """Run each test in-process and over a socket, because the journal is the same."""
    return "in-process"


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


# -- uploads -----------------------------------------------------------------------------------------------------------


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
        (lambda wire: wire.put(after_a_chunk(wire, "*"), b"", f"bytes */{Q}"), 200, decision_ids.TOTAL),
        (lambda wire: wire.put(wire.begin(), CONTENT, "bytes 1-0/5"), 400, decision_ids.CONTRADICTION),
        (lambda wire: wire.put(wire.begin(X_Upload_Content_Length="5"), b"1234"), 400, "A3-03"),
        (lambda wire: wire.put("/upload/storage/v3/files?uploadType=resumable&upload_id=x"), 404, "A3-14"),
        (lambda wire: wire.send("DELETE", wire.begin()), 499, decision_ids.CANCELLED),
    ],
)  # fmt: skip
def test_of_an_upload(wire: Wire, asks: Asks, status: int, by: str) -> None:
    asks(wire)

    assert decided(wire, status) == by


def test_of_a_finished_upload(wire: Wire) -> None:
    uri = wire.begin()
    wire.put(uri, CONTENT)

    deciders = []
    for method in ("PUT", "DELETE"):
        wire.send(method, uri, b"")
        deciders.append(decided(wire, 200))

    assert deciders == ["A3-18", decision_ids.FINISHED]


def test_of_a_404_on_a_session_uri(wire: Wire) -> None:
    """A 404 has three reasons, another user, a week of silence, and a deleted session."""
    uri, deciders = wire.begin(), []
    wire.send("PUT", uri, b"", token=wire.service.sign_in("bob@svc.example"))
    deciders.append(decided(wire, 404))
    wire.service.clock.advance("8d")

    for _ in range(2):
        wire.put(uri, b"", "bytes */*")
        deciders.append(decided(wire, 404))

    assert deciders == ["session_uri_is_enough", "A3-13", "A3-14"]


class TestStrict:
    @pytest.fixture
    def policy(self) -> Policy:
        return Policy(chunk_rule="strict", update_verbs=("PUT",), max_upload_size=3 * Q)

    def test_a_switch_is_named_where_it_decides(self, wire: Wire) -> None:
        put(wire, wire.begin(), 0, Q + 1)
        uneven = decided(wire, 400)
        wire.json_request("PATCH", f"/storage/v3/files/{wire.create()['id']}", {})
        verb = decided(wire, 405)
        wire.send("POST", "/upload/storage/v3/files?uploadType=media", bytes(3 * Q + 1))

        assert (uneven, verb, decided(wire, 413)) == ("chunk_rule", "update_verbs", "max_upload_size")


class TestPatchAlone:
    @pytest.fixture
    def policy(self) -> Policy:
        return Policy(update_verbs=("PATCH",))

    def test_a_put_that_begins_an_update_is_no_session_without_its_id(self, wire: Wire) -> None:
        files, deciders = "/upload/storage/v3/files", []
        for path, status in ((f"{files}/{wire.create()['id']}", 405), (files, 400)):
            wire.send("PUT", f"{path}?uploadType=resumable", b"")
            deciders.append(decided(wire, status))

        assert deciders == ["update_verbs", decision_ids.UNREADABLE]


def test_of_two_limits_with_one_status(wire: Wire) -> None:
    wire.post_json("/storage/v3/files", {"description": "x" * 1_100_000})

    assert decided(wire, 413) == "max_metadata_size"


# -- downloads ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers, status, by",
    [
        ({}, 200, "A6-01"),
        ({"Range": "bytes=1-2"}, 206, "A6-02"),
        ({"Range": "bytes=99-"}, 416, "A6-02"),
        ({"Range": "bytes=0-0,2-2"}, 200, "multi_range"),
        ({"Range": "lines=1-2"}, 200, "A6-01"),
    ],
)
def test_of_a_download(wire: Wire, headers: dict[str, str], status: int, by: str) -> None:
    wire.download(wire.create()["id"], **headers)

    assert decided(wire, status) == by


def test_of_a_flagged_file(wire: Wire) -> None:
    file_id = wire.create()["id"]
    wire.service.flag(file_id, abusive=True)

    wire.download(file_id)
    refused = decided(wire, 403)
    wire.send("GET", f"/storage/v3/files/{file_id}?alt=media&acknowledgeAbuse=true")

    assert (refused, decided(wire, 200)) == ("A6-03", "A6-03")


# -- who may -----------------------------------------------------------------------------------------------------------


def test_of_a_scope_that_is_missing(wire: Wire) -> None:
    """Content, events and other operations have rules of their own for one reason."""
    file_id, deciders = wire.create()["id"], []
    token = wire.service.sign_in(scopes=META_ONLY)
    content = f"/storage/v3/files/{file_id}?alt=media"
    for method, target in [("GET", content), ("POST", EVENTS), ("POST", "/storage/v3/files")]:
        answer = wire.send(method, target, b"", token=token)
        assert answer.error["reason"] == "insufficientPermissions"
        deciders.append(decided(wire, 403))

    assert deciders == ["T-03", "T-02", decision_ids.SCOPES_OF_FILES]


def test_of_a_file_that_is_not_there(wire: Wire) -> None:
    """Four calls have the same response, and a rule each."""
    deciders = []
    for method, target in [
        ("GET", "/storage/v3/files/nobody"),
        ("PUT", "/upload/storage/v3/files/nobody?uploadType=media"),
        ("POST", "/storage/v3/files/nobody/watch"),
        ("GET", "/storage/v2/files"),
    ]:
        wire.send(method, target, b"{}" if method == "POST" else b"")
        deciders.append(decided(wire, 404))

    assert deciders == ["T-04", "U-06", "A8-08", decision_ids.NOWHERE]


def test_of_a_request_without_a_token(wire: Wire) -> None:
    wire.send("GET", "/storage/v3/files", token=None)

    assert decided(wire, 401) == "T-01"


def test_of_another_users_channel(wire: Wire) -> None:
    wire.service.register_domain("hooks.example")
    body = {"id": "c", "type": "web_hook", "address": "https://hooks.example/in"}
    channel = wire.post_json("/storage/v3/changes/watch", body).json
    pair, bob = {name: channel[name] for name in ("id", "resourceId")}, wire.service.sign_in("bob@svc.example")
    opened, deciders = decided(wire, 200), []

    for value, token in [(pair, bob), ({**pair, "resourceId": "x"}, "own"), (pair, "own")]:
        wire.post_json("/storage/v3/channels/stop", value, token=token)
        deciders.append(decided(wire))

    assert (opened, deciders) == ("A9-01", ["A10-02", "A10-01", "A10-01"])


# -- what is wrong -----------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    "target, by",
    [
        ("/storage/v3/files?pageSize=5000", "max_page_size"),
        ("/storage/v3/files?q=", decision_ids.FAMILY),
        ("/storage/v3/files?q=name", decision_ids.UNREADABLE),
        ("/upload/storage/v3/files?uploadType=other", "U-02"),
    ],
)
def test_of_a_parameter(wire: Wire, target: str, by: str) -> None:
    wire.send("POST" if "upload" in target else "GET", target, b"")

    assert decided(wire) == by


def test_of_an_id_that_is_taken(wire: Wire) -> None:
    chosen = wire.send("GET", "/storage/v3/files/generateIds?count=1").json["ids"][0]
    native, deciders = "application/vnd.svc-apps.document", []
    for body in ({"id": chosen}, {"id": chosen}, {"id": "mine"}, {"id": chosen, "mimeType": native}):
        wire.post_json("/storage/v3/files", body)
        deciders.append(decided(wire))

    assert deciders == ["A4-01", "X-02", "L-01", "X-03"]


# -- faults ------------------------------------------------------------------------------------------------------------


@pytest.mark.spec("X-05", "X-05a")
def test_of_a_fault(wire: Wire) -> None:
    steps: list[Any] = [{"match": {"nth": 2}, "action": {"status": 503}}, {"match": {"nth": 3}, "action": {"delay": 0}}]
    with wire.service.faults(*steps):
        for _ in range(3):
            wire.send("GET", "/storage/v3/files/generateIds")

    rows = wire.service.journal()[-3:]
    assert [row["decided_by"].partition(" ")[0] for row in rows] == ["L-01", "fault", "L-01"]
    assert rows[1]["decided_by"].endswith("/0")  # the first step of its plan
    assert [bool(row["fault"]) for row in rows] == [False, True, True]


@pytest.mark.one_process("the test changes the code of its own process")
def test_an_internal_error_is_named_too(wire: Wire, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    monkeypatch.setattr("svc_notebooks.server.store.ids.Ids.blob", lambda self: 1 / 0)

    wire.send("GET", "/storage/v3/files/generateIds")

    assert decided(wire, 500) == decision_ids.INSIDE
