"""`svc-notebooks sweep` lists parts that belong to no file, and deletes them only if it is asked to."""

import os
import time
from pathlib import Path

import pytest

from svc_notebooks.cli import main
from svc_notebooks.server.service import open_service
from svc_notebooks.server.store.migration import sweep
from tests.contract.wire import InProcess

DAY = 86_400


@pytest.fixture
def store(tmp_path):
    """A data folder with a file, and with two old and one young part that belong to no file, and two other files."""
    folder = tmp_path / "store"
    with open_service(folder, seed=0) as service:
        InProcess(service, "http://svc.test").create(b"kept")
        old = [_stray(service, b"old"), _stray(service, b"older")]
        _stray(service, b"young")
    parts = folder / "parts"
    kept = [path for path in parts.glob("??/*") if path.read_bytes() == b"kept"]
    (parts / "0f").mkdir(exist_ok=True)
    (parts / "0f" / "notes.txt").write_text("mine")
    (parts / "0f" / f"1a{'0' * 30}").write_text("in another folder than its name says")
    for path in [*(parts / key[:2] / key for key in old), *(parts / "0f").iterdir(), *kept]:
        os.utime(path, (time.time() - 2 * DAY,) * 2)
    return folder


def _stray(service: object, content: bytes) -> str:
    writer = service._context.content.parts.writer()
    writer.write(content)
    return writer.commit()


def _files(store: Path) -> set[str]:
    return {path.read_text() for path in (store / "parts").glob("??/*")}


EVERYTHING = {"kept", "old", "older", "young", "mine", "in another folder than its name says"}


def test_old_parts_that_no_row_names_are_deleted_with_delete_alone(store, capsys):
    assert main(["sweep", str(store)]) == 0

    printed = capsys.readouterr().out
    assert printed.count("found: ") == 2
    assert "2 parts with 8 bytes belong to no file or upload" in printed
    assert "1 further parts are younger" in printed
    assert "nothing was deleted: add --delete" in printed
    assert _files(store) == EVERYTHING

    assert main(["sweep", str(store), "--delete"]) == 0

    assert capsys.readouterr().out.count("deleted: ") == 2
    assert _files(store) == EVERYTHING - {"old", "older"}
    with open_service(store), pytest.raises(OSError, match="in use"):
        sweep(str(store), None, min_age=0, now=time.time(), delete=True)


@pytest.mark.parametrize(
    "arguments,message",
    [
        (["{}", "--content", "x"], "applies only to a database"),
        (["postgresql://ada@127.0.0.1:1/x"], "add --content"),
        (["{}/none"], "is not a store"),
    ],
)
def test_other_places_are_refused(store, capsys, arguments, message):
    assert main(["sweep", *(each.format(store) for each in arguments), "--delete"]) == 2
    assert message in capsys.readouterr().err
    assert _files(store) == EVERYTHING
