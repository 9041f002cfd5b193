"""Keeps a forked process from using the locks, connections, descriptors and finalizers of its parent.

`os.fork` copies the memory of a process and one of its threads. In the child a lock that another thread held stays
locked forever, sockets and locked files still belong to the parent, a finalizer would delete the parent's files,
and a SQLite connection must not even be closed (https://www.sqlite.org/howtocorrupt.html, 2.6). An object that
has any such resource registers a function that replaces the resource in a child.
"""

from __future__ import annotations

import ctypes
import logging
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, TypeVar
from weakref import WeakKeyDictionary, finalize

from .errors.errors import Unsupported

_log = logging.getLogger(__name__)

_T = TypeVar("_T")
_P = ParamSpec("_P")

_registered: WeakKeyDictionary[Any, Callable[[Any], None]] = WeakKeyDictionary()


def after_fork(owner: _T, renew: Callable[[_T], None]) -> None:
    """Register `renew` to be called with `owner` in every process that is forked while the owner exists.

    The call happens in the child before other code runs. `renew` must not acquire a lock, because a thread that does
    not exist in the child may hold that lock.
    """
    _registered[owner] = renew


def _renew_all() -> None:
    for owner, renew in list(_registered.items()):
        try:
            renew(owner)
        except Exception:  # the other owners must still be renewed
            _log.exception("%s is not renewed after a fork", type(owner).__name__)


if hasattr(os, "register_at_fork"):  # missing on Windows and in a browser, which cannot fork
    os.register_at_fork(after_in_child=_renew_all)


def keep_forever(*owners: object) -> None:
    """Prevent finalizers of these objects in this process, even at exit, as their resources belong to the parent."""
    for owner in owners:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))


def close_copies(sockets: Iterable[socket.socket | None]) -> None:
    """Close a forked child's copies of the parent's sockets. Sends nothing to the peers of the sockets."""
    for sock in sockets:
        if sock and sock.fileno() >= 0:
            os.close(sock.detach())


def in_this_process(function: Callable[_P, object]) -> Callable[_P, None]:
    """Return a finalizer that calls the function in this process, and does nothing in a fork of this process.

    >>> in_this_process(print)("here")
    here
    """
    process = os.getpid()

    def call(*args: _P.args, **options: _P.kwargs) -> None:
        if os.getpid() == process:
            function(*args, **options)

    return call


def remove_with(owner: object, folder: Path) -> Callable[[], object]:
    """Register the removal of a folder for the time when its owner is garbage-collected, or at exit.

    Return a function that removes the folder immediately.
    """
    return finalize(owner, in_this_process(shutil.rmtree), folder, ignore_errors=True)


class _Owner:
    """An object whose finalizer removes a temporary folder."""


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Create a temporary folder that is removed at the end of the block. A fork of this process never removes it."""
    owner, folder = _Owner(), Path(tempfile.mkdtemp(prefix=prefix))
    remove = remove_with(owner, folder)
    try:
        yield folder
    finally:
        remove()


class ForkedChild:
    """Replaces an object in a forked child process, if the object works only in the parent process.

    Every use of the replacement raises Unsupported.
    """

    def __init__(self, message: str, advice: str) -> None:
        self.__dict__.update(message=message, advice=advice)

    def __getattr__(self, name: str) -> NoReturn:
        raise Unsupported(self.message, advice=self.advice)

    def __enter__(self) -> NoReturn:
        raise Unsupported(self.message, advice=self.advice)

    def __exit__(self, *error: object) -> None:
        """Exists because a `with` block looks the method up before it calls `__enter__`. Never called."""
