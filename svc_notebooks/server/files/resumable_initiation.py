"""Opens the session of a resumable upload (A3-01 to A3-06)."""

from __future__ import annotations

import json

from ...core.errors.catalogue import refuse
from ...core.files.fields import check_file
from ...core.http.messages import Headers, JSONObject, Query, Response
from ...core.http.multipart import MediaType
from ...core.uploads.states import UploadState
from ..context.external_origin import external_base_url
from ..context.responses import empty_response
from ..context.service_context import RequestContext, ServiceContext
from ..tables.upload_sessions import SessionRow
from .conversion import too_large
from .operations import check_response_params, read_json
from .resumable_upload import sweep_sessions
from .simple_upload import JSON_ESSENCE, check_content, header_type

_DROPPED_PARAMETERS = ("access_token", "oauth_token", "uploadType", "upload_id")


def initiate(context: ServiceContext, request: RequestContext) -> Response:
    """Check an upload, open a resumable session and return a response with the session URI."""
    check_response_params(context, request)
    metadata = _metadata(context, request)
    media_type = header_type(request.headers, "X-Upload-Content-Type")
    total = _parse_total(context, request.headers)
    conversion = check_content(context, request, request.file_id, metadata, media_type, total)
    if conversion and conversion.limit is not None and (total or 0) > conversion.limit:
        raise too_large(context, conversion)
    sweep_sessions(context)
    query = Query([(name, value) for name, value in request.query.pairs if name not in _DROPPED_PARAMETERS])
    with context.store.transaction():
        row = SessionRow(
            id=context.ids.upload(),
            owner=request.caller.user,
            client=request.caller.client,
            file=request.file_id or None,
            metadata=json.dumps(metadata),
            media_type=media_type,
            query=str(query),
            content=context.store.contents.begin(),
            stored=0,
            total=total,
            state=UploadState.OPEN.value,
            touched=context.clock.now().timestamp(),
        )
        context.store.upload_sessions.add(row)
    query = Query([("uploadType", "resumable"), ("upload_id", row.id), *query.pairs])
    location = f"{external_base_url(request.http_request, context)}{context.names.upload_path('files')}?{query}"
    return empty_response(200, [("Location", location)])


def _metadata(context: ServiceContext, request: RequestContext) -> JSONObject:
    metadata = read_json(request.body, context.policy.max_metadata_size)
    if request.journal_entry.received:
        essence = MediaType.parse(request.headers.get("Content-Type") or "").essence
        if essence != JSON_ESSENCE:
            message = "expected application/json; charset=UTF-8 for metadata."
            raise refuse("invalidHeader", decided_by="A3-04", name="Content-Type", message=message)
    return check_file(metadata, creating=not request.file_id, names=context.names, policy=context.policy)


def _parse_total(context: ServiceContext, headers: Headers) -> int | None:
    text = headers.get("X-Upload-Content-Length")
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()) or len(set(headers.all("X-Upload-Content-Length"))) > 1:
        raise refuse("invalidHeader", name="X-Upload-Content-Length", message="expected one whole number of bytes.")
    if len(text.lstrip("0")) > 18 or int(text) > context.policy.max_upload_size:
        raise refuse("tooLarge", limit=context.policy.max_upload_size)
    return int(text)
