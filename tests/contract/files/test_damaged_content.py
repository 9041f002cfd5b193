"""Responses about stored content that is missing, too short, or changed. A 200 never has wrong content."""

import os
from collections.abc import Callable, Iterator
from http.client import IncompleteRead
from pathlib import Path
from random import Random

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.store import contents as server_content
from tests.contract.conftest import OverSocket, Wire
from tests.contract.wire import read_to_end

PART = 1000
CONTENT = Random(15).randbytes(4500)  # four whole parts and a half


def truncate(part: Path) -> None:
    os.truncate(part, part.stat().st_size - 1)


def corrupt(part: Path) -> None:
    stored = part.read_bytes()
    part.write_bytes(stored[:7] + bytes([stored[7] ^ 1]) + stored[8:])


DAMAGES = {
    "missing": (Path.unlink, "is missing"),
    "truncated": (truncate, "instead of"),
    "rotten": (corrupt, "wrong checksum"),
}
damages = pytest.mark.parametrize("damage, problem", DAMAGES.values(), ids=DAMAGES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def service(folder: Path) -> Iterator[Service]:
    with open_service(folder, seed=0, policy=Policy(part_size=PART, chunk_quantum=PART)) as service:
        yield service


def parts_of(folder: Path) -> list[Path]:
    """Return the stored parts in the order in which they were written."""
    files = [path for path in (folder / "parts").glob("??/*") if path.is_file()]
    return sorted(files, key=lambda path: CONTENT.find(path.read_bytes()))


def damaged_file(wire: Wire, folder: Path, damage: Callable[[Path], None], number: int = 2) -> str:
    """Upload a file, damage one of its parts on the disk, and return its id."""
    file_id: str = wire.create(CONTENT)["id"]
    damage(parts_of(folder)[number])
    return file_id


@damages
@pytest.mark.choice("Damaged content or database")
def test_a_download_is_refused_and_a_range_needs_only_its_own_parts(wire, folder, damage, problem, caplog):
    file_id = damaged_file(wire, folder, damage)

    answer = wire.download(file_id)

    assert (answer.status, answer.error["reason"]) == (500, "contentDamaged")
    assert all(words in answer.error["message"] for words in (file_id, problem, "This request changed nothing"))
    assert any(file_id in record.message for record in caplog.records)
    assert wire.download(file_id, Range="bytes=0-1999").body == CONTENT[:2000]
    assert wire.download(file_id, Range="bytes=3000-").body == CONTENT[3000:]
    assert wire.download(file_id, Range="bytes=1999-2000").status == 500


@damages
def test_an_export_is_refused(wire: Wire, folder: Path, damage: Callable[[Path], None], problem: str) -> None:
    metadata = {"name": "Report", "mimeType": wire.service.names.native("document")}
    made = wire.multipart("/upload/storage/v3/files?uploadType=multipart", metadata, b"words", "text/plain")
    assert made.status == 200, made.body
    damage(next((folder / "parts").glob("??/*")))

    answer = wire.send("GET", f"/storage/v3/files/{made.json['id']}/export?mimeType=text/plain")

    assert (answer.status, answer.error["reason"]) == (500, "contentDamaged")
    assert "Report" in answer.error["message"]


@damages
def test_damaged_bytes_have_no_checksums(wire, folder, damage, problem):
    target = "/upload/storage/v3/files?uploadType=media"
    file_id = wire.send("POST", target, CONTENT).json["id"]  # whose answer has asked for no checksum
    part = parts_of(folder)[2]
    stored = part.read_bytes()
    damage(part)

    damaged = wire.send("GET", f"/storage/v3/files/{file_id}?fields=*")
    listed = wire.send("GET", "/storage/v3/files?fields=*")
    part.write_bytes(stored)
    restored = wire.send("GET", f"/storage/v3/files/{file_id}?fields=*")

    assert (damaged.status, listed.status) == (200, 200)
    assert "md5Checksum" not in damaged.json
    assert [file["id"] for file in listed.json["files"]] == [file_id]
    assert restored.json["md5Checksum"] == wire.create(CONTENT)["md5Checksum"]


@damages
def test_other_files_and_all_changes_go_on(wire, folder, damage, problem):
    file_id = damaged_file(wire, folder, damage)
    other = wire.create(b"whole")["id"]

    renamed = wire.json_request("PATCH", f"/storage/v3/files/{file_id}?fields=*", {"name": "broken"})
    again = wire.send("PUT", f"/upload/storage/v3/files/{file_id}?uploadType=media", CONTENT)

    assert (renamed.status, renamed.json["name"]) == (200, "broken")
    assert again.status == 200
    assert (wire.download(other).body, wire.download(file_id).body) == (b"whole", CONTENT)


def test_somebody_elses_copy_is_not_named(wire: Wire, folder: Path) -> None:
    """A copy shares the content of its original, and the response names only the file of the caller."""
    original = wire.create(CONTENT)["id"]
    wire.share(original, "bob@svc.example")
    bob = wire.service.sign_in("bob@svc.example")
    copied = wire.post_json(f"/storage/v3/files/{original}/copy", {"name": "secret plans"}, token=bob)
    assert copied.status == 200, copied.body
    corrupt(parts_of(folder)[0])

    message = wire.download(original).error["message"]

    assert original in message
    assert "secret plans" not in message


@pytest.mark.one_process("the test changes the code of its own process")
@pytest.mark.parametrize("way", ["socket"])
def test_later_damage_cuts_the_connection_and_is_then_refused(wire, folder, monkeypatch):
    """The service verifies one part before a response begins, as for contents of many gigabytes."""
    monkeypatch.setattr(server_content, "_CHECKED_AT_ONCE", 1)
    file_id = damaged_file(wire, folder, corrupt, 3)

    with pytest.raises(IncompleteRead) as cut:  # and no wait for the rest
        wire.download(file_id)

    assert cut.value.partial == CONTENT[:3000], "no byte of a damaged part"
    assert wire.download(file_id, Range="bytes=3000-").error["reason"] == "contentDamaged"
    truncate(parts_of(folder)[4])
    assert wire.download(file_id).status == 500, "a length is compared however large the content is"


@pytest.mark.one_process("the test changes the code of its own process")
def test_a_response_that_ends_early_closes_its_connection(service, base_url, monkeypatch):
    """A client with a persistent connection sees the end instead of waiting for the rest."""
    wire = OverSocket(service, base_url)
    file_id = wire.create(CONTENT)["id"]
    monkeypatch.setattr(server_content, "_blocks", lambda *_: iter([CONTENT[:500]]))

    with wire.dial() as connection:
        connection.sendall(
            f"GET /storage/v3/files/{file_id}?alt=media HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {wire.token}\r\n\r\n".encode()
        )
        received = read_to_end(connection)

    assert b"Content-Length: 4500" in received
    assert received.endswith(CONTENT[:500])
