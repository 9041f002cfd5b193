"""docs/reference.md, docs/names.md and docs/openapi.json are what the tables of the code say today."""

from pathlib import Path

import pytest

from tools.docs import DESCRIPTION, NAMES, PAGE, written


@pytest.mark.parametrize("path", [PAGE, NAMES, DESCRIPTION], ids=lambda path: path.name)
def test_the_page_is_not_stale(path: Path):
    assert path.read_text(encoding="utf-8") == written()[path], "run: make docs"
