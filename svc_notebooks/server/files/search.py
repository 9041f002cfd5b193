"""Translates queries on files to SQL, and chooses the index for a page of files."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from ...core.files.fields import name_key, words_of
from ...core.files.permissions import Role
from ...core.files.query import And, Compare, Has, Member, Not, Or, Search, SortKey
from ..store import word_index
from ..store.schema import files, opened, permissions, properties


class Viewer(NamedTuple):
    """The user of a query, the id of the user's root folder, the OAuth client, and the media type of folders.

    `grantee` is the user's address in lower case, as permissions have it. Both are "" with an API key.
    """

    user: str
    grantee: str
    root: str
    client: str
    folder_type: str
    shared: bool
    """The user may be able to see files of other users."""
    app_only: bool
    """The user can see only the files that the OAuth client has created or opened."""


class Term(NamedTuple):
    """An SQL expression by which files are sorted."""

    value: sa.ColumnElement[Any]
    descending: bool

    @property
    def clause(self) -> sa.UnaryExpression[Any]:
        """The expression with its direction, for ORDER BY."""
        return self.value.desc() if self.descending else self.value.asc()


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_PLAIN = {
    "modifiedTime": files.c.modified,
    "createdTime": files.c.created,
    "viewedByMeTime": files.c.viewed,
    "trashed": files.c.trashed,
    "starred": files.c.starred,
    "mimeType": files.c.mime_type,
    "shortcutDetails.targetId": sa.func.coalesce(files.c.target, ""),
}


def condition(search: Search, viewer: Viewer) -> sa.ColumnElement[bool]:
    """Return the SQL condition for a parsed query."""
    if isinstance(search, And):
        return sa.and_(*(condition(part, viewer) for part in search.parts))
    if isinstance(search, Or):
        return sa.or_(*(condition(part, viewer) for part in search.parts))
    if isinstance(search, Not):
        # NULL is no match, so NOT must match NULL. Around every term, coalesce would prevent the use of indexes.
        return sa.not_(sa.func.coalesce(condition(search.inner, viewer), False))
    if isinstance(search, Member):
        return _member(search, viewer)
    if isinstance(search, Has):
        client = viewer.client if search.field == "appProperties" else ""
        is_of_client = sa.and_(properties.c.file == files.c.id, properties.c.client == client)
        return sa.exists().where(is_of_client, properties.c.key == search.key, properties.c.value == search.value)
    return _compare(search, viewer)


def own(viewer: Viewer) -> sa.ColumnElement[bool]:
    """Return the SQL condition for the files of a user that the user can see in a list.

    With `viewer.app_only`, only files that the OAuth client has created or opened match.
    """
    return _openable(files.c.owner == viewer.user, viewer)


def foreign(viewer: Viewer) -> sa.ColumnElement[bool]:
    """Return the SQL condition for the files of other users that a user can see in a list.

    These are the files shared by name, and the files in own and shared folders.
    """
    seen = sa.and_(files.c.owner != viewer.user, files.c.id.in_(sa.select(visible(viewer).c.id)))
    return _openable(seen, viewer)


def _openable(seen: sa.ColumnElement[bool], viewer: Viewer) -> sa.ColumnElement[bool]:
    by_client = sa.exists().where(opened.c.file == files.c.id, opened.c.client == viewer.client)
    return sa.and_(seen, by_client) if viewer.app_only else seen


def visible(viewer: Viewer) -> sa.CTE:
    """Return a query for the ids of the files that a user can see beside the user's own files.

    These are the files that were shared with the user by name, and everything below these files and below the user's
    own folders in which other users are writers. The query may also select own files.
    """
    shared = sa.select(permissions.c.file.label("id")).join(files, files.c.id == permissions.c.file)
    shared = shared.where(files.c.owner == viewer.user, permissions.c.role >= int(Role.WRITER))
    shared = shared.with_hint(permissions, "CROSS", "sqlite")  # SQLite would visit all files of the owner
    roots = sa.union(_select_granted(viewer.grantee), shared).subquery()
    tree = sa.select(roots.c.id).cte("visible", recursive=True)
    return tree.union(sa.select(files.c.id).join(tree, files.c.parent == tree.c.id))


def _select_granted(grantee: str, *also: sa.ColumnElement[bool]) -> sa.Select[Any]:
    kind = "anyone" if isinstance(grantee, str) and not grantee else "user"  # it may be a parameter of the query
    theirs = (permissions.c.type == kind, permissions.c.grantee == grantee)
    return sa.select(permissions.c.file.label("id")).where(*theirs, *also)


def _member(search: Member, viewer: Viewer) -> sa.ColumnElement[bool]:
    if search.collection == "parents":
        return files.c.parent == (viewer.root if search.value == "root" else search.value)
    user = viewer.user if search.value == "me" or search.value.lower() == viewer.grantee else search.value
    own = files.c.owner.in_((user, user.lower()))
    if search.collection == "owners":
        return own
    least = Role.WRITER if search.collection == "writers" else Role.READER
    granted: sa.ColumnElement[bool] = files.c.id.in_(_select_granted(user.lower(), permissions.c.role >= int(least)))
    if user.lower() != viewer.grantee:  # only writers may see the permissions of a file
        to_viewer = _select_granted(viewer.grantee, permissions.c.role >= int(Role.WRITER))
        granted = sa.and_(granted, sa.or_(files.c.owner == viewer.user, files.c.id.in_(to_viewer)))
    return sa.or_(own, granted)


def _compare(search: Compare, viewer: Viewer) -> sa.ColumnElement[bool]:
    if search.field == "fullText":
        words = words_of(str(search.value))
        matches = (_holds(files.c.all_words, f" {word}") for word in words)
        return sa.and_(*matches) if words else _contains("name", str(search.value))
    if search.operator == "contains":
        return _contains(search.field, str(search.value))
    if search.field in _PLAIN:
        value = int(search.value) if isinstance(search.value, bool) else search.value
        return cast(sa.ColumnElement[bool], _OPERATORS[search.operator](_PLAIN[search.field], value))
    if search.field == "name":
        equal: sa.ColumnElement[bool] = files.c.name_key == name_key(str(search.value))
    elif search.field == "sharedWithMe":
        shared = sa.and_(files.c.owner != viewer.user, files.c.id.in_(_select_granted(viewer.grantee)))
        equal = shared if search.value else sa.not_(shared)
    elif search.value == "limited":  # a value of `visibility`, of which those like `anyoneCanFind` match no file
        equal = sa.and_(*(sa.not_(_open_to(grantees)) for grantees in _BY_LINK.values()))
    else:
        equal = _open_to(_BY_LINK[str(search.value)]) if search.value in _BY_LINK else sa.false()
    return equal if search.operator == "=" else sa.not_(equal)


def _open_to(kind: str) -> sa.ColumnElement[bool]:
    return files.c.id.in_(sa.select(permissions.c.file).where(permissions.c.type == kind))


_BY_LINK = {"anyoneWithLink": "anyone", "domainWithLink": "domain"}


def _contains(field: str, text: str) -> sa.ColumnElement[bool]:
    if field == "mimeType":
        return _holds(sa.func.lower(files.c.mime_type), name_key(text))
    words = words_of(text)
    if words:
        return _holds(files.c.words, " " + " ".join(words))
    return _holds(files.c.name_key, name_key(text))


class _Position(FunctionElement[int]):
    """The position of one text in another."""

    inherit_cache = True
    type = sa.Integer()


@compiles(_Position)
def _instr(element: _Position, compiler: SQLCompiler, **options: Any) -> str:
    return f"instr({compiler.process(element.clauses, **options)})"


@compiles(_Position, "postgresql")
def _strpos(element: _Position, compiler: SQLCompiler, **options: Any) -> str:
    return f"strpos({compiler.process(element.clauses, **options)})"


def _holds(value: sa.ColumnElement[Any], text: str) -> sa.ColumnElement[bool]:
    # The id is never used. Beside a constant argument, SQLite keeps a copy of the value of each call of a function.
    return _Position(value, sa.func.coalesce(sa.literal(text), files.c.id)) > 0


def order(viewer: Viewer, keys: Sequence[SortKey]) -> list[Term]:
    """Return the SQL sort keys for the parameter `orderBy`. Files with equal keys are sorted newest first."""
    terms = [Term(_sort_value(key.name, viewer), key.descending) for key in keys]
    return [*terms, Term(files.c.seq, True)]


def _sort_value(name: str, viewer: Viewer) -> sa.ColumnElement[Any]:
    viewed = sa.func.coalesce(files.c.viewed, 0)
    since = sa.select(permissions.c.since).where(
        permissions.c.file == files.c.id, permissions.c.type == "user", permissions.c.grantee == viewer.grantee
    )
    # fmt: off
    values: dict[str, sa.ColumnElement[Any]] = {
        "createdTime":      files.c.created,
        "folder":           sa.case((files.c.mime_type == viewer.folder_type, 0), else_=1),
        "modifiedByMeTime": sa.func.coalesce(files.c.modified_by_me, 0),
        "modifiedTime":     files.c.modified,
        "name":             files.c.name_key,
        "name_natural":     files.c.natural_key,
        "quotaBytesUsed":   sa.func.coalesce(files.c.size, 0),
        "recency":          sa.case((viewed > files.c.modified, viewed), else_=files.c.modified),
        "sharedWithMeTime": sa.func.coalesce(since.scalar_subquery(), 0),
        "starred":          1 - files.c.starred,
        "viewedByMeTime":   viewed,
    }
    # fmt: on
    return values[name]


def after_keys(terms: Sequence[Term], after: Sequence[Any]) -> sa.ColumnElement[bool]:
    """Return the SQL condition for the files that follow a file with the sort key values `after`."""
    first = terms[0].value
    bound = first <= after[0] if terms[0].descending else first >= after[0]  # all steps imply it, for an index
    return sa.and_(bound, sa.or_(*(_step(terms[:n], terms[n], after) for n in range(len(terms)))))


def _step(equal: Sequence[Term], then: Term, after: Sequence[Any]) -> sa.ColumnElement[bool]:
    value = after[len(equal)]
    beyond = then.value < value if then.descending else then.value > value
    return sa.and_(*(term.value == known for term, known in zip(equal, after, strict=False)), beyond)


# The maximum number of rows that are sorted in place of reading the files in their order.
FEW = 1000

_BY_ROW_NUMBER = "NOT INDEXED"
_WORDS = sa.table("files_text", sa.column("rowid"), sa.column("files_text"))
_PENDING = sa.table("files_text_pending", sa.column("seq"))
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

Count: TypeAlias = Callable[[sa.Select[Any]], int]


# An SQL hint that names an index, a condition that the index serves, and a query for at most `FEW` + 1 rows.
Narrowing: TypeAlias = tuple[str, sa.ColumnElement[bool], sa.Select[Any] | sa.CompoundSelect[Any]]


def page_statement(
    columns: Sequence[sa.ColumnElement[Any]],
    viewer: Viewer,
    search: Search | None,
    keys: Sequence[SortKey],
    after: tuple[Any, ...] | None,
    size: int,
    count: Count | None,
) -> sa.Select[Any]:
    """Return the query for a page of files, with the `columns` and then the values of the sort keys.

    `count` runs a query that counts rows. With None, the database chooses the index. The other arguments are those of
    `FileTable.page`.
    """
    terms = order(viewer, keys)
    conditions: list[sa.ColumnElement[bool]] = [files.c.parent.is_not(None)]
    conditions += [condition(search, viewer)] if search else []
    conditions += [after_keys(terms, after)] if after is not None else []
    values = [term.value.label(f"key_{number}") for number, term in enumerate(terms)]
    page = sa.select(*columns, *values).where(*conditions).order_by(*(term.clause for term in terms)).limit(size)
    own_page = page.where(own(viewer))
    if count:
        hint, *narrower = choose_index(viewer, search, keys, count)
        own_page = own_page.where(*narrower).with_hint(files, hint, "sqlite")
    return _merge(own_page, page.where(foreign(viewer)), terms, size) if viewer.shared else own_page


def _merge(first: sa.Select[Any], second: sa.Select[Any], terms: Sequence[Term], size: int) -> sa.Select[Any]:
    """Return the query for a page of the rows of two pages, each of which can use an index of its own."""
    both = sa.union_all(sa.select(first.subquery()), sa.select(second.subquery())).subquery()
    sorted_by = (Term(both.c[f"key_{number}"], term.descending).clause for number, term in enumerate(terms))
    return sa.select(both).order_by(*sorted_by).limit(size)


def choose_index(viewer: Viewer, search: Search | None, keys: Sequence[SortKey], count: Count) -> tuple[Any, ...]:
    """Return the SQL hint that names the index for a page of own files, and the conditions that the index needs."""
    terms = list(required(search)) if search else []
    for hint, served, rows in _narrowings(terms, viewer):
        if count(sa.select(sa.func.count()).select_from(rows.subquery())) <= FEW:
            return hint, served
    folder = any(isinstance(term, Member) and term.collection == "parents" for term in terms)
    first = keys[0].name if keys else None
    selected = "parent" if folder else "owner"
    return (f"INDEXED BY {_INDEXES[selected, first if first in _IN_ORDER else None]}",)


def required(search: Search) -> Iterator[Search]:
    """Yield the parts of a query that every file of the result matches."""
    if isinstance(search, And):
        for part in search.parts:
            yield from required(part)
    else:
        yield search


def _narrowings(terms: Sequence[Search], viewer: Viewer) -> Iterator[Narrowing]:
    texts: list[str] = []
    for term in terms:
        if isinstance(term, Compare):
            texts += _indexed_texts(term)
            yield from _column_narrowing(term, viewer)
    if texts and word_index.is_supported() and (entries := word_index.entries(texts)):
        indexed = sa.select(_WORDS.c.rowid).where(_WORDS.c.files_text.match(entries))
        rows = sa.union_all(indexed, sa.select(_PENDING.c.seq))
        yield _BY_ROW_NUMBER, files.c.seq.in_(rows), rows.limit(FEW + 1)


def _indexed_texts(term: Compare) -> list[str]:
    """Return texts that the words of a file contain if the file matches a `contains` term."""
    if term.operator != "contains" or term.field not in ("name", "fullText"):
        return []
    words = words_of(str(term.value))
    return [f" {word}" for word in words] if term.field == "fullText" else [" " + " ".join(words)]


def _column_narrowing(term: Compare, viewer: Viewer) -> Iterator[Narrowing]:
    meets = condition(term, viewer)
    index = None
    if (term.field, term.operator) == ("name", "="):
        index = "files_by_name"
    elif (term.field, term.operator, term.value) == ("trashed", "=", True):
        index = "files_by_trashed"
    elif term.field == "modifiedTime" and term.operator != "!=":
        index = "files_by_modified"
    if index:
        hint = f"INDEXED BY {index}"
        rows = sa.select(sa.literal(1)).select_from(files).where(files.c.owner == viewer.user, meets)
        yield hint, meets, rows.with_hint(files, hint, "sqlite").limit(FEW + 1)
