"""Every operation gives a frame with declared columns and dtypes, whatever the number of rows."""

import numpy as np
import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.core.files.fields import FILE_FIELDS
from svc_notebooks.core.http.messages import Request
from svc_notebooks.notebook.frames import schemas
from svc_notebooks.notebook.frames.frames import Schema, frame
from svc_notebooks.notebook.frames.schemas import FILE, FILES

ALL = {name: schema for name, schema in vars(schemas).items() if isinstance(schema, Schema)}


def dtypes(frame):
    return frame.dtypes.astype(str).to_dict()


@pytest.mark.spec("D-01")
@pytest.mark.parametrize("name", ALL)
def test_an_empty_frame_has_the_columns_and_dtypes_of_a_full_one(name):
    schema = ALL[name]

    for records in ([], [{}]):
        empty_or_full = frame(schema, records)
        assert (list(empty_or_full.columns), dtypes(empty_or_full)) == (list(schema.dtypes), schema.dtypes)


def test_a_change_of_an_empty_frame_does_not_reach_the_next_one():
    changed = frame(FILES, [])

    changed["note"] = "mine"
    changed.columns = ["x"] * changed.columns.size
    changed.attrs["source"] = "mine"

    fresh = frame(FILES, [])
    assert (fresh.empty, dtypes(fresh), fresh.attrs) == (True, FILES.dtypes, {})


@pytest.mark.spec("D-01")
@pytest.mark.parametrize("goes_on", ["run", "resume"])
def test_a_session_that_another_client_began_gives_a_whole_row(lab, goes_on):
    session = svc.Session("https://sandbox.svc.example", lab.service.sign_in(), handler=lab.service.handle)
    begin = Request("POST", f"{session.base_url}/upload/storage/v3/files?uploadType=resumable", session.headers())
    address = session.send(begin).headers["Location"]

    made = getattr(svc.resume_upload(address, bytes(700_000), chunk_size=262_144), goes_on)()

    assert made.equals(svc.files())
    assert made["size"].item() == 700_000


def test_every_field_of_the_file_table_is_a_column():
    assert set(FILE.keys) == {field.name for field in FILE_FIELDS}
    assert FILE.keys[: len(FILES.keys)] == FILES.keys


@pytest.mark.parametrize(
    "text, expected",
    [
        ("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05"),
        ("2026-01-02T05:04:05.678+02:00", "2026-01-02T03:04:05.678"),
        (None, "NaT"),
    ],
)
def test_times_of_every_form_are_utc(text, expected):
    column = frame(FILES, [{"createdTime": text}, {"createdTime": "2026-01-02T03:04:05.678Z"}])

    first = column["created_time"].dt.tz_localize(None).to_numpy()[0]
    assert first == np.datetime64(expected, "ms") or (expected == "NaT" and np.isnat(first))


def test_what_a_service_leaves_out_is_missing():
    row = frame(FILES, [{"id": "x", "size": "12"}, {"id": "y"}]).iloc[1]

    assert row[["size", "trashed", "name"]].isna().all()


def test_fields_are_named_in_either_spelling(lab):
    made = svc.upload(b"hello")

    file = svc.file(made, fields=["name", "mimeType", "md5_checksum"])

    assert list(file.columns) == ["name", "mime_type", "md5_checksum"]
    assert len(svc.file(made, fields="*").columns) == len(FILE_FIELDS)


def test_a_field_that_no_file_has_is_named_with_the_nearest(lab):
    with pytest.raises(ValueError, match="fields has 'md5checksm', which is not a field of a file; did you mean"):
        svc.files(fields="id,md5checksm")


def every_day():
    return svc.create_event("Tea", start="2026-11-02 10:00", end="11:00", time_zone="UTC", recurrence="daily, 3 times")


@pytest.mark.parametrize(
    "call, shown",
    [
        (svc.files, ["name", "size", "notes of a walk in the north of May.txt"]),
        (lambda: svc.upload(b"1", name="one.txt"), ["name", "size", "one.txt"]),
        (lambda: svc.share(svc.files(), "bob@svc.example"), ["email_address", "role", "bob@svc.example"]),
        (svc.doctor, ["check", "status"]),
        (svc.exchanges, ["method", "path", "/storage/v3/files", "status"]),
        (lambda: [svc.sandbox(), svc.files()][0].journal(), ["method", "path", "status"]),
        (lambda: svc.download(svc.files()), ["path", "size", "walk in the north of May.txt"]),
        (lambda: svc.export(svc.upload(b"1", name="one.txt", convert_to="document"), "pdf"), ["path", "one.pdf"]),
        (lambda: [svc.start_upload(bytes(9), name="zeros"), svc.pending_uploads()][1], ["session_uri", "https://"]),
        (lambda: svc.instances(every_day()), ["summary", "start", "status"]),
        (lambda: [every_day(), svc.free_busy(time_min="2026-11-02", time_max="2026-11-03")][1], ["calendar", "busy"]),
        (lambda: svc.watch_file(svc.files(), svc.receiver(direct=True)), ["watching", "state"]),
        (svc.calendars, ["summary", "access_role"]),
        (svc.import_formats, ["native", "extensions"]),
        (svc.export_formats, ["native", "extension"]),
        (
            lambda: svc.create_event("Tea", start="2026-11-02", end="2026-11-03"),
            ["summary", "start", "Tea", "2026-11-02"],
        ),
        (
            lambda: [svc.create_event("Tea", start="2026-11-02"), svc.events()][1],
            ["summary", "start", "Tea", "confirmed"],
        ),
        (lambda: svc.watch_changes(svc.receiver(direct=True)), ["watching", "state"]),
        (
            lambda: [svc.watch_changes(svc.receiver(direct=True)), svc.notifications()][1],
            ["received", "state", "outcome"],
        ),
    ],
)
def test_a_terminal_of_80_columns_shows_what_matters(lab, call, shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    svc.upload(b"12", name="notes of a walk in the north of May.txt")
    with pd.option_context("display.width", 80, "display.max_columns", 0, "display.max_colwidth", 50):
        text = repr(call())

    assert [word for word in shown if word not in text] == []
    assert max(map(len, text.splitlines())) <= 80


def test_the_fields_that_were_set_are_the_first_columns_of_a_new_event(lab):
    made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03", color=4, location="Room 3")

    assert list(made.columns[:5]) == ["summary", "start", "end", "location", "color_id"]
    assert sorted(made.columns) == sorted(svc.event(made).columns)
