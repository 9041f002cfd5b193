import numpy as np
import pytest

import svc_notebooks as svc
from svc_notebooks.core.files.fields import FILE_FIELDS
from svc_notebooks.core.http.messages import Request
from svc_notebooks.notebook.frames import FILE, FILES, frame


def dtypes(frame):
    return frame.dtypes.astype(str).to_dict()


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


def test_the_fields_that_were_set_are_the_first_columns_of_a_new_event(lab):
    made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03", color=4, location="Room 3")

    assert list(made.columns[:5]) == ["summary", "start", "end", "location", "color_id"]
    assert sorted(made.columns) == sorted(svc.event(made).columns)
