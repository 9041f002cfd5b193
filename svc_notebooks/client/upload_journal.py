"""A journal of unfinished uploads, so that another run of the same cell can resume an upload.

Each upload has a JSON file without the token, which only the user can read and which is replaced atomically. A lock on
a second file keeps two processes from resuming the same upload.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import RLock

from ..core.http.messages import JSONObject
from ..core.platform import after_fork

# -- file locks of this process, which the operating system releases when the process ends, even after a crash


try:
    from fcntl import LOCK_EX, LOCK_NB, flock  # JupyterLite has an empty module of this name
except ImportError:
    LOCKS = False
else:
    LOCKS = True
"""True if file locks work. On Windows and in a browser no file is locked, and the last writer wins."""


def open_and_lock(path: Path, mode: int) -> int | None:
    """Open or create a file, lock the file for this process, and return the file descriptor.

    Returns None if another process holds the lock. Repeats if the file was replaced before the lock was acquired.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, mode)
        try:
            if LOCKS:
                flock(descriptor, LOCK_EX | LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        try:
            if os.path.samestat(path.stat(), os.fstat(descriptor)):
                return descriptor
        except FileNotFoundError:
            pass
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class PendingUpload:
    """A journal entry of an unfinished upload with an open session.

    `source` is the file path, or None for other sources. `total` and `chunk_size` are in bytes, and `started` is an RFC
    3339 time.
    """

    key: str
    session_uri: str
    base_url: str
    source: str | None
    fingerprint: str
    total: int | None
    chunk_size: int | None
    media_type: str
    file_id: str | None
    metadata: JSONObject
    query: dict[str, str]
    started: str

    @property
    def name(self) -> str:
        """The display name, which is the name of the new file or of the source, the file id, or "bytes"."""
        name = self.metadata.get("name") or (self.source and Path(self.source).name)
        return str(name or self.file_id or "bytes")


def default_folder(environment: Mapping[str, str]) -> Path:
    """Return the journal folder from SVC_NOTEBOOKS_STATE, or svc-notebooks in the user's state directory.

    >>> default_folder({"XDG_STATE_HOME": "/home/ada/state"}).as_posix()
    '/home/ada/state/svc-notebooks'
    """
    if named := environment.get("SVC_NOTEBOOKS_STATE"):
        return Path(named).expanduser()
    state = environment.get("XDG_STATE_HOME")
    return (Path(state) if state else Path("~/.local/state").expanduser()) / "svc-notebooks"


class UploadJournal:
    """The journal of a user's unfinished uploads, or of one session in memory if `folder` is None."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._memory: dict[str, PendingUpload] = {}
        self._claims: dict[str, JournalLock] = {}
        self._lock = RLock()
        after_fork(self, UploadJournal._drop_claims_in_child)

    def _drop_claims_in_child(self) -> None:
        for claim in self._claims.values():
            claim.close_in_child()
        self._memory, self._claims, self._lock = {}, {}, RLock()

    def all(self, base_url: str | None = None) -> list[PendingUpload]:
        """Return the journal entries, oldest first, of the service at `base_url` or of all services if None."""
        paths = self.folder.glob("*.json") if self.folder else ()
        read = [self.read(key) for key in (*self._memory, *(path.stem for path in paths))]
        entries = [entry for entry in read if entry and base_url in (None, entry.base_url)]
        return sorted(entries, key=lambda entry: (entry.started, entry.key))

    def read(self, key: str) -> PendingUpload | None:
        """Return the entry with this key, or None if the entry does not exist or is unreadable."""
        if key in self._memory or self.folder is None:
            return self._memory.get(key)
        try:
            return PendingUpload(**json.loads(self._path(key).read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def by_uri(self, session_uri: str) -> PendingUpload | None:
        """Return the entry for an upload session, or None if the journal has no such entry."""
        return next((entry for entry in self.all() if entry.session_uri == session_uri), None)

    def claim(self, key: str) -> JournalLock | None:
        """Lock the upload with this key and return the lock.

        Returns None if another process holds the lock, or if an upload in this process is sending. Releases an earlier
        lock of this journal that is not busy, because the cell was run again.
        """
        with self._lock:
            held = self._claims.get(key)
            if held and held.busy:
                return None
            if held:
                held.release()
            path = self._path(key, ".lock") if self._usable() else None
            descriptor = open_and_lock(path, 0o600) if path else -1
            if descriptor is None:
                return None
            claim = self._claims[key] = JournalLock(self, key, path, descriptor)
            return claim

    def write(self, entry: PendingUpload) -> None:
        """Save an entry in the folder, or in memory if the folder is not writable."""
        if not self._usable():
            self._memory[entry.key] = entry
            return
        fresh = self._path(entry.key, f".{os.getpid()}.new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(entry), file, ensure_ascii=False)
        fresh.replace(self._path(entry.key))

    def remove(self, key: str) -> None:
        """Remove the entry with this key, if any."""
        self._memory.pop(key, None)
        if self.folder:
            with contextlib.suppress(OSError):
                self._path(key).unlink()

    def _path(self, key: str, suffix: str = ".json") -> Path:
        assert self.folder is not None
        return self.folder / f"{key}{suffix}"

    def _usable(self) -> bool:
        if self.folder is None:
            return False
        with contextlib.suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.access(self.folder, os.W_OK | os.X_OK)

    def release(self, claim: JournalLock) -> None:
        """Remove a released lock from the list of claims."""
        if self._claims.get(claim.key) is claim:
            del self._claims[claim.key]


class JournalLock:
    """The lock on an upload's journal entry. After `release` the methods do nothing.

    With a `path`, the lock is a file lock, which the system releases at process end. Otherwise the lock applies only in
    this journal.
    """

    def __init__(self, journal: UploadJournal, key: str, path: Path | None, descriptor: int) -> None:
        self.key = key
        self._journal = journal
        self._path, self._descriptor = path, descriptor
        self.held = True
        # True while the upload sends requests.
        self.busy = False

    @property
    def entry(self) -> PendingUpload | None:
        """The journal entry of this upload, or None without an entry or after `release`."""
        return self._journal.read(self.key) if self.held else None

    def save(self, entry: PendingUpload) -> None:
        """Save the journal entry of this upload."""
        if self.held:
            self._journal.write(entry)

    def drop(self) -> None:
        """Remove the journal entry of this upload, which cannot be resumed anymore."""
        if self.held:
            self._journal.remove(self.key)

    def release(self) -> None:
        """Release the lock, so that another process or thread can resume the upload."""
        if self.held:
            self.held = False
            self._journal.release(self)
            if self._path is not None:
                self._path.unlink(missing_ok=True)  # remove the file before the lock is released (see open_and_lock)
                os.close(self._descriptor)

    def close_in_child(self) -> None:
        """Close the file descriptor in a forked child process. The parent process keeps the lock."""
        self.held = False
        if self._path is not None:
            os.close(self._descriptor)
