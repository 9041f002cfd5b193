"""Opens the session of a resumable upload (A3-01 to A3-06)."""

from __future__ import annotations

import json

from ...core.errors.catalogue import refuse
from ...core.files.fields import check_file
from ...core.http.messages import Headers, JSONObject, Query, Response
from ...core.http.multipart import MediaType
from ...core.uploads.states import State
from ..context.external_origin import client_origin
from ..context.responses import empty
from ..context.service_context import Call, House
from ..store.upload_sessions import SessionRow
from .conversion import too_large
from .operations import check_answer, read_json
from .resumable_upload import sweep_sessions
from .simple_upload import (
    JSON_ESSENCE,
    check_content,
    header_type,
)

_NOT_KEPT = ("access_token", "oauth_token", "uploadType", "upload_id")


def initiate(house: House, call: Call) -> Response:
    """Open a session: everything is checked now, and again when the last byte has come."""
    check_answer(house, call)
    metadata = _metadata(house, call)
    media_type = header_type(call.headers, "X-Upload-Content-Type")
    total = _declared_total(house, call.headers)
    found = check_content(house, call, call.file_id, metadata, media_type)
    if found and found.limit is not None and (total or 0) > found.limit:
        raise too_large(house, found)
    sweep_sessions(house)
    row = _open(house, call, metadata, media_type, total)
    query = Query([("uploadType", "resumable"), ("upload_id", row.id), *Query.parse(row.query).pairs])
    location = f"{client_origin(call.request, house)}{house.names.upload_path('files')}?{query}"
    return empty(200, [("Location", location)])


def _metadata(house: House, call: Call) -> JSONObject:
    metadata = read_json(call.body, house.policy.max_metadata_size)
    if call.entry.received:
        essence = MediaType.parse(call.headers.get("Content-Type") or "").essence
        if essence != JSON_ESSENCE:
            message = "metadata needs application/json; charset=UTF-8."
            raise refuse("invalidHeader", by="A3-04", name="Content-Type", message=message)
    return check_file(metadata, creating=not call.file_id, policy=house.policy)


def _declared_total(house: House, headers: Headers) -> int | None:
    text = headers.get("X-Upload-Content-Length")
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()) or len(set(headers.all("X-Upload-Content-Length"))) > 1:
        raise refuse("invalidHeader", name="X-Upload-Content-Length", message="expected one number of bytes.")
    if len(text.lstrip("0")) > 18 or int(text) > house.policy.max_upload_size:
        raise refuse("tooLarge", limit=house.policy.max_upload_size)
    return int(text)


def _open(house: House, call: Call, metadata: JSONObject, media_type: str | None, total: int | None) -> SessionRow:
    kept = Query([(name, value) for name, value in call.query.pairs if name not in _NOT_KEPT])
    with house.store.transaction():
        row = SessionRow(
            id=house.ids.upload(),
            owner=call.caller.user,
            client=call.caller.client,
            file=call.file_id or None,
            metadata=json.dumps(metadata),
            media_type=media_type,
            query=str(kept),
            content=house.store.contents.begin(),
            stored=0,
            total=total,
            state=State.OPEN.value,
            touched=house.clock.now().timestamp(),
            generation=0,
            answer=None,
        )
        house.store.sessions.add(row)
    return row
