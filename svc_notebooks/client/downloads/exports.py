"""Exports: a native document as a file of another format, in memory or on disk (A7)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...core.errors.errors import BadRequest, NotAllowed
from ...core.http.native_formats import EXPORTS, ExportFormat
from ...local.existing_file import check_path
from ...local.paths import DistinctPaths
from ...local.saving import SavedFile
from ..about import export_formats, native_name
from ..files import file_path
from ..session import Session
from ..uploads.native_types import document_name
from ..uploads.sources import Progress
from .downloads import checked_destination, safe_name, target_path
from .export_comparison import same_export
from .part_file import Memory, PartFile
from .ranged_download import Fetch, Sink

_ALIASES = {"jpeg": "jpg", "htm": "html", "text": "txt"}


def checked_format(format: object) -> str:
    """A format as it is compared: small letters, no dot. Raises TypeError and ValueError that name `format`.

    >>> checked_format(".PDF"), checked_format("MS Word"), checked_format("text/csv; charset=utf-8")
    ('pdf', 'ms word', 'text/csv')
    """
    if not isinstance(format, str):
        raise TypeError(f"format must be a str, like 'pdf', not {type(format).__name__}")
    name = format.partition(";")[0].strip().lower().removeprefix(".")
    name = _ALIASES.get(name, name)
    if "/" not in name and not any(name in (row.extension, row.title.lower()) for row in EXPORTS):
        known = ", ".join(dict.fromkeys(row.extension for row in EXPORTS))
        raise ValueError(f"format is {format!r}; it is an extension ({known}), a title like 'MS Word', or a media type")
    return name


def choose(formats: Sequence[ExportFormat], name: str) -> ExportFormat | None:
    """The first of these that a checked format means."""
    return next((row for row in formats if name in (row.media_type.lower(), row.extension, row.title.lower())), None)


def export_target(session: Session, facts: Mapping[str, object], format_name: str) -> ExportFormat:
    """The format of a file, by its name and mimeType. Raises NotAllowed and BadRequest, which says what there is."""
    name, native_type = facts.get("name"), str(facts.get("mimeType"))
    formats = export_formats(session, native_type)
    if not formats:
        raise not_native(facts)
    export_format = choose(formats, format_name) or _unoffered_format(session, native_type, format_name)
    if export_format is None:
        offered = ", ".join(dict.fromkeys(row.extension for row in formats))
        raise BadRequest(
            f"{name} is a {native_name(session.names, native_type)}: it can become {offered}, not {format_name}.",
            reason="badRequest",
        )
    return export_format


def _unoffered_format(session: Session, native_type: str, format_name: str) -> ExportFormat | None:
    """What is not offered by a service in this process, though it might be: the service says what it lacks."""
    native = native_name(session.names, native_type)
    export_format = choose([row for row in EXPORTS if row.native == native and not row.extended], format_name)
    if export_format is None or not session.in_process:
        return None
    return replace(export_format, media_type=session.names.media_type(export_format.media_type))


def not_native(facts: Mapping[str, object]) -> NotAllowed:
    """The error for a file that becomes nothing else."""
    return NotAllowed(
        f"{facts.get('name')} is {facts.get('mimeType')}, which has no export.", reason="fileNotExportable"
    )


def export_name(name: str, chosen: ExportFormat) -> str:
    """What to call an export.

    >>> html = ExportFormat("document", "HTML", "html", "text/html")
    >>> export_name("report", html), export_name("report.docx", html), export_name("version 1.2", html)
    ('report.html', 'report.html', 'version 1.2.html')
    """
    return safe_name(f"{document_name(name)}.{chosen.extension}")


def read_export(session: Session, file_id: str, media_type: str, *, progress: Progress | None = None) -> bytes:
    """A native document as bytes of another format.

    Raises NotFound, NotAllowed (no native document, or too large), BadRequest (not offered), Interrupted.
    """
    sink = Memory()
    _fetch(session, file_id, media_type, sink, progress)
    return sink.content()


def save_export(
    session: Session,
    file_id: str,
    media_type: str,
    to: str | os.PathLike[str],
    *,
    name: str,
    progress: Progress | None = None,
    overwrite: bool = False,
    paths: DistinctPaths | None = None,
) -> SavedFile:
    """Save an export to a path, or into a folder under `name`, unless the path has the same content.

    Args:
        overwrite: Replace other content that lies at the path.
        paths: Those of the call so far, so that no two of its files share one.

    Raises:
        PathExists: Other content lies at the path; nothing was written. Further errors are those of `read_export`;
            OSError where the disk refuses.
    """
    target = target_path(checked_destination(to), name, paths)
    check_path(target, overwrite=overwrite)
    mark = {"base_url": session.base_url, "id": file_id, "export": media_type}
    with PartFile(target, mark) as part:
        part.restart(mark)  # what an earlier run left is of another export
        try:
            _fetch(session, file_id, media_type, part, progress)
        except BaseException:
            part.discard()  # an export is made anew for each request: no run goes on with this piece
            raise
        return part.finish(overwrite=overwrite, same=same_export)


def _fetch(session: Session, file_id: str, media_type: str, sink: Sink, progress: Progress | None) -> None:
    url = session.url(f"{file_path(session, file_id)}/export", {"mimeType": media_type, "alt": "media"})
    Fetch(session, url, sink, progress=progress, ranges=False).run()
