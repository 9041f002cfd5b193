"""Where this is: what the Python around us can do. It is decided here, and nowhere else.

In a browser (Pyodide, which JupyterLite runs) there is no thread, no socket and no other process. Who needs one of
them asks `capabilities()` when it is needed, never at import, so that a test can stand in another place.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .errors.errors import Unsupported


@dataclass(frozen=True, slots=True)
class PlatformCapabilities:
    """What there is: threads to begin, sockets to open, processes to start."""

    name: str
    threads: bool = True
    sockets: bool = True
    processes: bool = True


MACHINE = PlatformCapabilities("this machine")
BROWSER = PlatformCapabilities("a browser", threads=False, sockets=False, processes=False)

_overrides: list[PlatformCapabilities] = []


def capabilities() -> PlatformCapabilities:
    """Where this Python runs.

    >>> capabilities().name
    'this machine'
    """
    if _overrides:
        return _overrides[-1]
    return BROWSER if sys.platform == "emscripten" else MACHINE


@contextmanager
def override(platform: PlatformCapabilities) -> Iterator[None]:
    """Be there for a while, whatever this Python could do: for tests.

    >>> with override(BROWSER):
    ...     capabilities().threads
    False
    """
    _overrides.append(platform)
    try:
        yield
    finally:
        _overrides.pop()


def need_sockets(feature: str) -> None:
    """Raise Unsupported, if there are no sockets: `feature` is the beginning of the sentence that says so.

    >>> with override(BROWSER):
    ...     need_sockets("serve() listens on a socket")
    Traceback (most recent call last):
    svc_notebooks.core.errors.errors.Unsupported: serve() listens on a socket, and a browser has none. ...
    """
    if not capabilities().sockets:
        raise Unsupported(f"{feature}, and {capabilities().name} has none.")
