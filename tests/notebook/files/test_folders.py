import pytest

import svc_notebooks as svc
from svc_notebooks import BadRequest


@pytest.fixture
def data(lab):
    return svc.create_folder("Data")


def names_in(folder):
    return svc.files(f"{svc.file(folder)['id'].item()!r} in parents", order_by="name")["name"].tolist()


def test_a_folder_is_created_in_a_folder(data):
    plots = svc.create_folder("Plots", data, description="of the survey")
    assert plots["parents"].item() == data["id"].tolist()
    assert plots["mime_type"].item() == "application/vnd.svc-apps.folder"
    assert svc.file(plots, fields="description").squeeze() == "of the survey"
    for name in ("mime_type", "mimeType"):
        words = rf"{name} cannot be set for a folder; create_file\(name, mime_type=\.\.\.\)"
        with pytest.raises(TypeError, match=words):
            svc.create_folder("Data", **{name: "document"})


@pytest.mark.parametrize("keyword", ["folder", "parent"])
@pytest.mark.parametrize(
    "form", [lambda row: row, lambda row: row.iloc[0], lambda row: row["web_view_link"].item(), lambda row: "/Data/"]
)
def test_files_are_created_in_a_folder(data, form, keyword):
    folder = {keyword: form(data)}

    svc.upload([b"1", b"2"], name=["a", "b"], **folder)
    svc.create_file("c", **folder)
    svc.start_upload(b"3", name="d", **folder).run()
    svc.copy(svc.upload(b"4", name="e"), "e", **folder)
    svc.create_folder("f", **folder)

    assert names_in(data) == ["a", "b", "c", "d", "e", "f"]
    with pytest.raises(ValueError, match="folder and parent name the folder twice"):
        svc.upload(b"1", folder=data, parent=data)


def test_a_path_is_created_once(data):
    year = svc.create_folder("birds/2026", folder=data)
    again = svc.create_folder("/birds/2026/", folder=data, description="robins")
    svc.upload([b"robin", b"wren"], name=["may.csv", "june.csv"], folder=year)
    svc.upload(b"top", name="top.txt")

    assert again[["id", "description"]].values.tolist() == [[year["id"].item(), "robins"]]
    below = svc.files(folder=data, recursive=True, paths=True, order_by="name")
    assert below["path"].tolist() == [
        "Data/birds/2026", "Data/birds", "Data/birds/2026/june.csv", "Data/birds/2026/may.csv"
    ]  # fmt: skip
    assert list(below.columns[:3]) == ["name", "path", "size"]
    assert len(svc.files(folder="root", recursive=True)) == 6
    expected = [[5, "Data/birds/2026/may.csv"]]
    assert svc.files(folder=data, recursive=True, name="m*", fields="size", paths=True).values.tolist() == expected
    for name in ("birds//2026", "../birds", "/"):
        with pytest.raises(ValueError, match="a path with an empty name"):
            svc.create_folder(name)


def test_a_tree_shows_folders_and_sizes_as_text_and_html(data):
    svc.upload([b"robin" * 1000, b"<b>"], name=["may.csv", "<b>"], folder=svc.create_folder("2026", folder=data))
    svc.trash(svc.upload(b"old", name="old"))

    tree = svc.tree(data)

    assert repr(tree).splitlines() == [
        "Data/            2 files, 4.9 KiB",
        "└── 2026/        2 files, 4.9 KiB",
        "    ├── <b>      3 bytes",
        "    └── may.csv  4.9 KiB",
    ]
    assert repr(svc.tree()).splitlines()[1] == "└── Data/            2 files, 4.9 KiB"
    assert "<b>" not in tree._repr_html_()
    assert tree._repr_html_().count("<details") == 2
    assert tree.files["path"].tolist()[0] == "Data/2026"
    with pytest.raises(ValueError, match="which is a file and not a folder"):
        svc.tree(svc.files(name="may.csv"))


def test_files_and_folders_move(data):
    plots, files = svc.create_folder("Plots"), svc.upload([b"1", b"2"], name=["a", "b"])

    moved = svc.move([plots, files], to=data)

    assert moved["name"].tolist() == ["Plots", "a", "b"]
    assert [parent for parents in moved["parents"] for parent in parents] == data["id"].tolist() * 3
    assert names_in(data) == ["a", "b", "Plots"]
    assert svc.move(files, folder=plots)["parents"].tolist() == [plots["id"].tolist()] * 2
    for wrong in ({}, {"to": data, "folder": plots}):
        with pytest.raises(TypeError, match="needs the folder once"):
            svc.move(files, **wrong)


def test_files_move_to_the_top_folder(data):
    file = svc.upload(b"1", name="a", parent=data)
    before = svc.file(file, fields="version").squeeze()
    svc.move(file, to=data)
    assert svc.file(file, fields="version").squeeze() == before, "it is there"
    for top in (None, "root"):
        svc.move(file, to=data)
        assert svc.move(file, to=top)["parents"].item() == svc.file("root")["id"].tolist()
        assert names_in(data) == []


def test_a_file_or_a_folder_in_the_trash_is_refused_as_target(data):
    file, other = svc.upload([b"1", b"2"], name=["a", "b"]).iloc
    with pytest.raises(ValueError, match=r"to is 'b', a file of the type .*; give a folder"):
        svc.move(file, to=other)
    svc.trash(data)
    with pytest.raises(ValueError, match="to is 'Data', a folder in the trash; restore it first with untrash"):
        svc.move(file, to=data)
    assert not svc.file(file)["trashed"].item()


def test_a_failed_move_does_not_stop_the_others(data):
    inner, file = svc.create_folder("Inner", parent=data), svc.upload(b"1", name="a")

    with pytest.warns(UserWarning, match="1 of 2 rows failed; .* row 0: NotFound"):
        moved = svc.move(["nothing", file], to=inner)
    with pytest.raises(BadRequest, match="a folder cannot be moved into itself"):
        svc.move(data, to=inner)

    assert moved[["id", "outcome"]].values.tolist() == [["nothing", "failed"], [file["id"].item(), "done"]]
    assert names_in(inner) == ["a"]
