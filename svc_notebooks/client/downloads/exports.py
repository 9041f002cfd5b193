"""Exports of native documents to other formats, in memory or on disk (A7)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from ...core.errors.errors import BadRequest, NotAllowed
from ...core.http.media_types import EXPORTS, ExportFormat
from ...core.resources.files import File
from ...core.suggestions import nearest_name
from ...local.saving import SavedFile, check_path, same_bytes
from ..about import export_formats, native_name
from ..files import file_path
from ..session import Session
from ..uploads.request import document_name
from ..uploads.sources import Progress
from .downloads import safe_name
from .ranged_download import Memory, PartFile, RangedDownload

# -- comparison of two exports of a document that ignores the dates in their metadata, such as the export time


_MAX_COMPARED = 16 * 1024 * 1024
"""The maximum size in bytes for a comparison without dates. Exports of the interface have at most 10 MB."""

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
