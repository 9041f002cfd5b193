"""`svc-notebooks check` reports every kind of damage and changes nothing; `sweep` deletes only if it is asked to."""

import json
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

import svc_notebooks as svc
from svc_notebooks.cli import main
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import open_service
from svc_notebooks.server.store.migration import sweep
from tests.contract.wire import InProcess

FILES = "/storage/v3/files"


@pytest.fixture
def folder(tmp_path):
    """Create a store with two files, a copy, a trashed file, a document and half an upload."""
    with open_service(tmp_path / "store", seed=0, policy=Policy(part_size=1000, chunk_quantum=1000)) as service:
        wire = InProcess(service, "http://svc.test")
        first, second, third = (f"{FILES}/{wire.create(bytes([letter]) * 2500)['id']}" for letter in b"abc")
        wire.json_request("PATCH", first, {"name": "first"})
        wire.post_json(f"{first}/copy", {"name": "copy"})
        wire.json_request("PATCH", second, {"trashed": True, "properties": {"a": "b"}})
        wire.send("DELETE", third)
        wire.post_json(FILES, {"name": "words", "mimeType": service.names.native("document")})
        assert wire.put(wire.begin(), b"u" * 1000, "bytes 0-999/3000").status == 308
    return tmp_path / "store"


def parts(folder: Path, letter: bytes) -> list[Path]:
    return [path for path in (folder / "parts").glob("??/*") if path.read_bytes()[:1] == letter]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    before = contents(folder)
    status = main(["check", str(folder), *more])
    assert contents(folder) == before, "nothing changes"
    return status, capsys.readouterr().out


def test_damaged_parts_and_the_files_that_have_them(folder, capsys):
    rotten, short, missing = parts(folder, b"a")[0], parts(folder, b"b")[0], parts(folder, b"u")[0]
    rotten.write_bytes(b"x" + rotten.read_bytes()[1:])
    short.write_bytes(b"b")
    missing.unlink()

    status, output = check(folder, capsys)
    report = json.loads(check(folder, capsys, "--json")[1])

    assert status == 1
    assert all(words in output for words in ("wrong checksum", "affects first (", "affects copy ("))
    assert output.endswith("problems: 3\n")
    affected = {problem["subject"][-32:]: [file["name"] for file in problem["files"]] for problem in report["problems"]}
    assert affected == {rotten.name: ["first", "copy"], short.name: ["Untitled"], missing.name: []}
    assert {file["owner"] for problem in report["problems"] for file in problem["files"]} == {"ada@svc.example"}


def test_files_that_no_row_names_are_notes(folder, capsys):
    status, output = check(folder, capsys)
    assert (status, "files: 4, parts: 7, bytes: 6,000" in output, "note" in output) == (0, True, False)
    assert output.endswith("no damage found\n")
    (folder / "parts" / "aa").mkdir(exist_ok=True)
    (folder / "parts" / "aa" / "left").write_bytes(b"by a kill")

    status, output = check(folder, capsys)

    assert status == 0
    assert "note: parts/aa/left belongs to no file" in output


def test_a_damaged_database(folder, capsys):
    path = folder / "svc.sqlite"
    whole = path.read_bytes()
    for first in range(4096, len(whole), 4096):
        path.write_bytes(whole[:first] + Random(1).randbytes(4096) + whole[first + 4096 :])
        status, output = check(folder, capsys)
        assert (status, "damaged: svc.sqlite" in output) == (1, True), output


def test_the_log_left_by_a_kill_is_read(folder, capsys):
    """The write-ahead log of the database is read, and neither written back nor deleted."""
    with open_service(folder) as service:
        InProcess(service, "http://svc.test").create(b"d" * 500)
        copied = folder.parent / "copied"
        for name, content in contents(folder).items():
            target = copied / Path(name).relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    assert (copied / "svc.sqlite-wal").stat().st_size

    status, output = check(copied, capsys)

    assert status == 0
    assert "files: 5" in output


def test_a_store_without_checksums(folder, capsys):
    with closing(sqlite3.connect(folder / "svc.sqlite")) as database:
        database.execute("ALTER TABLE rope DROP COLUMN checksum")
        database.execute("PRAGMA user_version = 1")

    assert "note: 7 parts have no checksum yet" in check(folder, capsys)[1]


def test_a_store_in_use_and_other_folders_are_refused(folder, capsys):
    with open_service(folder) as service:
        used = main(["check", str(folder)])
        InProcess(service, "http://svc.test").create(b"and the service goes on")
    none = main(["check", str(folder / "parts")])

    captured = capsys.readouterr()
    assert (used, none, captured.out) == (2, 2, "")
    assert "is in use" in captured.err.splitlines()[0]
    assert "is not a store" in captured.err.splitlines()[1]


def test_doctor_reads_a_store(folder):
    whole = svc.doctor(store=folder).set_index("check").loc["checked store"]
    parts(folder, b"a")[0].unlink()
    damaged = svc.doctor(store=str(folder)).set_index("check")

    assert (whole["status"], "no damage" in whole["found"]) == ("ok", True)
    assert damaged.loc["checked store", "status"] == "problem"
    assert "is missing" in damaged.loc["checked store", "found"]
    assert "first" in damaged.loc["checked store", "found"]


DAY = 86_400


@pytest.fixture
def store(tmp_path):
    """A data folder with a file, and with two old and one young part that belong to no file, and two other files."""
    folder = tmp_path / "store"
    with open_service(folder, seed=0) as service:
        InProcess(service, "http://svc.test").create(b"kept")
        old = [_stray(service, b"old"), _stray(service, b"older")]
        _stray(service, b"young")
    parts = folder / "parts"
    kept = [path for path in parts.glob("??/*") if path.read_bytes() == b"kept"]
    (parts / "0f").mkdir(exist_ok=True)
    (parts / "0f" / "notes.txt").write_text("mine")
    (parts / "0f" / f"1a{'0' * 30}").write_text("in another folder than its name says")
    for path in [*(parts / key[:2] / key for key in old), *(parts / "0f").iterdir(), *kept]:
        os.utime(path, (time.time() - 2 * DAY,) * 2)
    return folder


def _stray(service: object, content: bytes) -> str:
    writer = service._context.content.parts.writer()
    writer.write(content)
    return writer.commit()


def _files(store: Path) -> set[str]:
    return {path.read_text() for path in (store / "parts").glob("??/*")}


EVERYTHING = {"kept", "old", "older", "young", "mine", "in another folder than its name says"}


def test_old_parts_that_no_row_names_are_deleted_with_delete_alone(store, capsys):
    assert main(["sweep", str(store)]) == 0

    printed = capsys.readouterr().out
    assert printed.count("found: ") == 2
    assert "2 parts with 8 bytes belong to no file or upload" in printed
    assert "1 further parts are younger" in printed
    assert "nothing was deleted: add --delete" in printed
    assert _files(store) == EVERYTHING

    assert main(["sweep", str(store), "--delete"]) == 0

    assert capsys.readouterr().out.count("deleted: ") == 2
    assert _files(store) == EVERYTHING - {"old", "older"}
    with open_service(store), pytest.raises(OSError, match="in use"):
        sweep(str(store), None, min_age=0, now=time.time(), delete=True)


@pytest.mark.parametrize(
    "arguments,message",
    [
        (["{}", "--content", "x"], "applies only to a database"),
        (["postgresql://ada@127.0.0.1:1/x"], "add --content"),
        (["{}/none"], "is not a store"),
    ],
)
def test_other_places_are_refused(store, capsys, arguments, message):
    assert main(["sweep", *(each.format(store) for each in arguments), "--delete"]) == 2
    assert message in capsys.readouterr().err
    assert _files(store) == EVERYTHING
