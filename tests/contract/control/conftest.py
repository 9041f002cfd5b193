"""A service with a class, for all tests of classes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.school import School


@pytest.fixture
def school(tmp_path: Path) -> Iterator[School]:
    school = School(tmp_path)
    with school.service:
        yield school
