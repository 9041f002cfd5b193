"""Downloads the content of files, or a byte range of the content, to disk or into memory."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

from ..arguments import file_ids, flag, is_new_folder, one_id, target_path
from ..batch import apply_to_rows
from ..current_session import SessionLike, session_or_current
from ..frames.schemas import DOWNLOADS
from .progress import Progress, check_progress
from .tree_download import Downloads

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.downloads.downloads import RangeGiven
    from ..arguments import File


def download(
    file: File,
    to: str | os.PathLike[str] | None = None,
    *,
    byte_range: RangeGiven = None,
    acknowledge_abuse: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    session: SessionLike = None,
) -> DataFrame:
    """Save the content of files and folders to disk, and list the saved files.

    The received bytes are collected in a file whose name ends in `.part`. Repeat the call after an interruption to
    continue the download. If the content was received in several pieces, its checksum is compared with the service's
    checksum (A6-06). A file at the path that has the same content already is not changed.

    A folder is saved with everything below it. Native documents in a folder are exported as docx, xlsx, pptx, svg or
    json. Shortcuts, and documents without an export format, are not saved. A UserWarning names them.

    Args:
        file: An id, a link, a row, a DataFrame, or a list of these.
        to: The path of a file, or a folder in which each file keeps its name. None means the notebook's folder. For
            several files or a folder, and with a slash at its end, `to` is a folder, and is created if necessary. The
            second file with the same name becomes `name (1).ext`, the third `name (2).ext`, in the order of the rows.
        byte_range: The bytes to download, as (first, last) with both included, a slice like `slice(0, 100)` or
            `slice(-100, None)`, or a str like "bytes=0-99". None downloads the whole content.
        acknowledge_abuse: Download a file although it was flagged as abusive. Only the owner may do this. An
            AbusiveFileWarning names the flagged file.
        overwrite: True replaces a file at the path that has other content. False raises PathExists for such a file.
        progress: None shows a progress bar for large transfers, True always, False never. A function is called with
            (bytes done, total bytes or None).

    Returns:
        One row for each file: id, name, path (str), size (Int64, bytes on disk), of (Int64, bytes of the whole
        content on the service), mime_type (str, of an export the media type of the export), outcome (str: saved,
        unchanged, replaced or skipped). For a folder, one row for each file below it, in the order of the paths. path
        and size are missing for skipped files.

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotFound: The file does not exist, or this user may not see it.
        NotAllowed: The file has no content that this user can download.
        PathExists: A file with other content exists at the path and was not changed. This error is a FileExistsError.
        Interrupted: The connection was broken for too long. Repeat the call to continue the download.

    See docs/rules.md#a6-download (A6).

    >>> lab = svc.sandbox()
    >>> file = svc.upload(b"hello", name="hello.txt")
    >>> svc.download(file, folder)[["name", "size", "outcome"]].values.tolist()
    [['hello.txt', 5, 'saved']]
    >>> svc.download(file, folder)["outcome"].item()
    'unchanged'
    """
    from ...client.downloads.downloads import as_range
    from ...local.paths import DistinctPaths

    check_progress(progress)
    flag("overwrite", overwrite)
    requested = as_range(byte_range)
    session, ids = session_or_current(session), file_ids(file)
    downloads = Downloads(
        session,
        target_path(len(ids), to),
        DistinctPaths(),
        requested,
        new_folder=is_new_folder(len(ids), to),
        acknowledge_abuse=acknowledge_abuse,
        overwrite=overwrite,
        progress=progress,
    )
    with closing(downloads.steps(ids)) as steps:
        result = apply_to_rows(DOWNLOADS, steps, lambda step: step.run(), label=lambda step: step.label)
    downloads.warn_of_skipped()
    return result


def read(
    file: File,
    *,
    byte_range: RangeGiven = None,
    acknowledge_abuse: bool = False,
    session: SessionLike = None,
) -> bytes:
    """Download the content of one file, or a byte range of the content, and return the bytes.

    Args:
        file: An id, a row, or a DataFrame of one row.
        byte_range: The bytes to download, like (0, 99) with both included. `download` lists the other forms. None
            downloads the whole content.
        acknowledge_abuse: Download a file although it was flagged as abusive, as for `download`.

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotFound: The file does not exist, or this user may not see it.
        NotAllowed: The file has no content that this user can download.
        BadRequest: The content has no byte in this range.

    See docs/rules.md#a6-download (A6).

    >>> lab = svc.sandbox()
    >>> svc.read(svc.upload(b"hello, you"), byte_range=(0, 4))
    b'hello'
    """
    from ...client.downloads.downloads import read_content

    return read_content(
        session_or_current(session),
        one_id(file),
        byte_range=byte_range,
        acknowledge_abuse=acknowledge_abuse,
    )
