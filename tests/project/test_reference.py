"""Tests that the generated pages of docs are up to date, and that docstrings link to anchors that exist."""

import re
from pathlib import Path

import pytest

from tools.docs import DESCRIPTION, DOCS, NAMES, PAGE, RULES, written
from tools.site import markdown


@pytest.mark.parametrize("path", [PAGE, NAMES, RULES, DESCRIPTION], ids=lambda path: path.name)
def test_the_page_is_not_stale(path: Path):
    assert path.read_text(encoding="utf-8") == written()[path], "run: make docs"


def test_docstrings_link_to_anchors_of_docs_that_exist():
    package = (DOCS.parent / "svc_notebooks").rglob("*.py")
    links = {link for path in package for link in re.findall(r"docs/(\w+\.md)#([\w-]+)", path.read_text("utf-8"))}
    pages = {name: markdown.html((DOCS / name).read_text("utf-8"), str) for name, _ in links}

    assert {name for name, _ in links} == {"rules.md", "reference.md"}
    assert [link for link in sorted(links) if f'id="{link[1]}"' not in pages[link[0]]] == []


def test_no_docstring_cites_the_interface_without_a_link():
    package = (DOCS.parent / "svc_notebooks").rglob("*.py")

    assert [path for path in package if re.search(r"^ *Interface: ", path.read_text("utf-8"), re.MULTILINE)] == []
