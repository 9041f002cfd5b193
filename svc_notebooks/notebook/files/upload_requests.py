"""Prepares and runs uploads for `upload`, `update` and the upload form (A1 to A5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from ...client.uploads.chosen_id import compare_content, find_or_upload
from ...client.uploads.open_source import is_stream, open_source, own_name
from ...client.uploads.prepare import prepare, resumable, send_once
from ...client.uploads.sources import UnreadableSource
from ...core.errors.caller_warning import warn_caller
from ...core.errors.errors import UnverifiedUploadWarning
from ..arguments import is_frame, names_for, sources
from ..batch.batch import Errors, Report
from ..byte_sizes import share_text
from .frame_content import content_of, new_contents
from .metadata import RowBodies, files_schema_with, row_bodies

if TYPE_CHECKING:
    from ...client.session import Session
    from ...client.uploads.request import UploadArguments, UploadRequest
    from ...client.uploads.resumable_upload import ClientUpload
    from ...core.resources.files import File
    from ..arguments import Column, Source, Sources
    from ..frames.frames import Record, Schema


@contextmanager
def explaining_interrupt(explain: Callable[[], str]) -> Iterator[None]:
    """Set the message of a KeyboardInterrupt in the block to the result of `explain`."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        interrupt.args = (explain(),)
        raise


def stored_text(upload: ClientUpload) -> str:
    return f"{share_text(upload.stored, upload.total)} are stored"


_MAX_NAMED = 10

SOURCE_TIME = "sourceStatusChanged"
"""The key in the record of an uploaded file for the time of the last change of its source in nanoseconds."""


def new_files(
    session: Session,
    source: Sources,
    arguments: UploadArguments,
    *,
    name: Column[str] | None = None,
    file_id: Column[str] | None = None,
    metadata: Column[Mapping[str, Any]] | None = None,
    errors: Errors = None,
) -> tuple[Schema, list[UploadRequest], RowBodies]:
    """Return the schema of the result, and a prepared upload of a new file with its metadata for each source.

    Arguments and errors are the same as for `upload`.
    """

    contents = [content for item in sources(source) for content in _matches(item)]
    _check_streams(contents)
    if is_frame(file_id) or isinstance(file_id, Mapping):
        raise TypeError("file_id is the id of a new file, or a list of ids; update(file, source) changes a file")
    if isinstance(file_id, str) and len(contents) != 1:
        raise ValueError(f"file_id is for one source, but source has {len(contents)} sources; give a list of ids")
    chosen_id = {} if file_id is None else {"id": file_id}
    names = names_for(len(contents), name)
    bodies = row_bodies(metadata, chosen_id, len(contents), creating=True, names=session.names, row="source")
    schema = files_schema_with(bodies.keys)
    rows = []
    if slashed := next((title for title in names if title and "/" in title), None):
        above, _, last = slashed.rpartition("/")
        warn_caller(
            f"name {slashed!r} is one name with slashes, not a path; folder={above!r}, name={last!r} is in a folder"
        )
    for n, (item, title) in enumerate(zip(contents, names, strict=True)):
        body = bodies.body(n)
        converted = bool(arguments.convert_to) or session.names.is_native(str(body.get("mimeType")))
        content, media_type = content_of(item, title or body.get("name"), arguments.mime_type, converted=converted)
        own = replace(arguments, metadata=body, query=schema.query, name=title, mime_type=media_type)
        rows.append((content, own))
    return schema, _prepare_rows(session, rows, errors), bodies


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
    more = f"; and {len(unreadable) - _MAX_NAMED} more" if len(unreadable) > _MAX_NAMED else ""
    texts = "; ".join(map(str, unreadable[:_MAX_NAMED]))
    raise kind(f"{len(unreadable)} sources cannot be read, and nothing was sent: {texts}{more}")


def _matches(source: Source) -> list[Source]:
    """Return the files that match a URL with wildcards, or else the source itself."""
    from ...local.url_files import UrlFile, is_url

    return [*UrlFile(source).matches()] if is_url(source) and "*" in source else [source]


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
    _check_streams(contents * len(ids) if len(contents) == 1 else contents)
    bodies = row_bodies(metadata, fields, len(ids), creating=False, names=session.names)
    schema = files_schema_with(bodies.keys)
    common = replace(arguments, metadata=bodies.shared, query=schema.query)
    if any(map(is_frame, contents)):
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


def check_resumable(requests: Sequence[UploadRequest]) -> None:
    """Raise ValueError if a later call could not tell whether a source is the same."""
    for request in requests:
        if request.source.identity() is None:
            raise ValueError(f"resume needs paths or bytes, and {request.name!r} is a file object or has no known size")


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
    if request.upload_type == "resumable":
        upload = resumable(session, request, report)
        with explaining_interrupt(lambda: f"{stored_text(upload)}; {_how_to_go_on(upload, alone=alone)}"):
            file = upload.run()
    else:
        with explaining_interrupt(lambda: "the upload was stopped; files() shows whether the file is stored"):
            file = send_once(session, request, report)
    return {**file, SOURCE_TIME: request.source.status_changed}


def repeat_upload(session: Session, request: UploadRequest, report: Report, *, alone: bool) -> Record:
    """Return the record of the file that an earlier call may have created, before it was stopped, or else upload it."""

    send = partial(send_upload, session, request, report, alone=alone)
    return {**find_or_upload(session, request, cast(Any, send)), SOURCE_TIME: request.source.status_changed}


def _how_to_go_on(upload: ClientUpload, *, alone: bool) -> str:
    if not upload.resumes_later:
        return "an upload from a stream cannot go on in another call; give a path or bytes"
    return "run the cell again to go on" if alone else f"upload {upload.request.name!r} again to go on with it"
