"""Writes the change log and queues notifications when a file changes (Events).

Each function runs inside the transaction that changes the file, so messages are queued only for committed changes.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from ...core.notifications.messages import in_order
from ..dispatch.service_context import ServiceContext
from ..notifications.tables import ChannelRow
from .rows import effective_role, users_with_access, users_with_access_to_new
from .tables import FileRow


def change_log_of(user: str) -> str:
    """Return the name of a user's change log, which is stored as the watched resource of notification channels."""
    return f"changes of {user}"


def record_creation(context: ServiceContext, row: FileRow, *, restored: bool = False) -> None:
    """Log a file creation. Channels on the parent folder get an `add` message and an `update` for `children`.

    A `restored` file may have permissions of its own.
    """
    users = sorted(users_with_access(context, row) if restored else users_with_access_to_new(context, row))
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


def record_permission(context: ServiceContext, row: FileRow) -> None:
    """Log a new permission on a file, and queue an `add` message, because the file is new for the grantee."""
    _log_change(context, users_with_access(context, row), row, below=True)
    _enqueue(context, row.id, "add")


def record_role(context: ServiceContext, row: FileRow) -> None:
    """Log the change of a permission's role, and queue an `update` message for `permissions`."""
    _log_change(context, users_with_access(context, row), row, below=True)
    _enqueue(context, row.id, "update", {"permissions"})


def record_permission_removal(context: ServiceContext, row: FileRow, before: AbstractSet[str]) -> None:
    """Log a permission's deletion for the users in `before`, and stop the channels of users who lost access."""
    _log_change(context, before | users_with_access(context, row), row, below=True)
    _stop_lost_channels(context, row)
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
