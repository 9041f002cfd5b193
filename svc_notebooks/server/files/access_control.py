"""Who may do what with a file: its owner, those it was shared with, and those that a folder above was shared with."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...core.errors.catalogue import refuse
from ...core.files.permissions import Role
from ..context.service_context import ServiceContext
from ..store.files import FileRow
from ..store.permissions import PermissionRow


def effective_role(context: ServiceContext, user: str, row: FileRow) -> Role | None:
    """What a user is to a file; None: they do not see it."""
    if row.owner == user:
        return Role.OWNER
    found = [Role.WRITER for above in _up(context, row) if above.owner == user]
    found += [Role(grant.role) for grant in effective_permissions(context, row) if _reaches(grant, user)]
    return max(found, default=None)


def can_download(row: FileRow, held: Role) -> bool:
    """Whether this role lets somebody download, export and copy a file, which its writers can bar for readers."""
    if held >= Role.WRITER:
        return True
    extra = json.loads(row.extra)
    return not (extra.get("viewersCanCopyContent") or extra.get("copyRequiresWriterPermission"))


def check_taking(context: ServiceContext, user: str, row: FileRow, refusal: str) -> None:
    """Refuse who may read a file and not take it along (A6-05). Raises ApiError (403)."""
    if not can_download(row, effective_role(context, user, row) or Role.READER):
        raise refuse(refusal, fileId=row.id)


def _reaches(grant: PermissionRow, user: str) -> bool:
    if grant.type == "domain":
        return user.partition("@")[2].lower() == grant.grantee
    return grant.type == "anyone" or (grant.type == "user" and grant.grantee == user.lower())


def users_with_access(context: ServiceContext, row: FileRow) -> frozenset[str]:
    """Everybody who has the file by name: owners of it and of the folders above, and users whom it was shared with."""
    owners = {above.owner for above in _up(context, row)}
    return frozenset(owners | {grant.grantee for grant in effective_permissions(context, row) if grant.type == "user"})


def effective_permissions(context: ServiceContext, row: FileRow) -> list[PermissionRow]:
    """The permissions that hold for a file, its own and inherited ones; of two for one grantee the higher role."""
    found: dict[str, PermissionRow] = {}
    for above in _up(context, row):
        for grant in context.store.permissions.of(above.id):
            known = found.get(grant.id)
            if known is None or known.role < grant.role:
                found[grant.id] = grant
    return list(found.values())


def _up(context: ServiceContext, row: FileRow) -> Iterator[FileRow]:
    """The file and the folders above it, but for its owner's root, which nobody else sees."""
    above: FileRow | None = row
    while above is not None:
        yield above
        top = above.parent is None or above.parent == context.root(above.owner)
        above = None if top else context.store.files.get(str(above.parent))
