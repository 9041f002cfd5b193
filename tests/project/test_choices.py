"""Tests that rest on a choice name one that docs/decisions.md has."""

import re
from dataclasses import fields
from pathlib import Path

from svc_notebooks import Policy

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r'\bchoice\(\s*"([^"]+)"')
NOTED = re.compile(r'\.note\(\s*"([^"]+)"')


def test_every_choice_has_a_row():
    page = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    known = {field.name for field in fields(Policy)}
    rows = set(re.findall(r"^\| ([^|`]+?) \|", page.partition("## Choices without a setting")[2], re.MULTILINE))
    named = set()
    for path in (ROOT / "tests" / "contract").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        named |= {*NAMED.findall(text), *NOTED.findall(text)}

    assert named - known - rows == set()
    assert len(named) > 30
