"""What a change means for those who watch: entries in change logs, and messages to channels (Events).

Each function is called inside the transaction that makes the change, so that a message is queued if and only
if the change was made. Nothing is sent from here.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from ...core.notifications.channels import Event, State, move
from ...core.notifications.messages import in_order
from ..context.service_context import House
from ..store.channels import ChannelRow
from ..store.files import FileRow
from .access_control import audience, role


def change_log_of(user: str) -> str:
    """What a channel on a user's change log watches."""
    return f"changes of {user}"


def created(house: House, row: FileRow) -> None:
    """A new file: channels on its folder get `add`, and `update` with `children`."""
    _log(house, audience(house, row), row)
    if row.parent and _tell(house, row.parent, "add"):
        _tell_folder(house, row.parent)


def changed(house: House, old: FileRow, row: FileRow, what: AbstractSet[str]) -> None:
    """A file has new content, properties or a new parent, or goes into the trash or out of it."""
    moved, trashed = old.parent != row.parent, old.trashed != row.trashed
    before = audience(house, old) if moved else frozenset()
    _log(house, before | audience(house, row), row, below=moved or trashed)
    if moved:
        _end_lost(house, row)
        _tell_folder(house, old.parent)
        _tell_folder(house, row.parent)
    if what:
        _tell(house, row.id, "update", what)
    if trashed:
        state = "trash" if row.trashed else "untrash"
        for file_id in (row.id, *_watched_below(house, row, following=True)):
            _tell(house, file_id, state)


def removed(house: House, row: FileRow) -> None:
    """A file is deleted, with all that is below it; called while it is still there."""
    _log(house, audience(house, row), row, below=True)
    for file_id in (row.id, *_watched_below(house, row)):
        for channel in _watchers(house, file_id):
            _end(house, channel)
    _tell_folder(house, row.parent)


def permitted(house: House, row: FileRow) -> None:
    """Somebody has a permission who had none: the file is new to them."""
    _log(house, audience(house, row), row, below=True)
    _tell(house, row.id, "add")


def role_changed(house: House, row: FileRow) -> None:
    """A permission has another role."""
    _log(house, audience(house, row), row, below=True)
    _tell(house, row.id, "update", {"permissions"})


def unpermitted(house: House, row: FileRow, before: AbstractSet[str]) -> None:
    """A permission is gone; `before`: the audience while it was there. Who lost access is told so, and no more."""
    _log(house, before | audience(house, row), row, below=True)
    _end_lost(house, row)
    _tell(house, row.id, "update", {"permissions"})


def _log(house: House, users: AbstractSet[str], row: FileRow, *, below: bool = False) -> None:
    """An entry in the log of each of them, and a message to whoever watches one."""
    now, ordered = house.millis(), sorted(users)
    house.store.changes.add(ordered, row.id, now)
    if below and row.mime_type == house.folder_type:
        house.store.changes.add_below(ordered, row.id, now)
    for user in ordered:
        _tell(house, change_log_of(user), house.policy.change_state)


def _tell_folder(house: House, folder: str | None) -> None:
    if folder:
        _tell(house, folder, "update", {"children"})


def _tell(house: House, watched: str, state: str, what: AbstractSet[str] = frozenset()) -> bool:
    """Queue a message for each channel of a resource; whether there is any."""
    if not house.store.channels.any():
        return False
    changed = ",".join(in_order(what))
    return house.store.channels.tell(watched, state, changed, step=house.ids.step(), now=house.millis())


def _watchers(house: House, watched: str) -> list[ChannelRow]:
    return house.store.channels.watchers(watched, house.millis()) if house.store.channels.any() else []


def _watched_below(house: House, row: FileRow, *, following: bool = False) -> list[str]:
    """The files below a folder that somebody watches; `following`: only those that share its way into the trash."""
    if row.mime_type != house.folder_type or not house.store.channels.any():
        return []
    return house.store.channels.watched_below(row.id, house.millis(), following=following)


def _end_lost(house: House, row: FileRow) -> None:
    """Whoever watches this file, or one below it, and sees it no more."""
    for file_id in (row.id, *_watched_below(house, row)):
        watched = house.store.files.get(file_id)
        for channel in _watchers(house, file_id):
            if watched is None or role(house, channel.user, watched) is None:
                _end(house, channel)


def _end(house: House, channel: ChannelRow) -> None:
    """The last message of a channel: what it watches is gone for its user."""
    house.store.channels.tell_one(channel.seq, "remove", "", step=house.ids.step(), now=house.millis())
    house.store.channels.set_state(channel.seq, move(State(channel.state), Event.LOSS).value)
