"""How long a test waits for what has to happen."""

import time
from collections.abc import Callable

PATIENCE = 240.0
"""Seconds. Only a failure lasts so long, and no machine that does other work besides is as slow."""


def until(happened: Callable[[], object]) -> None:
    """Wait for something to happen."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)
