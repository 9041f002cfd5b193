"""Keeps an unfinished download in the file `name.part`, which is renamed when complete (A6-06).

The note `name.part.json` identifies the content, so that another run continues only a download of the same content. A
`name.part` without a note belongs to the user. The download then uses `name.part-1`, `name.part-2` and so on.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import shutil
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from types import TracebackType

from ...core.errors.errors import ContentMismatch, Interrupted, cannot_write, disk_full
from ...core.processes import after_fork
from ...local.existing_file import real_path
from ...local.saving import SameContent, SavedFile, move_into_place, same_bytes
from ..upload_journal import LOCKS, open_and_lock

_WRITE_SIZE = 256 * 1024
"""The largest write in bytes. Linux gives larger writes larger pages, which saves a tenth of the time, but takes four
times as long in a virtual machine that fetches the pages from its host, measured.
"""

_NOTE_KEYS = {"base_url", "id"}
"""The keys of every note. A JSON file without these keys is not a note."""


class PartFile:
    """The part file of a download, written without a buffer.

    `have` is the number of received bytes, and `end` the number of expected bytes, or None. Raises Interrupted if
    another process writes the same part file, and OSError if the file cannot be written.
    """

    lasting = True

    def __init__(self, target: Path, mark: Mapping[str, object]) -> None:
        self.target = target
        self.end: int | None = None
        self._mark = dict(mark)
        try:
            self.path, self._note = self._claim_paths()
            descriptor = open_and_lock(self.path, 0o666)
        except OSError as error:
            raise cannot_write(target, error) from None
        if descriptor is None:
            raise Interrupted(f"Another download is writing {self.path.name}.")
        self._file = io.FileIO(descriptor, "r+")
        after_fork(self, lambda part: part._file.close())  # a child must not hold the lock longer than the parent
        self.have = self._file.seek(0, io.SEEK_END)
        if _read_note(self._note) != self._mark:
            self.restart(mark)

    def __enter__(self) -> PartFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, ContentMismatch) or (error is not None and not self.have):
            self.discard()
        self._file.close()

    def _claim_paths(self) -> tuple[Path, Path]:
        """Return the first paths of part file and note that are free or of an earlier run. Writes a missing note."""
        target = real_path(self.target)
        for number in count():
            part = target.with_name(f"{target.name}.part" if number == 0 else f"{target.name}.part-{number}")
            note = part.with_name(f"{part.name}.json")
            if _read_note(note) is not None and not part.is_symlink():
                if part.exists() and part.stat().st_nlink > 1:
                    part.unlink()  # a killed run left this hard link to a finished file
                return part, note
            if not os.path.lexists(part) and _create_note(note, self._mark):
                return part, note
        raise AssertionError("unreachable: the numbers never end")

    def restart(self, mark: Mapping[str, object] | None = None) -> None:
        """Discard the received bytes. `mark` identifies the new content. None means the same content as before."""
        self._mark = dict(self._mark if mark is None else mark)
        self._file.seek(0)
        self._file.truncate()
        self.have = 0
        self._note.write_text(json.dumps(self._mark), encoding="utf-8")

    def write(self, block: bytes) -> None:
        """Append a block of bytes. Raises OSError with the target path, but keeps the written bytes for another run."""
        view = memoryview(block)
        try:
            while view:
                written = self._file.write(view[:_WRITE_SIZE]) or 0
                view = view[written:]
                self.have += written
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise cannot_write(self.target, error) from None
            needed = None if self.end is None else self.end - self.have
            raise disk_full(self.target, needed, shutil.disk_usage(self.path.parent).free) from None

    def digest(self, name: str) -> str:
        """Return the hexadecimal checksum of the received bytes. `name` is a hashlib algorithm."""
        self._file.seek(0)
        return hashlib.file_digest(self._file, name).hexdigest()

    def finish(self, *, overwrite: bool, same: SameContent = same_bytes) -> SavedFile:
        """Move the part file to the target path, unless the target has the same content, and return a SavedFile.

        Raises PathExists, PermissionError or another OSError, and then removes the part file and its note.
        """
        if not LOCKS:
            self._file.close()  # some systems do not move open files
        try:
            outcome = move_into_place(self.path, self.target, overwrite=overwrite, same=same)
        except BaseException:
            self.discard()
            raise
        self._note.unlink(missing_ok=True)
        return SavedFile(self.target, outcome, self.target.stat().st_size)

    def discard(self) -> None:
        """Remove the part file and its note."""
        self._file.close()  # some systems do not remove open files
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)


def _read_note(note: Path) -> dict[str, object] | None:
    try:
        note_content = json.loads(note.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return note_content if isinstance(note_content, dict) and note_content.keys() >= _NOTE_KEYS else None


def _create_note(note: Path, mark: Mapping[str, object]) -> bool:
    try:
        with note.open("x", encoding="utf-8") as file:
            json.dump(mark, file)
    except FileExistsError:
        return False
    except OSError:  # an empty note, written to a full disk, would block the name
        note.unlink(missing_ok=True)
        raise
    return True


class Memory:
    """The received bytes of a download in memory, with the methods of PartFile."""

    lasting = False

    def __init__(self) -> None:
        self._file = io.BytesIO()
        self.have = 0
        self.end: int | None = None

    def restart(self, mark: Mapping[str, object] | None = None) -> None:
        """Discard the received bytes."""
        self._file = io.BytesIO()
        self.have = 0

    def write(self, block: bytes) -> None:
        """Append a block of bytes."""
        self.have += self._file.write(block)

    def digest(self, name: str) -> str:
        """Return the hexadecimal checksum of the received bytes. `name` is a hashlib algorithm."""
        return hashlib.new(name, self._file.getbuffer(), usedforsecurity=False).hexdigest()

    def content(self) -> bytes:
        """Return the received bytes."""
        return self._file.getvalue()
