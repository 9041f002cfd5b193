"""Uploads, lists, changes and deletes files, as DataFrames.

A `file` argument is an id, a link, a row, a whole DataFrame, or a list of these (D-02). If a call for several files
fails for a file, the error is raised after the last file, and its `result` has the rows of the other files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ...client import files as client
from ...client.session import SessionLike, session_or_current
from ...client.uploads.idempotent_creation import with_generated_id
from ...client.uploads.upload_request import UploadArguments, UploadRequest
from ..arguments import files_at, flag, sources, whole
from ..batch.batch import (
    Batch,
    Errors,
    Executor,
    Progress,
    Report,
    Resumable,
    Resume,
    RowOperation,
    apply_to_rows,
    run,
    run_alone,
)
from ..frames import FILE, FILES, IDS, Record, Schema, frame, select_columns, snake
from . import upload_requests
from .metadata import RowBodies, check_fields, files_schema_with, metadata_body, row_bodies, with_parent

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ...core.resources.files import File as FileResource
    from ..arguments import Column, File, Sources


def upload(
    source: Sources,
    *,
    name: Column[str] | None = None,
    mime_type: str | None = None,
    convert_to: str | None = None,
    ocr_language: str | None = None,
    file_id: Column[str] | None = None,
    parent: File | None = None,
    folder: File | None = None,
    upload_type: str = "auto",
    chunk_size: int | str | None = None,
    metadata: Column[Mapping[str, Any]] | None = None,
    recursive: bool | None = None,
    include_hidden: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    resume: Resume = None,
    session: SessionLike = None,
    **fields: Any,
) -> DataFrame:
    """Upload files or folders, and return the metadata of the files.

    A folder is uploaded with everything below it. The folders of the service that have the same names are used again,
    so a repeated call uploads only the files that are new or have changed. Without `overwrite` an existing file is
    never changed: a file that has changed is uploaded beside it, and a UserWarning names it. No file is deleted.

    Args:
        source: A path, bytes, a file opened with mode "rb", a DataFrame, or a list of these. A dict of
            DataFrames is a workbook with these sheets. The path can be a folder,
            or a pattern like "data/**/*.csv", whose matches keep the folders below the part without wildcards. Symbolic
            links in a folder are not followed. A UserWarning names what was not uploaded. A DataFrame is written in the
            format that `mime_type`, or else the extension of `name`, means: .csv, .tsv, .json (records), .jsonl,
            .parquet or .xlsx, and as CSV without such an extension. An index with a name, or of other values than
            numbers, becomes the first columns. docs/recipes.md has a table of what each format keeps: a value that it
            cannot hold is refused, or a UserWarning names the column and what is lost. URLs like
            "s3://bucket/people.csv" need the extra `fsspec`, see docs/bulk.md. The value of a widget FileUpload is a
            source, too: its files have names and media types. Give a text as `text.encode()`.
        name: The name of the new file, or a list or Series of names. None: the file name of a path, otherwise
            "Untitled".
        mime_type: The media type of the source. None detects the type from the name or the first bytes.
        convert_to: The native type to which the source is converted: "document", "spreadsheet", "presentation",
            "drawing", "script", the media type of a native document, or "auto" for the best match.
            `import_formats()` lists the possible conversions. If `name` is None, the document gets the name of the
            source without its extension. None uploads the content unchanged.
        ocr_language: The language of text in pictures and scans that become a document, as a BCP 47 tag
            ("de", "zh-Hant"), or several ("de+en"). None lets the service choose.
        file_id: An id from `generate_ids()` for the new file, or a list of ids. A repeated call with this id creates no
            second file.
        folder: The folder of the new files, as an id, a link, a path like "birds/2026", a row or a DataFrame of one
            row. None means the top folder. `create_folder` creates a folder.
        parent: The same as `folder`.
        upload_type: "media" (content only, no name), "multipart" (content and metadata in one request), "resumable",
            or "auto". "auto" sends up to 5 MB as media or multipart, and larger content as resumable (A1-05).
        chunk_size: The number of bytes in each request of a resumable upload, a multiple of 262144, or a text such
            as "8 MB". -1 sends all bytes in one request. None uses the default size.
        metadata: Further fields, like `{"starred": True, "properties": {"lab": "7"}}`, or a list with a dict for each
            source.
        **fields: The same, like `starred=True`. A list or Series has a value for each source.
        recursive: None uploads at most 1,000 files of folders, True any number. False refuses folders.
        include_hidden: True uploads also files and folders whose names begin with a dot.
        overwrite: True replaces the content of the file that has the same name in the folder, which keeps its id.
        progress: None shows a progress bar for 8 MiB and more, True always, False never. A function is called with
            (bytes done, total bytes or None).
        workers, executor: The number of threads, or an executor of another library. See docs/bulk.md.
        errors: "raise" raises the first error after the last row, "return" shows each error in the row of its file.
            None raises the error of a single row, and returns the errors of several.
        resume: The name of a ledger, with which the same call again does only the other rows.

    Returns:
        One row for each source: id, name, mime_type (str), size (Int64, bytes), created_time,
        modified_time (datetime64[ms, UTC]), trashed, starred (boolean), parents (object, list of ids),
        web_view_link, md5_checksum (str, of the sent bytes; missing for native documents, open files and resumable
        uploads), outcome, error (str), attempts (Int64: 1, and 1 for each request of this row that was sent again after
            a failure, except chunks), seconds (Float64), and each other field in `metadata`. With
        the checksum, `download` needs one request for each row. For folders, one row for each file below them, also
        with path (str, the path in the folder, like "data/a.csv"), and with the outcome uploaded, uploaded beside,
        replaced, or unchanged for a file with the same content.

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        ImportError: A package that writes the format is missing (`pip install 'svc-notebooks[frames]'`).
        OSError: A file cannot be read. The error names all such files, and nothing was sent. In a folder, and with
            `errors="return"`, only the row of this file has failed.
        AlreadyExists: Another file has this `file_id`.
        BadRequest: The content cannot be converted to `convert_to`, or `file_id` is given together with
            `convert_to`, which the service does not allow (X-03).
        Interrupted: The connection was broken for too long. Repeat the call with the same source to continue.
        SourceChanged: The upload was resumed, and the stored file, which the error names, does not have the content of
            the source. An UnverifiedUploadWarning says that the content could not be compared.

    See tests/rules.csv (A1 to A3, A5).

    >>> lab = svc.sandbox()
    >>> svc.upload(b"a,b", name="table.csv")[["name", "mime_type", "size"]].values.tolist()
    [['table.csv', 'text/csv', 3]]
    >>> import pandas
    >>> cities = pandas.DataFrame({"city": ["Riga"], "people": [605_000]})
    >>> svc.read_frame(svc.upload(cities, name="cities.xlsx")).equals(cities)
    True
    >>> svc.upload(b"a,b", name="table", mime_type="text/csv", convert_to="spreadsheet")["mime_type"].tolist()
    ['application/vnd.svc-apps.spreadsheet']
    """

    if fields:
        check_fields(upload, fields)
    session = session_or_current(session)
    arguments = UploadArguments(
        mime_type=mime_type,
        upload_type=upload_type,
        chunk_size=chunk_size,
        convert_to=convert_to,
        ocr_language=ocr_language,
    )
    metadata, batch = with_parent(session, metadata, parent, folder), Batch(workers, executor, errors, resume, progress)
    source = sources(source) if isinstance(source, Iterator) else source  # a generator can be read only once
    if upload_requests.has_tree(source):
        if file_id is not None:
            raise ValueError("file_id is the id of one file, and source is a folder or a pattern")
        title, trees = upload_requests.local_trees(
            source, name, recursive, include_hidden=flag("include_hidden", include_hidden)
        )
        read: Any = partial(metadata_body, creating=True, names=session.names)
        given: Any = {"name": name, "metadata": {**read(metadata), **read(fields)}}
        replaces = flag("overwrite", overwrite)
        return upload_requests.upload_trees(
            session, title, trees, replace(arguments, **given), batch, overwrite=replaces
        )
    schema, requests, bodies = upload_requests.new_files(
        session, source, arguments, name=name, file_id=file_id, metadata=metadata, fields=fields, errors=errors
    )
    if flag("overwrite", overwrite):
        requests = [upload_requests.over_existing(session, request) for request in requests]
    common = {"mime_type": mime_type, "convert_to": convert_to, "ocr_language": ocr_language}
    return _run_uploads(session, schema, requests, bodies, batch, "upload", common, keeps_media=upload_type == "media")


def _run_uploads(
    session: Session,
    schema: Schema,
    requests: Sequence[UploadRequest],
    bodies: RowBodies,
    batch: Batch,
    function: str,
    common: Mapping[str, Any],
    *,
    keeps_media: bool = False,
) -> DataFrame:
    alone = len(requests) == 1
    operation = RowOperation(
        schema,
        partial(upload_requests.send_upload, alone=alone),
        known=lambda row: {"id": row.file_id or row.generated_id, "name": row.name},
        title=f"Upload {requests[0].name}" if alone else "Upload",
        size=lambda row: row.source.size,
        continue_hint="upload the other files again to go on",
    )
    if batch.is_direct(requests):
        return run_alone(operation, requests[0], session, batch.progress)
    for request in requests if batch.resume is not None else ():
        if request.source.identity() is None:  # a later call could not tell whether the source is the same
            raise ValueError(f"resume needs paths or bytes, and {request.name!r} is a file object or has no known size")
    resumable: Resumable[UploadRequest] = Resumable(
        function,
        {**{snake(key): value for key, value in bodies.shared.items()}, **common},
        identity=partial(upload_requests.upload_identity, bodies.own_keys),
        with_id=partial(with_generated_id, session) if function == "upload" else None,
        needs_id=lambda row: not (keeps_media or row.file_id or row.generated_id or row.upload_type == "resumable"),
        repeat=partial(upload_requests.repeat_upload, alone=alone),
        is_done=lambda row, record: upload_requests.is_current(
            session, record, row.source.status_changed, row.source.path
        ),
    )
    return run(replace(operation, resumable=resumable), requests, session, batch)


def update(
    file: File,
    source: Sources | None = None,
    *,
    mime_type: Column[str] | None = None,
    ocr_language: str | None = None,
    upload_type: str = "auto",
    chunk_size: int | str | None = None,
    metadata: Column[Mapping[str, Any]] | None = None,
    progress: Progress = None,
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    resume: Resume = None,
    session: SessionLike = None,
    **fields: Any,
) -> DataFrame:
    """Change the metadata of files, their content, or both.

    Args:
        file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
        source: The new content, as for `upload`, for all files, or a list with the content of each file. None keeps the
            content. For a native document, the source is converted and replaces everything in the document. A
            DataFrame is written in the format of the file.
        mime_type: The media type of `source`, or without `source` the media type to set. None takes the type from the
            extension of a path or of a new `name`. Without such an extension the file keeps its media type.
        metadata: The fields to change as a dict, or a list with a dict for each file.
        ocr_language: The language of text in pictures in `source`, as for `upload`.
        upload_type, chunk_size, progress: The same as for `upload`.
        workers, executor, errors: The threads or the executor, and what happens with an error, as for `upload`.
        resume: The name of a ledger, with which the same call again does only the other rows.
        **fields: Fields to change, like `name="b.csv"`, `starred=True`, `properties={"lab": "7"}`. A list or Series has
            a value for each file, like `name=rows["name"] + ".txt"`. A missing value in it changes nothing.

    Returns:
        One row for each file, with the columns of `files()`, each other field that was set, and outcome, error (str),
        attempts (Int64), seconds (Float64).

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        ImportError: A package that writes the format of a DataFrame is missing.
        NotFound: The file does not exist, or this user may not see it.
        BadRequest: The file is a native document, and the source cannot be converted to its type.

    See tests/rules.csv (U-05b, A1 to A5).

    >>> lab = svc.sandbox()
    >>> file = svc.upload(b"draft", name="draft.txt")
    >>> svc.update(file, b"final", name="final.txt")[["name", "size"]].values.tolist()
    [['final.txt', 5]]
    >>> svc.update(file, description="the last one")["description"].item()
    'the last one'
    >>> pair = svc.upload([b"1", b"2"], name=["a", "b"])
    >>> svc.update(pair, name=pair["name"].str.upper())["name"].tolist()
    ['A', 'B']
    """

    session = session_or_current(session)
    ids, batch = files_at(session, file), Batch(workers, executor, errors, resume, progress)
    if source is not None:
        if mime_type is not None and not isinstance(mime_type, str):
            raise TypeError(f"mime_type must be a str for new content, not {type(mime_type).__name__}")
        arguments = UploadArguments(
            mime_type=mime_type, ocr_language=ocr_language, upload_type=upload_type, chunk_size=chunk_size
        )
        schema, requests, bodies = upload_requests.new_content(
            session, ids, source, arguments, metadata, fields, errors
        )
        common = {"mime_type": mime_type, "ocr_language": ocr_language}
        return _run_uploads(session, schema, requests, bodies, batch, "update", common)
    if mime_type is not None:
        fields["mime_type"] = mime_type
    bodies = row_bodies(metadata, fields, len(ids), creating=False, names=session.names)
    if ocr_language is not None:
        raise ValueError("ocr_language applies only to new content: give source too")
    if not bodies.keys:
        raise ValueError("nothing to change: give source, or fields like name=... or starred=True")
    return update_files(session, ids, bodies, batch)


def update_files(
    session: Session, ids: list[str], bodies: RowBodies, batch: Batch, function: str = "update"
) -> DataFrame:
    """Change the metadata of each file, and return the files. `function` is the public function that calls this."""
    schema = files_schema_with(bodies.keys)
    call = partial(_update_row, shared=bodies.shared, query=schema.query)
    resumable: Resumable[_UpdateRow] = Resumable(
        function, bodies.shared, identity=lambda row: [row.id, row.body] if row.body else row.id
    )
    title = function.capitalize()
    operation = RowOperation(schema, call, known=lambda row: {"id": row.id}, resumable=resumable, title=title)
    return run(operation, list(map(_UpdateRow, ids, bodies.rows)), session, batch)


class _UpdateRow(NamedTuple):
    """A file, and the fields of its metadata that other files do not share."""

    id: str
    body: FileResource


def _update_row(
    session: Session, row: _UpdateRow, report: Report, shared: FileResource, query: Mapping[str, object]
) -> Record:

    return client.update_file(session, row.id, {**shared, **row.body}, query=query)


def create_file(
    name: str | None = None,
    *,
    parent: File | None = None,
    folder: File | None = None,
    session: SessionLike = None,
    **metadata: Any,
) -> DataFrame:
    """Create a file without content, such as a folder, a shortcut, or an empty file.

    Args:
        name: The name of the file. None means "Untitled".
        folder, parent: The folder of the new file, as for `upload`. None means the top folder.
        **metadata: Further fields of the file, like `id` with an id from `generate_ids()`, or `mime_type` with a media
            type, "folder", "document", "spreadsheet", "presentation", "drawing", "script" or "shortcut".

    Returns:
        One row, with the columns of `files()` and each other field that was set.

    Raises:
        TypeError, ValueError: A field does not exist or cannot be set, or its value is not valid.
        AlreadyExists: Another file has this id.

    See tests/rules.csv (A4).

    >>> lab = svc.sandbox()
    >>> svc.create_file("Plan", mime_type="document")[["name", "mime_type"]].values.tolist()
    [['Plan', 'application/vnd.svc-apps.document']]
    """
    session = session_or_current(session)
    if name is not None:
        metadata["name"] = name
    body = metadata_body(with_parent(session, metadata, parent, folder), creating=True, names=session.names)
    schema = files_schema_with(body)
    return frame(schema, [client.create_file(session, body, query=schema.query)])


def generate_ids(count: int = 10, *, session: SessionLike = None) -> DataFrame:
    """Generate ids for new files. An upload with a generated id can be repeated and creates only one file.

    Args:
        count: The number of ids, from 1 to 1000.

    Returns:
        One row for each id: id (str).

    See tests/rules.csv (L, X-02, X-03).

    >>> lab = svc.sandbox()
    >>> len(svc.generate_ids(3))
    3
    """
    whole("count", count, 1, 1000)
    return frame(IDS, [{"id": file_id} for file_id in client.generate_ids(session_or_current(session), count)])


def file(id: File, *, fields: str | Iterable[str] | None = None, session: SessionLike = None) -> DataFrame:
    """Return the metadata of one or more files.

    Args:
        id: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
        fields: The columns to return, as names separated by commas or a list of names. "*" returns all columns, and
            None the columns of `files()`. The service computes a checksum when it is first requested.

    Returns:
        One row for each file, with the columns that `fields` selects.

    Raises:
        NotFound: The file does not exist, or this user may not see it.

    >>> lab = svc.sandbox()
    >>> made = svc.upload(b"hello", name="hello.txt")
    >>> svc.file(made, fields="name,md5_checksum").values.tolist()
    [['hello.txt', '5d41402abc4b2a76b9719d911017c592']]
    """

    session = session_or_current(session)
    schema = select_columns(fields, FILES, FILE, "a file")
    mask = "*" if schema is FILE else ",".join(schema.keys)
    call = partial(client.get_file, session, fields=mask)
    return apply_to_rows(schema, files_at(session, id, "id"), call, session, workers=None)
