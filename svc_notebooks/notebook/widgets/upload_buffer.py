"""Where files from a browser arrive, slice by slice.

A slice counts when it begins where the file ends; any other is a repeat or the one behind a gap, and is
dropped. So the browser may send again what it does not know to have arrived, as in a resumable upload.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from ...core.fork import remove_with


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file on its way from the browser; sizes in bytes.

    `path` is where the kernel keeps it, `name` is what the person calls it and is no path.
    """

    key: str
    name: str
    size: int
    mime_type: str
    path: Path
    received: int = 0

    @property
    def complete(self) -> bool:
        """Whether all of it is here."""
        return self.received == self.size


class UploadBuffer:
    """The files that a browser sends, kept in a folder of their own until the inbox is gone.

    >>> inbox = UploadBuffer()
    >>> inbox.begin("a", "notes.txt", 4, "text/plain")
    >>> inbox.take("a", 0, b"no"); inbox.take("a", 0, b"no"); inbox.take("a", 2, b"te")
    >>> [(one.name, one.complete, one.path.read_bytes()) for one in inbox.arrivals]
    [('notes.txt', True, b'note')]
    """

    def __init__(self) -> None:
        self._arrivals: dict[str, IncomingFile] = {}
        self._folder: Path | None = None
        self._begun = 0

    @property
    def arrivals(self) -> list[IncomingFile]:
        """What is here and what is on its way, in the order in which it began."""
        return list(self._arrivals.values())

    def begin(self, key: str, name: str, size: int, mime_type: str) -> None:
        """A file of `size` bytes is about to come."""
        self._begun += 1
        path = self._home() / f"{self._begun}"  # a name from outside never becomes a path
        path.touch()
        self._arrivals[key] = IncomingFile(key, name, size, mime_type, path)

    def take(self, key: str, offset: int, data: bytes) -> None:
        """Add the bytes from `offset` on, where they continue the file and do not outgrow it."""
        known = self._arrivals.get(key)
        if known is None or offset != known.received or offset + len(data) > known.size:
            return
        with known.path.open("ab") as file:
            file.write(data)
        self._arrivals[key] = replace(known, received=offset + len(data))

    def drop(self, key: str) -> None:
        """Forget a file, and the bytes of it that are here."""
        known = self._arrivals.pop(key, None)
        if known is not None:
            known.path.unlink(missing_ok=True)

    def _home(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="svc-notebooks-"))
            remove_with(self, self._folder)
        return self._folder
