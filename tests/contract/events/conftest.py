import os
from collections.abc import Iterator
from contextlib import closing

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service
from tests.contract.calendar_client import emptied
from tests.contract.tested_store import SERVER, open_tested


@pytest.fixture
def service(policy: Policy) -> Iterator[Service]:
    """One service for all tests, emptied; a test with another policy, or on a server, has its own."""
    if policy == Policy() and not os.environ.get(SERVER):
        yield emptied()
        return
    with closing(open_tested(policy)) as service:
        yield service
