"""The fixtures of the conversion tests, a job in an empty folder, a converter and a small process."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from svc_notebooks.convert.engines import available
from svc_notebooks.convert.job import MIB, Job
from svc_notebooks.convert.pool.converter import Converter


@pytest.fixture(autouse=True)
def small_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process of the tests, which grows with each test, have the memory of a new worker."""
    monkeypatch.setattr(available, "process_memory", lambda _: 100 * MIB)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Return a job like the worker's, which `dataclasses.replace` can change."""
    return Job("application/octet-stream", tmp_path, name="Report")


@pytest.fixture
def converter() -> Iterator[Converter]:
    with closing(Converter()) as converter:
        yield converter
