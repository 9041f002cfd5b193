"""Ends the exercises and sessions of each test, and adds the option --students of `make marks`."""

from collections.abc import Iterator

import pytest

from svc_notebooks import course
from svc_notebooks.client.session import make_current


def _number_of_students(text: str) -> int:
    number = int(text)
    if number < 60 or number % 60:
        raise ValueError(f"the number of students must be a multiple of 60, not {number}")
    return number


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--students", type=_number_of_students, default=60, help="of the class of `make marks`")


@pytest.fixture(autouse=True)
def _tidy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("SVC_COURSE_JUDGE", "SVC_COURSE_KEY", "SVC_COURSE_SEED", "JUPYTERHUB_USER"):
        monkeypatch.delenv(name, raising=False)
    yield
    course.reset()
    make_current(None)
