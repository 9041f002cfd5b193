"""The state `add` when a file is created in a watched folder (N-12)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.contract.calendar_client import BOB
from tests.contract.conftest import Wire
from tests.contract.differences import choice
from tests.contract.watch_client import FOLDER, Watch, open_watch

UPLOAD = "/upload/storage/v3/files"
CREATED = [("channel-1", "add", None), ("channel-1", "update", "children")]


@pytest.fixture
def watch(wire: Wire) -> Iterator[Watch]:
    with open_watch(wire) as watch:
        yield watch


@pytest.fixture
def folder(watch: Watch) -> str:
    """A folder with a channel on it, whose sync message has arrived."""
    folder = watch.folder()
    watch.file(folder)
    assert watch.new_messages() == [("channel-1", "sync", None)]
    return folder


def multipart(wire: Wire, metadata: dict[str, Any], content: bytes = b"a,b\n1,2\n", kind: str = "text/csv") -> None:
    parts = [
        b"--x\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n" + json.dumps(metadata).encode(),
        b"--x\r\nContent-Type: " + kind.encode() + b"\r\n\r\n" + content,
        b"--x--",
    ]
    headers = {"Content-Type": "multipart/related; boundary=x"}
    answer = wire.send("POST", f"{UPLOAD}?uploadType=multipart", b"\r\n".join(parts), headers)
    assert answer.status == 200, answer.body


def by_metadata(wire: Wire, folder: str) -> None:
    wire.post_json("/storage/v3/files", {"name": "empty.txt", "parents": [folder]})


def a_folder(wire: Wire, folder: str) -> None:
    wire.post_json("/storage/v3/files", {"mimeType": FOLDER, "parents": [folder]})


def by_multipart(wire: Wire, folder: str) -> None:
    multipart(wire, {"parents": [folder]})


def converted(wire: Wire, folder: str) -> None:
    multipart(wire, {"parents": [folder], "mimeType": "application/vnd.svc-apps.spreadsheet"})


def resumable(wire: Wire, folder: str) -> None:
    assert wire.put(wire.begin({"parents": [folder]}), b"whole").status in (200, 201)


def with_a_pregenerated_id(wire: Wire, folder: str) -> None:
    file_id = wire.send("GET", "/storage/v3/files/generateIds?count=1").json["ids"][0]
    wire.post_json("/storage/v3/files", {"id": file_id, "parents": [folder]})


def copied(wire: Wire, folder: str) -> None:
    file = wire.create()["id"]
    assert wire.post_json(f"/storage/v3/files/{file}/copy", {"parents": [folder]}).status == 200


@pytest.mark.spec("N-12")
@pytest.mark.parametrize(
    "create", [by_metadata, a_folder, by_multipart, converted, resumable, with_a_pregenerated_id, copied]
)
def test_a_file_that_is_created_in_a_watched_folder_sends_add(
    watch: Watch, folder: str, create: Callable[[Wire, str], None]
) -> None:
    create(watch.wire, folder)

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
def test_a_channel_is_on_one_folder_and_not_on_those_above_or_below(watch: Watch, folder: str) -> None:
    below = watch.folder(parents=[folder])
    watch.file(below)
    watch.new_messages()

    watch.made({"name": "deep.txt", "parents": [below]})

    with choice("A file that is created in a watched folder"):
        assert watch.new_messages() == [("channel-2", "add", None), ("channel-2", "update", "children")]


@pytest.mark.spec("N-12")
def test_a_channel_on_a_shared_folder_reports_files_of_others(watch: Watch, folder: str) -> None:
    body = {"type": "user", "role": "writer", "emailAddress": BOB}
    assert watch.wire.post_json(f"/storage/v3/files/{folder}/permissions", body).status == 200
    assert watch.new_messages() == [("channel-1", "add", None)], "the folder is shared"
    bob = watch.wire.service.sign_in(BOB)

    created = watch.wire.post_json("/storage/v3/files", {"name": "from Bob", "parents": [folder]}, token=bob)

    assert created.status == 200
    with choice("A file that is created in a watched folder"):
        assert watch.new_messages() == CREATED


@pytest.mark.spec("N-12", "A8-08", "A8-08b")
def test_an_id_without_a_file_is_not_watched(watch: Watch) -> None:
    """A file that does not exist cannot be watched, so no channel can report its creation."""
    file_id = watch.wire.send("GET", "/storage/v3/files/generateIds?count=1").json["ids"][0]

    with choice("A watch on a generated id without a file"):
        assert watch.file(file_id).status == 404
    watch.made({"id": file_id})
    assert watch.messages() == []
    assert watch.file(file_id).status == 200
