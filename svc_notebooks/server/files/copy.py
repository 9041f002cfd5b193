"""Copies a file with its content (files.copy).

Contents never change, so a copy has the very content of its original; only one that becomes a native document on the
way has a content made for it.
"""

from __future__ import annotations

import json
from contextlib import closing

from ...core.errors.catalogue import ApiError, refuse
from ...core.files.fields import check_file
from ...core.files.permissions import Role
from ...core.http.messages import JSONObject, Response
from ..context.responses import json_response
from ..context.service_context import RequestContext, ServiceContext
from ..storage.content_io import END, ContentReader
from ..tables.contents import PartRange
from ..tables.files import FileRow
from .conversion import ConversionRequest, conversion_for, convert
from .operations import check_response_params, read_json, render_file
from .roles import check_can_download
from .rows import add_file, check_new, file_for, new_row
from .simple_upload import converted_content, store_content

_COPIED_FIELDS = ("contentHints", "description", "folderColorRgb", "originalFilename")


def copy(context: ServiceContext, request: RequestContext) -> Response:
    """A copy of a file that the caller may read and take along."""
    check_response_params(context, request)
    sent = check_file(read_json(request.body, context.policy.max_metadata_size), creating=True, policy=context.policy)
    _check_content(context, request)
    with context.store.transaction():
        source = _source(context, request)
        metadata = _metadata(context, request, source, sent)
        conversion = _conversion(context, request, source, metadata)
        if conversion is None:
            return json_response(
                request.query, render_file(context, request, _plain_copy(context, request, source, metadata))
            )
        reader_and_pieces = _open_content(context, source)
    return json_response(
        request.query,
        render_file(
            context, request, _converted_copy(context, request, source, metadata, conversion, *reader_and_pieces)
        ),
    )


def _check_content(context: ServiceContext, request: RequestContext) -> None:
    """Compare the original with what was written. Raises DamagedContent: a copy would be as damaged."""
    with context.store.transaction():
        row = _source(context, request)
        if row.content is None:
            return
        reader = context.content.read(row.content, 0, END)
    with closing(reader):
        reader.check()


def _source(context: ServiceContext, request: RequestContext) -> FileRow:
    """The original. Raises ApiError (403, 404)."""
    row = file_for(context, request.caller, request.file_id)
    if row.mime_type == context.folder_type:
        raise refuse("cannotCopy", fileId=row.id)
    check_can_download(context, request.caller.user, row, "cannotCopy")
    if row.abusive and row.owner != request.caller.user:
        raise refuse("abusive")
    return row


def _metadata(context: ServiceContext, request: RequestContext, source: FileRow, sent: JSONObject) -> JSONObject:
    """What the copy is described by: what the caller says, else what the original has."""
    extra, client = json.loads(source.extra), request.caller.client
    metadata: JSONObject = {name: extra[name] for name in _COPIED_FIELDS if name in extra}
    metadata |= {
        "name": f"Copy of {source.name}",
        "mimeType": source.mime_type,
        "parents": [_folder(context, request, source)],
    }
    for name, owner in (("properties", ""), ("appProperties", client)):
        if kept := context.store.files.properties(source.id, owner):
            metadata[name] = dict(kept)
    if source.target:
        metadata["shortcutDetails"] = {"targetId": source.target}
    return metadata | {name: value for name, value in sent.items() if value is not None or name not in metadata}


def _folder(context: ServiceContext, request: RequestContext, source: FileRow) -> str:
    """The original's folder, where the caller may write there; else the root of what is theirs."""
    try:
        return file_for(context, request.caller, source.parent or "", Role.WRITER).id
    except ApiError:
        return context.root(request.caller.user)


def _conversion(
    context: ServiceContext, request: RequestContext, source: FileRow, metadata: JSONObject
) -> ConversionRequest | None:
    """Whether the copy becomes a native document on the way. Raises ApiError for what cannot be."""
    check_new(context, request.caller, metadata)
    media_type = metadata["mimeType"]
    if context.names.is_native(source.mime_type):
        if media_type != source.mime_type:
            raise refuse("noConversion", source=source.mime_type, target=media_type)
        return None
    return conversion_for(context, request, "", metadata, source.mime_type)


def _plain_copy(context: ServiceContext, request: RequestContext, source: FileRow, metadata: JSONObject) -> FileRow:
    row = new_row(context, request.caller, metadata, source.mime_type)
    row = row._replace(content=source.content, size=source.size, abusive=source.abusive)
    add_file(context, request.caller, row, metadata)
    return row


def _open_content(context: ServiceContext, source: FileRow) -> tuple[ContentReader, list[PartRange]]:
    """The parts of a content, and what keeps them there until it is closed."""
    assert source.content is not None
    assert source.size is not None
    pieces = context.store.contents.pieces(source.content, 0, source.size)
    return context.content.read(source.content, 0, source.size), pieces


def _converted_copy(
    context: ServiceContext,
    request: RequestContext,
    source: FileRow,
    metadata: JSONObject,
    conversion: ConversionRequest,
    reader: ContentReader,
    pieces: list[PartRange],
) -> FileRow:
    size = source.size or 0
    with closing(reader), convert(context, request, conversion, str(metadata["name"]), size, pieces) as converted:
        assert converted
        with context.store.transaction():
            row = store_content(context, request, "", metadata, converted_content(context, converted)).row
            context.store.files.save(row._replace(abusive=source.abusive))
    return row
