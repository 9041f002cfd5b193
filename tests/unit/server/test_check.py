"""`svc-notebooks check` reports every kind of damage with the affected files, and changes nothing."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

import svc_notebooks as svc
from svc_notebooks.cli import main
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from tests.framed import requester

TOKEN = "svc.a-token-of-this-test"


def ask(service: Service, method: str, target: str, body: bytes = b"") -> Any:
    response = requester(service, TOKEN)(method, target, body, Content_Type="application/json")
    assert response.status < 300, response.content()
    return json.loads(response.content() or b"{}")


def upload(service: Service, content: bytes) -> str:
    return str(ask(service, "POST", "/upload/storage/v3/files?uploadType=media", content)["id"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Create a store with two files, a copy, a trashed file, a document and half an upload."""
    with open_service(tmp_path / "store", seed=0, policy=Policy(part_size=1000, chunk_quantum=1000)) as service:
        service.sign_in(token=TOKEN)
        first, second, third = (upload(service, bytes([letter]) * 2500) for letter in b"abc")
        ask(service, "PATCH", f"/storage/v3/files/{first}", b'{"name": "first"}')
        ask(service, "POST", f"/storage/v3/files/{first}/copy", b'{"name": "copy"}')
        ask(service, "PATCH", f"/storage/v3/files/{second}", b'{"trashed": true, "properties": {"a": "b"}}')
        ask(service, "DELETE", f"/storage/v3/files/{third}")
        document = json.dumps({"name": "words", "mimeType": service.names.native("document")}).encode()
        ask(service, "POST", "/storage/v3/files", document)
        half_an_upload(service)
    return tmp_path / "store"


def half_an_upload(service: Service) -> None:
    send = requester(service, TOKEN)
    begun = send("POST", "/upload/storage/v3/files?uploadType=resumable")
    assert send("PUT", begun.headers["Location"], b"u" * 1000, Content_Range="bytes 0-999/3000").status == 308


def parts(folder: Path, letter: bytes) -> list[Path]:
    return [path for path in (folder / "parts").glob("??/*") if path.read_bytes()[:1] == letter]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    before = contents(folder)
    status = main(["check", str(folder), *more])
    assert contents(folder) == before, "nothing changes"
    return status, capsys.readouterr().out


def test_a_whole_store(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, output = check(folder, capsys)

    assert status == 0
    assert "files: 4, parts: 7, bytes: 6,000" in output
    assert output.endswith("no damage found\n")


def test_damaged_parts_and_the_files_that_have_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rotten, short, missing = parts(folder, b"a")[0], parts(folder, b"b")[0], parts(folder, b"u")[0]
    rotten.write_bytes(b"x" + rotten.read_bytes()[1:])
    short.write_bytes(b"b")
    missing.unlink()

    status, output = check(folder, capsys)
    report = json.loads(check(folder, capsys, "--json")[1])

    assert status == 1
    assert "wrong checksum" in output
    assert "affects first (" in output
    assert "affects copy (" in output
    assert output.endswith("problems: 3\n")
    affected = {problem["subject"][-32:]: [file["name"] for file in problem["files"]] for problem in report["problems"]}
    assert affected == {rotten.name: ["first", "copy"], short.name: ["Untitled"], missing.name: []}
    assert {file["owner"] for problem in report["problems"] for file in problem["files"]} == {"ada@svc.example"}


def test_files_that_no_row_names_are_notes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "parts" / "aa").mkdir(exist_ok=True)
    (folder / "parts" / "aa" / "left").write_bytes(b"by a kill")

    status, output = check(folder, capsys)

    assert status == 0
    assert "note: parts/aa/left belongs to no file" in output


def test_a_damaged_database(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "svc.sqlite"
    whole = path.read_bytes()
    for first in range(4096, len(whole), 4096):
        path.write_bytes(whole[:first] + Random(1).randbytes(4096) + whole[first + 4096 :])
        status, output = check(folder, capsys)
        assert (status, "damaged: svc.sqlite" in output) == (1, True), output


def test_the_log_left_by_a_kill_is_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The write-ahead log of the database is read, and neither written back nor deleted."""
    with open_service(folder) as service:
        service.sign_in(token=TOKEN)
        upload(service, b"d" * 500)
        copied = folder.parent / "copied"
        for name, content in contents(folder).items():
            target = copied / Path(name).relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    assert (copied / "svc.sqlite-wal").stat().st_size

    status, output = check(copied, capsys)

    assert status == 0
    assert "files: 5" in output


def test_a_store_without_checksums(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(folder / "svc.sqlite")) as database:
        database.execute("ALTER TABLE rope DROP COLUMN checksum")
        database.execute("PRAGMA user_version = 1")

    assert "note: 7 parts have no checksum yet" in check(folder, capsys)[1]


def test_a_store_in_use_and_other_folders_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_service(folder) as service:
        service.sign_in(token=TOKEN)
        used = main(["check", str(folder)])
        upload(service, b"and the service goes on")
    none = main(["check", str(folder / "parts")])

    captured = capsys.readouterr()
    assert (used, none, captured.out) == (2, 2, "")
    assert "is in use" in captured.err.splitlines()[0]
    assert "is not a store" in captured.err.splitlines()[1]


def test_doctor_reads_a_store(folder: Path) -> None:
    whole = svc.doctor(store=folder).set_index("check").loc["checked store"]
    parts(folder, b"a")[0].unlink()
    damaged = svc.doctor(store=str(folder)).set_index("check")

    assert (whole["status"], "no damage" in whole["found"]) == ("ok", True)
    assert damaged.loc["checked store", "status"] == "problem"
    assert "is missing" in damaged.loc["checked store", "found"]
    assert "first" in damaged.loc["checked store", "found"]
