"""Collects the slices of files that a browser sends.

A slice is accepted if it begins at the end of the received part; any other is a repetition or follows a gap, and is
dropped. So the browser can send unacknowledged slices again, as in a resumable upload.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from ...core.http.mime import by_name
from ...core.process_fork import remove_with


@dataclass(frozen=True, slots=True)
class ChosenFile:
    """A file to upload. `source` is a path or its bytes."""

    name: str
    source: Path | bytes
    mime_type: str | None = None

    def media_type(self, *, converted: bool) -> str | None:
        """Return the media type to send. For a conversion the extension decides, because browsers take the
        type of a CSV file from the office program of the computer.

        >>> ChosenFile("a.csv", b"", "application/vnd.ms-excel").media_type(converted=True)
        'text/csv'
        """
        type_by_name = by_name(self.name)
        return (type_by_name or self.mime_type) if converted else (self.mime_type or type_by_name)


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file that the browser sends, with its sizes in bytes.

    `path` is its file in the kernel, `name` its name on the person's computer, which is not a path.
    """

    key: str
    name: str
    size: int
    mime_type: str
    path: Path
    received: int = 0

    @property
    def complete(self) -> bool:
        """True if all bytes were received."""
        return self.received == self.size


class UploadBuffer:
    """The files that a browser sends, in a folder that is deleted with the buffer.

    >>> buffer = UploadBuffer()
    >>> buffer.begin("a", "notes.txt", 4, "text/plain")
    >>> buffer.append("a", 0, b"no"); buffer.append("a", 0, b"no"); buffer.append("a", 2, b"te")
    >>> [(file.name, file.complete, file.path.read_bytes()) for file in buffer.files]
    [('notes.txt', True, b'note')]
    """

    def __init__(self) -> None:
        self._files: dict[str, IncomingFile] = {}
        self._folder: Path | None = None
        self._count = 0

    @property
    def files(self) -> list[IncomingFile]:
        """All files, incomplete ones included, in the order in which they began."""
        return list(self._files.values())

    def begin(self, key: str, name: str, size: int, mime_type: str) -> None:
        """Begin a file of `size` bytes."""
        self._count += 1
        path = self._temporary_folder() / f"{self._count}"  # the name of the browser is never used as a path
        path.touch()
        self._files[key] = IncomingFile(key, name, size, mime_type, path)

    def append(self, key: str, offset: int, data: bytes) -> None:
        """Append the bytes at `offset`. Bytes that do not continue the file, or exceed its size, are dropped."""
        incoming = self._files.get(key)
        if incoming is None or offset != incoming.received or offset + len(data) > incoming.size:
            return
        with incoming.path.open("ab") as file:
            file.write(data)
        self._files[key] = replace(incoming, received=offset + len(data))

    def remove(self, key: str) -> None:
        """Delete a file."""
        incoming = self._files.pop(key, None)
        if incoming is not None:
            incoming.path.unlink(missing_ok=True)

    def _temporary_folder(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="svc-notebooks-"))
            remove_with(self, self._folder)
        return self._folder
