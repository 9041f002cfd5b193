import json
from pathlib import Path

import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.core.http.messages import Response

REQUIRED = {
    "log": {"version", "creator", "entries"},
    "creator": {"name", "version"},
    "entry": {"startedDateTime", "time", "request", "response", "cache", "timings"},
    "request": {"method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"},
    "postData": {"mimeType", "text"},
    "response": {
        "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize",
        "bodySize",
    },
    "content": {"size", "mimeType"},
    "timings": {"send", "wait", "receive"},
}  # fmt: skip
"""What HAR 1.2 requires of each of its objects."""


def a_run() -> None:
    svc.create_file(name="notes")
    svc.upload(b"hello", name="hello.txt", mime_type="text/plain")
    svc.files("name = 'notes'")


@pytest.mark.spec("D-04", "D-04b")
def test_an_archive_has_all_that_the_format_requires(lab, tmp_path):
    a_run()
    with lab.faults(reset="before"):
        svc.generate_ids(1)

    row = svc.save_har(tmp_path / "run.har").iloc[0]
    path = Path(row["path"])
    log = json.loads(path.read_bytes())["log"]

    assert row["size"] == path.stat().st_size
    assert REQUIRED["log"] <= log.keys()
    assert log["version"] == "1.2"
    assert REQUIRED["creator"] <= log["creator"].keys()
    assert len(log["entries"]) == len(svc.exchanges())
    for entry in log["entries"]:
        assert REQUIRED["entry"] <= entry.keys()
        assert entry["timings"].keys() == REQUIRED["timings"]
        assert REQUIRED["request"] <= entry["request"].keys()
        assert REQUIRED["response"] <= entry["response"].keys()
        assert REQUIRED["content"] <= entry["response"]["content"].keys()
        assert all(
            {"name", "value"} <= header.keys()
            for message in ("request", "response")
            for header in entry[message]["headers"]
        )
        assert REQUIRED["postData"] <= entry["request"].get("postData", dict.fromkeys(REQUIRED["postData"])).keys()
        assert pd.Timestamp(entry["startedDateTime"]).tzinfo


def test_an_archive_has_chosen_exchanges(lab, tmp_path):
    a_run()
    chosen = svc.exchanges(method="POST")

    by_frame = svc.save_har(tmp_path / "frame.har", exchanges=chosen)
    by_number = svc.save_har(tmp_path / "numbers.har", exchanges=[1, 2])

    assert by_frame["exchanges"].tolist() == by_number["exchanges"].tolist() == [2]
    assert (tmp_path / "frame.har").read_bytes() == (tmp_path / "numbers.har").read_bytes()


def test_a_line_may_have_path_and_parameters(lab):
    svc.start_upload(bytes(300_000), name="zeros.bin", chunk_size=262_144).send_chunk()
    lines = ["PUT 308", ("PUT", 308), "put 3xx", "* *", "PUT /upload/storage/v3/files 308"]
    for line in (*lines, "PUT /upload/*?uploadType=resumable 308"):
        svc.assert_exchanges(["POST /upload/storage/v3/files?uploadType=resumable 200", line])


def test_differences_are_shown_line_by_line(lab):
    before = len(svc.exchanges())
    with lab.faults(operation="files.create", reset="after"):
        svc.upload(b"hello", file_id=svc.generate_ids(1)["id"][0])

    with pytest.raises(AssertionError) as raised:
        svc.assert_exchanges(["GET 200", "POST /upload/* 200", "DELETE 204"], after=before)

    lines = [line.split(" (")[0].rstrip() for line in str(raised.value).splitlines()[1:]]
    assert lines == [
        "    GET /storage/v3/files/generateIds 200  n=1",
        "  - POST /upload/* 200",
        "  - DELETE 204",
        *lines[3:],
    ]
    assert [line[2] for line in lines[3:]] == ["+"] * (len(svc.exchanges()) - 1)
    assert "cut the connection" in str(raised.value)


def test_an_invalid_run_or_archive_is_refused(lab, tmp_path):
    for run in (7, None, pd.DataFrame({"a": [1]})):
        with pytest.raises(TypeError, match="second must be a session"):
            svc.compare_exchanges(lab.session, run)
    odd_headers = {"request": {"headers": [{"name": None, "value": ""}]}, "response": {"headers": []}}
    entries = [json.dumps({"log": {"entries": [entry]}}) for entry in ({}, odd_headers)]
    for text in ("", "{}", "[]", *entries, "[" * 100_000):
        (tmp_path / "x.har").write_text(text)
        with pytest.raises(ValueError, match="not an HTTP archive"):
            svc.compare_exchanges(lab.session, tmp_path / "x.har")


def test_an_archive_of_another_program_is_read(lab, tmp_path):
    """Sizes of -1 are unknown, and header names may be in any case."""
    headers = [{"name": "range", "value": "bytes=0-1"}]
    request_entry = {"method": "GET", "url": "https://x/storage/v3/files?a=b", "headers": headers, "bodySize": -1}
    response_entry = {"status": 206, "headers": [], "content": {"size": 2}}
    entry = {"startedDateTime": "2026-11-02T10:00:00.000+01:00", "request": request_entry, "response": response_entry}
    (tmp_path / "x.har").write_text(json.dumps({"log": {"entries": [entry]}}))
    session = svc.Session("https://x", handler=lambda request: Response(206, body=b"ab"))

    differences = svc.compare_exchanges(session, tmp_path / "x.har")

    assert differences[["exchange", "what"]].values.tolist() == [["GET /storage/v3/files", "only in second"]]
