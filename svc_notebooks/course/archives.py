"""Reads the files in zip and tar archives of students within limits, and unpacks the archive of a class.

No link is followed, no name leads outside, and no archive can fill the memory: the number of files and of decoded bytes
is limited, also for what an archive says about itself.
"""

import bz2
import gzip
import os
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

# The suffixes of the archives that are opened.
SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2")

CLOSED_SUFFIXES = (".7z", ".rar", ".gz", ".bz2", ".xz", ".zst", ".txz")

_MIB = 1024**2
_ENTRY = b"PK\1\2"
_METHODS = (ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2)
_TAR_OPENERS: dict[bytes, Callable[[Any], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open}
_ERRORS = (BadZipFile, tarfile.TarError, OSError, EOFError, RuntimeError, ValueError, NotImplementedError, zlib.error)


class UnreadableFileError(Exception):
    """Raised for a file that cannot be read. The message has the reason, such as "it is a link"."""


@dataclass(slots=True)
class ArchiveLimits:
    """How many files and decoded bytes may still be read. All archives of a hand-in share one object.

    Args:
        files: The number of files.
        size: The number of bytes.
    """

    files: int = 1000
    size: int = 128 * _MIB

    def spend(self, size: int) -> None:
        """Count bytes. Raises UnreadableFileError if they are too many."""
        self.size -= size
        if self.size < 0:
            raise UnreadableFileError("has too many bytes")


MAX_FILE_SIZE = 64 * _MIB
_CLASS_FILES, _CLASS_SIZE = 50_000, 8 * 1024 * _MIB
TOO_LARGE = f"has more than {MAX_FILE_SIZE // _MIB} MiB"


class Member(NamedTuple):
    """A file in an archive: its path, its time, and a function that reads it or raises UnreadableFileError."""

    name: str
    time: float
    read: Callable[[], bytes]


def members(file: IO[bytes], limits: ArchiveLimits) -> Iterator[Member]:
    """Iterate over the files in an archive. Read a file before the next one. Raises UnreadableFileError.

    >>> with BytesIO() as file:
    ...     with ZipFile(file, "w") as archive:
    ...         archive.writestr("../e1.ipynb", "{}")
    ...     [member] = members(file, ArchiveLimits())
    >>> member.read()
    Traceback (most recent call last):
    svc_notebooks.course.archives.UnreadableFileError: has a name that leads outside of the archive
    """
    try:
        file.seek(0)
        head = file.read(4)
        file.seek(0)
        for member in _zip_members(file, limits) if head.startswith(b"PK") else _tar_members(file, head, limits):
            limits.files -= 1
            if limits.files < 0:
                raise UnreadableFileError("has too many files")
            path = PurePosixPath(member.name.replace("\\", "/"))
            parts = [part for part in path.parts if part not in ("/", "..")] or ["unnamed"]
            if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
                member = member._replace(read=refusal("has a name that leads outside of the archive"))
            yield member._replace(name="/".join(parts))
    except _ERRORS as error:
        raise UnreadableFileError(f"cannot be opened as an archive: {error}"[:200]) from None


def _zip_members(file: IO[bytes], limits: ArchiveLimits) -> Iterator[Member]:
    if isinstance(file, BytesIO) and file.getbuffer().nbytes and file.getvalue().count(_ENTRY) > limits.files:
        raise UnreadableFileError("has too many files")  # before ZipFile makes an object of each
    with ZipFile(file) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                yield Member(info.filename, _zip_time(info), _zip_reader(archive, info, limits))


def _zip_reader(archive: ZipFile, info: ZipInfo, limits: ArchiveLimits) -> Callable[[], bytes]:
    if stat.S_ISLNK(info.external_attr >> 16):
        return refusal("is a link, which is not followed")
    if info.flag_bits & 1:
        return refusal("is encrypted")
    if info.compress_type not in _METHODS:
        return refusal("is compressed in a way that is not supported")
    if info.file_size > MAX_FILE_SIZE:
        return refusal(TOO_LARGE)

    def read() -> bytes:
        try:
            with archive.open(info) as file:
                return _BoundedReader(file, limits).read(MAX_FILE_SIZE)
        except _ERRORS as error:
            raise UnreadableFileError(f"is damaged: {error}"[:200]) from None

    return read


def _zip_time(info: ZipInfo) -> float:
    with suppress(ValueError, OverflowError, OSError):
        return datetime(*info.date_time).timestamp()  # noqa: DTZ001 -- a zip archive has local times
    return 0.0


def _tar_members(file: IO[bytes], head: bytes, limits: ArchiveLimits) -> Iterator[Member]:
    opener = next((opener for magic, opener in _TAR_OPENERS.items() if head.startswith(magic)), lambda file: file)
    with tarfile.open(fileobj=_BoundedReader(opener(file), limits), mode="r|") as archive:  # type: ignore[call-overload]
        for info in archive:
            if not info.isdir():
                yield Member(info.name, float(info.mtime), _tar_reader(archive, info))


def _tar_reader(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Callable[[], bytes]:
    if not info.isreg() or info.issparse():  # the size of a sparse file has nothing to do with that of the archive
        return refusal("is a link, which is not followed" if info.issym() or info.islnk() else "is not a regular file")
    if info.size > MAX_FILE_SIZE:
        return refusal(TOO_LARGE)

    def read() -> bytes:
        file = archive.extractfile(info)
        return file.read() if file else b""

    return read


class _BoundedReader:
    """Reads a file of a zip archive, or a decoded tar archive with its headers, within the limits."""

    def __init__(self, file: IO[bytes], limits: ArchiveLimits) -> None:
        self._file, self._limits = file, limits

    def read(self, size: int) -> bytes:
        content = self._file.read(min(size, max(0, self._limits.size) + 1))
        self._limits.spend(len(content))
        return content


def archive_stem(name: str) -> str:
    """Return the name of an archive without its suffix, and any other name as it is.

    >>> archive_stem("class.tar.gz")
    'class'
    """
    suffix = max((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), key=len, default="")
    return name[: len(name) - len(suffix)]


def refusal(reason: str) -> Callable[[], bytes]:
    """Return a function that raises UnreadableFileError with a reason."""

    def read() -> bytes:
        raise UnreadableFileError(reason)

    return read


def unpack(archive: Path, folder: Path) -> dict[str, str]:
    """Write the files of a class archive to a new folder with their times. Return why others were left out, by name.

    Raises ValueError if the archive cannot be opened.
    """
    left_out = {}
    try:
        with archive.open("rb") as file:
            for member in members(file, ArchiveLimits(_CLASS_FILES, _CLASS_SIZE)):
                path = folder / member.name
                try:
                    content = member.read()
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with path.open("xb") as copy:
                        copy.write(content)
                    os.utime(path, (member.time, member.time))
                except FileExistsError:
                    left_out[member.name] = "is in the archive twice, of which the first counts"
                except OSError as error:
                    left_out[member.name] = f"cannot be written: {error.strerror}"
                except UnreadableFileError as error:
                    left_out[member.name] = str(error)
    except (UnreadableFileError, OSError) as error:
        raise ValueError(f"{archive} {error}") from None
    return left_out
