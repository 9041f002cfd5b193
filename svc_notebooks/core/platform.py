"""Detection of support for threads, sockets and processes, which a browser (Pyodide in JupyterLite) lacks.

Code calls `capabilities()` at the time of use and never at import, so that a test can override the platform.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .errors.errors import Unsupported


@dataclass(frozen=True, slots=True)
class PlatformCapabilities:
    """The name of a platform, and whether the platform supports threads, sockets and processes."""

    name: str
    threads: bool = True
    sockets: bool = True
    processes: bool = True


MACHINE = PlatformCapabilities("this machine")
BROWSER = PlatformCapabilities("a browser", threads=False, sockets=False, processes=False)

_overrides: list[PlatformCapabilities] = []


def capabilities() -> PlatformCapabilities:
    """Return the capabilities of the current platform, or of the platform set by `override`.

    >>> capabilities().name
    'this machine'
    """
    if _overrides:
        return _overrides[-1]
    return BROWSER if sys.platform == "emscripten" else MACHINE


@contextmanager
def override(platform: PlatformCapabilities) -> Iterator[None]:
    """Make `capabilities` return `platform` inside the block. Used by tests.

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
    """Raise Unsupported if the platform has no sockets. The error message begins with `feature`.

    >>> with override(BROWSER):
    ...     need_sockets("serve() listens on a socket")
    Traceback (most recent call last):
    svc_notebooks.core.errors.errors.Unsupported: serve() listens on a socket, and a browser has none. ...
    """
    if not capabilities().sockets:
        raise Unsupported(f"{feature}, and {capabilities().name} has none.")
