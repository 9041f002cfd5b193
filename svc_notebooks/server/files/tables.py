"""The tables of files, their change logs and their permissions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ...core.files.fields import search_keys
from ...core.files.permissions import Role
from ...core.files.query import Search, SortKey
from ..store.engine import TableGroup, column_names, inserting
from ..store.schema import changes, files, opened, permissions, properties
from .search import FileQuery, Viewer, first_page

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
COLUMNS = column_names(FileRow._fields, "files.")
_FILES = f"SELECT {COLUMNS} FROM files"
_WRITTEN = (*FileRow._fields, *_KEYS)


def _below(condition: str = "") -> str:
    """Return the beginning of a query in which `tree` has the ids of all files below the folder `top`.

    With a condition, the query descends only into files that meet it, and selects only such files.
    """
    return f"""WITH RECURSIVE tree (id) AS (SELECT id FROM files WHERE parent = :top {condition}
        UNION SELECT files.id FROM files JOIN tree ON files.parent = tree.id WHERE TRUE {condition})"""


BELOW = _below()

# Like `BELOW`, with the files of `owner` that are trashed and untrashed with the folder.
FOLLOWING = _below("AND explicitly_trashed = 0 AND owner = :owner")

_GET = f"{_FILES} WHERE id = :id"
_ADD = inserting(files, _WRITTEN)
_SAVE = f"UPDATE files SET {', '.join(f'{name} = :{name}' for name in _WRITTEN)} WHERE id = :id"
_CHILDREN = f"{_FILES} WHERE parent = :folder AND trashed = 0 ORDER BY name_key, seq LIMIT :most"
_LATEST = f"""SELECT {column_names(FileRow._fields, "f.")}, p.name FROM files AS f JOIN files AS p ON p.id = f.parent
    ORDER BY f.modified DESC, f.seq DESC LIMIT :most"""
_CONTENTS_BELOW = f"{BELOW} SELECT content FROM files WHERE id IN (SELECT id FROM tree)"
_DROP = (
    f"{BELOW} DELETE FROM properties WHERE file IN (SELECT id FROM tree)",
    f"{BELOW} DELETE FROM opened WHERE file IN (SELECT id FROM tree)",
    f"{BELOW} DELETE FROM files WHERE id IN (SELECT id FROM tree)",
    "DELETE FROM properties WHERE file = :top",
    "DELETE FROM opened WHERE file = :top",
    "DELETE FROM files WHERE id = :top",
)
_FOREIGN_BELOW = f"{BELOW} SELECT files.id FROM files JOIN tree ON files.id = tree.id WHERE owner <> :owner"
_UNSHAREABLE_BELOW = f"""{_FOREIGN_BELOW} AND extra LIKE '%"writersCanShare": false%' LIMIT 1"""
_FOLLOW = f"{FOLLOWING} UPDATE files SET trashed = :flag WHERE id IN (SELECT id FROM tree)"
_TRASHED = "SELECT id FROM files WHERE owner = :owner AND trashed = 1 AND explicitly_trashed = 1"
_USAGE = """SELECT COALESCE(SUM(size), 0), COALESCE(SUM(size) FILTER (WHERE trashed = 1), 0)
    FROM files WHERE owner = :owner"""
_PROPERTIES = "SELECT key, value FROM properties WHERE file = :file AND client = :client ORDER BY key"
_DROP_PROPERTY = "DELETE FROM properties WHERE file = :file AND client = :client AND key = :key"
_ADD_PROPERTY = inserting(properties, ("file", "client", "key", "value"))
_OPEN_WITH = inserting(opened, ("file", "client"), otherwise="IGNORE")
_IS_OPEN_WITH = "SELECT file FROM opened WHERE file = :file AND client = :client"


class FileTable(TableGroup):
    """The table of files, with their properties and the clients that opened them."""

    def get(self, file_id: str) -> FileRow | None:
        """Return the row of a file, or None if the id is unknown."""
        row = self._database.fetch_one(_GET, {"id": file_id})
        return FileRow._make(row) if row else None

    def add(self, row: FileRow) -> None:
        """Add a file."""
        self._database.queue_change(_ADD, row._asdict() | search_keys(row.name, row.extra))

    def save(self, row: FileRow) -> None:
        """Replace the row of a file."""
        self._database.queue_change(_SAVE, row._asdict() | search_keys(row.name, row.extra))

    def drop(self, file_id: str) -> list[int]:
        """Delete a file and all files below it, and return the numbers of the contents that no file uses any more."""
        top = self.get(file_id)
        below = self._database.run(_CONTENTS_BELOW, {"top": file_id})
        for statement in _DROP:
            self._database.queue_change(statement, {"top": file_id})
        contents = dict.fromkeys([top.content if top else None, *(content for (content,) in below)])
        return [content for content in contents if content is not None and not self.holds(content)]

    def holds(self, content: int) -> bool:
        """Return whether any file uses the content with this number."""
        return bool(self._database.run("SELECT id FROM files WHERE content = :content LIMIT 1", {"content": content}))

    def of_parts(self, parts: Sequence[str]) -> list[FileRow]:
        """Return the files whose contents include a part with one of these keys."""
        keys = {f"part_{number}": part for number, part in enumerate(parts)}
        contents = f"SELECT content FROM rope WHERE part IN ({', '.join(f':{name}' for name in keys)})"
        rows = self._database.run(f"{_FILES} WHERE content IN ({contents}) ORDER BY seq", keys)
        return [FileRow._make(row) for row in rows]

    def open_with(self, file_id: str, client: str) -> None:
        """Record that an OAuth client created a file, or that a user opened it with that client."""
        self._database.queue_change(_OPEN_WITH, {"file": file_id, "client": client})

    def is_open_with(self, file_id: str, client: str) -> bool:
        """Return whether a file was created or opened with an OAuth client."""
        return self._database.fetch_one(_IS_OPEN_WITH, {"file": file_id, "client": client}) is not None

    def children(self, folder: str, most: int) -> list[FileRow]:
        """Return at most `most` files in a folder, sorted by name. Trashed files are left out."""
        return [FileRow._make(row) for row in self._database.run(_CHILDREN, {"folder": folder, "most": most})]

    def latest(self, most: int) -> list[tuple[FileRow, str]]:
        """Return at most `most` files of all users with the names of their folders, the last modified file first."""
        return [(FileRow._make(row), folder) for *row, folder in self._database.fetch_all(_LATEST, {"most": most})]

    def foreign_below(self, top: str, owner: str) -> list[str]:
        """Return the ids of the files below a folder that `owner` does not own, from the top down."""
        return [key for (key,) in self._database.run(_FOREIGN_BELOW, {"top": top, "owner": owner})]

    def unshareable_below(self, top: str, user: str) -> list[str]:
        """Return the id of a file of others below a folder that only its owner may share, if there is one."""
        return [key for (key,) in self._database.run(_UNSHAREABLE_BELOW, {"top": top, "owner": user})]

    def follow(self, top: str, owner: str, *, trashed: bool) -> None:
        """Set or clear the trashed flag of the owner's files below a folder.

        Files that the owner trashed directly, and everything below them, keep the flag.
        """
        self._database.queue_change(_FOLLOW, {"top": top, "owner": owner, "flag": int(trashed)})

    def in_trash(self, owner: str) -> list[str]:
        """Return the ids of the files of an owner that were trashed directly, not together with a folder."""
        return [key for (key,) in self._database.run(_TRASHED, {"owner": owner})]

    def usage(self, owner: str) -> tuple[int, int]:
        """Return the total size in bytes of a user's files, and the size of the files in the trash."""
        total, trashed = self._database.fetch_one(_USAGE, {"owner": owner}) or (0, 0)
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
        dialect = self._database.dialect
        if search is None and after is None:
            statement = first_page(COLUMNS, tuple(keys), viewer.shared, viewer.app_only, dialect)
            values = viewer._asdict()
        else:
            query = FileQuery(viewer, dialect, self._count)
            statement, values = query.page(COLUMNS, search, keys, after), query.values
        selected = self._database.run(statement, {**values, "size": size + 1})
        width = len(FileRow._fields)
        rows = [FileRow._make(row[:width]) for row in selected[:size]]
        return FilePage(rows, selected[size - 1][width:] if len(selected) > size else None)

    def _count(self, statement: str, values: dict[str, Any]) -> int:
        return int(self._database.run(statement, values)[0][0])


class ChangeRow(NamedTuple):
    """A change log entry, which is the last change of a file. `seq` is its number, `time` is in Unix milliseconds."""

    seq: int
    file: str
    time: int


_CHANGE_COLUMNS = ("user", "file", "time")
_ADD_CHANGE = inserting(changes, _CHANGE_COLUMNS, otherwise="REPLACE")
_ADD_BELOW = inserting(
    changes, _CHANGE_COLUMNS, otherwise="REPLACE", source=f"{BELOW} SELECT :user, id, :time FROM tree WHERE TRUE"
)
_PAGE = """SELECT seq, file, time FROM changes
    WHERE "user" = :user AND seq >= :start ORDER BY seq LIMIT :size"""
_SINCE = 'SELECT file FROM changes WHERE "user" = :user AND seq > :since'


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
        return self._database.run_position("SELECT COALESCE(MAX(seq), 0) FROM changes", {})


class PermissionRow(NamedTuple):
    """A database row of a permission. `role` is the number of a Role, and `since` is in Unix milliseconds."""

    file: str
    id: str
    type: str
    grantee: str
    role: int
    since: int
    by: str


_ADD_PERMISSION = inserting(permissions, PermissionRow._fields)
_OF = f"SELECT {column_names(PermissionRow._fields)} FROM permissions WHERE file = :file ORDER BY since, id"
_HAS = """SELECT file FROM permissions WHERE type = 'user' AND grantee = :user
    UNION ALL SELECT file FROM permissions CROSS JOIN files
    WHERE files.id = permissions.file AND files.owner = :owner AND role >= :writer LIMIT 1"""
_SET_ROLE = "UPDATE permissions SET role = :role WHERE file = :file AND id = :id"
_DROP_PERMISSION = "DELETE FROM permissions WHERE file = :file AND id = :id"
_DROP_PERMISSIONS = (
    f"{BELOW} DELETE FROM permissions WHERE file IN (SELECT id FROM tree)",
    "DELETE FROM permissions WHERE file = :top",
)


class Permissions(TableGroup):
    """The table of permissions on files."""

    def add(self, row: PermissionRow) -> None:
        """Add a permission."""
        self._database.queue_change(_ADD_PERMISSION, row._asdict())

    def of(self, file_id: str) -> list[PermissionRow]:
        """Return the permissions that were granted on the file itself, oldest first, without inherited permissions."""
        return [PermissionRow._make(row) for row in self._database.run(_OF, {"file": file_id})]

    def has_any(self, user: str) -> bool:
        """Return whether a user may see files of other users, which are shared files or files in the user's folders."""
        return (
            self._database.fetch_one(_HAS, {"user": user.lower(), "owner": user, "writer": int(Role.WRITER)})
            is not None
        )

    def set_role(self, file_id: str, which: str, role: int) -> None:
        """Change the role of a permission."""
        self._database.queue_change(_SET_ROLE, {"file": file_id, "id": which, "role": role})

    def drop(self, file_id: str, which: str) -> None:
        """Delete a permission."""
        self._database.queue_change(_DROP_PERMISSION, {"file": file_id, "id": which})

    def drop_all(self, top: str) -> None:
        """Delete the permissions on a file and on everything below it."""
        for statement in _DROP_PERMISSIONS:
            self._database.queue_change(statement, {"top": top})
