"""Operations on permissions: create, list, get, update, delete."""

from __future__ import annotations

from ...core.errors.catalogue import refuse
from ...core.field_mask import Mask, Shape
from ...core.files.permissions import PERMISSION_SHAPE, PermissionRequest, Role, check_permission, check_role
from ...core.http.messages import JSONObject, Response
from ..context.page_tokens import decode_page_token, encode_page_token
from ..context.responses import empty_response, json_response
from ..context.service_context import RequestContext, ServiceContext
from ..tables.files import FileRow
from ..tables.permissions import PermissionRow
from . import change_log
from .operations import int_param, parse_fields_param, read_json, select_fields
from .resource import ANYONE, permission_id, permission_resource, permissions_of
from .roles import users_with_access
from .rows import file_for, writers_can_share

_DEFAULT: Mask = {"kind": {}, "id": {}, "type": {}, "role": {}}
_MAX_PAGE_SIZE = 100
_LIST_SHAPE: Shape = {"kind": None, "nextPageToken": None, "permissions": PERMISSION_SHAPE}


def create(context: ServiceContext, request: RequestContext) -> Response:
    """Give somebody a role; who has one already gets this one instead."""
    mask = parse_fields_param(request.query, _DEFAULT, PERMISSION_SHAPE)
    requested = check_permission(read_json(request.body, context.policy.max_metadata_size))
    _check_transfer(request, requested.role)
    with context.store.transaction():
        row = _shareable_file(context, request)
        permission = _grant(context, request, row, requested)
    return _response(request, mask, permission)


def _grant(context: ServiceContext, request: RequestContext, row: FileRow, requested: PermissionRequest) -> JSONObject:
    if requested.type == "user" and requested.grantee == row.owner.lower():
        return permissions_of(context, row)[0]
    permission_id = _permission_id_for(requested)
    old = _own_permission(context, row, permission_id)
    if old:
        return permission_resource(context, _set_role(context, row, old, requested.role))
    new = PermissionRow(
        row.id, permission_id, requested.type, requested.grantee, requested.role, context.millis(), request.caller.user
    )
    context.store.permissions.add(new)
    change_log.permission_added(context, row)
    return permission_resource(context, new)


def _permission_id_for(requested: PermissionRequest) -> str:
    """A group may have the address of a user, and is not that user."""
    if not requested.grantee:
        return ANYONE
    return permission_id(f"group {requested.grantee}" if requested.type == "group" else requested.grantee)


def _set_role(context: ServiceContext, row: FileRow, old: PermissionRow, role: Role) -> PermissionRow:
    if old.role != role:
        context.store.permissions.set_role(row.id, old.id, role)
        change_log.role_changed(context, row)
    return old._replace(role=role)


def _check_transfer(request: RequestContext, role: Role) -> None:
    if role is Role.OWNER:
        raise refuse("noTransfer")


def _shareable_file(context: ServiceContext, request: RequestContext) -> FileRow:
    """The file, if the caller may share it. Raises ApiError (403, 404)."""
    row = file_for(context, request.caller, request.file_id, Role.WRITER)
    is_barred = row.owner != request.caller.user and not writers_can_share(row)
    if row.parent is None or is_barred:
        raise refuse("filePermission", fileId=row.id)
    return row


def _own_permission(context: ServiceContext, row: FileRow, permission_id: str) -> PermissionRow | None:
    return next(
        (permission for permission in context.store.permissions.of(row.id) if permission.id == permission_id), None
    )


def _changeable_permission(context: ServiceContext, row: FileRow, permission_id: str) -> PermissionRow:
    """A permission of the file itself; the owner's stays, an inherited one is the folder's. Raises ApiError."""
    if permission := _own_permission(context, row, permission_id):
        return permission
    if permission_id in (permission["id"] for permission in permissions_of(context, row)):
        raise refuse("filePermission", fileId=row.id)
    raise refuse("permissionNotFound", permissionId=permission_id[:200])


def update(context: ServiceContext, request: RequestContext) -> Response:
    """Another role for somebody who has one."""
    mask = parse_fields_param(request.query, _DEFAULT, PERMISSION_SHAPE)
    role = check_role(read_json(request.body, context.policy.max_metadata_size))
    _check_transfer(request, role)
    with context.store.transaction():
        row = _shareable_file(context, request)
        permission = _set_role(context, row, _changeable_permission(context, row, request.permission_id), role)
    return _response(request, mask, permission_resource(context, permission))


def delete(context: ServiceContext, request: RequestContext) -> Response:
    """Take a role away; one's own anybody may give up."""
    with context.store.transaction():
        row = file_for(context, request.caller, request.file_id, Role.READER)
        if request.permission_id != permission_id(request.caller.user):
            row = _shareable_file(context, request)
        permission, before = (
            _changeable_permission(context, row, request.permission_id),
            users_with_access(context, row),
        )
        context.store.permissions.drop(row.id, permission.id)
        change_log.permission_removed(context, row, before)
    return empty_response(204)


def get(context: ServiceContext, request: RequestContext) -> Response:
    """One permission, for those who may see them."""
    mask = parse_fields_param(request.query, _DEFAULT, PERMISSION_SHAPE)
    row = file_for(context, request.caller, request.file_id, Role.WRITER)
    for permission in permissions_of(context, row):
        if permission["id"] == request.permission_id:
            return _response(request, mask, permission)
    raise refuse("permissionNotFound", permissionId=request.permission_id[:200])


def list_permissions(context: ServiceContext, request: RequestContext) -> Response:
    """Who has which role, the owner first; inherited ones are among them."""
    mask = parse_fields_param(request.query, {"kind": {}, "nextPageToken": {}, "permissions": _DEFAULT}, _LIST_SHAPE)
    row = file_for(context, request.caller, request.file_id, Role.WRITER)
    permissions = permissions_of(context, row)
    size = (
        int_param(request.query, "pageSize", len(permissions), _MAX_PAGE_SIZE)
        if "pageSize" in request.query
        else len(permissions)
    )
    about, token = ("permissions", row.id), request.query.get("pageToken")
    start = decode_page_token(token, about, 1, context.secret)[0] if token else 0
    value: JSONObject = {
        "kind": context.names.kind("permissionList"),
        "permissions": list(permissions[start : start + size]),
    }
    if start + size < len(permissions):
        value["nextPageToken"] = encode_page_token((start + size,), about, context.secret)
    return _response(request, mask, value)


def _response(request: RequestContext, mask: Mask | None, value: JSONObject) -> Response:
    return json_response(request.query, select_fields(mask, value))
