import pytest

from svc_notebooks.core.errors.catalogue import ApiError
from svc_notebooks.core.files.query import And, Compare, Member, Not, Or, QueryError, SortKey, parse_order, parse_query

A, B, C = (Compare("name", "=", letter) for letter in "abc")


@pytest.mark.parametrize(
    "text, tree",
    [
        ("name='a' or name='b' and name='c'", Or((A, And((B, C))))),
        ("(name='a' or name='b') and name='c'", And((Or((A, B)), C))),
        ("not name='a' and name='b'", And((Not(A), B))),
        ("not (name='a' and name='b')", Not(And((A, B)))),
        ("not not name='a'", A),
        (r"name = 'it\'s \\ '", Compare("name", "=", "it's \\ ")),
        ("modifiedTime > '2026-01-05T10:00:00+01:00'", Compare("modifiedTime", ">", 1767603600000)),
        ("trashed = true", Compare("trashed", "=", True)),
        ("trashed = False", Compare("trashed", "=", False)),
        ('NOT name="a" OR name = "b" And starred = TRUE', Or((Not(A), And((B, Compare("starred", "=", True)))))),
        (r'name Contains "it\'s \" AND"', Compare("name", "contains", "it's \" AND")),
        ("'x' in parents", Member("x", "parents")),
        ("parents in 'x' and not 'me' in owners", And((Member("x", "parents"), Not(Member("me", "owners"))))),
    ],
)
def test_a_query_becomes_a_tree(text, tree):
    assert parse_query(text) == tree


@pytest.mark.parametrize(
    "query, part, problem",
    [
        (
            "name = 'a' and modifiedTme > '2026'",
            "modifiedTme",
            "modifiedTme is not a field; did you mean modifiedTime?",
        ),
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
            "createdTime > 2026-01-01",
            "2026-01-01",
            "syntax error at '2026-01-01'; write strings and times between apostrophes",
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


def test_further_names_of_fields_are_read_and_suggested():
    names = {"modified_time": "modifiedTime", "app_properties": "appProperties"}

    assert parse_query("modified_time > '2026-01-01'", names) == parse_query("modifiedTime > '2026-01-01'")
    with pytest.raises(QueryError, match=r"modified_tme is not a field; did you mean modified_time\?"):
        parse_query("modified_tme > '2026-01-01'", names)


def test_an_order_is_read_and_a_repeated_key_refused():
    assert parse_order("name_natural desc, folder") == (SortKey("name_natural", True), SortKey("folder"))

    with pytest.raises(ApiError) as caught:
        parse_order("name,name desc")
    assert caught.value.rows[0].reason == "orderByContainsDuplicateSortKeys"
