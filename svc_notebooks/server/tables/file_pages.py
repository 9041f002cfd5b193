"""Selects the pages of file lists, by the index that reads the fewest rows.

SQLite chooses an index without knowing how many rows it selects. So `choose_index` counts the rows of each index that
the query allows, up to a limit, and a page names its index. The result is the same with every index. PostgreSQL has
statistics of the rows, and chooses the index by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, CompoundSelect, Select, column, func, literal, select, table, union_all

from ...core.files.file_names import words_of
from ...core.files.query import And, Compare, Member, Search
from ...core.files.sort_order import SortKey
from ..database import word_index
from ..database.schema import files
from .search import Term, Viewer, after_keys, condition, foreign, order, own

FEW = 1000
"""The maximum number of rows that are sorted in place of reading the files in their order."""

_BY_ROW_NUMBER = "NOT INDEXED"
_WORDS = table("files_text", column("rowid"), column("files_text"))
_PENDING = table("files_text_pending", column("seq"))
_IN_ORDER = {"modifiedTime": "modified", "name": "name_key"}
_INDEXES = {
    ("owner", None): "files_by_owner",
    ("owner", "name"): "files_by_name",
    ("owner", "modifiedTime"): "files_by_modified",
    ("parent", None): "files_by_parent",
    ("parent", "name"): "files_by_parent_and_name",
    ("parent", "modifiedTime"): "files_by_parent_and_modified",
}
"""The indexes by the column that selects the files, and by the sort key in whose order they have the files."""

Count: TypeAlias = Callable[[Select[Any]], int]


class Narrowing(NamedTuple):
    """An SQL hint that names an index, a condition that the index serves, and a query for at most `FEW` + 1 rows."""

    hint: str
    condition: ColumnElement[bool]
    rows: Select[Any] | CompoundSelect[Any]


def page_statement(
    columns: Sequence[ColumnElement[Any]],
    viewer: Viewer,
    search: Search | None,
    keys: Sequence[SortKey],
    after: tuple[Any, ...] | None,
    size: int,
    count: Count | None,
) -> Select[Any]:
    """Return the query for a page of files, with the `columns` and then the values of the sort keys.

    `count` runs a query that counts rows. With None, the database chooses the index. The other arguments are those of
    `FileTable.page`.
    """
    terms = order(viewer, keys)
    conditions: list[ColumnElement[bool]] = [files.c.parent.is_not(None)]
    conditions += [condition(search, viewer)] if search else []
    conditions += [after_keys(terms, after)] if after is not None else []
    values = [term.value.label(f"key_{number}") for number, term in enumerate(terms)]
    page = select(*columns, *values).where(*conditions).order_by(*(term.clause for term in terms)).limit(size)
    own_page = page.where(own(viewer))
    if count:
        hint, *narrower = choose_index(viewer, search, keys, count)
        own_page = own_page.where(*narrower).with_hint(files, hint, "sqlite")
    return _merge(own_page, page.where(foreign(viewer)), terms, size) if viewer.shared else own_page


def _merge(first: Select[Any], second: Select[Any], terms: Sequence[Term], size: int) -> Select[Any]:
    """Return the query for a page of the rows of two pages, each of which can use an index of its own."""
    both = union_all(select(first.subquery()), select(second.subquery())).subquery()
    sorted_by = (Term(both.c[f"key_{number}"], term.descending).clause for number, term in enumerate(terms))
    return select(both).order_by(*sorted_by).limit(size)


def choose_index(viewer: Viewer, search: Search | None, keys: Sequence[SortKey], count: Count) -> tuple[Any, ...]:
    """Return the SQL hint that names the index for a page of own files, and the conditions that the index needs."""
    terms = list(_required(search)) if search else []
    for narrowing in _narrowings(terms, viewer):
        if count(select(func.count()).select_from(narrowing.rows.subquery())) <= FEW:
            return narrowing.hint, narrowing.condition
    folder = any(isinstance(term, Member) and term.collection == "parents" for term in terms)
    first = keys[0].name if keys else None
    selected = "parent" if folder else "owner"
    return (f"INDEXED BY {_INDEXES[selected, first if first in _IN_ORDER else None]}",)


def _required(search: Search) -> Iterator[Search]:
    """Yield the parts of a query that every file of the result matches."""
    if isinstance(search, And):
        for part in search.parts:
            yield from _required(part)
    else:
        yield search


def _narrowings(terms: Sequence[Search], viewer: Viewer) -> Iterator[Narrowing]:
    texts: list[str] = []
    for term in terms:
        if isinstance(term, Compare):
            texts += _indexed_texts(term)
            yield from _column_narrowing(term, viewer)
    if texts and word_index.is_supported() and (entries := word_index.entries(texts)):
        indexed = select(_WORDS.c.rowid).where(_WORDS.c.files_text.match(entries))
        rows = union_all(indexed, select(_PENDING.c.seq))
        yield Narrowing(_BY_ROW_NUMBER, files.c.seq.in_(rows), rows.limit(FEW + 1))


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
        rows = select(literal(1)).select_from(files).where(files.c.owner == viewer.user, meets)
        yield Narrowing(hint, meets, rows.with_hint(files, hint, "sqlite").limit(FEW + 1))
