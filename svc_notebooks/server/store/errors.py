"""Converts SQLite errors about the database file to sentences for the operator of the service."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from .atomic_write import FULL as FULL


class DatabaseDamaged(OSError):
    """Raised if the database file is damaged or is not a database."""


class DatabaseUnreachable(OSError):
    """Raised if the server of the database does not respond, or has ended the connection."""


class UnstorableText(OSError):
    """Raised for a text with a character that the database cannot store."""


_SENTENCES: dict[int, str] = {
    sqlite3.SQLITE_BUSY: "{path} is in use by another service: stop the other service, or choose another folder",
    sqlite3.SQLITE_LOCKED: "{path} is in use by another service: stop the other service, or choose another folder",
    sqlite3.SQLITE_CORRUPT: "{path} is damaged ({error}): restore its folder from a backup",
    sqlite3.SQLITE_NOTADB: "{path} is not a database of this service ({error}): restore its folder from a backup,"
    " or choose another folder",
    sqlite3.SQLITE_READONLY: "{path} cannot be written ({error}): mount its disk for writing, or give this user"
    " permission to write the file and its folder",
    sqlite3.SQLITE_PERM: "{path} cannot be opened ({error}): give this user permission to read and write the file",
    sqlite3.SQLITE_CANTOPEN: "{path} cannot be opened ({error}): give this user permission to read and write the file"
    " and its folder",
    sqlite3.SQLITE_IOERR: "{path} cannot be read or written ({error}): check the disk, and the system's log",
}
_CODES = {
    errno.ENOSPC: sqlite3.SQLITE_FULL,
    errno.EDQUOT: sqlite3.SQLITE_FULL,
    errno.EROFS: sqlite3.SQLITE_READONLY,
    errno.EACCES: sqlite3.SQLITE_READONLY,
}
_MEMORY_IS_FULL = "the database in memory has 1 GiB, its largest size: delete files, or open the service in a folder"
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def store_error(error: BaseException, path: Path | None) -> OSError | None:
    """Return the OSError for an SQLite error. Return None if the error is not about the database file.

    >>> import sqlite3
    >>> damaged = sqlite3.DatabaseError("file is not a database"); damaged.sqlite_errorcode = sqlite3.SQLITE_NOTADB
    >>> type(store_error(damaged, None)).__name__
    'DatabaseDamaged'
    """
    code, cause = getattr(error, "sqlite_errorcode", 0) & 0xFF, str(error)  # the other bits are the extended code
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN) and path:
        code, cause = _cause(path) or (code, cause)
    if code == sqlite3.SQLITE_FULL:
        return OSError(errno.ENOSPC, f"the disk of {path} is full: free space there" if path else _MEMORY_IS_FULL)
    if code not in _SENTENCES:
        return None
    sentence = _SENTENCES[code].format(path=path or "the database", error=cause)
    return DatabaseDamaged(sentence) if code in _DAMAGED else OSError(sentence)


def _cause(path: Path) -> tuple[int, str] | None:
    """Write a test file to find the cause of an error. Return a code and a text, or None if the write succeeds."""
    try:
        with TemporaryFile(dir=path.parent) as file:
            file.write(bytes(4096))
    except OSError as error:
        return _CODES.get(error.errno or 0, sqlite3.SQLITE_IOERR), error.strerror or str(error)
    return None


@contextmanager
def explain_errors(path: Path | None) -> Iterator[None]:
    """Convert SQLite errors in a `with` block to the OSErrors of `store_error`."""
    try:
        yield
    except Exception as error:
        if meaning := store_error(error, path):
            raise meaning from error
        raise


@contextmanager
def on_error(function: Callable[[], object]) -> Iterator[None]:
    """Call a function if a `with` block raises an error, for example one that closes what the block has opened."""
    try:
        yield
    except BaseException:
        function()
        raise
