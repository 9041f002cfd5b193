"""Copies files on the service."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ...client.files import copy_file
from ...client.session import SessionLike, session_or_current
from ...client.uploads.chosen_id import copy_with_chosen_id
from ..arguments import optional_text
from ..batch.batch import Batch, Errors, Executor, Progress, Report, Resumable, Resume, RowOperation, run
from ..folder_tree import files_at
from .metadata import files_schema_with, row_bodies, with_parent

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ...core.resources.files import File as FileResource
    from ..arguments import Column, File
    from ..frames.frames import Record


def copy(
    file: File,
    name: Column[str] | None = None,
    *,
    parent: File | None = None,
    folder: File | None = None,
    ocr_language: str | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    resume: Resume = None,
    progress: Progress = None,
    session: SessionLike = None,
    **metadata: Any,
) -> DataFrame:
    """Copy files on the service. The caller owns the copies, and the permissions of the originals are not copied.

    Args:
        file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
        name: The name of the copy, or a list or Series of names. None means "Copy of" and the name of the original.
        folder, parent: The folder of the copy, as for `upload`. None means the folder of the original. If the
            caller may not write to that folder, None means the caller's root folder.
        ocr_language: The language of text in pictures, as for `upload`, if the copy becomes a native document.
        workers, executor, errors: The threads or the executor, and what happens with an error, as for `upload`.
        resume: The name of a ledger, with which the same call again does only the other rows.
        progress: None shows a bar for long calls, True always, False never. A function gets (rows done, rows).
        **metadata: Further fields of the copy, or lists with a value for each copy. The `mime_type` of a native
            document, like "application/vnd.svc-apps.document", converts the copy to such a document.

    Returns:
        One row for each copy, with the columns of `files()`, each other field that was set, and outcome, error (str),
        attempts (Int64), seconds (Float64).

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotAllowed: The file is a folder, or readers may not copy the file (A6-05) and this user is a reader.
        NotFound: The file does not exist, or this user may not see it.

    See tests/rules.csv (A6-05).

    >>> lab = svc.sandbox()
    >>> plan = svc.upload(b"plan", name="plan.txt")
    >>> svc.copy(plan)[["name", "size"]].values.tolist()
    [['Copy of plan.txt', 4]]
    """
    session = session_or_current(session)
    if name is not None:
        metadata["name"] = name
    ids = files_at(session, file)
    bodies = row_bodies(
        with_parent(session, metadata, parent, folder), {}, len(ids), creating=True, names=session.names
    )
    schema = files_schema_with(bodies.keys)
    query = {**schema.query, "ocrLanguage": optional_text("ocr_language", ocr_language)}
    call = partial(_copy_row, shared=bodies.shared, query=query)
    resumable: Resumable[_CopyRow] = Resumable(
        "copy",
        {**bodies.shared, "ocr_language": ocr_language},
        identity=lambda row: [row.source, row.body] if row.body else row.source,
        with_id=lambda row, new_id: row if "id" in bodies.keys else row._replace(new_id=new_id),
        needs_id=lambda row: "id" not in bodies.keys,
        repeat=partial(call, repeated=True),
    )
    rows = list(map(_CopyRow, ids, bodies.rows))
    operation = RowOperation(schema, call, resumable=resumable, title="Copy")
    return run(operation, rows, session, Batch(workers, executor, errors, resume, progress))


class _CopyRow(NamedTuple):
    source: str
    body: FileResource
    """The fields of the copy that the others do not share."""
    new_id: str | None = None


def _copy_row(
    session: Session,
    row: _CopyRow,
    report: Report,
    shared: FileResource,
    query: Mapping[str, object],
    *,
    repeated: bool = False,
) -> Record:
    body: FileResource = {**shared, **row.body}
    if row.new_id is None:
        return copy_file(session, row.source, body, query=query)
    return copy_with_chosen_id(session, row.source, row.new_id, body, query, repeated=repeated)
