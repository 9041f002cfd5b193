"""Permissions on the wire: create, list, get, update, delete."""

from __future__ import annotations

from ...core.errors.catalogue import refuse
from ...core.field_mask import Mask, Shape
from ...core.files.permissions import PERMISSION_SHAPE, PermissionRequest, Role, check_permission, check_role
from ...core.http.messages import JSONObject, Response
from ..context import page_tokens as paging
from ..context.responses import as_json, empty
from ..context.service_context import Call, House
from ..store.files import FileRow
from ..store.permissions import PermissionRow
from . import change_events as notices, rows as drafts
from .access_control import audience
from .operations import mask_of, number, read_json, selected
from .resource import ANYONE, permission_id, permission_resource, permissions_of

_DEFAULT: Mask = {"kind": {}, "id": {}, "type": {}, "role": {}}
_MOST = 100
_LIST_SHAPE: Shape = {"kind": None, "nextPageToken": None, "permissions": PERMISSION_SHAPE}


def create(house: House, call: Call) -> Response:
    """Give somebody a role; who has one already gets this one instead."""
    mask = mask_of(call.query, _DEFAULT, PERMISSION_SHAPE)
    asked = check_permission(read_json(call.body, house.policy.max_metadata_size))
    _check_transfer(call, asked.role)
    with house.store.transaction():
        row = _shareable(house, call)
        found = _given(house, call, row, asked)
    return _answer(call, mask, found)


def _given(house: House, call: Call, row: FileRow, asked: PermissionRequest) -> JSONObject:
    if asked.type == "user" and asked.grantee == row.owner.lower():
        return permissions_of(house, row)[0]
    which = _id_for(asked)
    old = _own(house, row, which)
    if old:
        return permission_resource(house, _with_role(house, row, old, asked.role))
    new = PermissionRow(row.id, which, asked.type, asked.grantee, asked.role, house.millis(), call.caller.user)
    house.store.permissions.add(new)
    notices.permitted(house, row)
    return permission_resource(house, new)


def _id_for(asked: PermissionRequest) -> str:
    """A group may have the address of a user, and is not that user."""
    if not asked.grantee:
        return ANYONE
    return permission_id(f"group {asked.grantee}" if asked.type == "group" else asked.grantee)


def _with_role(house: House, row: FileRow, old: PermissionRow, role: Role) -> PermissionRow:
    if old.role != role:
        house.store.permissions.set_role(row.id, old.id, role)
        notices.role_changed(house, row)
    return old._replace(role=role)


def _check_transfer(call: Call, role: Role) -> None:
    if role is Role.OWNER:
        raise refuse("noTransfer")


def _shareable(house: House, call: Call) -> FileRow:
    """The file, if the caller may share it. Raises ApiError (403, 404)."""
    row = drafts.file_for(house, call.caller, call.file_id, Role.WRITER)
    closed = row.owner != call.caller.user and not drafts.writers_can_share(row)
    if row.parent is None or closed:
        raise refuse("filePermission", fileId=row.id)
    return row


def _own(house: House, row: FileRow, which: str) -> PermissionRow | None:
    return next((one for one in house.store.permissions.of(row.id) if one.id == which), None)


def _changeable(house: House, row: FileRow, which: str) -> PermissionRow:
    """A permission of the file itself; the owner's stays, an inherited one is the folder's. Raises ApiError."""
    if found := _own(house, row, which):
        return found
    if which in (one["id"] for one in permissions_of(house, row)):
        raise refuse("filePermission", fileId=row.id)
    raise refuse("permissionNotFound", permissionId=which[:200])


def update(house: House, call: Call) -> Response:
    """Another role for somebody who has one."""
    mask = mask_of(call.query, _DEFAULT, PERMISSION_SHAPE)
    wanted = check_role(read_json(call.body, house.policy.max_metadata_size))
    _check_transfer(call, wanted)
    with house.store.transaction():
        row = _shareable(house, call)
        found = _with_role(house, row, _changeable(house, row, call.permission_id), wanted)
    return _answer(call, mask, permission_resource(house, found))


def delete(house: House, call: Call) -> Response:
    """Take a role away; one's own anybody may give up."""
    with house.store.transaction():
        row = drafts.file_for(house, call.caller, call.file_id, Role.READER)
        if call.permission_id != permission_id(call.caller.user):
            row = _shareable(house, call)
        found, before = _changeable(house, row, call.permission_id), audience(house, row)
        house.store.permissions.drop(row.id, found.id)
        notices.unpermitted(house, row, before)
    return empty(204)


def get(house: House, call: Call) -> Response:
    """One permission, for those who may see them."""
    mask = mask_of(call.query, _DEFAULT, PERMISSION_SHAPE)
    row = drafts.file_for(house, call.caller, call.file_id, Role.WRITER)
    for one in permissions_of(house, row):
        if one["id"] == call.permission_id:
            return _answer(call, mask, one)
    raise refuse("permissionNotFound", permissionId=call.permission_id[:200])


def list_permissions(house: House, call: Call) -> Response:
    """Who has which role, the owner first; inherited ones are among them."""
    mask = mask_of(call.query, {"kind": {}, "nextPageToken": {}, "permissions": _DEFAULT}, _LIST_SHAPE)
    row = drafts.file_for(house, call.caller, call.file_id, Role.WRITER)
    every = permissions_of(house, row)
    size = number(call.query, "pageSize", len(every), _MOST) if "pageSize" in call.query else len(every)
    about, token = ("permissions", row.id), call.query.get("pageToken")
    start = paging.read(token, about, 1, house.secret)[0] if token else 0
    value: JSONObject = {
        "kind": house.names.kind("permissionList"),
        "permissions": list(every[start : start + size]),
    }
    if start + size < len(every):
        value["nextPageToken"] = paging.write((start + size,), about, house.secret)
    return _answer(call, mask, value)


def _answer(call: Call, mask: Mask | None, value: JSONObject) -> Response:
    return as_json(call.query, selected(mask, value))
