"""Upload sessions of a service in a folder after it was closed and opened again (A3-19)."""

from pathlib import Path

import pytest

from svc_notebooks.server.service import open_service
from tests.contract.conftest import InProcess, Q

N = 3 * Q
CONTENT = bytes(range(256)) * (N // 256)


def open_wire(store: Path, token: str | None = None) -> InProcess:
    wire = InProcess(open_service(store, seed=0), "http://svc.test")
    wire.token = token or wire.token
    return wire


@pytest.mark.spec("A3-19", "A3-19a")
def test_open_and_finished_sessions_and_files_are_there_after_a_restart(tmp_path: Path) -> None:
    first = open_wire(tmp_path)
    uri, finished = first.begin({"name": "big"}), first.begin()
    first.put(uri, CONTENT[:Q], f"bytes 0-{Q - 1}/{N}")
    file = first.put(finished, CONTENT).json
    first.service.close()

    second = open_wire(tmp_path, first.token)
    answer = second.put(uri, b"", f"bytes */{N}")
    done = second.put(uri, CONTENT[Q:], f"bytes {Q}-{N - 1}/{N}")

    assert (answer.status, answer.headers["range"]) == (308, f"bytes=0-{Q - 1}")
    assert (done.status, done.json["name"]) == (200, "big")
    assert second.download(done.json["id"]).body == second.download(file["id"]).body == CONTENT
    assert second.put(finished, b"", "bytes */*").json == file
    second.service.close()


def test_a_database_of_another_kind_or_without_a_folder_for_contents_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'mysql'") as refused:
        open_service("mysql://ada:hush-hush@localhost/svc")
    assert "hush-hush" not in str(refused.value)
    with pytest.raises(ValueError, match="needs a folder"):
        open_service("postgresql://localhost/svc")
    with pytest.raises(ValueError, match="content applies only"):
        open_service(tmp_path / "store", content=tmp_path)
    with pytest.raises(ValueError, match="can be shared"):
        open_service(tmp_path / "store", shared=True)
