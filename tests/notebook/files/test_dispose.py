import gc
import threading
import tracemalloc
from weakref import ref

import pytest
from ipywidgets.widgets.widget import _instances

import svc_notebooks as svc
from tests.patience import PATIENCE


def gone(kept: ref) -> bool:
    """Return True for an object without references."""
    gc.collect()
    return kept() is None


def test_a_cell_that_makes_a_sandbox_can_be_run_again_and_again():
    first = ref(svc.sandbox())
    for _ in range(2):
        lab = svc.sandbox()  # the same name each time: nobody has the one before it

    assert gone(first)
    assert svc.current_session() is lab.session


def test_an_unreferenced_receiver_is_closed(monkeypatch):
    monkeypatch.setattr("svc_notebooks.server.notifications.delivery_worker._IDLE_SECONDS", 0.01)
    before = set(threading.enumerate())
    lab = svc.sandbox()
    svc.watch_changes(svc.receiver())
    lab.deliver()
    threads = [thread for thread in threading.enumerate() if thread not in before and thread.name.startswith("svc-")]
    for _ in range(2):
        lab = svc.sandbox()
    gc.collect()

    assert {thread.name for thread in threads} <= {"svc-receiver", "svc-delivery"}
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert threads


def test_a_closed_sandbox_is_freed_though_a_form_still_shows_it():
    tracemalloc.start()
    try:
        with svc.sandbox() as lab:
            svc.upload(bytes(8_000_000))
            lab.fork()
            svc.dashboard()
            full = tracemalloc.get_traced_memory()[0]
        gc.collect()

        assert tracemalloc.get_traced_memory()[0] < full - 7_000_000
    finally:
        tracemalloc.stop()


FORMS = ["file_browser", "upload_form", "export_form", "event_form", "watch_panel", "dashboard"]


@pytest.mark.parametrize("make", FORMS)
def test_a_closed_form_is_freed(lab, make):
    before = set(_instances)
    form = getattr(svc, make)()
    if make == "dashboard":
        for key in ("upload", "events", "notifications", "wire", "lab", "files"):
            form.show(key)
    assert len(_instances) > len(before) + 50
    form.close()
    form.close()

    assert set(_instances) == before
    kept = ref(form)
    del form
    assert gone(kept)
