"""docs/architecture.md names the files that an upload, a notification and an export pass: each of them exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "svc_notebooks"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
FOLDERS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
PATHS = sorted(set(re.findall(rf"`((?:{'|'.join(FOLDERS)})/[\w./]+\.py)`", PAGE)))
SECTIONS = {title: body for title, body in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)}


def test_each_path_exists():
    assert len(PATHS) > 40
    assert [path for path in PATHS if not (PACKAGE / path).exists()] == []


@pytest.mark.parametrize("path, function", re.findall(r"`(\w+/[\w/]+\.py)`: `(\w+)`", PAGE))
def test_each_function_is_in_its_file(path: str, function: str):
    assert re.search(rf"^def {function}\b", (PACKAGE / path).read_text(encoding="utf-8"), re.MULTILINE)


def test_each_package_has_its_section_and_a_picture():
    named = {word for title in SECTIONS for word in re.findall(r"\w+", title)}

    assert set(FOLDERS) - named == {"local"}  # one module, in the first picture
    assert [
        title for title in ("core", "server", "client", "notebook", "convert") if "```mermaid" not in SECTIONS[title]
    ] == []
