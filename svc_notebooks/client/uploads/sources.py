"""Opens upload sources, and reads them by byte offset.

    a path, or anything with __fspath__     read from disk as it is sent
    a path of a file of unknown size        once, forwards, such as a file of /proc
    a URL such as s3://bucket/name          read through fsspec, a few MiB at a time
    bytes, bytearray, memoryview            as they are
    a file of a widget FileUpload           as it is, with its name and media type
    a binary file object that can seek      from its position to its end
    any other object with read              once, forwards; the last chunk is kept, to be sent again

A source that cannot be read raises an error to the caller, and the request is not repeated.
"""

from __future__ import annotations

import hashlib
import io
import os
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO, Any, TypeAlias, cast

from ...core.errors.errors import SourceChanged
from ...core.http import media_types
from ...core.http.messages import Body
from ...local.saving import as_on_disk
from ...local.tree import UrlFile, is_url, without_file_scheme
from ..transport.in_process import BLOCK

# The number of bytes at the start and end of a file that determine its fingerprint.
FINGERPRINTED_BYTES = 65_536

_PIECE = 8 * 1024 * 1024  # the number of bytes of a file at a URL that are requested at a time

# A function that is called after each block with the transferred bytes and the total size, or None if unknown.
Progress: TypeAlias = "Callable[[int, int | None], None]"


class UploadSource:
    """The base class of upload sources, whose bytes are read by offset.

    `name`, `path` and `size` (in bytes) are None if unknown. `lowest` is the first offset that can still be read, 0
    except for streams. `can_change` is False if a byte is the same whenever it is read. `status_changed` is the time of
    the last change of a file on disk or of its metadata in nanoseconds, which no program can set, or None.
    """

    name: str | None = None
    path: str | None = None
    size: int | None = None
    lowest = 0
    can_change = True
    status_changed: int | None = None

    @property
    def media_type(self) -> str:
        """The media type that is detected from the name and the first bytes."""
        return media_types.detect(self.name, self.read(0, media_types.SNIFFED_BYTES))

    @abstractmethod
    def read(self, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset` on, or fewer at the end of the source.

        Raises SourceChanged if the source changed during the upload, and OSError if the source cannot be read.
        """

    def keep(self, size: int) -> None:
        """Keep the last `size` bytes of a stream in memory, to send a chunk again. Other sources do nothing."""

    def keep_digests(self) -> None:
        """Compute the digests of a stream while it is read, from its first byte on. Other sources do nothing."""

    def digest(self, algorithm: str) -> str | None:
        """Return the digest of the whole content as it is now ("sha256" or "md5"), in hexadecimal.

        Returns None for a stream without `keep_digests`. Raises the errors of `read`.
        """
        computed, offset = hashlib.new(algorithm), 0
        while data := self.read(offset, _PIECE):
            computed.update(data)
            offset += len(data)
        return computed.hexdigest()

    def fingerprint(self) -> str | None:
        """Return a text that changes with the content, or None for file objects, which would have to be read whole."""
        return None

    def identity(self) -> str | None:
        """Return a text that stays the same until the source changes, or None for file objects."""
        return self.fingerprint()

    def close(self) -> None:
        """Close the file that this source has opened, if any. `read` opens the file again."""


class BytesSource(UploadSource):
    """An upload source of bytes in memory, with a media type or, if it is None or empty, the one that is detected."""

    can_change = False

    def __init__(self, content: bytes, name: str | None = None, media_type: str | None = None) -> None:
        self.name = name
        self._media_type = media_type
        self.size: int = len(content)
        self._view = memoryview(content)
        self._fingerprint: str | None = None

    def __reduce__(self) -> tuple[type[BytesSource], tuple[bytes, str | None, str | None]]:
        """Return the content for a pickle, because a worker process can send it."""
        return BytesSource, (bytes(self._view), self.name, self._media_type)

    @property
    def media_type(self) -> str:
        return self._media_type or media_types.detect(self.name, bytes(self._view[: media_types.SNIFFED_BYTES]))

    def read(self, offset: int, size: int) -> bytes:
        return bytes(self._view[offset : offset + size])

    def digest(self, algorithm: str) -> str:
        return hashlib.new(algorithm, self._view).hexdigest()

    def fingerprint(self) -> str:
        if self._fingerprint is None:
            self._fingerprint = f"{self.size}-{hashlib.blake2b(self._view, digest_size=16).hexdigest()}"
        return self._fingerprint


class UnreadableSource(UploadSource):
    """A source that cannot be opened. `read` raises the error, so that only this row of an upload fails."""

    size = 0

    def __init__(self, name: str | None, error: OSError) -> None:
        self.name, self._error = name, error

    @property
    def media_type(self) -> str:
        return media_types.detect(self.name, b"")

    def read(self, offset: int, size: int) -> bytes:
        raise self._error

    def identity(self) -> str:
        return f"{self._error}"


class PathSource(UploadSource):
    """An upload source that reads a file on disk. The file must not change during the upload."""

    def __init__(self, path: Path, name: str | None = None) -> None:
        self._path = path.resolve()
        self._file: io.FileIO | None = None
        stat = self._path.stat()
        self._initial_stamp, self.status_changed = _stamp(stat), stat.st_ctime_ns
        self.name = name or path.name
        self.path = str(self._path)
        self.size: int = self._initial_stamp[0]

    @property
    def media_type(self) -> str:
        with self._path.open("rb", buffering=0) as file:
            return media_types.detect(self.name, file.read(media_types.SNIFFED_BYTES))

    def read(self, offset: int, size: int) -> bytes:
        file = self._file = self._file or io.FileIO(self._path)
        file.seek(offset)
        data = file.read(size)
        stamp = _stamp(os.fstat(file.fileno()))
        if stamp != self._initial_stamp:
            raise change_error(self.name, self._initial_stamp[0], stamp[0])
        return data

    def digest(self, algorithm: str) -> str:
        with self._path.open("rb", buffering=0) as file:
            return hashlib.file_digest(file, algorithm).hexdigest()

    def fingerprint(self) -> str:
        size, mtime = self._initial_stamp
        open_before = self._file is not None
        ends = self.read(0, FINGERPRINTED_BYTES) + self.read(max(0, size - FINGERPRINTED_BYTES), FINGERPRINTED_BYTES)
        if not open_before:
            self.close()
        return f"{size}-{mtime}-{hashlib.blake2b(ends, digest_size=16).hexdigest()}"

    def identity(self) -> str:
        size, mtime = self._initial_stamp  # the file is not read, because a call can have 100,000 files
        return f"{self.path} {size} {mtime}"

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _stamp(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_size, stat.st_mtime_ns


def change_error(name: str | None, before: int | None, after: int | None) -> SourceChanged:
    """Return the error for a source that changed during the upload, for the caller to raise. Sizes are in bytes."""
    sizes = f"the size was {before} bytes and is now {after}" if before != after else "the modification time differs"
    return SourceChanged(f"{name or 'The source'} changed while it was uploaded: {sizes}.")


class UrlSource(UploadSource):
    """An upload source that reads a file at a URL. The file must not change during the upload."""

    def __init__(self, url: str, name: str | None = None) -> None:
        self._file = UrlFile(url)
        existing = self._file.find()
        if existing is None or existing.size is None:
            unreached = "does not exist or cannot be reached"
            reason = unreached if existing is None else "has no known size; download it first"
            raise FileNotFoundError(f"source {url!r} {reason}")
        self._initial_stamp = existing.stamp
        self._first, self._piece = 0, b""
        self.name = name or PurePath(url).name
        self.path = url
        self.size: int = existing.size

    @property
    def media_type(self) -> str:
        return media_types.detect(self.name, self._file.read(0, min(self.size, media_types.SNIFFED_BYTES)))

    def read(self, offset: int, size: int) -> bytes:
        size = min(size, self.size - offset)
        if not 0 <= offset - self._first <= len(self._piece) - size:
            self._first = offset
            self._piece = self._file.read(offset, min(max(size, _PIECE), self.size - offset))
            existing = self._file.find()
            if existing is None or existing.stamp != self._initial_stamp or len(self._piece) < size:
                raise change_error(self.name, self.size, existing.size if existing else None)
        return self._piece[offset - self._first :][:size]

    def fingerprint(self) -> str:
        return f"{self.size}-{hashlib.blake2b(self._initial_stamp.encode(), digest_size=16).hexdigest()}"

    def close(self) -> None:
        self._first, self._piece = 0, b""


class FileSource(UploadSource):
    """An upload source that reads a seekable file object, which the caller closes, from its position to its end."""

    def __init__(self, file: IO[bytes], name: str | None = None) -> None:
        self._file = file
        self._start = file.tell()
        self._end = file.seek(0, io.SEEK_END)
        file.seek(self._start)
        if self._start and self._start == self._end:
            raise ValueError("source is at the end of the file; call source.seek(0) first")
        _check_bytes(file.read(0))
        self.name = name
        self.size = self._end - self._start

    @property
    def media_type(self) -> str:
        detected = super().media_type
        self._file.seek(self._start)  # another upload of the same file object begins at its position
        return detected

    def read(self, offset: int, size: int) -> bytes:
        end = self._file.seek(0, io.SEEK_END)
        self._file.seek(self._start + offset)
        data = _check_bytes(self._file.read(size))
        if end != self._end:
            raise change_error(self.name, self.size, end - self._start)
        return data


def _check_bytes(data: object) -> bytes:
    """Return data of a `read` call as bytes. Raises TypeError for other types, BlockingIOError for None."""
    if data is None:
        raise BlockingIOError("source is a non-blocking stream without available bytes; give a blocking stream")
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"source.read() must return bytes, not {type(data).__name__}; open the file with mode 'rb'")
    return bytes(data)


class StreamSource(UploadSource):
    """An upload source for file objects without seek, with the latest bytes in memory to send a chunk again."""

    can_change = False

    def __init__(self, file: Body, name: str | None = None, size: int | None = None) -> None:
        self._file = file
        self._kept = bytearray()
        self._max_kept = 8 * BLOCK
        self._ended = False
        self._digests: list[Any] = []
        self.name = name
        self.size = size

    def read(self, offset: int, size: int) -> bytes:
        if offset < self.lowest:
            raise ValueError(
                f"byte {offset} of the stream is no longer available; the first available byte is {self.lowest}"
            )
        while not self._ended and self.lowest + len(self._kept) < offset + size:
            self._read_more(min(BLOCK, offset + size - self.lowest - len(self._kept)))
        if offset > (have := self.lowest + len(self._kept)):
            raise change_error(self.name, offset, have)
        data = bytes(memoryview(self._kept)[offset - self.lowest :][:size])
        self._check_size(offset + len(data))
        surplus = len(self._kept) - max(self._max_kept, size)
        if surplus > 0:
            del self._kept[:surplus]
            self.lowest += surplus
        return data

    def _read_more(self, size: int) -> None:
        data = _check_bytes(self._file.read(size))
        self._ended = not data
        self._kept += data
        for computed in self._digests:
            computed.update(data)

    def _check_size(self, end: int) -> None:
        if self.size is None or (end < self.size and not self._ended):
            return
        if end == self.size and not self._ended:
            self._read_more(1)
        have = self.lowest + len(self._kept)
        if have != self.size:
            raise change_error(self.name, self.size, have)

    def keep(self, size: int) -> None:
        self._max_kept = size

    def keep_digests(self) -> None:
        self._digests = [hashlib.new(algorithm, self._kept) for algorithm in ("sha256", "md5")]

    def digest(self, algorithm: str) -> str | None:
        while self._digests and not self._ended:
            self.read(self.lowest + len(self._kept), BLOCK)
        return next((computed.hexdigest() for computed in self._digests if computed.name == algorithm), None)


class UnsizedFile:
    """Reads a file on disk whose size is not known, such as a file of /proc, for a StreamSource.

    A small file is read at once, so that it does not change in between.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._end, self._ahead = path.resolve(), 0, b""

    def read(self, size: int = BLOCK, /) -> bytes:
        """Return at most `size` bytes, or none at the end of the file."""
        if not self._ahead:
            with self._path.open("rb") as file:
                file.seek(self._end)
                self._ahead = file.read(BLOCK)
            self._end += len(self._ahead)
        data, self._ahead = self._ahead[:size], self._ahead[size:]
        return data


# -- streams the bytes of an upload source as the body of a request


@dataclass(slots=True, eq=False)
class SourceStream:
    """A request body with `size` bytes of a source from the offset `first` on, or all if None (A2-05, A3-26).

    `head` and `tail` are sent before and after. `sent` is the number of source bytes that were read so far.
    """

    source: UploadSource
    first: int
    size: int | None
    progress: Progress | None = None
    head: bytes = b""
    tail: bytes = b""
    sent: int = 0

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes of the body, or all remaining bytes if negative.

        Raises SourceChanged if the source changed during the upload, and OSError if the source cannot be read.
        """
        if size < 0:
            return b"".join(iter(lambda: self.read(BLOCK), b""))
        if self.head:
            piece, self.head = self.head[:size], self.head[size:]
            return piece
        at = self.first + self.sent
        size_to_read = size if self.size is None else min(size, self.size - self.sent)
        if size_to_read and (data := self.source.read(at, size_to_read)):
            self.sent += len(data)
            if self.progress is not None:
                self.progress(at + len(data), self.source.size)
            return data
        if size_to_read and self.size is not None:
            raise change_error(self.source.name, self.first + self.size, at)
        piece, self.tail = self.tail[:size], self.tail[size:]
        return piece


def open_source(source: object, *, name: str | None = None, size: int | None = None) -> UploadSource:
    """Return an UploadSource for a path, bytes or a binary file object. `size` is a stream's length in bytes or None.

    Raises TypeError or ValueError for an invalid source, and OSError if the file cannot be read.

    >>> source = open_source(b"a,b\\n", name="numbers.csv")
    >>> source.size, source.media_type
    (4, 'text/csv')
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return BytesSource(bytes(source), name)
    if isinstance(source, Mapping) and isinstance(source.get("content"), bytes | bytearray | memoryview):
        return BytesSource(bytes(source["content"]), name or source.get("name"), source.get("type"))
    if isinstance(source, UnreadableSource):
        return source
    source = without_file_scheme(source)
    if is_url(source):
        return UrlSource(source, name)
    if isinstance(source, (str, os.PathLike)):
        return _path_source(source, name)
    if not callable(getattr(source, "read", None)):
        if isinstance(source, Mapping | list | tuple | set):
            raise TypeError(
                f"source is a {type(source).__name__}; give a path, bytes, or a file object, such as"
                " pandas.DataFrame(source) for a table, a dict of DataFrames for the sheets of a workbook, or"
                " json.dumps(source).encode() for a JSON file"
            )
        raise TypeError(
            f"source is {type(source).__name__}; give a path, bytes, or a file object opened in binary mode, or"
            " pandas.DataFrame(array) for an array; of a widget FileUpload, give its value"
        )
    if isinstance(source, io.StringIO):
        raise TypeError("source is a text buffer; give source.getvalue().encode()")
    if isinstance(source, io.TextIOBase):
        raise TypeError("source is a file in text mode; open the file with mode 'rb'")
    if isinstance(source, io.BytesIO) and source.tell() == len(source.getbuffer()):
        return BytesSource(source.getvalue(), name)  # all that a program has just written into it
    name = name or own_name(source)
    if is_stream(source):
        return StreamSource(cast(Body, source), name, size)
    return FileSource(cast(IO[bytes], source), name)


def is_stream(source: object) -> bool:
    """Return True for a file object without seek or with a wrong size, whose content can be read only once."""
    seekable = getattr(source, "seekable", None)
    if not callable(getattr(source, "read", None)):
        return False
    return not (callable(seekable) and seekable()) or not _ends_at_its_size(source)


def _ends_at_its_size(source: object) -> bool:
    """Return False for an open file on disk whose size is wrong, such as 0 in /proc. It is read like a stream."""
    if not isinstance(file := getattr(source, "raw", source), io.FileIO) or not file.readable():
        return True
    start, size = file.tell(), os.fstat(file.fileno()).st_size
    file.seek(max(0, size - 1))
    ends = len(file.read(2)) == min(size, 1)
    file.seek(start)
    return ends


def _path_source(source: str | os.PathLike[str], name: str | None) -> UploadSource:
    """Return the source of a file on disk."""
    text = os.fspath(source)
    if not isinstance(text, str):
        raise TypeError("source is a path of type bytes; give a str or a pathlib.Path")
    if not text:
        raise ValueError("source is empty; give the path of a file, or b'' for a file without content")
    path = as_on_disk(Path(text).expanduser())
    if path.is_dir():
        raise IsADirectoryError(f"source {text!r} is a folder; give one file at a time")
    if not path.exists():
        raise FileNotFoundError(f"source {text!r} does not exist; to upload text itself, give bytes")
    if not path.is_file():
        raise ValueError(f"source {text!r} is not a regular file; open it and give the file object")
    with path.open("rb", buffering=0) as file:  # raises an error for an unreadable file before the upload
        has_size = _ends_at_its_size(file)
    name = name or path.name
    return PathSource(path, name) if has_size else StreamSource(UnsizedFile(path), name)


def own_name(source: object) -> str | None:
    """Return the file name of a path or file object without its folder, or None without a name.

    >>> own_name("data/survey.csv"), own_name(b"a,b")
    ('survey.csv', None)
    """
    name = source if isinstance(source, (str, PurePath)) else getattr(source, "name", None)
    return PurePath(name).name if isinstance(name, (str, PurePath)) else None
