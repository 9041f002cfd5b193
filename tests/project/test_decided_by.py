"""All that the journal may name in `decided_by` is written down: a rule or a clause of one, a switch, or a choice."""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from svc_notebooks import Policy
from svc_notebooks.cli.conformance import rule_number
from svc_notebooks.core.api import error_rules
from svc_notebooks.core.api.operations import OPERATIONS, SESSION
from svc_notebooks.core.api.public_endpoints import PUBLIC_ENDPOINTS
from svc_notebooks.core.errors import decision_ids
from svc_notebooks.core.errors.catalogue import CATALOGUE
from svc_notebooks.core.errors.decision_ids import FIELD
from svc_notebooks.core.uploads.states import TRANSITIONS
from tests.plugin_rules import read_rules

ROOT = Path(__file__).parents[2]
NO_SWITCH = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8").partition("## Choices without a setting")[2]
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
    return (child.value for child in ast.walk(node) if isinstance(child, ast.Constant) and isinstance(child.value, str))


def test_every_operation_endpoint_move_and_refusal_says_what_decides_it():
    decided_by = {operation.name: operation.decided_by for operation in (*OPERATIONS, *PUBLIC_ENDPOINTS, SESSION)}
    decided_by |= {str(key): move.decided_by for key, move in TRANSITIONS.items()}
    decided_by |= {key: row.decided_by for key, row in CATALOGUE.items() if row.decided_by != FIELD}

    assert {name: by for name, by in decided_by.items() if by not in KNOWN} == {}


def test_every_field_says_which_rule_it_is():
    rules = {by for table in (*error_rules.FIELDS.values(), error_rules.UPLOAD) for by in table.values()}

    assert rules - KNOWN == set()
    assert error_rules.WRONG_FIELD in KNOWN


def test_every_named_choice_has_a_row():
    named = {value for name, value in vars(decision_ids).items() if name.isupper() and value}

    assert named - WRITTEN == set()


def test_what_handlers_name_is_written_down():
    names = set(named_in_code())

    assert {"A3-10", "A10-02", "export_limit"} <= names | {"A3-10"}
    assert {name for name in names if name not in KNOWN and name not in ("; ", "fault ")} == set()
