import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from fsspec.implementations.memory import MemoryFileSystem

import svc_notebooks as svc
from svc_notebooks.client.uploads.sources import open_source


def refuse_reads_behind_the_end(system: MemoryFileSystem, path: str, start=None, end=None, **_options) -> bytes:
    """Read a part of a file, and raise the error of S3 if the part is behind the end of the file."""
    content: bytes = system.open(path).getvalue()
    if start is not None and start >= len(content):
        raise OSError(22, "The requested range is not satisfiable")
    return content[start:end]


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryFileSystem]:
    monkeypatch.setattr(MemoryFileSystem, "cat_file", refuse_reads_behind_the_end)
    system = MemoryFileSystem()
    yield system
    system.rm("/", recursive=True)


def test_a_url_is_a_source_of_upload_and_update(lab, memory) -> None:
    memory.pipe({"/data/people.csv": b"name\nAda\n", "/data/new.csv": b"name\nBob\n"})

    stored = svc.upload("memory://data/people.csv")
    assert stored[["name", "size", "mime_type"]].values.tolist() == [["people.csv", 9, "text/csv"]]
    assert svc.update(stored, "memory://data/new.csv")["name"].item() == "people.csv"
    assert svc.read(stored) == b"name\nBob\n"


def test_a_large_url_is_uploaded_in_chunks_that_are_read_in_pieces(lab, memory) -> None:
    content = bytes(range(256)) * 40_000
    memory.pipe("/large.bin", content)

    with mock.patch.object(memory, "cat_file", side_effect=memory.cat_file) as reads:
        stored = svc.upload("memory://large.bin", chunk_size=4 * 262_144)

    assert svc.read(stored) == content
    assert reads.call_count == 3  # the media type, and two pieces of at most 8 MiB


def test_an_upload_from_a_url_continues_with_the_next_call(lab, memory) -> None:
    memory.pipe("/large.bin", bytes(600_000))
    svc.start_upload("memory://large.bin", chunk_size=262_144).send_chunk()
    pending = svc.pending_uploads()

    stored = svc.upload("memory://large.bin", upload_type="resumable", chunk_size=262_144)

    assert pending["source"].tolist() == ["memory://large.bin"]
    assert svc.pending_uploads().empty
    assert stored["size"].item() == 600_000
    assert svc.exchanges().query("method == 'PUT'")["status"].tolist() == [308, 308, 308, 200]  # the second is a query


def test_a_url_that_changes_during_the_upload_is_refused(memory) -> None:
    memory.pipe("/a.csv", b"old!")
    source = open_source("memory://a.csv")
    memory.pipe("/a.csv", b"new!")

    with pytest.raises(svc.SourceChanged, match=r"a\.csv changed while it was uploaded"):
        source.read(0, 4)
    assert open_source("memory://a.csv").fingerprint() != source.fingerprint()


def test_files_are_downloaded_to_a_url(lab, memory) -> None:
    stored = svc.upload([b"1", b"2"], name=["a.txt", "a.txt"])
    saved = svc.download(stored, "memory://results", workers=2)

    urls = ["memory://results/a.txt", "memory://results/a (1).txt"]
    assert saved[["path", "size", "outcome"]].values.tolist() == [[url, 1, "saved"] for url in urls]
    assert [memory.cat(url) for url in urls] == [b"1", b"2"]
    assert svc.download(stored, "memory://results/")["outcome"].tolist() == ["unchanged"] * 2
    with pytest.raises(ValueError, match=r"to is 'memory://a.txt'; for 2 files it must be a folder"):
        svc.download(stored, "memory://a.txt")


@pytest.mark.parametrize("content", [b"new", b"newer"], ids=["same size", "other size"])
def test_a_file_at_a_url_is_replaced_only_on_request(lab, memory, content) -> None:
    stored = svc.upload(content, name="a.txt")
    memory.pipe("/a.txt", b"old")

    with pytest.raises(svc.PathExists, match=r"'memory://a.txt' exists with other content.*overwrite=True"):
        svc.download(stored, "memory://a.txt")
    assert memory.cat("/a.txt") == b"old"

    assert svc.download(stored, "memory://a.txt", overwrite=True)["outcome"].item() == "replaced"
    assert memory.cat("/a.txt") == content


def test_a_folder_and_exports_are_saved_at_a_url(lab, memory) -> None:
    folder = svc.create_folder("Survey")
    svc.upload(b"a", name="a.txt", parent=folder)
    table = svc.upload(b"a,b", name="table.csv", convert_to="spreadsheet", parent=folder)

    saved = svc.download(folder, "memory://saved/")
    exported = [svc.export(table, "xlsx", "memory://saved/table.xlsx")["outcome"].item() for _ in range(2)]

    assert saved["path"].tolist() == ["memory://saved/Survey/a.txt", "memory://saved/Survey/table.xlsx"]
    assert memory.cat("/saved/Survey/a.txt") == b"a"
    assert exported == ["saved", "unchanged"]


@pytest.mark.parametrize(
    "url, kind, words",
    [
        ("memory://none.csv", FileNotFoundError, "'memory://none.csv' does not exist"),
        ("memory://data", IsADirectoryError, "'memory://data' is a folder; give the URL of a file"),
        ("memory://data/*.json", FileNotFoundError, "matches no file"),
        ("nothing://data", ValueError, "Protocol not known: nothing"),
    ],
)
def test_a_url_that_cannot_be_read_is_refused_before_anything_is_sent(lab, memory, url, kind, words) -> None:
    memory.pipe("/data/a.csv", b"a")

    with pytest.raises(kind, match=words):
        svc.upload(["memory://data/a.csv", url])

    assert svc.files().empty


def test_file_urls_are_paths_and_another_url_without_fsspec_names_the_extra(lab, tmp_path: Path) -> None:
    (tmp_path / "my data").mkdir()
    (tmp_path / "my data" / "a.csv").write_bytes(b"a")

    with mock.patch.dict(sys.modules, {"fsspec.core": None}):
        file = svc.upload((tmp_path / "my data" / "a.csv").as_uri())
        folder = svc.upload((tmp_path / "my data").as_uri())
        with pytest.raises(ImportError, match=r"'s3://bucket/a.csv' needs .* pip install 'svc-notebooks\[fsspec\]'"):
            svc.upload("s3://bucket/a.csv")
    assert (svc.read(file), folder["path"].tolist()) == (b"a", ["my data/a.csv"])
