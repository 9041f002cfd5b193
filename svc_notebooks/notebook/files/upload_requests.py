"""Prepares and runs uploads for `upload`, `update` and the upload form (A1 to A5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from ...core.errors.caller_warning import warn_caller
from ...core.errors.errors import UnverifiedUploadWarning
from ..arguments import is_frame, names_for, sources
from ..byte_sizes import share_text
from .frame_content import content_of, new_contents
from .metadata import files_schema_with, metadata_body

if TYPE_CHECKING:
    from ...client.session import Session
    from ...client.uploads.request import UploadArguments, UploadRequest
    from ...client.uploads.resumable_upload import ClientUpload
    from ...core.resources.files import File
    from ..arguments import Source, Sources
    from ..batch.workers import Report
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


SOURCE_TIME = "sourceStatusChanged"
"""The key in the record of an uploaded file for the time of the last change of its source in nanoseconds."""


def new_files(
    session: Session,
    source: Sources,
    arguments: UploadArguments,
    *,
    name: str | Sequence[str] | None = None,
    file_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> tuple[Schema, list[UploadRequest]]:
    """Return the schema of the result, and a prepared upload of a new file for each source.

    Arguments and errors are the same as for `upload`.
    """
    from ...client.uploads.prepare import prepare

    contents = [content for item in sources(source) for content in _matches(item)]
    _check_streams(contents)
    if file_id is not None and len(contents) != 1:
        raise ValueError(f"file_id is for one source, but source has {len(contents)} sources; leave file_id out")
    chosen_id = {} if file_id is None else {"id": file_id}
    body = metadata_body({**(metadata or {}), **chosen_id}, creating=True, names=session.names)
    names = names_for(len(contents), name)
    schema = files_schema_with(body)
    common = replace(arguments, metadata=body, query=schema.query)
    converted = bool(arguments.convert_to) or session.names.is_native(str(body.get("mimeType")))
    requests = []
    for item, title in zip(contents, names, strict=True):
        content, media_type = content_of(item, title or body.get("name"), arguments.mime_type, converted=converted)
        requests.append(prepare(session, content, replace(common, name=title, mime_type=media_type)))
    return schema, requests


def _matches(source: Source) -> list[Source]:
    """Return the files that match a URL with wildcards, or else the source itself."""
    from ...local.url_files import UrlFile, is_url

    return [*UrlFile(source).matches()] if is_url(source) and "*" in source else [source]


def new_content(
    session: Session,
    ids: Sequence[str],
    source: Source,
    arguments: UploadArguments,
    metadata: Mapping[str, Any] | None = None,
) -> tuple[Schema, list[UploadRequest]]:
    """Return the schema of the result, and a prepared upload of new content for each file id.

    Arguments and errors are the same as for `update`.
    """
    from ...client.uploads.prepare import prepare

    contents = sources(source)
    if len(contents) != 1:
        raise ValueError(f"source has {len(contents)} sources; update() needs exactly one source for all files")
    _check_streams(contents * len(ids))
    body = metadata_body(metadata, creating=False, names=session.names)
    schema = files_schema_with(body)
    common = replace(arguments, metadata=body, query=schema.query)
    if is_frame(contents[0]):
        prepare(session, b"", common)  # raises for an argument that is not valid before anything is sent
    written = new_contents(session, ids, contents[0], body.get("name"), arguments.mime_type)
    return schema, [
        prepare(session, content, replace(common, file_id=file_id, mime_type=media_type))
        for file_id, content, media_type in written
    ]


def _check_streams(contents: Sequence[object]) -> None:
    """Raise ValueError if a stream is the content of several files, because it can be read only once."""
    from ...client.uploads.open_source import is_stream

    streams = [id(content) for content in contents if is_stream(content)]
    if len(set(streams)) < len(streams):
        raise ValueError("source is a stream for several files, and can be read only once; give a path or bytes")


def check_resumable(requests: Sequence[UploadRequest]) -> None:
    """Raise ValueError if a later call could not tell whether a source is the same."""
    for request in requests:
        if request.source.identity() is None:
            raise ValueError(f"resume needs paths or bytes, and {request.name!r} is a file object or has no known size")


def upload_identity(request: UploadRequest) -> list[object]:
    """Return what identifies an upload in a ledger: its source, its name, and the file that gets new content."""
    return [request.source.identity(), request.metadata.get("name"), request.file_id]


def is_current(session: Session, record: Record, status_changed: int | None, path: object) -> bool:
    """Return False if the file at `path` has other content than at its upload, with the same size and times.

    The content is compared only if the time `status_changed` is another one than in the record.
    """
    if record.get(SOURCE_TIME) in (None, status_changed):
        return True
    from ...client.uploads.chosen_id import compare_content
    from ...client.uploads.open_source import open_source

    is_same, reason = compare_content(session, cast("File", record), open_source(path))
    if is_same is None:
        text = f"{record.get('name')!r} was uploaded before, and its source may have changed since: {reason}"
        warn_caller(text, UnverifiedUploadWarning)
    return is_same is not False


def send_upload(session: Session, request: UploadRequest, report: Report, *, alone: bool) -> Record:
    """Run an upload and return the record of the file. `alone` is False for one of several uploads of a call."""
    from ...client.uploads.prepare import resumable, send_once

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
    from ...client.uploads.chosen_id import find_or_upload

    send = partial(send_upload, session, request, report, alone=alone)
    return {**find_or_upload(session, request, cast(Any, send)), SOURCE_TIME: request.source.status_changed}


def _how_to_go_on(upload: ClientUpload, *, alone: bool) -> str:
    if not upload.resumes_later:
        return "an upload from a stream cannot go on in another call; give a path or bytes"
    return "run the cell again to go on" if alone else f"upload {upload.request.name!r} again to go on with it"
