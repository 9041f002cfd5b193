"""Tests folders: creating them, files in them, and moving."""

import pytest

import svc_notebooks as svc
from svc_notebooks import BadRequest, Names


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


@pytest.mark.parametrize("form", [lambda row: row, lambda row: row.iloc[0], lambda row: row["web_view_link"].item()])
def test_files_are_created_in_a_folder(data, form):
    folder = form(data)

    svc.upload([b"1", b"2"], name=["a", "b"], parent=folder)
    svc.create_file("c", parent=folder)
    svc.start_upload(b"3", name="d", parent=folder).run()
    svc.copy(svc.upload(b"4", name="e"), "e", parent=folder)

    assert names_in(data) == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize("short", ["folder", "document", "spreadsheet", "presentation", "drawing", "script"])
def test_short_media_types_are_those_of_the_brand(short):
    with svc.sandbox(names=Names(media_prefix="application/vnd.google-apps.")):
        made = svc.create_file("x", mime_type=short)

    assert made["mime_type"].item() == f"application/vnd.google-apps.{short}"


def test_files_and_folders_move(data):
    plots, files = svc.create_folder("Plots"), svc.upload([b"1", b"2"], name=["a", "b"])

    moved = svc.move([plots, files], to=data)

    assert moved["name"].tolist() == ["Plots", "a", "b"]
    assert [parent for parents in moved["parents"] for parent in parents] == data["id"].tolist() * 3
    assert names_in(data) == ["a", "b", "Plots"]


@pytest.mark.parametrize("top", [None, "root"])
def test_files_move_to_the_top_folder(data, top):
    file = svc.upload(b"1", name="a", parent=data)

    assert svc.move(file, to=top)["parents"].item() == svc.file("root")["id"].tolist()
    assert names_in(data) == []


def test_a_file_that_is_in_the_folder_is_not_changed(lab, data):
    file = svc.upload(b"1", name="a", parent=data)
    before = svc.file(file, fields="version").squeeze()

    svc.move(file, to=data)

    assert svc.file(file, fields="version").squeeze() == before


def test_a_folder_in_the_trash_is_refused_and_the_file_stays(lab, data):
    file = svc.upload(b"1", name="a")
    svc.trash(data)

    with pytest.raises(ValueError, match="to is 'Data', a folder in the trash; restore it first with untrash"):
        svc.move(file, to=data)

    assert not svc.file(file)["trashed"].item()


def test_a_file_as_target_is_refused(data):
    file, other = svc.upload([b"1", b"2"], name=["a", "b"]).iloc

    with pytest.raises(ValueError, match=r"to is 'b', a file of the type .*; give a folder"):
        svc.move(file, to=other)


def test_a_failed_move_does_not_stop_the_others(data):
    inner, file = svc.create_folder("Inner", parent=data), svc.upload(b"1", name="a")

    with pytest.warns(UserWarning, match="1 of 2 rows failed; .* row 0: NotFound"):
        moved = svc.move(["nothing", file], to=inner)
    with pytest.raises(BadRequest, match="a folder cannot be moved into itself"):
        svc.move(data, to=inner)

    assert moved[["id", "outcome"]].values.tolist() == [["nothing", "failed"], [file["id"].item(), "done"]]
    assert names_in(inner) == ["a"]


@pytest.mark.parametrize("name", ["mime_type", "mimeType"])
def test_a_folder_has_no_other_media_type(lab, name):
    with pytest.raises(TypeError, match=rf"{name} cannot be set for a folder; create_file\(name, mime_type=\.\.\.\)"):
        svc.create_folder("Data", **{name: "document"})
