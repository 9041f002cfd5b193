"""A folder is opened only if it is a complete store, and other files in it are never deleted."""

import contextlib
import gc
import hashlib
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import svc_notebooks as svc
from svc_notebooks.server.service import open_service
from svc_notebooks.server.store import directory_blob_store, upgrades
from svc_notebooks.server.store.maintenance import back_up, check_store
from tests.commands import command
from tests.contract.wire import InProcess, Wire
from tests.patience import PATIENCE
from tests.stores import DUMPS, dump, old_store


def listing(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in folder.rglob("*")
    }


@contextmanager
def opened(folder: Path) -> Iterator[Wire]:
    with open_service(folder) as service:
        yield InProcess(service, "http://svc.test")


def contents(wire: Wire) -> list[bytes]:
    return sorted(wire.download(file["id"]).body for file in wire.files())


@pytest.fixture
def store(tmp_path):
    folder = tmp_path / "store"
    for content in (b"first", b"second"):
        with opened(folder) as wire:
            wire.create(content)
    return folder


def refused(folder: Path, sentence: str) -> None:
    before = listing(folder)
    for make in (open_service, svc.sandbox):
        with pytest.raises(OSError, match=sentence) as caught:
            make(folder)
        assert str(caught.value).startswith(f"{folder} cannot be opened, and was not changed: ")
        assert "\n" not in str(caught.value)
    assert listing(folder) == before


def test_a_folder_with_foreign_files_and_a_file_are_refused(tmp_path):
    for name in ("kept/letters/a.txt", f"parts/ab/{'ab' * 16}", "thesis.tex"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("of the user")
    words = "neither empty nor a store, and contains kept, parts, thesis.tex; choose an empty or a new folder"
    refused(tmp_path, words)
    with pytest.raises(NotADirectoryError, match=r"thesis\.tex is a file: choose a folder"):
        open_service(tmp_path / "thesis.tex")


def moved(name: str) -> Callable[[Path], object]:
    return lambda store: (store / name).rename(store.parent / "moved")


def rewritten(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda store: (store / name).write_bytes(content)


def damaged(store: Path) -> None:
    with (store / "svc.sqlite").open("r+b") as file:
        file.seek(3 * 4096)
        file.write(b"\xff" * 4096)


def another_program(store: Path) -> None:
    (store / "svc.sqlite").unlink()
    with closing(sqlite3.connect(store / "svc.sqlite")) as database:
        database.execute("CREATE TABLE bookmarks (address TEXT)")


def another_store(store: Path) -> None:
    for _ in range(3):
        open_service(store.parent / "other").close()
    shutil.copy(store.parent / "other" / "svc.sqlite", store)


def newer_schema(store: Path) -> None:
    with closing(sqlite3.connect(store / "svc.sqlite")) as database:
        upgrades.set_version(database, upgrades.VERSION + 1)


def linked_parts(store: Path) -> None:
    moved("parts")(store)
    (store / "parts").symlink_to(store.parent / "moved")


def linked_below_parts(store: Path) -> None:
    (store.parent / "moved").mkdir()
    (store / "parts" / "ab").symlink_to(store.parent / "moved")


def linked_database(store: Path) -> None:
    moved("svc.sqlite")(store)
    (store / "svc.sqlite").symlink_to(store.parent / "moved")


def newer_marker(store: Path) -> None:
    marker = json.loads((store / "svc-store.json").read_text())
    (store / "svc-store.json").write_text(json.dumps({**marker, "version": 2}))


@pytest.mark.parametrize(
    "break_it, sentence",
    [
        (moved("svc.sqlite"), r"svc\.sqlite is missing; put the right svc\.sqlite back, or choose another folder"),
        (rewritten("svc.sqlite", b""), r"svc\.sqlite is empty \(0 bytes\); put the right"),
        (
            rewritten("svc.sqlite", b"Notes. " * 2000),
            r"svc\.sqlite is damaged or not a database \(file is not a database\); put",
        ),
        (lambda store: os.truncate(store / "svc.sqlite", 60_000), r"\(database disk image is malformed\); put"),
        (damaged, r"svc\.sqlite is damaged (or no database )?\(.*\); put"),
        (another_program, r"svc\.sqlite is not a database of this package; put"),
        (another_store, r"svc\.sqlite is a different database than at the last opening of the folder; put the latest"),
        (newer_schema, rf"has schema version {upgrades.VERSION + 1}, and .* up to {upgrades.VERSION}; use the version"),
        (moved("parts"), r"parts/ is missing; put parts/ back"),
        (linked_parts, r"parts is a symbolic link; replace the link with the file"),
        (linked_below_parts, r"parts/ab is a symbolic link"),
        (linked_database, r"svc\.sqlite is a symbolic link"),
        (
            rewritten("svc-store.json", b'{"format": "svc-notebooks'),
            r"svc-store\.json cannot be read; put the right svc-st",
        ),
        (rewritten("svc-store.json", b'{"format": "of another program"}'), r"svc-store\.json cannot be read; put"),
        (newer_marker, r"svc-store\.json has format version 2, and this package supports 1"),
    ],
)
def test_a_store_that_is_not_whole_is_refused(store, break_it, sentence):
    break_it(store)
    refused(store, sentence)


def listening_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as sock, contextlib.chdir(path.parent):
        sock.bind(path.name)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no FIFOs")
@pytest.mark.parametrize("kind", [os.mkfifo, os.mkdir, listening_socket, lambda path: path.symlink_to("/dev/zero")])
@pytest.mark.parametrize("name", ["svc.sqlite", "svc.sqlite-wal", "svc-store.json", "svc-store.json.unfinished"])
def test_a_store_with_a_file_of_another_kind_is_refused_and_not_opened(store, name, kind):
    path = store / name
    path.unlink(missing_ok=True)
    kind(path)

    for use in (open_service, check_store, lambda store: back_up(store, store.parent / "copy")):
        with pytest.raises(OSError, match=f"{re.escape(name)} is (a symbolic link|of another kind than)"):
            use(store)
    assert not (store.parent / "copy").exists()


def test_a_backup_of_an_earlier_opening_is_refused_unless_the_marker_is_deleted(store, tmp_path):
    shutil.copy(store / "svc.sqlite", tmp_path / "backup")
    with opened(store) as wire:
        wire.create(b"third")
    shutil.move(store / "svc.sqlite", tmp_path / "latest")
    shutil.copy(tmp_path / "backup", store / "svc.sqlite")
    refused(store, "older than the parts: 2 recorded openings instead of 3; put the latest .* or delete svc-store")

    (store / "svc-store.json").unlink()
    with opened(store) as wire:
        assert contents(wire) == [b"first", b"second"]
        (note,) = wire.service.notes
        assert note.startswith(f"Moved 1 file without a database entry from {store / 'parts'} to {store}/aside/")
        (part,) = (store / "aside").glob("opening-3/parts/??/*")
        assert part.read_bytes() == b"third"

    shutil.copy(tmp_path / "latest", store / "svc.sqlite")
    (store / "svc-store.json").unlink()
    with opened(store) as wire:
        assert contents(wire) == [b"first", b"second", b"third"]
        assert wire.service.notes == [f"Moved 1 file with a database entry back from {store / 'aside'}"]


@pytest.mark.parametrize("script", DUMPS, ids=lambda path: path.stem)
def test_a_store_of_an_earlier_commit_is_upgraded_and_keeps_everything(tmp_path, script):
    folder = old_store(tmp_path / "store", script)
    (folder / "kept" / "snapshot").mkdir(parents=True)
    (folder / "kept" / "snapshot" / "part").write_bytes(b"kept")
    (folder / "parts" / "notes.txt").write_text("of the user")
    before = listing(folder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lab = svc.sandbox(folder)
    with lab:
        report = svc.doctor().set_index("check").loc["store"]
        assert svc.files()["size"].tolist() == [100, 100]
        assert all(len(set(svc.read(file))) == 1 for file in svc.files()["id"])
        has_events = 'INTO "events"' in script.read_text(encoding="utf-8")
        assert svc.events()["summary"].tolist() == (["e0", "e1"] if has_events else [])
        svc.upload(b"new", name="new.txt")
    upgrade, moved = (str(warning.message) for warning in caught)
    assert upgrade.endswith(f"was upgraded; {folder}/svc.sqlite.version-0.1.bak is a copy of the old database")
    assert moved.startswith(f"Moved 2 files without a database entry from {folder}/parts to {folder}/aside/open")
    assert report[["found", "status", "fix"]].tolist() == [str(folder), "note", f"{upgrade}; {moved}"]

    after = listing(folder)
    moves = {
        "kept/snapshot/part": "aside/opening-1/kept/snapshot/part",
        "parts/notes.txt": "aside/opening-1/parts/notes.txt",
    }
    for name, digest in before.items():
        if name != "svc.sqlite" and digest != "folder":
            assert after[moves.get(name, name)] == digest
    with svc.sandbox(folder):
        assert len(svc.files()) == 3
        assert svc.doctor().set_index("check").loc["store", "fix"].startswith(f"{folder}/aside has 2 files")


def test_what_is_not_of_the_store_is_moved_aside_and_old_unfinished_parts_are_removed(store):
    folder = store / "parts" / "ab"
    folder.mkdir(exist_ok=True)
    foreign = {
        "parts/notes.txt": "1",
        "parts/more/deep/notes.txt": "2",
        "parts/ab/notes.txt": "3",
        f"parts/ab/{'ab' * 16}": "a part without a row",
        f"parts/ab/{'cd' * 16}": "in the wrong folder",
        f"parts/ab/{'ab' * 15}.unfinished": "no name of a part",
    }
    for name, text in foreign.items():
        (store / name).parent.mkdir(parents=True, exist_ok=True)
        (store / name).write_text(text)
    (folder / "link").symlink_to(store.parent)
    old, recent = folder / f"{'ab' * 16}.unfinished", folder / f"{'ab' * 15}cd.unfinished"
    old.write_text("begun")
    recent.write_text("begun")
    (folder / ".DS_Store").write_text("of the system")
    os.utime(old, (time.time() - directory_blob_store.UNFINISHED_AGE - 60,) * 2)

    with opened(store) as wire:
        assert contents(wire) == [b"first", b"second"]
        assert len(wire.service.notes) == 1
        assert wire.service.notes[0].startswith("Moved 7 files without a database entry from ")
    for name, text in foreign.items():
        assert not (store / name).exists()
        assert (store / "aside" / "opening-3" / name).read_text() == text
    assert (store / "aside" / "opening-3" / "parts" / "ab" / "link").is_symlink()
    assert not old.exists()
    assert recent.read_text() == "begun"
    assert (folder / ".DS_Store").exists()


def test_a_store_is_open_once_in_a_process_and_can_be_opened_again_when_it_is_closed(store):
    with opened(store) as wire:
        wire.create(b"third")
        with pytest.raises(OSError, match=r"the folder is already open in this process; close the other service first"):
            open_service(store)
        assert contents(wire) == [b"first", b"second", b"third"], "its locks are still there"
        words = command("serve", "--store", str(store))
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "the folder is open in another process; close the service in that process" in done.stderr
    open_service(store)
    gc.collect()
    with opened(store) as wire:
        assert contents(wire) == [b"first", b"second", b"third"]


KILLED = """
import os, signal, sys
from svc_notebooks.server.service import open_service

folder, step, count = sys.argv[1], int(sys.argv[2]), 0

def count_events(event, args):
    global count
    if event in ("open", "os.rename", "os.mkdir", "os.rmdir", "os.remove", "sqlite3.connect"):
        count += 1
        if count == step:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(count_events)
open_service(folder).close()
print("done")
"""


def killed_at_each_step(make: Callable[[], Path]) -> Iterator[Path]:
    """Yield folders whose opening was killed before its first change of files, its second, and so on."""
    for step in [*range(1, 40), *range(40, 1000, 37)]:
        folder = make()
        command = [sys.executable, "-c", KILLED, str(folder), str(step)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert "Error" not in done.stderr, done.stderr
        yield folder
        if done.stdout:
            return
    raise AssertionError("it was never done")


@pytest.mark.durability
def test_a_creation_that_is_killed_at_any_step_leaves_a_folder_that_opens(tmp_path):
    numbers = iter(range(10_000))
    for folder in killed_at_each_step(lambda: tmp_path / f"{next(numbers)}"):
        with opened(folder) as wire:
            wire.create(b"first")
            assert not wire.service.notes
        with opened(folder) as wire:
            assert contents(wire) == [b"first"]


@pytest.mark.durability
def test_an_upgrade_that_is_killed_at_any_step_leaves_a_store_that_opens(tmp_path):
    numbers = iter(range(10_000))
    for folder in killed_at_each_step(lambda: old_store(tmp_path / f"{next(numbers)}", dump("7af5d85"))):
        with opened(folder) as wire:
            assert [len(content) for content in contents(wire)] == [100, 100]
        assert len(list(folder.glob("*.bak"))) == 1
