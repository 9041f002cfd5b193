import hashlib
import io
import json
import os
import re
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from svc_notebooks.core.errors.errors import PathExists
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_saved, open_service
from svc_notebooks.server.store.atomic_write import atomic_write
from svc_notebooks.server.store.upgrades import VERSION
from tests.framed import requester

FILES = "http://svc.test/storage/v3/files"
UPLOAD = "http://svc.test/upload/storage/v3/files?uploadType="
SECRET = "svc.a-token-that-must-not-lie-in-the-file"
CONTENT = b"What was stored. " * 100


def ask(service: Service, method: str, url: str, body: bytes = b"") -> Any:
    response = requester(service, SECRET)(method, url, body)
    return response.status, response.content()


def made() -> Service:
    """Build a service with a row in every table."""
    service = open_service(seed=0, policy=Policy(part_size=1000))
    service.sign_in(token=SECRET)
    ask(service, "POST", UPLOAD + "media", CONTENT)
    ask(service, "POST", UPLOAD + f"resumable&access_token={SECRET}", b"")
    ask(service, "POST", "http://svc.test/calendar/v3/calendars/primary/events",
        b'{"start": {"date": "2026-01-01"}, "end": {"date": "2026-01-02"}}')  # fmt: skip
    return service


@pytest.fixture(scope="module")
def saved():
    with made() as service:
        file = io.BytesIO()
        service.dump(file)
    return file.getvalue()


@pytest.fixture
def target():
    with open_service(seed=5) as service:
        service.sign_in(token=SECRET)
        ask(service, "POST", UPLOAD + "media", b"It stays.")
        yield service


def state(service: Service) -> Any:
    context = service._context
    return {name: list(rows) for name, rows in context.store.rows()}, context.ids.state(), context.clock.now()


def refused(service: Service, content: bytes) -> str:
    """Load a file that is refused, check that nothing changes, and return the message."""
    before = state(service)
    with pytest.raises(ValueError, match=r".") as caught:
        service.load(io.BytesIO(content))
    assert state(service) == before
    assert len(service._context.content.parts._parts) == len(service._context.store.contents.parts())
    assert ask(service, "GET", FILES)[0] == 200
    return str(caught.value)


def rewritten(saved: bytes, change: Callable[[dict[str, bytes]], None], *, honest: bool = True) -> bytes:
    """Return the file with changed entries, and a manifest that is true if `honest`."""
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    change(entries)
    if honest:
        held = {name: body for name, body in entries.items() if name != "manifest.json"}
        with manifest_of(entries) as manifest:
            manifest["entries"] = {name: [len(body), hashlib.sha256(body).hexdigest()] for name, body in held.items()}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, body in entries.items():
            archive.writestr(name, body)
    return file.getvalue()


@contextmanager
def manifest_of(entries: dict[str, bytes]) -> Iterator[dict[str, Any]]:
    """The manifest of a file, with the changes that the block makes."""
    manifest = json.loads(entries["manifest.json"])
    yield manifest
    entries["manifest.json"] = json.dumps(manifest).encode()


def change_rows(entries: dict[str, bytes], table: str, change: Callable[[list[Any]], object]) -> None:
    rows = [json.loads(line) for line in entries[f"tables/{table}.jsonl"].splitlines()]
    for row in rows:
        change(row)
    entries[f"tables/{table}.jsonl"] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def manifest_with(**values: Any) -> Callable[[dict[str, bytes]], None]:
    def change(entries: dict[str, bytes]) -> None:
        with manifest_of(entries) as manifest:
            manifest.update(values)

    return change


def columns_with(**columns: list[str]) -> Callable[[dict[str, bytes]], None]:
    def change(entries: dict[str, bytes]) -> None:
        with manifest_of(entries) as manifest:
            manifest["columns"].update(columns)

    return change


def row_with(table: str, column: int, value: Any) -> Callable[[dict[str, bytes]], None]:
    return lambda entries: change_rows(entries, table, lambda row: row.__setitem__(column, value))


def without(name: str) -> Callable[[dict[str, bytes]], None]:
    return lambda entries: entries.__delitem__(name)


def added(name: str, body: bytes = b"") -> Callable[[dict[str, bytes]], None]:
    return lambda entries: entries.update({name: body})


def second_ids_changed(entries: dict[str, bytes]) -> None:
    with manifest_of(entries) as manifest:
        manifest["ids"][1] = [3, [5], None]


def users_twice(entries: dict[str, bytes]) -> None:
    entries["tables/users.jsonl"] *= 2


def of_version_3(entries: dict[str, bytes]) -> None:
    """Change a file to one of schema version 3, without users' settings of calendars."""
    with manifest_of(entries) as manifest:
        manifest["schema"] = 3
        del manifest["columns"]["calendar_entries"], entries["tables/calendar_entries.jsonl"]


def of_version_2(entries: dict[str, bytes]) -> None:
    """Change a file to one of schema version 2, without a schema version and with the claims of upload sessions."""
    of_version_3(entries)
    with manifest_of(entries) as manifest:
        del manifest["schema"]
        manifest["columns"]["sessions"].insert(-1, "generation")
    change_rows(entries, "sessions", lambda row: row.insert(-1, 7))


def of_version_1(entries: dict[str, bytes]) -> None:
    """Change a file to one that commit 1e9082d saved, also without checksums of parts."""
    of_version_2(entries)
    with manifest_of(entries) as manifest:
        manifest["columns"]["rope"].remove("checksum")
    change_rows(entries, "rope", list.pop)


def both(*changes: Callable[[dict[str, bytes]], None]) -> Callable[[dict[str, bytes]], None]:
    def change(entries: dict[str, bytes]) -> None:
        for each in changes:
            each(entries)

    return change


@pytest.mark.spec("T-05", "T-05d")
def test_the_file_has_no_token_and_is_the_same_for_the_same_state(saved):
    with made() as service:
        file = io.BytesIO()
        service.dump(file)

    assert file.getvalue() == saved
    assert SECRET.encode() not in saved
    assert SECRET.encode("utf-16-le") not in saved


@pytest.mark.parametrize("older", [of_version_1, of_version_2, of_version_3])
def test_a_service_that_an_older_version_saved_is_upgraded(saved, tmp_path, older):
    path = tmp_path / "lesson.svc"
    path.write_bytes(rewritten(saved, older))
    with open_saved(path) as service, made() as original:
        assert state(service)[0].keys() == state(original)[0].keys()
        for name, rows in state(original)[0].items():
            if name not in ("rope", "meta"):
                assert sorted(state(service)[0][name]) == sorted(rows), name
        file = json.loads(ask(service, "GET", FILES)[1])["files"][0]
        assert ask(service, "GET", f"{FILES}/{file['id']}?alt=media") == (200, CONTENT)


HOSTILE: dict[str, tuple[Callable[[dict[str, bytes]], None], str]] = {
    "a path upwards": (added("../../etc/cron.d/x"), "the entry .* is unknown"),
    "an absolute path": (added("/etc/passwd"), "the entry .* is unknown"),
    "a path in a part's name": (added("parts/../x"), "the entry .* is unknown"),
    "a backslash": (added("parts\\1"), "the entry .* is unknown"),
    "a stranger": (added("readme.txt"), "the entry .* is unknown"),
    "a part that nobody needs": (added("parts/99", b"x"), "the parts differ from the stored contents"),
    "a part that is missing": (without("parts/1"), "the parts differ from the stored contents"),
    "a table that is missing": (without("tables/files.jsonl"), "tables/files"),
    "a table that is not known": (added("tables/more.jsonl"), "tables/more"),
    "another format": (manifest_with(format="something"), "another format"),
    "a later version": (manifest_with(version=2), "format version 2, and this package supports 1"),
    "a version that is not a number": (manifest_with(version={"a": ["b"] * 100}), "format version"),
    "other columns": (manifest_with(columns={"files": ["id"]}), "which has other tables|differs from the manifest"),
    "other columns of a table": (columns_with(files=["id"]), "another version of this package"),
    "columns that are none": (manifest_with(columns=5), "lists no tables"),
    "a later schema": (manifest_with(schema=VERSION + 1), f"schema version {VERSION + 1}, and .* 1 to {VERSION}"),
    "a schema that is none": (manifest_with(schema="1"), "lists no tables"),
    "an older schema with other columns": (both(of_version_1, columns_with(files=["id"])), "another version"),
    "an older schema with an object": (both(of_version_1, row_with("files", 4, {})), "files has an invalid row"),
    "an older schema with a large number": (both(of_version_1, row_with("files", 0, 2**63)), "invalid row"),
    "an older schema with a row that is none": (both(of_version_1, added("tables/users.jsonl", b"{}")), "a list"),
    "an older schema with a long row": (both(of_version_1, added("tables/users.jsonl", b'["a"]')), "an invalid row"),
    "a policy that is not known": (manifest_with(policy={"magic": 1}), "magic is unknown"),
    "a policy that cannot be": (manifest_with(policy={"chunk_rule": "soft"}), "chunk_rule"),
    "a policy that is a list": (manifest_with(policy=[]), "manifest of the file is not valid"),
    "a policy with an impossible value": (manifest_with(policy={"part_size": 0}), "part_size"),
    "names that are not texts": (manifest_with(names={"storage": 5}), "storage is not a string"),
    "a name with a slash": (manifest_with(names={"storage": "a/b"}), r"\w"),
    "a name with a line break": (manifest_with(names={"header_prefix": "\r\n"}), r"\w"),
    "a time that is none": (manifest_with(clock={"now": "x", "start": None}), r"\w"),
    "a clock without a zone": (manifest_with(clock={"now": "2026-01-01T00:00:00", "start": None}), "time zone"),
    "a clock that is none": (manifest_with(clock=5), "manifest of the file is not valid"),
    "a seed that is a text": (manifest_with(seed="0"), "seed"),
    "ids that are none": (manifest_with(ids=[[3, [1, 2], None], [3, [], None]]), "ids|state|unpack"),
    "ids of which the second is none": (second_ids_changed, "ids|state|unpack"),
    "counters that are none": (manifest_with(counters={"files": -1}), "counters"),
    "a counter of another table": (manifest_with(counters={"nothing": 1}), "counter nothing has no table"),
    "a number where a text is": (row_with("files", 1, 5), r"files\.id cannot be 5"),
    "a text where a number is": (row_with("files", 0, "1"), r"files\.seq cannot be '1'"),
    "a truth where a number is": (row_with("files", 0, True), r"files\.seq cannot be True"),
    "nothing where something must be": (row_with("files", 1, None), r"files\.id cannot be None"),
    "a number too large": (row_with("files", 0, 2**63), r"files\.seq cannot be"),
    "a number of many digits": (row_with("tokens", 5, 10**400), r"tokens\.expires cannot be"),
    "a year that there is not": (row_with("files", 6, 2**60), r"files\.\w+ cannot be"),
    "fields that are not JSON": (row_with("files", 19, "{"), r"files\.\w+ cannot be"),
    "a zone that is none": (row_with("calendars", 3, "Mars/Crater"), r"calendars\.zone cannot be"),
    "a clock before all years": (manifest_with(clock={"now": "0001-01-01T00:00:00+14:00", "start": None}), "not valid"),
    "an authority that is none": (added("tables/authorities.jsonl", b'["PEM"]\n'), "certificate"),
    "half a pair": (row_with("files", 4, "\ud800"), "surrogates|encode"),
    "an object in a row": (row_with("files", 4, {}), r"files\.name cannot be"),
    "a rope that is longer than its part": (row_with("rope", 2, 10**9), "the parts differ from the stored contents"),
    "the same twice": (users_twice, "UNIQUE"),
    "a row that is too short": (added("tables/users.jsonl", b'["x"]\n'), "a row of users must have"),
    "a row that is not JSON": (added("tables/users.jsonl", b"{\n"), "not valid JSON"),
    "a row that is deep": (added("tables/users.jsonl", b"[" * 100_000), "not valid JSON"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_was_changed_is_refused_and_nothing_changes(saved, target, name):
    change, message = HOSTILE[name]

    assert re.search(message, refused(target, rewritten(saved, change)))


@pytest.mark.parametrize("change, message", [
    (without("parts/1"), "entries differ from the manifest"),
    (without("manifest.json"), "the manifest is missing"),
    (row_with("files", 4, "another name"), "differs from its digest"),
])  # fmt: skip
def test_a_file_whose_manifest_says_something_else_is_refused(saved, target, change, message):
    assert message in refused(target, rewritten(saved, change, honest=False))


def test_an_entry_that_swells_is_refused(saved, target):
    """A zip bomb is small when packed and large when unpacked."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", b"{}" + b" " * 50_000_000)

    assert len(file.getvalue()) < 100_000
    assert "is compressed" in refused(target, file.getvalue())


def test_entries_that_share_their_bytes_are_refused(target):
    """Another zip bomb has many names for the same uncompressed bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("parts/1", b"x" * 100_000)
        first = archive.filelist[0]
        for number in range(2, 50):
            again = zipfile.ZipInfo(f"parts/{number}")
            for name in ("header_offset", "compress_size", "file_size", "CRC", "compress_type"):
                setattr(again, name, getattr(first, name))
            archive.filelist.append(again)
            archive.NameToInfo[again.filename] = again
        archive._didModify = True

    assert "overlap" in refused(target, file.getvalue())


def test_a_cut_file_is_refused(saved, target):
    for size in (0, 1, 100, len(saved) // 2, -1):
        refused(target, saved[:size])


def test_an_entry_twice_is_refused(saved, target):
    file = io.BytesIO(saved)
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("manifest.json", b"{}")

    assert "twice" in refused(target, file.getvalue())


@given(where=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_a_changed_byte_is_detected_or_insignificant(saved, where, flip):
    """Bytes that are neither content nor its description, such as the time of an entry, may differ."""
    content = bytearray(saved)
    content[int(where * len(content))] ^= flip
    with open_service(seed=5) as service:
        service.sign_in(token=SECRET)
        try:
            service.load(io.BytesIO(bytes(content)))
        except ValueError:
            assert json.loads(ask(service, "GET", FILES)[1])["files"] == []
        else:
            file = json.loads(ask(service, "GET", FILES)[1])["files"][0]
            assert ask(service, "GET", f"{FILES}/{file['id']}?alt=media") == (200, CONTENT)


def test_another_state_is_replaced_only_with_overwrite(tmp_path):
    path = tmp_path / "lesson.svc"
    with made() as service:
        before = service.save(path).read_bytes()
        ask(service, "POST", UPLOAD + "media", b"more")
        with pytest.raises(PathExists, match=r"exists with other content .*Use overwrite=True to replace it") as caught:
            service.save(path)

    assert caught.value.replaceable
    assert path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["lesson.svc"]


@pytest.mark.parametrize("name", ["lesson.svc", "lesson.svc.bak"])
@pytest.mark.parametrize("content", [b"", b"my notes", b"PK\3\4 of a cut file"])
def test_a_file_that_is_no_saved_service_is_never_replaced(tmp_path, name, content):
    path = tmp_path / "lesson.svc"
    with made() as service:
        service.save(path)
        (tmp_path / name).write_bytes(content)
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        ask(service, "POST", UPLOAD + "media", b"more")
        words = rf"{name}' exists and is not a saved service \({len(content)} bytes, modified"
        with pytest.raises(PathExists, match=words) as caught:
            service.save(path, overwrite=True)

    assert not caught.value.replaceable
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_files_of_killed_processes_are_deleted_and_files_in_use_are_not(tmp_path):
    path = tmp_path / "a[1].svc"
    (tmp_path / ".a[1].svc.deadbeef.saving").write_bytes(b"half")
    (tmp_path / ".a1.svc.of_other.saving").write_bytes(b"another format")
    (tmp_path / ".a[1].svc.notes.saving").write_bytes(b"the user's")

    def write(file):
        file.write(b"first")
        atomic_write(path, lambda second: second.write(b"second") and None, overwrite=True)

    atomic_write(path, write, overwrite=True)

    assert path.read_bytes() == b"first"
    assert (tmp_path / "a[1].svc.bak").read_bytes() == b"second"
    left = [".a1.svc.of_other.saving", ".a[1].svc.notes.saving", "a[1].svc", "a[1].svc.bak"]
    assert sorted(path.name for path in tmp_path.iterdir()) == left


def test_a_path_that_cannot_be_written_is_named_as_given_and_a_file_is_readable_only_by_its_owner(tmp_path):
    with made() as service:
        with pytest.raises(FileNotFoundError, match="folder does not exist") as caught:
            service.save(tmp_path / "nowhere" / "lesson.svc")
        with pytest.raises(OSError, match=r"n' cannot be written: .*; choose another place") as too_long:
            service.save(tmp_path / ("n" * 250))
        mode = service.save(tmp_path / "lesson.svc").stat().st_mode

    assert caught.value.filename == str(tmp_path / "nowhere")
    assert ".saving" not in str(too_long.value)
    assert os.name != "posix" or mode & 0o077 == 0


@pytest.mark.parametrize("in_folder", [False, True])
def test_what_is_saved_while_others_write_is_whole(tmp_path, in_folder):
    def write(service, stop, kept):
        while not stop.is_set():
            file = json.loads(ask(service, "POST", UPLOAD + "media", CONTENT * 20)[1])["id"]
            ask(service, "PUT", f"http://svc.test/upload/storage/v3/files/{file}?uploadType=media", CONTENT)
            if kept:
                ask(service, "DELETE", f"{FILES}/{kept.pop()}")
            kept.append(file)

    stop = threading.Event()
    folder = tmp_path / "store" if in_folder else None
    with open_service(folder, seed=0, policy=Policy(part_size=1000)) as service, ThreadPoolExecutor(3) as others:
        service.sign_in(token=SECRET)
        writers = [others.submit(write, service, stop, []) for _ in range(3)]
        try:
            for number in range(3):
                with open_saved(service.save(tmp_path / f"{number}.svc")) as again:
                    for file in json.loads(ask(again, "GET", FILES)[1])["files"]:
                        assert ask(again, "GET", f"{FILES}/{file['id']}?alt=media")[1] in (CONTENT, CONTENT * 20)
        finally:
            stop.set()
        for writer in writers:
            writer.result()


def test_a_file_that_is_missing_or_not_a_saved_service_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        open_saved(tmp_path / "nothing.svc")
    (tmp_path / "empty.svc").touch()
    with pytest.raises(ValueError, match=r"empty\.svc cannot be opened: the file is not a saved service"):
        open_saved(Path(tmp_path / "empty.svc"))
