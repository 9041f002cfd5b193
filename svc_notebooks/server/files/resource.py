"""Builds the File resource from a database row, one field at a time."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from operator import attrgetter
from typing import Any, NamedTuple, cast

from ...core.field_mask import ALL, STAR, Mask, apply
from ...core.files.fields import CAPABILITIES, FILE_FIELDS
from ...core.files.permissions import GRANTEES, Role, is_allowed
from ...core.http.media_types import extension_of
from ...core.http.messages import Query, join_url, segment
from ...core.resources.field import Field
from ...core.resources.files import File, Permission, ShortcutDetails, User
from ...core.times import format_millis
from ..dispatch.service_context import Caller, RequestContext, ServiceContext, link_base_url
from ..store.blob_store import DamagedContent
from ..store.contents import Digests
from .access import effective_permissions, effective_role, restrictions_on
from .tables import FileRow, PermissionRow

_log = logging.getLogger(__name__)

# The fields of a response without a `fields` parameter.
DEFAULT_MASK: Mask = {"kind": ALL, "id": ALL, "name": ALL, "mimeType": ALL}

# The id of a permission whose type is `anyone`.
ANYONE = "anyoneWithLink"

_VIEWS = {"document": "document", "spreadsheet": "spreadsheets", "presentation": "presentation"}
_FOLDERS_ONLY = frozenset(
    {"canAddChildren", "canDeleteChildren", "canListChildren", "canRemoveChildren", "canTrashChildren"}
)


class ViewContext(NamedTuple):
    """The caller for whom a resource is built, and the base URL of links, as the client addresses the service."""

    context: ServiceContext
    caller: Caller
    base_url: str


_LINKED = frozenset({STAR, "exportLinks", "webContentLink", "webViewLink"})


def view_of(context: ServiceContext, request: RequestContext, mask: Mask) -> ViewContext:
    """Return the view of the caller of a request, for fields in a mask.

    Raises ApiError (400) for an invalid Host, before a change and if a field is a link.
    """
    is_read = request.method in ("GET", "HEAD")
    base_url = "" if is_read and _LINKED.isdisjoint(mask) else link_base_url(request.http_request, context)
    return ViewContext(context, request.caller, base_url)


@dataclass(eq=False)
class _File:
    row: FileRow
    context: ServiceContext
    caller: Caller
    base_url: str

    @cached_property
    def extra(self) -> dict[str, Any]:
        return cast(dict[str, Any], json.loads(self.row.extra))

    @cached_property
    def digests(self) -> Digests | None:
        if self.row.content is None or self.row.size is None:
            return None
        try:
            return self.context.content.digests(self.row.content, self.row.size)
        except DamagedContent as error:  # a damaged file must not make the whole file list fail
            _log.error("the checksums of %s (%s) cannot be computed: %s", self.row.name, self.row.id, error)
            return None

    @cached_property
    def role(self) -> Role:
        return effective_role(self.context, self.caller.user, self.row) or Role.READER

    @cached_property
    def permissions(self) -> list[Permission]:
        return permissions_of(self.context, self.row)

    @cached_property
    def own_grant(self) -> PermissionRow | None:
        own_id = permission_id(self.caller.user.lower())
        return next((grant for grant in self.context.store.permissions.of(self.row.id) if grant.id == own_id), None)

    def user(self, email: str) -> User:
        return user_resource(self.context, self.caller, email)


def permission_id(email: str) -> str:
    """Return the id of a user's permissions, which has 20 digits and is computed from the e-mail address."""
    return str(int.from_bytes(sha256(email.encode("utf-8", "replace")).digest()[:8])).zfill(20)


def display_name(email: str) -> str:
    """Return the display name of a user, such as "Ada Hill" for ada.hill@example.org."""
    return email.partition("@")[0].replace(".", " ").title()


def user_resource(context: ServiceContext, caller: Caller, email: str) -> User:
    """Return the User resource for an e-mail address."""
    return {
        "kind": context.names.kind("user"),
        "displayName": display_name(email),
        "me": email == caller.user,
        "permissionId": permission_id(email),
        "emailAddress": email,
    }


def permissions_of(context: ServiceContext, row: FileRow) -> list[Permission]:
    """Return the Permission resources of a file, including inherited permissions. The owner's permission is first."""
    owner = PermissionRow(row.id, permission_id(row.owner), "user", row.owner, Role.OWNER, row.created, row.owner)
    others = (grant for grant in effective_permissions(context, row) if grant.id != owner.id)
    return [permission_resource(context, grant) for grant in (owner, *others)]


def permission_resource(context: ServiceContext, row: PermissionRow) -> Permission:
    """Return the Permission resource for a database row."""
    resource = {
        "id": row.id,
        "displayName": display_name(row.grantee) if row.grantee else None,
        "type": row.type,
        "kind": context.names.kind("permission"),
        GRANTEES[row.type] or "": row.grantee or None,
        "role": Role(row.role).wire_name,
    }
    return cast(Permission, {name: value for name, value in resource.items() if value is not None})


def view_path(context: ServiceContext, row: FileRow) -> str:
    """Return the URL path and query of the web page on which a file is viewed or edited."""
    native = row.mime_type.removeprefix(context.names.media_prefix)
    if native in _VIEWS:
        return f"/{_VIEWS[native]}/d/{row.id}/edit?usp=storagesdk"
    return f"/file/d/{row.id}/view?usp=storagesdk"


def _capabilities(file: _File) -> dict[str, bool]:
    folder, binary = file.row.mime_type == file.context.folder_type, file.row.size is not None
    restrictions = restrictions_on(file.context, file.row, file.role)
    applies = {
        **dict.fromkeys(_FOLDERS_ONLY, folder),
        **dict.fromkeys(("canDownload", "canReadRevisions"), binary),
        "canCopy": not folder,
        "canUntrash": bool(file.row.trashed),
    }
    return {name: applies.get(name, True) and is_allowed(name, file.role, restrictions) for name in CAPABILITIES}


def _export_links(file: _File) -> dict[str, str] | None:
    native = file.row.mime_type.removeprefix(file.context.names.media_prefix)
    url = join_url(file.base_url, file.context.names.path("files", segment(file.row.id), "export"))
    targets = map(file.context.names.media_type, file.context.converter.exports.get(native, ()))
    return {target: f"{url}?{Query([('mimeType', target)])}" for target in targets} or None


def _permissions(file: _File) -> list[Permission] | None:
    return file.permissions if file.role >= Role.WRITER else None


def _shortcut(file: _File) -> ShortcutDetails | None:
    if file.row.target is None:
        return None
    target_type: Any = file.extra.get("targetMimeType")
    return {"targetId": file.row.target, "targetMimeType": target_type}


def _time(millis: int | None) -> str | None:
    return None if millis is None else format_millis(millis)


# fmt: off
_COMPUTED: Mapping[str, Callable[[_File], Any]] = {
    "kind":              lambda f: f.context.names.kind("file"),
    "id":                attrgetter("row.id"),
    "name":              attrgetter("row.name"),
    "mimeType":          attrgetter("row.mime_type"),
    "appProperties":     lambda f: f.context.store.files.properties(f.row.id, f.caller.client) or None,
    "capabilities":      _capabilities,
    "contentHints":      lambda f: None,  # for the search index only
    "createdTime":       lambda f: format_millis(f.row.created),
    "explicitlyTrashed": lambda f: bool(f.row.explicitly_trashed),
    "exportLinks":       _export_links,
    "fileExtension":     lambda f: extension_of(f.row.name)[0],
    "fullFileExtension": lambda f: extension_of(f.row.name)[1],
    "hasThumbnail":      lambda f: False,
    "headRevisionId":    lambda f: f"0B{f.row.content}",
    "isAppAuthorized":   lambda f: f.context.store.files.is_open_with(f.row.id, f.caller.client),
    "lastModifyingUser": lambda f: f.user(f.extra.get("lastModifyingUser") or f.row.owner),
    "md5Checksum":       lambda f: f.digests and f.digests.md5,
    "modifiedByMe":      lambda f: f.row.modified_by_me is not None,
    "modifiedByMeTime":  lambda f: _time(f.row.modified_by_me),
    "modifiedTime":      lambda f: format_millis(f.row.modified),
    "ownedByMe":         lambda f: f.row.owner == f.caller.user,
    "owners":            lambda f: [f.user(f.row.owner)],
    "parents":           lambda f: [f.row.parent] if f.row.parent else None,
    "permissionIds":     lambda f: [permission["id"] for permission in _permissions(f) or ()] or None,
    "permissions":       _permissions,
    "properties":        lambda f: f.context.store.files.properties(f.row.id, "") or None,
    "quotaBytesUsed":    lambda f: str(f.row.size or 0),
    "sha1Checksum":      lambda f: f.digests and f.digests.sha1,
    "sha256Checksum":    lambda f: f.digests and f.digests.sha256,
    "shared":            lambda f: len(f.permissions) > 1,
    "sharedWithMeTime":  lambda f: _time(f.own_grant.since) if f.own_grant else None,
    "sharingUser":       lambda f: f.user(f.own_grant.by) if f.own_grant else None,
    "shortcutDetails":   _shortcut,
    "size":              lambda f: str(f.row.size),
    "spaces":            lambda f: ["storage"],
    "starred":           lambda f: bool(f.row.starred),
    "thumbnailVersion":  lambda f: "0",
    "trashed":           lambda f: bool(f.row.trashed),
    "trashedTime":       lambda f: _time(f.row.trashed_at),
    "trashingUser":      lambda f: f.user(f.row.owner) if f.row.explicitly_trashed else None,
    "version":           lambda f: str(f.row.version),
    "viewedByMe":        lambda f: f.row.viewed is not None,
    "viewedByMeTime":    lambda f: _time(f.row.viewed),
    "webContentLink":    lambda f: f"{f.base_url}/uc?id={f.row.id}",
    "webViewLink":       lambda f: f.base_url + view_path(f.context, f.row),
}
# fmt: on


def _extra_getter(field: Field) -> Callable[[_File], Any]:
    return lambda file: file.extra.get(field.name, field.default)


_GETTERS = {name: getter for name, getter in _COMPUTED.items() if name in DEFAULT_MASK} | {
    field.name: _COMPUTED.get(field.name) or _extra_getter(field)
    for field in FILE_FIELDS
    if field.name in _COMPUTED or field.stored
}
_BINARY = frozenset(field.name for field in FILE_FIELDS if field.binary)


def file_resource(row: FileRow, mask: Mask, view: ViewContext) -> File:
    """Return a File resource with the fields that a mask selects. Other fields are neither read nor computed."""
    file, is_native = _File(row, *view), row.size is None
    resource = {}
    for name, getter in _getters(tuple(mask)):
        if is_native and name in _BINARY:
            continue
        if (value := getter(file)) is not None:
            below = mask.get(name)
            resource[name] = apply(below, value) if below else value
    return cast(File, resource)


@lru_cache(maxsize=64)
def _getters(names: tuple[str, ...]) -> list[tuple[str, Callable[[_File], Any]]]:
    """Return the selected fields in the order of the resource, with the functions that compute them."""
    return [(name, getter) for name, getter in _GETTERS.items() if STAR in names or name in names]
