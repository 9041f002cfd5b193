"""A download on its way to disk: `name.part` beside its place, which it takes in one step when it is whole (A6-06).

`name.part.json` says what content the bytes belong to, so that another run goes on with them only if it wants
the same.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from ..core.errors import Interrupted, cannot_write
from .locks import open_locked

_WRITTEN_AT_ONCE = 256 * 1024
"""Larger writes get larger pages from Linux, and where a virtual machine must first fetch those from its host
they take four times as long, measured; otherwise they save a tenth."""


class PartFile:
    """The bytes that have come so far; `have` counts them. Writes go to the disk unbuffered.

    Raises Interrupted when another process is writing the same file, OSError when it cannot be written.
    """

    def __init__(self, target: Path, mark: Mapping[str, object]) -> None:
        self.target = target
        self.path = target.with_name(target.name + ".part")
        self._note = target.with_name(target.name + ".part.json")
        self._mark = dict(mark)
        try:
            descriptor = open_locked(self.path, 0o666)
        except OSError as error:
            raise cannot_write(target, error) from None
        if descriptor is None:
            raise Interrupted(f"Another download is writing {self.path.name}.")
        self._file = io.FileIO(descriptor, "r+")
        self.have = self._file.seek(0, io.SEEK_END)
        if not self._is_ours():
            self.restart(mark)

    def __enter__(self) -> PartFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _is_ours(self) -> bool:
        try:
            return bool(json.loads(self._note.read_bytes()) == self._mark)
        except (OSError, ValueError):
            return False

    def restart(self, mark: Mapping[str, object] | None = None) -> None:
        """Throw away what has come, and note what comes now."""
        self._mark = dict(self._mark if mark is None else mark)
        self._file.seek(0)
        self._file.truncate()
        self.have = 0
        self._note.write_text(json.dumps(self._mark), encoding="utf-8")

    def write(self, block: bytes) -> None:
        """Append a block."""
        view = memoryview(block)
        while view:
            written = self._file.write(view[:_WRITTEN_AT_ONCE]) or 0
            view = view[written:]
            self.have += written

    def digest(self, name: str) -> str:
        """The checksum of what has come."""
        self._file.seek(0)
        return hashlib.file_digest(self._file, name).hexdigest()

    def finish(self) -> None:
        """Put the file in its place."""
        self.path.replace(self.target)
        self._note.unlink(missing_ok=True)

    def discard(self) -> None:
        """Leave nothing behind."""
        self._file.close()  # some systems do not remove what is open
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)


class Memory:
    """The same in memory."""

    def __init__(self) -> None:
        self._file = io.BytesIO()
        self.have = 0

    def restart(self, mark: Mapping[str, object] | None = None) -> None:
        """Throw away what has come."""
        self._file = io.BytesIO()
        self.have = 0

    def write(self, block: bytes) -> None:
        """Append a block."""
        self.have += self._file.write(block)

    def digest(self, name: str) -> str:
        """The checksum of what has come."""
        return hashlib.new(name, self._file.getbuffer(), usedforsecurity=False).hexdigest()

    def content(self) -> bytes:
        """All that has come; not a second copy of it."""
        return self._file.getvalue()
