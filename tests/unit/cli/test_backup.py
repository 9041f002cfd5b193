import os
import stat
from itertools import count, takewhile
from threading import Event, Thread

import pytest
import requests

from svc_notebooks.cli import main
from svc_notebooks.server.service import open_service
from svc_notebooks.server.store.maintenance import check_store
from tests.commands import serving
from tests.framed import requester

UPLOAD = "/upload/storage/v3/files?uploadType=media"


def test_a_store_in_use_is_copied_and_the_copy_opens(tmp_path, capsys):
    store, copy = tmp_path / "store", tmp_path / "copy"
    with serving("--store", str(store), "--token", "t") as ready:
        sign_in = {"Authorization": "Bearer t"}
        file_id = requests.post(ready["base_url"] + UPLOAD, b"kept", headers=sign_in, timeout=30).json()["id"]
        (store / "sign-in-tokens.csv").touch(mode=0o600)

        status = main(["backup", str(store), str(copy)])

        requests.delete(f"{ready['base_url']}/storage/v3/files/{file_id}", headers=sign_in, timeout=30)
    assert (status, capsys.readouterr().out) == (0, f"{copy}: 1 files, 4 bytes in 1 parts\n")
    assert stat.S_IMODE((copy / "sign-in-tokens.csv").stat().st_mode) == 0o600
    assert check_store(copy).problems == []
    with open_service(copy) as service:
        content = requester(service, "t")("GET", f"/storage/v3/files/{file_id}?alt=media").content()
        assert (service.notes, content) == ([], b"kept")


def test_each_copy_is_consistent_while_files_come_and_go(tmp_path):
    store, done = tmp_path / "store", Event()
    with serving("--store", str(store), "--token", "t") as ready, requests.Session() as session:
        session.headers["Authorization"] = "Bearer t"
        steps = []

        def change():
            while not done.is_set():
                steps.append(session.post(ready["base_url"] + UPLOAD, os.urandom(5000), timeout=30).json()["id"])
                if len(steps) > 20:  # a file of an attempt must live as long as its copy takes
                    session.delete(f"{ready['base_url']}/storage/v3/files/{steps[-21]}", timeout=30)

        thread = Thread(target=change)
        thread.start()
        try:
            # On a busy machine more copies are needed until the first file has gone.
            numbers = takewhile(lambda number: number < 5 or (len(steps) <= 20 and thread.is_alive()), count())
            statuses = [main(["backup", str(store), str(tmp_path / f"copy-{number}")]) for number in numbers]
        finally:
            done.set()
            thread.join()
    reports = [check_store(tmp_path / f"copy-{number}") for number in range(len(statuses))]

    assert set(statuses) == {0}
    assert [report for report in reports if report.problems or report.unnamed] == []
    assert len(steps) > 20


def test_a_damaged_part_is_reported_and_copied(tmp_path, capsys):
    store, copy = tmp_path / "store", tmp_path / "copy"
    with open_service(store) as service:
        assert requester(service)("POST", UPLOAD, b"kept").status == 200
    (part,) = (path for path in (store / "parts").rglob("*") if path.is_file())
    part.write_bytes(b"lost")

    assert main(["backup", str(store), str(copy)]) == 1
    assert f"part {part.name} is damaged" in capsys.readouterr().err
    assert (copy / "parts" / part.parent.name / part.name).read_bytes() == b"lost"


@pytest.mark.parametrize(
    "target, problem",
    [
        ("full", "is not empty; choose a new folder"),
        ("file", "is a file; choose a new folder"),
        ("store/copy", "is in the folder of the store"),
    ],
)
def test_a_target_that_exists_is_not_changed(tmp_path, capsys, target, problem):
    with open_service(tmp_path / "store"):
        pass
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")

    assert main(["backup", str(tmp_path / "store"), str(tmp_path / target)]) == 2
    assert problem in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine.txt"]
