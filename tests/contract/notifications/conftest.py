"""Somebody who watches, for all tests of notifications."""

from collections.abc import Iterator

import pytest

from tests.contract.watch_client import Watch, open_watch
from tests.contract.wire import Wire


@pytest.fixture
def watch(wire: Wire) -> Iterator[Watch]:
    with open_watch(wire) as watch:
        yield watch
