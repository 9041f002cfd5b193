"""Prepares and runs uploads of files, folders and DataFrames, for `upload`, `update` and the upload form (A1 to A5)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from ...client.files import ROOT, get_file, list_files, native_name
from ...client.uploads.idempotent_creation import compare_content, find_or_upload
from ...client.uploads.resumable_upload import ClientUpload
from ...client.uploads.sources import BytesSource, UnreadableSource, is_stream, open_source, own_name
from ...client.uploads.tree_upload import BESIDE, TreeFile, TreeUpload, new_content_of, upload_tree_file
from ...client.uploads.upload_request import SIMPLE_LIMIT, UploadArguments, UploadRequest, prepare, send_once
from ...client.uploads.uploads import resumable
from ...core.errors.errors import BadRequest, SvcError, UnverifiedUploadWarning, warn_caller
from ...core.files.query import quote
from ...core.http.media_types import CSV, IMPORTS, OCTET_STREAM, SNIFFED_BYTES, XLSX
from ...core.http.multipart import MediaType
from ...local.tree import HIDDEN, LocalTree, list_tree, names_tree
from ..arguments import Column, Source, Sources, flag, is_frame, is_table, names_for, sources
from ..batch.batch import ROW_ERRORS, Batch, Errors, Report, Resumable, RowOperation, run
from ..display import listed, share_text, size_text
from ..frames import FILES, TREE_FILES, UPLOADS, Record, Schema
from ..tables.formats import (
    BY_NAME,
    GZIP,
    GZIP_EXTENSION,
    TableFormat,
    check_extension,
    format_of_file,
    format_of_name,
    format_of_type,
)
from ..tables.write_table import write_table
from .metadata import RowBodies, files_schema_with, row_bodies

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ...core.resources.files import File


_CSV = BY_NAME["csv"]


def content_of(
    source: Any, name: str | None, mime_type: str | None, *, converted: bool = False
) -> tuple[Any, str | None]:
    """Return the content of an upload source and its media type, None to detect the type.

    A DataFrame becomes the bytes of a file in the format that `mime_type` or the extension of `name` means, else CSV.
    A dict of DataFrames becomes a workbook, and so does a DataFrame that the service converts, because its cells have
    types. `name` then names the spreadsheet. Raises ImportError or ValueError if it cannot be written in this format,
    and TypeError for a Series.
    """
    if not (is_table(source) if isinstance(source, Mapping) else is_frame(source)):
        pandas = sys.modules.get("pandas")
        if pandas is not None and isinstance(source, pandas.Series):
            raise TypeError(
                "source must not be a Series: give source.to_frame() to upload a table, or list(source) if it has paths"
            )
        return source, mime_type
    by_type = format_of_type(mime_type) if isinstance(mime_type, str) else None
    by_name = BY_NAME["xlsx"] if converted else format_of_name(name or "")
    if not mime_type and not by_name:
        check_extension(name or "")
    table_format = by_type or by_name or (_CSV if is_frame(source) else BY_NAME["xlsx"])
    is_gzip = bool(by_name) and not converted and str(name).lower().endswith(GZIP_EXTENSION)
    compressed = mime_type in (None, GZIP) and is_gzip
    media_type = mime_type or (GZIP if compressed else table_format.media_type(None if converted else name))
    return write_table(source, table_format, compressed=compressed), media_type


def new_contents(
    session: Session, ids: Iterable[str], source: Any, name: str | None, mime_type: str | None
) -> Iterator[tuple[str, Any, str | None]]:
    """Return an iterator over the ids of stored files, each with its new content and media type as in `content_of`.

    A DataFrame gets the format of the stored file, if neither `mime_type` nor the new name means another.
    """
    if not is_table(source) or mime_type or format_of_name(name or ""):
        content, media_type = content_of(source, name, mime_type)
        yield from ((file_id, content, media_type) for file_id in ids)
        return
    written: dict[tuple[str, str], bytes] = {}
    for file_id in ids:
        table_format, media_type = _stored_format(session, file_id)
        key = (table_format.name, media_type)
        if key not in written:
            written[key] = write_table(source, table_format, compressed=media_type == GZIP)
        yield file_id, written[key], media_type


def _stored_format(session: Session, file_id: str) -> tuple[TableFormat, str]:
    """Return the format and the media type of new content for a stored file, which are CSV if the file is no table."""
    try:
        facts = get_file(session, file_id, fields="name,mimeType")
    except SvcError:  # the upload has the same error, in the row of its file
        return _CSV, CSV
    name, stored_type = str(facts.get("name")), MediaType.parse(str(facts.get("mimeType"))).essence
    if stored_type == session.names.native("spreadsheet"):
        return BY_NAME["xlsx"], XLSX
    table_format = format_of_file(stored_type, name)
    if table_format is None:
        check_extension(name)
        return _CSV, CSV
    if stored_type == GZIP or format_of_type(stored_type) is table_format:
        return table_format, stored_type
    return table_format, GZIP if name.lower().endswith(GZIP_EXTENSION) else table_format.media_type(name)


def stored_text(upload: ClientUpload) -> str:
    return f"{share_text(upload.stored, upload.total)} are stored"


# The key in the record of an uploaded file for the time of the last change of its source in nanoseconds.
SOURCE_TIME = "sourceStatusChanged"


def new_files(
    session: Session,
    source: Sources,
    arguments: UploadArguments,
    *,
    name: Column[str] | None = None,
    file_id: Column[str] | None = None,
    metadata: Column[Mapping[str, Any]] | None = None,
    fields: Mapping[str, Any] = MappingProxyType({}),
    errors: Errors = None,
) -> tuple[Schema, list[UploadRequest], RowBodies]:
    """Return the schema of the result, and a prepared upload of a new file with its metadata for each source.

    Arguments and errors are the same as for `upload`.
    """

    contents = [content for item in sources(source) for content in _matches(item)]
    if len(contents) > 1:
        _check_streams(contents)
    if is_frame(file_id) and [*file_id] == ["id"]:  # of generate_ids()
        file_id = file_id["id"]
    if is_frame(file_id) or isinstance(file_id, Mapping):
        raise TypeError("file_id is the id of a new file, or a list of ids; update(file, source) changes a file")
    if isinstance(file_id, str) and len(contents) != 1:
        raise ValueError(f"file_id is for one source, but source has {len(contents)} sources; give a list of ids")
    if file_id is not None:
        fields = {**fields, "id": file_id}
    names = names_for(len(contents), name)
    bodies = row_bodies(metadata, fields, len(contents), creating=True, names=session.names, row="source")
    keys, rows = bodies.keys, []
    query = files_schema_with(keys).query
    if slashed := next((title for title in names if title and "/" in title), None):
        above, _, last = slashed.rpartition("/")
        warn_caller(
            f"name {slashed!r} is one name with slashes, not a path; folder={above!r}, name={last!r} is in a folder"
        )
    for n, (item, title) in enumerate(zip(contents, names, strict=True)):
        body = bodies.body(n)
        converted = bool(arguments.convert_to) or session.names.is_native(str(body.get("mimeType")))
        content, media_type = content_of(item, title or body.get("name"), arguments.mime_type, converted=converted)
        own = replace(arguments, metadata=body, query=query, name=title, mime_type=media_type)
        rows.append((content, own))
    return files_schema_with(keys, UPLOADS), _prepare_rows(session, rows, errors), bodies


def _prepare_rows(session: Session, rows: Iterable[tuple[Any, UploadArguments]], errors: Errors) -> list[UploadRequest]:
    """Return a prepared upload for each content.

    With errors="return", a content that cannot be opened becomes a row that fails. Otherwise raises one OSError for all
    of them.
    """
    requests, unreadable = [], list[OSError]()
    for content, arguments in rows:
        try:
            requests.append(prepare(session, content, arguments))
        except OSError as error:
            unreadable.append(error)
            requests.append(prepare(session, UnreadableSource(own_name(content), error), arguments))
    if errors == "return" or not unreadable:
        return requests
    if len(unreadable) == 1:
        raise unreadable[0]
    kind = FileNotFoundError if isinstance(unreadable[0], FileNotFoundError) else OSError
    texts = listed(unreadable, 10, "; ")
    raise kind(f"{len(unreadable)} sources cannot be read, and nothing was sent: {texts}")


def _matches(source: Source) -> list[Source]:
    """Return the files that match a URL with wildcards, or else the source itself."""
    from ...local.tree import UrlFile, is_url

    return [*UrlFile(source).matches()] if isinstance(source, str) and "*" in source and is_url(source) else [source]


def new_content(
    session: Session,
    ids: Sequence[str],
    source: Sources,
    arguments: UploadArguments,
    metadata: Column[Mapping[str, Any]] | None = None,
    fields: Mapping[str, Any] = MappingProxyType({}),
    errors: Errors = None,
) -> tuple[Schema, list[UploadRequest], RowBodies]:
    """Return the schema of the result, and a prepared upload of new content with its metadata for each file id.

    Arguments and errors are the same as for `update`.
    """

    contents = sources(source)
    if len(contents) not in (1, len(ids)):
        raise ValueError(f"source has {len(contents)} sources for {len(ids)} files; give one, or one for each file")
    if len(ids) > 1:
        _check_streams(contents * len(ids) if len(contents) == 1 else contents)
    bodies = row_bodies(metadata, fields, len(ids), creating=False, names=session.names)
    schema = files_schema_with(bodies.keys)
    common = replace(arguments, metadata=bodies.shared, query=schema.query)
    if any(map(is_table, contents)):
        prepare(session, b"", common)  # raises for an argument that is not valid before anything is sent
    if len(contents) == 1 and "name" not in bodies.own_keys:
        written = new_contents(session, ids, contents[0], bodies.shared.get("name"), arguments.mime_type)
    else:
        each = contents if len(contents) > 1 else contents * len(ids)
        written = (
            content
            for n, (file_id, item) in enumerate(zip(ids, each, strict=True))
            for content in new_contents(session, [file_id], item, bodies.body(n).get("name"), arguments.mime_type)
        )
    rows = (
        (content, replace(common, file_id=file_id, mime_type=media_type, metadata=bodies.body(n)))
        for n, (file_id, content, media_type) in enumerate(written)
    )
    return schema, _prepare_rows(session, rows, errors), bodies


def _check_streams(contents: Sequence[object]) -> None:
    """Raise ValueError if a stream is the content of several files, because it can be read only once."""

    streams = [id(content) for content in contents if is_stream(content)]
    if len(set(streams)) < len(streams):
        raise ValueError("source is a stream for several files, and can be read only once; give a path or bytes")


def upload_identity(own_keys: Iterable[str], request: UploadRequest) -> list[object]:
    """Return what identifies an upload in a ledger: its source, its name, and the file that gets new content.

    `own_keys` are the keys of the fields that have a value for each row.
    """
    own = {key: request.metadata.get(key) for key in sorted({*own_keys} - {"name"})}
    return [request.source.identity(), request.metadata.get("name"), request.file_id, *([own] if own else [])]


def is_current(session: Session, record: Record, status_changed: int | None, path: object) -> bool:
    """Return False if the file at `path` has other content than at its upload, with the same size and times.

    The content is compared only if the time `status_changed` is another one than in the record.
    """
    if record.get(SOURCE_TIME) in (None, status_changed):
        return True

    is_same, reason = compare_content(session, cast("File", record), open_source(path))
    if is_same is None:
        text = f"{record.get('name')!r} was uploaded before, and its source may have changed since: {reason}"
        warn_caller(text, UnverifiedUploadWarning)
    return is_same is not False


def send_upload(session: Session, request: UploadRequest, report: Report, *, alone: bool) -> Record:
    """Run an upload and return the record of the file. `alone` is False for one of several uploads of a call."""
    if isinstance(request.source, UnreadableSource):
        request.source.read(0, 1)  # raises its error before a session is opened
    upload = resumable(session, request, report) if request.upload_type == "resumable" else None
    try:
        file = upload.run() if upload else send_once(session, request, report)
    except KeyboardInterrupt as interrupt:
        text = "the upload was stopped; files() shows whether the file is stored"
        if upload and upload.session_uri and not upload.resumes_later:
            text = f"{stored_text(upload)}; an upload from a stream cannot go on in another call; give a path or bytes"
        elif upload:
            again = "run the cell again to go on" if alone else f"upload {request.name!r} again to go on with it"
            text = f"{stored_text(upload)}; {again}"
        interrupt.args = (text,)
        raise
    except BadRequest as refused:
        native = native_name(session.names, str(request.metadata.get("mimeType")))
        formats = [row.extensions[0] for row in IMPORTS if row.native == native and row.extensions and not row.extended]
        if formats and "cannot be converted to" in refused.message:
            refused.advice = f"A {native} can be made from {', '.join(formats)}; import_formats() lists all types."
        raise
    if (
        request.media_type == OCTET_STREAM
        and session.names.is_native(str(file.get("mimeType")))
        and isinstance(request.source, BytesSource)
        and _HTML.match(request.source.read(0, SNIFFED_BYTES))
    ):
        warn_caller("source looks like HTML, but was converted as plain text; give mime_type='text/html'")
    return {**file, SOURCE_TIME: request.source.status_changed}


_HTML = re.compile(rb"\s*<(!doctype html|html|head|body|h[1-6]|p|div|ul|ol|table)\b", re.IGNORECASE)


def repeat_upload(session: Session, request: UploadRequest, report: Report, *, alone: bool) -> Record:
    """Return the record of the file that an earlier call may have created, before it was stopped, or else upload it."""

    send = partial(send_upload, session, request, report, alone=alone)
    return {**find_or_upload(session, request, cast(Any, send)), SOURCE_TIME: request.source.status_changed}


# The maximum number of files that are uploaded from folders without `recursive=True`.
MAX_FILES = 1000


def has_tree(source: object) -> bool:
    """Return True if a source, or one in a list of sources, is the path of a folder or a pattern with wildcards."""

    return any(names_tree(path) for path in sources(source) if isinstance(path, str | os.PathLike))


def local_trees(
    source: Any, name: object, recursive: bool | None, *, include_hidden: bool
) -> tuple[str, list[LocalTree]]:
    """Return a title and the trees of the folders and patterns that `upload` got. Arguments and errors are the same."""
    paths = sources(source)
    if name is not None and (len(paths) != 1 or not isinstance(name, str)):
        folder = next(path for path in paths if isinstance(path, str | os.PathLike) and names_tree(path))
        raise ValueError(
            f"name is for one file or folder, but source has {len(paths)}, among them the folder or pattern {folder!r}"
        )
    if others := [type(member).__name__ for member in paths if not isinstance(member, str | os.PathLike)]:
        raise ValueError(f"source mixes folders with {others[0]}; upload them in two calls")
    trees = [list_tree(path, name=name, include_hidden=include_hidden) for path in paths]
    title = os.fspath(source) if isinstance(source, str | os.PathLike) else f"{len(trees)} sources"
    if recursive is not None and not flag("recursive", recursive):
        raise ValueError(f"source {title!r} is a folder or a pattern, and recursive is False")
    if recursive is None and (count := sum(len(tree.files) for tree in trees)) > MAX_FILES:
        raise ValueError(
            f"source {title!r} has {count:,} files ({size_text(sum(tree.size for tree in trees))});"
            f" give recursive=True to upload more than {MAX_FILES:,}. Nothing was sent"
        )
    return title, trees


def upload_trees(
    session: Session, title: str, trees: list[LocalTree], arguments: UploadArguments, batch: Batch, *, overwrite: bool
) -> DataFrame:
    """Upload folders and patterns, with the same metadata for each file. Return one row for each file."""
    body: Any = arguments.metadata
    if of_one_file := next((key for key in ("name", "id") if key in body), None):
        raise ValueError(f"metadata has {of_one_file}, which is for one file, and source is a folder or a pattern")
    top = (body.get("parents") or [ROOT])[0]
    schema = files_schema_with(body)
    others = files_schema_with(body, UPLOADS).columns[len(FILES.columns) :]
    columns = Schema(TREE_FILES.columns + others)  # the fields that were set come last
    upload = TreeUpload(session, top, replace(arguments, query=schema.query), overwrites=overwrite)
    entries = [entry for tree in trees for entry in tree.skipped]
    if skipped := [f"{path} ({reason})" for path, reason in entries]:
        hint = "; include_hidden=True uploads hidden files" if any(reason == HIDDEN for _, reason in entries) else ""
        warn_caller(f"not uploaded: {listed(skipped)}{hint}")
    for tree in trees:
        for folder in tree.folders:
            upload.folder(folder)
    files = [file for tree in trees for file in tree.files]
    if batch.executor is not None:  # the current folder of another process may be another one
        files = [replace(file, path=file.path.absolute()) for file in files]
    rows = [upload.plan(file) for file in files]
    resumable: Resumable[TreeFile] = Resumable(
        "upload",
        {**body, "convert_to": arguments.convert_to, "mime_type": arguments.mime_type, "name": arguments.name},
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
        continue_hint="run the cell again to go on",
    )
    result = run(operation, rows, session, batch)
    if beside := result.loc[result["outcome"] == BESIDE, "path"].tolist():
        warn_caller(
            f"files of these names have other content, and stay beside the new ones: {listed(beside)}"
            "; overwrite=True replaces their content"
        )
    return result


def over_existing(session: Session, request: UploadRequest) -> UploadRequest:
    """Return the request as the new content of the file that has its name in its folder, or unchanged without one.

    Raises ValueError for several files of this name.
    """
    metadata: Any = request.metadata
    name, (parent,) = metadata.get("name"), metadata.get("parents") or [ROOT]
    folder_type = quote(session.names.native("folder"))
    query = f"name = {quote(str(name))} and {quote(str(parent))} in parents and trashed = false"
    files = [*list_files(session, q=f"{query} and mimeType != {folder_type}", fields="id")] if name else []
    if len(files) > 1:
        ids = listed(file["id"] for file in files)
        raise ValueError(f"name is {name!r}, the name of {len(files)} files; update(id, source) replaces one of {ids}")
    return new_content_of(files[0]["id"], request) if files else request


def _upload_row(session: Session, row: TreeFile, report: Report, *, repeated: bool = False) -> Record:

    status_changed = None if row.file.error else row.file.path.stat().st_ctime_ns
    file, outcome = upload_tree_file(session, row, report, repeated=repeated)
    return {**file, "path": str(row.file.relative), "outcome": outcome, SOURCE_TIME: status_changed}


def _identity(row: TreeFile) -> list[object]:
    """Return what identifies a file in a ledger: its paths, its size and its modification time."""
    path = row.file.path.absolute()
    modified = None if row.file.error else path.stat().st_mtime_ns
    return [str(path), str(row.file.relative), row.file.size, modified]
