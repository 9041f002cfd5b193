"""Logs the changes of files, and queues the notifications of channels, in the transaction of the change."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from ...core import field_mask
from ...core.errors.catalogue import refuse
from ...core.field_mask import Mask, Shape, shape_of
from ...core.files.fields import FILE_SHAPE
from ...core.http.messages import Response
from ...core.notifications.deliveries import in_order
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
from ..notifications.tables import ChannelRow
from ..store.ids import SHARD
from .access import effective_role, users_with_access, visible_role
from .resource import DEFAULT_MASK, file_resource, view_of
from .tables import ChangeRow, FileRow


def change_log_of(user: str) -> str:
    """Return the name of a user's change log, which is stored as the watched resource of notification channels."""
    return f"changes of {user}"


def record_creation(context: ServiceContext, row: FileRow, *, restored: bool = False) -> None:
    """Log a file creation. Channels on the parent folder get an `add` message and an `update` for `children`.

    A `restored` file may have permissions of its own.
    """
    if restored:
        users = sorted(users_with_access(context, row))
    else:  # without permissions of its own, the file has those of its folder
        above = None if row.parent == context.root(row.owner) else row.parent
        folder = context.store.files.get(above) if above else None
        users = sorted(users_with_access(context, folder) | {row.owner}) if folder else [row.owner]
    context.store.changes.add(users, row.id, context.millis())
    for user in users:
        _enqueue(context, change_log_of(user), context.policy.change_state)
    if row.parent and _enqueue(context, row.parent, "add"):
        _notify_folder(context, row.parent)


def record_change(context: ServiceContext, old: FileRow, row: FileRow, changes: AbstractSet[str]) -> None:
    """Log a change to a file and queue its notifications. If `changes` is empty, queue no `update` message."""
    moved, trashed = old.parent != row.parent, old.trashed != row.trashed
    before = users_with_access(context, old) if moved else frozenset()
    _log_change(context, before | users_with_access(context, row), row, below=moved or trashed)
    if moved:
        _stop_lost_channels(context, row)
        _notify_folder(context, old.parent)
        _notify_folder(context, row.parent)
    if changes:
        _enqueue(context, row.id, "update", changes)
    if trashed:
        state = "trash" if row.trashed else "untrash"
        for file_id in (row.id, *_files_below(context, row, following=True)):
            _enqueue(context, file_id, state)


def record_removal(context: ServiceContext, row: FileRow) -> None:
    """Log the deletion of a file and everything below it, and stop the channels on these files."""
    _log_change(context, users_with_access(context, row), row, below=True)
    for file_id in (row.id, *_files_below(context, row)):
        for channel in _watchers(context, file_id):
            _end_channel(context, channel)
    _notify_folder(context, row.parent)


def record_permissions(
    context: ServiceContext, row: FileRow, *, is_new: bool = False, before: AbstractSet[str] = frozenset()
) -> None:
    """Log a change of the permissions on a file, and queue an `update` message for `permissions`.

    If a permission `is_new`, queue an `add` message instead, because the file is new for the grantee. If one was
    deleted, `before` has the users with access before, and the channels of users who lost access are stopped.
    """
    _log_change(context, before | users_with_access(context, row), row, below=True)
    if before:
        _stop_lost_channels(context, row)
    if is_new:
        _enqueue(context, row.id, "add")
    else:
        _enqueue(context, row.id, "update", {"permissions"})


def _log_change(context: ServiceContext, users: AbstractSet[str], row: FileRow, *, below: bool = False) -> None:
    """Add a file change to these users' logs and queue messages. If `below`, also add all files below the folder."""
    now, ordered = context.millis(), sorted(users)
    context.store.changes.add(ordered, row.id, now)
    if below and row.mime_type == context.folder_type:
        context.store.changes.add_below(ordered, row.id, now)
    for user in ordered:
        _enqueue(context, change_log_of(user), context.policy.change_state)


def _notify_folder(context: ServiceContext, folder: str | None) -> None:
    if folder:
        _enqueue(context, folder, "update", {"children"})


def _enqueue(context: ServiceContext, watched: str, state: str, changes: AbstractSet[str] = frozenset()) -> bool:
    """Queue a message for each channel on a resource, and return whether the resource has any channel."""
    if not context.store.channels.any():
        return False
    names = ",".join(in_order(changes))
    return context.store.channels.enqueue_message(watched, state, names, step=context.ids.step(), now=context.millis())


def _watchers(context: ServiceContext, watched: str) -> list[ChannelRow]:
    return context.store.channels.watchers(watched, context.millis()) if context.store.channels.any() else []


def _files_below(context: ServiceContext, row: FileRow, *, following: bool = False) -> list[str]:
    """Return the ids of the files below a folder that have a channel.

    If `following` is true, return only the files that are trashed and untrashed together with the folder.
    """
    if row.mime_type != context.folder_type or not context.store.channels.any():
        return []
    return context.store.channels.find_watched(row.id, context.millis(), row.owner if following else None)


def _stop_lost_channels(context: ServiceContext, row: FileRow) -> None:
    for file_id in (row.id, *_files_below(context, row)):
        watched = context.store.files.get(file_id)
        for channel in _watchers(context, file_id):
            if watched is None or effective_role(context, channel.user, watched) is None:
                _end_channel(context, channel)


def _end_channel(context: ServiceContext, channel: ChannelRow) -> None:
    """Send a `remove` message to a channel, and end it, because its user can no longer see the watched resource."""
    context.store.channels.end(channel.seq, "remove", step=context.ids.step(), now=context.millis())


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
