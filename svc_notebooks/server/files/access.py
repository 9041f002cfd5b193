"""Computes who may do what with a file, from its owner, its permissions and the folders above it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...core.errors.catalogue import ApiError, refuse
from ...core.files.permissions import Role, is_allowed, restrictions_in
from ..dispatch.service_context import Caller, ServiceContext
from .tables import FileRow, PermissionRow


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
