import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.core.files.fields import FILE_FIELDS
from svc_notebooks.core.http.messages import Request
from svc_notebooks.notebook.frames import FILE, FILES, frame


def test_a_change_of_an_empty_frame_does_not_reach_the_next_one():
    changed = frame(FILES, [])

    changed["note"] = "mine"
    changed.columns = ["x"] * changed.columns.size
    changed.attrs["source"] = "mine"

    fresh = frame(FILES, [])
    assert (fresh.empty, fresh.dtypes.astype(str).to_dict(), fresh.attrs) == (True, FILES.dtypes, {})


@pytest.mark.spec("D-01")
@pytest.mark.parametrize("goes_on", ["run", "resume"])
def test_a_session_that_another_client_began_gives_a_whole_row(lab, goes_on):
    session = svc.Session("https://sandbox.svc.example", lab.service.sign_in(), handler=lab.service.handle)
    begin = Request("POST", f"{session.base_url}/upload/storage/v3/files?uploadType=resumable", session.headers())
    address = session.send(begin).headers["Location"]

    made = getattr(svc.resume_upload(address, bytes(700_000), chunk_size=262_144), goes_on)()

    assert made.equals(svc.files())
    assert made["size"].item() == 700_000


def test_every_field_of_the_file_table_is_a_column_and_what_a_service_leaves_out_is_missing():
    assert set(FILE.keys) == {field.name for field in FILE_FIELDS}
    assert FILE.keys[: len(FILES.keys)] == FILES.keys
    row = frame(FILES, [{"id": "x", "size": "12"}, {"id": "y"}]).iloc[1]
    assert row[["size", "trashed", "name"]].isna().all()


def test_times_of_every_form_are_utc():
    times = ["2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05Z", "2026-01-02T05:04:05.678+02:00", None]
    for time, expected in zip(times, [".678", "", ".678", None], strict=True):
        column = frame(FILES, [{"createdTime": time}, {"createdTime": times[0]}])["created_time"]
        assert column[0] is pd.NaT if time is None else column[0] == pd.Timestamp(f"2026-01-02T03:04:05{expected}Z")


def test_fields_are_named_in_either_spelling_and_an_unknown_one_with_the_nearest(lab):
    made = svc.upload(b"hello")
    file = svc.file(made, fields=["name", "mimeType", "md5_checksum"])
    assert list(file.columns) == ["name", "mime_type", "md5_checksum"]
    assert len(svc.file(made, fields="*").columns) == len(FILE_FIELDS)
    with pytest.raises(ValueError, match="fields has 'md5checksm', which is not a field of a file; did you mean"):
        svc.files(fields="id,md5checksm")
