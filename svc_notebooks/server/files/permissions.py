"""Permissions on the wire: create, list, get, update, delete."""

from __future__ import annotations

from ...core.errors.catalogue import refuse
from ...core.field_mask import Mask, Shape
from ...core.files.permissions import PERMISSION_SHAPE, PermissionRequest, Role, check_permission, check_role
from ...core.http.messages import JSONObject, Response
from ..context.page_tokens import decode_page_token, encode_page_token
from ..context.responses import empty, json_response
from ..context.service_context import RequestContext, ServiceContext
from ..store.files import FileRow
from ..store.permissions import PermissionRow
from . import change_events
from .access_control import users_with_access
from .operations import int_param, parse_fields_param, read_json, selected
from .resource import ANYONE, permission_id, permission_resource, permissions_of
from .rows import file_for, writers_can_share

_DEFAULT: Mask = {"kind": {}, "id": {}, "type": {}, "role": {}}
_MOST = 100
_LIST_SHAPE: Shape = {"kind": None, "nextPageToken": None, "permissions": PERMISSION_SHAPE}


def create(context: ServiceContext, request: RequestContext) -> Response:
    """Give somebody a role; who has one already gets this one instead."""
    mask = parse_fields_param(request.query, _DEFAULT, PERMISSION_SHAPE)
    asked = check_permission(read_json(request.body, context.policy.max_metadata_size))
    _check_transfer(request, asked.role)
    with context.store.transaction():
        row = _shareable(context, request)
        found = _given(context, request, row, asked)
    return _answer(request, mask, found)


def _given(context: ServiceContext, request: RequestContext, row: FileRow, asked: PermissionRequest) -> JSONObject:
    if asked.type == "user" and asked.grantee == row.owner.lower():
        return permissions_of(context, row)[0]
    which = _id_for(asked)
    old = _own(context, row, which)
    if old:
        return permission_resource(context, _with_role(context, row, old, asked.role))
    new = PermissionRow(row.id, which, asked.type, asked.grantee, asked.role, context.millis(), request.caller.user)
    context.store.permissions.add(new)
    change_events.permitted(context, row)
    return permission_resource(context, new)


def _id_for(asked: PermissionRequest) -> str:
    """A group may have the address of a user, and is not that user."""
    if not asked.grantee:
        return ANYONE
    return permission_id(f"group {asked.grantee}" if asked.type == "group" else asked.grantee)


def _with_role(context: ServiceContext, row: FileRow, old: PermissionRow, role: Role) -> PermissionRow:
    if old.role != role:
        context.store.permissions.set_role(row.id, old.id, role)
        change_events.role_changed(context, row)
    return old._replace(role=role)


def _check_transfer(request: RequestContext, role: Role) -> None:
    if role is Role.OWNER:
        raise refuse("noTransfer")


def _shareable(context: ServiceContext, request: RequestContext) -> FileRow:
    """The file, if the caller may share it. Raises ApiError (403, 404)."""
    row = file_for(context, request.caller, request.file_id, Role.WRITER)
    closed = row.owner != request.caller.user and not writers_can_share(row)
    if row.parent is None or closed:
        raise refuse("filePermission", fileId=row.id)
    return row


def _own(context: ServiceContext, row: FileRow, which: str) -> PermissionRow | None:
    return next((one for one in context.store.permissions.of(row.id) if one.id == which), None)


def _changeable(context: ServiceContext, row: FileRow, which: str) -> PermissionRow:
    """A permission of the file itself; the owner's stays, an inherited one is the folder's. Raises ApiError."""
    if found := _own(context, row, which):
        return found
    if which in (one["id"] for one in permissions_of(context, row)):
        raise refuse("filePermission", fileId=row.id)
    raise refuse("permissionNotFound", permissionId=which[:200])


def update(context: ServiceContext, request: RequestContext) -> Response:
    """Another role for somebody who has one."""
    mask = parse_fields_param(request.query, _DEFAULT, PERMISSION_SHAPE)
    wanted = check_role(read_json(request.body, context.policy.max_metadata_size))
    _check_transfer(request, wanted)
    with context.store.transaction():
        row = _shareable(context, request)
        found = _with_role(context, row, _changeable(context, row, request.permission_id), wanted)
    return _answer(request, mask, permission_resource(context, found))


def delete(context: ServiceContext, request: RequestContext) -> Response:
    """Take a role away; one's own anybody may give up."""
    with context.store.transaction():
        row = file_for(context, request.caller, request.file_id, Role.READER)
        if request.permission_id != permission_id(request.caller.user):
            row = _shareable(context, request)
        found, before = _changeable(context, row, request.permission_id), users_with_access(context, row)
        context.store.permissions.drop(row.id, found.id)
        change_events.unpermitted(context, row, before)
    return empty(204)


def get(context: ServiceContext, request: RequestContext) -> Response:
    """One permission, for those who may see them."""
    mask = parse_fields_param(request.query, _DEFAULT, PERMISSION_SHAPE)
    row = file_for(context, request.caller, request.file_id, Role.WRITER)
    for one in permissions_of(context, row):
        if one["id"] == request.permission_id:
            return _answer(request, mask, one)
    raise refuse("permissionNotFound", permissionId=request.permission_id[:200])


def list_permissions(context: ServiceContext, request: RequestContext) -> Response:
    """Who has which role, the owner first; inherited ones are among them."""
    mask = parse_fields_param(request.query, {"kind": {}, "nextPageToken": {}, "permissions": _DEFAULT}, _LIST_SHAPE)
    row = file_for(context, request.caller, request.file_id, Role.WRITER)
    every = permissions_of(context, row)
    size = int_param(request.query, "pageSize", len(every), _MOST) if "pageSize" in request.query else len(every)
    about, token = ("permissions", row.id), request.query.get("pageToken")
    start = decode_page_token(token, about, 1, context.secret)[0] if token else 0
    value: JSONObject = {
        "kind": context.names.kind("permissionList"),
        "permissions": list(every[start : start + size]),
    }
    if start + size < len(every):
        value["nextPageToken"] = encode_page_token((start + size,), about, context.secret)
    return _answer(request, mask, value)


def _answer(request: RequestContext, mask: Mask | None, value: JSONObject) -> Response:
    return json_response(request.query, selected(mask, value))
