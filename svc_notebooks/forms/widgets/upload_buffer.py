"""Collects the slices of files that a browser sends. Slices that are repeated or follow a gap are dropped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ...core.http.mime import by_name
from ...core.processes import new_temporary_folder, remove_with


@dataclass(frozen=True, slots=True)
class ChosenFile:
    """A file to upload. `source` is the path of the file or its content as bytes.

    `in_notebook_folder` is True for a path that the person has entered, and False for a file from the browser.
    """

    name: str
    source: Path | bytes
    mime_type: str | None = None
    in_notebook_folder: bool = False

    def media_type(self, *, converted: bool) -> str | None:
        """Return the media type to send, or None if the type is unknown.

        The type that the browser has reported comes first. For a conversion, the file extension comes first, because
        browsers report the type of the installed office program for a CSV file.

        >>> ChosenFile("a.csv", b"", "application/vnd.ms-excel").media_type(converted=True)
        'text/csv'
        """
        type_by_name = by_name(self.name)
        return (type_by_name or self.mime_type) if converted else (self.mime_type or type_by_name)


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file that the browser is sending. `path` is the temporary file, and `name` is the name in the browser."""

    key: str
    name: str
    size: int
    mime_type: str
    path: Path
    received: int = 0

    @property
    def complete(self) -> bool:
        return self.received == self.size


class UploadBuffer:
    """The files that a browser sends, in a temporary folder that is deleted at the end of the process or earlier.

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
        """All files, including incomplete files, in the order of their `begin` calls."""
        return list(self._files.values())

    def begin(self, key: str, name: str, size: int, mime_type: str) -> None:
        """Create an empty file that will have `size` bytes. `key` identifies the file in later calls."""
        self._count += 1
        path = self._temporary_folder() / f"{self._count}"  # the file name from the browser is never used as a path
        path.touch()
        self._files[key] = IncomingFile(key, name, size, mime_type, path)

    def append(self, key: str, offset: int, data: bytes) -> None:
        """Append bytes at the end of a file. Bytes with another offset or beyond the file size are dropped."""
        incoming = self._files.get(key)
        if incoming is None or offset != incoming.received or offset + len(data) > incoming.size:
            return
        with incoming.path.open("ab") as file:
            file.write(data)
        self._files[key] = replace(incoming, received=offset + len(data))

    def remove(self, key: str) -> None:
        """Delete the file with this key, if it exists."""
        incoming = self._files.pop(key, None)
        if incoming is not None:
            incoming.path.unlink(missing_ok=True)

    def _temporary_folder(self) -> Path:
        if self._folder is None:
            self._folder = new_temporary_folder("svc-notebooks-")
            remove_with(self, self._folder)
        return self._folder
