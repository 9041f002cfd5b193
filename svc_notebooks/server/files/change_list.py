"""The change log: what has changed since a page token (storage changes)."""

from __future__ import annotations

from collections.abc import Mapping

from ...core import field_mask
from ...core.clock import format_time, from_millis
from ...core.errors.catalogue import refuse
from ...core.field_mask import Mask, Shape
from ...core.files.fields import FILE_SHAPE
from ...core.http.messages import JSON, JSONObject, Response
from ..context.access_tokens import Caller
from ..context.responses import json_response
from ..context.service_context import RequestContext, ServiceContext
from ..tables.change_log import ChangeRow
from ..tables.files import FileRow
from .operations import bool_param, int_param, parse_fields_param, select_fields, view_context
from .resource import DEFAULT_MASK, file_resource
from .rows import can_see

_CHANGE_SHAPE: Shape = {
    "kind": None, "changeType": None, "type": None, "time": None, "removed": None, "fileId": None,
    "file": FILE_SHAPE, "driveId": None, "drive": None, "teamDriveId": None, "teamDrive": None,
}  # fmt: skip
_LIST_SHAPE: Shape = {
    "kind": None, "nextPageToken": None, "newStartPageToken": None, "changes": _CHANGE_SHAPE,
}  # fmt: skip
_START_SHAPE: Shape = {"kind": None, "startPageToken": None}
_DEFAULT_CHANGE: Mask = {
    "kind": {},
    "changeType": {},
    "type": {},
    "time": {},
    "removed": {},
    "fileId": {},
    "file": DEFAULT_MASK,
}
_DEFAULT: Mask = {"kind": {}, "nextPageToken": {}, "newStartPageToken": {}, "changes": _DEFAULT_CHANGE}


def start_page_token(context: ServiceContext, request: RequestContext) -> Response:
    """The token that stands for now."""
    mask = parse_fields_param(request.query, {field_mask.STAR: {}}, _START_SHAPE)
    value: JSONObject = {"kind": context.names.kind("startPageToken"), "startPageToken": str(_next_number(context))}
    return json_response(request.query, select_fields(mask, value))


def _next_number(context: ServiceContext) -> int:
    return context.store.changes.last() + 1


def check_start(context: ServiceContext, request: RequestContext, *, required: bool) -> int:
    """The number in a request's page token, or the present one. Raises ApiError (400)."""
    text = request.query.get("pageToken")
    if text is None and required:
        raise refuse("requiredParameter", name="pageToken")
    now = _next_number(context)
    if text is None:
        return now
    if not (text.isascii() and text.isdigit() and len(text) < 19 and 1 <= int(text) <= now):
        message = "expected a token that changes.getStartPageToken or changes.list has given."
        raise refuse("invalidValue", name="pageToken", message=message)
    return int(text)


def list_changes(context: ServiceContext, request: RequestContext) -> Response:
    """What has changed since a token: for each file its last change, oldest first, a page at a time."""
    policy, query = context.policy, request.query
    size = int_param(query, "pageSize", policy.page_size, policy.max_page_size)
    with_removed = bool_param(query, "includeRemoved", default=True)
    start = check_start(context, request, required=True)
    mask = parse_fields_param(query, _DEFAULT, _LIST_SHAPE)
    end = _next_number(context)  # before the page is read: what comes meanwhile is on the next one
    rows = context.store.changes.page(request.caller.user, start, size + 1)
    page = rows[:size]
    entries = [(row, _visible_file(context, request.caller, row.file)) for row in page]
    inner = (mask or {}).get("changes") or _DEFAULT_CHANGE
    value: JSONObject = {
        "kind": context.names.kind("changeList"),
        **({"nextPageToken": str(rows[size].seq)} if len(rows) > size else {"newStartPageToken": str(end)}),
        "changes": [
            _change_resource(context, request, row, file, inner) for row, file in entries if file or with_removed
        ],
    }
    return json_response(query, select_fields(mask, value))


def _visible_file(context: ServiceContext, caller: Caller, file_id: str) -> FileRow | None:
    row = context.store.files.get(file_id)
    return row if row and can_see(context, caller, row) else None


def _change_resource(
    context: ServiceContext, request: RequestContext, row: ChangeRow, file: FileRow | None, mask: Mask
) -> JSON:
    """One change; a file that is deleted, or not to be seen any more, is removed."""
    value: Mapping[str, JSON] = {
        "kind": context.names.kind("change"),
        "changeType": "file",
        "type": "file",
        "time": format_time(from_millis(row.time)),
        "removed": file is None,
        "fileId": row.file,
    }
    everything = field_mask.STAR in mask
    selection: JSONObject = {name: member for name, member in value.items() if everything or name in mask}
    if file and (everything or "file" in mask):
        selection["file"] = file_resource(file, mask.get("file") or DEFAULT_MASK, view_context(context, request))
    return selection
