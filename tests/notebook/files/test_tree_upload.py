import os
import unicodedata
from contextlib import nullcontext
from pathlib import Path

import pytest

import svc_notebooks as svc
from svc_notebooks.local.ledger import Ledger
from svc_notebooks.notebook.files import upload_requests

TREE = {"a.csv": "a", "empty": None, "sub/b.csv": "b", "sub/deep/c.txt": "c"}


@pytest.fixture
def data(lab, tmp_path, monkeypatch):
    """The folder `data` in the current folder, with the files of TREE."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "data", TREE)
    return tmp_path / "data"


def write(folder, tree):
    for name, content in tree.items():
        path = folder / name
        (path if content is None else path.parent).mkdir(parents=True, exist_ok=True)
        if content is not None:
            path.write_text(content)


def stored_tree(parent="root", above=""):
    """The paths of all files and folders on the service, with the content of each file."""
    tree = {}
    for row in svc.files(f"{svc.file(parent)['id'].item()!r} in parents", order_by="name").itertuples():
        if row.mime_type.endswith("folder"):
            tree |= {f"{above}{row.name}/": None} | stored_tree(row.id, f"{above}{row.name}/")
        else:
            tree.setdefault(above + row.name, []).append(svc.read(row.id).decode())
    return tree


WHOLE = {
    "data/": None,
    "data/a.csv": ["a"],
    "data/empty/": None,
    "data/sub/": None,
    "data/sub/b.csv": ["b"],
    "data/sub/deep/": None,
    "data/sub/deep/c.txt": ["c"],
}


@pytest.mark.parametrize("source", ["data", "data/", "./data", Path("data"), "../{}/data"])
def test_a_folder_goes_up_with_everything_below(data, source):
    source = source.format(data.parent.name) if isinstance(source, str) else source

    made = svc.upload(source)

    assert made["path"].tolist() == ["data/a.csv", "data/sub/b.csv", "data/sub/deep/c.txt"]
    assert made["outcome"].tolist() == ["uploaded"] * 3
    assert made["mime_type"].tolist() == ["text/csv", "text/csv", "text/plain"]
    assert stored_tree() == WHOLE


PATTERNS = {
    "data/*.csv": ["a.csv"],
    "data/*": ["a.csv", "sub/b.csv", "sub/deep/c.txt"],
    "data/**": ["a.csv", "sub/b.csv", "sub/deep/c.txt"],
    "data/**/*.csv": ["a.csv", "sub/b.csv"],
    "*/sub/b.*": ["data/sub/b.csv"],
    "data/sub/[bc]*": ["b.csv"],
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_keeps_the_folders_below_its_wildcards(data, pattern):
    folder = svc.create_folder("Upload")

    made = svc.upload(pattern, parent=folder)

    assert made["path"].tolist() == PATTERNS[pattern]
    assert sorted(path for path, content in stored_tree(folder).items() if content) == PATTERNS[pattern]


def test_a_repeated_upload_sends_only_what_is_new_or_has_changed(data):
    first = svc.upload("data")
    (data / "new.txt").write_text("n")
    again = svc.upload("data")
    new = {"data/new.txt": "uploaded"}
    assert again.set_index("path")["outcome"].to_dict() == dict.fromkeys(first["path"], "unchanged") | new
    assert set(first["id"]) < set(again["id"])
    assert stored_tree() == {**WHOLE, "data/new.txt": ["n"]}

    (data / "a.csv").write_text("A")
    with pytest.warns(UserWarning, match=r"other content.* data/a\.csv; overwrite=True replaces"):
        outcomes = [set(svc.upload("data")["outcome"]) for _ in range(2)]
    assert outcomes == [{"uploaded beside", "unchanged"}, {"unchanged"}]
    assert sorted(stored_tree()["data/a.csv"]) == ["A", "a"]


@pytest.mark.parametrize("resume", [None, "ledger"])
def test_overwrite_replaces_the_content_of_a_changed_file(data, resume):
    first = svc.upload("data", resume=resume)
    (data / "a.csv").write_text("A")

    second = svc.upload("data", overwrite=True, resume=resume)

    assert second.loc[second["outcome"] == "replaced", "path"].tolist() == ["data/a.csv"]
    assert second["id"].tolist() == first["id"].tolist()
    assert stored_tree()["data/a.csv"] == ["A"]


def test_two_folders_and_files_of_one_name_make_no_further_files(data):
    """On Linux a folder can have both forms of a name, and macOS and the service take them as one."""
    for form in ("NFC", "NFD"):
        write(data, {unicodedata.normalize(form, f"ü/é{n}.txt"): f"{n} {form}" for n in range(2)})
    first, second = svc.upload("data"), svc.upload("data")

    tree = stored_tree()
    assert (first["outcome"].tolist(), second["outcome"].tolist()) == (["uploaded"] * 7, ["unchanged"] * 7)
    assert sorted(text for texts in tree.values() for text in texts or [] if " " in text) == [
        "0 NFC", "0 NFD", "1 NFC", "1 NFD"
    ]  # fmt: skip
    assert sum(path.endswith("/") for path in tree) == 5, "one folder for both"


def test_folders_in_the_trash_are_not_used_and_metadata_and_conversion_apply_to_each_file(data):
    svc.upload("data")
    svc.trash(svc.files("name = 'data'"))
    assert set(svc.upload("data")["outcome"]) == {"uploaded"}

    made = svc.upload("data/**/*.csv", convert_to="auto", metadata={"starred": True})
    assert made["name"].tolist() == ["a", "b"]
    assert made["starred"].tolist() == [True, True]
    assert made["mime_type"].str.endswith("spreadsheet").all()


def test_hidden_files_links_and_devices_are_named_in_a_warning(data):
    write(data, {".env": "secret", ".git/config": "g"})
    assert svc.upload("data", include_hidden=True)["path"].tolist()[:2] == ["data/.env", "data/.git/config"]
    (data / "link").symlink_to("sub")
    (data / "a link.csv").symlink_to("a.csv")
    os.mkfifo(data / "pipe")

    with pytest.warns(UserWarning, match="not uploaded") as caught:
        made = svc.upload("data")
    assert caught[0].filename == __file__
    for text in (
        *("data/.env (hidden)", "include_hidden=True", "data/link (a symbolic link)"),
        *("data/a link.csv (a symbolic link)", "data/pipe (not a regular file)"),
    ):
        assert text in str(caught[0].message)
    assert made["path"].tolist() == ["data/a.csv", "data/sub/b.csv", "data/sub/deep/c.txt"]
    with pytest.warns(UserWarning, match=r"not uploaded: link \(a symbolic link\)$"):
        assert svc.upload("data/*/*.csv")["path"].tolist() == ["sub/b.csv"]


def test_a_file_that_cannot_be_read_does_not_stop_the_others(data, monkeypatch):
    for method in ("open", "iterdir"):
        plain = getattr(Path, method)

        def refuse(path, *args, plain=plain, **options):
            if path.name in {"a.csv", "deep"}:  # unreadable, also for root
                raise PermissionError(13, "Permission denied", str(path))
            return plain(path, *args, **options)

        monkeypatch.setattr(Path, method, refuse)
    with pytest.raises(PermissionError) as caught:
        svc.upload("data", errors="raise")

    result = caught.value.result
    assert result["path"].tolist() == ["data/a.csv", "data/sub/b.csv", "data/sub/deep"]
    assert result["outcome"].tolist() == ["failed", "uploaded", "failed"]
    notes = "\n".join(caught.value.__notes__)
    assert "1 of 3 succeeded" in notes
    assert "data/a.csv: PermissionError" in notes
    assert "data/sub/deep: PermissionError" in notes


@pytest.mark.parametrize("arguments", [{}, {"convert_to": "document"}], ids=["files", "documents"])
def test_an_upload_with_a_ledger_sends_each_file_once(data, monkeypatch, arguments):
    save, done = Ledger.save, []

    def interrupted_save(self, key, state, **values):
        if state == "done" and not done:
            done.append(key)
            raise KeyboardInterrupt
        save(self, key, state, **values)

    (data / "a.csv").rename(data / "a.txt")
    (data / "sub/b.csv").rename(data / "sub/b.txt")
    monkeypatch.setattr(Ledger, "save", interrupted_save)
    with pytest.raises(KeyboardInterrupt):
        svc.upload("data", resume="survey", workers=2, **arguments)
    unverified = pytest.warns(svc.UnverifiedUploadWarning, match="native documents have none")
    with unverified if arguments else nullcontext():
        svc.upload("data", resume="survey", **arguments)
    (data / "new.txt").write_text("n")
    again = svc.upload("data", resume="survey", **arguments)

    assert again["outcome"].tolist() == ["skipped", "uploaded", "skipped", "skipped"]
    assert again["name"].str.removesuffix(".txt").tolist() == ["a", "new", "b", "c"]
    assert len(svc.files("mimeType != 'application/vnd.svc-apps.folder'")) == 4


@pytest.mark.parametrize("preset", ["lost receipt", "flaky wifi"])
def test_no_fault_creates_a_second_file_or_folder(lab, data, preset):
    with lab.faults(preset):
        made = svc.upload("data")

    assert made["outcome"].tolist() == ["uploaded"] * 3
    assert stored_tree() == WHOLE


def test_more_than_1000_files_need_recursive(data, monkeypatch):
    monkeypatch.setattr(upload_requests, "MAX_FILES", 2)
    before = len(svc.exchanges())

    with pytest.raises(ValueError, match=r"source 'data' has 3 files \(3 bytes\); give recursive=True"):
        svc.upload("data")

    assert len(svc.exchanges()) == before
    assert len(svc.upload("data", recursive=True)) == 3


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"file_id": "a"}, "file_id is the id of one file"),
        ({"name": ["a", "b"]}, "name is for one file or folder"),
        ({"upload_type": "media"}, "a media upload carries no metadata"),
        ({"chunk_size": 5}, "chunk_size 5"),
        ({"convert_to": "word"}, "convert_to must be one of .* not 'word'"),
        ({"parent": ["a", "b"]}, "parent has 2 files or folders"),
    ],
    ids=str,
)
def test_invalid_arguments_are_refused_before_anything_is_sent(data, arguments, words):
    with pytest.raises(ValueError, match=words):
        svc.upload("data", **arguments)

    assert len(svc.exchanges()) == 0
