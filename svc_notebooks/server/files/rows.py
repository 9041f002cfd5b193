"""Builds and changes file rows from the metadata of a request, and checks it against the stored files."""

from __future__ import annotations

import json
from typing import Any

from ...core.clock import parse_time, to_millis
from ...core.errors.catalogue import refuse
from ...core.errors.decision_ids import ROOT, WHO_TRASHES
from ...core.files.permissions import Role
from ...core.http.messages import JSONObject
from ...core.http.mime import UNKNOWN
from ...core.http.native_formats import VENDOR_TYPES
from ..context.access_tokens import Caller
from ..context.service_context import ServiceContext
from ..tables.files import FileRow
from . import change_log
from .roles import effective_role

_EXTRA = (
    "contentHints", "contentRestrictions", "copyRequiresWriterPermission", "description", "folderColorRgb",
    "originalFilename", "viewersCanCopyContent", "writersCanShare",
)  # fmt: skip
"""Writable fields that are kept as they came."""

_MODIFIER = "lastModifyingUser"
"""Kept beside them, where it is not the owner."""


def file_for(context: ServiceContext, caller: Caller, file_id: str, minimum_role: Role) -> FileRow:
    """A file that this caller has at least this role on; `root` is the folder that everything of theirs is in.

    Raises ApiError: 404 for who does not see it, 403 for who may not do this with it.
    """
    row = context.store.files.get(context.root(caller.user) if file_id == "root" else file_id)
    role = effective_role(context, caller.user, row) if row and _token_reaches(context, caller, row) else None
    if row is None or role is None:
        raise refuse("fileNotFound", fileId=file_id[:200])
    if role < minimum_role:
        raise refuse("filePermission", fileId=row.id)
    return row


def can_see(context: ServiceContext, caller: Caller, row: FileRow) -> bool:
    """Whether a file is there at all for who asks."""
    return _token_reaches(context, caller, row) and effective_role(context, caller.user, row) is not None


def _token_reaches(context: ServiceContext, caller: Caller, row: FileRow) -> bool:
    """Whether the token lets its client see this file, of all that the user sees."""
    own_root = row.parent is None and row.owner == caller.user
    return not caller.app_only or own_root or context.store.files.is_open_with(row.id, caller.client)


def readable_file(context: ServiceContext, caller: Caller, file_id: str) -> FileRow:
    """A file that this caller may read. Raises ApiError (404)."""
    return file_for(context, caller, file_id, Role.READER)


def writers_can_share(row: FileRow) -> bool:
    """Whether others than the owner may share it."""
    return json.loads(row.extra).get("writersCanShare") is not False


def writable_folder(context: ServiceContext, caller: Caller, file_id: str) -> FileRow:
    """A folder that this caller may put files into. Raises ApiError."""
    row = file_for(context, caller, file_id, Role.WRITER)
    if row.mime_type != context.folder_type:
        raise refuse("invalid", field="parents", message=f"{file_id[:200]} is no folder.")
    return row


def is_document(context: ServiceContext, media_type: str | None) -> bool:
    """Whether this is the type of a native document: no blob, no folder, no shortcut."""
    excluded = (context.folder_type, context.shortcut_type, *map(context.names.native, VENDOR_TYPES))
    return media_type is not None and context.names.is_native(media_type) and media_type not in excluded


def check_new(context: ServiceContext, caller: Caller, metadata: JSONObject) -> None:
    """Refuse what cannot be created, before a byte is taken and again when it is stored. Raises ApiError."""
    file_id, media_type = metadata.get("id"), metadata.get("mimeType")
    if isinstance(file_id, str):
        _check_id(context, caller, file_id, is_document(context, _text_or_none(media_type)))
    if parents := metadata.get("parents"):
        writable_folder(context, caller, _first_parent(parents))
    if media_type == context.shortcut_type:
        _check_target(context, caller, metadata)


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


def _check_target(context: ServiceContext, caller: Caller, metadata: JSONObject) -> None:
    details = metadata.get("shortcutDetails")
    if not isinstance(details, dict):
        raise refuse("required", field="shortcutDetails.targetId")
    readable_file(context, caller, str(details["targetId"]))


def new_row(context: ServiceContext, caller: Caller, metadata: JSONObject, media_type: str | None) -> FileRow:
    """The row of a new file without content; `media_type`: that of the content, if it has any."""
    fields = {name: value for name, value in metadata.items() if value is not None}
    mime_type = str(fields.get("mimeType") or media_type or UNKNOWN)
    parents, details, now = fields.get("parents"), fields.get("shortcutDetails"), context.millis()
    parent = writable_folder(context, caller, _first_parent(parents)).id if parents else context.root(caller.user)
    file_id = str(fields.get("id") or (context.ids.native() if is_document(context, mime_type) else context.ids.blob()))
    row = _empty_row(file_id, caller.user, parent, context.policy.default_name, mime_type, now)
    row = row._replace(target=str(details["targetId"]) if isinstance(details, dict) else None)
    row = changed_row(context, caller, row, metadata)
    extra = json.loads(row.extra)
    if not context.names.is_native(mime_type):
        extra.setdefault("originalFilename", row.name)
    if row.target:
        extra["targetMimeType"] = readable_file(context, caller, row.target).mime_type
    return row._replace(extra=json.dumps(extra))


def _empty_row(file_id: str, owner: str, parent: str | None, name: str, media_type: str, now: int) -> FileRow:
    return FileRow(
        id=file_id,
        owner=owner,
        parent=parent,
        name=name,
        mime_type=media_type,
        created=now,
        modified=now,
        modified_by_me=now,
        viewed=None,
        trashed=0,
        explicitly_trashed=0,
        trashed_at=None,
        starred=0,
        content=None,
        size=None,
        version=0,
        abusive=0,
        target=None,
        extra="{}",
    )


def root_row(context: ServiceContext, owner: str) -> FileRow:
    """The folder that everything of a new user is in."""
    return _empty_row(context.ids.root(), owner, None, "My files", context.folder_type, context.millis())._replace(
        version=1
    )


def add_file(context: ServiceContext, caller: Caller, row: FileRow, metadata: JSONObject) -> None:
    """Store a new file, inside a transaction."""
    context.store.files.add(row)
    if "id" in metadata:
        context.store.users.use_id(row.id)
    context.store.files.open_with(row.id, caller.client)
    save_properties(context, caller, row.id, metadata)
    change_log.created(context, row)


def changed_row(context: ServiceContext, caller: Caller, row: FileRow, metadata: JSONObject) -> FileRow:
    """The row with this metadata; null puts a field back to its default."""
    now = context.millis()
    changes: dict[str, Any] = {"modified": now, "modified_by_me": now, "version": row.version + 1}
    if "name" in metadata:
        changes["name"] = metadata["name"] if metadata["name"] is not None else context.policy.default_name
    if metadata.get("mimeType") is not None:
        changes["mime_type"] = _media_type(context, row, str(metadata["mimeType"]))
    changes |= _timestamps(metadata, now, row)
    if "starred" in metadata:
        changes["starred"] = int(bool(metadata["starred"]))
    if "trashed" in metadata:
        if row.owner != caller.user:
            raise refuse("filePermission", decided_by=WHO_TRASHES, fileId=row.id)
        changes |= _trash_columns(context, row, bool(metadata["trashed"]), now)
    if any(name in metadata for name in _EXTRA) or caller.user != row.owner or _MODIFIER in row.extra:
        changes["extra"] = _extra(row, {**metadata, _MODIFIER: None if caller.user == row.owner else caller.user})
    return row._replace(**changes)


def _media_type(context: ServiceContext, row: FileRow, requested_type: str) -> str:
    """A native document stays what it is, and nothing becomes one by its name alone."""
    native = context.names.is_native(row.mime_type) or context.names.is_native(requested_type)
    if native and requested_type != row.mime_type:
        raise refuse("noConversion", source=row.mime_type, target=requested_type)
    return requested_type


def _timestamps(metadata: JSONObject, now: int, row: FileRow) -> dict[str, int | None]:
    instants: dict[str, int | None] = {}
    for name, column in (("createdTime", "created"), ("modifiedTime", "modified"), ("viewedByMeTime", "viewed")):
        if isinstance(value := metadata.get(name), str):
            instants[column] = to_millis(parse_time(value))
    if instants.get("modified") is not None:
        instants["modified_by_me"] = instants["modified"]
    return instants


def _trash_columns(context: ServiceContext, row: FileRow, into: bool, now: int) -> dict[str, int | None]:
    """Into the trash by itself; out of it unless a folder above is there."""
    if row.parent is None and into:
        raise refuse("filePermission", decided_by=ROOT, fileId=row.id)
    parent = context.store.files.get(row.parent) if row.parent else None
    trashed = into or bool(parent and parent.trashed)
    already = row.trashed_at if row.explicitly_trashed else now
    return {"explicitly_trashed": int(into), "trashed": int(trashed), "trashed_at": already if into else None}


def _extra(row: FileRow, metadata: JSONObject) -> str:
    extra = json.loads(row.extra)
    for name in (*_EXTRA, _MODIFIER):
        if name in metadata:
            extra[name] = metadata[name]
    return json.dumps({name: value for name, value in extra.items() if value is not None})


def save_properties(context: ServiceContext, caller: Caller, file_id: str, metadata: JSONObject) -> None:
    """Store properties, for all clients, and appProperties, for the caller's; null removes all or one."""
    for name, client in (("properties", ""), ("appProperties", caller.client)):
        if name not in metadata:
            continue
        sent = metadata[name]
        old = context.store.files.properties(file_id, client)
        changes: dict[str, Any] = sent if isinstance(sent, dict) else dict.fromkeys(old)
        if len(old.keys() | changes.keys()) > context.policy.max_properties:
            message = f"at most {context.policy.max_properties} entries."
            raise refuse("invalid", decided_by="max_properties", field=name, message=message)
        context.store.files.set_properties(file_id, client, changes)


def _first_parent(parents: Any) -> str:
    return str(parents[0])


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None
