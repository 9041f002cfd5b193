"""Converts content to native documents (A5) and exports native documents (A7).

A native document is kept in one canonical form, as a content that nobody can download.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from ...convert.input.detect import GENERIC_TYPES, detect_source
from ...convert.job import ConversionError, JobLimits, TooLarge
from ...convert.pool.admission import Abandoned, TooManyWaiting
from ...convert.pool.converter import Client, Converter, shared
from ...core.clock import from_millis
from ...core.errors.catalogue import ApiError, refuse, row
from ...core.errors.decision_ids import FAILED_EXPORT
from ...core.files.permissions import Role
from ...core.http.messages import Disconnected, Headers, JSONObject, Response, is_gone
from ...core.http.mime import by_name
from ...core.http.multipart import MediaType
from ...core.http.native_formats import MAX_IMPORT_SIZES, PDF, TEXT
from ...core.languages import check_tag
from ...core.policy import Policy
from ..context.html import sandbox_headers
from ..context.request_journal import with_notes
from ..context.service_context import RequestContext, ServiceContext
from ..storage.content_io import END
from ..tables.contents import PartRange
from ..tables.files import FileRow
from .roles import check_can_download
from .rows import file_for, is_document, readable_file


def converter_of(policy: Policy) -> Converter:
    """What converts for a service of this policy; services of like policies share it."""
    limits = JobLimits(
        seconds=policy.conversion_seconds,
        memory=policy.conversion_memory,
        pixels=policy.max_pixels,
        pages=policy.max_pages,
        cells=policy.max_cells,
        pdf_cells=policy.max_printed_cells,
    )
    return shared(
        limits,
        extended=policy.extended_formats,
        office=policy.conversion_engine == "office",
        max_waiting=policy.max_waiting_conversions,
    )


_FIRST_DATE = datetime(1980, 1, 1, tzinfo=UTC)
"""The first date that every export format can hold; a zip can hold no earlier one."""


class ConversionRequest(NamedTuple):
    """That content become a native document: its type's last word, what the content is said to be, and whether it
    takes the place of what a document held."""

    native: str
    declared_type: str | None
    replaces: bool

    @property
    def limit(self) -> int | None:
        """The most bytes that the content may have."""
        return MAX_IMPORT_SIZES.get(self.native)


class ConvertedContent(NamedTuple):
    """What content became: parts that no row refers to yet, and their bytes in all."""

    pieces: list[PartRange]
    media_type: str


def conversion_for(
    context: ServiceContext, request: RequestContext, file_id: str, metadata: JSONObject, declared_type: str | None
) -> ConversionRequest | None:
    """Whether content is to be converted: for a file that is a native document, or that shall be one (A5-01).

    Raises ApiError (400) for what can never be, and for an ocrLanguage that is none, whatever becomes of the content.
    """
    _language(request)
    requested_type = metadata.get("mimeType")
    if file_id:
        target = file_for(context, request.caller, file_id, Role.WRITER).mime_type
    else:
        target = requested_type if isinstance(requested_type, str) else ""
    if not is_document(context, target):
        refused = next(
            (
                media_type
                for media_type in (target, requested_type, declared_type)
                if _cannot_be_content(context, media_type)
            ),
            None,
        )
        if refused:
            raise refuse("noConversion", source=_shortened(declared_type), target=refused)
        return None
    conversion = ConversionRequest(_without_prefix(context, target), declared_type, bool(file_id))
    _check_convertible(context, request, conversion, target)
    return conversion


def _cannot_be_content(context: ServiceContext, media_type: object) -> bool:
    """Folders, shortcuts and native documents are not what content can be, or be said to be."""
    special = (context.folder_type, context.shortcut_type)
    return isinstance(media_type, str) and (media_type in special or is_document(context, media_type))


def _shortened(media_type: str | None) -> str:
    return (media_type or "unknown")[:200]


def _check_convertible(
    context: ServiceContext, request: RequestContext, conversion: ConversionRequest, target: str
) -> None:
    """What is certain before the first byte has come."""
    source_type = _declared_source(context, conversion.declared_type)
    is_target = any(conversion.native in natives for natives in context.converter.imports.values())
    if not is_target or not (
        source_type in GENERIC_TYPES or context.converter.can_read(source_type, conversion.native)
    ):
        raise _cannot_convert(context, conversion.native, source_type, _shortened(conversion.declared_type))
    if (
        conversion.limit is not None
        and (request.journal_entry.declared or 0) > conversion.limit + context.policy.max_metadata_size
    ):
        raise too_large(context, conversion)


def _cannot_convert(context: ServiceContext, native: str, source_type: str | None, source: str) -> ApiError:
    """The refusal of a source that does not become this document, here or anywhere."""
    target = context.names.native(native)
    if source_type and (reason := context.converter.missing_engine_message(native, source_type, reads=True)):
        return refuse("noImportEngine", source=source, target=target, message=reason)
    return refuse("noConversion", source=source, target=target)


def too_large(context: ServiceContext, conversion: ConversionRequest) -> ApiError:
    """The refusal of content that has more bytes than one may convert."""
    return refuse("importTooLarge", target=context.names.native(conversion.native), limit=conversion.limit)


def _language(request: RequestContext) -> str | None:
    """The language of text in pictures, as ocrLanguage names it (A5-03). Raises ApiError (400)."""
    tag = request.query.get("ocrLanguage")
    try:
        return check_tag(tag) if tag else None
    except ValueError as error:
        raise refuse("invalidParameter", name="ocrLanguage", message=str(error)) from None


def _without_prefix(context: ServiceContext, media_type: str) -> str:
    return media_type.removeprefix(context.names.media_prefix)


def _declared_source(context: ServiceContext, media_type: str | None) -> str:
    """A media type as core/http/native_formats.py writes it; a vague one where none was given."""
    return _without_prefix(context, MediaType.parse(media_type).essence) if media_type else next(iter(GENERIC_TYPES))


@contextmanager
def convert(
    context: ServiceContext,
    request: RequestContext,
    conversion: ConversionRequest | None,
    name: str,
    size: int,
    pieces: Iterable[PartRange],
) -> Iterator[ConvertedContent | None]:
    """What these parts become, None where nothing is wished; it goes again if what follows fails.

    Raises ApiError (400): they cannot be converted (A5-02).
    """
    if conversion is None:
        yield None
        return
    if conversion.limit is not None and size > conversion.limit:
        raise too_large(context, conversion)
    body = _read(context, request, conversion, name, context.content.read_all(pieces))
    converted = ConvertedContent(context.content.keep(body), context.names.native(conversion.native))
    try:
        yield converted
    except BaseException:
        context.content.remove(converted.pieces)
        raise


def _read(
    context: ServiceContext, request: RequestContext, conversion: ConversionRequest, name: str, source: bytes
) -> bytes:
    source_type, target = _source_type(context, conversion, name, source), context.names.native(conversion.native)
    if source_type is None or not context.converter.can_read(source_type, conversion.native):
        raise _cannot_convert(
            context, conversion.native, source_type, source_type or _shortened(conversion.declared_type)
        )
    charset = MediaType.parse(conversion.declared_type).parameters.get("charset") if conversion.declared_type else None
    options = {"name": name, "now": context.clock.now(), "charset": charset, "ocr_language": _language(request)}
    try:
        with _conversion_errors(context):
            converted = context.converter.read(source, source_type, conversion.native, _client(request), **options)
    except ConversionError as error:
        raise refuse("notConverted", target=target, message=str(error)[:500]) from None
    request.journal_entry.decided_by = with_notes(_rule(conversion, source_type), converted.notes)
    return converted.body


def _client(request: RequestContext) -> Client:
    return Client(request.caller.user, partial(is_gone, request.body))


@contextmanager
def _conversion_errors(context: ServiceContext) -> Iterator[None]:
    """A conversion, and what is said where it was never run to its end. Raises Disconnected, ApiError (403)."""
    try:
        yield
    except Abandoned:
        raise Disconnected("the client went away while its document was converted") from None
    except TooManyWaiting:
        limited = "userRateLimit" if context.policy.rate_status == 403 else "rateLimit"
        message = f"{context.policy.max_waiting_conversions} conversions of yours wait already; try again later."
        refusal = replace(row(limited, decided_by="max_waiting_conversions"), message=message)
        raise ApiError([refusal], [("Retry-After", "1")]) from None


def _rule(conversion: ConversionRequest, source_type: str) -> str:
    if conversion.replaces:
        return "A5-04"
    return "A5-03" if source_type == PDF or source_type.startswith("image/") else "A5-01"


def _source_type(context: ServiceContext, conversion: ConversionRequest, name: str, source: bytes) -> str | None:
    """What the source is: as its sender says, else by its bytes, which leave open what kind of text it is."""
    declared = _declared_source(context, conversion.declared_type)
    if declared not in GENERIC_TYPES:
        return declared
    detected = detect_source(source, conversion.native)
    by_extension = by_name(name)
    if detected == TEXT and by_extension and context.converter.can_read(by_extension, conversion.native):
        return by_extension
    return detected


def _export_options(row: FileRow) -> dict[str, Any]:
    """An export is dated with its document, so that exports of an unchanged document are equal byte for byte."""
    return {"name": row.name, "now": max(from_millis(row.modified), _FIRST_DATE)}


def export(context: ServiceContext, request: RequestContext) -> Response:
    """A native document as a file of another format (A7)."""
    media_type = request.query.get("mimeType")
    if not media_type:
        raise refuse("requiredParameter", name="mimeType")
    with context.store.transaction():  # the row and its content as of one moment
        row = readable_file(context, request.caller, request.file_id)
        native, target = (
            _exportable(context, row.mime_type),
            _without_prefix(context, MediaType.parse(media_type).essence),
        )
        check_can_download(context, request.caller.user, row, "cannotExport")
        if not context.converter.can_write(native, target):
            raise _not_offered(context, row.mime_type, native, target)
        blocks = None if row.content is None else context.content.read(row.content, 0, END)
    body = None if blocks is None else b"".join(blocks)
    result = _write(context, request, body, native, target, row)
    headers = [("Content-Type", context.names.media_type(target)), ("Content-Length", str(len(result)))]
    headers += [("Cache-Control", "private, max-age=0, must-revalidate"), *sandbox_headers(request.headers)]
    return Response(200, Headers(headers), result)


def render_document(context: ServiceContext, row: FileRow, target: str, user: str) -> bytes:
    """A native document in another format, for a user. Raises ConversionError: it cannot be had so, or not now."""
    native = _without_prefix(context, row.mime_type)
    if not context.converter.can_write(native, target):
        raise ConversionError(f"{native} documents have no {target}")
    body = None if row.content is None else b"".join(context.content.read(row.content, 0, END))
    try:
        return context.converter.write(body, native, target, Client(user), **_export_options(row)).body
    except TooManyWaiting:
        raise ConversionError("too many conversions wait") from None


def _exportable(context: ServiceContext, media_type: str) -> str:
    if not is_document(context, media_type):
        raise refuse("notExportable")
    return _without_prefix(context, media_type)


def _not_offered(context: ServiceContext, media_type: str, native: str, export_type: str) -> ApiError:
    if reason := context.converter.missing_engine_message(native, export_type, reads=False):
        target = context.names.media_type(export_type)
        return refuse("noExportEngine", source=media_type, target=target, message=reason)
    targets = ", ".join(map(context.names.media_type, context.converter.exports.get(native, ())))
    return refuse("noExport", source=media_type, target=targets or "nothing here")


def _write(
    context: ServiceContext, request: RequestContext, body: bytes | None, native: str, target: str, row: FileRow
) -> bytes:
    limit = context.policy.export_limit
    try:
        with _conversion_errors(context):
            exported = context.converter.write(body, native, target, _client(request), **_export_options(row))
    except TooLarge as error:
        raise refuse("exportTooLarge", message=str(error)[:500]) from None
    except ConversionError as error:  # it would fail again: no 5xx, which clients repeat
        media_type = context.names.media_type(target)
        raise refuse("notConverted", decided_by=FAILED_EXPORT, target=media_type, message=str(error)[:500]) from None
    if len(exported.body) > limit:
        message = f"it would have {len(exported.body)} bytes, the limit is {limit}."
        raise refuse("exportTooLarge", decided_by="export_limit", message=message)
    request.journal_entry.decided_by = with_notes(request.operation.decided_by, exported.notes)
    return exported.body
