"""Downloads content, and exports of native documents, into memory or to a file that appears when complete (A6, A7)."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os.path import lexists
from pathlib import Path
from typing import TypeAlias
from zipfile import BadZipFile, ZipFile

from ...core.errors.errors import BadRequest, ContentMismatch, NotAllowed, warn_of_abuse
from ...core.http.media_types import EXPORTS, ExportFormat
from ...core.http.ranges import ByteRange
from ...core.resources.files import File
from ...core.suggestions import nearest_name
from ...local.saving import FILE, UNCHANGED, SavedFile, check_path, check_replaceable, same_bytes, save_bytes
from ..files import CHECKSUMS, checksum, export_formats, file_path, get_file, has_content_of, native_name
from ..retry import repeated_requests
from ..session import Session
from ..uploads.sources import Progress
from ..uploads.upload_request import document_name
from .ranged_download import Memory, PartFile, RangedDownload

RangeGiven: TypeAlias = "ByteRange | slice | tuple[int, int | None] | int | str | None"

# The fields of the metadata that a download needs.
FACTS = "id,name,size,headRevisionId"

_TRIES = 3  # the maximum number of download tries if the content keeps changing

_AT_ONCE = 64 * 1024  # the largest size in bytes of content that is received in memory, because it arrives in one block

_MEDIA = {"alt": "media"}

_NEVER_EQUAL = f"The content of {{}} had another size or checksum than its metadata, in each of {_TRIES} downloads."

_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|\ud800-\udfff]')
_DEVICE = re.compile(r"(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.|$)", re.IGNORECASE)  # devices of Windows
_MAX_NAME = 200  # bytes; file systems take 255, and `.part.json` is appended


@dataclass
class Download:
    """A download of the content of a file, or of a byte range of the content.

    `file` has the id of the file, and if they are known the size, headRevisionId and a checksum. The content is
    compared with them, and the metadata are requested again if they describe other content. `acknowledge_abuse` lets
    the owner download a file flagged as abusive (A6-03). The flag is sent only after a refusal, and an
    AbusiveFileWarning names it (A6-04c).

    Raises NotFound, NotAllowed (such as for a native document, which must be exported), BadRequest (no byte in the
    range), ContentMismatch (other content than the metadata describe), Interrupted.
    """

    session: Session
    file: File
    requested: ByteRange | None = None
    acknowledge_abuse: bool = False
    progress: Progress | None = None

    def read(self) -> bytes:
        """Return the content."""
        sink = Memory()
        self._receive(sink)
        return sink.content()

    def save(self, target: Path, *, overwrite: bool = False) -> SavedFile:
        """Save the content at a path.

        Received bytes are collected in `<name>.part` in the same folder, so that a repeated call continues an
        interrupted download. Small content is received at once, and needs no such file. The size is compared with that
        in `file`, and the checksum if `file` has one, or if the content came in several pieces. An existing file with
        the same content is not changed, and not transferred if the service has a checksum. `overwrite` replaces a file
        with other content.

        Raises PathExists for a file with other content, which was not changed, and OSError.
        """
        requested = self.requested
        whole = int(self.file["size"]) if self.file.get("size") is not None else None
        span = requested.resolve(whole) if requested and whole is not None else None
        size = whole if requested is None else span.size if span else None
        if self._is_unchanged(target, size, overwrite=overwrite):
            return SavedFile(target, UNCHANGED, target.stat().st_size)
        if requested is None and size is not None and size <= _AT_ONCE:
            return save_bytes(target, self.read(), overwrite=overwrite)
        with PartFile(target, self._content_id()) as part:
            self._receive(part)
            return part.finish(overwrite=overwrite)

    def _is_unchanged(self, target: Path, size: int | None, *, overwrite: bool) -> bool:
        """Return True if the file at a path has the content that the service has now.

        Raises PathExists for other content without `overwrite`.
        """
        existing = check_path(target, size if self.requested else None, overwrite=overwrite)
        other_size = existing is not None and size is not None and existing.size != size
        is_comparable = existing is not None and existing.kind == FILE and self.requested is None and size is not None
        if existing is None or not is_comparable or (overwrite and other_size):
            return False
        same = has_content_of(self.session, self.file["id"], target, size=existing.size)
        if same is False or (same is None and other_size):
            check_replaceable(existing, size, overwrite=overwrite)
        return bool(same)

    def _receive(self, sink: PartFile | Memory) -> None:
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
            sink.restart(self._content_id())
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
        """Return True if the received bytes have the checksum in `file`, or else if they are the current content.

        For a byte range of a resumed download, the revision is compared.
        """
        stored = None if self.requested else checksum(self.file)
        if sink.digest(stored[0]) == stored[1] if stored else not resumed:
            return True
        now = self._current()
        if self.requested:
            return now.get("headRevisionId") == self.file.get("headRevisionId")
        if now.get("size") != str(sink.have):
            return False
        stored = checksum(now)
        return stored is None or sink.digest(stored[0]) == stored[1]

    def _content_id(self) -> dict[str, object]:
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
    if not isinstance(to, (str, os.PathLike)):
        raise TypeError(f"to must be the path of a file or a folder, not {type(to).__name__}")
    path = Path(to).expanduser()
    is_new_folder = not path.suffix and Path(name).suffix and not lexists(path)
    if path.is_dir() or is_new_folder or os.fspath(to).endswith(("/", os.sep)):
        return path / safe_name(name)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"to is {str(to)!r}, but the folder does not exist; create the folder first")
    return path


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


# -- exports, of which two are compared without the dates in their metadata, such as the time of the export


# The maximum size in bytes for a comparison without dates. Exports of the interface have at most 10 MB.
_MAX_COMPARED = 16 * 1024 * 1024

_MAX_MEMBERS, _MAX_METADATA = 20_000, 1024 * 1024

_PDF_DATES = re.compile(
    rb"/(?:Creation|Mod)Date\s*\([^)]*\)"
    rb"|/ID\s*\[[^\]]*\]"
    rb"|<xmp:(?:Create|Modify|Metadata)Date>[^<]*</xmp:\w+>"
    rb"|<xmpMM:(?:Document|Instance)ID>[^<]*</xmpMM:\w+>"
    rb"|<pdf:(?:Creation|Mod)Date>[^<]*</pdf:\w+>"
    rb'|\bxmp:(?:Create|Modify|Metadata)Date="[^"]*"'
)
_ISO_DATES = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?")
_METADATA = ("docProps/core.xml", "docProps/app.xml", "meta.xml")


def same_export(first: Path, second: Path) -> bool:
    """Return True if two files are the same export, apart from the dates in their metadata."""
    if same_bytes(first, second):
        return True
    if max(path.stat().st_size for path in (first, second)) > _MAX_COMPARED:
        return False
    left, right = first.read_bytes(), second.read_bytes()
    if left.startswith(b"%PDF-") and right.startswith(b"%PDF-"):
        return _PDF_DATES.sub(b"", left) == _PDF_DATES.sub(b"", right)
    if left.startswith(b"PK") and right.startswith(b"PK"):
        if max(content.count(b"PK\1\2") for content in (left, right)) > _MAX_MEMBERS:  # an entry begins with this
            return False
        try:
            return _members(first) == _members(second)
        except (BadZipFile, OSError, NotImplementedError, RuntimeError, ValueError):
            return False
    return False


def _members(path: Path) -> list[tuple[str, object]]:
    """Return names in a ZIP archive with size and checksum, or for metadata files with the bytes without dates."""
    members: list[tuple[str, object]] = []
    with ZipFile(path) as archive:
        for entry in archive.infolist():
            members.append((entry.filename, (entry.file_size, entry.CRC)))
            if entry.filename in _METADATA or entry.filename.endswith(".opf"):
                with archive.open(entry) as file:  # which does not decompress more than is read
                    members[-1] = entry.filename, _ISO_DATES.sub(b"", file.read(_MAX_METADATA))
    return members


_ALIASES = {"jpeg": "jpg", "htm": "html", "text": "txt"}
_KNOWN = {*_ALIASES, *(name for row in EXPORTS for name in (row.extension, row.title.lower()))}


def normalize_format(format: object) -> str:
    """Convert an extension, title or media type to lower case, without dot and parameters.

    Raises TypeError if `format` is not a str, and ValueError for an unknown extension or title.

    >>> normalize_format(".PDF"), normalize_format("MS Word"), normalize_format("text/csv; charset=utf-8")
    ('pdf', 'ms word', 'text/csv')
    """
    if not isinstance(format, str):
        several = isinstance(format, list | tuple)
        hint = "; call export once for each format, with to='exports/'" if several else ""
        raise TypeError(f"format must be a str, like 'pdf', not {type(format).__name__}{hint}")
    name = format.partition(";")[0].strip().lower().removeprefix(".")
    name = _ALIASES.get(name, name)
    if "/" not in name and name not in _KNOWN:
        extension = name.rpartition(".")[2]
        if extension in _KNOWN:
            raise ValueError(f"format is {format!r}, which is a path; give the format {extension!r} and to={format!r}")
        extensions = list(dict.fromkeys(row.extension for row in EXPORTS))
        near = nearest_name(name, extensions)
        known = f"give an extension ({', '.join(extensions)}), a title like 'MS Word', or a media type"
        raise ValueError(f"format is {format!r}; {f'did you mean {near!r}?' if near else known}")
    return name


def choose(formats: Sequence[ExportFormat], name: str) -> ExportFormat | None:
    """Return the first format with `name` as media type, extension or title, or None."""
    for row in formats:
        if name in (row.media_type.lower(), row.extension, row.title.lower()):
            return row
    return None


def check_extension(path: Path, format_name: str) -> None:
    """Raise ValueError if the extension of a path means another export format than the named one."""
    extension = path.suffix.lower().removeprefix(".")
    own = [row.extension for row in EXPORTS if choose([row], format_name)]
    if own and extension in _KNOWN and _ALIASES.get(extension, extension) not in own:
        raise ValueError(f"to is {path.name!r}, and the format is {format_name}; give a path that ends in .{own[0]}")


def export_target(session: Session, file: File, format_name: str) -> ExportFormat:
    """Return the export format with this name for a file.

    Raises NotAllowed if the file is not a native document, and BadRequest, which lists the possible formats, for any
    other format.
    """
    native_type = str(file.get("mimeType"))
    formats = export_formats(session, native_type)
    if not formats:
        raise not_native(file)
    chosen = choose(formats, format_name)
    native = native_name(session.names, native_type)
    if chosen is None and session.in_process:
        # The in-process service lacks software for this format. Its error response names the software.
        chosen = choose([row for row in EXPORTS if row.native == native and not row.extended], format_name)
        chosen = chosen and replace(chosen, media_type=session.names.media_type(chosen.media_type))
    if chosen is None:
        offered = ", ".join(dict.fromkeys(row.extension for row in formats))
        extended = choose([row for row in EXPORTS if row.native == native and row.extended], format_name)
        hint = " A service with Policy(extended_formats=True) has this format." if extended else ""
        raise BadRequest(
            f"{file.get('name')} is a {native}, which can be exported as {offered}, but not as {format_name}.{hint}",
            reason="badRequest",
        )
    return chosen


def not_native(file: File) -> NotAllowed:
    """Return the error for a file that is not a native document, for the caller to raise."""
    name, media_type = file.get("name"), str(file.get("mimeType"))
    folder = "download(folder) saves its files, and export(files(folder=...), format) exports its documents."
    return NotAllowed(
        f"{name} has the type {media_type}, which cannot be exported.",
        reason="fileNotExportable",
        advice=folder if media_type.endswith(".folder") else None,
    )


def export_name(name: str, chosen: ExportFormat) -> str:
    """Return the file name of an export, which is the document's name with the format's extension.

    >>> html = ExportFormat("document", "HTML", "html", "text/html")
    >>> export_name("report", html), export_name("report.docx", html), export_name("version 1.2", html)
    ('report.html', 'report.html', 'version 1.2.html')
    """
    return safe_name(f"{document_name(name)}.{chosen.extension}")


def read_export(session: Session, file_id: str, media_type: str, *, progress: Progress | None = None) -> bytes:
    """Return the bytes of a native document's export to a media type.

    Raises NotFound, NotAllowed (not a native document, or the export is too large), BadRequest (the service does not
    offer this format), Interrupted.
    """
    sink = Memory()
    _fetch(session, file_id, media_type, sink, progress)
    return sink.content()


def save_export(
    session: Session,
    file_id: str,
    media_type: str,
    target: Path,
    *,
    progress: Progress | None = None,
    overwrite: bool = False,
) -> SavedFile:
    """Export a native document and save the export at a path. A file with the same export is not changed.

    `overwrite` replaces a file with other content at the path.

    Raises:
        PathExists: A file with other content exists at the path and was not changed.
        OSError: The file cannot be written.

    The errors of `read_export` can be raised too.
    """
    check_path(target, overwrite=overwrite)
    mark = {"base_url": session.base_url, "id": file_id, "export": media_type}
    with PartFile(target, mark) as part:
        part.restart(mark)  # an earlier run's bytes belong to another export
        try:
            _fetch(session, file_id, media_type, part, progress)
        except BaseException:
            part.discard()  # the next request generates a new export, so the bytes are useless
            raise
        return part.finish(overwrite=overwrite, same=same_export)


def _fetch(session: Session, file_id: str, media_type: str, sink: PartFile | Memory, progress: Progress | None) -> None:
    url = session.url(f"{file_path(session, file_id)}/export", {"mimeType": media_type, "alt": "media"})
    RangedDownload(session, url, sink, None, progress=progress, export=media_type).run()
