"""Writes the change log and queues notifications when a file changes (Events).

Each function is called inside the transaction that makes the change, so that a message is queued if and only
if the change was made. Nothing is sent from here.
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
    """What a channel on a user's change log watches."""
    return f"changes of {user}"


def created(context: ServiceContext, row: FileRow) -> None:
    """A new file: channels on its folder get `add`, and `update` with `children`."""
    _record_change(context, users_with_access(context, row), row)
    if row.parent and _enqueue(context, row.parent, "add"):
        _notify_folder(context, row.parent)


def changed(context: ServiceContext, old: FileRow, row: FileRow, changes: AbstractSet[str]) -> None:
    """A file has new content, properties or a new parent, or goes into the trash or out of it."""
    moved, trashed = old.parent != row.parent, old.trashed != row.trashed
    before = users_with_access(context, old) if moved else frozenset()
    _record_change(context, before | users_with_access(context, row), row, below=moved or trashed)
    if moved:
        _stop_lost_channels(context, row)
        _notify_folder(context, old.parent)
        _notify_folder(context, row.parent)
    if changes:
        _enqueue(context, row.id, "update", changes)
    if trashed:
        state = "trash" if row.trashed else "untrash"
        for file_id in (row.id, *_watched_below(context, row, following=True)):
            _enqueue(context, file_id, state)


def removed(context: ServiceContext, row: FileRow) -> None:
    """A file is deleted, with all that is below it; called while it is still there."""
    _record_change(context, users_with_access(context, row), row, below=True)
    for file_id in (row.id, *_watched_below(context, row)):
        for channel in _watchers(context, file_id):
            _stop_channel(context, channel)
    _notify_folder(context, row.parent)


def permission_added(context: ServiceContext, row: FileRow) -> None:
    """Somebody has a permission who had none: the file is new to them."""
    _record_change(context, users_with_access(context, row), row, below=True)
    _enqueue(context, row.id, "add")


def role_changed(context: ServiceContext, row: FileRow) -> None:
    """A permission has another role."""
    _record_change(context, users_with_access(context, row), row, below=True)
    _enqueue(context, row.id, "update", {"permissions"})


def permission_removed(context: ServiceContext, row: FileRow, before: AbstractSet[str]) -> None:
    """A permission is gone; `before`: the audience while it was there. Who lost access is told so, and no more."""
    _record_change(context, before | users_with_access(context, row), row, below=True)
    _stop_lost_channels(context, row)
    _enqueue(context, row.id, "update", {"permissions"})


def _record_change(context: ServiceContext, users: AbstractSet[str], row: FileRow, *, below: bool = False) -> None:
    """An entry in the log of each of them, and a message to whoever watches one."""
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
    """Queue a message for each channel of a resource; whether there is any."""
    if not context.store.channels.any():
        return False
    names = ",".join(in_order(changes))
    return context.store.channels.enqueue_message(watched, state, names, step=context.ids.step(), now=context.millis())


def _watchers(context: ServiceContext, watched: str) -> list[ChannelRow]:
    return context.store.channels.watchers(watched, context.millis()) if context.store.channels.any() else []


def _watched_below(context: ServiceContext, row: FileRow, *, following: bool = False) -> list[str]:
    """The files below a folder that somebody watches; `following`: only those that share its way into the trash."""
    if row.mime_type != context.folder_type or not context.store.channels.any():
        return []
    return context.store.channels.watched_below(row.id, context.millis(), following=following)


def _stop_lost_channels(context: ServiceContext, row: FileRow) -> None:
    """Whoever watches this file, or one below it, and sees it no more."""
    for file_id in (row.id, *_watched_below(context, row)):
        watched = context.store.files.get(file_id)
        for channel in _watchers(context, file_id):
            if watched is None or effective_role(context, channel.user, watched) is None:
                _stop_channel(context, channel)


def _stop_channel(context: ServiceContext, channel: ChannelRow) -> None:
    """The last message of a channel: what it watches is gone for its user."""
    context.store.channels.enqueue_for_channel(channel.seq, "remove", "", step=context.ids.step(), now=context.millis())
    context.store.channels.set_state(channel.seq, next_state(ChannelState(channel.state), ChannelEvent.LOSS).value)
