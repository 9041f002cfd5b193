"""Builds the File resource from a database row; one table has a function for each field."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from ...core import field_mask
from ...core.clock import format_time, from_millis
from ...core.field_mask import ALL, Mask
from ...core.files.fields import CAPABILITIES, FILE_FIELDS
from ...core.files.permissions import GRANTEES, Role
from ...core.http.messages import JSON, JSONObject, Query, Request, join_url, segment
from ...core.http.mime import extension_of
from ..blobs.damage import DamagedContent
from ..context.access_tokens import Caller
from ..context.external_origin import external_origin
from ..context.service_context import ServiceContext
from ..tables.contents import Digests
from ..tables.files import FileRow
from ..tables.permissions import PermissionRow
from .roles import can_download, effective_permissions, effective_role

_log = logging.getLogger(__name__)

DEFAULT_MASK: Mask = {"kind": ALL, "id": ALL, "name": ALL, "mimeType": ALL}
"""What an answer has unless `fields` says otherwise."""

_VIEWS = {"document": "document", "spreadsheet": "spreadsheets", "presentation": "presentation"}
_FOLDERS_ONLY = frozenset(
    {"canAddChildren", "canDeleteChildren", "canListChildren", "canRemoveChildren", "canTrashChildren"}
)


@dataclass(frozen=True)
class ViewContext:
    """To whom files are shown, and at what address, which is only found where a link asks for it."""

    context: ServiceContext
    caller: Caller
    request: Request

    @cached_property
    def origin(self) -> str:
        """Where the client sees this service. Raises ApiError (400) for a Host that is none."""
        return external_origin(self.request, self.context)


class _File:
    """A file while its resource is made: what several fields need is found once."""

    def __init__(self, row: FileRow, view: ViewContext) -> None:
        self.row = row
        self.context = view.context
        self.caller = view.caller
        self._view = view

    @property
    def origin(self) -> str:
        return self._view.origin

    @cached_property
    def extra(self) -> dict[str, Any]:
        field_mask: dict[str, Any] = json.loads(self.row.extra)
        return field_mask

    @cached_property
    def digests(self) -> Digests | None:
        if self.row.content is None or self.row.size is None:
            return None
        try:
            return self.context.content.digests(self.row.content, self.row.size)
        except DamagedContent as error:  # one damaged file must not hide the others of a list
            _log.error("no checksums of %s (%s): %s", self.row.name, self.row.id, error)
            return None

    @cached_property
    def role(self) -> Role:
        return effective_role(self.context, self.caller.user, self.row) or Role.READER

    @cached_property
    def permissions(self) -> list[JSONObject]:
        return permissions_of(self.context, self.row)

    @property
    def binary(self) -> bool:
        return self.row.size is not None

    def user(self, email: str) -> JSONObject:
        return user_resource(self.context, self.caller, email)


ANYONE = "anyoneWithLink"
"""The id of the permission that is for anyone."""


def permission_id(email: str) -> str:
    """The number that stands for a user among a file's permissions."""
    return str(int.from_bytes(sha256(email.encode("utf-8", "replace")).digest()[:8])).zfill(20)


def display_name(email: str) -> str:
    """What a user is called."""
    return email.partition("@")[0].replace(".", " ").title()


def user_resource(context: ServiceContext, caller: Caller, email: str) -> JSONObject:
    """A user as this caller sees them."""
    return {
        "kind": context.names.kind("user"),
        "displayName": display_name(email),
        "me": email == caller.user,
        "permissionId": permission_id(email),
        "emailAddress": email,
    }


def _time(millis: int | None) -> str | None:
    return None if millis is None else format_time(from_millis(millis))


def _digest(file: _File, name: str) -> str | None:
    return getattr(file.digests, name) if file.digests else None


def _capabilities(file: _File) -> JSONObject:
    folder, trashed = file.row.mime_type == file.context.folder_type, bool(file.row.trashed)
    barred = not can_download(file.row, file.role)
    denied = {"canUntrash": not trashed, "canDownload": not file.binary or barred, "canReadRevisions": not file.binary}
    denied["canCopy"] = folder or barred
    if not (file.row.owner == file.caller.user or file.extra.get("writersCanShare", True)):
        denied["canShare"] = True
    return {
        name: _MINIMUM_ROLES.get(name, Role.WRITER) <= file.role
        and not denied.get(name, name in _FOLDERS_ONLY and not folder)
        for name in CAPABILITIES
    }


_MINIMUM_ROLES = {
    "canComment": Role.COMMENTER,
    "canCopy": Role.READER,
    "canDelete": Role.OWNER,
    "canDeleteChildren": Role.OWNER,
    "canDownload": Role.READER,
    "canListChildren": Role.READER,
    "canTrash": Role.OWNER,
    "canTrashChildren": Role.OWNER,
    "canUntrash": Role.OWNER,
}
"""The least role for what somebody may do; for all else it is writer."""


def permissions_of(context: ServiceContext, row: FileRow) -> list[JSONObject]:
    """All permissions that hold for a file, the owner's first."""
    owner = PermissionRow(row.id, permission_id(row.owner), "user", row.owner, Role.OWNER, row.created, row.owner)
    others = (grant for grant in effective_permissions(context, row) if grant.id != owner.id)
    return [permission_resource(context, grant) for grant in (owner, *others)]


def permission_resource(context: ServiceContext, row: PermissionRow) -> JSONObject:
    """A permission as the wire shows it."""
    field_mask: JSONObject = {
        "id": row.id,
        "displayName": display_name(row.grantee) if row.grantee else None,
        "type": row.type,
        "kind": context.names.kind("permission"),
        GRANTEES[row.type] or "": row.grantee or None,
        "role": Role(row.role).wire_name,
    }
    return {name: value for name, value in field_mask.items() if value is not None}


def _permissions(file: _File) -> list[JSONObject] | None:
    """For those who may see them."""
    return file.permissions if file.role >= Role.WRITER else None


def _permission_ids(file: _File) -> list[JSON] | None:
    return [permission["id"] for permission in _permissions(file) or []] or None


def _modifier(file: _File) -> JSONObject:
    return file.user(file.extra.get("lastModifyingUser") or file.row.owner)


def _own_grant(file: _File) -> PermissionRow | None:
    own_id = permission_id(file.caller.user.lower())
    return next((grant for grant in file.context.store.permissions.of(file.row.id) if grant.id == own_id), None)


def _shared_time(file: _File) -> str | None:
    grant = _own_grant(file)
    return _time(grant.since) if grant else None


def _sharing_user(file: _File) -> JSONObject | None:
    grant = _own_grant(file)
    return file.user(grant.by) if grant else None


def _shortcut(file: _File) -> JSONObject | None:
    if file.row.target is None:
        return None
    return {"targetId": file.row.target, "targetMimeType": file.extra.get("targetMimeType")}


def view_path(context: ServiceContext, row: FileRow) -> str:
    """Where the page of a file is, below the service's address."""
    short = row.mime_type.removeprefix(context.names.media_prefix)
    if short in _VIEWS:
        return f"/{_VIEWS[short]}/d/{row.id}/edit?usp=storagesdk"
    return f"/file/d/{row.id}/view?usp=storagesdk"


def _export_links(file: _File) -> JSONObject | None:
    """Where a native document is to be had in each format that it can become."""
    native = file.row.mime_type.removeprefix(file.context.names.media_prefix)
    url = join_url(file.origin, file.context.names.path("files", segment(file.row.id), "export"))
    targets = map(file.context.names.media_type, file.context.converter.exports.get(native, ()))
    return {target: f"{url}?{Query([('mimeType', target)])}" for target in targets} or None


def _trashing_user(file: _File) -> JSONObject | None:
    return file.user(file.row.owner) if file.row.explicitly_trashed else None


# fmt: off
_FIELD_GETTERS: Mapping[str, Callable[[_File], Any]] = {
    "kind":                         lambda f: f.context.names.kind("file"),
    "id":                           lambda f: f.row.id,
    "name":                         lambda f: f.row.name,
    "mimeType":                     lambda f: f.row.mime_type,
    "appProperties":                lambda f: f.context.store.files.properties(f.row.id, f.caller.client) or None,
    "capabilities":                 _capabilities,
    "contentRestrictions":          lambda f: f.extra.get("contentRestrictions"),
    "copyRequiresWriterPermission": lambda f: f.extra.get("copyRequiresWriterPermission", False),
    "createdTime":                  lambda f: _time(f.row.created),
    "description":                  lambda f: f.extra.get("description"),
    "explicitlyTrashed":            lambda f: bool(f.row.explicitly_trashed),
    "exportLinks":                  _export_links,
    "fileExtension":                lambda f: extension_of(f.row.name)[0],
    "folderColorRgb":               lambda f: f.extra.get("folderColorRgb"),
    "fullFileExtension":            lambda f: extension_of(f.row.name)[1],
    "hasThumbnail":                 lambda f: False,
    "headRevisionId":               lambda f: f"0B{f.row.content}",
    "isAppAuthorized":              lambda f: f.context.store.files.is_open_with(f.row.id, f.caller.client),
    "lastModifyingUser":            _modifier,
    "md5Checksum":                  lambda f: _digest(f, "md5"),
    "modifiedByMe":                 lambda f: f.row.modified_by_me is not None,
    "modifiedByMeTime":             lambda f: _time(f.row.modified_by_me),
    "modifiedTime":                 lambda f: _time(f.row.modified),
    "originalFilename":             lambda f: f.extra.get("originalFilename"),
    "ownedByMe":                    lambda f: f.row.owner == f.caller.user,
    "owners":                       lambda f: [f.user(f.row.owner)],
    "parents":                      lambda f: [f.row.parent] if f.row.parent else None,
    "permissionIds":                _permission_ids,
    "permissions":                  _permissions,
    "properties":                   lambda f: f.context.store.files.properties(f.row.id, "") or None,
    "quotaBytesUsed":               lambda f: str(f.row.size or 0),
    "sha1Checksum":                 lambda f: _digest(f, "sha1"),
    "sha256Checksum":               lambda f: _digest(f, "sha256"),
    "shared":                       lambda f: len(f.permissions) > 1,
    "sharedWithMeTime":             _shared_time,
    "sharingUser":                  _sharing_user,
    "shortcutDetails":              _shortcut,
    "size":                         lambda f: str(f.row.size),
    "spaces":                       lambda f: ["storage"],
    "starred":                      lambda f: bool(f.row.starred),
    "thumbnailVersion":             lambda f: "0",
    "trashed":                      lambda f: bool(f.row.trashed),
    "trashedTime":                  lambda f: _time(f.row.trashed_at),
    "trashingUser":                 _trashing_user,
    "version":                      lambda f: str(f.row.version),
    "viewedByMe":                   lambda f: f.row.viewed is not None,
    "viewedByMeTime":               lambda f: _time(f.row.viewed),
    "viewersCanCopyContent":        lambda f: f.extra.get("viewersCanCopyContent", False),
    "webContentLink":               lambda f: f"{f.origin}/uc?id={f.row.id}",
    "webViewLink":                  lambda f: f.origin + view_path(f.context, f.row),
    "writersCanShare":              lambda f: f.extra.get("writersCanShare", True),
}
# fmt: on
_BINARY = frozenset(field.name for field in FILE_FIELDS if field.binary)


def file_resource(row: FileRow, mask: Mask, view: ViewContext) -> JSONObject:
    """The parts of a file that a mask selects; only what is selected is looked up or computed."""
    file = _File(row, view)
    selection: JSONObject = {}
    for name in _FIELD_GETTERS if field_mask.STAR in mask else [name for name in _FIELD_GETTERS if name in mask]:
        value = None if name in _BINARY and not file.binary else _FIELD_GETTERS[name](file)
        if value is not None:
            selection[name] = field_mask.apply(mask.get(name, ALL), value)
    return selection
