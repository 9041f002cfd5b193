import os
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pandas
import pytest

import svc_notebooks as svc
from svc_notebooks.core.errors.errors import ContentMismatch
from svc_notebooks.local.ledger import Ledger
from svc_notebooks.notebook.files import upload_requests

pytestmark = pytest.mark.usefixtures("in_folder")

CSV = b"city,people\nRiga,605\n"


@pytest.fixture
def stop(monkeypatch):
    """Return a function that interrupts the next call when it records its second row as done."""

    def stop_next_call():
        save, done = Ledger.save, []

        def interrupted_save(self, key, state, **values):
            if state == "done":
                done.append(key)
                if len(done) == 2:
                    monkeypatch.setattr(Ledger, "save", save)
                    raise KeyboardInterrupt
            save(self, key, state, **values)

        monkeypatch.setattr(Ledger, "save", interrupted_save)

    return stop_next_call


def paths(count):
    for n in range(count):
        with open(f"{n}.txt", "w") as file:  # noqa: PTH123
            file.write(f"content {n}")
    return [f"{n}.txt" for n in range(count)]


def made(lab):
    return svc.upload([b"1", b"2", b"3"], name=["a", "b", "c"])


def documents(lab):
    return pandas.concat([svc.create_file(name, mime_type="document") for name in "abc"])


def upload(source, **arguments):
    return lambda: svc.upload(source, resume="survey", **arguments)


def copy(files, **arguments):
    return lambda: svc.copy(files, resume="survey", **arguments)


@pytest.mark.spec("X-07")
@pytest.mark.parametrize(
    "call",
    [
        lambda lab: upload(paths(3)),
        lambda lab: upload(paths(3), workers=3),
        lambda lab: upload([b"x", b"x", b"y"]),
        lambda lab: upload([bytes(300_000), b"b", b"c"], chunk_size=262_144),
        lambda lab: upload([CSV] * 3, mime_type="text/csv", convert_to="spreadsheet"),
        lambda lab: copy(made(lab)),
        lambda lab: copy(documents(lab), workers=3),
    ],
    ids=["paths", "threads", "bytes", "chunks", "converted", "copies", "copies of native documents"],
)
def test_a_file_is_created_once_although_the_call_was_stopped_before_it_was_recorded(lab, stop, call):
    repeat, before = call(lab), len(svc.files())
    stop()
    with pytest.raises(KeyboardInterrupt):
        repeat()
    again = repeat()

    assert len(svc.files()) - before == 3
    assert sorted(again["outcome"]) == ["done", "done", "skipped"]
    assert again["id"].nunique() == 3
    assert repeat()["id"].tolist() == again["id"].tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda files: svc.delete(files, resume="survey"),
        lambda files: svc.trash(files, resume="survey"),
        lambda files: svc.untrash(files, resume="survey"),
        lambda files: svc.update(files, starred=True, resume="survey"),
        lambda files: svc.update(files, b"new", resume="survey"),
        lambda files: svc.move(files, "root", resume="survey"),
        lambda files: svc.share(files, "anyone", resume="survey"),
        lambda files: svc.unshare(files, "bob@svc.example", resume="survey"),
    ],
    ids=["delete", "trash", "untrash", "update", "new content", "move", "share", "unshare"],
)
def test_a_stopped_change_of_files_is_completed(lab, stop, call):
    files = made(lab)
    svc.share(files, "bob@svc.example")
    stop()
    with pytest.raises(KeyboardInterrupt):
        call(files)

    assert call(files)["outcome"].tolist() == ["skipped", "done", "done"]
    sent = len(lab.session.exchanges)
    assert call(files)["outcome"].tolist() == ["skipped"] * 3
    assert len(lab.session.exchanges) - sent <= 2  # the ledger reads the top folder, and move its target


def test_rows_done_have_their_records_and_changed_sources_become_other_files(lab):
    files = paths(3)
    first = svc.upload(files, resume="survey")
    os.utime("1.txt", ns=(0, 0))
    second = svc.upload([*files, b"more"], name=["0.txt", "1.txt", "2.txt", "more"], resume="survey")

    assert second["outcome"].tolist() == ["skipped", "done", "skipped", "done"]
    assert second["attempts"].tolist() == [0, 1, 0, 1]
    assert second["id"][0] == first["id"][0]
    assert second["created_time"].dtype == first["created_time"].dtype
    assert second["id"][1] != first["id"][1]


@pytest.mark.parametrize("folder", [False, True], ids=["paths", "folder"])
def test_a_source_that_changed_with_the_same_size_and_times_becomes_another_file(lab, folder):
    Path("data").mkdir()
    for name in paths(3):
        Path(name).rename(f"data/{name}")
    source = "data" if folder else sorted(map(str, Path("data").iterdir()))
    first = svc.upload(source, resume="survey")
    changed = Path("data/1.txt")
    times = changed.stat()
    changed.write_bytes(changed.read_bytes().upper())
    os.utime(changed, ns=(times.st_atime_ns, times.st_mtime_ns))
    Path("data/2.txt").chmod(0o600)

    with pytest.warns(UserWarning, match="1.txt; overwrite=True") if folder else nullcontext():
        second = svc.upload(source, resume="survey")
    third = svc.upload(source, resume="survey")
    assert second["outcome"].tolist() == ["skipped", "uploaded beside" if folder else "done", "skipped"]
    assert [svc.read(file) for file in second["id"]] == [b"content 0", b"CONTENT 1", b"content 2"]
    assert (first["id"] == second["id"]).tolist() == [True, False, True]
    assert third["outcome"].tolist() == ["skipped"] * 3


def test_a_file_that_was_stored_with_other_content_is_uploaded_with_another_id(lab, monkeypatch):
    upload = upload_requests.send_once

    def mismatch(session, request, progress=None):
        upload(session, request, progress)
        raise ContentMismatch("The service stored 1 byte.")

    monkeypatch.setattr(upload_requests, "send_once", mismatch)
    with pytest.raises(ContentMismatch):
        svc.upload(b"x", resume="survey")
    monkeypatch.setattr(upload_requests, "send_once", upload)

    assert svc.upload(b"x", resume="survey")["id"].item() in svc.files()["id"].tolist()
    assert len(svc.files()) == 2


def test_ids_are_requested_a_thousand_at_a_time_and_the_token_is_not_stored(lab, tmp_path):
    svc.upload([b"x"] * 12, resume="survey")
    assert sum("generateIds" in exchange.url for exchange in lab.session.exchanges) == 1
    assert lab.session._credential.token.encode() not in (tmp_path / "survey.resume.sqlite").read_bytes()


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda: svc.upload(b"x", resume=4), TypeError, "resume must be a name or a path, not int"),
        (lambda: svc.upload(b"x", resume=""), ValueError, "resume is empty; give a name such as 'survey'"),
        (lambda: svc.upload(open("0.txt", "rb"), resume="a"), ValueError, "'0.txt' is a file object"),  # noqa: PTH123, SIM115
        (lambda: svc.upload(b"x", name="b", upload_type="media", resume="a"), ValueError, "media upload"),
    ],
    ids=["type", "empty", "file object", "media"],
)
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_wrong_arguments_are_refused(lab, call, kind, words):
    paths(1)
    with pytest.raises(kind, match=words):
        call()

    assert svc.files().empty


def test_the_ledger_of_a_sandbox_in_memory_that_has_ended_is_set_aside(lab):
    again = partial(svc.upload, [b"1", b"2"], name=["a", "b"], resume="survey")
    with svc.sandbox():
        again()
        with pytest.raises(ValueError, match=r"the ledger of a call with the service .*, sandbox "):
            again(session=lab.session)  # while both sandboxes are open
    old = Path("survey.resume.sqlite").read_bytes()
    with pytest.warns(
        UserWarning, match=r"which has ended with its files\..* the old ledger is kept as 'survey\.resume\.1\."
    ):
        first = again()["outcome"].tolist()
    second = again()["outcome"].tolist()

    assert (first, second) == (["done", "done"], ["skipped", "skipped"])
    assert Path("survey.resume.1.sqlite").read_bytes() == old
    assert sorted(svc.files()["name"]) == ["a", "b"]


def test_events_are_created_once_and_keep_the_labels_of_their_rows(lab, stop):
    days = pandas.DataFrame(
        {"summary": ["Algebra", "Algebra", "Music"], "start": "2026-11-02", "end": "2026-11-03"}, index=["a", "b", "c"]
    )
    stop()
    with pytest.raises(KeyboardInterrupt):
        svc.create_events(days, resume="term")
    again = svc.create_events(days, resume="term")
    relabelled = svc.create_events(days.reset_index(drop=True), resume="term", time_zone=None)

    assert again["outcome"].tolist() == ["skipped", "done", "done"]
    assert sorted(svc.events()["id"]) == sorted(again["id"])
    assert relabelled["row"].tolist() == [0, 1, 2]
    assert relabelled.drop(columns=["outcome", "attempts", "seconds", "row"]).equals(
        again.drop(columns=["outcome", "attempts", "seconds", "row"]).reset_index(drop=True)
    )


@pytest.mark.parametrize("call", [svc.download, partial(svc.export, format="txt")], ids=["download", "export"])
def test_a_repeated_download_saves_only_what_is_missing_or_has_changed(lab, stop, call, tmp_path):
    kind = {} if call is svc.download else {"mime_type": "text/plain", "convert_to": "document"}
    files = svc.upload([b"1", b"2", b"3"], name=["a", "b", "c"], **kind)
    stop()
    with pytest.raises(KeyboardInterrupt):
        call(files["id"], to="saved", resume="survey")
    again = call(files["id"], to="saved", resume="survey")
    Path(again["path"][0]).unlink()
    lab.clock.advance("1h")
    svc.update(files.iloc[1], b"changed", mime_type="text/plain")
    last = call(files["id"], to="saved", resume="survey", overwrite=True)

    assert again["outcome"].tolist() == ["skipped", "unchanged", "saved"]
    assert last["outcome"].tolist() == ["saved", "replaced", "skipped"]
    assert last["path"].tolist() == again["path"].tolist()


def test_a_large_upload_continues_from_its_stored_bytes(lab):
    content = [bytes(1_000_000), b"x"]

    def stop_in_the_middle(done, total):
        if done > 600_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        svc.upload(content, resume="survey", chunk_size=262_144, progress=stop_in_the_middle)
    svc.upload(content, resume="survey", chunk_size=262_144)

    assert sorted(svc.files()["size"]) == [1, 1_000_000]
    assert svc.exchanges().query("content_range.notna()")["sent"].sum() < 1_400_000
