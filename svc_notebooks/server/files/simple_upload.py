"""Simple and multipart uploads: one request stores one file (A1, A2)."""

from __future__ import annotations

from typing import NamedTuple

from ...core.errors.catalogue import refuse
from ...core.files.fields import check_file, is_media_type
from ...core.files.permissions import Role
from ...core.http.messages import Body, Headers, JSONObject, Response
from ...core.http.mime import SNIFFED_BYTES, detect
from ...core.http.multipart import MediaType, MultipartDecoder, MultipartError, PartBegins, PartData, boundary_of
from ..blobs.blob_store import BLOCK
from ..context.responses import json_response
from ..context.service_context import RequestContext, ServiceContext
from ..storage.content_io import ContentWriter
from ..tables.contents import PartRange
from ..tables.files import FileRow
from .conversion import ConversionRequest, ConvertedContent, conversion_for, convert, too_large
from .operations import NewContent, change_file, check_response_params, parse_json, render_file
from .rows import add_file, check_new, file_for, new_row

JSON_ESSENCE = "application/json"
_PLAIN_ENCODINGS = ("", "binary", "7bit", "8bit")


class ReceivedContent(NamedTuple):
    """A content whose bytes have all come, in parts that no row refers to yet."""

    pieces: list[PartRange]
    size: int
    head: bytes


class OrphanedContent(NamedTuple):
    """A content that a file had before, and its parts."""

    number: int
    parts: list[str]


class StoredFile(NamedTuple):
    """A file that has its content now, and what it had before."""

    row: FileRow
    replaced: OrphanedContent | None


class _ContentReceiver:
    """Takes a content in; on any fault nothing of it stays."""

    def __init__(self, context: ServiceContext) -> None:
        self._context = context
        self._content = context.content
        self._pieces: list[PartRange] = []
        self._writer: ContentWriter = context.content.writer(0, self._pieces.append)
        self._head = b""
        self.conversion: ConversionRequest | None = None

    def write(self, block: bytes) -> None:
        if len(self._head) < SNIFFED_BYTES:
            self._head += block[:SNIFFED_BYTES]
        self._writer.write(block)
        if self._writer.end > self._context.policy.max_upload_size:
            raise refuse("tooLarge", limit=self._context.policy.max_upload_size)
        if self.conversion and self.conversion.limit is not None and self._writer.end > self.conversion.limit:
            raise too_large(self._context, self.conversion)

    def finish(self) -> ReceivedContent:
        size = self._writer.end
        if last := self._writer.finish(size):
            self._pieces.append(last)
        return ReceivedContent(self._pieces, size, self._head)

    def __enter__(self) -> _ContentReceiver:
        return self

    def __exit__(self, exception_type: type[BaseException] | None, *rest: object) -> None:
        if exception_type:
            self._writer.abort()
            self._content.remove(self._pieces)


def simple_upload(context: ServiceContext, request: RequestContext) -> Response:
    """uploadType=media: the body is the content, and its Content-Type the type (A1-02)."""
    _refuse_content_range(request.headers)
    media_type = header_type(request.headers, "Content-Type")
    with _ContentReceiver(context) as receiver:
        receiver.conversion = _check(context, request, {}, media_type)
        while block := request.body.read(BLOCK):
            receiver.write(block)
        row, old = _store_file(context, request, {}, media_type, receiver)
    return _response(context, request, row, old)


def multipart(context: ServiceContext, request: RequestContext) -> Response:
    """uploadType=multipart: metadata, then content, in one body (A2)."""
    _refuse_content_range(request.headers)
    with _ContentReceiver(context) as receiver:
        parts = _MultipartReceiver(context, request, receiver)
        try:
            parts.read(request.body)
        except MultipartError as error:
            raise refuse("badMultipart", message=str(error)) from None
        row, old = _store_file(context, request, parts.metadata, parts.media_type, receiver)
    return _response(context, request, row, old)


def _refuse_content_range(headers: Headers) -> None:
    """A part would be all that is left of a content that it replaces. Raises ApiError (400)."""
    if "Content-Range" in headers:
        raise refuse("invalidHeader", name="Content-Range", message="only a resumable upload takes parts of a content.")


class _MultipartReceiver:
    """The two parts of a multipart body: the first is metadata, checked before the second is taken."""

    def __init__(self, context: ServiceContext, request: RequestContext, receiver: _ContentReceiver) -> None:
        self._context = context
        self._request = request
        self._receiver = receiver
        self._json = bytearray()
        self._count = 0
        self.metadata: JSONObject = {}
        self.media_type: str | None = None

    def read(self, body: Body) -> None:
        content_type = self._request.headers.get("Content-Type") or ""
        if MediaType.parse(content_type).essence not in ("multipart/related", "multipart/mixed"):
            raise MultipartError("Content-Type must be multipart/related.")
        decoder = MultipartDecoder(boundary_of(content_type))
        while block := body.read(BLOCK):
            for event in decoder.feed(block):
                self._handle_event(event)
        decoder.close()
        if self._count != 2:
            raise MultipartError("it must have two parts, metadata and content; there is one.")

    def _handle_event(self, event: object) -> None:
        if isinstance(event, PartBegins):
            self._count += 1
            self._begin_part(event.headers)
        elif isinstance(event, PartData) and self._count == 1:
            self._json += event.data
            if len(self._json) > self._context.policy.max_metadata_size:
                raise refuse("metadataTooLarge", limit=self._context.policy.max_metadata_size)
        elif isinstance(event, PartData):
            self._receiver.write(event.data)

    def _begin_part(self, headers: Headers) -> None:
        encoding = headers.get("Content-Transfer-Encoding") or ""
        if encoding.lower() not in _PLAIN_ENCODINGS:
            raise MultipartError(f"Content-Transfer-Encoding {encoding[:40]!r}: send the bytes as they are.")
        if self._count == 1 and MediaType.parse(headers.get("Content-Type") or JSON_ESSENCE).essence != JSON_ESSENCE:
            raise MultipartError("the first part must be the metadata, of type application/json.")
        if self._count == 2:
            self._check_metadata(headers)
        if self._count > 2:
            raise MultipartError("it must have two parts, metadata and content; there are more.")

    def _check_metadata(self, headers: Headers) -> None:
        self.media_type = header_type(headers, "Content-Type")
        creating = not self._request.file_id
        self.metadata = check_file(parse_json(bytes(self._json)), creating=creating, policy=self._context.policy)
        self._receiver.conversion = _check(self._context, self._request, self.metadata, self.media_type)


def header_type(headers: Headers, name: str) -> str | None:
    """The media type in a header, parameters kept; None without one. Raises ApiError (400)."""
    value = (headers.get(name) or "").strip()
    if value and not is_media_type(value):
        raise refuse("invalidHeader", name=name, message="expected a media type like text/csv.")
    return value or None


def _check(
    context: ServiceContext, request: RequestContext, metadata: JSONObject, media_type: str | None
) -> ConversionRequest | None:
    """Refuse what will not be stored before its bytes are taken."""
    check_response_params(context, request)
    return check_content(context, request, request.file_id, metadata, media_type)


def check_content(
    context: ServiceContext, request: RequestContext, file_id: str, metadata: JSONObject, media_type: str | None
) -> ConversionRequest | None:
    """What content is to become, as the metadata, or the file that it is for, asks. Raises ApiError: it cannot."""
    if not file_id:
        check_new(context, request.caller, metadata)
    return conversion_for(context, request, file_id, metadata, media_type)


def _store_file(
    context: ServiceContext,
    request: RequestContext,
    metadata: JSONObject,
    declared_type: str | None,
    receiver: _ContentReceiver,
) -> StoredFile:
    received, name = receiver.finish(), file_name(context, request, request.file_id, metadata)
    requested_type = metadata.get("mimeType") or declared_type
    native = convert(context, request, receiver.conversion, name or "", received.size, received.pieces)
    with native as converted, context.store.transaction():
        media_type = str(requested_type or detect(name, received.head))
        content = (
            converted_content(context, converted)
            if converted
            else new_content(context, received.pieces, received.size, media_type)
        )
        stored_file = store_content(context, request, request.file_id, metadata, content)
    if converted:
        context.content.remove(received.pieces)
    return stored_file


def file_name(context: ServiceContext, request: RequestContext, file_id: str, metadata: JSONObject) -> str | None:
    """The name that a file gets, or has already; None: nobody has given one."""
    name = metadata.get("name")
    if file_id and name is None:
        return file_for(context, request.caller, file_id).name
    return name if isinstance(name, str) else None


def new_content(context: ServiceContext, pieces: list[PartRange], size: int | None, media_type: str) -> NewContent:
    """A content of these parts, inside a transaction. Raises ApiError (503): a reset has swept them away."""
    if not context.content.all_present(pieces):
        raise refuse("unavailable")
    content = NewContent(context.store.contents.begin(), size, media_type)
    for piece in pieces:
        context.store.contents.append(content.number, piece)
    return content


def converted_content(context: ServiceContext, converted: ConvertedContent) -> NewContent:
    """The content of a native document, inside a transaction."""
    return new_content(context, converted.pieces, None, converted.media_type)


def _response(context: ServiceContext, request: RequestContext, row: FileRow, old: OrphanedContent | None) -> Response:
    discard_orphaned(context, old)
    return json_response(request.query, render_file(context, request, row))


def store_content(
    context: ServiceContext, request: RequestContext, file_id: str, metadata: JSONObject, content: NewContent
) -> StoredFile:
    """Give a file its content, inside a transaction: a new one, or the one of this id."""
    if not file_id:
        check_new(context, request.caller, metadata)
        row = new_row(context, request.caller, metadata, content.media_type)
        row = row._replace(content=content.number, size=content.size)
        add_file(context, request.caller, row, metadata)
        return StoredFile(row, None)
    old = file_for(context, request.caller, file_id, Role.WRITER).content
    row = change_file(context, request, file_id, metadata, content)
    return StoredFile(row, _orphaned(context, old))


def _orphaned(context: ServiceContext, content: int | None) -> OrphanedContent | None:
    """What a file had before, unless a copy of the file has it still."""
    if content is None or context.store.files.holds(content):
        return None
    return OrphanedContent(content, context.store.contents.drop(content))


def discard_orphaned(context: ServiceContext, old: OrphanedContent | None) -> None:
    """Delete what a file had before, after the transaction."""
    if old:
        context.content.discard(old.number, old.parts)
