"""Moves files to the trash and back, and deletes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.errors.errors import NotFound
from ..arguments import file_ids
from ..batch.batch import Batch, Errors, RowOperation, known_id, run
from ..batch.resume import Resumable
from ..current_session import SessionLike, session_or_current
from ..frames.schemas import DELETED
from .files import update_files

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ..arguments import File
    from ..batch.progress import Progress
    from ..batch.resume import Resume
    from ..batch.row_call import Report
    from ..batch.workers import Executor
    from ..frames.frames import Record


def trash(
    file: File,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    resume: Resume = None,
    progress: Progress = None,
    session: SessionLike = None,
) -> DataFrame:
    """Move files to the trash and return them, with the columns of `files()`.

    Args:
        file: An id, a link, a row, a DataFrame, or a list of these.
        workers, executor, errors: The threads or the executor for several files, and what happens with an error of one
            of them. See docs/bulk.md.
        resume: The name of a ledger, a file in the current folder in which the call records the rows that are done. The
            same call again does only the others. None records nothing. See docs/bulk.md.
        progress: None shows a progress bar for long calls, True always, False never. A function is called with (rows
            done, rows).

    Returns:
        One row for each file, with the columns of `files()`, and outcome, error (str), attempts (Int64), seconds
        (Float64).

    >>> lab = svc.sandbox()
    >>> svc.trash(svc.upload(b"old"))["trashed"].tolist()
    [True]
    """
    batch = Batch(workers, executor, errors, resume, progress)
    return update_files(session_or_current(session), file_ids(file), {"trashed": True}, batch, "trash")


def untrash(
    file: File,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    resume: Resume = None,
    progress: Progress = None,
    session: SessionLike = None,
) -> DataFrame:
    """Restore files from the trash and return them, with the columns of `files()`.

    Args:
        file: An id, a link, a row, a DataFrame, or a list of these.
        workers, executor, errors: The threads or the executor for several files, and what happens with an error of one
            of them. See docs/bulk.md.
        resume: The name of a ledger, a file in the current folder in which the call records the rows that are done. The
            same call again does only the others. None records nothing. See docs/bulk.md.
        progress: None shows a progress bar for long calls, True always, False never. A function is called with (rows
            done, rows).

    Returns:
        One row for each file, with the columns of `files()`, and outcome, error (str), attempts (Int64), seconds
        (Float64).

    >>> lab = svc.sandbox()
    >>> svc.untrash(svc.trash(svc.upload(b"old")))["trashed"].tolist()
    [False]
    """
    batch = Batch(workers, executor, errors, resume, progress)
    return update_files(session_or_current(session), file_ids(file), {"trashed": False}, batch, "untrash")


def delete(
    file: File,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    resume: Resume = None,
    progress: Progress = None,
    session: SessionLike = None,
) -> DataFrame:
    """Delete files permanently. They are not moved to the trash.

    Args:
        file: An id, a link, a row, a DataFrame, or a list of these.
        workers, executor, errors: The threads or the executor for several files, and what happens with an error of one
            of them. See docs/bulk.md.
        resume: The name of a ledger, a file in the current folder in which the call records the rows that are done. The
            same call again does only the others. None records nothing. See docs/bulk.md.
        progress: None shows a progress bar for long calls, True always, False never. A function is called with (rows
            done, rows).

    Returns:
        One row for each file: id (str), deleted (boolean, missing if the call failed), outcome, error (str), attempts
        (Int64), seconds (Float64).

    Raises:
        NotFound: The file does not exist, or this user may not see it.
        NotAllowed: This user is not the owner of the file.

    >>> lab = svc.sandbox()
    >>> svc.delete(svc.upload(b"old"))["deleted"].tolist()
    [True]
    """
    batch = Batch(workers, executor, errors, resume, progress)
    resumable: Resumable[str] = Resumable("delete", repeat=_delete_again)
    operation = RowOperation(DELETED, _delete_row, known=known_id, resumable=resumable, title="Delete")
    return run(operation, file_ids(file), session_or_current(session), batch)


def _delete_row(session: Session, file_id: str, report: Report) -> Record:
    from ...client.files import delete_file

    delete_file(session, file_id)
    return {"id": file_id, "deleted": True}


def _delete_again(session: Session, file_id: str, report: Report) -> Record:
    """Delete a file, unless an earlier call has done so and was stopped before it recorded this."""
    try:
        return _delete_row(session, file_id, report)
    except NotFound:
        return {"id": file_id, "deleted": True}
