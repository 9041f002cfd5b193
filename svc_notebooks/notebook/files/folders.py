"""Creates folders, and copies, moves, trashes and deletes files."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import PurePosixPath
from types import EllipsisType
from typing import TYPE_CHECKING, Any, NamedTuple

from ...client.files import ROOT, copy_file, delete_file, get_file, update_file
from ...client.session import Parameters, Session, SessionLike, session_or_current
from ...client.uploads.idempotent_creation import copy_with_generated_id
from ...client.uploads.tree_upload import TreeUpload
from ...client.uploads.upload_request import UploadArguments
from ...core.errors.errors import NotFound
from ..arguments import Column, File, files_at, one_folder_id, optional_text
from ..batch.batch import Batch, Errors, Executor, Progress, Report, Resumable, Resume, RowOperation, known_id, run
from ..frames import DELETED, FILES, Record, snake
from .files import create_file, file as _file, update_files
from .metadata import RowBodies, files_schema_with, metadata_body, row_bodies, with_parent
from .search import files

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...core.resources.files import File as FileResource


# -- moves files to the trash and back, and deletes them


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
        file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
        workers, executor, errors: The threads or the executor, and what happens with an error, as for `upload`.
        resume: The name of a ledger, with which the same call again does only the other rows.
        progress: None shows a bar for long calls, True always, False never. A function gets (rows done, rows).

    Returns:
        One row for each file, with the columns of `files()`, and outcome, error (str), attempts (Int64), seconds
        (Float64).

    >>> lab = svc.sandbox()
    >>> svc.trash(svc.upload(b"old"))["trashed"].tolist()
    [True]
    """
    return _set_trashed(session, file, Batch(workers, executor, errors, resume, progress), trashed=True)


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
        file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
        workers, executor, errors: The threads or the executor, and what happens with an error, as for `upload`.
        resume: The name of a ledger, with which the same call again does only the other rows.
        progress: None shows a bar for long calls, True always, False never. A function gets (rows done, rows).

    Returns:
        One row for each file, with the columns of `files()`, and outcome, error (str), attempts (Int64), seconds
        (Float64).

    >>> lab = svc.sandbox()
    >>> svc.untrash(svc.trash(svc.upload(b"old")))["trashed"].tolist()
    [False]
    """
    return _set_trashed(session, file, Batch(workers, executor, errors, resume, progress), trashed=False)


def _set_trashed(session: SessionLike, file: File, batch: Batch, *, trashed: bool) -> DataFrame:
    session = session_or_current(session)
    ids = files_at(session, file, trashed=not trashed)
    bodies = RowBodies({"trashed": trashed}, [{}] * len(ids))
    return update_files(session, ids, bodies, batch, "trash" if trashed else "untrash")


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
        file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
        workers, executor, errors: The threads or the executor, and what happens with an error, as for `upload`.
        resume: The name of a ledger, with which the same call again does only the other rows.
        progress: None shows a bar for long calls, True always, False never. A function gets (rows done, rows).

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
    resumable: Resumable[str] = Resumable("delete", repeat=partial(_delete_row, repeated=True))
    operation = RowOperation(DELETED, _delete_row, known=known_id, resumable=resumable, title="Delete")
    session = session_or_current(session)
    return run(operation, files_at(session, file), session, batch)


def empty_trash(*, session: SessionLike = None) -> DataFrame:
    """Delete all files of this user that are in the trash permanently, with the files in their folders.

    Returns:
        One row for each file that was in the trash, with the columns of `files()`.

    >>> lab = svc.sandbox()
    >>> old = svc.trash(svc.upload(b"old", name="old.txt"))
    >>> svc.empty_trash()["name"].tolist(), len(svc.files())
    (['old.txt'], 0)
    """
    from ...client.files import empty_trash

    session = session_or_current(session)
    former = files(trashed=True, owner="me", session=session)
    empty_trash(session)
    return former


def _delete_row(session: Session, file_id: str, report: Report, *, repeated: bool = False) -> Record:
    """Delete a file. If `repeated`, an earlier call may have done so and was stopped before it recorded this."""
    with suppress(*([NotFound] if repeated else [])):
        delete_file(session, file_id)
    return {"id": file_id, "deleted": True}


_FIELDS = ",".join(FILES.keys)


def create_folder(
    name: str, parent: File | None = None, *, folder: File | None = None, session: SessionLike = None, **metadata: Any
) -> DataFrame:
    """Find or create a folder, or the folders of a path, and return the metadata of the folder.

    A repeated call returns the same folder. A service allows several folders with the same name:
    `create_file(name, mime_type="folder")` creates another one, and allows slashes in a name.

    Args:
        name: The name of the folder, or a path like "birds/2026". Each folder that does not exist is created, and of
            several with a name the oldest is used.
        folder, parent: The folder in which the folder is, as for `upload`. None means the top folder.
        **metadata: Further fields of the folder, like `description="Field data"` or `folder_color_rgb="#8f8f8f"`.

    Returns:
        One row, with the columns of `files()`.

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        BadRequest: `parent` is not a folder.
        NotFound: `parent` does not exist, or this user may not see it.

    See tests/rules.csv (A4).

    >>> lab = svc.sandbox()
    >>> data = svc.create_folder("Data")
    >>> svc.upload(b"a,b", name="table.csv", parent=data)["parents"].item() == [data["id"].item()]
    True
    """
    if other := next((key for key in metadata if snake(key) == "mime_type"), None):
        raise TypeError(f"{other} cannot be set for a folder; create_file(name, mime_type=...) creates other files")
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {type(name).__name__}")
    parts = name.strip("/").split("/")
    if not all(part.strip() for part in parts) or {".", ".."}.intersection(parts):
        raise ValueError(f"name is {name!r}, a path with an empty name, '.' or '..'; write it like 'birds/2026'")
    session = session_or_current(session)
    metadata_body({"name": name, **metadata}, creating=True, names=session.names)  # refuses before anything is sent
    top = (with_parent(session, None, parent, folder) or {"parents": [ROOT]})["parents"][0]
    folders = TreeUpload(session, top, UploadArguments(query=FILES.query))
    path = PurePosixPath(*parts)
    if not metadata:
        return _file(folders.folder(path), session=session)
    above = folders.folder(path.parent)
    if (found := folders.existing_folder(above, path.name)) is None:
        return create_file(path.name, parent=above, mime_type="folder", session=session, **metadata)
    body = metadata_body(metadata, creating=False, names=session.names)
    return update_files(session, [found], RowBodies(body, [{}]), Batch())


def move(
    file: File,
    to: File | EllipsisType | None = ...,
    *,
    folder: File | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    resume: Resume = None,
    progress: Progress = None,
    session: SessionLike = None,
) -> DataFrame:
    """Move files and folders into a folder, and return the moved files.

    Args:
        file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
        to: The folder, as an id, a link, a path like "birds/2026", a row or a DataFrame of one row. None
            or "root" means the top folder.
        folder: The same as `to`.
        workers, executor, errors: The threads or the executor, and what happens with an error, as for `upload`.
        resume: The name of a ledger, with which the same call again does only the other rows.
        progress: None shows a bar for long calls, True always, False never. A function gets (rows done, rows).

    Returns:
        One row for each file, with the columns of `files()`, and outcome, error (str), attempts (Int64), seconds
        (Float64). A file that was in the folder already is not changed.

    Raises:
        TypeError, ValueError: An argument is not valid, `to` is not a folder, or it is in the trash; nothing was moved.
        BadRequest: A folder cannot be moved into itself or into a folder below it.
        NotAllowed: This user may not change the file or the folder.
        NotFound: The file or the folder does not exist, or this user may not see it.

    >>> lab = svc.sandbox()
    >>> data, table = svc.create_folder("Data"), svc.upload(b"a,b", name="table.csv")
    >>> svc.move(table, to=data)["parents"].item() == [data["id"].item()]
    True
    >>> svc.move(table, to="root")["name"].tolist()
    ['table.csv']
    """

    if (to is ...) == (folder is None):
        raise TypeError("move() needs the folder once: move(file, to=folder), and to='root' is the top folder")
    to = folder if isinstance(to, EllipsisType) else to
    session = session_or_current(session)
    ids = files_at(session, file)
    folder_id = ROOT if to is None else one_folder_id(session, to, "to")
    found = get_file(session, folder_id, fields="id,name,mimeType,trashed")
    if found.get("mimeType") != session.names.native("folder"):
        raise ValueError(f"to is {found.get('name')!r}, a file of the type {found.get('mimeType')}; give a folder")
    if found.get("trashed"):
        raise ValueError(f"to is {found.get('name')!r}, a folder in the trash; restore it first with untrash()")
    target = str(found["id"])
    resumable: Resumable[str] = Resumable("move", {"to": target})
    operation = RowOperation(FILES, partial(_move, target=target), known=known_id, resumable=resumable, title="Move")
    return run(operation, ids, session, Batch(workers, executor, errors, resume, progress))


def _move(session: Session, file_id: str, report: Report, target: str) -> FileResource:
    """Replace all parents of a file by the folder `target`. Return the file's metadata."""

    file = get_file(session, file_id, fields=_FIELDS)
    parents = file.get("parents") or []
    if parents == [target]:
        return file
    query = {"fields": _FIELDS, "addParents": target}
    if former := [parent for parent in parents if parent != target]:
        query["removeParents"] = ",".join(former)
    return update_file(session, file_id, {}, query=query)


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
    shared = with_parent(session, metadata, parent, folder)
    bodies = row_bodies(shared, {}, len(ids), creating=True, names=session.names)
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
    operation = RowOperation(schema, call, resumable=resumable, title="Copy")
    rows = list(map(_CopyRow, ids, bodies.rows))
    return run(operation, rows, session, Batch(workers, executor, errors, resume, progress))


class _CopyRow(NamedTuple):
    source: str
    # The fields of the copy that the others do not share.
    body: FileResource
    new_id: str | None = None


def _copy_row(
    session: Session, row: _CopyRow, report: Report, shared: FileResource, query: Parameters, *, repeated: bool = False
) -> Record:
    body: FileResource = {**shared, **row.body}
    if row.new_id is None:
        return copy_file(session, row.source, body, query=query)
    return copy_with_generated_id(session, row.source, row.new_id, body, query, repeated=repeated)
