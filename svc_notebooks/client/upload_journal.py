"""Keeps a journal of unfinished uploads, so that another run of the same cell can resume an upload (A3-25).

The journal has a JSON file for each upload, which only the user can read and which contains no token. The file is
replaced atomically, so that no reader sees an incomplete file. Before a process resumes an upload, it locks a second
file, so that two processes do not resume the same upload. The system releases the locks of a process that ends.
A journal without a folder is kept in memory.
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
from ..core.process_fork import after_fork
from .file_lock import open_and_lock


@dataclass(frozen=True, slots=True)
class PendingUpload:
    """A journal entry for an upload whose session was opened and which is not known to be complete.

    `source` is the path of the file, or None for other sources. `total` and `chunk_size` are in bytes. `started` is
    an RFC 3339 time.
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
        """The display name, which is the name of the new file, of the source, the file id, or "bytes"."""
        name = self.metadata.get("name") or (self.source and Path(self.source).name)
        return str(name or self.file_id or "bytes")


def default_folder(environment: Mapping[str, str]) -> Path:
    """Return the default folder of the journal.

    This is the folder in the variable SVC_NOTEBOOKS_STATE. If it is not set, this is the folder svc-notebooks in the
    user's state directory.

    >>> default_folder({"XDG_STATE_HOME": "/home/ada/state"}).as_posix()
    '/home/ada/state/svc-notebooks'
    """
    if named := environment.get("SVC_NOTEBOOKS_STATE"):
        return Path(named).expanduser()
    state = environment.get("XDG_STATE_HOME")
    return (Path(state) if state else Path("~/.local/state").expanduser()) / "svc-notebooks"


class UploadJournal:
    """The journal of a user's unfinished uploads. If `folder` is None, the journal of one session, in memory."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._memory: dict[str, PendingUpload] = {}
        self._claims: dict[str, JournalLock] = {}
        self._lock = RLock()
        after_fork(self, UploadJournal._drop_claims_in_child)

    def _drop_claims_in_child(self) -> None:
        """Remove, in a forked child process, the claims and the entries in memory of the parent process."""
        for claim in self._claims.values():
            claim.close_in_child()
        self._memory, self._claims, self._lock = {}, {}, RLock()

    def all(self, base_url: str | None = None) -> list[PendingUpload]:
        """Return the journal entries, oldest first. `base_url` selects one service, None all services."""
        paths = self.folder.glob("*.json") if self.folder else ()
        read = [self.read(key) for key in (*self._memory, *(path.stem for path in paths))]
        entries = [entry for entry in read if entry and base_url in (None, entry.base_url)]
        return sorted(entries, key=lambda entry: (entry.started, entry.key))

    def read(self, key: str) -> PendingUpload | None:
        """Return the entry with this key, or None if there is no entry or its file cannot be read."""
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
        """Lock the upload with this key for the caller, and return the lock.

        Return None if another process holds the lock, or if an upload in this process is sending. A lock that this
        journal has given out before and that is not busy is released first, because the cell was run again.
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
        """Save an entry in the folder. If the folder is not writable, save the entry in memory."""
        if not self._usable():
            self._memory[entry.key] = entry
            return
        fresh = self._path(entry.key, f".{os.getpid()}.new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(entry), file, ensure_ascii=False)
        fresh.replace(self._path(entry.key))

    def remove(self, key: str) -> None:
        """Remove the entry with this key, if there is one."""
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
    """The lock on the journal entry of an upload. After `release` the methods do nothing.

    With a `path`, the lock is a file lock, which the system releases when the process ends. Without a path, the lock
    only applies in this journal.
    """

    def __init__(self, journal: UploadJournal, key: str, path: Path | None, descriptor: int) -> None:
        self.key = key
        self._journal = journal
        self._path, self._descriptor = path, descriptor
        self.held = True
        self.busy = False
        """True while the upload sends requests."""

    @property
    def entry(self) -> PendingUpload | None:
        """The journal entry of this upload. None if there is no entry, or after `release`."""
        return self._journal.read(self.key) if self.held else None

    def save(self, entry: PendingUpload) -> None:
        """Save the journal entry of this upload."""
        if self.held:
            self._journal.write(entry)

    def drop(self) -> None:
        """Remove the journal entry of this upload, because there is nothing left to resume."""
        if self.held:
            self._journal.remove(self.key)

    def release(self) -> None:
        """Release the lock, so that another process or thread can resume the upload."""
        if self.held:
            self.held = False
            self._journal.release(self)
            if self._path is not None:
                self._path.unlink(missing_ok=True)  # while it is still held: see open_and_lock
                os.close(self._descriptor)

    def close_in_child(self) -> None:
        """Close the file descriptor in a forked child process. The parent process keeps the lock."""
        self.held = False
        if self._path is not None:
            os.close(self._descriptor)
