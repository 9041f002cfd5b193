import unicodedata

import pytest

import svc_notebooks as svc
from svc_notebooks import PathExists
from svc_notebooks.local.saving import DistinctPaths
from svc_notebooks.notebook.files.downloads.downloads import DownloadRows


@pytest.fixture
def data(lab):
    """The folder `Data` with a.csv, sub/b.csv, sub/deep/c.txt and the folder `empty`."""
    data = svc.create_folder("Data")
    svc.upload(b"a", name="a.csv", parent=data)
    svc.create_folder("empty", parent=data)
    sub = svc.create_folder("sub", parent=data)
    svc.upload(b"b", name="b.csv", parent=sub)
    svc.upload(b"c", name="c.txt", parent=svc.create_folder("deep", parent=sub))
    return data


def contents(folder):
    """The relative paths below a folder, with the content of each file."""
    return {
        path.relative_to(folder).as_posix(): None if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


WHOLE = {
    "Data": None,
    "Data/a.csv": b"a",
    "Data/empty": None,
    "Data/sub": None,
    "Data/sub/b.csv": b"b",
    "Data/sub/deep": None,
    "Data/sub/deep/c.txt": b"c",
}


@pytest.mark.parametrize("to", ["here", "new", "new/inner"])
def test_a_folder_is_saved_with_everything_below(data, tmp_path, to):
    (tmp_path / "here").mkdir()

    saved = svc.download(data, tmp_path / to)

    assert contents(tmp_path / to) == WHOLE
    assert saved["path"].tolist() == [str(tmp_path / to / name) for name in WHOLE if WHOLE[name]]
    assert saved[["size", "of", "outcome"]].values.tolist() == [[1, 1, "saved"]] * 3


def test_a_folder_goes_up_and_comes_back_over_http_at_another_brand(tmp_path):
    names = svc.Names(media_prefix="application/vnd.google-apps.", storage="drive")
    (tmp_path / "Up" / "inner").mkdir(parents=True)
    (tmp_path / "Up" / "inner" / "a.txt").write_bytes(b"a")

    with svc.sandbox(names=names) as lab:
        server = lab.serve()
        svc.connect(server.base_url, lab.access_token, names=names)
        data = svc.create_folder("Data")
        link = f"{server.base_url}/drive/v3/files/{data['id'].item()}"
        outcomes = [svc.upload(tmp_path / "Up", parent=link)["outcome"].tolist() for _ in range(2)]
        svc.download(link, tmp_path / "down")

    assert outcomes == [["uploaded"], ["unchanged"]]
    assert contents(tmp_path / "down" / "Data" / "Up") == contents(tmp_path / "Up")


DOCUMENTS = [
    ("document", "<h1>Birds</h1>", "text/html", "Note.docx"),
    ("spreadsheet", "a,b", "text/csv", "Note.xlsx"),
    ("drawing", '<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml", "Note.svg"),
    ("script", "{}", "application/json", "Note.json"),
]


@pytest.mark.parametrize("native, content, media_type, name", DOCUMENTS)
def test_documents_in_a_folder_are_exported(data, tmp_path, native, content, media_type, name):
    svc.upload(content.encode(), name="Note", mime_type=media_type, convert_to=native, parent=data)

    saved = svc.download(data, tmp_path).set_index("name").loc["Note"]

    assert saved["path"] == str(tmp_path / "Data" / name)
    assert saved["outcome"] == "saved"
    assert saved["size"] == (tmp_path / "Data" / name).stat().st_size
    assert "vnd.svc-apps" not in saved["mime_type"] or native == "script"
    assert svc.download(data, tmp_path)["outcome"].tolist() == ["unchanged"] * 4


def test_a_shortcut_is_named_in_the_outcome_and_in_a_warning(data, tmp_path):
    target = svc.upload(b"x", name="x")
    svc.create_file("to x", parent=data, mime_type="shortcut", shortcut_details={"targetId": target["id"].item()})

    with pytest.warns(UserWarning, match=r"^not downloaded: .*to x \(a shortcut\)$") as caught:
        saved = svc.download(data, tmp_path).set_index("name")

    assert caught[0].filename == __file__
    assert saved.loc["to x", "outcome"] == "skipped"
    assert saved.loc["to x", ["path", "size"]].isna().all()
    assert contents(tmp_path) == WHOLE


NAMES = {
    "../up.txt": ".._up.txt",
    "..": "_",
    "/etc/passwd": "_etc_passwd",
    "a:b?.txt": "a_b_.txt",
    "con.txt": "_con.txt",
    "dot. ": "dot",
    "x" * 300 + ".csv": "x" * 196 + ".csv",
}


def test_names_cannot_leave_the_folder(lab, tmp_path):
    for n, (name, saved) in enumerate(NAMES.items()):
        folder = svc.create_file(name, mime_type="folder")
        svc.upload(b"x", metadata={"name": name}, parent=folder)
        svc.download(folder, tmp_path / str(n) / "to")
        assert set(contents(tmp_path / str(n))) == {"to", f"to/{saved}", f"to/{saved}/{saved}"}


def test_files_and_folders_of_one_name_get_a_path_each(lab, tmp_path):
    top = svc.create_folder("Top")
    for name in ("same", "Same"):
        parent = svc.create_folder(name, parent=top)
        svc.upload(b"1", name="x", parent=parent)
        lab.clock.advance("1s")
        svc.upload(b"2", name="X", parent=parent)
    svc.upload(b"3", name="same", parent=top)

    first, again = (svc.download(top, tmp_path) for _ in range(2))

    expected = ["Same (1)/X (1)", "Same (1)/x", "same/X (1)", "same/x", "same (2)"]
    assert [path for path, content in contents(tmp_path / "Top").items() if content] == expected
    assert again["path"].tolist() == first["path"].tolist()
    assert set(again["outcome"]) == {"unchanged"}


def test_a_local_file_in_the_place_of_a_folder_stays(data, tmp_path):
    (tmp_path / "Data").mkdir()
    (tmp_path / "Data" / "sub").write_bytes(b"mine")

    with pytest.raises(PathExists, match="sub' is a file, where a folder must be") as caught:
        svc.download(data, tmp_path, overwrite=True, errors="raise")

    assert caught.value.result.query("outcome != 'failed'")["name"].tolist() == ["a.csv"]
    assert (tmp_path / "Data" / "sub").read_bytes() == b"mine"


def test_a_byte_range_or_an_archive_of_a_folder_is_refused_and_the_trash_is_not(data, tmp_path):
    with pytest.raises(ValueError, match="byte_range is for files, and 'Data' is a folder"):
        svc.download(data, tmp_path, byte_range=(0, 1))
    for name in ("data.zip", "data.tar.gz", "DATA.7Z"):
        with pytest.raises(ValueError, match=rf"to is '{name}', and 'Data' is a folder.* shutil\.make_archive"):
            svc.download(data, tmp_path / name)
    assert not any(tmp_path.iterdir())
    svc.trash(data)
    svc.download(data, tmp_path)
    assert contents(tmp_path) == WHOLE


@pytest.mark.parametrize("form, other", [("NFC", "NFD"), ("NFD", "NFC")])
def test_a_file_on_disk_is_found_in_another_unicode_form(lab, tmp_path, form, other):
    folder = svc.create_folder(unicodedata.normalize(form, "ü"))
    svc.upload(b"x", name=unicodedata.normalize(form, "각.txt"), parent=folder)
    existing = tmp_path / unicodedata.normalize(other, "ü") / unicodedata.normalize(other, "각.txt")
    existing.parent.mkdir()
    existing.write_bytes(b"x")

    row = svc.download(folder, tmp_path)

    assert row[["outcome", "path"]].values.tolist() == [["unchanged", str(existing)]]
    assert len(contents(tmp_path)) == 2


def test_circles_and_several_parents_are_listed_once(lab, tmp_path, monkeypatch):
    """In other services of the family a file can be in several folders, but not in this service."""
    folder, plain = lab.session.names.native("folder"), {"mimeType": "text/plain", "size": "1"}
    children = {
        "top": [{"id": "a", "name": "a", "mimeType": folder}, {"id": "b", "name": "b", "mimeType": folder}],
        "a": [{"id": "both", "name": "both", "mimeType": folder}, {"id": "x", "name": "x", **plain}],
        "b": [{"id": "both", "name": "both", "mimeType": folder}, {"id": "x", "name": "x", **plain}],
        "both": [{"id": "top", "name": "top", "mimeType": folder}],
    }
    module = "svc_notebooks.notebook.files.downloads.downloads"
    monkeypatch.setattr(f"{module}.list_children", lambda _session, file_id, **_: children[file_id])

    prepared = DownloadRows(lab.session, tmp_path, new_folder=True, paths=DistinctPaths())
    rows = [*prepared.rows([({"id": "top", "name": "top", "mimeType": folder}, None)])]

    folders = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*"))
    assert folders == ["top", "top/a", "top/a/both", "top/b"]
    assert [row.path.relative_to(tmp_path).as_posix() for row in rows] == ["top/a/x", "top/b/x"]


def test_a_file_is_saved_once_if_its_folder_is_listed_too(data, tmp_path):
    saved = svc.download(svc.files(folder=data, recursive=True), to=tmp_path)

    names = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert names == ["a.csv", "sub/b.csv", "sub/deep/c.txt"]
    assert len(saved) == 3
