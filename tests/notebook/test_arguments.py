import inspect
import io
import pickle

import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.core.errors.errors import NotFound

EVERY, A, B, TWO = ["a.txt", "b.txt", "c.txt"], ["a.txt"], ["b.txt"], ["a.txt", "b.txt"]
MEANT = {
    "id": (lambda three: three["id"][0], A),
    "row": (lambda three: three.iloc[0], A),
    "frame": (lambda three: three, EVERY),
    "list": (lambda three: three["id"].tolist(), EVERY),
    "dict": (lambda three: {"id": three["id"][1]}, B),
    "several rows": (lambda three: [three.iloc[0], three.iloc[1]], TWO),
    "rows and ids": (lambda three: [three.iloc[0], three["id"][1]], TWO),
    "frames": (lambda three: [three[:1], three[1:2]], TWO),
    "column": (lambda three: three["id"][:2], TWO),
    "column without a name": (lambda three: pd.Series(three["id"][:2].tolist(), index=["x", "y"]), TWO),
    "column by names": (lambda three: three[:2].set_index("name")["id"], TWO),
    "Index": (lambda three: pd.Index(three["id"][:2]), TWO),
    "index of the frame": (lambda three: three[:2].set_index("id"), TWO),
    "array": (lambda three: three["id"][:2].unique(), TWO),
    "namedtuples": (lambda three: list(three[:2].itertuples()), TWO),
    "generator": (lambda three: (row for row in three["id"][:2]), TWO),
    "links": (lambda three: three["web_view_link"][:2], TWO),
    "permissions": (lambda three: svc.permissions(three[:2]), TWO),
}


@pytest.mark.spec("D-02", "D-02a")
@pytest.mark.parametrize("make, names", MEANT.values(), ids=MEANT)
def test_files_are_accepted_in_every_form(lab, make, names):
    assert svc.file(make(svc.upload([b"a", b"bb", b"ccc"], name=EVERY)))["name"].tolist() == names


LINKS = [
    *("/file/d/{}/view?usp=storagesdk", "/document/d/{}/edit", "/uc?id={}&export=download", "/file/d/{}/view\n"),
    *("/storage/v3/files/{}?alt=media", "/drive/v3/files/{}/export?mimeType=text/csv"),
    *("/upload/storage/v3/files/{}?uploadType=media", "/drive/u/0/folders/{}"),
]


def test_a_link_to_a_file_names_the_file(lab):
    file = svc.upload(b"hello", name="hello.txt")
    for link in LINKS:
        assert svc.read("https://sandbox.svc.example" + link.format(file["id"].item())) == b"hello"

    for made in (file, svc.upload(b"a,b", name="a.csv", convert_to="spreadsheet"), svc.create_folder("Data")):
        row = svc.file(made, fields="*").iloc[0].dropna()
        links = [row[column] for column in ("web_view_link", "web_content_link") if column in row]
        assert links
        assert [svc.file(link)["id"].item() for link in links] == [row["id"]] * len(links)


def without_required_arguments():
    """The public functions that need no argument except a session."""
    for name in svc.__all__:
        value = getattr(svc, name)
        parameters = {} if isinstance(value, type) else inspect.signature(value).parameters
        required = [parameter for parameter in parameters.values() if parameter.default is parameter.empty]
        if "session" in parameters and all(parameter.kind is parameter.VAR_KEYWORD for parameter in required):
            yield name


@pytest.mark.parametrize("name", list(without_required_arguments()))
def test_a_sandbox_is_accepted_as_a_session(lab, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    svc.receiver(direct=True)  # for watch_changes
    svc.files()  # for exchange
    with svc.sandbox():
        getattr(svc, name)(session=lab)
        assert svc.exchanges().empty


def test_sources_are_paths_bytes_files_frames_and_lists(lab, tmp_path):
    path = tmp_path / "path.txt"
    path.write_bytes(b"path")
    table = pd.DataFrame({"a": [1]})

    made = svc.upload([path, b"bytes", io.BytesIO(b"file"), table, memoryview(b"view")])

    assert [svc.read(file_id) for file_id in made["id"]] == [b"path", b"bytes", b"file", b"a\n1\n", b"view"]
    assert made["mime_type"].tolist()[3] == "text/csv"


ID = "1" * 33
OTHER = "application/vnd.google-apps."
FOLDER, NATIVE = (f"here it is '{name}' or 'application/vnd.svc-apps.{name}'" for name in ("folder", "document"))
WRONG = {
    "no such file": (lambda: svc.upload("nowhere.csv"), OSError, "nowhere.csv"),
    "a folder": (lambda: svc.upload(".", recursive=False), ValueError, r"source '\.' is a folder .*recursive is False"),
    "a folder as content": (lambda: svc.update(ID, "."), OSError, "folder"),
    "nothing matches": (lambda: svc.upload("nowhere/*.csv"), OSError, "'nowhere/.*' matches no file"),
    "a number": (lambda: svc.upload(7), TypeError, "source"),
    "text file": (lambda: svc.upload(io.StringIO("x")), TypeError, "source"),
    "upload type": (lambda: svc.upload(b"x", upload_type="fast"), ValueError, "upload_type.*media"),
    "chunk": (lambda: svc.upload(b"x", chunk_size=5), ValueError, "chunk_size.*262144"),
    "media name": (lambda: svc.upload(b"x", name="n", upload_type="media"), ValueError, "metadata"),
    "field": (lambda: svc.upload(b"x", metadata={"nam": "n"}), TypeError, "nam .*did you mean name"),
    "value": (lambda: svc.upload(b"x", metadata={"starred": "yes"}), ValueError, "starred.*true or"),
    "names": (lambda: svc.upload([b"x", b"y"], name=["x"]), ValueError, "name is a list with 1 value for 2 sources"),
    "one id": (lambda: svc.upload([b"x", b"y"], file_id="i"), ValueError, "file_id is for one source"),
    "progress": (lambda: svc.upload(b"x", progress="yes"), TypeError, "progress"),
    "late field": (lambda: svc.update(ID, parents=["p"]), TypeError, r"parents .*move\(file, to=folder\)"),
    "no change": (lambda: svc.update(ID), ValueError, "nothing to change"),
    "count": (lambda: svc.generate_ids(0), ValueError, "count is 0; .*between 1 and 1000"),
    "count type": (lambda: svc.generate_ids("3"), TypeError, "count"),
    "limit": (lambda: svc.files(limit=-1), ValueError, "limit"),
    "query": (lambda: svc.files(7), TypeError, "query"),
    "empty id": (lambda: svc.trash(""), ValueError, "file has the id ''"),
    "no id": (lambda: svc.trash(pd.DataFrame({"name": ["a"]})), ValueError, "file has no column id"),
    "row without an id": (lambda: svc.trash(pd.Series({"name": "a"}, name=0)), ValueError, "file has no column id"),
    "missing id": (lambda: svc.trash(pd.Series(["a", None])), ValueError, "file has no id in row 1, but"),
    "missing value": (lambda: svc.trash([pd.NA]), ValueError, "file has no id in row 0, but <NA>"),
    "None": (lambda: svc.trash(None), TypeError, "file must be an id, a link, a row, .*, not NoneType"),
    "twice": (lambda: svc.trash(["a", "b", "a"]), ValueError, "file has the id 'a' 2 times; .*drop_duplicates"),
    "link": (lambda: svc.trash("https://svc.example/about"), ValueError, "is not a link to a file; .*web_view_link"),
    "link to ids": (lambda: svc.trash("https://x.example/storage/v3/files/generateIds"), ValueError, "not a link to a"),
    "bytes": (lambda: svc.trash(b"a"), TypeError, "file must be .*, not bytes"),
    "event row": (lambda: svc.event({"name": "a"}), ValueError, "event has no column id"),
    "parents": (lambda: svc.upload(b"x", parent="a", metadata={"parents": "b"}), ValueError, "parent and parents"),
    "two parents": (lambda: svc.create_folder("x", parent=["a", "b"]), ValueError, "parent has 2 files or folders"),
    "parent of a file": (lambda: svc.start_upload(b"x", file=ID, parent="b"), ValueError, "folder are for new files"),
    "another brand": (lambda: svc.create_file("x", mime_type=OTHER + "folder"), ValueError, "of another .*" + FOLDER),
    "query of another brand": (lambda: svc.files(f"mimeType = '{OTHER}folder'"), ValueError, "query is .*" + FOLDER),
    "source of another brand": (lambda: svc.upload(b"x", mime_type=OTHER + "document"), ValueError, "mime_.*" + NATIVE),
    "document of a brand": (lambda: svc.upload(b"", convert_to=OTHER + "document"), ValueError, "convert.*" + NATIVE),
    "native source": (lambda: svc.upload(b"x", mime_type="document"), ValueError, "give convert_to='document'"),
    "many": (lambda: svc.read(["a", "b"]), ValueError, "file has 2 files"),
    "to": (lambda: svc.download([ID, f"{ID}b"], "x.txt"), ValueError, "to is 'x.txt'"),
    "range": (lambda: svc.read(ID, byte_range=(9, 1)), ValueError, "byte_range"),
    "session": (lambda: svc.files(session="mine"), TypeError, "session"),
    "clock": (lambda: svc.sandbox(clock="wall"), ValueError, "clock is 'wall'; .*virtual, system"),
    "exchange": (lambda: svc.exchange("last"), TypeError, "n must"),
    "no exchange": (lambda: svc.exchange(5), ValueError, "nothing was sent yet"),
}


@pytest.mark.spec("D-02", "D-02a")
@pytest.mark.parametrize("call, error, words", WRONG.values(), ids=WRONG)
def test_what_cannot_be_meant_is_refused_before_anything_is_sent(lab, call, error, words):
    with pytest.raises(error, match=words):
        call()

    assert len(svc.exchanges()) == 0


def test_a_word_is_the_name_of_a_file_in_the_top_folder(lab):
    names = ["report", "quarterly_report_draft", "t.csv", "twice", "twice"]
    ids = svc.upload([b"x", b"y", b"a\n1\n", b"1", b"2"], name=names)["id"]

    assert [svc.read(name) for name in names[:2]] == [b"x", b"y"]
    assert svc.read_frame("t.csv")["a"].tolist() == [1]
    assert svc.untrash(svc.trash(["report", "t.csv"])["name"])["trashed"].tolist() == [False, False]
    with pytest.raises(ValueError, match=f"'twice', the path of 2 files; give an id: .*{min(ids[3:])}.*{max(ids[3:])}"):
        svc.trash("twice")
    with pytest.raises(NotFound, match=r"No file has this id.*top folder.*files\(name='nope'\) finds a file"):
        svc.read("nope")
    with pytest.raises(NotFound, match=r"there is no 'nope.csv' at this place. files\(folder='root'\) lists"):
        svc.read("nope.csv")


@pytest.mark.parametrize("call", [svc.delete, svc.trash, lambda name: svc.move(name, to=svc.create_folder("b"))])
def test_a_name_with_a_wildcard_is_that_of_one_file_of_the_top_folder(lab, call):
    svc.upload([b"1", b"2"], name=["why?.txt", "whyA.txt"])

    call("why?.txt")
    assert svc.files(folder="root", name="*.txt", trashed=False)["name"].tolist() == ["whyA.txt"]


def test_without_a_session_a_call_says_how_to_get_one_and_connect_reads_the_environment(monkeypatch):
    with pytest.raises(RuntimeError, match=r"call sandbox\(\).*connect"):
        svc.files()
    with pytest.raises(ValueError, match=r"base_url is missing.*SVC_BASE_URL"):
        svc.connect()
    with pytest.raises(ValueError, match="token is missing"):
        svc.connect(base_url="https://x.example")
    monkeypatch.setenv("SVC_BASE_URL", "https://api.example.org")
    monkeypatch.setenv("SVC_TOKEN", "from-the-environment")
    assert repr(svc.connect()) == "<Session https://api.example.org>"


def test_connect_finds_the_service_of_a_hub_and_its_token_is_for_no_other_address(monkeypatch):
    monkeypatch.setenv("SVC_NOTEBOOKS_URL", "http://127.0.0.1:8000/services/svc")
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "token-of-the-notebook-server")
    session = svc.connect()
    assert repr(session) == "<Session http://127.0.0.1:8000/services/svc>"
    assert session.is_own_token("token-of-the-notebook-server")
    assert b"token-of-the-notebook-server" not in pickle.dumps(session.recipe())
    assert "token-of-the-notebook-server" not in repr(session.recipe())

    with pytest.raises(ValueError, match=r"token is missing.*SVC_TOKEN"):
        svc.connect(base_url="https://api.example.org")
    monkeypatch.setenv("SVC_BASE_URL", "https://api.example.org")
    with pytest.raises(ValueError, match=r"token is missing.*SVC_TOKEN"):
        svc.connect()
