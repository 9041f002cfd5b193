"""Handles the requests on permissions, which share files with users, groups, domains and anyone."""

from __future__ import annotations

from ...core.errors.catalogue import refuse
from ...core.field_mask import Mask, Shape, shape_of
from ...core.files.permissions import PERMISSION_SHAPE, PermissionRequest, Role, check_permission, check_role
from ...core.http.messages import Response
from ...core.resources.files import Permission, PermissionList
from ..dispatch.page_tokens import decode_page_token, encode_page_token
from ..dispatch.requests_and_responses import (
    empty_response,
    int_param,
    json_response,
    parse_fields_param,
    read_json,
    select_fields,
)
from ..dispatch.service_context import RequestContext, ServiceContext
from .access import check_sharing, file_for, refuse_file, users_with_access
from .change_log import record_permissions
from .resource import ANYONE, permission_id, permission_resource, permissions_of
from .tables import FileRow, PermissionRow

_DEFAULT: Mask = {"kind": {}, "id": {}, "type": {}, "role": {}}
_MAX_PAGE_SIZE = 100
_LIST_SHAPE: Shape = {**shape_of(PermissionList), "permissions": PERMISSION_SHAPE}


def create(context: ServiceContext, request: RequestContext) -> Response:
    """Give a user, a group, a domain or anyone a role on a file. An existing role of the same grantee is replaced."""
    mask = parse_fields_param(request.query, _DEFAULT, PERMISSION_SHAPE)
    requested = check_permission(read_json(request.body, context.policy.max_metadata_size))
    if requested.role is Role.OWNER:
        raise refuse("noTransfer")
    with context.store.transaction():
        row = _shareable_file(context, request)
        permission = _grant(context, request, row, requested)
    return json_response(request.query, select_fields(mask, permission))


def _grant(context: ServiceContext, request: RequestContext, row: FileRow, requested: PermissionRequest) -> Permission:
    if requested.type == "user" and requested.grantee == row.owner.lower():
        return permissions_of(context, row)[0]
    new_id = ANYONE
    if requested.grantee:  # a group and a user may have the same address, but are different grantees
        new_id = permission_id(f"group {requested.grantee}" if requested.type == "group" else requested.grantee)
    if old := _own_permission(context, row, new_id):
        return permission_resource(context, _set_role(context, row, old, requested.role))
    new = PermissionRow(
        row.id, new_id, requested.type, requested.grantee, requested.role, context.millis(), request.caller.user
    )
    context.store.permissions.add(new)
    record_permissions(context, row, is_new=True)
    return permission_resource(context, new)


def _set_role(context: ServiceContext, row: FileRow, old: PermissionRow, role: Role) -> PermissionRow:
    if old.role != role:
        context.store.permissions.set_role(row.id, old.id, role)
        record_permissions(context, row)
    return old._replace(role=role)


def _shareable_file(context: ServiceContext, request: RequestContext) -> FileRow:
    row = file_for(context, request.caller, request.file_id, Role.WRITER)
    if row.parent is None:
        raise refuse_file(row)
    check_sharing(context, request.caller.user, row)
    return row


def _own_permission(context: ServiceContext, row: FileRow, permission_id: str) -> PermissionRow | None:
    own = context.store.permissions.of(row.id)
    return next((permission for permission in own if permission.id == permission_id), None)


def _changeable_permission(context: ServiceContext, row: FileRow, permission_id: str) -> PermissionRow:
    """Return a permission on the file itself. Raises ApiError for an inherited, unknown or owner's permission."""
    if permission := _own_permission(context, row, permission_id):
        return permission
    if permission_id in (permission["id"] for permission in permissions_of(context, row)):
        raise refuse_file(row)
    raise refuse("permissionNotFound", permissionId=permission_id[:200])


def update(context: ServiceContext, request: RequestContext) -> Response:
    """Change the role of a permission, and return a response with the permission."""
    mask = parse_fields_param(request.query, _DEFAULT, PERMISSION_SHAPE)
    role = check_role(read_json(request.body, context.policy.max_metadata_size))
    if role is Role.OWNER:
        raise refuse("noTransfer")
    with context.store.transaction():
        row = _shareable_file(context, request)
        permission = _set_role(context, row, _changeable_permission(context, row, request.permission_id), role)
    return json_response(request.query, select_fields(mask, permission_resource(context, permission)))


def delete(context: ServiceContext, request: RequestContext) -> Response:
    """Delete a permission. The caller must be able to share the file, except to delete the caller's own permission."""
    with context.store.transaction():
        row = file_for(context, request.caller, request.file_id, Role.READER)
        if request.permission_id != permission_id(request.caller.user):
            row = _shareable_file(context, request)
        permission = _changeable_permission(context, row, request.permission_id)
        before = users_with_access(context, row)
        context.store.permissions.drop(row.id, permission.id)
        record_permissions(context, row, before=before)
    return empty_response(204)


def get(context: ServiceContext, request: RequestContext) -> Response:
    """Return a response with a permission. The caller must be a writer of the file."""
    mask = parse_fields_param(request.query, _DEFAULT, PERMISSION_SHAPE)
    row = file_for(context, request.caller, request.file_id, Role.WRITER)
    for permission in permissions_of(context, row):
        if permission["id"] == request.permission_id:
            return json_response(request.query, select_fields(mask, permission))
    raise refuse("permissionNotFound", permissionId=request.permission_id[:200])


def list_permissions(context: ServiceContext, request: RequestContext) -> Response:
    """Return a page of the permissions on a file, the owner's first. The caller must be a writer of the file."""
    mask = parse_fields_param(request.query, {"kind": {}, "nextPageToken": {}, "permissions": _DEFAULT}, _LIST_SHAPE)
    row = file_for(context, request.caller, request.file_id, Role.WRITER)
    permissions = permissions_of(context, row)
    size = len(permissions)
    if "pageSize" in request.query:
        size = int_param(request.query, "pageSize", size, _MAX_PAGE_SIZE)
    listing, token = ("permissions", row.id), request.query.get("pageToken")
    start = decode_page_token(token, listing, 1, context.secret)[0] if token else 0
    value: PermissionList = {
        "kind": context.names.kind("permissionList"),
        "permissions": permissions[start : start + size],
    }
    if start + size < len(permissions):
        value["nextPageToken"] = encode_page_token((start + size,), listing, context.secret)
    return json_response(request.query, select_fields(mask, value))
