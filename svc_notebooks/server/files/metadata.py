"""Builds and changes the rows of files."""

from __future__ import annotations

import json
from typing import Any

from ...core.errors.catalogue import refuse
from ...core.files.fields import FILE_FIELDS
from ...core.http.media_types import OCTET_STREAM, VENDOR_TYPES
from ...core.http.messages import JSONObject
from ...core.times import parse_time, to_millis
from ..dispatch.service_context import Caller, ServiceContext
from .access import file_for, refuse_file, writable_folder
from .tables import NO_EXTRA, FileRow

# The names of the fields that `FileRow.extra` stores with the values that the client sent.
STORED_FIELDS = tuple(field.name for field in FILE_FIELDS if field.stored)

_OTHER_TYPES = frozenset({"folder", "shortcut", *VENDOR_TYPES})

# The key in `FileRow.extra` of the user who last changed the file. It is absent if that user is the owner.
_MODIFIER = "lastModifyingUser"


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
    mime_type = str(metadata.get("mimeType") or media_type or OCTET_STREAM)
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
