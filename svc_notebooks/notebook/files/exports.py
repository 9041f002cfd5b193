"""Exports native documents as files of other formats (A7)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..arguments import file_ids, flag, is_new_folder, target_path
from ..batch import apply_to_rows
from ..current_session import SessionLike, session_or_current
from ..frames.frames import Record
from ..frames.schemas import EXPORTED
from .progress import Progress, check_progress, reporting

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..arguments import File


def export(
    file: File,
    format: str,
    to: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    progress: Progress = None,
    session: SessionLike = None,
) -> DataFrame:
    """Save native documents as files of another format, and list the saved files.

    The received bytes are collected in a file whose name ends in `.part`, which is renamed when the export is complete.
    A file at the path is not changed if it is the same export already. The dates in the metadata of an export do not
    count as a difference, because some services write the time of the export.

    Args:
        file: An id, a link, a row, a DataFrame, or a list of these.
        format: An extension ("pdf", ".docx"), a title ("MS Word") or a media type of `export_formats(file)`.
        to: The path of a file, or a folder in which an export gets the document's name and the format's extension.
            None means the notebook's folder. For several files, and with a slash at its end, `to` is a folder, and is
            created if necessary. The second export with the same name becomes `name (1).ext`, the third
            `name (2).ext`, in the order of the rows.
        overwrite: True replaces a file at the path that has other content. False raises PathExists for such a file.
        progress: True shows a progress bar. A function is called with (bytes done, total bytes or None).

    Returns:
        One row for each file: id, name (str, the document's name), path (str), size (Int64, bytes on disk),
        mime_type (str, the media type of the export), outcome (str: saved, unchanged or replaced).

    Raises:
        TypeError, ValueError: An argument is not valid, or no document has this format; nothing was sent.
        BadRequest: This document does not have this format. The message lists the formats of the document.
        NotAllowed: The file is not a native document (use `download`), or the export would be too large.
        NotFound: The file does not exist, or this user may not see it.
        PathExists: A file with other content exists at the path and was not changed. This error is a FileExistsError.

    See docs/rules.md#a7-export (A7).

    >>> lab = svc.sandbox()
    >>> table = svc.upload(b"a,b", name="table.csv", convert_to="spreadsheet")
    >>> saved = svc.export(table, "tsv", folder)
    >>> (folder / "table.tsv").read_text(), saved["mime_type"].item(), saved["outcome"].item()
    ('a\\tb\\n', 'text/tab-separated-values', 'saved')
    """
    from ...client.downloads.exports import export_name, export_target, normalize_format, save_export
    from ...client.files import get_file
    from ...local.paths import DistinctPaths
    from ...local.saving import make_folder

    check_progress(progress)
    flag("overwrite", overwrite)
    session, ids, target_format = session_or_current(session), file_ids(file), normalize_format(format)
    path, new_folder, paths = target_path(len(ids), to), is_new_folder(len(ids), to), DistinctPaths()

    def export_file(file_id: str) -> Record:
        metadata = get_file(session, file_id, fields="id,name,mimeType")
        target = export_target(session, metadata, target_format)
        name = export_name(str(metadata.get("name") or file_id), target)
        if new_folder:
            make_folder(path)
        with reporting(progress, f"Export {name}", None) as report:
            saved = save_export(
                session,
                file_id,
                target.media_type,
                path,
                name=name,
                progress=report,
                overwrite=overwrite,
                paths=paths,
            )
        saved_fields = {"path": str(saved.path), "size": saved.size, "outcome": saved.outcome}
        return {**metadata, **saved_fields, "mimeType": target.media_type}

    return apply_to_rows(EXPORTED, ids, export_file)
