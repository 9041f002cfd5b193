"""docs/decisions.md has a row for every choice of the policy, and none for a choice that is gone."""

import re
from dataclasses import fields
from pathlib import Path

from svc_notebooks import Policy

PAGE = Path(__file__).parents[2] / "docs" / "decisions.md"
ROW = re.compile(r"^\| `(?P<field>\w+)` \|(?P<cells>.*)\|$", re.MULTILINE)


def test_every_field_of_the_policy_has_one_row():
    rows = [row["field"] for row in ROW.finditer(PAGE.read_text(encoding="utf-8"))]

    assert sorted(rows) == sorted(field.name for field in fields(Policy))


def test_every_row_is_filled():
    for row in ROW.finditer(PAGE.read_text(encoding="utf-8")):
        cells = [cell.strip() for cell in row["cells"].split(" | ")]
        assert len(cells) == 4, f"{row['field']}: question, choice, why, where"
        assert all(cells), f"{row['field']}: an empty cell"
