"""Downloads the content of files, whole or in part, to disk or into memory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..arguments import file_ids, one_id, target_path
from ..batch import apply_to_rows
from ..current_session import session_or_current
from ..frames.schemas import DOWNLOADS
from .progress import Progress, check_progress, reporting

if TYPE_CHECKING:
    from pathlib import Path

    from pandas import DataFrame

    from ...client.downloads.downloads import RangeGiven
    from ...client.session import Session
    from ...core.http.ranges import ByteRange
    from ..arguments import File

_FIELDS = "id,name,size,mimeType"


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
    """Save the content of files to disk, and show what was saved.

    The bytes collect in a file with `.part` behind its name; the same call after an interruption goes on
    from there, and what came in pieces is compared with the service's checksum (A6-06). A path that has the
    same content is left alone, so the same call can run again; as a rule it transfers nothing then.

    Args:
        file: An id, a row, a DataFrame or a list of ids.
        to: A path, or a folder, in which a file has its own name; None is the notebook's folder. For
            several files it must be a folder; the second file of a name becomes `name (1).ext`, the third
            `name (2).ext`, in the order of the rows.
        byte_range: A part: (first, last) with both included, a slice like `slice(0, 100)` or
            `slice(-100, None)`, or "bytes=0-99".
        acknowledge_abuse: Download a file that was flagged as abusive; only its owner may. For such a file, and
            no other, an AbusiveFileWarning that names it is shown.
        overwrite: Replace other content that lies at the path; without it such a path is left as it is, and
            PathExists is raised.
        progress: As for `upload`.

    Returns:
        One row for each file: id, name, path (str), size (Int64, bytes on disk), of (Int64, bytes of the
        whole), mime_type, outcome (str: saved, unchanged or replaced).

    Raises:
        TypeError, ValueError: An argument cannot be meant; nothing was sent.
        NotFound, NotAllowed: There is no such file, or it has no content that can be downloaded.
        PathExists: The path has other content, which was left as it is; it is also a FileExistsError.
        Interrupted: The connection broke for long; the same call goes on from there.

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
    as_range(byte_range)
    session, ids = session_or_current(session), file_ids(file)
    target = target_path(len(ids), to)
    options = {
        "byte_range": byte_range,
        "acknowledge_abuse": acknowledge_abuse,
        "overwrite": overwrite,
        "paths": DistinctPaths(),
    }
    return apply_to_rows(DOWNLOADS, ids, lambda file_id: _download_file(session, file_id, target, progress, options))


def _download_file(
    session: Session, file_id: str, target: Path, progress: Progress, options: dict[str, Any]
) -> Mapping[str, Any]:
    from ...client.downloads.downloads import as_range, save_content
    from ...client.files import get_file

    metadata = get_file(session, file_id, fields=_FIELDS)
    size = _size(metadata, as_range(options["byte_range"]))
    with reporting(progress, f"Download {metadata.get('name')}", size) as report:
        saved = save_content(session, file_id, target, progress=report, **options)
    return {
        **metadata,
        "path": str(saved.path),
        "size": saved.size,
        "of": metadata.get("size"),
        "outcome": saved.outcome,
    }


def _size(metadata: Mapping[str, Any], byte_range: ByteRange | None) -> int | None:
    whole = metadata.get("size")
    if whole is None:
        return None
    span = byte_range.resolve(int(whole)) if byte_range else None
    return span.size if span else int(whole)


def read(
    file: File,
    *,
    byte_range: RangeGiven = None,
    acknowledge_abuse: bool = False,
    session: Session | None = None,
) -> bytes:
    """The content of one file, or a part of it, as bytes in memory.

    Args:
        file: An id, a row, or a DataFrame of one row.
        byte_range, acknowledge_abuse: As for `download`.

    Raises:
        TypeError, ValueError: An argument cannot be meant; nothing was sent.
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
