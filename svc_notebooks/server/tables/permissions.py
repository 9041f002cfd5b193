"""Permissions: who has which role on which file, beside its owner."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, delete, select, union_all, update

from ...core.files.permissions import Role
from ..database.engine import Database, Prepared, inserting
from ..database.schema import files, permissions
from .files import BELOW


class PermissionRow(NamedTuple):
    """One permission; `role` is a number of core/files/permissions.py, `since` in Unix milliseconds."""

    file: str
    id: str
    type: str
    grantee: str
    role: int
    since: int
    by: str


_COLUMNS = tuple(permissions.c[name] for name in PermissionRow._fields)
_THIS = (permissions.c.file == bindparam("key"), permissions.c.id == bindparam("which"))

_ADD = inserting(permissions, PermissionRow._fields)
_OF = Prepared(
    select(*_COLUMNS).where(permissions.c.file == bindparam("key")).order_by(permissions.c.since, permissions.c.id)
)
_TO_THEM = select(permissions.c.file).where(permissions.c.type == "user", permissions.c.grantee == bindparam("user"))
_TO_WRITERS = (
    select(permissions.c.file)
    .join(files, files.c.id == permissions.c.file)
    .where(files.c.owner == bindparam("owner"), permissions.c.role >= int(Role.WRITER))
)
_HAS = Prepared(union_all(_TO_THEM, _TO_WRITERS).limit(1))
_SET_ROLE = Prepared(update(permissions).where(*_THIS).values(role=bindparam("then")))
_DROP = Prepared(delete(permissions).where(*_THIS))
_DROP_BELOW = Prepared(delete(permissions).where(permissions.c.file.in_(select(BELOW.c.id))))
_DROP_ALL = Prepared(delete(permissions).where(permissions.c.file == bindparam("top")))


class Permissions:
    """The permissions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, row: PermissionRow) -> None:
        """A new permission."""
        self._database.change(_ADD, row._asdict())

    def of(self, file_id: str) -> list[PermissionRow]:
        """Those of a file itself, the oldest first."""
        return [PermissionRow._make(row) for row in self._database.run(_OF, {"key": file_id})]

    def has_any(self, user: str) -> bool:
        """Whether others may have files that this user sees: shared with them, or put into a folder of theirs."""
        return self._database.fetch_one(_HAS, {"user": user.lower(), "owner": user}) is not None

    def set_role(self, file_id: str, which: str, role: int) -> None:
        """Another role for somebody who has one."""
        self._database.change(_SET_ROLE, {"key": file_id, "which": which, "then": role})

    def drop(self, file_id: str, which: str) -> None:
        """Take a permission away."""
        self._database.change(_DROP, {"key": file_id, "which": which})

    def drop_all(self, top: str) -> None:
        """Forget the permissions of a file and of everything below it."""
        self._database.change(_DROP_BELOW, {"top": top})
        self._database.change(_DROP_ALL, {"top": top})
