from typing import Any

import pytest
from hypothesis import given, strategies as st

from svc_notebooks.core.files.query import SORT_KEYS, QueryError, SortKey, parse_order, parse_query, quote
from svc_notebooks.server.files import search as file_pages
from svc_notebooks.server.files.search import FileQuery, Viewer, order
from svc_notebooks.server.files.tables import COLUMNS, FileRow, PermissionRow
from svc_notebooks.server.store import word_index
from svc_notebooks.server.store.opening import open_database
from svc_notebooks.server.store.store import Store
from tests.examples import examples

ADA, BOB = "ada@svc.example", "bob@svc.example"
FOLDER = "application/x.folder"
WORDS = [
    "Report", "report", "REPORT", "ré", "Résumé", "Straße", "strasse", "ΣΊΣΥΦΟΣ", "plan b", "a", "xy", "100%",
    "_sure",
]  # fmt: skip
WORDS += ["it's", 'say "no"', "back\\slash", "日本語", "日本", "data2026", "data", "ﬁle", "İx", "😀 smile"]


def row(number: int, **changes: Any) -> FileRow:
    times, trash, no_content = (1, 1, None, None), (0, 0, None, 0), (None, None)
    kept = (f"f{number}", ADA, "root", f"file {number}", "text/csv", *times, *trash, *no_content, 1, 0, None, "{}")
    return FileRow._make(kept)._replace(**changes)


@pytest.fixture
def store():
    kept = Store(open_database(None, "process"))
    kept.files.add(row(0, id="root", parent=None, name="root", mime_type=FOLDER))
    yield kept
    kept.close()


def viewer(*, shared: bool = False, app_only: bool = False) -> Viewer:
    return Viewer(ADA, ADA.lower(), "root", "client", FOLDER, shared, app_only)


def by_scan(store: Store, of: Viewer, query: str, keys: tuple[SortKey, ...]) -> list[str]:
    """Return the ids of all files of a list, without an index and without pages."""
    written = FileQuery(of, "sqlite", lambda statement, values: 0)
    seen = f"({written.own()} OR {written.foreign()})" if of.shared else written.own()
    conditions = [written.condition(parse_query(query))] if query else []
    where = " AND ".join([seen, "files.parent IS NOT NULL", *conditions])
    order_by = ", ".join(f"{term.value} {term.direction}" for term in order(keys))
    statement = f"SELECT files.id FROM files NOT INDEXED WHERE {where} ORDER BY {order_by}"
    return [key for (key,) in store.database.run(statement, written.values)]


def by_pages(store: Store, of: Viewer, query: str, keys: tuple[SortKey, ...], size: int) -> list[str]:
    listed, after = [], None
    while True:
        page = store.files.page(of, parse_query(query) if query else None, keys, after, size)
        listed += [file.id for file in page.rows]
        if page.last is None:
            return listed
        after = page.last


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
parts_of_texts = texts | st.builds(lambda text, end: text[:end], texts, st.integers(1, 5)) | st.text(max_size=4)
signs = st.sampled_from(["<", "<=", "=", "!=", ">=", ">"])
terms = st.one_of(
    st.builds("{} contains {}".format, st.sampled_from(["name", "fullText"]), parts_of_texts.map(quote)),
    st.builds("name {} {}".format, st.sampled_from(["=", "!="]), texts.map(quote)),
    st.sampled_from(["trashed = true", "trashed = false", "trashed != true", "trashed != false", "starred = true"]),
    st.builds("'{}' in parents".format, st.sampled_from(["root", "f1", "f2"])),
    st.builds("'{}' in owners".format, st.sampled_from(["me", BOB])),
    st.builds("modifiedTime {} '1970-01-01T00:00:0{}Z'".format, signs, st.integers(0, 3)),
)
combined = st.sampled_from(["({} and {})", "({} or {})", "not ({})"])
queries = st.recursive(terms, lambda inner: st.builds(str.format, combined, inner, inner), max_leaves=5)
orders = st.lists(st.sampled_from(SORT_KEYS), max_size=2, unique=True).flatmap(
    lambda names: st.tuples(*(st.builds(SortKey, st.just(name), st.booleans()) for name in names))
)
rows = st.lists(
    st.fixed_dictionaries(
        {
            "name": texts,
            "owner": st.sampled_from([ADA, ADA, BOB]),
            "parent": st.sampled_from(["root", "f1", "f2"]),
            "modified": st.integers(0, 3).map(lambda second: second * 1000),
            "trashed": st.sampled_from([0, 0, 1]),
            "starred": st.integers(0, 1),
            "size": st.sampled_from([None, 0, 5]),
            "extra": st.sampled_from(["{}", '{"description": "Über report b"}']),
        }
    ),
    min_size=3,
    max_size=12,
)


@given(
    rows=rows,
    renamed=st.dictionaries(st.integers(1, 12), texts, max_size=4),
    deleted=st.sets(st.integers(3, 12), max_size=3),
    query=st.one_of(st.just(""), queries),
    keys=orders,
    size=st.integers(1, 5),
    few=st.sampled_from([0, 2, 1000]),
    shared=st.booleans(),
    app_only=st.booleans(),
)
@examples(2)
def test_a_list_is_the_same_by_index_and_by_scan(rows, renamed, deleted, query, keys, size, few, shared, app_only):
    store = Store(open_database(None, "process"))
    store.files.add(row(0, id="root", parent=None, name="root", mime_type=FOLDER))
    for number, changes in enumerate(rows, start=1):
        store.files.add(row(number, **changes))
        if number % 2:
            store.files.open_with(f"f{number}", "client")
        if changes["owner"] == BOB:
            store.permissions.add(PermissionRow(f"f{number}", "p", "user", ADA, 1 + number % 3, number, BOB))
    for number, name in renamed.items():
        if file := store.files.get(f"f{number}"):
            store.files.save(file._replace(name=name))
    for number in deleted:
        store.files.drop(f"f{number}")
    of = viewer(shared=shared, app_only=app_only)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_pages, "FEW", few)
        listed = by_pages(store, of, query, keys, size)

    assert listed == by_scan(store, of, query, keys)
    store.close()


@pytest.fixture
def plan(store, monkeypatch):
    """Return a function that lists files, and returns the steps of SQLite's plan for the page."""

    def explain(query, sort="", *, few=1000, shared=False, after=None):
        monkeypatch.setattr(file_pages, "FEW", few)
        written = FileQuery(viewer(shared=shared), "sqlite", store.files._count)
        search = parse_query(query) if query else None
        statement = written.page(COLUMNS, search, parse_order(sort), after)
        steps = store.database.run(f"EXPLAIN QUERY PLAN {statement}", {**written.values, "size": 101})
        return "; ".join(step[3] for step in steps)

    for number in range(1, 9):
        store.files.add(row(number, name=f"report {number}", trashed=number % 2))
    return explain


SORTS = "USE TEMP B-TREE"
UNNARROWED = "modifiedTime > '1960-01-01'", "trashed = true", "name contains 'report'", "fullText contains 'repo'"


@pytest.mark.parametrize("after", [None, (5, 5)])
@pytest.mark.parametrize("query", ["", "trashed = false", "starred = true", *UNNARROWED])
@pytest.mark.parametrize(
    "sort, index",
    [
        ("modifiedTime desc", "files_by_modified (owner=?"),
        ("modifiedTime", "files_by_modified (owner=?"),
        ("name", "files_by_name (owner=?"),
    ],
)
def test_a_sorted_page_is_read_in_the_order_of_an_index(plan, query, sort, index, after):
    steps = plan(query, sort, few=0, after=after)

    assert f"SEARCH files USING INDEX {index}" in steps
    assert f"{SORTS} FOR ORDER BY" not in steps, "only files with equal keys are sorted"
    if after:
        assert f"{index} AND" in steps, "the page begins after the last file of the page before"


@pytest.mark.parametrize(
    "query, index",
    [
        ("trashed = true", "INDEX files_by_trashed (owner=? AND trashed=?)"),
        (
            "not starred = true and (starred = true and trashed = true)",
            "INDEX files_by_trashed (owner=? AND trashed=?)",
        ),
        ("name = 'x'", "INDEX files_by_name (owner=? AND name_key=?)"),
        ("modifiedTime > '2026-01-01'", "INDEX files_by_modified (owner=? AND modified>?)"),
        ("name contains 'absent'", "INTEGER PRIMARY KEY"),
        ("name contains 'report 4'", "INTEGER PRIMARY KEY"),
        ("name contains 'x y'", "INTEGER PRIMARY KEY"),
        ("fullText contains 'a absent'", "INTEGER PRIMARY KEY"),
        ("starred = true and fullText contains 'ab'", "INTEGER PRIMARY KEY"),
        ("fullText contains 'a b'", "INDEX files_by_owner"),
        ("name contains '%'", "INDEX files_by_owner"),
        ("not fullText contains 'absent'", "INDEX files_by_owner"),
        ("fullText contains 'absent' or name = 'x'", "INDEX files_by_owner"),
    ],
)
def test_a_query_that_few_files_match_is_read_by_its_own_index(plan, query, index):
    assert f"SEARCH files USING {index}" in plan(query)


def pending(store: Store) -> set[str]:
    """Return the ids of the files whose words are not in the index."""
    query = "SELECT id FROM files WHERE seq IN (SELECT seq FROM files_text_pending)"
    return {name for (name,) in store.database.driver.execute(query)}


def test_without_the_tokenizer_words_are_read_from_the_files(plan, monkeypatch):
    monkeypatch.setattr(word_index, "is_supported", lambda: False)

    assert "SEARCH files USING INDEX files_by_owner" in plan("name contains 'absent'")


def test_words_that_are_not_in_the_index_yet_are_found(store):
    def listed(query):
        return by_pages(store, viewer(), query, (), 500)

    for number in range(100, 100 + word_index.MAX_PENDING):
        store.files.add(row(number, name="report"))
        if not pending(store):
            break
    assert not pending(store)
    store.files.save(row(100, name="plan"))
    store.files.add(row(1, name="report"))

    assert pending(store) == {"f1", "f100"}
    assert {"f1", "f101"} <= set(listed("name contains 'report'"))
    assert "f100" not in listed("name contains 'report'")
    assert listed("name contains 'plan'") == ["f100"]


@pytest.mark.parametrize(
    "query, part, problem",
    [
        ("name = 'a' and modifiedTme > ''", "modifiedTme", "modifiedTme is not a field; did you mean modifiedTime?"),
        ("mime_type = 'a'", "mime_type", "mime_type is not a field; did you mean mimeType?"),
        ("PARENTS in 'a'", "PARENTS", "PARENTS is not a field; did you mean parents?"),
        ("shoe = 'a'", "shoe", "shoe is not a field; the fields are name, fullText,"),
        ("parents = 'x'", "=", "the operator of parents is in, not =."),
        ("not 'x' in shoes", "shoes", "the field after 'in' is one of parents, owners, writers, readers, not shoes."),
        ("name like 'a'", "like", "the operator of name must be one of contains, =, !=, not like."),
        ("trashed = yes", "yes", "expected true or false, found yes."),
        ("visibility = 'limitd'", "'limitd'", "visibility is not 'limitd'; did you mean limited?"),
        ("name = 'a' or createdTime > 'x'", "'x'", "'x' is not an RFC 3339 date-time."),
        ("name = 'it's'", "s", "expected 'and', 'or' or the end, found s; a string ends at the next apostrophe"),
        ("name = 'it", "'it", 'syntax error at "\'it"; a string ends at the next apostrophe'),
        (
            "createdTime > 2026-1-1",
            "2026-1-1",
            "syntax error at '2026-1-1'; write strings and times between apostrophes",
        ),
        ("(name = 'a'", "", "expected ')', found the end."),
        ("name = 'a' name", "name", "expected 'and', 'or' or the end, found name."),
    ],
)
def test_an_error_has_the_place_and_the_problem(query, part, problem):
    with pytest.raises(QueryError) as caught:
        parse_query(query)

    error = caught.value
    assert query[error.start : error.end] == part
    assert error.start == (query.rindex(part) if part else len(query))
    assert error.problem.startswith(problem)
    assert error.rows[0].message == f"q: {error.problem}"
