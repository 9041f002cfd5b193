import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from svc_notebooks.client.upload_journal import PendingUpload, UploadJournal, default_folder
from svc_notebooks.client.uploads.uploads import start_upload
from tests.patience import PATIENCE
from tests.scripted import Q, Shelf, session_for

ENTRY = PendingUpload(
    key="k",
    session_uri="https://api.example.org/u?upload_id=1",
    base_url="https://api.example.org",
    source="/data/a.csv",
    fingerprint="1-2-3",
    total=10,
    chunk_size=Q,
    media_type="text/csv",
    file_id=None,
    metadata={"name": "é.csv"},
    query={},
    started="2026-01-01T00:00:00.000Z",
)


@pytest.fixture(params=["disk", "memory"])
def journal(request, tmp_path):
    return UploadJournal(tmp_path / "state" if request.param == "disk" else None)


def test_an_entry_is_kept_until_it_is_dropped(journal):
    claim = journal.claim("k")
    claim.save(ENTRY)

    assert claim.entry == ENTRY
    assert journal.all() == [ENTRY]
    assert journal.all("https://elsewhere.example") == []
    assert journal.by_uri(ENTRY.session_uri) == ENTRY
    claim.drop()
    assert journal.all() == []
    claim.release()


def test_only_the_user_can_read_the_folder_which_memory_replaces_where_it_cannot_be_written(tmp_path):
    folder = tmp_path / "deep" / "state"
    start_upload(session_for(Shelf(), state_dir=folder), bytes(2 * Q), chunk_size=Q)

    (path,) = folder.glob("*.json")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    session = session_for(Shelf(), state_dir=path)
    start_upload(session, bytes(2 * Q), chunk_size=Q).run()
    assert session.pending.all() == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"key": "k"}', "\x00"])
def test_an_entry_that_cannot_be_read_is_none(tmp_path, text):
    (tmp_path / "k.json").write_text(text)

    assert UploadJournal(tmp_path).all() == []
    assert UploadJournal(tmp_path).read("k") is None


def test_the_folder_comes_from_the_environment(monkeypatch, tmp_path):
    assert default_folder({"SVC_NOTEBOOKS_STATE": "/x", "XDG_STATE_HOME": "/y"}) == Path("/x")
    assert default_folder({"XDG_STATE_HOME": "/y"}) == Path("/y/svc-notebooks")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder({}) == tmp_path / ".local/state/svc-notebooks"


def _hold(folder: Path, ready: object, leave: object) -> None:
    claim = UploadJournal(folder).claim("k")
    claim.save(ENTRY)
    ready.set()
    leave.wait(PATIENCE)
    os._exit(1)  # as if it were killed


def test_another_process_has_the_lock_until_it_ends(tmp_path):
    context = multiprocessing.get_context("spawn")
    ready, leave = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(tmp_path, ready, leave))
    process.start()
    try:
        assert ready.wait(PATIENCE)
        assert UploadJournal(tmp_path).claim("k") is None
    finally:
        leave.set()
        process.join()

    claim = UploadJournal(tmp_path).claim("k")
    assert claim.entry == ENTRY
    claim.release()
