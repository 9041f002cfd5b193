"""The message of an interrupted transfer has the stored bytes and the next step, and both are right."""

import pytest

import svc_notebooks as svc
from svc_notebooks.notebook.display import MIB, progress_text


def interrupt_after(size):
    def report(done, total):
        if done > size:
            raise KeyboardInterrupt

    return report


def message_of(call):
    with pytest.raises(KeyboardInterrupt) as interrupt:
        call()
    return str(interrupt.value)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "zeros.bin"
    path.write_bytes(bytes(20 * MIB))
    return path


def test_an_interrupted_upload_says_what_is_stored_and_the_same_call_goes_on(lab, path):
    message = message_of(lambda: svc.upload(path, progress=interrupt_after(17 * MIB)))
    sizes: list[int] = []
    svc.upload(path, progress=lambda done, total: sizes.append(done))
    assert message == "16 of 20 MiB are stored; run the cell again to go on"
    assert min(sizes) > 16 * MIB
    assert len(svc.files()) == 1

    message = message_of(lambda: svc.upload(bytes(MIB), progress=interrupt_after(0)))
    assert message == "the upload was stopped; files() shows whether the file is stored"


def test_one_of_several_uploads_is_named_and_the_finished_ones_are_in_the_error(lab, path):
    with pytest.raises(KeyboardInterrupt) as interrupt:
        svc.upload([b"small", path], name=["small.txt", "big.bin"], progress=interrupt_after(9 * MIB))
    svc.upload(path, name="big.bin")

    assert str(interrupt.value) == "8 of 20 MiB are stored; upload 'big.bin' again to go on with it"
    assert interrupt.value.result["name"].tolist() == ["small.txt"]
    assert svc.files(order_by="name")["name"].tolist() == ["big.bin", "small.txt"]


def test_an_interrupted_download_goes_on_from_what_is_saved_unless_the_range_is_another(lab, path, tmp_path):
    file, folder, target = svc.upload(path), tmp_path / "copies", tmp_path / "range.bin"
    folder.mkdir()
    message = message_of(lambda: svc.download(file, folder, progress=interrupt_after(6 * MIB)))
    saved = (folder / "zeros.bin.part").stat().st_size
    svc.download(file, folder)
    assert message == f"stopped at {progress_text(saved, 20 * MIB)}; run the cell again to go on"
    assert f"bytes={saved}-" in svc.exchanges()["range"].tolist()
    assert (folder / "zeros.bin").read_bytes() == path.read_bytes()

    message_of(lambda: svc.download(file, target, byte_range=(0, 10 * MIB - 1), progress=interrupt_after(6 * MIB)))
    svc.download(file, target, byte_range=(MIB, 11 * MIB - 1))
    assert svc.exchanges()["range"].tolist()[-1] == f"bytes={MIB}-{11 * MIB - 1}"
    assert target.stat().st_size == 10 * MIB
