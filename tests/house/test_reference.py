"""docs/reference.md is what the tables of the code say today."""

from tools.docs import PAGE, page


def test_the_page_is_not_stale():
    assert PAGE.read_text(encoding="utf-8") == page(), "run: make docs"
