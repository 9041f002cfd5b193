"""Functions that keep a forked process from using the locks, connections, files and finalizers of its parent.

In a forked child, a lock of another thread stays locked forever, finalizers would delete the parent's files, and a
SQLite connection must not even be closed (https://www.sqlite.org/howtocorrupt.html, 2.6).
"""

from __future__ import annotations

import ctypes
import logging
import os
import shutil
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, TypeVar
from weakref import WeakKeyDictionary, finalize

from .errors.errors import Unsupported

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


def keep_forever(*owners: object) -> None:
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
        self.__dict__.update(message=message, advice=advice)

    def __getattr__(self, name: str) -> NoReturn:
        raise Unsupported(self.message, advice=self.advice)

    def __enter__(self) -> NoReturn:
        raise Unsupported(self.message, advice=self.advice)

    def __exit__(self, *error: object) -> None:
        """Do nothing. A `with` block looks up `__exit__` before it calls `__enter__`, which raises."""
