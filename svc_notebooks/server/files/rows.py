"""Builds and changes the rows of files, and computes who may do what with a file from its owners and permissions.

The change log is written, and notifications are queued, inside the transaction that changes the file. So messages are
queued only for committed changes (Events).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Set as AbstractSet
from typing import Any

from ...core.errors.catalogue import ApiError, refuse
from ...core.files.fields import FILE_FIELDS
from ...core.files.permissions import Role, is_allowed, restrictions_in
from ...core.http.media_types import UNKNOWN, VENDOR_TYPES
from ...core.http.messages import JSONObject
from ...core.notifications.deliveries import in_order
from ...core.times import parse_time, to_millis
from ..dispatch.service_context import Caller, ServiceContext
from ..notifications.tables import ChannelRow
from .tables import NO_EXTRA, FileRow, PermissionRow


def effective_role(context: ServiceContext, user: str, row: FileRow) -> Role | None:
    """Return the role of a user on a file, or None if the user cannot see the file."""
    if row.owner == user:
        return Role.OWNER
    roles = [Role.WRITER for ancestor in _file_and_ancestors(context, row) if ancestor.owner == user]
    roles += [Role(grant.role) for grant in effective_permissions(context, row) if _applies_to(grant, user)]
    return max(roles, default=None)


def restrictions_on(context: ServiceContext, row: FileRow, role: Role) -> frozenset[str]:
    """Return the names of the restrictions of a file. Those inherited from folders do not bind the file's owner."""
    restrictions = restrictions_in(json.loads(row.extra))
    for ancestor in () if role is Role.OWNER else _file_and_ancestors(context, row):
        restrictions |= restrictions_in(json.loads(ancestor.extra), inherited=True)
    return restrictions


def has_right(context: ServiceContext, user: str, row: FileRow, right: str) -> bool:
    """Return whether a user has a right on a file, which is the name of a capability."""
    role = effective_role(context, user, row)
    return role is not None and is_allowed(right, role, restrictions_on(context, row, role))


def check_right(context: ServiceContext, user: str, row: FileRow, right: str, refusal: str = "filePermission") -> None:
    """Raise ApiError (403) with a key of the error catalogue if a user does not have a right on a file."""
    if not has_right(context, user, row, right):
        raise refuse_file(row, refusal)


def refuse_file(row: FileRow, key: str = "filePermission", decided_by: str | None = None, hint: str = "") -> ApiError:
    """Return the ApiError (403) of a user who can see a file, with the file's name and a sentence as a hint."""
    return refuse(key, decided_by=decided_by, fileId=row.id, name=row.name, hint=hint)


def check_sharing(context: ServiceContext, user: str, row: FileRow, right: str = "canShare") -> None:
    """Raise ApiError (403) if a user may not change who has access to a file, or to one of the files below a folder."""
    check_right(context, user, row, right)
    if row.mime_type == context.folder_type:
        for below in context.store.files.unshareable_below(row.id, user):
            raise refuse("filePermission", fileId=below, name=f"in the folder {row.name}", hint="")
        if not is_allowed(right, Role.WRITER, restrictions_below(context, user, row)):
            raise refuse_file(row)


def restrictions_below(context: ServiceContext, user: str, row: FileRow) -> frozenset[str]:
    """Return the restrictions that other users' folders above a user's own folder put on the files of others in it."""
    if row.owner != user or row.mime_type != context.folder_type:
        return frozenset()
    above = [ancestor for ancestor in _file_and_ancestors(context, row) if ancestor.owner != user]
    inherited = [restrictions_in(json.loads(ancestor.extra), inherited=True) for ancestor in above]
    restrictions = frozenset[str]().union(*inherited)
    return restrictions if restrictions and context.store.files.foreign_below(row.id, user) else frozenset()


def _applies_to(grant: PermissionRow, user: str) -> bool:
    if grant.type == "domain":
        return user.partition("@")[2].lower() == grant.grantee
    return grant.type == "anyone" or (grant.type == "user" and grant.grantee == user.lower())


def users_with_access(context: ServiceContext, row: FileRow) -> frozenset[str]:
    """Return the e-mail addresses of the owners and named grantees of a file and of the folders above the file."""
    owners = {ancestor.owner for ancestor in _file_and_ancestors(context, row)}
    return frozenset(owners | {grant.grantee for grant in effective_permissions(context, row) if grant.type == "user"})


def effective_permissions(context: ServiceContext, row: FileRow) -> list[PermissionRow]:
    """Return the permissions on a file, including permissions inherited from the folders above the file.

    If two permissions have the same id, only the permission with the higher role is returned.
    """
    by_id: dict[str, PermissionRow] = {}
    for ancestor in _file_and_ancestors(context, row):
        for grant in context.store.permissions.of(ancestor.id):
            known = by_id.get(grant.id)
            if known is None or known.role < grant.role:
                by_id[grant.id] = grant
    return list(by_id.values())


def _file_and_ancestors(context: ServiceContext, row: FileRow) -> Iterator[FileRow]:
    """Yield a file and the folders above it. The owner's root folder is left out, because nobody else can see it."""
    ancestor: FileRow | None = row
    while ancestor is not None:
        yield ancestor
        top = ancestor.parent is None or ancestor.parent == context.root(ancestor.owner)
        ancestor = None if top else context.store.files.get(str(ancestor.parent))


STORED_FIELDS = tuple(field.name for field in FILE_FIELDS if field.stored)
"""The names of the fields that `FileRow.extra` stores with the values that the client sent."""

_OTHER_TYPES = frozenset({"folder", "shortcut", *VENDOR_TYPES})

# The key in `FileRow.extra` of the user who last changed the file. It is absent if that user is the owner.
_MODIFIER = "lastModifyingUser"


def file_for(context: ServiceContext, caller: Caller, file_id: str, minimum_role: Role = Role.READER) -> FileRow:
    """Return the row of a file, or of the caller's root folder for the id `root`.

    Raises ApiError (404) if the caller cannot see the file, and (403) if the caller's role is below `minimum_role`.
    """
    row = context.store.files.get(context.root(caller.user) if file_id == "root" else file_id)
    role = visible_role(context, caller, row) if row else None
    if row is None or role is None:
        raise refuse("fileNotFound", fileId=file_id[:200])
    if role < minimum_role:
        hint = f" The role {minimum_role.wire_name} is necessary, not {role.wire_name}."
        raise refuse_file(row, hint=hint)
    return row


def visible_role(context: ServiceContext, caller: Caller, row: FileRow) -> Role | None:
    """Return the caller's role on a file, or None if the user or the token's client cannot see the file."""
    own_root = row.parent is None and row.owner == caller.user
    if caller.app_only and not own_root and not context.store.files.is_open_with(row.id, caller.client):
        return None
    return effective_role(context, caller.user, row)


def writable_folder(context: ServiceContext, caller: Caller, file_id: str) -> FileRow:
    """Return the row of a folder in which the caller may create files. Raises ApiError for any other file."""
    row = file_for(context, caller, file_id, Role.WRITER)
    if row.mime_type != context.folder_type:
        raise refuse("invalid", field="parents", message=f"{file_id[:200]} is not a folder.")
    return row


def is_document(context: ServiceContext, media_type: str | None) -> bool:
    """Return whether a media type is a native document type, not a folder, shortcut or vendor type."""
    prefix = context.names.media_prefix
    if media_type is None or not media_type.startswith(prefix):
        return False
    return media_type.removeprefix(prefix) not in _OTHER_TYPES


def check_new(context: ServiceContext, caller: Caller, metadata: JSONObject) -> None:
    """Check the id, the parent folder and the shortcut target of a new file. Raises ApiError if one is invalid."""
    file_id, media_type = metadata.get("id"), metadata.get("mimeType")
    if isinstance(file_id, str):
        _check_id(context, caller, file_id, isinstance(media_type, str) and is_document(context, media_type))
    if parent := _parent(metadata):
        writable_folder(context, caller, parent)
    if media_type == context.shortcut_type:
        details = metadata.get("shortcutDetails")
        if not isinstance(details, dict):
            raise refuse("required", field="shortcutDetails.targetId")
        file_for(context, caller, str(details["targetId"]))


def _parent(metadata: JSONObject) -> str | None:
    parents = metadata.get("parents")
    return str(parents[0]) if isinstance(parents, list) and parents else None


def _check_id(context: ServiceContext, caller: Caller, file_id: str, document: bool) -> None:
    if document:
        raise refuse("idWithNativeType")
    if context.store.files.get(file_id):
        raise refuse("fileIdInUse")
    owner, used = context.store.users.id_state(file_id) or ("", False)
    if owner != caller.user:
        raise refuse("idNotUsable")
    if used:
        raise refuse("fileIdInUse")


def new_row(context: ServiceContext, caller: Caller, metadata: JSONObject, media_type: str | None) -> FileRow:
    """Return the row of a new file without content. `media_type` is used if the metadata has no `mimeType`."""
    mime_type = str(metadata.get("mimeType") or media_type or UNKNOWN)
    parent, details, now = _parent(metadata), metadata.get("shortcutDetails"), context.millis()
    parent = writable_folder(context, caller, parent).id if parent else context.root(caller.user)
    new_id = context.ids.native if is_document(context, mime_type) else context.ids.blob
    file_id = str(metadata.get("id") or new_id())
    row = FileRow(file_id, caller.user, parent, context.policy.default_name, mime_type, now, now, now)
    if isinstance(details, dict):
        row = row._replace(target=str(details["targetId"]))
    row = change_row(context, caller, row, metadata, now)
    extra: dict[str, Any] = {} if row.extra == NO_EXTRA else json.loads(row.extra)
    if not context.names.is_native(mime_type):
        extra.setdefault("originalFilename", row.name)
    if row.target:
        extra["targetMimeType"] = file_for(context, caller, row.target).mime_type
    return row._replace(extra=json.dumps(extra) if extra else NO_EXTRA)


def root_row(context: ServiceContext, owner: str) -> FileRow:
    """Return the row of a new user's root folder."""
    now = context.millis()
    return FileRow(context.ids.root(), owner, None, "My files", context.folder_type, now, now, now, version=1)


# The milliseconds by which the clock of the last change may be ahead. A client may have set a later `modifiedTime`.
_CLOCK_ERROR = 1000


def change_row(context: ServiceContext, caller: Caller, row: FileRow, metadata: JSONObject, now: int) -> FileRow:
    """Return a copy of a file row with the new metadata. A null value resets a field to its default.

    Raises ApiError if the media type cannot be changed, or if the caller may not trash the file.
    """
    if 0 < row.modified - now <= _CLOCK_ERROR:
        now = row.modified
    changes: dict[str, Any] = {"modified": now, "modified_by_me": now, "version": row.version + 1}
    if "name" in metadata:
        changes["name"] = metadata["name"] if metadata["name"] is not None else context.policy.default_name
    if (media_type := metadata.get("mimeType")) is not None:
        native = context.names.is_native(row.mime_type) or context.names.is_native(str(media_type))
        if native and media_type != row.mime_type:  # a change of metadata converts no content
            raise refuse("noConversion", source=row.mime_type, target=media_type)
        changes["mime_type"] = media_type
    for name, column in (("createdTime", "created"), ("modifiedTime", "modified"), ("viewedByMeTime", "viewed")):
        if isinstance(value := metadata.get(name), str):
            changes[column] = to_millis(parse_time(value))
    changes["modified_by_me"] = changes["modified"]
    if "starred" in metadata:
        changes["starred"] = int(bool(metadata["starred"]))
    if "trashed" in metadata:
        if row.owner != caller.user:
            raise refuse_file(row, decided_by="Permission to trash", hint=" The role owner is necessary.")
        changes |= _trash_columns(context, row, bool(metadata["trashed"]), now)
    modifier = None if caller.user == row.owner else caller.user
    if modifier or _MODIFIER in row.extra or not metadata.keys().isdisjoint(STORED_FIELDS):
        extra = json.loads(row.extra) | {name: metadata[name] for name in STORED_FIELDS if name in metadata}
        extra[_MODIFIER] = modifier
        changes["extra"] = json.dumps({name: value for name, value in extra.items() if value is not None})
    return row._replace(**changes)


def _trash_columns(context: ServiceContext, row: FileRow, into: bool, now: int) -> dict[str, int | None]:
    """Return the column values that trash (`into`) or untrash a file. Raises ApiError (403) for the root folder."""
    if row.parent is None and into:
        raise refuse_file(row, decided_by="Trashing, moving or deleting the root folder")
    parent = context.store.files.get(row.parent) if row.parent else None
    trashed = into or is_in_trash_with(row, parent)
    already = row.trashed_at if row.explicitly_trashed else now
    return {"explicitly_trashed": int(into), "trashed": int(trashed), "trashed_at": already if into else None}


def is_in_trash_with(row: FileRow, parent: FileRow | None) -> bool:
    """Return whether a folder in the trash takes a file along. Only the owner of a file may trash it."""
    return parent is not None and bool(parent.trashed) and parent.owner == row.owner


def save_properties(context: ServiceContext, caller: Caller, file_id: str, metadata: JSONObject) -> None:
    """Store the `properties` and the client's `appProperties` in the metadata of a file.

    A null value removes a property, and a null field removes all. Raises ApiError for too many properties.
    """
    for name, client in (("properties", ""), ("appProperties", caller.client)):
        if name not in metadata:
            continue
        sent = metadata[name]
        old = context.store.files.properties(file_id, client)
        changes: dict[str, Any] = sent if isinstance(sent, dict) else dict.fromkeys(old)
        if len(old.keys() | changes.keys()) > context.policy.max_properties:
            message = f"expected at most {context.policy.max_properties} entries."
            raise refuse("invalid", decided_by="max_properties", field=name, message=message)
        context.store.files.set_properties(file_id, client, changes)


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
