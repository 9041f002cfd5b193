"""Downloads the content of files, or a byte range of the content, to disk or into memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ....client.downloads.downloads import RangeGiven, as_range, read_known
from ....client.downloads.exports import export_target, normalize_format, read_export
from ....client.files import get_file
from ....client.session import SessionLike, session_or_current
from ....core.errors.caller_warning import warn_caller
from ...arguments import flag
from ...batch.batch import Batch, Errors, Executor, Progress, Resume, RowOperation, run
from ...folder_tree import files_at, one_file_at
from ...frames.schemas import DOWNLOADS
from .rows import (
    CONTINUE_HINT,
    DownloadRow,
    DownloadRows,
    known_files,
    known_of_row,
    label_of_row,
    request_metadata,
    target_of,
)

if TYPE_CHECKING:
    from pandas import DataFrame

    from ....core.http.ranges import ByteRange
    from ...arguments import File

_MAX_NAMED = 5


def download(
    file: File,
    to: str | os.PathLike[str] | None = None,
    *,
    byte_range: RangeGiven = None,
    acknowledge_abuse: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    resume: Resume = None,
    session: SessionLike = None,
) -> DataFrame:
    """Save the content of files and folders to disk, and list the saved files.

    The received bytes are collected in a file whose name ends in `.part`. Repeat the call after an interruption to
    continue the download. If the content was received in several pieces, its checksum is compared with the service's
    checksum (A6-06). A file at the path that has the same content already is not changed.

    A row that has the columns id, name, size, mime_type, and md5_checksum or sha256_checksum is used as it is. The
    download then sends only the request for the content, whose checksum is compared with the row's, and no request if
    the file at the path has the size and the checksum of the row. If a checksum differs, the metadata are requested,
    because the file may have changed on the service. For any other row and for a byte range they are requested first.

    A folder is saved with everything below it, once if the files in it are also given. Native documents in a folder are
    exported as docx, xlsx, pptx, svg or json. Shortcuts, and documents without an export format, are not saved. A
    UserWarning names them.

    Args:
        file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
        to: The path of a file, or a folder in which each file keeps its name. None means the notebook's folder. For
            several files or a folder, and with a slash at its end, `to` is a folder, and is created if necessary. A
            folder is not saved as an archive: `shutil.make_archive` makes one of the saved folder. The
            second file with the same name becomes `name (1).ext`, the third `name (2).ext`, in the order of the rows.
            A URL like "s3://bucket/results/" needs the extra `fsspec`, see docs/bulk.md.
        byte_range: The bytes to download, as (first, last) with both included, (first, None), (-100, None) for the last
            100, a slice like `slice(0, 100)`, or a str like "bytes=0-99" or "0-99". None downloads the whole content.
        acknowledge_abuse: Download a file although it was flagged as abusive. Only the owner may do this. An
            AbusiveFileWarning names the flagged file.
        overwrite: True replaces a file at the path that has other content. False raises PathExists for such a file.
        progress: None shows a progress bar for large transfers, True always, False never. A function is called with
            (bytes done, total bytes or None) of all files.
        workers, executor, errors: The threads or the executor, and what happens with an error, as for `upload`.
        resume: The name of a ledger, a file in the current folder in which the call records the files that are saved.
            The same call again saves only the others, and those that are missing on disk. See docs/bulk.md.

    Returns:
        One row for each file: id, name, path (str), size (Int64, bytes on disk), of (Int64, bytes of the whole
        content on the service), mime_type (str, of an export the media type of the export), outcome (str: saved,
        unchanged, replaced, skipped or failed), error (str), attempts (Int64), seconds (Float64). For a folder, one row
        for each file below it, in the order of the paths. path and size are missing for skipped and failed files.

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotFound: The file does not exist, or this user may not see it.
        NotAllowed: The file has no content that this user can download.
        PathExists: A file with other content exists at the path and was not changed. This error is a FileExistsError.
        ContentMismatch: The service sends content of another size or checksum than the metadata have.
        Interrupted: The connection was broken for too long. Repeat the call to continue the download.

    See tests/rules.csv (A6).

    >>> lab = svc.sandbox()
    >>> file = svc.upload(b"hello", name="hello.txt")
    >>> svc.download(file, folder)[["name", "size", "outcome"]].values.tolist()
    [['hello.txt', 5, 'saved']]
    >>> svc.download(file, folder)["outcome"].item()
    'unchanged'
    """
    from ....client.downloads.tree_download import FIELDS
    from ....local.paths import DistinctPaths

    flag("overwrite", overwrite)
    requested, batch = as_range(byte_range), Batch(workers, executor, errors, resume, progress)
    session = session_or_current(session)
    ids = files_at(session, file)
    known = {} if requested else known_files(file)
    with target_of(len(ids), to, executor) as target:
        prepared = DownloadRows(session, target.path, target.new_folder, DistinctPaths(), requested)
        fields = f"{FIELDS},parents" if len(ids) > 1 else FIELDS
        listed = request_metadata(session, ids, known, fields, batch, DOWNLOADS)
        metadata = [
            each for each in listed if {*ids}.isdisjoint(each[0].get("parents") or ())
        ]  # not in a folder of ids
        rows = list(map(target.place, prepared.rows(metadata)))
    call = partial(target.save, byte_range=requested, acknowledge_abuse=acknowledge_abuse, overwrite=overwrite)
    operation = RowOperation(
        DOWNLOADS,
        call,
        known=known_of_row,
        label=label_of_row,
        resumable=target.resumable("download", {"byte_range": requested}),
        title=f"Download {rows[0].file.get('name')}" if len(rows) == 1 else "Download",
        size=partial(_size, byte_range=requested),
        continue_hint=CONTINUE_HINT,
    )
    result = run(operation, rows, session, batch)
    _warn_of_skipped(rows)
    return result


def _size(row: DownloadRow, byte_range: ByteRange | None) -> int | None:
    """Return the number of bytes that a row saves, or None if it is not known, as for an export."""
    if row.path is None:
        return 0
    size = None if row.file.get("size") is None else int(row.file["size"])
    span = byte_range.resolve(size) if byte_range and size is not None else None
    return span.size if span else size


def _warn_of_skipped(rows: Sequence[DownloadRow]) -> None:
    """Warn of the files that cannot be saved, such as shortcuts."""
    skipped = [row.skipped for row in rows if row.skipped]
    if skipped:
        more = f" and {len(skipped) - _MAX_NAMED} more" if len(skipped) > _MAX_NAMED else ""
        warn_caller(f"not downloaded: {', '.join(skipped[:_MAX_NAMED])}{more}")


def read(
    file: File,
    *,
    format: str | None = None,
    byte_range: RangeGiven = None,
    acknowledge_abuse: bool = False,
    session: SessionLike = None,
) -> bytes:
    """Download the content of one file, or a byte range of the content, and return the bytes.

    The size is compared with the metadata of the file, which are requested if `file` is not a row with id, name, size
    and mime_type, or if the content is not that of the row. If the row has md5_checksum or sha256_checksum, as a row of
    `upload()` does, the checksum is compared, too.

    Args:
        file: An id, a link, a path like "birds/may.csv", a row, or a DataFrame of one row.
        format: The format of the export of a native document, like "pdf", as for `export`. None reads the content.
        byte_range: The bytes to download, like (0, 99) with both included. `download` lists the other forms. None
            downloads the whole content.
        acknowledge_abuse: Download a file although it was flagged as abusive, as for `download`.

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotFound: The file does not exist, or this user may not see it.
        NotAllowed: The file has no content that this user can download.
        BadRequest: The content has no byte in this range, or the document does not have this format.
        ContentMismatch: The service sends content of another size or checksum than the metadata have.

    See tests/rules.csv (A6).

    >>> lab = svc.sandbox()
    >>> svc.read(svc.upload(b"hello, you"), byte_range=(0, 4))
    b'hello'
    """

    session, requested = session_or_current(session), as_range(byte_range)
    file_id = one_file_at(session, file)
    if format is not None:
        if byte_range is not None:
            raise ValueError("byte_range is for the content of a file; leave it out if you give a format")
        name = normalize_format(format)
        document = get_file(session, file_id, fields="id,name,mimeType")
        return read_export(session, file_id, export_target(session, document, name).media_type)
    known = known_files(file, checksum=False).get(file_id) or get_file(session, file_id, fields="size")
    return read_known(session, {**known, "id": file_id}, byte_range=requested, acknowledge_abuse=acknowledge_abuse)
