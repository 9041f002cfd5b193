import pytest

from svc_notebooks.core.files.query import QueryError, parse_query


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
