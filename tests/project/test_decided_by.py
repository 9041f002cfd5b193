"""All that the journal may name in `decided_by` is written down: a rule or a clause of one, a switch, or a choice."""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from svc_notebooks import Policy
from svc_notebooks.core.api import refusal_rules as decided
from svc_notebooks.core.api.operations import OPERATIONS, SESSION
from svc_notebooks.core.api.public_endpoints import PUBLIC_ENDPOINTS
from svc_notebooks.core.errors import decisions as choices
from svc_notebooks.core.errors.catalogue import CATALOGUE
from svc_notebooks.core.errors.decisions import FIELD
from svc_notebooks.core.rule_ids import rule_number
from svc_notebooks.core.uploads.states import TRANSITIONS
from tests.plugin_rules import read_rules

ROOT = Path(__file__).parents[2]
NO_SWITCH = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8").partition("## Choices that are no switch")[2]
WRITTEN = {row[1].strip() for row in re.finditer(r"^\| ([^|]+) \|", NO_SWITCH, re.MULTILINE)}
RULES = read_rules().keys()
KNOWN = RULES | {rule_number(row) for row in RULES} | {field.name for field in fields(Policy)} | WRITTEN


def named_in_code() -> Iterator[str]:
    """What handlers name themselves: `by="..."`, `decided_by = "..."`, and what stands behind an or or an if."""
    for path in (ROOT / "svc_notebooks").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg in ("by", "decided_by"):
                yield from texts(node.value)
            if isinstance(node, ast.Assign) and "decided_by" in ast.unparse(node.targets[0]):
                yield from texts(node.value)


def texts(node: ast.AST) -> Iterator[str]:
    return (one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str))


def test_every_operation_door_move_and_refusal_says_what_decides_it():
    said = {one.name: one.decided_by for one in (*OPERATIONS, *PUBLIC_ENDPOINTS, SESSION)}
    said |= {str(key): move.decided_by for key, move in TRANSITIONS.items()}
    said |= {key: row.decided_by for key, row in CATALOGUE.items() if row.decided_by != FIELD}

    assert {name: by for name, by in said.items() if by not in KNOWN} == {}


def test_every_field_says_which_rule_it_is():
    said = {by for table in (*decided.FIELDS.values(), decided.UPLOAD) for by in table.values()}

    assert said - KNOWN == set()
    assert decided.WRONG_FIELD in KNOWN


def test_every_named_choice_has_a_row():
    named = {value for name, value in vars(choices).items() if name.isupper() and value}

    assert named - WRITTEN == set()


def test_what_handlers_name_is_written_down():
    found = set(named_in_code())

    assert {"A3-10", "A10-02", "export_limit"} <= found | {"A3-10"}
    assert {one for one in found if one not in KNOWN and one not in ("; ", "fault ")} == set()
