"""What can be uploaded, as one thing: bytes that are read by offset.

    a path, or anything with __fspath__     read from disk as it is sent
    bytes, bytearray, memoryview            as they are
    a binary file object that can seek      from where it stands to its end
    any other object with read              once, forwards; the last chunk is kept, to be sent again

Whatever is wrong with a source is found before a byte is sent, or while it is read: then it is the person's
error and never a reason to try again.
"""

from __future__ import annotations

import io
import os
from hashlib import blake2b
from pathlib import Path, PurePath
from typing import Protocol, cast

from ...core.errors.errors import SourceChanged
from ...core.http import mime
from ..transport.in_process import BLOCK

FINGERPRINTED_BYTES = 65_536
"""So many bytes at either end of a file are part of its fingerprint."""


class Readable(Protocol):
    """What can be read; that it gives bytes is looked at, not believed."""

    def read(self, size: int = -1, /) -> object:
        """At most `size` bytes."""


class Seekable(Readable, Protocol):
    """What can be read from anywhere."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go there; the position that it is."""

    def tell(self) -> int:
        """The position."""


class SourceFailed(Exception):
    """Reading the source failed; `error` is what happened.

    It is no OSError, because those that pass through a connection's code are taken for the connection's.
    """

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


class UploadSource(Protocol):
    """Bytes to upload."""

    @property
    def name(self) -> str | None:
        """What it is called."""

    @property
    def path(self) -> str | None:
        """Where it lies on disk, if it does."""

    @property
    def size(self) -> int | None:
        """How many bytes it has, as far as that is known."""

    @property
    def lowest(self) -> int:
        """The first byte that can still be read: 0 unless this is a stream."""

    @property
    def media_type(self) -> str:
        """What kind of content it seems to be."""

    def read(self, offset: int, size: int) -> bytes:
        """The bytes from `offset` on, fewer than `size` only at the end. Raises SourceChanged, SourceFailed."""

    def keep(self, size: int) -> None:
        """The last `size` bytes that were read may be asked for again."""

    def fingerprint(self) -> str | None:
        """A text that changes with the content; None where that cannot be told without reading it all."""

    def close(self) -> None:
        """Let go of what is open; reading opens it again."""


def open_source(source: object, *, name: str | None = None, size: int | None = None) -> UploadSource:
    """Make a source of what a person gives; `size` may tell that of a stream.

    Raises TypeError naming `source`, and OSError for a path that cannot be read.

    >>> source = open_source(b"a,b\\n", name="numbers.csv")
    >>> source.size, source.media_type
    (4, 'text/csv')
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return BytesSource(bytes(source), name)
    if isinstance(source, (str, os.PathLike)):
        return PathSource(_checked_path(source), name)
    if callable(getattr(source, "read", None)):
        return _from_file(cast(Readable, source), name, size)
    raise TypeError(f"source is {type(source).__name__}; give a path, bytes, or a file object opened in binary mode")


def _checked_path(source: str | os.PathLike[str]) -> Path:
    text = os.fspath(source)
    if not isinstance(text, str):
        raise TypeError("source is a path of bytes; give it as a str or a pathlib.Path")
    if not text:
        raise ValueError("source is empty; give the path of a file, or b'' for a file without content")
    path = Path(text).expanduser()
    if path.is_dir():
        raise IsADirectoryError(f"source {text!r} is a folder; give one file at a time")
    if not path.exists():
        raise FileNotFoundError(f"source {text!r} does not exist; to upload text itself, give bytes")
    if not path.is_file():
        raise ValueError(f"source {text!r} is no regular file; open it and give the file object")
    with path.open("rb", buffering=0):  # whether it may be read, before a byte is sent
        return path


def _from_file(file: Readable, name: str | None, size: int | None) -> UploadSource:
    if isinstance(file, io.TextIOBase):
        raise TypeError("source is a file opened as text; open it with mode 'rb'")
    name = name or _name_of(file)
    seekable = getattr(file, "seekable", None)
    if callable(seekable) and seekable():
        return FileSource(cast(Seekable, file), name)
    return StreamSource(file, name, size)


def own_name(source: object) -> str | None:
    """What a source is called where it comes from, whatever it shall be called where it goes.

    >>> own_name("data/survey.csv"), own_name(b"a,b")
    ('survey.csv', None)
    """
    return PurePath(source).name if isinstance(source, (str, PurePath)) else _name_of(source)


def _name_of(file: object) -> str | None:
    name = getattr(file, "name", None)
    return PurePath(name).name if isinstance(name, str) else None


class BytesSource:
    """Bytes at hand."""

    path: str | None = None
    lowest = 0

    def __init__(self, content: bytes, name: str | None = None) -> None:
        self.name = name
        self.size: int | None = len(content)
        self._view = memoryview(content)
        self._fingerprint: str | None = None

    @property
    def media_type(self) -> str:
        return mime.detect(self.name, bytes(self._view[: mime.SNIFFED_BYTES]))

    def read(self, offset: int, size: int) -> bytes:
        return bytes(self._view[offset : offset + size])

    def keep(self, size: int) -> None:
        pass

    def fingerprint(self) -> str | None:
        if self._fingerprint is None:
            self._fingerprint = f"{self.size}-{blake2b(self._view, digest_size=16).hexdigest()}"
        return self._fingerprint

    def close(self) -> None:
        pass


class PathSource:
    """A file on disk, read as it is sent; a change while that lasts is an error."""

    lowest = 0

    def __init__(self, path: Path, name: str | None = None) -> None:
        self._path = path.resolve()
        self._file: io.FileIO | None = None
        self._initial_stamp = _stamp(self._path.stat())
        self.name: str | None = name or path.name
        self.path: str | None = str(self._path)
        self.size: int | None = self._initial_stamp[0]

    @property
    def media_type(self) -> str:
        with self._path.open("rb", buffering=0) as file:
            return mime.detect(self.name, file.read(mime.SNIFFED_BYTES))

    def read(self, offset: int, size: int) -> bytes:
        try:
            file = self._file = self._file or io.FileIO(self._path)
            file.seek(offset)
            data = file.read(size)
            now = _stamp(os.fstat(file.fileno()))
        except OSError as error:
            raise SourceFailed(error) from error
        if now != self._initial_stamp:
            raise changed(self.name, self._initial_stamp[0], now[0])
        return data

    def keep(self, size: int) -> None:
        pass

    def fingerprint(self) -> str | None:
        size, mtime = self._initial_stamp
        open_before = self._file is not None
        ends = self.read(0, FINGERPRINTED_BYTES) + self.read(max(0, size - FINGERPRINTED_BYTES), FINGERPRINTED_BYTES)
        if not open_before:
            self.close()
        return f"{size}-{mtime}-{blake2b(ends, digest_size=16).hexdigest()}"

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _stamp(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_size, stat.st_mtime_ns


def changed(name: str | None, before: int | None, after: int | None) -> SourceChanged:
    """The error for a source that is not what it was."""
    sizes = f"it had {before} bytes and has {after}" if before != after else "it was written to"
    return SourceChanged(f"{name or 'The source'} changed while it was uploaded: {sizes}.")


class FileSource:
    """A file object that can seek, from where it stood to its end. Closing it stays its owner's."""

    path: str | None = None
    lowest = 0

    def __init__(self, file: Seekable, name: str | None = None) -> None:
        self._file = file
        self._start = file.tell()
        self._end = file.seek(0, io.SEEK_END)
        file.seek(self._start)
        if self._start and self._start == self._end:
            raise ValueError("source stands at its end, so nothing would be sent; call its seek(0) first")
        _bytes(file.read(0))
        self.name = name
        self.size: int | None = self._end - self._start

    @property
    def media_type(self) -> str:
        return mime.detect(self.name, self.read(0, mime.SNIFFED_BYTES))

    def read(self, offset: int, size: int) -> bytes:
        try:
            end = self._file.seek(0, io.SEEK_END)
            self._file.seek(self._start + offset)
            data = _bytes(self._file.read(size))
        except OSError as error:
            raise SourceFailed(error) from error
        if end != self._end:
            raise changed(self.name, self.size, end - self._start)
        return data

    def keep(self, size: int) -> None:
        pass

    def fingerprint(self) -> str | None:
        return None

    def close(self) -> None:
        pass


def _bytes(data: object) -> bytes:
    """What a file object gave. Raises TypeError for text, BlockingIOError for a pipe that is not waited for."""
    if data is None:
        raise BlockingIOError("source has nothing to read yet; give one that waits for its bytes")
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"source gives {type(data).__name__}, not bytes; open it with mode 'rb'")
    return bytes(data)


class StreamSource:
    """What can only be read forwards: the last bytes are kept, so that a chunk can be sent again."""

    path: str | None = None

    def __init__(self, file: Readable, name: str | None = None, size: int | None = None) -> None:
        self._file = file
        self._kept = bytearray()
        self._max_kept = 8 * BLOCK
        self._ended = False
        self.lowest = 0
        self.name = name
        self.size = size

    @property
    def media_type(self) -> str:
        return mime.detect(self.name, self.read(0, mime.SNIFFED_BYTES))

    def read(self, offset: int, size: int) -> bytes:
        if offset < self.lowest:
            raise ValueError(f"byte {offset} of a stream is gone; {self.lowest} is the first that is left")
        while not self._ended and self.lowest + len(self._kept) < offset + size:
            self._read_more(min(BLOCK, offset + size - self.lowest - len(self._kept)))
        data = bytes(memoryview(self._kept)[offset - self.lowest :][:size])
        self._check(offset + len(data))
        self._drop(len(self._kept) - max(self._max_kept, size))
        return data

    def _read_more(self, size: int) -> None:
        try:
            data = _bytes(self._file.read(size))
        except OSError as error:
            raise SourceFailed(error) from error
        self._ended = not data
        self._kept += data

    def _check(self, end: int) -> None:
        """A stream whose size was told must have that size."""
        if self.size is None or (end < self.size and not self._ended):
            return
        if end == self.size and not self._ended:
            self._read_more(1)
        have = self.lowest + len(self._kept)
        if have != self.size:
            raise changed(self.name, self.size, have)

    def _drop(self, count: int) -> None:
        if count > 0:
            del self._kept[:count]
            self.lowest += count

    def keep(self, size: int) -> None:
        self._max_kept = size

    def fingerprint(self) -> str | None:
        return None

    def close(self) -> None:
        pass
