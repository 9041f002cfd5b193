"""Writes the change log and queues notifications when a file changes (Events).

Each function is called inside the transaction that makes the change, so that a message is queued if and only
if the change is committed. Nothing is sent from here.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from ...core.notifications.channels import ChannelEvent, ChannelState, next_state
from ...core.notifications.messages import in_order
from ..context.service_context import ServiceContext
from ..tables.channels import ChannelRow
from ..tables.files import FileRow
from .roles import effective_role, users_with_access


def change_log_of(user: str) -> str:
    """Return the name under which channels watch the change log of a user."""
    return f"changes of {user}"


def record_creation(context: ServiceContext, row: FileRow) -> None:
    """Record a new file. Channels on its folder get `add`, and `update` with `children`."""
    _log_change(context, users_with_access(context, row), row)
    if row.parent and _enqueue(context, row.parent, "add"):
        _notify_folder(context, row.parent)


def record_change(context: ServiceContext, old: FileRow, row: FileRow, changes: AbstractSet[str]) -> None:
    """Record a file that has new content, new properties or a new parent, or was trashed or untrashed."""
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
    """Record a file that will be deleted with everything below it."""
    _log_change(context, users_with_access(context, row), row, below=True)
    for file_id in (row.id, *_files_below(context, row)):
        for channel in _watchers(context, file_id):
            _stop_channel(context, channel)
    _notify_folder(context, row.parent)


def record_permission(context: ServiceContext, row: FileRow) -> None:
    """Record a new permission. For its grantees the file is new."""
    _log_change(context, users_with_access(context, row), row, below=True)
    _enqueue(context, row.id, "add")


def record_role(context: ServiceContext, row: FileRow) -> None:
    """Record a new role of a permission."""
    _log_change(context, users_with_access(context, row), row, below=True)
    _enqueue(context, row.id, "update", {"permissions"})


def record_permission_removal(context: ServiceContext, row: FileRow, before: AbstractSet[str]) -> None:
    """Record a deleted permission. Channels of users who have lost access get a last message.

    Args:
        before: The users who had access with the permission.
    """
    _log_change(context, before | users_with_access(context, row), row, below=True)
    _stop_lost_channels(context, row)
    _enqueue(context, row.id, "update", {"permissions"})


def _log_change(context: ServiceContext, users: AbstractSet[str], row: FileRow, *, below: bool = False) -> None:
    """Add a change to the logs of these users, and queue a message for the channels on each log."""
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
    """Queue a message for each channel of a resource, and return whether there is one."""
    if not context.store.channels.any():
        return False
    names = ",".join(in_order(changes))
    return context.store.channels.enqueue_message(watched, state, names, step=context.ids.step(), now=context.millis())


def _watchers(context: ServiceContext, watched: str) -> list[ChannelRow]:
    return context.store.channels.watchers(watched, context.millis()) if context.store.channels.any() else []


def _files_below(context: ServiceContext, row: FileRow, *, following: bool = False) -> list[str]:
    """Return the watched files below a folder, with `following` only those that are trashed together with it."""
    if row.mime_type != context.folder_type or not context.store.channels.any():
        return []
    return context.store.channels.find_watched(row.id, context.millis(), following=following)


def _stop_lost_channels(context: ServiceContext, row: FileRow) -> None:
    """Stop the channels on a file and on the files below it whose users can no longer see them."""
    for file_id in (row.id, *_files_below(context, row)):
        watched = context.store.files.get(file_id)
        for channel in _watchers(context, file_id):
            if watched is None or effective_role(context, channel.user, watched) is None:
                _stop_channel(context, channel)


def _stop_channel(context: ServiceContext, channel: ChannelRow) -> None:
    """Stop a channel with a last message, because its user can no longer see the resource."""
    context.store.channels.enqueue_for_channel(channel.seq, "remove", "", step=context.ids.step(), now=context.millis())
    context.store.channels.set_state(channel.seq, next_state(ChannelState(channel.state), ChannelEvent.LOSS).value)
