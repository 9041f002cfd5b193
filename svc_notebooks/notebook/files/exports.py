"""Exports native documents as files of other formats (A7)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..arguments import file_ids, target_path
from ..batch import apply_to_rows
from ..current_session import session_or_current
from ..frames.schemas import EXPORTED
from .progress import Progress, check_progress, reporting

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ..arguments import File

_FIELDS = "id,name,mimeType"


def export(
    file: File,
    format: str,
    to: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    progress: Progress = None,
    session: Session | None = None,
) -> DataFrame:
    """Save native documents as files of another format, and show what was saved.

    What is written collects in a file with `.part` behind its name and takes its place when it is whole. A path
    that has the same export is left alone, so the same call can run again. Dates that another deployment writes
    into an export do not count as a difference.

    Args:
        file: An id, a row, a DataFrame or a list of ids.
        format: An extension ("pdf", ".docx"), a title ("MS Word") or a media type; `export_formats(file)`
            lists them.
        to: A path, or a folder, in which the export has the document's name and the format's extension;
            None is the notebook's folder. For several files it must be a folder; the second export of a name
            becomes `name (1).ext`, the third `name (2).ext`, in the order of the rows.
        overwrite: Replace other content that lies at the path; without it such a path is left as it is, and
            PathExists is raised.
        progress: As for `upload`.

    Returns:
        One row for each file: id, name (str), path (str), size (Int64, bytes on disk), mime_type (str, of
        the export), outcome (str: saved, unchanged or replaced).

    Raises:
        TypeError, ValueError: An argument cannot be meant, or there is no such format; nothing was sent.
        BadRequest: This document cannot become that; the message lists what it can.
        NotAllowed: The file is no native document (`download` it), or its export would be too large.
        NotFound: There is no such file, or not for this user.
        PathExists: The path has other content, which was left as it is; it is also a FileExistsError.

    See docs/rules.md#a7-export (A7).

    >>> lab = svc.sandbox()
    >>> table = svc.upload(b"a,b", name="table.csv", convert_to="spreadsheet")
    >>> saved = svc.export(table, "tsv", folder)
    >>> (folder / "table.tsv").read_text(), saved["mime_type"].item(), saved["outcome"].item()
    ('a\\tb\\n', 'text/tab-separated-values', 'saved')
    """
    from ...client.downloads.exports import normalize_format
    from ...local.paths import DistinctPaths

    check_progress(progress)
    session, ids, target_format = session_or_current(session), file_ids(file), normalize_format(format)
    options = {"to": target_path(len(ids), to), "overwrite": overwrite, "paths": DistinctPaths()}
    return apply_to_rows(
        EXPORTED, ids, lambda file_id: _export_file(session, file_id, target_format, progress, options)
    )


def _export_file(
    session: Session, file_id: str, target_format: str, progress: Progress, options: dict[str, Any]
) -> Mapping[str, Any]:
    from ...client.downloads.exports import export_name, export_target, save_export
    from ...client.files import get_file

    metadata = get_file(session, file_id, fields=_FIELDS)
    target = export_target(session, metadata, target_format)
    name = export_name(str(metadata.get("name") or file_id), target)
    with reporting(progress, f"Export {name}", None) as report:
        saved = save_export(session, file_id, target.media_type, name=name, progress=report, **options)
    saved_fields = {
        "path": str(saved.path),
        "size": saved.size,
        "mimeType": target.media_type,
        "outcome": saved.outcome,
    }
    return {**metadata, **saved_fields}
