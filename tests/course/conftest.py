"""Ends the exercises and sessions of each test."""

from collections.abc import Iterator

import pytest

from svc_notebooks import course
from svc_notebooks.notebook.current_session import make_current


@pytest.fixture(autouse=True)
def _tidy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("SVC_COURSE_JUDGE", "SVC_COURSE_KEY", "SVC_COURSE_SEED", "JUPYTERHUB_USER"):
        monkeypatch.delenv(name, raising=False)
    yield
    course.reset()
    make_current(None)
