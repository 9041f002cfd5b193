"""Converts contents to native documents (A5), which are stored in one canonical form, and exports them (A7)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.resources import files
from typing import Any, NamedTuple

from ...convert.input.detect import GENERIC_TYPES, detect_source
from ...convert.job import ConversionError, JobLimits, TooLarge
from ...convert.pool.converter import Abandoned, Client, Converter, TooManyWaiting, shared
from ...core.errors.catalogue import ApiError, refuse, row as error_row
from ...core.files.permissions import Role
from ...core.http.media_types import HTML, IMPORTS, MAX_IMPORT_SIZES, PDF, TEXT, by_name
from ...core.http.messages import Disconnected, Headers, JSONObject, Response, is_gone
from ...core.http.multipart import MediaType
from ...core.policy import Policy
from ...core.times import from_millis
from ..dispatch.journal import with_notes
from ..dispatch.requests_and_responses import sandbox_headers
from ..dispatch.service_context import RequestContext, ServiceContext
from ..store.contents import END, PartRange
from .access import check_right, file_for
from .metadata import is_document
from .tables import FileRow

_TAG = re.compile(
    r"(?P<language>[a-z]{2,3})(?:-(?P<extlang>[a-z]{3}(?:-[a-z]{3}){0,2}))?"
    r"(?:-(?P<script>[a-z]{4}))?"
    r"(?:-(?P<region>[a-z]{2}|[0-9]{3}))?"
    r"(?P<variants>(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*)"
    r"(?P<extensions>(?:-[0-9a-wy-z](?:-[a-z0-9]{2,8})+)*)"
    r"(?P<private>-x(?:-[a-z0-9]{1,8})+)?",
    re.IGNORECASE,
)

_CODES = json.loads((files(__package__) / "languages.json").read_text("utf-8"))
# Maps obsolete language codes, and tags that are older than BCP 47, to their replacements.
_REPLACED: dict[str, str] = _CODES["replaced"]

# The language codes that are used in text recognition or in general.
LANGUAGES = frozenset(f"{_CODES['ISO 639-1']} {_CODES['ISO 639-2 and 639-3']}".split())


def check_tag(text: str) -> str:
    """Return a language tag in standard spelling without obsolete codes. Raises ValueError if invalid or unknown.

    >>> check_tag("PT-br"), check_tag("zh-hant-tw"), check_tag("iw")
    ('pt-BR', 'zh-Hant-TW', 'he')
    """
    if text.lower() in _REPLACED:
        return _REPLACED[text.lower()]
    match = _TAG.fullmatch(text) if text.isascii() else None
    if match is None:
        raise ValueError(f"{text[:40]!r} is not a language tag; expected a BCP 47 tag, such as de, pt-BR or zh-Hant.")
    language = _REPLACED.get(match["language"].lower(), match["language"].lower())
    if language not in LANGUAGES:
        raise ValueError(f"{text[:40]!r}: unknown language {language!r}; expected an ISO 639 code, such as de.")
    spellings = (("extlang", str.lower), ("script", str.title), ("region", str.upper))
    parts = [language, *(spell(match[name]) for name, spell in spellings if match[name])]
    parts += [match[name].lower().strip("-") for name in ("variants", "extensions", "private") if match[name]]
    return "-".join(parts)


def converter_of(policy: Policy) -> Converter:
    """Return the document converter for a policy. Policies with equal limits and formats share a converter."""
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


# The earliest date that every export format can store. A zip archive cannot store an earlier date.
_FIRST_DATE = datetime(1980, 1, 1, tzinfo=UTC)


class ConversionRequest(NamedTuple):
    """A conversion of uploaded content to a native document.

    `native` is the document type without the media type prefix, such as "spreadsheet". `declared_type` is the media
    type that the client declared for the content, or None. `replaces` is True if the document already exists.
    """

    native: str
    declared_type: str | None
    replaces: bool

    @property
    def limit(self) -> int | None:
        """The maximum size of the content in bytes, or None if the size is not limited."""
        return MAX_IMPORT_SIZES.get(self.native)


class ConvertedContent(NamedTuple):
    """The stored parts of converted content, and its media type. No database row refers to the parts yet."""

    pieces: list[PartRange]
    media_type: str


def conversion_for(
    context: ServiceContext, request: RequestContext, file_id: str, metadata: JSONObject, declared_type: str | None
) -> ConversionRequest | None:
    """Return the conversion that an upload needs, or None if the file is not a native document (A5-01).

    Called before the first byte is read. Raises ApiError (400) for an unsupported conversion or invalid ocrLanguage.
    """
    _language(request)
    requested_type, source = metadata.get("mimeType"), (declared_type or "unknown")[:200]
    if file_id:
        target = file_for(context, request.caller, file_id, Role.WRITER).mime_type
    else:
        target = requested_type if isinstance(requested_type, str) else ""
    if not is_document(context, target):
        special = (context.folder_type, context.shortcut_type)
        for media_type in (target, requested_type, declared_type):  # content can neither have nor declare such a type
            if media_type in special or (isinstance(media_type, str) and is_document(context, media_type)):
                raise refuse("noConversion", source=source, target=media_type)
        return None
    conversion = ConversionRequest(target.removeprefix(context.names.media_prefix), declared_type, bool(file_id))
    source_type = _source_of(context, declared_type)
    is_target = any(conversion.native in natives for natives in context.converter.imports.values())
    readable = source_type in GENERIC_TYPES or context.converter.can_read(source_type, conversion.native)
    if not is_target or not readable:
        raise _cannot_convert(context, conversion.native, source_type, source)
    declared_size = request.journal_entry.declared or 0
    if conversion.limit is not None and declared_size > conversion.limit + context.policy.max_metadata_size:
        raise too_large(context, conversion)
    return conversion


def _cannot_convert(context: ServiceContext, native: str, source_type: str | None, source: str) -> ApiError:
    target = context.names.native(native)
    if source_type and (reason := context.converter.missing_engine_message(native, source_type, reads=True)):
        return refuse("noImportEngine", source=source, target=target, message=reason)
    is_text = (source_type or "").startswith("text/") and context.converter.can_read("text/plain", native)
    refused = refuse("otherText" if is_text else "noConversion", source=source, target=target)
    if any(entry.extended and entry.native == native and source_type in entry.media_types for entry in IMPORTS):
        return ApiError([replace(first, message=f"{first.message} {_EXTENDED}") for first in refused.rows])
    return refused


_EXTENDED = "A service with Policy(extended_formats=True) has this format."


def too_large(context: ServiceContext, conversion: ConversionRequest) -> ApiError:
    """Return the error for content that is larger than the size limit of a conversion."""
    return refuse("importTooLarge", target=context.names.native(conversion.native), limit=conversion.limit)


def _language(request: RequestContext) -> str | None:
    """Return the OCR language tags in ocrLanguage, or None if missing (A5-03). Raises ApiError (400) if invalid."""
    tags = request.query.get("ocrLanguage")
    try:
        return "+".join(map(check_tag, tags.split("+"))) if tags else None
    except ValueError as error:
        raise refuse("invalidParameter", name="ocrLanguage", message=str(error)) from None


def _source_of(context: ServiceContext, media_type: str | None) -> str:
    """Return a media type in the notation of core/http/media_types.py. For None, return a generic type."""
    if not media_type:
        return next(iter(GENERIC_TYPES))
    return MediaType.parse(media_type).essence.removeprefix(context.names.media_prefix)


@contextmanager
def convert(
    context: ServiceContext,
    request: RequestContext,
    conversion: ConversionRequest,
    name: str,
    size: int,
    pieces: Iterable[PartRange],
) -> Iterator[ConvertedContent]:
    """Convert the content in `pieces`, and yield the converted content to a `with` block.

    If the block fails, the converted content is deleted. Raises ApiError (400) if the content cannot be converted
    (A5-02).
    """
    if conversion.limit is not None and size > conversion.limit:
        raise too_large(context, conversion)
    body = _convert_source(context, request, conversion, name, context.content.read_all(pieces))
    converted = ConvertedContent(context.content.keep(body), context.names.native(conversion.native))
    try:
        yield converted
    except BaseException:
        context.content.remove(converted.pieces)
        raise


def _convert_source(
    context: ServiceContext, request: RequestContext, conversion: ConversionRequest, name: str, source: bytes
) -> bytes:
    native, target = conversion.native, context.names.native(conversion.native)
    source_type = _detect_type(context, conversion, name, source)
    if source_type is None or not context.converter.can_read(source_type, native):
        described = source_type or (conversion.declared_type or "unknown")[:200]
        raise _cannot_convert(context, native, source_type, described)
    charset = MediaType.parse(conversion.declared_type).parameters.get("charset") if conversion.declared_type else None
    options = {"name": name, "now": context.clock.now(), "charset": charset, "ocr_language": _language(request)}
    client = Client(request.caller.user, partial(is_gone, request.body))
    try:
        converted = context.converter.read(source, source_type, native, client, **options)
    except (Abandoned, TooManyWaiting) as error:
        raise _not_run(context, error) from None
    except ConversionError as error:
        raise refuse("notConverted", target=target, message=str(error)[:500]) from None
    rule = "A5-03" if source_type == PDF or source_type.startswith("image/") else "A5-01"
    request.journal_entry.decided_by = with_notes("A5-04" if conversion.replaces else rule, converted.notes)
    return converted.body


def _not_run(context: ServiceContext, error: Abandoned | TooManyWaiting) -> Disconnected | ApiError:
    if isinstance(error, Abandoned):
        return Disconnected("the client disconnected during the conversion")
    limited = "userRateLimit" if context.policy.rate_status == 403 else "rateLimit"
    message = f"{context.policy.max_waiting_conversions} of your conversions are waiting already; try again later."
    refusal = replace(error_row(limited, decided_by="max_waiting_conversions"), message=message)
    return ApiError([refusal], [("Retry-After", "1")])


def _detect_type(context: ServiceContext, conversion: ConversionRequest, name: str, source: bytes) -> str | None:
    """Return the declared media type, or else the type detected from the bytes and the name, or None if unknown."""
    declared = _source_of(context, conversion.declared_type)
    if declared not in GENERIC_TYPES:
        return declared
    detected = detect_source(source, conversion.native)
    by_extension = by_name(name)
    if detected == TEXT and by_extension and context.converter.can_read(by_extension, conversion.native):
        return by_extension
    return detected


def _export_options(row: FileRow) -> dict[str, Any]:
    """Return the name and the last change date, so that exports of an unchanged document have the same bytes."""
    return {"name": row.name, "now": max(from_millis(row.modified), _FIRST_DATE)}


def export(context: ServiceContext, request: RequestContext) -> Response:
    """Return a response with a native document in the format that the parameter `mimeType` requests (A7)."""
    media_type = request.query.get("mimeType")
    if not media_type:
        raise refuse("requiredParameter", name="mimeType")
    converter, reader = context.converter, None
    with context.store.transaction():  # so that the row and the content belong together
        row = file_for(context, request.caller, request.file_id)
        if not is_document(context, row.mime_type):
            raise refuse("notExportable")
        native, target = row.mime_type.removeprefix(context.names.media_prefix), _source_of(context, media_type)
        check_right(context, request.caller.user, row, "canDownload", "cannotExport")
        if not converter.can_write(native, target):
            raise _cannot_export(context, row.mime_type, native, target)
        if row.content is not None:
            reader = context.content.read(row.content, 0, END)
    body = None if reader is None else b"".join(reader)
    client = Client(request.caller.user, partial(is_gone, request.body))
    try:
        exported = converter.write(body, native, target, client, **_export_options(row))
    except (Abandoned, TooManyWaiting) as error:
        raise _not_run(context, error) from None
    except TooLarge as error:
        raise refuse("exportTooLarge", message=str(error)[:500]) from None
    except ConversionError as error:  # no 5xx, because clients would repeat the request and it would fail again
        refused = context.names.media_type(target)
        rule = "An export that fails for another reason"
        raise refuse("notConverted", decided_by=rule, target=refused, message=str(error)[:500]) from None
    size, limit = len(exported.body), context.policy.export_limit
    if size > limit:
        message = f"the export has {size} bytes, and the limit is {limit}."
        raise refuse("exportTooLarge", decided_by="export_limit", message=message)
    request.journal_entry.decided_by = with_notes(request.operation.decided_by, exported.notes)
    headers = [("Content-Type", context.names.media_type(target)), ("Content-Length", str(size))]
    headers += [("Cache-Control", "private, max-age=0, must-revalidate"), *sandbox_headers(request.headers)]
    return Response(200, Headers(headers), exported.body)


def render_document(context: ServiceContext, row: FileRow, user: str) -> bytes:
    """Return a native document as HTML, converted for `user`. Raises ConversionError on failure."""
    native = row.mime_type.removeprefix(context.names.media_prefix)
    if not context.converter.can_write(native, HTML):
        raise ConversionError(f"{native} documents cannot be exported as {HTML}")
    body = None if row.content is None else b"".join(context.content.read(row.content, 0, END))
    try:
        return context.converter.write(body, native, HTML, Client(user), **_export_options(row)).body
    except TooManyWaiting:
        raise ConversionError("too many conversions are waiting") from None


def _cannot_export(context: ServiceContext, media_type: str, native: str, export_type: str) -> ApiError:
    if reason := context.converter.missing_engine_message(native, export_type, reads=False):
        target = context.names.media_type(export_type)
        return refuse("noExportEngine", source=media_type, target=target, message=reason)
    targets = ", ".join(map(context.names.media_type, context.converter.exports.get(native, ())))
    return refuse("noExport", source=media_type, target=targets or "nothing here")
