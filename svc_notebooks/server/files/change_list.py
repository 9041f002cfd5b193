"""Lists the change log, and opens channels that watch a file or the change log."""

from __future__ import annotations

from ...core import field_mask
from ...core.errors.catalogue import refuse
from ...core.field_mask import Mask, Shape, shape_of
from ...core.files.fields import FILE_SHAPE
from ...core.http.messages import Response, segment
from ...core.resources.files import Change, ChangeList, StartPageToken
from ...core.thread_permit import in_slices
from ...core.times import format_millis
from ..dispatch.requests_and_responses import (
    bool_param,
    int_param,
    json_response,
    parse_fields_param,
    resource_response,
    select_fields,
)
from ..dispatch.service_context import RequestContext, ServiceContext
from ..notifications.channels import open_channel
from ..store.ids import SHARD
from .resource import DEFAULT_MASK, file_resource, view_of
from .rows import change_log_of, file_for, visible_role
from .tables import ChangeRow, FileRow

_FIRST = SHARD * 10**15  # the page tokens of this database are the numbers of its entries after this one

_CHANGE_SHAPE: Shape = {**shape_of(Change), "file": FILE_SHAPE}
_LIST_SHAPE: Shape = {**shape_of(ChangeList), "changes": _CHANGE_SHAPE}
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
    """Return a response with the page token for the end of the change log."""
    value: StartPageToken = {
        "kind": context.names.kind("startPageToken"),
        "startPageToken": str(_FIRST + context.store.changes.last() + 1),
    }
    return resource_response(request, value, shape_of(StartPageToken))


def check_start(context: ServiceContext, request: RequestContext, *, required: bool) -> int:
    """Return the entry number in `pageToken`, or by default the next number of the change log.

    Raises ApiError (400) if the token is invalid, or is `required` and missing.
    """
    text = request.query.get("pageToken")
    if text is None and required:
        raise refuse("requiredParameter", name="pageToken")
    now = context.store.changes.last() + 1
    if text is None:
        return now
    if not (text.isascii() and text.isdigit() and len(text) < 20 and 1 <= int(text) - _FIRST <= now):
        message = "expected a token from changes.getStartPageToken or changes.list."
        raise refuse("invalidValue", name="pageToken", message=message)
    return int(text) - _FIRST


def list_changes(context: ServiceContext, request: RequestContext) -> Response:
    """Return a page of the changes since a page token, oldest first. Each file is listed once, with its last change."""
    policy, query = context.policy, request.query
    size = int_param(query, "pageSize", policy.page_size, policy.max_page_size)
    with_removed = bool_param(query, "includeRemoved", default=True)
    start = check_start(context, request, required=True)
    mask = parse_fields_param(query, _DEFAULT, _LIST_SHAPE)
    end = context.store.changes.last() + 1  # read before the page, so that later changes are on the next page
    rows = context.store.changes.page(request.caller.user, start, size + 1)
    inner = (mask or {}).get("changes") or _DEFAULT_CHANGE
    value: ChangeList = {"kind": context.names.kind("changeList")}
    if len(rows) > size:
        value["nextPageToken"] = str(_FIRST + rows[size].seq)
    else:
        value["newStartPageToken"] = str(_FIRST + end)
    value["changes"] = []
    for row in in_slices(rows[:size]):
        file = context.store.files.get(row.file)
        if file and visible_role(context, request.caller, file) is None:
            file = None
        if file or with_removed:
            value["changes"].append(_change_resource(context, request, row, file, inner))
    return json_response(query, select_fields(mask, value))


def _change_resource(
    context: ServiceContext, request: RequestContext, row: ChangeRow, file: FileRow | None, mask: Mask
) -> Change:
    """Return the Change resource of a log entry. `file` is None for a removal or if the caller cannot see the file."""
    change: Change = {
        "kind": context.names.kind("change"),
        "changeType": "file",
        "type": "file",
        "time": format_millis(row.time),
        "removed": file is None,
        "fileId": row.file,
    }
    if file and (field_mask.STAR in mask or "file" in mask):
        fields = mask.get("file") or DEFAULT_MASK
        change["file"] = file_resource(file, fields, view_of(context, request, fields))
    return change


def watch_file(context: ServiceContext, request: RequestContext) -> Response:
    """Open and return a channel that watches a file (A8-08). Raises ApiError (404) if the file is not visible."""
    row = file_for(context, request.caller, request.file_id)
    return open_channel(context, request, row.id, context.names.path("files", segment(row.id)))


def watch_changes(context: ServiceContext, request: RequestContext) -> Response:
    """Open a channel that watches the caller's change log and return the response with the channel (A9)."""
    check_start(context, request, required=context.policy.strict_page_token)
    log = change_log_of(request.caller.user)
    return open_channel(context, request, log, context.names.path("changes"), of_changes=True)
