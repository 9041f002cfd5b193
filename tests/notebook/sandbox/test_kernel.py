import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

import svc_notebooks as svc


def new_file(lab=None):
    return svc.upload(b"hello", name="a.txt", session=lab.session if lab else None)


def new_id(lab):
    return new_file(lab)["id"].item()


def new_event():
    return svc.create_event("Tea", start="2026-11-02", end="2026-11-03")


def test_a_row_of_the_first_sandbox_deletes_nothing_in_the_second():
    first = svc.sandbox()
    row = new_file()
    server = svc.sandbox().serve()
    kept = new_file()
    with pytest.raises(svc.NotFound, match=r"belongs to sandbox 1 of this kernel.*sent to sandbox 2.*pass session="):
        svc.delete(row)
    assert svc.files()["id"].tolist() == kept["id"].tolist()

    with svc.connect(server.base_url, server.owner.service.sign_in("bob@svc.example")):
        with pytest.raises(svc.NotFound, match="belongs to sandbox 1 of this kernel"):
            svc.read(row)
        with pytest.raises(svc.NotFound, match="whether this user has access"):
            svc.read(kept)
    svc.delete(row, session=first.session)


@pytest.mark.parametrize(
    "make, use",
    [
        (new_file, svc.read),
        (new_file, lambda row: svc.update(row, name="b")),
        (new_file, lambda row: svc.upload(b"", name="b", metadata={"parents": [row["id"].item()]})),
        (new_event, svc.delete_event),
        (new_event, lambda row: svc.update_event(row, summary="b")),
        (lambda: svc.watch_changes(svc.receiver(direct=True)), svc.stop_channel),
        (lambda: svc.create_calendar("Team"), lambda row: svc.events(calendar=row["id"].item())),
    ],
    ids=["read", "update", "parent", "delete event", "update event", "stop channel", "calendar"],
)
def test_a_row_of_another_sandbox_is_not_found_with_advice(make, use):
    svc.sandbox()
    row = make()
    svc.sandbox()
    make()

    with pytest.raises(svc.NotFound, match="belongs to sandbox 1 of this kernel") as caught:
        use(row)

    assert caught.value.status == 404
    assert "sandbox" not in caught.value.service_message  # on the wire it is any other 404


def test_copies_have_different_ids(tmp_path):
    """Two forks of one moment, and two openings of one file, beside the sandbox that they come from."""
    lab = svc.sandbox()
    row = new_file()
    path = lab.save(tmp_path / "lab.svc")
    labs = [lab, lab.fork(), lab.fork(), svc.open_sandbox(path), svc.open_sandbox(path)]
    labs.append(labs[1].fork())

    assert [svc.read(row, session=lab.session) for lab in labs] == [b"hello"] * 6
    assert len({new_id(lab) for lab in labs}) == 6
    channels = [svc.watch_changes(svc.receiver(direct=True, session=lab.session), session=lab.session) for lab in labs]
    assert len({channel["id"].item() for channel in channels}) == 6


def test_a_restarted_kernel_repeats_the_ids_and_the_first_opened_sandbox_continues_the_saved_ones(tmp_path):
    lab = svc.sandbox()
    path = lab.save(tmp_path / "lab.svc")
    code = f"""
import svc_notebooks as svc
labs = [svc.open_sandbox({str(path)!r}), svc.sandbox(), svc.sandbox(seed=9)]
labs.append(labs[1].fork())
print(*(svc.upload(b"", name="a", session=lab.session)["id"].item() for lab in labs))
"""
    command = [sys.executable, "-c", code]
    first, second = (subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2))

    assert first == second
    assert first.split()[0] == new_id(lab)


def test_sandboxes_opened_by_threads_have_different_ids():
    together = Barrier(8)

    def open_one(_):
        together.wait()
        lab = svc.sandbox()
        return lab, new_id(lab)

    with ThreadPoolExecutor(8) as threads:
        opened = list(threads.map(open_one, range(8)))

    assert sorted(lab.number for lab, _ in opened) == list(range(1, 9))
    assert len({id for _, id in opened}) == 8
