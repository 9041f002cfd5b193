"""Downloads: to bytes, or to a file that is there when it is whole and not before (A6)."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import TypeAlias, overload

from ...core.errors.abuse_warning import warn_of_abuse
from ...core.errors.errors import ContentMismatch, NotAllowed
from ...core.http.messages import JSONObject
from ...core.http.ranges import ByteRange
from ...local.existing_file import FILE, check_path, check_replaceable
from ...local.paths import DistinctPaths
from ...local.saving import UNCHANGED, SavedFile
from ..files import file_path, get_file
from ..session import Session
from ..uploads.sources import Progress
from .part_file import Memory, PartFile
from .ranged_download import Fetch

RangeGiven: TypeAlias = "ByteRange | slice | tuple[int, int] | str | None"

_FACTS = "id,name,size,headRevisionId"
_CHECKSUMS = {"sha256Checksum": "sha256", "md5Checksum": "md5"}
_TRIES = 3
"""How often a content that changes while it is fetched is begun anew."""

_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')
_MAX_NAME = 200  # bytes; file systems take 255, and `.part.json` comes behind it


@overload
def download(
    session: Session,
    file_id: str,
    to: None = None,
    *,
    byte_range: RangeGiven = None,
    acknowledge_abuse: bool = False,
    progress: Progress | None = None,
) -> bytes: ...
@overload
def download(
    session: Session,
    file_id: str,
    to: str | os.PathLike[str],
    *,
    byte_range: RangeGiven = None,
    acknowledge_abuse: bool = False,
    progress: Progress | None = None,
    overwrite: bool = False,
) -> Path: ...
def download(
    session: Session,
    file_id: str,
    to: str | os.PathLike[str] | None = None,
    *,
    byte_range: RangeGiven = None,
    acknowledge_abuse: bool = False,
    progress: Progress | None = None,
    overwrite: bool = False,
) -> bytes | Path:
    """`read_content`, or with a path `save_content`."""
    if to is None:
        return read_content(
            session,
            file_id,
            byte_range=byte_range,
            acknowledge_abuse=acknowledge_abuse,
            progress=progress,
        )
    return save_content(
        session,
        file_id,
        to,
        byte_range=byte_range,
        acknowledge_abuse=acknowledge_abuse,
        progress=progress,
        overwrite=overwrite,
    ).path


def read_content(
    session: Session,
    file_id: str,
    *,
    byte_range: RangeGiven = None,
    acknowledge_abuse: bool = False,
    progress: Progress | None = None,
) -> bytes:
    """A file's content, or a range of it, in memory.

    `byte_range` is (first, last) with both included, a slice, "bytes=0-99" or a ByteRange.
    `acknowledge_abuse` lets the owner of a file that was flagged as abusive have it all the same (A6-03). It is sent
    only after the service has refused the file as flagged, with an AbusiveFileWarning that names the file (A6-04c).

    Raises NotFound, NotAllowed (a native document: export it), BadRequest (no byte in the range), Interrupted.
    """
    requested = as_range(byte_range)
    for _ in range(_TRIES):
        sink = Memory()
        fetch = _fetch_content(session, file_id, sink, requested, progress, acknowledge_abuse=acknowledge_abuse)
        if not fetch.resumed or _verified(session, file_id, sink, whole=requested is None):
            return sink.content()
    raise _mismatch(file_id)


def save_content(
    session: Session,
    file_id: str,
    to: str | os.PathLike[str],
    *,
    byte_range: RangeGiven = None,
    acknowledge_abuse: bool = False,
    progress: Progress | None = None,
    overwrite: bool = False,
    paths: DistinctPaths | None = None,
) -> SavedFile:
    """Save a file's content, or a range of it, to a path; in a folder under its own name, made safe.

    Bytes collect in `<name>.part` beside it; the same call after an interruption goes on from there, and what
    came in pieces is compared with the service's checksum. A path with the same content is left alone, where the
    service tells a checksum without a transfer.

    Args:
        overwrite: Replace other content that lies at the path.
        paths: Those of the call so far, so that no two of its files share one.

    Raises:
        PathExists: Other content lies at the path; nothing was written. Further errors are those of `read_content`;
            OSError where the disk refuses.
    """
    destination = checked_destination(to)
    requested = as_range(byte_range)
    facts = get_file(session, file_id, fields=_FACTS)
    target = target_path(destination, str(facts.get("name") or file_id), paths)
    if _is_unchanged(
        session, file_id, target, _requested_size(requested, facts), whole=requested is None, overwrite=overwrite
    ):
        return SavedFile(target, UNCHANGED, target.stat().st_size)
    with PartFile(target, _content_id(session, facts, requested)) as part:
        for _ in range(_TRIES):
            span = _from_front(requested, facts)
            fetch = _fetch_content(session, file_id, part, span, progress, acknowledge_abuse=acknowledge_abuse)
            if not fetch.resumed or _verified(session, file_id, part, whole=requested is None, facts=facts):
                return part.finish(overwrite=overwrite)
            facts = get_file(session, file_id, fields=_FACTS)
            part.restart(_content_id(session, facts, requested))
    raise _mismatch(file_id)


def target_path(destination: Path, name: str, paths: DistinctPaths | None = None) -> Path:
    """The path itself, or in a folder that of a file of this name."""
    target = destination / safe_name(name) if destination.is_dir() else destination
    return target if paths is None else paths.claim(target)


def _is_unchanged(
    session: Session, file_id: str, target: Path, size: int | None, *, whole: bool, overwrite: bool
) -> bool:
    """Whether the path has the content already, as far as that is known without a transfer.

    Raises PathExists where it is known to have another one that may not be replaced.
    """
    existing = check_path(target, size, overwrite=overwrite)
    if existing is None or existing.kind != FILE or not whole or existing.size != size:
        return False
    facts = get_file(session, file_id, fields=f"size,{','.join(_CHECKSUMS)}")
    checksum = next((name for name in _CHECKSUMS if facts.get(name)), None)
    if checksum is None or facts.get("size") != str(size):
        return False
    with target.open("rb") as file:
        if hashlib.file_digest(file, _CHECKSUMS[checksum]).hexdigest() == facts[checksum]:
            return True
    check_replaceable(existing, size, overwrite=overwrite)
    return False


def _requested_size(requested: ByteRange | None, facts: JSONObject) -> int | None:
    """How many bytes are to be saved; None where the service does not tell."""
    if facts.get("size") is None:
        return None
    whole = int(str(facts["size"]))
    span = requested.resolve(whole) if requested else None
    return whole if requested is None else span.size if span else None


def _fetch_content(
    session: Session,
    file_id: str,
    sink: PartFile | Memory,
    requested: ByteRange | None,
    progress: Progress | None,
    *,
    acknowledge_abuse: bool,
) -> Fetch:
    """Fetch the content; a file that is refused as flagged is acknowledged, with a warning, where the caller may."""
    path = file_path(session, file_id)
    fetch = Fetch(session, session.url(path, {"alt": "media"}), sink, requested, progress)
    try:
        fetch.run()
    except NotAllowed as error:
        if not acknowledge_abuse or error.reason != "cannotDownloadAbusiveFile":
            raise
        warn_of_abuse(str(get_file(session, file_id, fields="name").get("name")), file_id)
        url = session.url(path, {"alt": "media", "acknowledgeAbuse": True})
        fetch = Fetch(session, url, sink, requested, progress)
        fetch.run()
    return fetch


def checked_destination(to: str | os.PathLike[str]) -> Path:
    """A path to write to, or a folder. Raises TypeError and FileNotFoundError that name `to`."""
    if not isinstance(to, (str, os.PathLike)):
        raise TypeError(f"to is {type(to).__name__}; give a path to a file or a folder")
    destination = Path(to).expanduser()
    if not destination.is_dir() and (str(os.fspath(to)).endswith(("/", os.sep)) or not destination.parent.is_dir()):
        raise FileNotFoundError(f"to is {str(to)!r}, and its folder does not exist; make it first")
    return destination


def _content_id(session: Session, facts: JSONObject, requested: ByteRange | None) -> dict[str, object]:
    """What makes two downloads the same."""
    content = {name: facts.get(name) for name in ("id", "size", "headRevisionId")}
    return {"base_url": session.base_url, **content, "range": str(requested) if requested else None}


def _from_front(requested: ByteRange | None, facts: JSONObject) -> ByteRange | None:
    """A range counted from the end, as one from the front, so that it can go on from a middle."""
    size = facts.get("size")
    if requested is None or requested.first is not None or size is None:
        return requested
    span = requested.resolve(int(str(size)))
    return ByteRange(span.first, span.last) if span else requested


def _verified(
    session: Session,
    file_id: str,
    sink: PartFile | Memory,
    *,
    whole: bool,
    facts: JSONObject | None = None,
) -> bool:
    """Whether the pieces make the content that the service has: by checksum, or by revision for a range."""
    now = get_file(session, file_id, fields=f"{_FACTS},{','.join(_CHECKSUMS)}")
    if not whole:
        return facts is None or now.get("headRevisionId") == facts.get("headRevisionId")
    if now.get("size") != str(sink.have):
        return False
    checksum = next((name for name in _CHECKSUMS if now.get(name)), None)
    return checksum is None or sink.digest(_CHECKSUMS[checksum]) == now[checksum]


def _mismatch(file_id: str) -> ContentMismatch:
    return ContentMismatch(f"The content of {file_id} changed each time it was fetched.")


def as_range(byte_range: RangeGiven) -> ByteRange | None:
    """A range of bytes in any of its forms. Raises TypeError and ValueError that name `byte_range`.

    >>> str(as_range((0, 99))), str(as_range(slice(100, 200))), str(as_range(slice(-100, None)))
    ('bytes=0-99', 'bytes=100-199', 'bytes=-100')
    """
    if byte_range is None or isinstance(byte_range, ByteRange):
        return byte_range
    if isinstance(byte_range, slice):
        return _from_slice(byte_range)
    if isinstance(byte_range, str):
        return _parsed(byte_range)
    if isinstance(byte_range, tuple) and len(byte_range) == 2 and all(type(n) is int for n in byte_range):
        return _parsed(f"bytes={byte_range[0]}-{byte_range[1]}")
    raise TypeError("byte_range takes (first, last), a slice, or text like bytes=0-99")


def _parsed(text: str) -> ByteRange:
    try:
        return ByteRange.parse(text)
    except ValueError as error:
        raise ValueError(f"byte_range: {error}") from None


def _from_slice(byte_slice: slice) -> ByteRange:
    start, stop = byte_slice.start or 0, byte_slice.stop
    if byte_slice.step not in (None, 1) or not all(type(n) is int for n in (start, stop or 0)):
        raise ValueError("byte_range: a slice takes whole numbers and no step")
    if start < 0 and stop is None:
        return ByteRange(None, -start)
    if start < 0 or (stop is not None and stop <= start):
        raise ValueError(f"byte_range: {byte_slice} names no byte; write slice(0, 100) or slice(-100, None)")
    return ByteRange(start, None if stop is None else stop - 1)


def safe_name(name: str) -> str:
    """A file's name as one that stays in its folder on any system.

    >>> safe_name("../../etc/passwd"), safe_name("..")
    ('.._.._etc_passwd', '_')
    """
    clean = _UNSAFE.sub("_", name).strip().rstrip(".") or "_"
    stem, dot, extension = clean.rpartition(".")
    if not dot or len(extension) > 20:
        stem, dot, extension = clean, "", ""
    max_stem = _MAX_NAME - len((dot + extension).encode())
    return stem.encode()[:max_stem].decode(errors="ignore") + dot + extension
