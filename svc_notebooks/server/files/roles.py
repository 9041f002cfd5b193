"""Computes a user's role and rights from the owners, permissions and restrictions of a file and the folders above."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...core.errors.catalogue import refuse
from ...core.files.permissions import Role, is_allowed, restrictions_in
from ..dispatch.service_context import ServiceContext
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
        raise refuse(refusal, fileId=row.id)


def check_sharing(context: ServiceContext, user: str, row: FileRow, right: str = "canShare") -> None:
    """Raise ApiError (403) if a user may not change who has access to a file, or to one of the files below a folder."""
    check_right(context, user, row, right)
    if row.mime_type == context.folder_type:
        for below in context.store.files.unshareable_below(row.id, user):
            raise refuse("filePermission", fileId=below)
        if not is_allowed(right, Role.WRITER, restrictions_below(context, user, row)):
            raise refuse("filePermission", fileId=row.id)


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


def users_with_access_to_new(context: ServiceContext, row: FileRow) -> frozenset[str]:
    """Return what `users_with_access` returns for a new file, which has only inherited permissions."""
    above = None if row.parent == context.root(row.owner) else row.parent
    folder = context.store.files.get(above) if above else None
    return users_with_access(context, folder) | {row.owner} if folder else frozenset({row.owner})


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
