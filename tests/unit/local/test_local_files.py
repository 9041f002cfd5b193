import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from unittest.mock import Mock

import pytest

import svc_notebooks as svc
from svc_notebooks.core.errors.errors import PathExists
from svc_notebooks.local import saving
from svc_notebooks.local.saving import DistinctPaths, free_path, move_into_place, read_file, save_bytes

posix = pytest.mark.skipif(os.name != "posix", reason="modes and devices are of POSIX")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(params=["links", "no links"])
def filesystem(request, monkeypatch):
    """A file system with hard links, and one without."""
    if request.param == "no links":
        monkeypatch.setattr(saving.os, "link", Mock(side_effect=OSError(errno.EPERM, "no links here")))


@pytest.mark.usefixtures("filesystem")
def test_a_file_is_saved_unchanged_or_replaced(tmp_path):
    path = tmp_path / "a.txt"

    outcomes = [
        save_bytes(path, content, overwrite=overwrite).outcome
        for content, overwrite in ((b"one", False), (b"one", False), (b"one", True), (b"two", True))
    ]

    assert outcomes == ["saved", "unchanged", "unchanged", "replaced"]
    assert contents(tmp_path) == {"a.txt": b"two"}


@pytest.mark.usefixtures("filesystem")
@pytest.mark.parametrize("other", [b"one", b"longer"])
def test_other_content_stays(other, tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(other)

    with pytest.raises(FileExistsError, match="exists with other content"):
        save_bytes(path, b"two", overwrite=False)

    assert contents(tmp_path) == {"a.txt": other}


@pytest.mark.usefixtures("filesystem")
def test_of_several_writers_at_once_one_wins_and_no_file_is_lost(tmp_path):
    """Each looks before any has written: the last step decides who comes first."""
    barrier = Barrier(8)

    def save(number):
        new = tmp_path / f"new-{number}"
        new.write_bytes(b"%d" % number)
        barrier.wait()
        try:
            return move_into_place(new, tmp_path / "a.txt", overwrite=False)
        except PathExists:
            new.unlink()
            return "refused"

    for _ in range(20):
        with ThreadPoolExecutor(8) as threads:
            outcomes = list(threads.map(save, range(8)))

        assert sorted(outcomes) == ["refused"] * 7 + ["saved"]
        assert contents(tmp_path) == {"a.txt": b"%d" % outcomes.index("saved")}
        (tmp_path / "a.txt").unlink()


@pytest.mark.usefixtures("filesystem")
def test_a_file_created_after_the_check_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    look = saving.existing

    def then_taken(target):
        file = look(target)
        if file is None:
            path.write_bytes(b"another's")
        return file

    monkeypatch.setattr(saving, "existing", then_taken)

    with pytest.raises(PathExists, match="exists with other content"):
        save_bytes(path, b"mine", overwrite=False)

    assert contents(tmp_path) == {"a.txt": b"another's"}


@posix
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_and_a_device_are_neither_read_nor_replaced(overwrite, tmp_path):
    os.mkfifo(tmp_path / "pipe")  # reading it would wait for ever

    with pytest.raises(PathExists, match=r"is a folder.*Choose another path\.$") as caught:
        save_bytes(tmp_path, b"two", overwrite=overwrite)
    assert not caught.value.replaceable
    for path, content in ((tmp_path / "pipe", b"two"), (Path("/dev/null"), b"")):
        with pytest.raises(PathExists, match="is a device"):
            save_bytes(path, content, overwrite=overwrite)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@posix
def test_a_link_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    link, real = tmp_path / "a.txt", tmp_path / "real" / "a.txt"
    real.write_bytes(b"one")
    link.symlink_to(real)

    unchanged = save_bytes(link, b"one", overwrite=False).outcome
    with pytest.raises(PathExists):
        save_bytes(link, b"two", overwrite=False)
    assert (unchanged, save_bytes(link, b"two", overwrite=True).outcome) == ("unchanged", "replaced")
    assert link.is_symlink()
    assert contents(tmp_path / "real") == {"a.txt": b"two"}


@posix
def test_a_broken_link_is_not_replaced(tmp_path):
    link = tmp_path / "a.txt"
    link.symlink_to("gone.txt")

    with pytest.raises(PathExists, match=r"is a link to 'gone.txt', which does not exist"):
        save_bytes(link, b"one", overwrite=False)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]

    assert save_bytes(link, b"one", overwrite=True).outcome == "saved"
    assert (tmp_path / "gone.txt").read_bytes() == b"one"
    assert link.is_symlink()


@posix
def test_a_read_only_file_is_not_replaced(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one")
    path.chmod(0o444)

    assert save_bytes(path, b"one", overwrite=True).outcome == "unchanged"
    for content in (b"two", b"longer"):
        with pytest.raises(PermissionError, match="read-only"):
            save_bytes(path, content, overwrite=True)
    assert contents(tmp_path) == {"a.txt": b"one"}


@pytest.mark.usefixtures("filesystem")
def test_a_move_that_fails_leaves_both_files(tmp_path, monkeypatch):
    new, path = tmp_path / "new", tmp_path / "a.txt"
    new.write_bytes(b"two")

    fail = Mock(side_effect=OSError(errno.ENOSPC, "no space left on device"))
    monkeypatch.setattr(saving.os, "link", fail)
    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        move_into_place(new, path, overwrite=False)

    assert contents(tmp_path) == {"new": b"two"}


def test_a_missing_folder_is_an_error_about_the_path(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"a\.txt' cannot be written: .*; choose another place") as caught:
        save_bytes(tmp_path / "no" / "a.txt", b"one", overwrite=False)

    assert ".saving" not in str(caught.value)


def test_the_second_of_a_name_is_numbered_before_its_extension():
    paths = DistinctPaths()
    names = ["a.txt", "a.txt", "A.TXT", "b.tar.gz", "b.tar.gz", "c", "c", ".env", ".env", "a (1).txt"]

    claimed = ["a.txt", "a (1).txt", "A (2).TXT", "b.tar.gz", "b (1).tar.gz", "c", "c (1)", ".env", ".env (1)"]
    assert [str(paths.claim(Path(name))) for name in names] == [*claimed, "a (1) (1).txt"]
    composed, decomposed = paths.claim(Path("caf\u00e9")), paths.claim(Path("cafe\u0301"))
    assert (composed, decomposed) == (Path("caf\u00e9"), Path("cafe\u0301 (1)"))


def test_a_free_path_does_not_exist(tmp_path):
    (tmp_path / "a (1).txt").symlink_to("nowhere")

    assert free_path(tmp_path / "a.txt") == tmp_path / "a (2).txt"


@posix
@pytest.mark.parametrize(
    "read",
    [read_file, svc.import_events, svc.open_sandbox, lambda path: svc.service_account_token(path, ["storage"])],
    ids=["read_file", "import_events", "open_sandbox", "service_account_token"],
)
def test_a_fifo_is_refused_because_it_may_have_no_end(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    with svc.sandbox(), pytest.raises(ValueError, match="is a FIFO, a socket or a device; give the path of a file"):
        read(tmp_path / "pipe")
