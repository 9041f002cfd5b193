"""The tables of files, their change logs and their permissions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import CTE, Select, bindparam, delete, func, select, union_all, update

from ...core.files.fields import search_keys
from ...core.files.query import Search, SortKey
from ..store.engine import Prepared, Row, TableGroup, inserting, position
from ..store.schema import changes, files, opened, permissions, properties, ranges
from .search import Viewer, page_statement, shared_with_writers

NO_EXTRA = "{}"


class FileRow(NamedTuple):
    """A database row of a file. Times are in Unix milliseconds. `extra` is JSON text of the fields stored as sent."""

    id: str
    owner: str
    parent: str | None
    name: str
    mime_type: str
    created: int
    modified: int
    modified_by_me: int | None
    viewed: int | None = None
    trashed: int = 0
    explicitly_trashed: int = 0
    trashed_at: int | None = None
    starred: int = 0
    content: int | None = None
    size: int | None = None
    version: int = 0
    abusive: int = 0
    target: str | None = None
    extra: str = NO_EXTRA


class FilePage(NamedTuple):
    """A page of files. `last` has the sort key values of the last file, or is None if this is the last page."""

    rows: list[FileRow]
    last: tuple[Any, ...] | None


_KEYS = ("name_key", "natural_key", "words", "all_words")
_COLUMNS = tuple(files.c[name] for name in FileRow._fields)
_WRITTEN = (*FileRow._fields, *_KEYS)


def _below(*also: Any) -> CTE:
    """Return a query for the ids of all files below the folder `top`.

    With conditions, the query descends only into files that meet them, and selects only such files.
    """
    first = select(files.c.id).where(files.c.parent == bindparam("top"), *also)
    tree = first.cte("tree", recursive=True)
    return tree.union(select(files.c.id).join(tree, files.c.parent == tree.c.id).where(*also))


BELOW = _below()
"""A query for the ids of all files below the folder `top`."""

FOLLOWING = _below(files.c.explicitly_trashed == 0, files.c.owner == bindparam("owner"))
"""A query for the ids of the files of `owner` below the folder `top` that are trashed and untrashed with the folder."""

_GET = Prepared(select(*_COLUMNS).where(files.c.id == bindparam("key")))
_ADD = inserting(files, _WRITTEN)
_SAVE = Prepared(
    update(files).where(files.c.id == bindparam("key")).values({name: bindparam(name) for name in _WRITTEN})
)
_CONTENTS_BELOW = Prepared(select(files.c.content).where(files.c.id.in_(select(BELOW.c.id))))
_CHILDREN = Prepared(
    select(*_COLUMNS)
    .where(files.c.parent == bindparam("key"), files.c.trashed == 0)
    .order_by(files.c.name_key, files.c.seq)
    .limit(bindparam("most"))
)
_LATEST = Prepared(
    select(*_COLUMNS)
    .where(files.c.parent.is_not(None))
    .order_by(files.c.modified.desc(), files.c.seq.desc())
    .limit(bindparam("most"))
)
_HOLDER = Prepared(select(files.c.id).where(files.c.content == bindparam("content")).limit(1))
_PROPERTIES_BELOW = Prepared(delete(properties).where(properties.c.file.in_(select(BELOW.c.id))))
_DROP_BELOW = Prepared(delete(files).where(files.c.id.in_(select(BELOW.c.id))))
_DROP = Prepared(delete(files).where(files.c.id == bindparam("key")))
_FOREIGN_BELOW = Prepared(
    select(files.c.id).join(BELOW, files.c.id == BELOW.c.id).where(files.c.owner != bindparam("owner"))
)
_UNSHAREABLE_BELOW = Prepared(
    select(files.c.id)
    .join(BELOW, files.c.id == BELOW.c.id)
    .where(files.c.owner != bindparam("user"), files.c.extra.contains('"writersCanShare": false'))
    .limit(1)
)
_FOLLOW = Prepared(update(files).where(files.c.id.in_(select(FOLLOWING.c.id))).values(trashed=bindparam("flag")))
_TRASHED = Prepared(
    select(files.c.id).where(files.c.owner == bindparam("user"), files.c.trashed == 1, files.c.explicitly_trashed == 1)
)
_USAGE = Prepared(
    select(
        func.coalesce(func.sum(files.c.size), 0), func.coalesce(func.sum(files.c.size).filter(files.c.trashed == 1), 0)
    ).where(files.c.owner == bindparam("user"))
)
_PROPERTIES = Prepared(
    select(properties.c.key, properties.c.value)
    .where(properties.c.file == bindparam("file"), properties.c.client == bindparam("client"))
    .order_by(properties.c.key)
)
_DROP_PROPERTIES = Prepared(delete(properties).where(properties.c.file == bindparam("file")))
_DROP_PROPERTY = Prepared(
    delete(properties).where(
        properties.c.file == bindparam("file"),
        properties.c.client == bindparam("client"),
        properties.c.key == bindparam("key"),
    )
)
_OPEN_WITH = inserting(opened, ("file", "client"), otherwise="IGNORE")
_IS_OPEN_WITH = Prepared(
    select(opened.c.file).where(opened.c.file == bindparam("file"), opened.c.client == bindparam("client"))
)
_DROP_MAKERS = Prepared(delete(opened).where(opened.c.file == bindparam("file")))
_DROP_MAKERS_BELOW = Prepared(delete(opened).where(opened.c.file.in_(select(BELOW.c.id))))
_ADD_PROPERTY = inserting(properties, ("file", "client", "key", "value"))


class FileTable(TableGroup):
    """The table of files, with their properties and the clients that opened them."""

    def get(self, file_id: str) -> FileRow | None:
        """Return the row of a file, or None if the id is unknown."""
        row = self._database.fetch_one(_GET, {"key": file_id})
        return FileRow._make(row) if row else None

    def add(self, row: FileRow) -> None:
        """Add a file."""
        self._database.queue_change(_ADD, row._asdict() | search_keys(row.name, row.extra))

    def save(self, row: FileRow) -> None:
        """Replace the row of a file."""
        self._database.queue_change(_SAVE, {**row._asdict(), **search_keys(row.name, row.extra), "key": row.id})

    def drop(self, file_id: str) -> list[int]:
        """Delete a file and all files below it, and return the numbers of the contents that no file uses any more."""
        top = self.get(file_id)
        below = self._database.run(_CONTENTS_BELOW, {"top": file_id})
        self._database.queue_change(_PROPERTIES_BELOW, {"top": file_id})
        self._database.queue_change(_DROP_MAKERS_BELOW, {"top": file_id})
        self._database.queue_change(_DROP_BELOW, {"top": file_id})
        self._database.queue_change(_DROP_PROPERTIES, {"file": file_id})
        self._database.queue_change(_DROP_MAKERS, {"file": file_id})
        self._database.queue_change(_DROP, {"key": file_id})
        contents = dict.fromkeys([top.content if top else None, *(content for (content,) in below)])
        return [content for content in contents if content is not None and not self.holds(content)]

    def holds(self, content: int) -> bool:
        """Return whether any file uses the content with this number."""
        return bool(self._database.run(_HOLDER, {"content": content}))

    def of_parts(self, parts: Sequence[str]) -> list[FileRow]:
        """Return the files whose contents include a part with one of these keys."""
        contents = select(ranges.c.content).where(ranges.c.part.in_(parts))
        rows = self._database.select(select(*_COLUMNS).where(files.c.content.in_(contents)).order_by(files.c.seq))
        return [FileRow._make(row) for row in rows]

    def open_with(self, file_id: str, client: str) -> None:
        """Record that an OAuth client created a file, or that a user opened it with that client."""
        self._database.queue_change(_OPEN_WITH, {"file": file_id, "client": client})

    def is_open_with(self, file_id: str, client: str) -> bool:
        """Return whether a file was created or opened with an OAuth client."""
        return self._database.fetch_one(_IS_OPEN_WITH, {"file": file_id, "client": client}) is not None

    def children(self, folder: str, most: int) -> list[FileRow]:
        """Return at most `most` files in a folder, sorted by name. Trashed files are left out."""
        return [FileRow._make(row) for row in self._database.run(_CHILDREN, {"key": folder, "most": most})]

    def latest(self, most: int) -> list[FileRow]:
        """Return at most `most` files of all users, the last modified file first. Root folders are left out."""
        return [FileRow._make(row) for row in self._database.fetch_all(_LATEST, {"most": most})]

    def foreign_below(self, top: str, owner: str) -> list[str]:
        """Return the ids of the files below a folder that `owner` does not own, from the top down."""
        return [key for (key,) in self._database.run(_FOREIGN_BELOW, {"top": top, "owner": owner})]

    def unshareable_below(self, top: str, user: str) -> list[str]:
        """Return the id of a file of others below a folder that only its owner may share, if there is one."""
        return [key for (key,) in self._database.run(_UNSHAREABLE_BELOW, {"top": top, "user": user})]

    def follow(self, top: str, owner: str, *, trashed: bool) -> None:
        """Set or clear the trashed flag of the owner's files below a folder.

        Files that the owner trashed directly, and everything below them, keep the flag.
        """
        self._database.queue_change(_FOLLOW, {"top": top, "owner": owner, "flag": int(trashed)})

    def in_trash(self, owner: str) -> list[str]:
        """Return the ids of the files of an owner that were trashed directly, not together with a folder."""
        return [key for (key,) in self._database.run(_TRASHED, {"user": owner})]

    def usage(self, owner: str) -> tuple[int, int]:
        """Return the total size in bytes of a user's files, and the size of the files in the trash."""
        total, trashed = self._database.fetch_one(_USAGE, {"user": owner}) or (0, 0)
        return int(total), int(trashed)

    def properties(self, file_id: str, client: str) -> dict[str, str]:
        """Return the properties of a file that are private to a client. For "", return the public properties."""
        return dict(self._database.run(_PROPERTIES, {"file": file_id, "client": client}))

    def set_properties(self, file_id: str, client: str, changes: dict[str, str | None]) -> None:
        """Set properties of a file for a client, or public properties for "". The value None removes a property."""
        for key, value in changes.items():
            values = {"file": file_id, "client": client, "key": key}
            self._database.queue_change(_DROP_PROPERTY, values)
            if value is not None:
                self._database.queue_change(_ADD_PROPERTY, {**values, "value": value})

    def page(
        self, viewer: Viewer, search: Search | None, keys: Sequence[SortKey], after: tuple[Any, ...] | None, size: int
    ) -> FilePage:
        """Return a page of at most `size` files that a user can see and that match the search.

        `after` has the sort key values of the previous page's last file, or is None.
        """
        count = None if self._database.chooses_indexes else self._count
        selected: Sequence[Row]
        if search is None and after is None:
            first_page = _first_page(tuple(keys), size + 1, viewer.shared, viewer.app_only, count is not None)
            selected = self._database.run(first_page, viewer._asdict())
        else:
            selected = self._database.select(page_statement(_COLUMNS, viewer, search, keys, after, size + 1, count))
        width = len(FileRow._fields)
        rows = [FileRow._make(row[:width]) for row in selected[:size]]
        return FilePage(rows, selected[size - 1][width:] if len(selected) > size else None)

    def _count(self, statement: Select[Any]) -> int:
        return int(self._database.select(statement)[0][0])


@lru_cache(maxsize=64)  # SQLAlchemy takes longer to build and compile the query than SQLite to run it
def _first_page(keys: tuple[SortKey, ...], size: int, shared: bool, app_only: bool, names_index: bool) -> Prepared:
    """Return the query for the first page without a search, which names an index without counting its rows.

    The fields of the viewer are its parameters.
    """
    parameters: dict[str, Any] = {name: bindparam(name) for name in Viewer._fields}
    viewer = Viewer(**(parameters | {"shared": shared, "app_only": app_only}))
    count = (lambda statement: 0) if names_index else None
    return Prepared(page_statement(_COLUMNS, viewer, None, keys, None, size, count))


class ChangeRow(NamedTuple):
    """A change log entry, which is the last change of a file. `seq` is its number, `time` is in Unix milliseconds."""

    seq: int
    file: str
    time: int


_CHANGE_COLUMNS = ("user", "file", "time")
_ADD_CHANGE = inserting(changes, _CHANGE_COLUMNS, otherwise="REPLACE")
_ADD_BELOW = inserting(
    changes, _CHANGE_COLUMNS, otherwise="REPLACE", source=select(bindparam("user"), BELOW.c.id, bindparam("time"))
)
_PAGE = Prepared(
    select(*(changes.c[name] for name in ChangeRow._fields))
    .where(changes.c.user == bindparam("user"), changes.c.seq >= bindparam("start"))
    .order_by(changes.c.seq)
    .limit(bindparam("size"))
)
_SINCE = Prepared(select(changes.c.file).where(changes.c.user == bindparam("user"), changes.c.seq > bindparam("since")))
_LAST = position(func.max(changes.c.seq))


class ChangeLog(TableGroup):
    """The table with the change logs of all users."""

    def add(self, users: Iterable[str], file_id: str, time: int) -> None:
        """Add a change of a file to the end of these users' logs. An earlier entry for the file is removed."""
        for user in users:
            self._database.queue_change(_ADD_CHANGE, {"user": user, "file": file_id, "time": time})

    def add_below(self, users: Iterable[str], top: str, time: int) -> None:
        """Add a change for every file below a folder to the logs of these users."""
        for user in users:
            self._database.queue_change(_ADD_BELOW, {"user": user, "top": top, "time": time})

    def page(self, user: str, start: int, size: int) -> list[ChangeRow]:
        """Return at most `size` entries of a user's log, in order, beginning with the entry number `start`."""
        values = {"user": user, "start": start, "size": size}
        return [ChangeRow._make(row) for row in self._database.run(_PAGE, values)]

    def since(self, log: str, seq: int) -> list[str]:
        """Return the ids in a log that were added after the entry number `seq`."""
        return [entry for (entry,) in self._database.run(_SINCE, {"user": log, "since": seq})]

    def last(self) -> int:
        """Return the number of the newest entry in all logs, or 0 if there are no entries."""
        return self._database.run_position(_LAST, {})


class PermissionRow(NamedTuple):
    """A database row of a permission. `role` is the number of a Role, and `since` is in Unix milliseconds."""

    file: str
    id: str
    type: str
    grantee: str
    role: int
    since: int
    by: str


_PERMISSION_COLUMNS = tuple(permissions.c[name] for name in PermissionRow._fields)
_THIS = (permissions.c.file == bindparam("key"), permissions.c.id == bindparam("which"))

_ADD_PERMISSION = inserting(permissions, PermissionRow._fields)
_OF = Prepared(
    select(*_PERMISSION_COLUMNS)
    .where(permissions.c.file == bindparam("key"))
    .order_by(permissions.c.since, permissions.c.id)
)
_TO_THEM = select(permissions.c.file).where(permissions.c.type == "user", permissions.c.grantee == bindparam("user"))
_HAS = Prepared(union_all(_TO_THEM, shared_with_writers(bindparam("owner"))).limit(1))
_SET_ROLE = Prepared(update(permissions).where(*_THIS).values(role=bindparam("then")))
_DROP_PERMISSION = Prepared(delete(permissions).where(*_THIS))
_DROP_PERMISSIONS_BELOW = Prepared(delete(permissions).where(permissions.c.file.in_(select(BELOW.c.id))))
_DROP_ALL = Prepared(delete(permissions).where(permissions.c.file == bindparam("top")))


class Permissions(TableGroup):
    """The table of permissions on files."""

    def add(self, row: PermissionRow) -> None:
        """Add a permission."""
        self._database.queue_change(_ADD_PERMISSION, row._asdict())

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
        self._database.queue_change(_DROP_PERMISSION, {"key": file_id, "which": which})

    def drop_all(self, top: str) -> None:
        """Delete the permissions on a file and on everything below it."""
        self._database.queue_change(_DROP_PERMISSIONS_BELOW, {"top": top})
        self._database.queue_change(_DROP_ALL, {"top": top})
