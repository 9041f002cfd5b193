import pytest

from tests.contract.files.test_permissions import People
from tests.contract.wire import Wire


@pytest.fixture
def people(wire: Wire) -> People:
    return People(wire)
