"""Keeps a forked process from using the locks, connections, descriptors and finalizers of its parent.

`os.fork` copies the memory of a process and one of its threads. In the child a lock that another thread held stays
locked forever, sockets and locked files are still those of the parent, a finalizer would delete the parent's files,
and a SQLite connection must not even be closed (https://www.sqlite.org/howtocorrupt.html, 2.6). An object that has
any of these registers a function that renews it in a child.
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
    """Call `renew(owner)` in every child that is forked while the owner lives, before other code runs there.

    `renew` must acquire no lock, because a thread that the child does not have may hold it.
    """
    _registered[owner] = renew


def _renew_all() -> None:
    for owner, renew in list(_registered.items()):
        try:
            renew(owner)
        except Exception:  # the others must still be renewed
            _log.exception("%s is not renewed after a fork", type(owner).__name__)


if hasattr(os, "register_at_fork"):  # not on Windows and not in a browser, where nothing forks
    os.register_at_fork(after_in_child=_renew_all)


def keep_forever(*owners: object) -> None:
    """Never finalize these objects in this process, not even at exit, because their resources are the parent's."""
    for owner in owners:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))


def close_copies(sockets: Iterable[socket.socket | None]) -> None:
    """Close a forked child's copies of the parent's sockets, which sends nothing."""
    for sock in sockets:
        if sock and sock.fileno() >= 0:
            os.close(sock.detach())


def in_this_process(function: Callable[_P, object]) -> Callable[_P, None]:
    """Return the function for use as a finalizer, which does nothing in a fork of this process.

    >>> in_this_process(print)("here")
    here
    """
    process = os.getpid()

    def call(*args: _P.args, **options: _P.kwargs) -> None:
        if os.getpid() == process:
            function(*args, **options)

    return call


def remove_with(owner: object, folder: Path) -> Callable[[], object]:
    """Remove a folder when its owner dies, or at exit. Return a function that removes it at once."""
    return finalize(owner, in_this_process(shutil.rmtree), folder, ignore_errors=True)


class _Owner:
    """The owner of a temporary folder."""


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Create a folder that is removed at the end of the block, and never by a fork of this process."""
    owner, folder = _Owner(), Path(tempfile.mkdtemp(prefix=prefix))
    remove = remove_with(owner, folder)
    try:
        yield folder
    finally:
        remove()


class ForkedChild:
    """Replaces an object in a forked child that works only in its parent. Every use raises Unsupported."""

    def __init__(self, message: str, advice: str) -> None:
        self.__dict__.update(message=message, advice=advice)

    def __getattr__(self, name: str) -> NoReturn:
        raise Unsupported(self.message, advice=self.advice)

    def __enter__(self) -> NoReturn:
        raise Unsupported(self.message, advice=self.advice)

    def __exit__(self, *error: object) -> None:
        """Never called, but a `with` block looks it up first."""
