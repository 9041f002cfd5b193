"""Checks the arguments of an upload, chooses the upload type and runs the upload.

media        content without metadata, in one request (A1)
multipart    metadata and content, in one request (A2)
resumable    an upload session that continues after a broken connection (A3)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from ...core.errors.errors import AlreadyExists, Interrupted, NotFound, SourceChanged
from ...core.files.fields import is_media_type
from ...core.http.messages import Body, JSONObject, Request
from ...core.http.mime import UNKNOWN, by_name
from ...core.http.multipart import MultipartRelated
from ...core.http.native_formats import NATIVES
from ...core.resources.files import File
from ...core.uploads.states import QUANTUM
from ..files import check_id, get_file
from ..json_response import read_object, read_resource
from ..session import Session
from ..transport.foreign_urls import is_web_address
from ..transport.retry import Retry
from .request import (
    DEFAULT_CHUNK,
    UploadArguments,
    UploadRequest,
    check_stored_size,
    document_name,
    is_document,
    native_type,
    source_type,
)
from .resumable_upload import ClientUpload
from .sources import BytesSource, PathSource, Progress, SourceStream, UploadSource, open_source, own_name

SIMPLE_LIMIT = 5_000_000
"""The maximum number of bytes for which the interface recommends a single request (A1, Limits)."""

UPLOAD_TYPES = ("auto", "media", "multipart", "resumable")

_SENT_AT_ONCE = 65_536
"""The maximum size in bytes of content in memory that is sent in one piece."""

WHOLE = -1
"""The chunk size that means a single request."""


def upload(session: Session, source: object, *, progress: Progress | None = None, **arguments: Any) -> File:
    """Upload a source as a new file, or as the new content of the file `file_id`, and return the file's metadata.

    `source` is a path, bytes or a binary file object. `arguments` are the fields of `UploadArguments`. `progress` is
    called with (bytes sent, size or None). Repeat an interrupted call to resume a resumable upload.

    Raises TypeError or ValueError for an invalid argument before anything is sent, OSError if the source cannot be
    read, and SvcError if the upload fails.
    """
    return execute(session, prepare(session, source, UploadArguments(**arguments)), progress)


def start_upload(
    session: Session, source: object, *, progress: Progress | None = None, **arguments: Any
) -> ClientUpload:
    """Open a new resumable upload session and return the upload, without sending content. Arguments as in `upload`."""
    request = with_stored_type(session, prepare(session, source, UploadArguments(upload_type="resumable", **arguments)))
    key = request.journal_key(session)
    claim = session.pending.claim(key) if key else None
    return ClientUpload(session, request, progress=progress, claim=claim).begin()


def resume_upload(session: Session, session_uri: str, source: object, *, chunk_size: int | None = None) -> ClientUpload:
    """Return an upload that continues an open session with `.run()` or `.resume()`.

    These methods open an expired session again if the journal has the metadata, or raise SessionExpired. Raises
    ValueError if `session_uri` is not a web address, SourceChanged if the source differs from the journal. They raise
    SourceChanged if the stored file has other content than the source.
    """
    if not is_web_address(session_uri):
        raise ValueError("session_uri must be a web address; give the attribute session_uri of the upload")
    entry = session.pending.by_uri(session_uri)
    opened = open_source(source)
    opened.keep_digests()
    chunk = check_chunk_size(chunk_size)
    if entry is None:
        request = UploadRequest(opened, opened.media_type, chunk_size=chunk, restartable=False)
        return ClientUpload(session, request, session_uri=session_uri)
    if opened.fingerprint() != entry.fingerprint:
        raise SourceChanged(f"{entry.name} has changed since its upload began on {entry.started}.")
    request = UploadRequest(opened, entry.media_type, entry.metadata, entry.file_id, entry.query, chunk_size=chunk)
    return ClientUpload(session, request, session_uri=session_uri, claim=session.pending.claim(entry.key))


def execute(session: Session, request: UploadRequest, progress: Progress | None = None) -> File:
    """Send a prepared upload and return the file's metadata."""
    if request.upload_type == "resumable":
        return resumable(session, request, progress).run()
    return send_once(session, request, progress)


def with_stored_type(session: Session, request: UploadRequest) -> UploadRequest:
    """Return an upload with the media type of the file that gets new content, if the content has no type of its own.

    Content of a native document is converted, so its type is still detected. Raises SvcError if the file's metadata
    cannot be read.
    """
    if not request.keeps_type:
        return request
    stored = str(get_file(session, str(request.file_id), fields="mimeType").get("mimeType") or UNKNOWN)
    is_kept = stored != UNKNOWN and not session.names.is_native(stored)
    return replace(request, media_type=stored if is_kept else request.media_type, keeps_type=False)


def resumable(session: Session, request: UploadRequest, progress: Progress | None) -> ClientUpload:
    """Return the resumable upload for a request. An unfinished session in the journal is continued."""
    request = with_stored_type(session, request)
    key = request.journal_key(session)
    claim = session.pending.claim(key) if key else None
    entry = claim.entry if claim else None
    matches = entry is not None and entry.fingerprint == request.source.fingerprint()
    uri = entry.session_uri if entry is not None and matches else None
    return ClientUpload(session, request, session_uri=uri, progress=progress, claim=claim)


# -- checks


def check_chunk_size(size: int | None) -> int | None:
    """Return the chunk size in bytes, the default for None, or None for -1 (a single request).

    Raises TypeError unless an int, ValueError with the nearest sizes unless a multiple of 262144 (A3-24).

    >>> check_chunk_size(300_000)
    Traceback (most recent call last):
    ValueError: chunk_size 300000 is not a multiple of 262144 (256 KiB); use 262144 or 524288
    """
    if size is None:
        return DEFAULT_CHUNK
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError(f"chunk_size must be a number of bytes, not {type(size).__name__}")
    if size == WHOLE:
        return None
    if size <= 0 or size % QUANTUM:
        below = max(size - size % QUANTUM, QUANTUM)
        near = f"{below} or {below + QUANTUM}" if size > QUANTUM else str(QUANTUM)
        raise ValueError(f"chunk_size {size} is not a multiple of {QUANTUM} (256 KiB); use {near}")
    return size


def choose_upload_type(size: int | None, *, has_metadata: bool) -> str:
    """Return "media", "multipart" or "resumable" for a content size in bytes. None means unknown (A1-05).

    >>> choose_upload_type(5_000_000, has_metadata=False), choose_upload_type(5_000_001, has_metadata=True)
    ('media', 'resumable')
    """
    if size is None or size > SIMPLE_LIMIT:
        return "resumable"
    return "multipart" if has_metadata else "media"


def prepare(session: Session, source: object, arguments: UploadArguments) -> UploadRequest:
    """Check the source and arguments of an upload, choose the upload type, and return an UploadRequest.

    Raises TypeError or ValueError for an invalid argument, and OSError if the source cannot be read.
    """
    upload_type, convert_to = arguments.upload_type, arguments.convert_to
    if upload_type not in UPLOAD_TYPES:
        raise ValueError(f"upload_type must be one of {', '.join(UPLOAD_TYPES)}, not {upload_type!r}")
    if arguments.chunk_size is not None and upload_type in ("media", "multipart"):
        raise ValueError(
            f"chunk_size applies only to resumable uploads; leave chunk_size out for {upload_type} uploads"
        )
    chunk_size = check_chunk_size(arguments.chunk_size)
    metadata = _read_metadata(arguments)
    if upload_type == "media" and (metadata or convert_to is not None):
        raise ValueError(
            "a media upload carries no metadata; leave name, metadata and convert_to out, or use multipart"
        )
    opened = open_source(source, name=arguments.name, size=arguments.size)
    mime_type = arguments.mime_type
    if mime_type is not None:
        _check_media_type(session, mime_type)
    # `name` may be the name of the converted document, so the media type follows from the source's own name.
    own_type = by_name(own_name(source) or "") if convert_to is not None else UNKNOWN
    media_type = mime_type or (opened.media_type if own_type in (None, UNKNOWN) else own_type)
    media_type, metadata = _apply_conversion(session, metadata, convert_to, media_type)
    converted = is_document(session, str(metadata.get("mimeType")))
    if upload_type != "media" and arguments.file_id is None and opened.name and "name" not in metadata:
        metadata["name"] = document_name(opened.name) if converted else opened.name
    query = dict(arguments.query or {})
    if arguments.ocr_language is not None:
        if arguments.file_id is None and not converted:
            raise ValueError("ocr_language applies only to converted content; give convert_to='document' too")
        if not isinstance(arguments.ocr_language, str):
            raise TypeError(
                f"ocr_language must be a language tag like 'de', not {type(arguments.ocr_language).__name__}"
            )
        query["ocrLanguage"] = arguments.ocr_language
    file_id = None if arguments.file_id is None else check_id(arguments.file_id)
    if upload_type == "auto":
        chosen = choose_upload_type(opened.size, has_metadata=bool(metadata))
        upload_type = chosen if arguments.chunk_size is None else "resumable"
    request = UploadRequest(opened, media_type, metadata, file_id, query, upload_type, chunk_size)
    return request if file_id is None or mime_type is not None else _type_by_names(request)


def _check_media_type(session: Session, mime_type: object) -> None:
    """Raise ValueError unless `mime_type` is a media type that a source can have."""
    if mime_type in NATIVES:
        raise ValueError(f"mime_type is {mime_type!r}; give convert_to={mime_type!r} to convert the source")
    if not (isinstance(mime_type, str) and is_media_type(mime_type)):
        raise ValueError(f"mime_type is {mime_type!r}; it must have the form type/subtype, such as text/csv")
    session.names.full_media_type(mime_type)  # raises for the media type of another brand


def _read_metadata(arguments: UploadArguments) -> JSONObject:
    name, metadata = arguments.name, arguments.metadata
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name must be a str, not {type(name).__name__}")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise TypeError(f"metadata must be a dict of the file's fields, not {type(metadata).__name__}")
    try:
        content: JSONObject = json.loads(json.dumps(dict(metadata or {})))
    except (TypeError, ValueError) as error:
        raise TypeError(f"metadata cannot be sent as JSON: {error}") from None
    return content if name is None else {**content, "name": name}


def _apply_conversion(
    session: Session, metadata: JSONObject, convert_to: object, media_type: str
) -> tuple[str, JSONObject]:
    """Return the media type of the content, and the metadata with the native type as mimeType.

    Without a conversion, both are unchanged. Raises ValueError if `convert_to` and the metadata differ.
    """
    declared = metadata.get("mimeType")
    target_type = declared if convert_to is None else native_type(session, convert_to, media_type)
    if declared not in (None, target_type):
        raise ValueError(
            f"convert_to means {target_type}, but metadata has the mimeType {declared}; leave out one of the two"
        )
    if not (isinstance(target_type, str) and is_document(session, target_type)):
        return media_type, metadata
    return source_type(session, target_type, media_type), {**metadata, "mimeType": target_type}


def _type_by_names(request: UploadRequest) -> UploadRequest:
    """Return an upload of new content with the media type that the source's name or else the file's new name means."""
    names = (request.source.name, request.metadata.get("name"))
    known = [media_type for name in names if (media_type := by_name(str(name or ""))) not in (None, UNKNOWN)]
    if "mimeType" in request.metadata:
        return request
    return replace(request, media_type=known[0]) if known else replace(request, keeps_type=True)


# -- one request


def send_once(session: Session, request: UploadRequest, progress: Progress | None) -> File:
    """Send a media or multipart upload, repeated after a failure if safe, and return the file's metadata."""
    if request.keeps_type:
        request = with_stored_type(session, request)
    identifier = request.file_id or request.chosen_id
    attempts = Retry(session, repeatable=bool(identifier))
    try:
        answer = read_object(attempts.run(partial(_single_request, session, request, progress)), session.base_url)
        file = read_resource(answer, File, session.base_url, request.query.get("fields"), identifier=identifier)
        check_stored_size(file, request.source.size)
        return file if request.file_id else _with_checksum(session, file, request.source)
    except (AlreadyExists, Interrupted) as error:  # also of a stream that cannot be read again
        readable = not request.source.lowest
        if request.chosen_id is None or not attempts.uncertain or (readable and isinstance(error, Interrupted)):
            raise
        try:
            return get_file(session, request.chosen_id, fields=request.query.get("fields"))
        except NotFound:
            raise error from None
    finally:
        request.source.close()


def _with_checksum(session: Session, file: File, source: UploadSource) -> File:
    """Return the metadata of a new file with the MD5 checksum of its source, so that a download can compare it.

    The service is not asked for the checksum, because it would have to read the content again.
    """
    if isinstance(source, BytesSource | PathSource) and not session.names.is_native(str(file.get("mimeType"))):
        with suppress(OSError, ValueError):  # the path has gone, or the system has no MD5
            return {"md5Checksum": source.digest("md5") or "", **file}
    return file


def _single_request(session: Session, request: UploadRequest, progress: Progress | None) -> Request:
    """Return the request of a media upload (A1), or of a multipart upload with a random boundary (A2).

    The body is bytes if the content is in memory and short. A body of unknown size has chunked coding (A1-03).
    """
    source, head, tail, content_type = request.source, b"", b"", request.media_type
    if source.lowest:
        raise Interrupted("The upload failed, and the source is a stream that cannot be read again.")
    if request.upload_type != "media":
        boundary = f"{session.random.getrandbits(128):032x}"
        related = MultipartRelated.of(request.metadata, request.media_type, boundary=boundary)
        head, tail, content_type = related.head, related.tail, related.content_type
    length = ("Transfer-Encoding", "chunked")
    if source.size is not None:
        length = ("Content-Length", str(len(head) + source.size + len(tail)))
    body: Body | bytes
    if not isinstance(source, BytesSource) or source.size > _SENT_AT_ONCE:
        body = SourceStream(source, 0, source.size, progress, head=head, tail=tail)
    else:
        body = head + source.read(0, source.size) + tail
        if progress is not None:
            progress(source.size, source.size)
    headers = session.headers(("Content-Type", content_type), length)
    return Request(request.method(session), request.url(session, request.upload_type), headers, body)
