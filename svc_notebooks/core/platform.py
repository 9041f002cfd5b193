"""The support for threads, sockets and processes, forked processes, and temporary folders.

A browser (Pyodide in JupyterLite) lacks threads, sockets and processes. Code calls `capabilities()` at the time of use
and never at import, so that a test can override the platform.

In a forked child, a lock of another thread stays locked forever, finalizers would delete the parent's files, and a
SQLite connection must not even be closed (https://www.sqlite.org/howtocorrupt.html, 2.6). So a child must not use the
locks, connections, files and finalizers of its parent.

All temporary folders of a process are in one folder with a lock file. The system releases the lock when the process
ends in any way, so that a folder whose lock is free belongs to no living process, and a later process removes it.
"""

from __future__ import annotations

import ctypes
import logging
import os
import shutil
import socket
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, TypeVar
from weakref import WeakKeyDictionary, finalize

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


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_log = logging.getLogger(__name__)

_T = TypeVar("_T")
_P = ParamSpec("_P")

_registered: WeakKeyDictionary[Any, Callable[[Any], None]] = WeakKeyDictionary()


def after_fork(owner: _T, renew: Callable[[_T], None]) -> None:
    """Register `renew` to be called with `owner` in every forked child before other code runs.

    `renew` must not acquire a lock, because a thread that does not exist in the child may hold the lock.
    """
    _registered[owner] = renew


def _renew_all() -> None:
    for owner, renew in list(_registered.items()):
        try:
            renew(owner)
        except Exception:  # the other owners must still be renewed
            _log.exception("%s could not be reinitialized after a fork", type(owner).__name__)


if hasattr(os, "register_at_fork"):  # missing on Windows and in a browser, which cannot fork
    os.register_at_fork(after_in_child=_renew_all)


def skip_finalizers(*owners: object) -> None:
    """Prevent the finalizers of these objects from running in this process, because the parent owns their resources."""
    for owner in owners:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))


def close_copies(sockets: Iterable[socket.socket | None]) -> None:
    """Close a forked child's copies of the parent's sockets without sending data to the peers."""
    for sock in sockets:
        if sock and sock.fileno() >= 0:
            os.close(sock.detach())


def in_this_process(function: Callable[_P, object]) -> Callable[_P, None]:
    """Return a finalizer that calls the function in this process and does nothing in a forked child.

    >>> in_this_process(print)("here")
    here
    """
    process = os.getpid()

    def call(*args: _P.args, **options: _P.kwargs) -> None:
        if os.getpid() == process:
            function(*args, **options)

    return call


def remove_with(owner: object, folder: Path) -> Callable[[], object]:
    """Remove a folder when `owner` is garbage-collected. Returns a function that removes the folder at once."""
    return finalize(owner, in_this_process(shutil.rmtree), folder, ignore_errors=True)


class ForkedChild:
    """A replacement in a forked child for an object that works only in the parent. Every use raises Unsupported."""

    def __init__(self, message: str, advice: str) -> None:
        self.message, self.advice = message, advice

    def _refuse(self, *args: object, **options: object) -> NoReturn:
        raise Unsupported(self.message, advice=self.advice)

    __getattr__ = __enter__ = __call__ = _refuse

    def __exit__(self, *error: object) -> None:
        """Do nothing. A `with` block looks up `__exit__` before it calls `__enter__`, which raises."""


_PREFIX, _NEW, _LOCK = "svc-process-", "svc-new-", "lock"
_of_processes: dict[int, Path] = {}


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Create a temporary folder and remove the folder at the end of the block, but never in a forked child."""
    folder, remove = new_temporary_folder(prefix), in_this_process(shutil.rmtree)
    try:
        yield folder
    finally:
        remove(folder, ignore_errors=True)


def new_temporary_folder(prefix: str) -> Path:
    """Create and return a temporary folder, which is removed at the end of the process at the latest."""
    parent = _of_processes.get(os.getpid())
    if parent is None or not parent.is_dir():
        parent = _of_processes[os.getpid()] = _folder_of_process()
    return Path(tempfile.mkdtemp(prefix=prefix, dir=parent))


def _folder_of_process() -> Path:
    """Create the folder of this process, and remove those of killed processes of this user."""
    folder = Path(tempfile.mkdtemp(prefix=_NEW))
    with suppress(OSError, AttributeError):  # a system or a browser without locks: nothing is swept
        if fcntl:
            _sweep(folder.parent)
            fcntl.flock(os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600), fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Renamed with its lock, so that no other process sees the folder without it.
            folder = folder.rename(folder.with_name(folder.name.replace(_NEW, _PREFIX, 1)))
    remove_with(_folder_of_process, folder)  # a function, which lives until the end of the process
    return folder


def _sweep(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            status = folder.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
