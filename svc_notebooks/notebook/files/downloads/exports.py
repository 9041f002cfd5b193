"""Exports native documents as files of other formats (A7)."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from ....client.downloads.exports import check_extension, export_name, export_target, normalize_format
from ....client.session import SessionLike, session_or_current
from ...arguments import flag
from ...batch.batch import ROW_ERRORS, Batch, Errors, Executor, Progress, Resume, RowOperation, run
from ...folder_tree import files_at
from ...frames.schemas import EXPORTED
from .rows import CONTINUE_HINT, DownloadRow, DownloadRows, label_of_row, request_metadata, target_of

if TYPE_CHECKING:
    from pandas import DataFrame

    from ....core.resources.files import File as FileResource
    from ...arguments import File
    from ...frames.frames import Record


def export(
    file: File,
    format: str,
    to: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    progress: Progress = None,
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    resume: Resume = None,
    session: SessionLike = None,
) -> DataFrame:
    """Save native documents as files of another format, and list the saved files.

    `read(file, format="txt")` returns the bytes of an export.

    The received bytes are collected in a file whose name ends in `.part`, which is renamed when the export is complete.
    A file at the path is not changed if it is the same export already. The dates in the metadata of an export do not
    count as a difference, because some services write the time of the export.

    Args:
        file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
        format: An extension ("pdf", ".docx"), a title ("MS Word") or a media type of `export_formats(file)`.
        to: The path of a file, or a folder in which an export gets the document's name and the format's extension.
            None means the notebook's folder. For several files, and with a slash at its end, `to` is a folder, and is
            created if necessary. The second export with the same name becomes `name (1).ext`, the third
            `name (2).ext`, in the order of the rows. A URL needs the extra `fsspec`, as for `download`.
        overwrite: True replaces a file at the path that has other content. False raises PathExists for such a file.
        progress: True shows a progress bar. A function is called with (bytes done, total bytes or None).
        workers, executor, errors: The threads or the executor, and what happens with an error, as for `upload`.
        resume: The name of a ledger, a file in the current folder in which the call records the files that are saved.
            The same call again saves only the others, and those that are missing on disk. See docs/bulk.md.

    Returns:
        One row for each file: id, name (str, the document's name), path (str), size (Int64, bytes on disk),
        mime_type (str, the media type of the export), outcome (str: saved, unchanged, replaced or failed), error (str),
        attempts (Int64), seconds (Float64). path, size and mime_type are missing for failed files.

    Raises:
        TypeError, ValueError: An argument is not valid, no document has this format, or the extension of `to` means
            another format; nothing was sent.
        BadRequest: This document does not have this format. The message lists the formats of the document.
        NotAllowed: The file is not a native document (use `download`), or the export would be too large.
        NotFound: The file does not exist, or this user may not see it.
        PathExists: A file with other content exists at the path and was not changed. This error is a FileExistsError.

    See tests/rules.csv (A7).

    >>> lab = svc.sandbox()
    >>> table = svc.upload(b"a,b", name="table.csv", convert_to="spreadsheet")
    >>> saved = svc.export(table, "tsv", folder)
    >>> (folder / "table.tsv").read_text(), saved["mime_type"].item(), saved["outcome"].item()
    ('a\\tb\\n', 'text/tab-separated-values', 'saved')
    """
    from ....local.paths import DistinctPaths

    flag("overwrite", overwrite)
    batch = Batch(workers, executor, errors, resume, progress)
    session, format_name = session_or_current(session), normalize_format(format)
    ids = files_at(session, file)
    with target_of(len(ids), to, executor) as target:
        if not (target.new_folder or target.path.is_dir()):
            check_extension(target.path, format_name)
        prepared = DownloadRows(session, target.path, target.new_folder, DistinctPaths())
        metadata = request_metadata(session, ids, {}, "id,name,mimeType,modifiedTime", batch, EXPORTED)
        rows = [target.place(_export_row(prepared, n, *each, format_name)) for n, each in enumerate(metadata)]
    operation = RowOperation(
        EXPORTED,
        partial(target.save, overwrite=overwrite),
        known=_known,
        label=label_of_row,
        resumable=target.resumable("export", {"format": format_name}),
        title=f"Export {rows[0].file.get('name')}" if len(rows) == 1 else "Export",
        unit="documents",
        continue_hint=CONTINUE_HINT,
    )
    return run(operation, rows, session, batch)


def _export_row(
    prepared: DownloadRows, n: int, file: FileResource, error: Exception | None, format_name: str
) -> DownloadRow:

    if error is None:
        try:
            target = export_target(prepared.session, file, format_name)
        except ROW_ERRORS as refused:
            error = refused
        else:
            path_name = export_name(str(file.get("name") or file["id"]), target)
            return prepared.file_row(file, n, path_name, export=target.media_type)
    return DownloadRow(file, f"row {n}", error=error)


def _known(row: DownloadRow) -> Record:
    return {"id": row.file["id"], "name": row.file.get("name")}
