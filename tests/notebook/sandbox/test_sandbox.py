import json
import pickle
import socket
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import svc_notebooks as svc
from svc_notebooks.client.session import Session
from svc_notebooks.core.suggestions import ONLY_IN_A_SANDBOX

NOTEBOOK = Path(__file__).resolve().parents[3] / "notebooks" / "00-start.ipynb"


@pytest.mark.spec("D-01", "D-04", "D-04a")
def test_the_first_notebook_runs_without_a_socket_and_without_a_thread(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("the sandbox asked for a socket or a thread")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    monkeypatch.chdir(NOTEBOOK.parent)
    names: dict[str, object] = {}
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    names["scratch"].cleanup()  # type: ignore[attr-defined]

    assert len(svc.files()) >= 5


def test_the_same_seed_gives_the_same_ids_times_and_waits():
    def run():
        with svc.sandbox(seed=5) as lab, lab.faults(operation="files.create", status=503):
            svc.upload(b"a", file_id=svc.generate_ids(1)["id"].item())
            return svc.exchanges().to_csv(), svc.files().to_csv()

    assert run() == run()


def test_a_folder_keeps_everything_and_uploads_go_on(tmp_path):
    content = bytes(600_000)
    with svc.sandbox(tmp_path / "world"):
        kept = svc.upload(b"kept", name="kept.txt")
        begun = svc.start_upload(content, name="half.bin", chunk_size=262_144)
        begun.send_chunk()

    with svc.sandbox(tmp_path / "world"):
        assert svc.read(kept) == b"kept"
        address = svc.pending_uploads()["session_uri"].item()
        assert svc.resume_upload(address, content).run()["size"].item() == 600_000


def test_a_wait_moves_the_clock_and_a_snapshot_is_restored(lab):
    svc.upload(b"1")
    kept, before = lab.snapshot(), lab.clock.now()
    with lab.faults(status=503, times=3, headers={"Retry-After": "60"}):
        svc.upload(b"2")
    assert (lab.clock.now() - before).total_seconds() >= 180
    lab.restore(kept)
    assert len(svc.files()) == 1


@pytest.mark.parametrize("named", [{}, {"name": "new.bin", "metadata": {"starred": True}}], ids=["content", "metadata"])
def test_the_content_of_a_file_is_replaced_step_by_step(lab, named):
    old = svc.upload(b"old", name="old.bin")
    content = bytes(range(256)) * 2_000
    for wrong in ({"file_id": "x"}, {"convert_to": "document"}, {"metadata": {"id": "x"}}):
        with pytest.raises((TypeError, ValueError), match=r"new files|id can only be set when the file is created"):
            svc.start_upload(b"new", file=old, **wrong)
    assert len(lab.journal()) == 1

    upload = svc.start_upload(content, file=old, chunk_size=262_144, **named)
    assert upload.send_chunk()[["status", "stored"]].values.tolist() == [[308, 262_144]]
    assert svc.read(old) == b"old"
    new = upload.run()
    assert new["id"].item() == old["id"].item()
    assert svc.read(old) == content
    assert (new["name"].item(), bool(new["starred"].item())) == ("new.bin" if named else "old.bin", bool(named))
    begun = lab.journal().query("operation == 'files.update'")[["method", "path"]].values.tolist()
    assert begun == [["PUT", f"/upload/storage/v3/files/{old['id'].item()}"]]


def test_links_are_those_of_the_server_that_answers(lab):
    file = svc.upload(b"x", name="a.txt")
    event = svc.create_event("Seminar", start="2026-11-02 10:00+01:00", end="2026-11-02 11:00+01:00")
    before = file["web_view_link"].item()

    link = lab.link(file)  # starts a server
    with lab.serve() as newer:
        links = [svc.file(file)["web_view_link"].item(), svc.event(event)["html_link"].item(), lab.link(event.iloc[0])]
    attached = svc.update_event(event, attachments=[link])["attachments"].item()

    assert before.startswith("https://sandbox.svc.example/")
    assert {urlsplit(text).netloc for text in links} == {urlsplit(newer.base_url).netloc}
    assert svc.files()["web_view_link"].tolist() == [link] == [lab.link(file["id"].item())]
    assert attached[0]["fileId"] == file["id"].item()
    with pytest.raises(ValueError, match="row has 0 files"):
        lab.link(file.head(0))


def test_send_sends_a_request_as_it_is(lab):
    path = "/storage/v3/files"
    bob = lab.sign_in("bob@svc.example")

    statuses = [
        lab.send("POST", path, body={"name": "a"}).status,
        lab.send("POST", path, {"Content-Type": "application/json"}, "[1]").status,
        lab.send("PATCH", f"/upload{path}/nobody?uploadType=media", {"Transfer-Encoding": "chunked"}, b"x").status,
        lab.send("GET", path, {"Authorization": None}).status,
        lab.send("GET", path, {"authorization": "Bearer wrong"}).status,
        lab.send("GET", path, session=bob).status,
    ]
    response = lab.send("GET", f"{path}?pageSize=1")

    assert statuses == [200, 400, 404, 401, 401, 200]
    assert json.loads(response.body)["files"][0]["name"] == "a"
    assert response.headers["Content-Type"].startswith("application/json")
    assert svc.exchange().url.endswith("pageSize=1")
    with lab.faults(status=503):
        assert lab.send("GET", path).status == 503  # and nothing is repeated
    with lab.faults(reset="after"), pytest.raises(svc.Interrupted, match="No response to GET"):
        lab.send("GET", path)


@pytest.fixture
def session() -> Session:
    """A session of a service that nobody asks."""
    return Session("https://api.example.org", "token")


def test_every_attribute_of_a_sandbox_and_its_clock_has_a_way_elsewhere(session: Session):
    def public(value: object) -> set[str]:
        return {name for name in dir(value) if not name.startswith("_")}

    with svc.sandbox() as lab:
        own = public(lab) - public(session) - {"session"} | {"advance", "freeze", "set"}
        assert own == ONLY_IN_A_SANDBOX.keys()
        assert {"advance", "freeze", "set"} <= public(lab.clock)
        with pytest.raises(AttributeError, match=r"not of its session: use lab\.faults$"):
            lab.session.faults  # noqa: B018 -- the attribute raises


def test_the_error_says_what_to_do_instead(session: Session):
    for name, advice in ONLY_IN_A_SANDBOX.items():
        owner = session.clock if name in {"advance", "freeze", "set"} else session
        with pytest.raises(AttributeError, match=rf"^only a sandbox has '{name}', and this session belongs") as error:
            getattr(owner, name)
        assert advice in str(error.value)


def test_another_attribute_is_missing_as_ever(session: Session):
    assert not hasattr(session, "fautls")
    with pytest.raises(AttributeError, match="a session has no attribute 'urls'; did you mean url") as error:
        session.urls  # noqa: B018 -- the attribute raises
    assert (error.value.name, error.value.obj) == ("urls", session)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(session)
