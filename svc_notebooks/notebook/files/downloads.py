"""Downloads the content of files, whole or in part, to disk or into memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..arguments import file_ids, one_id, target_path
from ..batch import apply_to_rows
from ..current_session import session_or_current
from ..frames.frames import Record
from ..frames.schemas import DOWNLOADS
from .progress import Progress, check_progress, reporting

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.downloads.downloads import RangeGiven
    from ...client.session import Session
    from ..arguments import File


def download(
    file: File,
    to: str | os.PathLike[str] | None = None,
    *,
    byte_range: RangeGiven = None,
    acknowledge_abuse: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    session: Session | None = None,
) -> DataFrame:
    """Save the content of files to disk, and list the saved files.

    The bytes collect in a file whose name ends in `.part`. The same call after an interruption continues, and a
    content that came in several pieces is compared with the service's checksum (A6-06). A path that has the same
    content is not changed, so the same call can run again. Mostly it transfers nothing then.

    Args:
        file: An id, a row, a DataFrame or a list of ids.
        to: A path, or a folder, in which a file has its own name; None is the notebook's folder. For
            several files it must be a folder; the second file of a name becomes `name (1).ext`, the third
            `name (2).ext`, in the order of the rows.
        byte_range: A part: (first, last) with both included, a slice like `slice(0, 100)` or
            `slice(-100, None)`, or "bytes=0-99".
        acknowledge_abuse: Download a file that was flagged as abusive, which only its owner may. Only such a file
            shows an AbusiveFileWarning with its name.
        overwrite: Replace a file with other content at the path; without it PathExists is raised.
        progress: As for `upload`.

    Returns:
        One row for each file: id, name, path (str), size (Int64, bytes on disk), of (Int64, bytes of the
        whole), mime_type, outcome (str: saved, unchanged or replaced).

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotFound, NotAllowed: There is no such file, or it has no content that can be downloaded.
        PathExists: The path has other content, which was not changed; this is also a FileExistsError.
        Interrupted: The connection was broken too long; the same call continues.

    See docs/rules.md#a6-download (A6).

    >>> lab = svc.sandbox()
    >>> file = svc.upload(b"hello", name="hello.txt")
    >>> svc.download(file, folder)[["name", "size", "outcome"]].values.tolist()
    [['hello.txt', 5, 'saved']]
    >>> svc.download(file, folder)["outcome"].item()
    'unchanged'
    """
    from ...client.downloads.downloads import as_range, save_content
    from ...client.files import get_file
    from ...local.paths import DistinctPaths

    check_progress(progress)
    requested = as_range(byte_range)
    session, ids = session_or_current(session), file_ids(file)
    target, paths = target_path(len(ids), to), DistinctPaths()

    def download_file(file_id: str) -> Record:
        metadata = get_file(session, file_id, fields="id,name,size,mimeType")
        size = int(metadata["size"]) if metadata.get("size") is not None else None
        span = requested.resolve(size) if requested and size is not None else None
        with reporting(progress, f"Download {metadata.get('name')}", span.size if span else size) as report:
            saved = save_content(
                session,
                file_id,
                target,
                byte_range=requested,
                acknowledge_abuse=acknowledge_abuse,
                progress=report,
                overwrite=overwrite,
                paths=paths,
            )
        saved_fields = {"path": str(saved.path), "size": saved.size, "outcome": saved.outcome}
        return {**metadata, **saved_fields, "of": metadata.get("size")}

    return apply_to_rows(DOWNLOADS, ids, download_file)


def read(
    file: File,
    *,
    byte_range: RangeGiven = None,
    acknowledge_abuse: bool = False,
    session: Session | None = None,
) -> bytes:
    """Return the content of one file, or a part of it, as bytes.

    Args:
        file: An id, a row, or a DataFrame of one row.
        byte_range, acknowledge_abuse: As for `download`.

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotFound, NotAllowed: There is no such file, or it has no content that can be downloaded.
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
