"""The table of permissions on files. The permissions of owners are not stored."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, delete, select, union_all, update

from ..database.engine import Prepared, TableGroup, inserting
from ..database.schema import permissions
from .files import BELOW
from .search import shared_with_writers


class PermissionRow(NamedTuple):
    """A database row of a permission. `role` is the number of a Role, and `since` is in Unix milliseconds."""

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
_HAS = Prepared(union_all(_TO_THEM, shared_with_writers(bindparam("owner"))).limit(1))
_SET_ROLE = Prepared(update(permissions).where(*_THIS).values(role=bindparam("then")))
_DROP = Prepared(delete(permissions).where(*_THIS))
_DROP_BELOW = Prepared(delete(permissions).where(permissions.c.file.in_(select(BELOW.c.id))))
_DROP_ALL = Prepared(delete(permissions).where(permissions.c.file == bindparam("top")))


class Permissions(TableGroup):
    """The table of permissions on files."""

    def add(self, row: PermissionRow) -> None:
        """Add a permission."""
        self._database.queue_change(_ADD, row._asdict())

    def of(self, file_id: str) -> list[PermissionRow]:
        """Return the permissions that were granted on the file itself, oldest first, without inherited permissions."""
        return [PermissionRow._make(row) for row in self._database.run(_OF, {"key": file_id})]

    def has_any(self, user: str) -> bool:
        """Return whether a user may see files of other users, which are shared files or files in the user's folders."""
        return self._database.fetch_one(_HAS, {"user": user.lower(), "owner": user}) is not None

    def set_role(self, file_id: str, which: str, role: int) -> None:
        """Change the role of a permission."""
        self._database.queue_change(_SET_ROLE, {"key": file_id, "which": which, "then": role})

    def drop(self, file_id: str, which: str) -> None:
        """Delete a permission."""
        self._database.queue_change(_DROP, {"key": file_id, "which": which})

    def drop_all(self, top: str) -> None:
        """Delete the permissions on a file and on everything below it."""
        self._database.queue_change(_DROP_BELOW, {"top": top})
        self._database.queue_change(_DROP_ALL, {"top": top})
