"""Checks the arguments of an upload, makes its request value, and sends it if one request is enough.

media        content without metadata, in one request (A1)
multipart    metadata and content, in one request (A2)
resumable    an upload session that continues after a broken connection (A3), which resumable_upload.py runs
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b

from ...core.byte_counts import byte_count
from ...core.errors.errors import AlreadyExists, ContentMismatch, Interrupted, NotFound
from ...core.files.fields import is_media_type
from ...core.http.media_types import EXPORTS, IMPORTS, NATIVES, OCTET_STREAM, SCRIPT_TEXT, by_name
from ...core.http.messages import Body, JSONObject, Request, segment
from ...core.http.multipart import MediaType, MultipartRelated
from ...core.resources.files import File
from ...core.suggestions import nearest_name
from ...core.times import format_time
from ...core.uploads.transitions import QUANTUM
from ..files import capabilities_of, check_id, get_file, native_name
from ..json_response import read_object, read_resource
from ..retry import Retry
from ..session import JSON_TYPE, Session
from ..upload_journal import PendingUpload
from .sources import BytesSource, PathSource, Progress, SourceStream, UploadSource, open_source, own_name

# The default chunk size in bytes, which is 32 times the quantum of 256 KiB.
DEFAULT_CHUNK = 8 * 1024 * 1024

# The maximum number of bytes for which the interface recommends a single request (A1, Limits).
SIMPLE_LIMIT = 5_000_000

UPLOAD_TYPES = ("auto", "media", "multipart", "resumable")

_SENT_AT_ONCE = 65_536  # the maximum size in bytes of content in memory that is sent in one piece

# The chunk size that means a single request.
WHOLE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadArguments:
    """The unchecked arguments of an upload.

    Attributes:
        name: The name of the file. None means the name of the source.
        mime_type: The media type of the source. None detects the type from the name or the first bytes.
        metadata: Further fields, with their names in the interface.
        file_id: The id of the file whose content is replaced. None creates a file.
        upload_type: "auto", "media", "multipart" or "resumable".
        chunk_size: The bytes in each request, a multiple of 262144 ("256 KB"), or -1 for a single request. A number
            makes the upload resumable. None uses the default size.
        size: The length of a stream in bytes. None means that the length is not known.
        query: Further query parameters, such as fields.
        convert_to: The native type to which the source is converted, which is a value in CONVERT_TO or a media type.
            None means no conversion.
        ocr_language: The language of text in pictures, as a BCP 47 tag, or several tags such as "de+en". None lets the
            service choose.
    """

    name: str | None = None
    mime_type: str | None = None
    metadata: Mapping[str, object] | None = None
    file_id: str | None = None
    upload_type: str = "auto"
    chunk_size: int | str | None = None
    size: int | None = None
    query: Mapping[str, str] | None = None
    convert_to: str | None = None
    ocr_language: str | None = None


@dataclass(frozen=True, slots=True)
class UploadRequest:
    """A checked upload of a source as a new file, or as the new content of the file `file_id`.

    `media_type` is the media type of the source. `upload_type` is "media", "multipart" or "resumable". If `chunk_size`
    is None, a resumable upload sends all bytes in one request. `restartable` is False if only the session URI is known,
    because a new session would need the metadata. `keeps_type` is True if nothing names the media type of new content,
    so that the file keeps its own.
    """

    source: UploadSource
    media_type: str
    metadata: JSONObject = field(default_factory=dict)
    file_id: str | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    upload_type: str = "resumable"
    chunk_size: int | None = DEFAULT_CHUNK
    restartable: bool = True
    keeps_type: bool = False

    @property
    def name(self) -> str:
        """The display name, which is the name of the file, else the name of the source, else "bytes"."""
        return str(self.metadata.get("name") or self.source.name or "bytes")

    def method(self, session: Session) -> str:
        """Return the HTTP method, which is POST for a new file and usually PUT for an existing file (U-05)."""
        return "POST" if self.file_id is None else session.names.update_method

    @property
    def generated_id(self) -> str | None:
        """The id that the caller chose for a new file, or None if the service chooses the id."""
        file_id = self.metadata.get("id") if self.file_id is None else None
        return file_id if isinstance(file_id, str) else None

    def url(self, session: Session, upload_type: str) -> str:
        """Return the upload URL with the parameter uploadType and the parameters in `query`."""
        segments = ["files"] if self.file_id is None else ["files", segment(self.file_id)]
        return session.url(session.names.upload_path(*segments), {"uploadType": upload_type, **self.query})

    def initiation(self, session: Session) -> Request:
        """Return the request that opens a resumable upload session (A3)."""
        body = json.dumps(self.metadata, ensure_ascii=False).encode() if self.metadata else b""
        pairs = [("X-Upload-Content-Type", self.media_type)]
        if self.source.size is not None:
            pairs.append(("X-Upload-Content-Length", str(self.source.size)))
        if body:
            pairs.append(("Content-Type", JSON_TYPE))
        pairs.append(("Content-Length", str(len(body))))
        return Request(self.method(session), self.url(session, "resumable"), session.headers(*pairs), body)

    def journal_key(self, session: Session) -> str | None:
        """Return the key of this upload in the journal, equal in every run, or None if the source is a file object."""
        mark = self.source.path or self.source.fingerprint()
        if mark is None:
            return None
        parts = [session.base_url, self.file_id, self.media_type, self.metadata, dict(self.query), mark]
        return blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()

    def journal_entry(self, session: Session, key: str, session_uri: str) -> PendingUpload:
        """Return the journal entry of this upload, with the URI of its open session."""
        return PendingUpload(
            key=key,
            session_uri=session_uri,
            base_url=session.base_url,
            source=self.source.path,
            fingerprint=self.source.fingerprint() or "",
            total=self.source.size,
            chunk_size=self.chunk_size,
            media_type=self.media_type,
            file_id=self.file_id,
            metadata=self.metadata,
            query=dict(self.query),
            started=format_time(session.clock.now()),
        )


def check_stored_size(file: File, total: int | None) -> None:
    """Raise ContentMismatch if the answer to an upload of `total` bytes names another size."""
    if total is not None and file.get("size") not in (None, str(total)):
        raise ContentMismatch(
            f"The service stored {file['size']} bytes, but the upload has {total}.",
            advice="Do not use the stored file, and upload the content again.",
        )


# -- the type and the name of the native document to which an upload is converted (A5)


AUTO = "auto"

# The values of `convert_to`, in addition to the media types of native documents.
CONVERT_TO = (*NATIVES, AUTO)

_CODE = ("application/javascript", "application/x-javascript")
_EXTENSIONS = frozenset(
    {extension for row in IMPORTS for extension in row.extensions} | {row.extension for row in EXPORTS}
)


_OTHER_NAMES = {
    name: native
    for native, names in {
        "document": "doc docs docx gdoc google_doc text word",
        "drawing": "image picture svg",
        "presentation": "powerpoint ppt pptx slide slides",
        "spreadsheet": "csv excel sheet sheets table xls xlsx",
    }.items()
    for name in names.split()
}


def native_type(session: Session, convert_to: object, source_type: str) -> str:
    """Return the media type of the native document to which `convert_to` converts a source.

    Raises TypeError unless `convert_to` is a str, ValueError for an unknown type, or for "auto" without a match.
    """
    if not isinstance(convert_to, str):
        raise TypeError(f"convert_to must be one of {', '.join(CONVERT_TO)}, not {type(convert_to).__name__}")
    if convert_to == AUTO:
        return _matching_native_type(session, source_type)
    native = session.names.full_media_type(convert_to, "convert_to")
    if is_document(session, native):
        return native
    near = _OTHER_NAMES.get(convert_to.lower()) or nearest_name(convert_to, CONVERT_TO)
    hint = f"; did you mean {near!r}?" if near else ""
    raise ValueError(f"convert_to must be one of {', '.join(CONVERT_TO)}, not {convert_to!r}{hint}")


def is_document(session: Session, media_type: str) -> bool:
    """Return True for the media type of a native document, such as a spreadsheet, but not of a folder."""
    prefix = session.names.media_prefix
    return media_type.startswith(prefix) and media_type.removeprefix(prefix) in NATIVES


def _matching_native_type(session: Session, source_type: str) -> str:
    """Return the first native type to which a source can be converted. Raises ValueError without such a type."""
    essence = MediaType.parse(source_type).essence
    possible = capabilities_of(session).imports.get(essence, ())
    if not possible:
        hint = "import_formats() lists the types"
        raise ValueError(f"convert_to is 'auto', but {essence} cannot be converted here; {hint}")
    order = [session.names.native(native) for native in NATIVES]
    return min(possible, key=lambda native: order.index(native) if native in order else len(order))


def source_type(session: Session, native: str, detected: str) -> str:
    """Return the media type to send for a source of type `detected`. Script text has its own type (A5)."""
    is_code = detected.startswith("text/") or detected in _CODE
    if native_name(session.names, native) == "script" and is_code:
        return session.names.media_type(SCRIPT_TEXT)
    return detected


def document_name(name: str) -> str:
    """Return a file name without the extension of an import or export format. Other names are unchanged.

    >>> document_name("report.docx"), document_name("version 1.2"), document_name(".html")
    ('report', 'version 1.2', '.html')
    """
    stem, dot, extension = name.rpartition(".")
    return stem if dot and stem and extension.lower() in _EXTENSIONS else name


# -- checks


def check_chunk_size(size: int | str | None) -> int | None:
    """Return the chunk size in bytes, the default for None, or None for -1 (a single request).

    Raises TypeError unless an int or a text such as "256 KB", and ValueError with the nearest sizes unless a multiple
    of 262144 (A3-24).

    >>> check_chunk_size(300_000)
    Traceback (most recent call last):
    ValueError: chunk_size 300000 is not a multiple of 262144 (256 KiB); use 262144 or 524288
    """
    if size is None:
        return DEFAULT_CHUNK
    size = byte_count(size)
    if isinstance(size, bool) or not isinstance(size, int):
        given = repr(size) if isinstance(size, str) else type(size).__name__
        raise TypeError(f"chunk_size must be a number of bytes, such as 262144 or '256 KB', not {given:.60}")
    if size == WHOLE:
        return None
    if size <= 0 or size % QUANTUM:
        below = max(size - size % QUANTUM, QUANTUM)
        near = f"{below} or {below + QUANTUM}" if size > QUANTUM else str(QUANTUM)
        raise ValueError(f"chunk_size {size} is not a multiple of {QUANTUM} (256 KiB); use {near}")
    return size


def prepare(session: Session, source: object, arguments: UploadArguments) -> UploadRequest:
    """Check the source and arguments of an upload, choose the upload type, and return an UploadRequest.

    Raises TypeError or ValueError for an invalid argument, and OSError if the source cannot be read.
    """
    upload_type, convert_to = arguments.upload_type, arguments.convert_to
    if upload_type not in UPLOAD_TYPES:
        raise ValueError(f"upload_type must be one of {', '.join(UPLOAD_TYPES)}, not {upload_type!r}")
    if arguments.chunk_size is not None and upload_type in ("media", "multipart"):
        hint = f"leave chunk_size out for {upload_type} uploads"
        raise ValueError(f"chunk_size applies only to resumable uploads; {hint}")
    chunk_size = check_chunk_size(arguments.chunk_size)
    metadata = _read_metadata(arguments)
    if upload_type == "media" and (metadata or convert_to is not None):
        hint = "leave name, metadata and convert_to out, or use multipart"
        raise ValueError(f"a media upload carries no metadata; {hint}")
    opened = open_source(source, name=arguments.name, size=arguments.size)
    mime_type = arguments.mime_type
    if mime_type is not None:
        _check_media_type(session, mime_type)
    # `name` may be the name of the converted document, so the media type follows from the source's own name.
    own_type = by_name(own_name(source) or "") if convert_to is not None else OCTET_STREAM
    media_type = mime_type or (opened.media_type if own_type in (None, OCTET_STREAM) else own_type)
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
        upload_type = "multipart" if metadata else "media"
        if arguments.chunk_size is not None or opened.size is None or opened.size > SIMPLE_LIMIT:
            upload_type = "resumable"
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
        declares = f"metadata has the mimeType {declared}"
        raise ValueError(f"convert_to means {target_type}, but {declares}; leave out one of the two")
    if not (isinstance(target_type, str) and is_document(session, target_type)):
        return media_type, metadata
    return source_type(session, target_type, media_type), {**metadata, "mimeType": target_type}


def _type_by_names(request: UploadRequest) -> UploadRequest:
    """Return an upload of new content with the media type that the source's name or else the file's new name means."""
    names = (request.source.name, request.metadata.get("name"))
    known = [media_type for name in names if (media_type := by_name(str(name or ""))) not in (None, OCTET_STREAM)]
    if "mimeType" in request.metadata:
        return request
    return replace(request, media_type=known[0]) if known else replace(request, keeps_type=True)


# -- one request


def with_stored_type(session: Session, request: UploadRequest) -> UploadRequest:
    """Return an upload with the media type of the file that gets new content, if the content has no type of its own.

    Content of a native document is converted, so its type is still detected. Raises SvcError if the file's metadata
    cannot be read.
    """
    if not request.keeps_type:
        return request
    stored = str(get_file(session, str(request.file_id), fields="mimeType").get("mimeType") or OCTET_STREAM)
    is_kept = stored != OCTET_STREAM and not session.names.is_native(stored)
    return replace(request, media_type=stored if is_kept else request.media_type, keeps_type=False)


def send_once(session: Session, request: UploadRequest, progress: Progress | None) -> File:
    """Send a media or multipart upload, repeated after a failure if safe, and return the file's metadata."""
    if request.keeps_type:
        request = with_stored_type(session, request)
    identifier = request.file_id or request.generated_id
    attempts = Retry(session, repeatable=bool(identifier))
    try:
        answer = read_object(attempts.run(partial(_single_request, session, request, progress)), session.base_url)
        file = read_resource(answer, File, session.base_url, request.query.get("fields"), identifier=identifier)
        check_stored_size(file, request.source.size)
        return _with_checksum(session, file, request.source)
    except (AlreadyExists, Interrupted) as error:  # also of a stream that cannot be read again
        readable = not request.source.lowest
        if request.generated_id is None or not attempts.uncertain or (readable and isinstance(error, Interrupted)):
            raise
        try:
            return get_file(session, request.generated_id, fields=request.query.get("fields"))
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
