import gzip
from functools import partial

import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.core.http.media_types import CSV, XLSX
from svc_notebooks.notebook.tables import formats

TABLE = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
OLD = b"a,b\n"


@pytest.mark.parametrize(
    "name, media_type, content",
    [
        (None, "text/csv", b"a,b\n1,x\n2,\n"),
        ("table", "text/csv", b"a,b\n1,x\n2,\n"),
        ("table.txt", "text/csv", b"a,b\n1,x\n2,\n"),
        ("table.gz", "text/csv", b"a,b\n1,x\n2,\n"),
        ("table.csv", "text/csv", b"a,b\n1,x\n2,\n"),
        ("table.csv.gz", "application/gzip", b"a,b\n1,x\n2,\n"),
        ("table.TSV", "text/tab-separated-values", b"a\tb\n1\tx\n2\t\n"),
        ("table.json", "application/json", b'[{"a":1,"b":"x"},{"a":2,"b":null}]'),
        ("table.jsonl", "application/jsonl", b'{"a":1,"b":"x"}\n{"a":2,"b":null}\n'),
        ("table.ndjson", "application/x-ndjson", b'{"a":1,"b":"x"}\n{"a":2,"b":null}\n'),
    ],
)
def test_the_name_says_the_format(lab, name, media_type, content):
    file = svc.upload(TABLE, name=name)

    assert file["mime_type"].item() == media_type
    assert (gzip.decompress if media_type.endswith("gzip") else bytes)(svc.read(file)) == content


def test_frames_of_this_package_become_workbooks_and_row_numbers_are_announced(lab):
    with pytest.warns(UserWarning, match="is not sent") as caught:
        svc.upload(TABLE.iloc[[1, 0, 1]], name="a.csv")
    assert caught[0].filename == __file__

    with pytest.warns(UserWarning, match="'modified_time' without the time zone, column 'created_time' without"):
        file = svc.upload(svc.files(), name="files.xlsx")
    table = svc.read_frame(file)
    assert table["name"].tolist() == ["a.csv"]
    assert table["created_time"].dtype.kind == "M"


@pytest.mark.parametrize("name", ["a.docx", "a.PDF", "a.png", "a.md", "a.tar.gz", "a.pdf.gz"])
def test_a_name_of_another_format_is_refused(lab, name):
    file = svc.upload(OLD, name=name)

    for call in (partial(svc.upload, TABLE, name=name), partial(svc.update, file, TABLE)):
        with pytest.raises(ValueError, match=r"a DataFrame is not written as \.\w+; name the file \.xlsx"):
            call()
    assert svc.read(file) == OLD


@pytest.mark.parametrize(
    "name, arguments, error, words",
    [
        (None, {"source": TABLE["a"]}, TypeError, r"source must not be a Series: give source\.to_frame\(\)"),
        ("table.xls", {}, ValueError, r"not written as Excel 97 to 2003; name the file \.xlsx"),
        (None, {"mime_type": formats.BY_NAME["ods"].media_types[0]}, ValueError, "OpenDocument"),
        ("table.feather", {}, ValueError, r"not written as \.feather; name the file \.xlsx"),
        ("table.json", {"source": pd.DataFrame([[1, 2]], columns=["a", "a"])}, ValueError, "unique"),
    ],
    ids=["a Series", "old Excel", "OpenDocument", "Feather", "two names"],
)
def test_a_frame_that_cannot_be_written_is_refused_before_anything_is_sent(lab, name, arguments, error, words):
    with pytest.raises(error, match=words):
        svc.upload(**{"source": TABLE, "name": name, **arguments})
    with pytest.raises(ValueError, match="chunk_size"):
        svc.update("an-id-0" * 4, TABLE, chunk_size=5)

    assert len(svc.exchanges()) == 0


KEPT = {
    "bytes of a workbook": (lambda path: svc.read(svc.upload(TABLE, name="a.xlsx")), {}, XLSX, XLSX),
    "a path without an extension": (lambda path: path / "new", {}, CSV, CSV),
    "a path with an unknown extension": (lambda path: path / "new.bin", {}, CSV, CSV),
    "a path with an extension": (lambda path: path / "new.json", {}, CSV, "application/json"),
    "a file object": (lambda path: (path / "new").open("rb"), {}, CSV, CSV),
    "a new name": (lambda path: b"{}", {"name": "new.json"}, CSV, "application/json"),
    "a new name without an extension": (lambda path: b"{}", {"name": "new"}, CSV, CSV),
    "a media type": (lambda path: b"{}", {"mime_type": "text/html"}, CSV, "text/html"),
    "an unknown type": (lambda path: b"%PDF-1.7", {}, "application/octet-stream", "application/pdf"),
    "a charset": (lambda path: b"a", {}, "text/csv; charset=cp1252", "text/csv; charset=cp1252"),
}


@pytest.mark.parametrize("make, more, before, after", KEPT.values(), ids=KEPT)
def test_new_content_has_the_type_that_is_named_or_that_of_the_file(lab, tmp_path, make, more, before, after):
    for name in ("new", "new.bin", "new.json"):
        (tmp_path / name).write_bytes(b"{}")
    source, file = make(tmp_path), svc.upload(OLD, name="table", mime_type=before)

    assert svc.update(file, source, **more)["mime_type"].item() == after
    if hasattr(source, "close"):
        source.close()


@pytest.mark.parametrize(
    "name, arguments, media_type, start",
    [
        ("a.json", {}, "application/json", b'[{"a"'),
        ("a.tsv", {}, "text/tab-separated-values", b"a\tb"),
        ("a.ndjson", {}, "application/x-ndjson", b'{"a"'),
        ("a.csv.gz", {}, "application/gzip", b"\x1f\x8b"),
        ("a.txt", {}, CSV, b"a,b"),
        ("a.dat", {}, CSV, b"a,b"),
        ("a.json", {"name": "b.tsv"}, "text/tab-separated-values", b"a\tb"),
        ("a.json", {"mime_type": CSV}, CSV, b"a,b"),
    ],
)
def test_a_frame_gets_the_format_of_the_file(lab, name, arguments, media_type, start):
    file = svc.upload(OLD, name=name)

    updated = svc.update(file, TABLE, **arguments)

    assert updated["mime_type"].item() == media_type
    assert svc.read(file).startswith(start)


def test_an_upload_of_a_frame_is_resumed_with_the_frame(lab):
    table = pd.DataFrame({"a": range(50_000)})
    begun = svc.start_upload(table, name="a.jsonl", chunk_size=262_144)
    begun.send_chunk()

    file = svc.resume_upload(begun.session_uri, table).run()

    assert svc.read_frame(file).equals(table)


SET = {"description": "counts", "folder_color_rgb": "#ff0000", "properties": {"lab": "7"}, "starred": True}
CALLS = {
    "upload": lambda file: svc.upload(b"x", metadata=SET),
    "upload resumable": lambda file: svc.upload(b"x", metadata=SET, upload_type="resumable"),
    "update": lambda file: svc.update(file, **SET),
    "update with content": lambda file: svc.update(file, b"x", **SET),
    "create_file": lambda file: svc.create_file(name="a", **SET),
    "copy": lambda file: svc.copy(file, **SET),
    "start_upload": lambda file: svc.start_upload(b"x", metadata=SET).run(),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_returns_the_columns_that_were_set(lab, name):
    row = CALLS[name](svc.upload(b"x"))

    of_a_batch = [] if name in ("create_file", "start_upload") else ["outcome", "error", "attempts", "seconds"]
    checksum = ["md5_checksum"] if name.startswith("upload") else []
    set_fields = ["description", "folder_color_rgb", "properties"]
    assert {*row.columns} == {*svc.files().columns, *checksum, *set_fields, *of_a_batch}
    assert row["description"].item() == "counts"
    assert row["properties"].item() == {"lab": "7"}
    assert row["starred"].item()
