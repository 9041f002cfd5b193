"""Handles simple and multipart uploads, which send a file in one request (A1, A2)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from ...core.errors.catalogue import refuse
from ...core.files.fields import FILE_FIELDS, check_file, is_media_type
from ...core.http.media_types import SNIFFED_BYTES, detect
from ...core.http.messages import Headers, JSONObject, Query, Response
from ...core.http.multipart import MediaType, MultipartDecoder, MultipartError, PartBegins, PartData, boundary_of
from ..dispatch.requests_and_responses import parse_json
from ..dispatch.service_context import RequestContext, ServiceContext
from ..files import file_operations
from ..files.access import check_right, file_for
from ..files.conversion import ConversionRequest, conversion_for, convert, too_large
from ..files.metadata import check_new
from ..store.blob_store import BLOCK
from ..store.contents import ContentWriter, PartRange

JSON_ESSENCE = "application/json"
_FORM_DATA = "multipart/form-data"
# The media types of a multipart upload. The interface names the first, clients of the family also send the others.
_MULTIPART = ("multipart/related", "multipart/mixed", _FORM_DATA)

_LISTS = frozenset(field.name for field in FILE_FIELDS if field.type in ("objects", "parents"))


class _ContentReceiver:
    """Writes the uploaded content to parts. As a context manager it deletes the parts if the `with` block fails."""

    def __init__(self, context: ServiceContext, user: str) -> None:
        self._context, self._user, self._limit = context, user, context.byte_limit(user)
        self.pieces: list[PartRange] = []
        self.head = b""
        self.conversion: ConversionRequest | None = None
        self.writer: ContentWriter = context.content.writer(0, self.pieces.append)

    def write(self, block: bytes) -> None:
        if len(self.head) < SNIFFED_BYTES:
            self.head += block[:SNIFFED_BYTES]
        self.writer.write(block)
        size = self.writer.end
        if self._limit is not None and size > self._limit:
            raise refuse("storageQuota", user=self._user, limit=self._limit)
        if size > self._context.policy.max_upload_size:
            raise refuse("tooLarge", limit=self._context.policy.max_upload_size)
        if self.conversion and self.conversion.limit is not None and size > self.conversion.limit:
            raise too_large(self._context, self.conversion)

    def __enter__(self) -> _ContentReceiver:
        return self

    def __exit__(self, exception_type: type[BaseException] | None, *rest: object) -> None:
        if exception_type:
            self.writer.abort()
            self._context.content.remove(self.pieces)


def simple_upload(context: ServiceContext, request: RequestContext) -> Response:
    """Store the request body as a file of the Content-Type header's media type, and return the file (A1-02)."""
    media_type = header_type(request.headers, "Content-Type")
    refuse_multipart(request.headers)
    with _ContentReceiver(context, request.caller.user) as receiver:
        fields = file_operations.response_fields(context, request)
        receiver.conversion = check_content(
            context, request, request.file_id, {}, media_type, request.journal_entry.declared
        )
        while block := request.body.read(BLOCK):
            receiver.write(block)
        with _received_content(context, request, {}, media_type, receiver) as content:
            row, old = file_operations.store_content(context, request, request.file_id, {}, content)
    file_operations.discard_contents(context, old)
    return fields.response(row)


def refuse_multipart(headers: Headers, *types: str | None) -> None:
    """Raise ApiError (400) for a multipart body, unless a type of the file is multipart, as that of a web archive."""
    sent = MediaType.parse(headers.get("Content-Type") or "")
    is_archive = any((media_type or "").lower().startswith("multipart/") for media_type in types)
    if sent.essence.startswith("multipart/") and "boundary" in sent.parameters and not is_archive:
        message = "send this body with uploadType=multipart, or as a file with resumable and X-Upload-Content-Type."
        raise refuse("invalidHeader", name="Content-Type", message=message)


def multipart(context: ServiceContext, request: RequestContext) -> Response:
    """Store the second part of a multipart body as a file, with the metadata in the first part (A2)."""
    content_type, limit = request.headers.get("Content-Type") or "", context.policy.max_metadata_size
    sent, count, text = MediaType.parse(content_type), 0, bytearray()
    metadata: JSONObject = {}
    media_type: str | None = None
    with _ContentReceiver(context, request.caller.user) as receiver:
        fields = file_operations.response_fields(context, request)
        try:
            if sent.essence not in _MULTIPART:
                raise MultipartError("Content-Type must be multipart/related.")
            decoder = MultipartDecoder(boundary_of(content_type))
            while block := request.body.read(BLOCK):
                for event in decoder.feed(block):
                    if isinstance(event, PartBegins):
                        count += 1
                        _check_part(count, event.headers)
                        if count == 2:
                            media_type = header_type(event.headers, "Content-Type")
                            metadata = parse_json(bytes(text))
                            if sent.essence == _FORM_DATA:
                                metadata = _without_lists(metadata, request.query)
                            metadata = check_file(
                                metadata, creating=not request.file_id, names=context.names, policy=context.policy
                            )
                            receiver.conversion = check_content(context, request, request.file_id, metadata, media_type)
                    elif isinstance(event, PartData) and count == 1:
                        text += event.data
                        if len(text) > limit:
                            raise refuse("metadataTooLarge", limit=limit)
                    elif isinstance(event, PartData):
                        receiver.write(event.data)
            decoder.close()
            if count != 2:
                raise MultipartError("the body must have two parts, metadata and content, not one.")
        except MultipartError as error:
            raise refuse("badMultipart", message=str(error)) from None
        with _received_content(context, request, metadata, media_type, receiver) as content:
            row, old = file_operations.store_content(context, request, request.file_id, metadata, content)
    file_operations.discard_contents(context, old)
    return fields.response(row)


def _check_part(number: int, headers: Headers) -> None:
    """Raise MultipartError for a third part, and for metadata of another type."""
    if number == 1 and MediaType.parse(headers.get("Content-Type") or JSON_ESSENCE).essence != JSON_ESSENCE:
        raise MultipartError("the first part must be the metadata, of type application/json.")
    if number > 2:
        raise MultipartError("the body must have two parts, metadata and content, not more.")


def _without_lists(metadata: JSONObject, query: Query) -> JSONObject:
    """Return metadata of clients in R, which write each value as a list, and repeat the parameters of the query."""
    return {
        name: value[0] if isinstance(value, list) and len(value) == 1 and name not in _LISTS else value
        for name, value in metadata.items()
        if name not in query
    }


def header_type(headers: Headers, name: str) -> str | None:
    """Return the media type in a header with parameters, or None if missing. Raises ApiError (400) if invalid."""
    value = (headers.get(name) or "").strip()
    if value and not is_media_type(value):
        raise refuse("invalidHeader", name=name, message="expected a media type like text/csv.")
    return value or None


def check_content(
    context: ServiceContext,
    request: RequestContext,
    file_id: str,
    metadata: JSONObject,
    media_type: str | None,
    size: int | None = None,
) -> ConversionRequest | None:
    """Check an upload before its bytes are read. Return its conversion, or None. Raises ApiError if invalid.

    `size` is the number of bytes, if it is known.
    """
    if not file_id:
        check_new(context, request.caller, metadata)
    conversion = conversion_for(context, request, file_id, metadata, media_type)
    row = file_for(context, request.caller, file_id) if file_id else None
    if row and "contentRestrictions" not in metadata:
        check_right(context, request.caller.user, row, "canModifyContent")
    file_operations.check_usage(context, row.owner if row else request.caller.user, size or 0)
    return conversion


@contextmanager
def _received_content(
    context: ServiceContext,
    request: RequestContext,
    metadata: JSONObject,
    declared_type: str | None,
    receiver: _ContentReceiver,
) -> Iterator[file_operations.NewContent]:
    """Convert the received content if necessary, and yield it to a `with` block, which is a transaction."""
    size = receiver.writer.end
    if last := receiver.writer.finish(size):
        receiver.pieces.append(last)
    name = file_name(context, request, request.file_id, metadata)
    conversion = receiver.conversion and convert(
        context, request, receiver.conversion, name or "", size, receiver.pieces
    )
    with conversion or nullcontext() as converted, context.store.transaction():
        if converted:
            yield file_operations.add_content(context, converted.pieces, None, converted.media_type)
        else:
            media_type = metadata.get("mimeType") or declared_type or detect(name, receiver.head)
            yield file_operations.add_content(context, receiver.pieces, size, str(media_type))
    if converted:
        context.content.remove(receiver.pieces)


def file_name(context: ServiceContext, request: RequestContext, file_id: str, metadata: JSONObject) -> str | None:
    """Return the name of a file after an upload, from the metadata or the existing file, or None without a name."""
    name = metadata.get("name")
    if file_id and name is None:
        return file_for(context, request.caller, file_id).name
    return name if isinstance(name, str) else None
