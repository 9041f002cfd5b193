"""Downloads into memory, or to a file that appears at its path when complete (A6)."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from os.path import lexists
from pathlib import Path
from typing import Any, TypeAlias

from ...core.errors.caller_warning import warn_of_abuse
from ...core.errors.errors import ContentMismatch, NotAllowed
from ...core.http.ranges import ByteRange
from ...core.resources.files import File
from ...local.saving import FILE, UNCHANGED, SavedFile, check_path, check_replaceable, save_bytes
from ..files import CHECKSUMS, checksum, file_path, get_file, has_content_of
from ..session import Session
from ..transport.retry import repeated_requests
from ..uploads.sources import Progress
from .ranged_download import Memory, PartFile, RangedDownload

RangeGiven: TypeAlias = "ByteRange | slice | tuple[int, int | None] | int | str | None"

FACTS = "id,name,size,headRevisionId"
"""The fields of the metadata that a download needs."""

_TRIES = 3
"""The maximum number of download tries if the content keeps changing."""

_AT_ONCE = 64 * 1024
"""The largest size in bytes of content that is received in memory, because it arrives in one block."""

_MEDIA = {"alt": "media"}

_NEVER_EQUAL = f"The content of {{}} had another size or checksum than its metadata, in each of {_TRIES} downloads."

_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|\ud800-\udfff]')
_DEVICE = re.compile(r"(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.|$)", re.IGNORECASE)  # devices of Windows
_MAX_NAME = 200  # bytes; file systems take 255, and `.part.json` is appended


def read_content(session: Session, file_id: str, *, size: int | None = None, **options: Any) -> bytes:
    """Return the content of a file, or a byte range of the content.

    `size` is the size of the whole content in bytes, and None requests it. The `options` and the errors are those of
    `read_known`.
    """
    file: File = get_file(session, file_id, fields="size") if size is None else {"size": str(size)}
    return read_known(session, {**file, "id": file_id}, **options)


def read_known(
    session: Session,
    file: File,
    *,
    byte_range: RangeGiven = None,
    acknowledge_abuse: bool = False,
    progress: Progress | None = None,
) -> bytes:
    """Return the content of a file whose metadata `file` are known, or a byte range of the content.

    The content is compared with the size and the checksum in `file`, if it has them. `byte_range` is (first, last)
    inclusive, a slice, a str such as "bytes=0-99" or a ByteRange. `acknowledge_abuse` lets the owner download a file
    flagged as abusive (A6-03). The flag is sent only after a refusal, and an AbusiveFileWarning names it (A6-04c).

    Raises NotFound, NotAllowed (such as for a native document, which must be exported), BadRequest (no byte in the
    range), ContentMismatch (other content than the metadata describe), Interrupted.
    """
    sink = Memory()
    _Download(session, file, as_range(byte_range), progress, acknowledge_abuse).receive(sink)
    return sink.content()


def save_content(
    session: Session, file_id: str, to: str | os.PathLike[str], *, byte_range: RangeGiven = None, **options: Any
) -> SavedFile:
    """Save the content of a file, or a byte range of the content, to disk.

    `to` is the path of the file, or a folder, in which the file gets its name on the service, made safe. The `options`
    and the errors are those of `save_known`.
    """
    destination, requested = check_destination(to), as_range(byte_range)
    facts = get_file(session, file_id, fields=FACTS)
    name = safe_name(str(facts.get("name") or file_id))
    target = destination / name if destination.is_dir() else destination
    return save_known(session, {**facts, "id": file_id}, target, byte_range=requested, **options)


def save_known(
    session: Session,
    file: File,
    target: Path,
    *,
    byte_range: ByteRange | None = None,
    acknowledge_abuse: bool = False,
    progress: Progress | None = None,
    overwrite: bool = False,
) -> SavedFile:
    """Save the content of a file whose metadata `file` are known, or a byte range of the content, at a path.

    Received bytes are collected in `<name>.part` in the same folder, so that a repeated call continues an interrupted
    download. Small content is received at once, and needs no such file. The size is compared with that in `file`, and
    the checksum if `file` has one, or if the content came in several pieces. An existing file with the same content is
    not changed, and not transferred if the service has a checksum. The metadata are requested again if the content is
    not the one that `file` describes.

    Args:
        file: The id, and if they are known the size, headRevisionId and a checksum.
        overwrite: Replace a file with other content at the path.

    Raises:
        PathExists: A file with other content exists at the path and was not changed.
        OSError: The file cannot be written.

    The errors of `read_known` can be raised too.
    """
    whole = int(file["size"]) if file.get("size") is not None else None
    span = byte_range.resolve(whole) if byte_range and whole is not None else None
    size = whole if byte_range is None else span.size if span else None
    if _is_unchanged(session, file, target, size, whole=byte_range is None, overwrite=overwrite):
        return SavedFile(target, UNCHANGED, target.stat().st_size)
    download = _Download(session, file, byte_range, progress, acknowledge_abuse)
    if byte_range is None and size is not None and size <= _AT_ONCE:
        sink = Memory()
        download.receive(sink)
        return save_bytes(target, sink.content(), overwrite=overwrite)
    with PartFile(target, download.content_id()) as part:
        download.receive(part)
        return part.finish(overwrite=overwrite)


@dataclass
class _Download:
    """A download of the content that the metadata `file` describe, or that the service has meanwhile."""

    session: Session
    file: File
    requested: ByteRange | None
    progress: Progress | None
    acknowledge_abuse: bool

    def receive(self, sink: PartFile | Memory) -> None:
        """Download the content into a sink.

        Raises ContentMismatch if the content has another size or checksum than the current metadata.
        """
        for _ in range(_TRIES):
            wrong_size: ContentMismatch | None = None
            try:
                if self._is_verified(sink, resumed=self._fetch(sink).resumed):
                    return
            except ContentMismatch as error:
                wrong_size = error
            now = self._current()
            if wrong_size and now.get("size") == self.file.get("size"):
                raise wrong_size
            self.file = {**now, "id": self.file["id"]}
            repeated_requests.set(repeated_requests.get() + 1)
            sink.restart(self.content_id())
        raise ContentMismatch(_NEVER_EQUAL.format(self.file["id"]))

    def _current(self) -> File:
        return get_file(self.session, self.file["id"], fields=f"{FACTS},{CHECKSUMS}")

    def _fetch(self, sink: PartFile | Memory) -> RangedDownload:
        """Download the content and return the RangedDownload. Warns if the owner acknowledges an abusive file."""
        file_id, size = self.file["id"], int(self.file["size"]) if self.file.get("size") is not None else None
        path = file_path(self.session, file_id)
        fetch = RangedDownload(self.session, self.session.url(path, _MEDIA), sink, size, self.requested, self.progress)
        try:
            fetch.run()
        except NotAllowed as error:
            if not self.acknowledge_abuse or error.reason != "cannotDownloadAbusiveFile":
                raise
            warn_of_abuse(str(get_file(self.session, file_id, fields="name").get("name")), file_id)
            url = self.session.url(path, {**_MEDIA, "acknowledgeAbuse": True})
            fetch = RangedDownload(self.session, url, sink, size, self.requested, self.progress)
            fetch.run()
        return fetch

    def _is_verified(self, sink: PartFile | Memory, *, resumed: bool) -> bool:
        """Return True if the received bytes have the checksum in `file`, or else if they are the current content."""
        stored = None if self.requested else checksum(self.file)
        if stored is not None and sink.digest(stored[0]) == stored[1]:
            return True
        return (stored is None and not resumed) or self._is_current(sink)

    def _is_current(self, sink: PartFile | Memory) -> bool:
        """Return True if the received bytes have the current checksum, or for a byte range the same revision."""
        now = self._current()
        if self.requested:
            return now.get("headRevisionId") == self.file.get("headRevisionId")
        if now.get("size") != str(sink.have):
            return False
        stored = checksum(now)
        return stored is None or sink.digest(stored[0]) == stored[1]

    def content_id(self) -> dict[str, object]:
        """Return the texts that identify the content for a further run."""
        facts = {name: self.file.get(name) for name in ("id", "size", "headRevisionId")}
        asked = str(self.requested) if self.requested else None
        return {"base_url": self.session.base_url, **facts, "range": asked}


def target_path(to: str | os.PathLike[str], name: str) -> Path:
    """Return the path of a file to save: `to`, or a safe path for `name` in the folder `to`, which may be missing.

    A path where nothing exists is a folder if it ends in a slash, or if it has no extension and `name` has one. Raises
    TypeError if `to` is not a path, and FileNotFoundError if the folder of a file is missing.

    >>> target_path("new", "a.csv").as_posix(), target_path("new", "a").as_posix(), target_path("b.csv", "a.csv").name
    ('new/a.csv', 'new', 'b.csv')
    """
    check_is_path(to)
    path = Path(to).expanduser()
    is_new_folder = not path.suffix and Path(name).suffix and not lexists(path)
    if path.is_dir() or is_new_folder or os.fspath(to).endswith(("/", os.sep)):
        return path / safe_name(name)
    return check_destination(to)


def _is_unchanged(
    session: Session, file: File, target: Path, size: int | None, *, whole: bool, overwrite: bool
) -> bool:
    """Return True if the file has the content that the service has now, and False if the service must send it.

    Raises PathExists for other content without `overwrite`.
    """
    existing = check_path(target, None if whole else size, overwrite=overwrite)
    other_size = existing is not None and size is not None and existing.size != size
    if existing is None or existing.kind != FILE or not whole or size is None or (overwrite and other_size):
        return False
    same = has_content_of(session, file["id"], target, size=existing.size)
    if same is False or (same is None and other_size):
        check_replaceable(existing, size, overwrite=overwrite)
    return bool(same)


def check_destination(to: str | os.PathLike[str]) -> Path:
    """Convert `to` to a Path. Raises TypeError if `to` is not a path, FileNotFoundError if its folder is missing."""
    check_is_path(to)
    path = Path(to).expanduser()
    if not path.is_dir() and (os.fspath(to).endswith(("/", os.sep)) or not path.parent.is_dir()):
        raise FileNotFoundError(f"to is {str(to)!r}, but the folder does not exist; create the folder first")
    return path


def check_is_path(to: object) -> None:
    """Raise TypeError if `to` is not a path."""
    if not isinstance(to, (str, os.PathLike)):
        raise TypeError(f"to must be the path of a file or a folder, not {type(to).__name__}")


def as_range(byte_range: RangeGiven) -> ByteRange | None:
    """Convert a byte range argument to a ByteRange, or None to None. Raises TypeError or ValueError if invalid.

    >>> str(as_range((0, 99))), str(as_range(slice(100, 200))), str(as_range(slice(-100, None)))
    ('bytes=0-99', 'bytes=100-199', 'bytes=-100')
    >>> str(as_range((-6, None))), str(as_range(-6)), str(as_range((6, None))), str(as_range("6-10"))
    ('bytes=-6', 'bytes=-6', 'bytes=6-', 'bytes=6-10')
    """
    if type(byte_range) is int and byte_range < 0:
        return ByteRange(None, -byte_range)
    if byte_range is None or isinstance(byte_range, ByteRange):
        return byte_range
    if isinstance(byte_range, slice):
        return _range_of_slice(byte_range)
    if isinstance(byte_range, tuple) and len(byte_range) == 2 and type(byte_range[0]) is int:
        first, last = byte_range
        if last is None:
            return _range_of_slice(slice(first, None))
        if type(last) is int:
            byte_range = f"bytes={first}-{last}"
    if not isinstance(byte_range, str):
        kinds = "(first, last), (first, None), -100 for the last 100 bytes, a slice or a str such as 'bytes=0-99'"
        raise TypeError(f"byte_range must be {kinds}")
    try:
        return ByteRange.parse(byte_range if "=" in byte_range else f"bytes={byte_range}")
    except ValueError as error:
        raise ValueError(f"byte_range: {error}") from None


def _range_of_slice(byte_slice: slice) -> ByteRange:
    start, stop = byte_slice.start or 0, byte_slice.stop
    if byte_slice.step not in (None, 1) or not all(type(n) is int for n in (start, stop or 0)):
        raise ValueError("byte_range: a slice must have whole numbers and no step")
    if start < 0 and stop is None:
        return ByteRange(None, -start)
    if start < 0 or (stop is not None and stop <= start):
        raise ValueError(f"byte_range: {byte_slice} selects no bytes; use slice(0, 100) or slice(-100, None)")
    return ByteRange(start, None if stop is None else stop - 1)


def safe_name(name: str) -> str:
    """Convert a name to a file name without folders that is valid on every operating system.

    >>> safe_name("../../etc/passwd"), safe_name(".."), safe_name("aux.txt")
    ('.._.._etc_passwd', '_', '_aux.txt')
    """
    clean = _UNSAFE.sub("_", name).strip().rstrip(". ") or "_"
    if _DEVICE.match(clean):
        clean = f"_{clean}"
    stem, dot, extension = clean.rpartition(".")
    if not dot or len(extension) > 20:
        stem, dot, extension = clean, "", ""
    max_stem = _MAX_NAME - len((dot + extension).encode())
    return stem.encode()[:max_stem].decode(errors="ignore") + dot + extension
