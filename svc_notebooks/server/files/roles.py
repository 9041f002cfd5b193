"""Computes a user's role from the owners and the permissions of a file and of the folders above the file."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...core.errors.catalogue import refuse
from ...core.files.permissions import Role
from ..context.service_context import ServiceContext
from ..tables.files import FileRow
from ..tables.permissions import PermissionRow


def effective_role(context: ServiceContext, user: str, row: FileRow) -> Role | None:
    """Return the role of a user on a file, or None if the user cannot see the file."""
    if row.owner == user:
        return Role.OWNER
    roles = [Role.WRITER for ancestor in _file_and_ancestors(context, row) if ancestor.owner == user]
    roles += [Role(grant.role) for grant in effective_permissions(context, row) if _applies_to(grant, user)]
    return max(roles, default=None)


def can_download(row: FileRow, role: Role) -> bool:
    """Return whether a role may download, export and copy a file. Only writers may if the file forbids copying."""
    if role >= Role.WRITER:
        return True
    extra = json.loads(row.extra)
    return not (extra.get("viewersCanCopyContent") or extra.get("copyRequiresWriterPermission"))


def check_can_download(context: ServiceContext, user: str, row: FileRow, refusal: str) -> None:
    """Raise ApiError (403) if a user may not download, export or copy a file (A6-05).

    `refusal` is the key of the error in the error catalogue.
    """
    if row.owner != user and not can_download(row, effective_role(context, user, row) or Role.READER):
        raise refuse(refusal, fileId=row.id)


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
    folder = next((ancestor for ancestor in _file_and_ancestors(context, row) if ancestor is not row), None)
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
