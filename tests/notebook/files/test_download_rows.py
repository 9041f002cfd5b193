import pytest

import svc_notebooks as svc
from tests.notebook.batch.test_batch import PicklingExecutor

FIELDS = "id,name,size,mime_type,md5_checksum"
BATCH_COLUMNS = ["outcome", "error", "attempts", "seconds"]


@pytest.fixture
def served(lab):
    """A session of a service on a socket, which is the current session."""
    with lab.serve() as server, svc.connect(server.base_url, lab.access_token) as session:
        yield session


@pytest.fixture
def listed(lab):
    """Three files in a frame with all that a download needs to know."""
    svc.upload([b"1", b"22", b"333"], name=["a.txt", "b.txt", "a.txt"])
    return svc.files(fields=FIELDS, order_by="createdTime,name").sort_values("size")


def sent(lab, call):
    """Return the paths of the requests that a call sends, with "content" for a content request."""
    first = lab.session.exchanges.last
    call()
    urls = [exchange.url for exchange in lab.session.exchanges if exchange.n > first]
    return ["content" if "alt=media" in url else "metadata" for url in urls]


def test_a_row_with_size_checksum_and_type_needs_one_request(lab, listed, tmp_path):
    for n, files in enumerate((listed, listed.to_dict("records"), listed.iloc[1])):
        count = 3 if n < 2 else 1
        assert sent(lab, lambda files=files, to=tmp_path / f"{n}/": svc.download(files, to)) == ["content"] * count
        assert sent(lab, lambda files=files, to=tmp_path / f"{n}/": svc.download(files, to)) == ["metadata"] * count


def test_an_old_row_downloads_the_content_of_today(lab, listed, tmp_path):
    row = listed.iloc[2]
    svc.download(row, tmp_path)
    svc.update(row, b"4" * row["size"])
    with pytest.raises(svc.PathExists):
        svc.download(row, tmp_path)
    assert svc.download(row, tmp_path, overwrite=True)["outcome"].item() == "replaced"
    assert (tmp_path / "a.txt").read_bytes() == b"4" * row["size"]

    svc.update(row, b"4444")
    requests = sent(lab, lambda: svc.download(row, tmp_path / "new.txt"))
    assert requests == ["content", "metadata", "content"], "the row does not describe the content"
    assert (tmp_path / "new.txt").read_bytes() == b"4444"
    svc.delete(row)
    with pytest.raises(svc.NotFound):
        svc.download(row, tmp_path)


def test_a_row_that_lacks_a_column_and_a_byte_range_need_the_metadata(lab, listed, tmp_path):
    for column in ("name", "size", "mime_type", "md5_checksum"):
        rows = listed.drop(columns=column)
        requests = sent(lab, lambda rows=rows, to=tmp_path / column: svc.download(rows, to))
        assert requests == ["metadata"] * 3 + ["content"] * 3
    assert sent(lab, lambda: svc.download(listed.iloc[2], tmp_path, byte_range=(0, 1))) == ["metadata", "content"]


def test_content_that_arrives_damaged_is_not_saved(lab, listed, tmp_path, monkeypatch):
    monkeypatch.setattr("svc_notebooks.client.downloads.ranged_download.Memory.digest", lambda memory, name: "0" * 32)

    with pytest.raises(svc.ContentMismatch):
        svc.download(listed.iloc[2], tmp_path)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("workers", [1, 3])
def test_rows_of_one_name_never_replace_each_other(lab, tmp_path, served, workers):
    contents = [b"%d" % n for n in range(12)]
    files = svc.upload(contents, name=["same.txt"] * 12)

    saved = svc.download(files, tmp_path, overwrite=True, workers=workers)

    assert [(tmp_path / path).read_bytes() for path in saved["path"]] == contents
    assert list(saved.columns.intersection(BATCH_COLUMNS)) == BATCH_COLUMNS
    assert len(list(tmp_path.iterdir())) == 12


def test_a_failed_row_has_what_is_known_of_it(lab, listed, tmp_path):
    (tmp_path / "b.txt").write_bytes(b"mine")

    with pytest.warns(UserWarning, match="1 of 3 rows failed.*b.txt' exists with other content"):
        saved = svc.download(listed, tmp_path)

    failed = saved.iloc[1]
    assert failed[["id", "name", "of", "outcome"]].tolist() == [listed["id"].iloc[1], "b.txt", 2, "failed"]
    assert (tmp_path / "b.txt").read_bytes() == b"mine"


@pytest.mark.parametrize("how", [{"workers": 3}, {"executor": PicklingExecutor()}], ids=["threads", "executor"])
def test_tables_are_read_in_their_order_up_to_the_first_that_cannot_be_read(served, how):
    files = svc.upload([b"n\n1\n", b"n\n2\n", b"n\n3\n"], name=["a.csv", "b.csv", "a.csv"])
    read = svc.read_frame(files, file_column="name", **how)
    assert read.values.tolist() == [["a.csv", 1], ["b.csv", 2], ["a.csv", 3]]

    svc.update(files.iloc[1], b"{", name="b.json", mime_type="application/json")
    with pytest.raises(ValueError, match=r"b\.json") as caught:
        svc.read_frame(files["id"], workers=1)
    assert caught.value.result["name"].tolist() == ["a.csv"]
    assert caught.value.result["frame"][0]["n"].tolist() == [1]
