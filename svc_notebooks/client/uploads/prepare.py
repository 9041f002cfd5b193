"""Uploads as a person asks for them: the kind is chosen, everything is checked, then bytes leave.

media        content alone, one request (A1)
multipart    metadata and content, one request (A2)
resumable    a session that survives what connections do (A3)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from ...core.errors.errors import AlreadyExists, Interrupted, SourceChanged
from ...core.files.fields import is_media_type
from ...core.http.messages import Headers, JSONObject, Request
from ...core.http.mime import UNKNOWN, by_name
from ...core.http.multipart import MultipartRelated
from ..files import checked_id, get_file
from ..session import Session, read_object
from ..transport.retry import Retry
from ..upload_journal import JournalLock, PendingUpload
from .bodies import Progress, SourceStream
from .native_types import document_name, is_document, native_type, source_type
from .sources import SourceFailed, UploadSource, open_source, own_name
from .upload import ClientUpload, checked_chunk
from .upload_target import UploadTarget, length_headers

SIMPLE_LIMIT = 5_000_000
"""Up to so many bytes the interface recommends a single request (A1, Limits)."""

UPLOAD_TYPES = ("auto", "media", "multipart", "resumable")


def choose_upload_type(size: int | None, *, has_metadata: bool) -> str:
    """The upload type for a content of this size (A1-05); None, a size that is not known, is resumable.

    >>> choose_upload_type(5_000_000, has_metadata=False), choose_upload_type(5_000_001, has_metadata=True)
    ('media', 'resumable')
    """
    if size is None or size > SIMPLE_LIMIT:
        return "resumable"
    return "multipart" if has_metadata else "media"


def upload(
    session: Session,
    source: object,
    *,
    name: str | None = None,
    mime_type: str | None = None,
    metadata: Mapping[str, object] | None = None,
    file_id: str | None = None,
    upload_type: str = "auto",
    chunk_size: int | None = None,
    size: int | None = None,
    query: Mapping[str, str] | None = None,
    convert_to: str | None = None,
    ocr_language: str | None = None,
    progress: Progress | None = None,
) -> JSONObject:
    """Upload a source as a new file, or with `file_id` as the content of one; the file's metadata.

    `source` is a path, bytes or a binary file object (`size` in bytes may tell that of a stream); `name` is
    the source's own unless given; `mime_type` is the type of the bytes; `metadata` has wire names; `query`
    adds parameters (fields). `convert_to` makes a native document of it: one of its words or its media type, or
    auto; `ocr_language` is that of text in pictures. `chunk_size` is in bytes, a multiple of 262144, or -1 for
    one request; giving one means a resumable upload. `progress` is called with (bytes sent, size or None).

    The same call after an interruption goes on where the resumable upload stopped, in this process or another.

    Raises TypeError and ValueError before anything is sent, OSError for a source that cannot be read, SvcError.
    """
    order = prepare(
        session,
        source,
        name=name,
        mime_type=mime_type,
        metadata=metadata,
        file_id=file_id,
        upload_type=upload_type,
        chunk_size=chunk_size,
        size=size,
        query=query,
        convert_to=convert_to,
        ocr_language=ocr_language,
    )
    return execute(session, order, progress)


def execute(session: Session, order: UploadRequest, progress: Progress | None = None) -> JSONObject:
    """Do what `prepare` has checked; the file's metadata."""
    if order.upload_type == "resumable":
        return resumable(session, order, progress).run()
    return _in_one_request(session, order, progress)


def start_upload(
    session: Session,
    source: object,
    *,
    name: str | None = None,
    mime_type: str | None = None,
    metadata: Mapping[str, object] | None = None,
    file_id: str | None = None,
    chunk_size: int | None = None,
    size: int | None = None,
    query: Mapping[str, str] | None = None,
    convert_to: str | None = None,
    ocr_language: str | None = None,
    progress: Progress | None = None,
) -> ClientUpload:
    """Open a resumable upload to be stepped by hand: its session exists, no byte is sent.

    Arguments and errors are those of `upload`. It is a new session even where an unfinished one is pending.
    """
    order = prepare(
        session,
        source,
        name=name,
        mime_type=mime_type,
        metadata=metadata,
        file_id=file_id,
        upload_type="resumable",
        chunk_size=chunk_size,
        size=size,
        query=query,
        convert_to=convert_to,
        ocr_language=ocr_language,
    )
    return _upload(session, order, _claim(session, order), None, progress).begin()


def resume_upload(
    session: Session,
    session_uri: str,
    source: object,
    *,
    chunk_size: int | None = None,
    size: int | None = None,
    progress: Progress | None = None,
) -> ClientUpload:
    """Take up a session that this or another process began; nothing is sent until `.resume()` or `.run()`.

    A session that is gone is begun anew where the journal knows it; elsewhere nobody knows its name and metadata, and
    it is SessionExpired. Raises SourceChanged when the journal knows the session and the source is not the one it began
    with.
    """
    if not isinstance(session_uri, str) or urlsplit(session_uri).scheme not in ("http", "https"):
        raise ValueError("session_uri is no web address; give the one that the upload's session has")
    entry = session.pending.by_uri(session_uri)
    opened = open_source(source, size=size)
    if entry is None:
        target = UploadTarget(opened.media_type, whole=False)
        chunk = checked_chunk(chunk_size)
        return ClientUpload(session, opened, target, chunk_size=chunk, session_uri=session_uri, progress=progress)
    return _continue_session(session, entry, opened, checked_chunk(chunk_size), progress)


def _continue_session(
    session: Session,
    entry: PendingUpload,
    source: UploadSource,
    chunk_size: int | None,
    progress: Progress | None,
) -> ClientUpload:
    if source.fingerprint() != entry.fingerprint:
        raise SourceChanged(f"{entry.name} is not what its upload began with on {entry.started}.")
    target = UploadTarget(entry.media_type, entry.metadata, entry.file_id, entry.query)
    order = UploadRequest(source, target, "resumable", chunk_size)
    return _upload(session, order, session.pending.claim(entry.key), entry.session_uri, progress)


# -- what was asked for


@dataclass(frozen=True, slots=True)
class UploadRequest:
    """An upload that was checked and can begin."""

    source: UploadSource
    target: UploadTarget
    upload_type: str
    chunk_size: int | None


def prepare(
    session: Session,
    source: object,
    *,
    name: str | None,
    mime_type: str | None,
    metadata: Mapping[str, object] | None,
    file_id: str | None,
    upload_type: str,
    chunk_size: int | None,
    size: int | None,
    query: Mapping[str, str] | None,
    convert_to: str | None = None,
    ocr_language: str | None = None,
) -> UploadRequest:
    """Check every argument of an upload and choose its type. Raises TypeError, ValueError, OSError."""
    if upload_type not in UPLOAD_TYPES:
        raise ValueError(f"upload_type is {upload_type!r}; it may be {', '.join(UPLOAD_TYPES)}")
    if chunk_size is not None and upload_type in ("media", "multipart"):
        raise ValueError(f"chunk_size is for resumable uploads; leave it out with {upload_type}")
    chunk = checked_chunk(chunk_size)
    file_metadata = _metadata(metadata, name)
    if upload_type == "media" and (file_metadata or convert_to is not None):
        raise ValueError(
            "a media upload carries no metadata; leave name, metadata and convert_to out, or use multipart"
        )
    opened = open_source(source, name=name, size=size)
    media_type = _media_type(mime_type) or _own_type(source, convert_to) or opened.media_type
    media_type, file_metadata = _conversion(session, file_metadata, convert_to, media_type)
    if upload_type != "media" and file_id is None and opened.name and "name" not in file_metadata:
        file_metadata["name"] = document_name(opened.name) if _is_conversion(session, file_metadata) else opened.name
    if ocr_language is not None and file_id is None and not _is_conversion(session, file_metadata):
        raise ValueError("ocr_language is for content that is converted; give convert_to='document' too")
    target = UploadTarget(
        media_type,
        file_metadata,
        None if file_id is None else checked_id(file_id),
        {**(query or {}), **_language(ocr_language)},
    )
    if upload_type == "auto":
        chosen = choose_upload_type(opened.size, has_metadata=bool(file_metadata))
        upload_type = chosen if chunk_size is None else "resumable"
    return UploadRequest(opened, target, upload_type, chunk)


def _own_type(source: object, convert_to: object) -> str | None:
    """The type that a source's own name tells, where the name that it is given is that of a document."""
    detected = by_name(own_name(source) or "") if convert_to is not None else None
    return None if detected == UNKNOWN else detected


def _conversion(session: Session, metadata: JSONObject, convert_to: object, media_type: str) -> tuple[str, JSONObject]:
    """The type to send content under, and the metadata that say what it shall become."""
    declared = metadata.get("mimeType")
    target_type = declared if convert_to is None else native_type(session, convert_to, media_type)
    if declared not in (None, target_type):
        raise ValueError(f"convert_to asks for {target_type}, and metadata for {declared}; leave one of them out")
    if not (isinstance(target_type, str) and is_document(session, target_type)):
        return media_type, metadata
    return source_type(session, target_type, media_type), {**metadata, "mimeType": target_type}


def _is_conversion(session: Session, metadata: JSONObject) -> bool:
    return is_document(session, str(metadata.get("mimeType")))


def _language(ocr_language: object) -> dict[str, str]:
    if ocr_language is not None and not isinstance(ocr_language, str):
        raise TypeError(f"ocr_language must be a language tag like 'de', not {type(ocr_language).__name__}")
    return {} if ocr_language is None else {"ocrLanguage": ocr_language}


def _metadata(metadata: Mapping[str, object] | None, name: str | None) -> JSONObject:
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name is {type(name).__name__}; give a str")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise TypeError(f"metadata is {type(metadata).__name__}; give a dict of the file's fields")
    try:
        content: JSONObject = json.loads(json.dumps(dict(metadata or {})))
    except (TypeError, ValueError) as error:
        raise TypeError(f"metadata cannot be sent as JSON: {error}") from None
    return content if name is None else {**content, "name": name}


def _media_type(mime_type: str | None) -> str | None:
    if mime_type is not None and not (isinstance(mime_type, str) and is_media_type(mime_type)):
        raise ValueError(f"mime_type is {mime_type!r}; write it as type/subtype, for example text/csv")
    return mime_type


# -- one request


def _in_one_request(session: Session, order: UploadRequest, progress: Progress | None) -> JSONObject:
    target = order.target
    attempts = Retry(session, repeatable=bool(target.file_id or target.chosen_id))
    make_request = {"media": media_request, "multipart": multipart_request}[order.upload_type]
    try:
        return read_object(attempts.run(lambda: make_request(session, _check_rewindable(order), progress)))
    except SourceFailed as failed:
        raise failed.error from None
    except AlreadyExists as error:
        if target.chosen_id is None or not attempts.made_before(error):
            raise
        return get_file(session, target.chosen_id, fields=target.query.get("fields"))
    finally:
        order.source.close()


def _check_rewindable(order: UploadRequest) -> UploadRequest:
    if order.source.lowest:
        raise Interrupted("The upload failed, and its source is a stream that cannot be read again.")
    return order


def media_request(session: Session, order: UploadRequest, progress: Progress | None = None) -> Request:
    """A simple upload (A1); a stream of unknown size is sent in the chunked coding, without Content-Length."""
    size = order.source.size
    url, headers = order.target.media(session, size)
    body = SourceStream(order.source, 0, size, progress)
    return Request(order.target.method, url, headers, body)


def multipart_request(session: Session, order: UploadRequest, progress: Progress | None = None) -> Request:
    """Metadata and content in one body (A2).

    The boundary has 128 random bits, so that it is not in the content; looking would mean to read it twice.
    """
    target, size = order.target, order.source.size
    boundary = f"{session.random.getrandbits(128):032x}"
    related = MultipartRelated.of(target.metadata, target.media_type, boundary=boundary)
    length = length_headers(None if size is None else related.length(size))
    headers: Headers = session.headers(("Content-Type", related.content_type), *length)
    body = SourceStream(order.source, 0, size, progress, head=related.head, tail=related.tail)
    return Request(target.method, target.url(session, "multipart"), headers, body)


# -- many requests


def resumable(session: Session, order: UploadRequest, progress: Progress | None) -> ClientUpload:
    """The upload, taken up where an earlier run of the same call was interrupted."""
    claim = _claim(session, order)
    entry = claim.entry if claim else None
    if entry is None or entry.fingerprint != order.source.fingerprint():
        return _upload(session, order, claim, None, progress)
    return _upload(session, order, claim, entry.session_uri, progress)


def _claim(session: Session, order: UploadRequest) -> JournalLock | None:
    """Its place in the journal; None for a source that cannot be recognised, or when another has it."""
    mark = order.source.path or order.source.fingerprint()
    return session.pending.claim(order.target.key(session.base_url, mark)) if mark else None


def _upload(
    session: Session,
    order: UploadRequest,
    claim: JournalLock | None,
    session_uri: str | None,
    progress: Progress | None,
) -> ClientUpload:
    return ClientUpload(
        session,
        order.source,
        order.target,
        chunk_size=order.chunk_size,
        session_uri=session_uri,
        progress=progress,
        claim=claim,
    )
