from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fsspec
import pandas as pd
import pytest
from fsspec.tests import abstract

import svc_notebooks as svc
from svc_notebooks.client.uploads.uploads import start_upload
from svc_notebooks.notebook.files.file_system import SvcFileSystem


class TheFileSystem(abstract.AbstractFixtures):
    """The fixtures of fsspec's suite, with a sandbox for each test."""

    @pytest.fixture
    def fs(self, lab) -> SvcFileSystem:
        return SvcFileSystem()

    @pytest.fixture
    def fs_path(self) -> str:
        return "suite"


languages = pytest.mark.languages
"""These patterns of fsspec's suite need up to 2,000 requests each, so `make client-tests` runs them."""


class TestCopy(TheFileSystem, abstract.AbstractCopyTests):
    test_copy_glob_edge_cases = languages(abstract.AbstractCopyTests.test_copy_glob_edge_cases)
    test_copy_glob_to_existing_directory = languages(abstract.AbstractCopyTests.test_copy_glob_to_existing_directory)
    test_copy_glob_to_new_directory = languages(abstract.AbstractCopyTests.test_copy_glob_to_new_directory)


class TestGet(TheFileSystem, abstract.AbstractGetTests):
    test_get_glob_edge_cases = languages(abstract.AbstractGetTests.test_get_glob_edge_cases)


class TestPut(TheFileSystem, abstract.AbstractPutTests):
    test_put_glob_edge_cases = languages(abstract.AbstractPutTests.test_put_glob_edge_cases)


class TestOpen(TheFileSystem, abstract.AbstractOpenTests):
    pass


class TestPipe(TheFileSystem, abstract.AbstractPipeTests):
    pass


@pytest.fixture
def fs(lab) -> SvcFileSystem:
    return fsspec.filesystem("svc")


def test_pandas_reads_and_writes_by_url(fs) -> None:
    cities = pd.DataFrame({"city": ["Rome", "Oslo"], "n": [1, 2]})

    cities.to_csv("svc://Data/2026/cities.csv", index=False)
    cities.to_parquet("svc://Data/x.parquet")
    cities.tail(1).to_csv("svc://Data/2026/cities.csv", index=False, header=False, mode="a")

    assert pd.read_csv("svc://Data/2026/cities.csv")["n"].tolist() == [1, 2, 2]
    assert pd.read_parquet("svc://Data/x.parquet").equals(cities)
    assert fs.glob("svc://Data/**/*.csv") == ["Data/2026/cities.csv"]
    assert svc.files(name="cities.csv")["mime_type"].tolist() == ["text/csv"]


def test_a_range_is_read_by_a_range_request(fs) -> None:
    fs.pipe("a.bin", bytes(range(256)) * 100)

    with fs.open("a.bin", block_size=100, cache_type="bytes") as file:
        file.seek(1024)
        part = file.read(3)

    assert part == b"\x00\x01\x02"
    assert "Range: bytes=1024-1126" in str(svc.exchange())


def test_a_large_file_is_sent_in_chunks_while_it_is_written(fs, lab) -> None:
    block = bytes(range(256)) * 4096 * 5

    with fs.open("large.bin", "wb") as file:
        for _ in range(4):
            file.write(block)
        with lab.faults({"match": {"method": "PUT"}, "action": {"cut_request_after": 1000}}):
            file.write(block * 2)
        statuses_before_the_end = svc.exchanges()["status"].dropna().tolist()

    assert statuses_before_the_end.count(308) >= 3  # two chunks, and a query after the connection was cut
    assert fs.cat("large.bin") == block * 6


def test_what_an_error_interrupts_changes_nothing(fs) -> None:
    fs.pipe("a.bin", b"old")

    def write(content: bytes) -> None:
        with fs.open("a.bin", "wb") as file:
            file.write(content)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write(bytes(20_000_000))
    fs.start_transaction()
    fs.pipe("a.bin", b"new")
    fs.transaction.complete(commit=False)

    assert fs.cat("a.bin") == b"old"
    assert svc.exchanges().query("method == 'DELETE'")["status"].tolist() == [499]


def test_put_resumes_and_get_verifies(fs, tmp_path: Path) -> None:
    source = tmp_path / "large.bin"
    source.write_bytes(bytes(9_000_000))
    arguments = fs.upload_arguments("copies/large.bin", "overwrite")
    start_upload(fs.session, source, **arguments).send_chunk()

    fs.put_file(source, "copies/large.bin")
    fs.get_file("copies/large.bin", tmp_path / "new" / "large.bin")

    assert svc.pending_uploads().empty
    assert svc.exchanges().query("method == 'PUT'")["status"].tolist() == [308, 308, 200]  # the second is a query
    assert (tmp_path / "new" / "large.bin").stat().st_size == 9_000_000


def test_two_files_of_one_name_have_paths_with_ids(fs) -> None:
    first, second = (svc.upload(content, name="a.csv")["id"].item() for content in (b"1", b"2"))

    assert {*fs.ls("", detail=False)} == {f"a (id={first}).csv", f"a (id={second}).csv"}
    assert {*fs.cat(fs.glob("*.csv")).values()} == {b"1", b"2"}
    with pytest.raises(FileExistsError, match=r"2 files; use 'a \(id=.*' or 'a \(id=.*\)\.csv'"):
        fs.open("a.csv", "wb")
    fs.mv(f"a (id={second}).csv", "b.csv")
    assert fs.cat("a.csv") == b"1"
    assert fs.cat(f"a (id={first}).csv") == b"1"
    assert not fs.exists(f"other/a (id={first}).csv")


def test_each_name_has_a_path(fs) -> None:
    names = ["in/out.csv", "50%2F.csv", "50%252F.csv", "what?.csv", "[x].csv", "*", " a ", "ü (id=x)"]
    for n, name in enumerate(names):
        svc.upload(b"x", metadata={"name": name}, parent=svc.create_folder(f"A{n}"))
        [path] = fs.find(f"A{n}")
        assert fs.cat([path]) == {path: b"x"}
        fs.pipe_file(path.replace(f"A{n}/", f"B{n}/"), b"y")
        assert svc.files(folder=f"B{n}")["name"].tolist() == [name]


def test_shortcuts_are_followed_but_not_walked(fs) -> None:
    folder = svc.create_folder("A")
    inside = svc.upload(b"1", name="a.csv", parent=folder)
    for name, target in [("loop", folder), ("link", inside), ("broken", svc.upload(b"", name="x"))]:
        kind = "application/vnd.svc-apps.shortcut"
        svc.create_file(name=name, parent=folder, mime_type=kind, shortcut_details={"targetId": target["id"].item()})
    svc.delete(svc.files(name="x"))

    assert fs.find("A") == ["A/a.csv", "A/broken", "A/link"]
    assert fs.cat("A/loop/loop/link") == b"1"
    fs.pipe("A/link", b"2")
    assert svc.read(inside) == b"2"
    fs.rm("A/link")
    assert sorted(fs.ls("A/loop", detail=False)) == ["A/loop/a.csv", "A/loop/broken", "A/loop/loop"]
    with pytest.raises(FileNotFoundError, match="shortcut to a file that does not exist"):
        fs.cat("A/broken")


def test_native_documents_are_exported(fs, tmp_path: Path) -> None:
    svc.upload(b"a,b\n1,2\n", name="Budget", convert_to="spreadsheet", mime_type="text/csv")

    assert pd.read_excel("svc://Budget?export=xlsx", engine="openpyxl")["b"].tolist() == [2]
    fs.get("Budget?export=csv", str(tmp_path / "b.csv"))
    assert (tmp_path / "b.csv").read_bytes() == fs.cat("Budget?export=csv")
    with pytest.raises(OSError, match=r"'Budget' is a spreadsheet; add \?export= and a format to its path \(xlsx"):
        fs.open("Budget")


def test_a_moved_file_keeps_its_id_and_a_removed_one_is_in_the_trash(fs) -> None:
    fs.pipe({"A/a.csv": b"1", "B/a.csv": b"old", "C/c.csv": b"3"})
    before = fs.info("A/a.csv")["id"]

    fs.mv("A/a.csv", "B/")
    fs.mv("C", "B", recursive=True)
    fs.rm("A", recursive=True)

    assert fs.info("B/a.csv")["id"] == before
    assert fs.find("") == ["B/C/c.csv", "B/a.csv"]
    assert {*svc.files(trashed=True)["name"]} == {"a.csv", "A"}
    for call in (lambda: fs.rm("B"), lambda: fs.rmdir("B"), lambda: fs.cp_file("B/a.csv", "B/C")):
        with pytest.raises(OSError, match="folder"):
            call()


def test_another_service_is_that_of_the_options_or_of_the_environment(lab, monkeypatch) -> None:
    url, token = lab.serve().base_url, lab.access_token
    svc.upload(b"a\n1\n", name="a.csv")
    with svc.sandbox():
        options = {"base_url": url, "token": token}
        assert pd.read_csv("svc://a.csv", storage_options=options)["a"].tolist() == [1]
        assert svc.files().empty, "the current session stays"

    monkeypatch.setenv("SVC_BASE_URL", url)
    monkeypatch.setenv("SVC_TOKEN", token)
    monkeypatch.setattr("svc_notebooks.client.session._current", None)
    fs = SvcFileSystem(skip_instance_cache=True)
    found = fs.find("")
    with svc.sandbox():  # a session that is opened later comes first
        assert fs.find("") == []
    assert found == ["a.csv"]


def test_threads_create_a_folder_once(fs) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: fs.pipe_file(f"new/folder/{n}", b""), range(8)))
    assert len(fs.find("")) == 8
