"""CONTRIBUTING.md names the files to open for each addition: each is there, and has the name that stands beside it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATHS = sorted(set(re.findall(r"`((?:svc_notebooks|tests|docs|tools|notebooks|binder|requirements)/[\w./-]*)`", TEXT)))
ADDITIONS = {
    "a file field",
    "an event field",
    "a control of the event form",
    "an endpoint",
    "a refusal",
    "a conversion",
}
TABLES = re.findall(r"`([A-Z_]{2,})`\s+in\s+`([\w./]+\.py)`", TEXT)


def test_the_additions_are_there():
    assert {heading for heading in ADDITIONS if f"**{heading}**" not in TEXT} == set()
    assert len(PATHS) > 40


@pytest.mark.parametrize("path", PATHS)
def test_each_path_exists(path: str):
    assert (ROOT / path).exists()


@pytest.mark.parametrize("table, path", TABLES)
def test_each_table_is_in_its_file(table: str, path: str):
    assert re.search(rf"^{table}\b", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
