"""Uploads folders, and the files that match a pattern, for `upload`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ...client.files import ROOT
from ...client.uploads.prepare import SIMPLE_LIMIT
from ...client.uploads.tree_upload import TreeFile, TreeUpload, upload_tree_file
from ...core.errors.caller_warning import warn_caller
from ...local.tree import HIDDEN, LocalTree, list_tree, names_tree
from ..arguments import flag, sources
from ..batch.batch import ROW_ERRORS, Batch, Report, Resumable, RowOperation, run
from ..byte_sizes import size_text
from ..frames.frames import Record, Schema
from ..frames.schemas import FILES, TREE_FILES, UPLOADS
from .metadata import files_schema_with, metadata_body
from .upload_requests import SOURCE_TIME, is_current

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ...client.uploads.request import UploadArguments

MAX_FILES = 1000
"""The maximum number of files that are uploaded from folders without `recursive=True`."""

_MAX_NAMED = 5


def has_tree(source: object) -> bool:
    """Return True if a source, or one in a list of sources, is the path of a folder or a pattern with wildcards."""

    return any(map(names_tree, sources(source)))


def upload_trees(
    session: Session,
    source: object,
    arguments: UploadArguments,
    *,
    name: object,
    file_id: object,
    metadata: Any,
    recursive: bool | None,
    include_hidden: bool,
    batch: Batch,
) -> DataFrame:
    """Upload folders and patterns. Return one row for each file. Arguments and errors are the same as for `upload`."""
    if file_id is not None:
        raise ValueError("file_id is the id of one file, and source is a folder or a pattern")
    trees = _local_trees(source, name, include_hidden=flag("include_hidden", include_hidden))
    files = [file for tree in trees for file in tree.files]
    title = os.fspath(source) if isinstance(source, str | os.PathLike) else f"{len(trees)} sources"
    _check_count(title, len(files), sum(tree.size for tree in trees), recursive)
    body = metadata_body(metadata, creating=True, names=session.names)
    if of_one_file := next((key for key in ("name", "id") if key in body), None):
        raise ValueError(f"metadata has {of_one_file}, which is for one file, and source is a folder or a pattern")
    top = (body.get("parents") or [ROOT])[0]
    schema = files_schema_with(body)
    others = files_schema_with(body, UPLOADS).columns[len(FILES.columns) :]
    columns = Schema(TREE_FILES.columns + others)  # the fields that were set come last
    upload = TreeUpload(session, top, replace(arguments, metadata=body, query=schema.query))
    _warn_of_skipped(trees)
    for tree in trees:
        for folder in tree.folders:
            upload.folder(folder)
    if batch.executor is not None:  # the current folder of another process may be another one
        files = [replace(file, path=file.path.absolute()) for file in files]
    rows = [upload.plan(file) for file in files]
    resumable: Resumable[TreeFile] = Resumable(
        "upload",
        {**body, "convert_to": arguments.convert_to, "mime_type": arguments.mime_type, "name": name},
        identity=_identity,
        with_id=lambda row, new_id: row._replace(new_id=new_id),
        needs_id=lambda row: row.file.size <= SIMPLE_LIMIT,  # a larger upload is found in the journal without an id
        fewest=1,
        repeat=partial(_upload_row, repeated=True),
        is_done=lambda row, record: is_current(session, record, row.file.path.stat().st_ctime_ns, row.file.path),
    )
    operation = RowOperation(
        columns,
        _upload_row,
        known=lambda row: {"name": row.file.relative.name, "path": str(row.file.relative)},
        label=lambda n, row: str(row.file.relative),
        row_errors=(*ROW_ERRORS, ValueError),
        resumable=resumable,
        title=f"Upload {title}",
        size=lambda row: row.file.size,
        going_on="run the cell again to go on",
    )
    return run(operation, rows, session, batch)


def _upload_row(session: Session, row: TreeFile, report: Report, *, repeated: bool = False) -> Record:

    status_changed = None if row.file.error else row.file.path.stat().st_ctime_ns
    file, outcome = upload_tree_file(session, row, report, repeated=repeated)
    return {**file, "path": str(row.file.relative), "outcome": outcome, SOURCE_TIME: status_changed}


def _identity(row: TreeFile) -> list[object]:
    """Return what identifies a file in a ledger: its paths, its size and its modification time."""
    path = row.file.path.absolute()
    modified = None if row.file.error else path.stat().st_mtime_ns
    return [str(path), str(row.file.relative), row.file.size, modified]


def _local_trees(source: Any, name: object, *, include_hidden: bool) -> list[LocalTree]:

    paths = sources(source)
    if name is not None and (len(paths) != 1 or not isinstance(name, str)):
        folder = next(path for path in paths if names_tree(path))
        raise ValueError(
            f"name is for one file or folder, but source has {len(paths)}, among them the folder or pattern {folder!r}"
        )
    if others := [type(member).__name__ for member in paths if not isinstance(member, str | os.PathLike)]:
        raise ValueError(f"source mixes folders with {others[0]}; upload them in two calls")
    return [list_tree(path, name=name, include_hidden=include_hidden) for path in paths]


def _check_count(title: str, count: int, size: int, recursive: bool | None) -> None:
    if recursive is not None and not flag("recursive", recursive):
        raise ValueError(f"source {title!r} is a folder or a pattern, and recursive is False")
    if recursive is None and count > MAX_FILES:
        raise ValueError(
            f"source {title!r} has {count:,} files ({size_text(size)});"
            f" give recursive=True to upload more than {MAX_FILES:,}. Nothing was sent"
        )


def _warn_of_skipped(trees: Sequence[LocalTree]) -> None:

    entries = [entry for tree in trees for entry in tree.skipped]
    skipped = [f"{path} ({reason})" for path, reason in entries]
    if skipped:
        more = f" and {len(skipped) - _MAX_NAMED} more" if len(skipped) > _MAX_NAMED else ""
        hint = "; include_hidden=True uploads hidden files" if any(reason == HIDDEN for _, reason in entries) else ""
        warn_caller(f"not uploaded: {', '.join(skipped[:_MAX_NAMED])}{more}{hint}")
