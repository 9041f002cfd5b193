"""Messages as they arrive at a receiver, with retries (Events, N-01 to N-10)."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from email.utils import parsedate_to_datetime
from itertools import pairwise
from typing import Any

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service
from tests import receivers
from tests.contract.calendar_client import BOB
from tests.contract.conftest import Answer, InProcess, Wire
from tests.contract.differences import choice
from tests.contract.watch_client import FOLDER, Watch, open_watch
from tests.patience import PATIENCE
from tests.receivers import dead_receiver


def advance(watch: Watch, duration: str) -> None:
    watch.wire.service.clock.advance(duration)  # type: ignore[union-attr]


@pytest.mark.spec(
    "N-01", "N-01a", "N-03", "N-05", "N-05a", "N-05b", "N-07", "N-07a", "N-07c", "N-04", "N-04b", "N-06", "N-06a"
)
def test_a_sync_message_of_a_file(watch: Watch) -> None:
    file = watch.wire.create()["id"]
    channel = watch.file(file, token="secret word ü").json
    (message,) = watch.receiver.wait_for(1)

    headers = {name: value for name, value in message.headers.items() if name.startswith("x-svc-")}
    assert headers.pop("x-svc-channel-token").encode("latin-1").decode() == "secret word ü"
    expires = parsedate_to_datetime(headers.pop("x-svc-channel-expiration"))
    assert int(expires.timestamp()) == channel["expiration"] // 1000
    assert headers == {
        "x-svc-channel-id": channel["id"],
        "x-svc-message-number": "1",
        "x-svc-resource-id": channel["resourceId"],
        "x-svc-resource-state": "sync",
        "x-svc-resource-uri": channel["resourceUri"],
    }
    assert (message.body, message.headers["content-length"]) == (b"", "0")
    assert "json" in message.headers["content-type"]
    with choice("Header values"):
        assert message.headers["content-type"] == "application/json; utf-8"
        assert message.headers["user-agent"] == "APIs-Svc"
    assert "authorization" not in message.headers
    assert message.path == "/hook"


@pytest.mark.spec("N-01", "N-01a", "N-07", "N-07b", "N-07c", "N-04", "N-04b", "N-06", "N-06a", "N-06c")
def test_messages_of_the_change_log(watch: Watch) -> None:
    channel = watch.changes().json
    (message,) = watch.receiver.wait_for(1)
    file = watch.wire.create()["id"]
    watch.patch(file, {"name": "x"})
    watch.patch(file, {"trashed": True})
    watch.wire.send("DELETE", f"/storage/v3/files/{file}")

    assert (message.resource_state, message.number, message.changed) == ("sync", 1, None)
    assert message.resource_id == channel["resourceId"]
    assert json.loads(message.body) == {"kind": "svc#changes"}
    assert "json" in message.headers["content-type"]
    assert message.headers["content-length"] == str(len(message.body))
    assert message.channel_token is None
    assert watch.messages() == [("channel-1", "sync", None), *[("channel-1", "change", None)] * 4]
    assert {notification.body for notification in watch.receiver.requests} == {b'{"kind": "svc#changes"}'}


@pytest.mark.policy(channel_lifetime=None)
@pytest.mark.spec("A8-01", "A8-01c", "N-05", "N-05a")
def test_a_channel_without_expiration_sends_no_expiration_header(watch: Watch) -> None:
    assert "expiration" not in watch.changes().json
    (message,) = watch.receiver.wait_for(1)
    assert message.channel_expiration is None
    assert "expiration" in watch.changes(expiration="9999999999999").json


@pytest.mark.spec("N-02")
def test_message_numbers_increase(watch: Watch) -> None:
    file = watch.wire.create()["id"]
    watch.file(file)
    for n in range(20):
        watch.patch(file, {"name": f"name {n}"})
    watch.messages()
    numbers = [notification.number for notification in watch.receiver.requests]

    assert (len(numbers), numbers[0]) == (21, 1)
    assert numbers == sorted(set(numbers))
    assert numbers != list(range(1, 22))


@pytest.mark.spec("N-04", "N-04a", "N-06", "N-06b")
def test_each_change_of_a_file_sends_its_state(watch: Watch) -> None:
    file = watch.wire.create()["id"]
    watch.file(file)
    assert watch.new_messages() == [("channel-1", "sync", None)]

    watch.patch(file, {"name": "renamed"})
    assert watch.new_messages() == [("channel-1", "update", "properties")]
    watch.patch(file, {"properties": {"lab": "7"}})
    assert watch.new_messages() == [("channel-1", "update", "properties")]
    watch.wire.send(
        "PATCH", f"/upload/storage/v3/files/{file}?uploadType=media", b"new", {"Content-Type": "text/plain"}
    )
    assert watch.new_messages() == [("channel-1", "update", "content,properties")]
    watch.patch(file, {"trashed": True})
    assert watch.new_messages() == [("channel-1", "trash", None)]
    watch.patch(file, {"trashed": True})
    assert watch.new_messages() == []
    watch.patch(file, {"trashed": False})
    assert watch.new_messages() == [("channel-1", "untrash", None)]
    watch.patch(file, {"trashed": True, "name": "twice"})
    assert watch.new_messages() == [("channel-1", "update", "properties"), ("channel-1", "trash", None)]
    assert watch.wire.send("DELETE", f"/storage/v3/files/{file}").status == 204
    assert watch.new_messages() == [("channel-1", "remove", None)]


@pytest.mark.spec("N-04", "N-04a", "N-06", "N-06b")
def test_parents_and_children(watch: Watch) -> None:
    first, second, file = watch.folder(), watch.folder(), watch.wire.create()["id"]
    watch.file(first)
    watch.file(second)
    watch.file(file)
    watch.new_messages()

    watch.patch(file, {}, f"?addParents={first}")
    assert sorted(watch.new_messages()) == [("channel-1", "update", "children"), ("channel-3", "update", "parents")]
    watch.patch(file, {"name": "moved"}, f"?addParents={second}")
    assert sorted(watch.new_messages()) == [
        ("channel-1", "update", "children"),
        ("channel-2", "update", "children"),
        ("channel-3", "update", "properties,parents"),
    ]
    watch.made({"name": "new", "parents": [first]})
    assert ("channel-1", "update", "children") in watch.new_messages()
    watch.wire.send("DELETE", f"/storage/v3/files/{file}")
    assert sorted(watch.new_messages()) == [("channel-2", "update", "children"), ("channel-3", "remove", None)]


@pytest.mark.spec("N-06", "N-06b")
def test_a_folder_takes_what_is_in_it_along(watch: Watch) -> None:
    folder = watch.folder()
    inside, trashed_before = (watch.made({"name": name, "parents": [folder]}) for name in "ab")
    watch.patch(trashed_before, {"trashed": True})
    watch.file(inside)
    watch.file(trashed_before)
    watch.new_messages()

    watch.patch(folder, {"trashed": True})
    assert watch.new_messages() == [("channel-1", "trash", None)]
    watch.patch(folder, {"trashed": False})
    assert watch.new_messages() == [("channel-1", "untrash", None)]
    watch.wire.send("DELETE", f"/storage/v3/files/{folder}")
    assert sorted(watch.new_messages()) == [("channel-1", "remove", None), ("channel-2", "remove", None)]


@pytest.mark.spec("N-10", "N-10a", "N-10b")
def test_channels_overlap_and_are_not_renewed(watch: Watch) -> None:
    file = watch.wire.create()["id"]
    first = watch.file(file).json
    watch.file(file)
    watch.patch(file, {"name": "for both"})
    watch.messages()
    watch.stop(first)
    watch.patch(file, {"name": "for one"})
    watch.messages()
    advance(watch, "2h")
    watch.patch(file, {"name": "late"})

    states = [(channel, state) for channel, state, _ in watch.messages()]
    assert [state for channel, state in states if channel == "channel-1"] == ["sync", "update"]
    assert [state for channel, state in states if channel == "channel-2"] == ["sync", "update", "update"]


def outcomes(rule: str, outcome: str, *statuses: int) -> list[Any]:
    return [pytest.param(status, outcome, marks=pytest.mark.spec("N-08", rule)) for status in statuses]


DELIVERED = outcomes("N-08a", "delivered", 200, 201, 202, 204, 102)
FAILED = outcomes("N-08c", "failed", 203, 206, 301, 302, 307, 304, 400, 401, 403, 404, 408, 410, 429, 501, 505, 599)


@pytest.mark.parametrize("status, outcome", [*DELIVERED, *FAILED])
def test_most_statuses_decide_at_once(watch: Watch, status: int, outcome: str) -> None:
    watch.receiver.answers = [status]
    watch.changes()
    advance(watch, "50m")

    assert watch.messages() == [("channel-1", "sync", None)]
    assert watch.deliveries("attempt", "status", "outcome") == [(1, status, outcome)]


@pytest.mark.spec("N-08", "N-08b")
@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_some_statuses_are_tried_again(watch: Watch, status: int) -> None:
    watch.receiver.answers = [status] * 2
    watch.changes()
    watch.wire.create()
    advance(watch, "1m")

    assert [message.number for message in watch.receiver.wait_for(4)][:3] == [1, 1, 1]  # the message behind it waits
    assert watch.deliveries("attempt", "status", "outcome") == [
        (1, status, "retry"), (2, status, "retry"), (3, 200, "delivered"), (1, 200, "delivered"),
    ]  # fmt: skip


@pytest.mark.spec("N-08", "N-08b")
def test_the_waits_double(watch: Watch) -> None:
    watch.receiver.answers = [503] * 9
    watch.changes()
    advance(watch, "50m")
    rows = watch.deliveries("attempt", "outcome", "due", "time")
    times = [datetime.fromisoformat(time) for *_, time in rows]
    waits = [(later - earlier).total_seconds() for earlier, later in pairwise(times)]

    assert [outcome for _, outcome, *_ in rows] == ["retry"] * 4 + ["failed"]
    assert all(due == time for *_, due, time in rows)
    assert all(0.75 * full <= wait <= full for wait, full in zip(waits, (1, 2, 4, 8), strict=True))


@pytest.mark.spec("A8-04", "A8-04b")
def test_a_bad_certificate_is_refused_and_reported(wire: Wire) -> None:
    """tests/unit/server/notifications/test_describe_error.py has the other kinds of bad certificates."""
    revoked, revocation_list = receivers.revoked()
    wire.service.trust(revocation_list)
    with open_watch(wire, context=revoked) as watch:
        assert watch.changes().status == 200
        advance(watch, "50m")

        assert not watch.receiver.requests
        ((attempt, status, outcome, error),) = watch.deliveries("attempt", "status", "outcome", "error")
        assert (attempt, status, outcome) == (1, None, "failed")
        assert "revoked" in error


@pytest.mark.spec("A8-05")
def test_a_domain_that_is_no_longer_registered_gets_no_message(watch: Watch) -> None:
    service, address = watch.wire.service, watch.receiver.address.replace("localhost", "127.0.0.1")
    before = service.snapshot()
    service.register_domain("127.0.0.1")
    watch.changes(address=address)
    watch.messages()
    service.restore(before)

    assert watch.changes(address=address).status == 401


@pytest.mark.spec("N-09", "N-09a", "N-09b")
@pytest.mark.parametrize("policy", [Policy(delivery_timeout=2 * PATIENCE)])
def test_dead_receivers_do_not_delay_others(service: Service) -> None:
    with ExitStack() as stack:
        watch = stack.enter_context(open_watch(InProcess(service, "http://svc.test")))
        file = watch.wire.create()["id"]
        for _ in range(40):
            assert watch.file(file, address=stack.enter_context(dead_receiver())).status == 200
        for _ in range(10):
            watch.file(file)
        watch.receiver.wait_for(10)  # long before the dead ones are given up
        watch.patch(file, {"name": "on"})

        assert len(watch.receiver.wait_for(20)) == 20
        assert not watch.deliveries("outcome").count("failed")


FILES = "/storage/v3/files"
MULTIPART = f"/upload{FILES}?uploadType=multipart"
CREATED = [("channel-1", "add", None), ("channel-1", "update", "children")]


@pytest.fixture
def folder(watch: Watch) -> str:
    """A folder with a channel on it, whose sync message has arrived."""
    folder = watch.folder()
    watch.file(folder)
    assert watch.new_messages() == [("channel-1", "sync", None)]
    return folder


TABLE, SPREADSHEET = b"a,b\n1,2\n", "application/vnd.svc-apps.spreadsheet"
CREATE: dict[str, Callable[[Wire, dict[str, Any]], Answer]] = {
    "by metadata": lambda wire, parents: wire.post_json(FILES, {"name": "empty.txt", **parents}),
    "a folder": lambda wire, parents: wire.post_json(FILES, {"mimeType": FOLDER, **parents}),
    "by multipart": lambda wire, parents: wire.multipart(MULTIPART, parents, TABLE, "text/csv"),
    "converted": lambda wire, parents: wire.multipart(
        MULTIPART, {"mimeType": SPREADSHEET, **parents}, TABLE, "text/csv"
    ),
    "resumable": lambda wire, parents: wire.put(wire.begin(parents), b"whole"),
    "with a pregenerated id": lambda wire, parents: wire.post_json(FILES, {"id": wire.generated_id(), **parents}),
    "copied": lambda wire, parents: wire.post_json(f"{FILES}/{wire.create()['id']}/copy", parents),
}


@pytest.mark.spec("N-12")
@pytest.mark.parametrize("create", CREATE)
def test_a_file_that_is_created_in_a_watched_folder_sends_add(watch: Watch, folder: str, create: str) -> None:
    assert CREATE[create](watch.wire, {"parents": [folder]}).status in (200, 201)

    with choice("A file that is created in a watched folder"):
        assert watch.new_messages() == CREATED


@pytest.mark.spec("N-12")
def test_a_resumable_upload_is_created_when_it_is_complete(watch: Watch, folder: str) -> None:
    uri = watch.wire.begin({"parents": [folder]})
    watch.wire.put(uri, b"x" * 262_144, "bytes 0-262143/262145")
    assert watch.new_messages() == []

    watch.wire.put(uri, b"x", "bytes 262144-262144/262145")
    with choice("A file that is created in a watched folder"):
        assert watch.new_messages() == CREATED
    watch.wire.put(uri, b"", "bytes */262145")
    assert watch.new_messages() == [], "a query of a complete upload creates nothing"


@pytest.mark.spec("N-12")
def test_a_channel_is_on_one_folder_and_reports_files_of_others(watch: Watch, folder: str) -> None:
    watch.wire.share(folder, BOB, "writer")
    assert watch.new_messages() == [("channel-1", "add", None)], "the folder is shared"
    created = {"name": "from Bob", "parents": [folder]}
    assert watch.wire.post_json(FILES, created, token=watch.wire.service.sign_in(BOB)).status == 200
    with choice("A file that is created in a watched folder"):
        assert watch.new_messages() == CREATED
    below = watch.folder(parents=[folder])
    watch.file(below)
    watch.new_messages()

    watch.made({"name": "deep.txt", "parents": [below]})

    with choice("A file that is created in a watched folder"):
        assert watch.new_messages() == [("channel-2", "add", None), ("channel-2", "update", "children")]


@pytest.mark.spec("N-12", "A8-08", "A8-08b")
def test_an_id_without_a_file_is_not_watched(watch: Watch) -> None:
    """A file that does not exist cannot be watched, so no channel can report its creation."""
    file_id = watch.wire.generated_id()

    with choice("A watch on a generated id without a file"):
        assert watch.file(file_id).status == 404
    watch.made({"id": file_id})
    assert watch.messages() == []
    assert watch.file(file_id).status == 200
