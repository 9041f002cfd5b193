"""What every test shares: the count of rules, a machine that is nobody's and may be slow, and that nothing runs on."""

import gc
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from weakref import WeakSet

import pytest

from svc_notebooks.notebook.sandbox import sandbox_numbers as kernel
from tests.patience import PATIENCE

with suppress(ModuleNotFoundError):  # some of the contract suite needs no hypothesis, where only that is installed
    from hypothesis import settings

    settings.register_profile("dev", deadline=None, derandomize=True, max_examples=50)
    settings.register_profile("ci", deadline=None, max_examples=500)  # --hypothesis-profile=ci
    settings.load_profile("dev")

for name in ("CI", "BUILD_NUMBER"):  # with them pytest writes out the difference of two large contents for hours
    os.environ.pop(name, None)

# jsonschema would build 39 parsers of internationalised addresses: one second of each process, for a format that no
# schema of the tests has.
sys.modules.setdefault("rfc3987_syntax", None)

pytest_plugins = ["tests.plugin_rules"]


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """With --reruns, send each message of a worker at once.

    pytest-rerunfailures sends two for each test without waiting for an answer to the first. Then the operating system
    delays the second by up to 40 milliseconds.
    """
    if (database := getattr(config, "failures_db", None)) and hasattr(config, "workerinput"):
        database.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[None]:
    """Collect tests without the collector of garbage, which would visit millions of objects that all stay.

    It does not visit them during the tests either. There it runs after 20,000 new objects instead of 700: a form has
    more than these, and a tenth of the processor time of its tests was that of the collector.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        gc.enable()


@pytest.fixture(scope="session")
def state_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Paths for the state of each test: no folder is made until a test writes to it."""
    folder = tmp_path_factory.mktemp("state")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def _nobodys_machine(monkeypatch: pytest.MonkeyPatch, state_folders: Iterator[Path]) -> None:
    """No test talks to a developer's own deployment, or writes among their pending uploads."""
    for name in ("SVC_BASE_URL", "SVC_TOKEN", "SVC_CONTROL_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SVC_NOTEBOOKS_STATE", str(next(state_folders)))


def new_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next sandbox is the first of a kernel: its ids do not depend on the sandboxes before it."""
    monkeypatch.setattr(kernel, "_numbers", count(1))
    monkeypatch.setattr(kernel, "_open_sandboxes", WeakSet())


@pytest.fixture(autouse=True)
def _kernel_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test begins as in a new kernel."""
    new_kernel(monkeypatch)


@pytest.fixture(autouse=True)
def _nothing_runs_on() -> Iterator[None]:
    """A test ends its deliveries and its receivers: one process runs thousands of tests."""
    before = set(threading.enumerate())
    yield
    begun = [
        thread for thread in set(threading.enumerate()) - before if thread.name in ("svc-delivery", "svc-receiver")
    ]
    for thread in begun:
        thread.join(PATIENCE)  # it may be about to end
    assert [thread.name for thread in begun if thread.is_alive()] == []
