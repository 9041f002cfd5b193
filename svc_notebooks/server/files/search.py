"""Translates queries on files to SQL, and chooses the index for a page of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from ...core.files.fields import name_key, words_of
from ...core.files.permissions import Role
from ...core.files.query import And, Compare, Has, Member, Not, Or, Search, SortKey
from ..store import word_index
from ..store.engine import Dialect


class Viewer(NamedTuple):
    """The user of a query, the id of the user's root folder, the OAuth client, and the media type of folders.

    `grantee` is the user's address in lower case, as permissions have it. Both are "" with an API key.
    """

    user: str
    grantee: str
    root: str
    client: str
    folder_type: str
    # The user may be able to see files of other users.
    shared: bool
    # The user can see only the files that the OAuth client has created or opened.
    app_only: bool


class Term(NamedTuple):
    """An SQL expression by which files are sorted."""

    value: str
    descending: bool

    @property
    def direction(self) -> str:
        """The direction for ORDER BY."""
        return "DESC" if self.descending else "ASC"


_PLAIN = {
    "modifiedTime": "files.modified",
    "createdTime": "files.created",
    "viewedByMeTime": "files.viewed",
    "trashed": "files.trashed",
    "starred": "files.starred",
    "mimeType": "files.mime_type",
    "shortcutDetails.targetId": "COALESCE(files.target, '')",
}
_BY_LINK = {"anyoneWithLink": "anyone", "domainWithLink": "domain"}
_VIEWED = "COALESCE(files.viewed, 0)"
_SINCE = """SELECT since FROM permissions AS p
    WHERE p.file = files.id AND p.type = 'user' AND p.grantee = :grantee"""
# fmt: off
_SORT_VALUES = {
    "createdTime":      "files.created",
    "folder":           "CASE WHEN files.mime_type = :folder_type THEN 0 ELSE 1 END",
    "modifiedByMeTime": "COALESCE(files.modified_by_me, 0)",
    "modifiedTime":     "files.modified",
    "name":             "files.name_key",
    "name_natural":     "files.natural_key",
    "quotaBytesUsed":   "COALESCE(files.size, 0)",
    "recency":          f"CASE WHEN {_VIEWED} > files.modified THEN {_VIEWED} ELSE files.modified END",
    "sharedWithMeTime": f"COALESCE(({_SINCE}), 0)",
    "starred":          "1 - files.starred",
    "viewedByMeTime":   _VIEWED,
}
# fmt: on


def order(keys: Sequence[SortKey]) -> list[Term]:
    """Return the SQL sort keys for the parameter `orderBy`. Files with equal keys are sorted newest first."""
    return [*(Term(_SORT_VALUES[key.name], key.descending) for key in keys), Term("files.seq", True)]


# The maximum number of rows that are sorted in place of reading the files in their order.
FEW = 1000

_IN_ORDER = {"modifiedTime": "modified", "name": "name_key"}
# The indexes by the column that selects the files, and by the sort key in whose order they have the files.
_INDEXES = {
    ("owner", None): "files_by_owner",
    ("owner", "name"): "files_by_name",
    ("owner", "modifiedTime"): "files_by_modified",
    ("parent", None): "files_by_parent",
    ("parent", "name"): "files_by_parent_and_name",
    ("parent", "modifiedTime"): "files_by_parent_and_modified",
}

# Runs a query that counts rows, with the values of its parameters.
Count: TypeAlias = Callable[[str, dict[str, Any]], int]


class FileQuery:
    """Writes the SQL of a query on files. `values` are the values of its parameters, among them the viewer's fields."""

    def __init__(self, viewer: Viewer, dialect: Dialect, count: Count) -> None:
        """Set the viewer, the dialect of the database, and the function that counts rows on SQLite."""
        self._viewer, self._dialect, self._count = viewer, dialect, count
        self.values: dict[str, Any] = viewer._asdict()

    def _parameter(self, value: Any) -> str:
        name = f"value_{len(self.values)}"
        self.values[name] = value
        return f":{name}"

    def page(self, columns: str, search: Search | None, keys: Sequence[SortKey], after: tuple[Any, ...] | None) -> str:
        """Return the query for a page of `size` files, with the `columns` and then the values of the sort keys.

        The arguments are those of `FileTable.page`.
        """
        terms = order(keys)
        values = ", ".join(f"{term.value} AS key_{number}" for number, term in enumerate(terms))
        order_by = ", ".join(f"{term.value} {term.direction}" for term in terms)
        conditions = ["files.parent IS NOT NULL"]
        conditions += [self.condition(search)] if search else []
        conditions += [self._after(terms, after)] if after is not None else []
        index, *narrower = self._choose_index(search, keys) if self._dialect == "sqlite" else [""]

        def select(source: str, *also: str) -> str:
            where = " AND ".join([*conditions, *also])
            return f"SELECT {columns}, {values} FROM {source} WHERE {where} ORDER BY {order_by} LIMIT :size"

        own_page = select(f"files {index}", self.own(), *narrower)
        if not self._viewer.shared:
            return own_page
        # Each of the two pages can use an index of its own.
        both = f"SELECT * FROM ({own_page}) AS own UNION ALL SELECT * FROM ({select('files', self.foreign())}) AS other"
        by_keys = ", ".join(f"key_{number} {term.direction}" for number, term in enumerate(terms))
        return f"{both} ORDER BY {by_keys} LIMIT :size"

    def _after(self, terms: Sequence[Term], after: Sequence[Any]) -> str:
        """Return the condition for the files that follow a file with the sort key values `after`."""
        bound, equal, steps = "", "", list[str]()
        for term, value in zip(terms, after, strict=True):
            name, sign = self._parameter(value), "<" if term.descending else ">"
            bound = bound or f"{term.value} {sign}= {name}"  # all steps imply it, for an index
            steps.append(f"{equal}{term.value} {sign} {name}")
            equal += f"{term.value} = {name} AND "
        return f"{bound} AND ({' OR '.join(steps)})"

    # -- the index ------------------------------------------------------------------------------------------------

    def _choose_index(self, search: Search | None, keys: Sequence[SortKey]) -> Sequence[str]:
        """Return the SQL that names the index for a page of own files, and the conditions that the index needs."""
        terms = list(required(search)) if search else []
        for index, served, rows in self._narrowings(terms):
            if self._count(f"SELECT COUNT(*) FROM ({rows} LIMIT {FEW + 1})", self.values) <= FEW:
                return index, served
        folder = any(isinstance(term, Member) and term.collection == "parents" for term in terms)
        first = keys[0].name if keys else None
        selected = "parent" if folder else "owner"
        return (f"INDEXED BY {_INDEXES[selected, first if first in _IN_ORDER else None]}",)

    def _narrowings(self, terms: Sequence[Search]) -> Iterator[tuple[str, str, str]]:
        """Yield the SQL that names an index, a condition that the index serves, and a query for its rows."""
        texts: list[str] = []
        for term in terms:
            if isinstance(term, Compare):
                texts += _indexed_texts(term)
                if name := _index_of(term):
                    index, meets = f"INDEXED BY {name}", self.condition(term)
                    yield index, meets, f"SELECT 1 FROM files {index} WHERE files.owner = :user AND {meets}"
        if texts and word_index.is_supported() and (entries := word_index.entries(texts)):
            indexed = f"SELECT rowid FROM files_text WHERE files_text MATCH {self._parameter(entries)}"
            rows = f"{indexed} UNION ALL SELECT seq FROM files_text_pending"
            yield "NOT INDEXED", f"files.seq IN ({rows})", rows

    # -- conditions -----------------------------------------------------------------------------------------------

    def condition(self, search: Search) -> str:
        """Return the condition for a parsed query."""
        if isinstance(search, And | Or):
            word = " AND " if isinstance(search, And) else " OR "
            return f"({word.join(map(self.condition, search.parts))})"
        if isinstance(search, Not):
            # NULL is no match, so NOT must match NULL. Around every term, COALESCE would prevent the use of indexes.
            return f"NOT COALESCE({self.condition(search.inner)}, FALSE)"
        if isinstance(search, Member):
            return self._member(search)
        if isinstance(search, Has):
            client = ":client" if search.field == "appProperties" else "''"
            key, value = self._parameter(search.key), self._parameter(search.value)
            return f"""EXISTS (SELECT 1 FROM properties AS p
                WHERE p.file = files.id AND p.client = {client} AND p.key = {key} AND p.value = {value})"""
        return self._compare(search)

    def own(self) -> str:
        """Return the condition for the files of the viewer that the viewer can see in a list."""
        return f"files.owner = :user{self._opened()}"

    def foreign(self) -> str:
        """Return the condition for the files of other users that the viewer can see in a list.

        These are the files that were shared with the viewer by name, and everything below these files and below the
        viewer's own folders in which other users are writers.
        """
        # CROSS JOIN, because SQLite would otherwise visit all files of the owner.
        shared = f"""SELECT p.file FROM permissions AS p CROSS JOIN files
            WHERE files.id = p.file AND files.owner = :user AND p.role >= {Role.WRITER:d}"""
        visible = f"""WITH RECURSIVE visible (id) AS (
            SELECT file FROM ({self._granted(self._viewer.grantee)} UNION {shared}) AS roots
            UNION SELECT files.id FROM files JOIN visible ON files.parent = visible.id)
            SELECT id FROM visible"""
        return f"files.owner <> :user AND files.id IN ({visible}){self._opened()}"

    def _opened(self) -> str:
        """Return the condition for an app that sees only the files that it has created or opened."""
        opened = "EXISTS (SELECT 1 FROM opened AS o WHERE o.file = files.id AND o.client = :client)"
        return f" AND {opened}" if self._viewer.app_only else ""

    def _granted(self, grantee: str, least: Role = Role.READER) -> str:
        """Return the query for the ids of the files on which a grantee has this role or a higher one."""
        kind = "user" if grantee else "anyone"
        name = ":grantee" if grantee == self._viewer.grantee else self._parameter(grantee)
        return f"""SELECT p.file FROM permissions AS p
            WHERE p.type = '{kind}' AND p.grantee = {name} AND p.role >= {least:d}"""

    def _member(self, search: Member) -> str:
        viewer = self._viewer
        if search.collection == "parents":
            return f"files.parent = {':root' if search.value == 'root' else self._parameter(search.value)}"
        user = viewer.user if search.value == "me" or search.value.lower() == viewer.grantee else search.value
        own = f"files.owner IN ({self._parameter(user)}, {self._parameter(user.lower())})"
        if search.collection == "owners":
            return own
        least = Role.WRITER if search.collection == "writers" else Role.READER
        granted = f"files.id IN ({self._granted(user.lower(), least)})"
        if user.lower() != viewer.grantee:  # only writers may see the permissions of a file
            to_viewer = self._granted(viewer.grantee, Role.WRITER)
            granted = f"{granted} AND (files.owner = :user OR files.id IN ({to_viewer}))"
        return f"({own} OR {granted})"

    def _compare(self, search: Compare) -> str:
        if search.field == "fullText":
            words = words_of(str(search.value))
            matches = (self._holds("files.all_words", f" {word}") for word in words)
            return f"({' AND '.join(matches)})" if words else self._contains("name", str(search.value))
        if search.operator == "contains":
            return self._contains(search.field, str(search.value))
        if search.field in _PLAIN:
            value = int(search.value) if isinstance(search.value, bool) else search.value
            return f"{_PLAIN[search.field]} {search.operator} {self._parameter(value)}"
        if search.field == "name":
            equal = f"files.name_key = {self._parameter(name_key(str(search.value)))}"
        elif search.field == "sharedWithMe":
            equal = f"(files.owner <> :user AND files.id IN ({self._granted(self._viewer.grantee)}))"
            equal = equal if search.value else f"NOT {equal}"
        elif search.value == "limited":  # a value of `visibility`, of which those like `anyoneCanFind` match no file
            equal = " AND ".join(f"NOT {_open_to(grantees)}" for grantees in _BY_LINK.values())
        else:
            equal = _open_to(_BY_LINK[str(search.value)]) if search.value in _BY_LINK else "FALSE"
        return f"({equal})" if search.operator == "=" else f"NOT ({equal})"

    def _contains(self, field: str, text: str) -> str:
        if field == "mimeType":
            return self._holds("LOWER(files.mime_type)", name_key(text))
        words = words_of(text)
        if words:
            return self._holds("files.words", " " + " ".join(words))
        return self._holds("files.name_key", name_key(text))

    def _holds(self, value: str, text: str) -> str:
        if self._dialect == "postgresql" and value in ("files.words", "files.all_words"):
            return f"{value} LIKE {self._parameter(f'%{text}%')}"  # reads the index of trigrams; words have no % and _
        # The id is never used. Beside a constant argument, SQLite keeps a copy of the value of each call of a function.
        position = "INSTR" if self._dialect == "sqlite" else "STRPOS"
        return f"{position}({value}, COALESCE({self._parameter(text)}, files.id)) > 0"


def _open_to(kind: str) -> str:
    return f"files.id IN (SELECT p.file FROM permissions AS p WHERE p.type = '{kind}')"


@lru_cache(maxsize=64)
def first_page(columns: str, keys: tuple[SortKey, ...], shared: bool, app_only: bool, dialect: Dialect) -> str:
    """Return the query for the first page without a search, which depends on no other field of the viewer."""
    viewer = Viewer("user", "user", "", "", "", shared, app_only)
    return FileQuery(viewer, dialect, lambda statement, values: 0).page(columns, None, keys, None)


def required(search: Search) -> Iterator[Search]:
    """Yield the parts of a query that every file of the result matches."""
    if isinstance(search, And):
        for part in search.parts:
            yield from required(part)
    else:
        yield search


def _indexed_texts(term: Compare) -> list[str]:
    """Return texts that the words of a file contain if the file matches a `contains` term."""
    if term.operator != "contains" or term.field not in ("name", "fullText"):
        return []
    words = words_of(str(term.value))
    return [f" {word}" for word in words] if term.field == "fullText" else [" " + " ".join(words)]


def _index_of(term: Compare) -> str | None:
    """Return the name of the index of own files that serves a term, or None if there is none."""
    if (term.field, term.operator) == ("name", "="):
        return "files_by_name"
    if (term.field, term.operator, term.value) == ("trashed", "=", True):
        return "files_by_trashed"
    return "files_by_modified" if term.field == "modifiedTime" and term.operator != "!=" else None
