import re

import pytest

import svc_notebooks as svc
from tools.docs import DESCRIPTION, DOCS, PAGE, written


@pytest.mark.parametrize("path", [PAGE, DESCRIPTION], ids=lambda path: path.name)
def test_the_page_is_not_stale(path):
    assert path.read_text(encoding="utf-8") == written()[path], "run: make docs"


def test_each_public_name_is_in_the_reference_once():
    names = re.findall(r"^   (\w+)$", (DOCS / "api.md").read_text("utf-8"), re.MULTILINE)

    assert sorted(names) == sorted(svc.__all__)
