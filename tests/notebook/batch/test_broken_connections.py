import io
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.client.session import Session
from svc_notebooks.core.errors.errors import Interrupted, Unreachable
from svc_notebooks.core.http.backoff import RetryRule
from svc_notebooks.notebook.batch import batch as batch_module
from svc_notebooks.notebook.batch.batch import Batch, RowOperation, run
from svc_notebooks.notebook.frames import schema
from tests.breaking_proxy import breaking_proxy

ROWS = 24
NAMES = [f"{n}.csv" for n in range(ROWS)]
CSV = [f"n\n{n}\n".encode() for n in range(ROWS)]
COUNTS = schema("id text, n count")


@pytest.fixture
def proxy(lab):
    with lab.serve() as server, breaking_proxy(server.base_url, every=0) as proxy:
        yield proxy


@pytest.fixture
def session(lab, proxy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    retry = RetryRule(base=0.001, cap=0.01, patience=30)
    with Session(proxy.base_url, lab.service.sign_in(), retry=retry, state_dir=tmp_path / "state") as session:
        yield session


class Pipe(io.RawIOBase):
    """A stream that can be read only once."""

    def __init__(self, content):
        self._content = io.BytesIO(content)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self._content.readinto(buffer)


DAYS = [f"2026-11-{n + 1:02}" for n in range(ROWS)]
TERM = pd.DataFrame(
    {"summary": NAMES, "start": [f"{day}T10:00Z" for day in DAYS], "end": [f"{day}T11:00Z" for day in DAYS]}
)


def made(lab):
    return svc.upload(CSV, name=NAMES, session=lab)


def documents(lab):
    return svc.upload(CSV, name=NAMES, convert_to="spreadsheet", session=lab)


def folder(lab):
    for name, content in zip(NAMES, CSV, strict=True):
        Path("data", name[0]).mkdir(parents=True, exist_ok=True)
        Path("data", name[0], name).write_bytes(content)
    return "data"


def stored(lab):
    return svc.files("mimeType != 'application/vnd.svc-apps.folder'", session=lab)


CREATE = {
    "upload": (lambda lab: CSV, partial(svc.upload, name=NAMES)),
    "upload without names": (lambda lab: CSV, svc.upload),
    "converted": (lambda lab: CSV, partial(svc.upload, convert_to="spreadsheet", mime_type="text/csv")),
    "chunks": (lambda lab: [bytes(300_000)] * ROWS, partial(svc.upload, chunk_size=262_144)),
    "folder": (folder, svc.upload),
    "copy": (made, svc.copy),
    "copy of documents": (documents, svc.copy),
}


@pytest.mark.spec("X-07")
@pytest.mark.parametrize("workers", [1, 8])
@pytest.mark.parametrize("prepare, create", CREATE.values(), ids=CREATE)
def test_files_are_created_once(lab, session, proxy, prepare, create, workers):
    source = prepare(lab)
    before = {*stored(lab)["id"]}
    proxy.every = 7
    created = create(source, workers=workers, session=session)

    assert created["error"].dropna().tolist() == []
    assert sorted({*stored(lab)["id"]} - before) == sorted(created["id"])
    assert len(created) == ROWS
    assert {place for _, _, place in proxy.broken} == {"request", "response", "middle"}


def exported(lab):
    events = svc.create_events(TERM, session=lab)
    svc.export_events(events, "term.ics", session=lab)
    svc.delete_event(events, session=lab)
    return "term.ics"


CHANGE = {
    "update": (made, partial(svc.update, starred=True), lambda lab, row: svc.file(row, session=lab)["starred"].item()),
    "content": (
        lambda lab: svc.upload([b""] * ROWS, name=NAMES, session=lab),
        lambda files, **ways: svc.update(files, CSV, **ways),
        lambda lab, row: svc.read(row, session=lab).startswith(b"n\n"),
    ),
    "move": (
        made,
        lambda files, **ways: svc.move(files, svc.create_folder("a/b", session=ways["session"]), **ways),
        lambda lab, row: svc.file(row, session=lab)["parents"].item() == row["parents"],
    ),
    "trash": (made, svc.trash, lambda lab, row: svc.file(row, session=lab)["trashed"].item()),
    "delete": (made, svc.delete, lambda lab, row: row["deleted"] and row["id"] not in {*stored(lab)["id"]}),
    "share": (
        made,
        lambda files, **ways: svc.share(files, "bob@svc.example", **ways),
        lambda lab, row: len(svc.permissions(row["file_id"], session=lab)) == 2,
    ),
    "unshare": (
        lambda lab: svc.share(made(lab), "bob@svc.example", session=lab)["file_id"].tolist(),
        lambda files, **ways: svc.unshare(files, "bob@svc.example", **ways),
        lambda lab, row: len(svc.permissions(row["file_id"], session=lab)) == 1,
    ),
    "download": (
        made,
        lambda files, **ways: svc.download(files, "to/", **ways),
        lambda lab, row: Path(row["path"]).read_bytes().startswith(b"n\n"),
    ),
    "create events": (lambda lab: TERM, svc.create_events, lambda lab, row: len(svc.events(session=lab)) == ROWS),
    "import events": (
        exported,
        lambda path, **ways: svc.import_events(path, **ways),
        lambda lab, row: row["outcome"] == "done",
    ),
    "delete events": (
        lambda lab: svc.create_events(TERM, session=lab),
        svc.delete_event,
        lambda lab, row: len(svc.events(session=lab)) == 0,
    ),
}


@pytest.mark.parametrize("prepare, change, is_done", CHANGE.values(), ids=CHANGE)
def test_rows_are_changed_once(lab, session, proxy, prepare, change, is_done):
    rows = prepare(lab)
    proxy.every = 7
    changed = change(rows, session=session)

    assert changed["error"].dropna().tolist() == []
    assert len(changed) == ROWS
    assert all(is_done(lab, row) for _, row in changed.iterrows())
    assert len(proxy.broken) >= 3


@pytest.mark.parametrize("fault, first", [("cut_request_after=8900000", "failed"), ("reset=after", "done")])
def test_a_stream_that_did_not_arrive_fails_alone(lab, fault, first):
    ids = svc.generate_ids(2)["id"].tolist()
    lab.session.fault(fault)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = svc.upload([Pipe(bytes(9_000_000)) for _ in ids], upload_type="multipart", file_id=ids)

    assert result["outcome"].tolist() == [first, "done"]
    assert sorted(stored(lab)["id"]) == sorted(result["id"][result["outcome"] == "done"])


def test_a_ledger_and_an_executor_of_threads_create_nothing_twice(lab, session, proxy):
    proxy.every = 7
    with ThreadPoolExecutor(4) as pool:
        first = svc.upload(CSV, name=NAMES, session=session, resume="survey", executor=pool)
    again = svc.upload(CSV, name=NAMES, session=session, resume="survey")

    assert first["outcome"].tolist() == ["done"] * ROWS
    assert again["outcome"].tolist() == ["skipped"] * ROWS
    assert again["id"].tolist() == first["id"].tolist()
    assert len(stored(lab)) == ROWS


def lose(session, row, report):
    """Return the record of a row. An odd row loses its connection, and the row "none" finds no service."""
    if row == "none":
        raise Unreachable("Nothing listens.")
    if row % 2:
        raise Interrupted("No response.")
    return {"id": str(row), "n": row}


LOSING = RowOperation(COUNTS, lose)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_lost_connection_fails_its_row_and_the_error_says_which_rows_are_done(lab, workers):
    with pytest.raises(Interrupted) as caught:
        run(LOSING, [0, 1, 2, 4, 3], lab.session, Batch(workers, errors="raise"))
    with pytest.warns(UserWarning, match="2 of 5 rows failed"):
        returned = run(LOSING, [0, 1, 2, 4, 3], lab.session, Batch(workers))

    assert caught.value.done == [0, 2, 3]
    assert list(caught.value.failed) == [1, 4]
    assert caught.value.__notes__[0].startswith("3 of 5 succeeded: rows 0, 2-3;")
    assert caught.value.__notes__[-1].startswith("to go on, call again with the rows that are not in")
    assert returned["outcome"].tolist() == ["done", "failed", "done", "done", "failed"]


@pytest.mark.parametrize("seconds, ended", [(40, 3), (10, 7)])
def test_a_service_that_cannot_be_reached_or_does_not_answer_for_a_minute_ends_the_call(lab, seconds, ended):
    with pytest.raises(Unreachable) as caught:
        run(LOSING, [0, 1, "none", *[2] * 100], lab.session, Batch(errors="return"))
    assert caught.value.result["outcome"].tolist() == ["done", "failed", "failed"]

    def wait_and_lose(session, row, report):
        if row:
            lab.clock.advance(seconds)
        return lose(session, row, report)

    with pytest.raises(Interrupted) as caught:
        run(RowOperation(COUNTS, wait_and_lose), [0, *[1] * 20], lab.session)
    assert len(caught.value.failed) == ended
    assert caught.value.done == [0]


def test_many_rows_are_sorted_although_frames_are_built_while_others_run(lab, monkeypatch):
    monkeypatch.setattr(batch_module, "_PIECE", 5)
    rows = [*range(0, 24, 2)]
    with ThreadPoolExecutor(3) as pool:
        in_threads = run(LOSING, rows[4:], lab.session, Batch(executor=pool))
    with pytest.warns(UserWarning, match="12 of 24 rows failed"):
        mixed = run(LOSING, [*range(24)][::-1], lab.session, Batch(3))

    assert in_threads["n"].tolist() == rows[4:]
    assert mixed["n"].dropna().tolist() == [*range(22, -1, -2)]
