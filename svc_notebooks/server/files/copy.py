"""Copies a file (files.copy). The copy shares the content of the original, unless the copy is converted."""

from __future__ import annotations

import json
from contextlib import closing

from ...core.errors.catalogue import ApiError, refuse
from ...core.files.fields import check_file
from ...core.files.permissions import RESTRICTIONS, Role
from ...core.http.messages import JSONObject, Response
from ..dispatch.messages import read_json
from ..dispatch.service_context import RequestContext, ServiceContext
from ..store.contents import END
from .conversion import ConversionRequest, conversion_for, convert
from .operations import add_content, add_file, check_usage, response_fields, store_content
from .rows import check_new, check_right, effective_role, file_for, new_row, record_creation, restrictions_on
from .tables import FileRow

_COPIED_FIELDS = ("contentHints", "description", "folderColorRgb", "originalFilename")
_COPIED_RESTRICTIONS = RESTRICTIONS.keys() - {"contentRestrictions"}


def copy(context: ServiceContext, request: RequestContext) -> Response:
    """Copy a file that the caller may download, and return a response with the resource of the copy."""
    fields = response_fields(context, request)
    body = read_json(request.body, context.policy.max_metadata_size)
    sent = check_file(body, creating=True, names=context.names, policy=context.policy)
    with context.store.transaction():
        content = _source(context, request).content
        reader = None if content is None else context.content.read(content, 0, END)
    if reader:
        with closing(reader):
            reader.check()  # a copy would share the damage; outside the transaction, because it reads files
    with context.store.transaction():
        source = _source(context, request)
        metadata = _metadata(context, request, source, sent)
        conversion = _conversion(context, request, source, metadata)
        if conversion is None:
            row = new_row(context, request.caller, metadata, source.mime_type)
            row = row._replace(content=source.content, size=source.size, abusive=source.abusive)
            add_file(context, request.caller, row, metadata)
            record_creation(context, row)
            check_usage(context, row.owner)
            return fields.response(row)
        assert source.content is not None
        size = source.size or 0
        pieces = context.store.contents.pieces(source.content, 0, size)
        reader = context.content.read(source.content, 0, size)  # an open reader keeps the parts from being deleted
    with (
        closing(reader),
        convert(context, request, conversion, str(metadata["name"]), size, pieces) as converted,
        context.store.transaction(),
    ):
        new_content = add_content(context, converted.pieces, None, converted.media_type)
        row, _ = store_content(context, request, "", metadata, new_content)
        context.store.files.save(row._replace(abusive=source.abusive))
    return fields.response(row)


def _source(context: ServiceContext, request: RequestContext) -> FileRow:
    row = file_for(context, request.caller, request.file_id)
    if row.mime_type == context.folder_type:
        raise refuse("cannotCopy", fileId=row.id)
    check_right(context, request.caller.user, row, "canCopy", "cannotCopy")
    if row.abusive and row.owner != request.caller.user:
        raise refuse("abusive")
    return row


def _metadata(context: ServiceContext, request: RequestContext, source: FileRow, sent: JSONObject) -> JSONObject:
    """Return the metadata of the copy. Fields that the caller did not send have the values of the original.

    If the caller may not write to the original's folder, the copy goes into the caller's root folder.
    """
    extra, caller = json.loads(source.extra), request.caller
    try:
        folder = file_for(context, caller, source.parent or "", Role.WRITER).id
    except ApiError:
        folder = context.root(caller.user)
    metadata: JSONObject = {name: extra[name] for name in _COPIED_FIELDS if name in extra}
    metadata |= {"name": f"Copy of {source.name}", "mimeType": source.mime_type, "parents": [folder]}
    for name, client in (("properties", ""), ("appProperties", caller.client)):
        if kept := context.store.files.properties(source.id, client):
            metadata[name] = dict(kept)
    role = effective_role(context, caller.user, source) or Role.READER
    for name in restrictions_on(context, source, role) & _COPIED_RESTRICTIONS:
        metadata[name] = name != "writersCanShare"
    if source.target:
        metadata["shortcutDetails"] = {"targetId": source.target}
    return metadata | {name: value for name, value in sent.items() if value is not None or name not in metadata}


def _conversion(
    context: ServiceContext, request: RequestContext, source: FileRow, metadata: JSONObject
) -> ConversionRequest | None:
    check_new(context, request.caller, metadata)
    media_type = metadata["mimeType"]
    if context.names.is_native(source.mime_type):
        if media_type != source.mime_type:
            raise refuse("noConversion", source=source.mime_type, target=media_type)
        return None
    return conversion_for(context, request, "", metadata, source.mime_type)
