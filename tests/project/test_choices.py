import re
from dataclasses import fields
from pathlib import Path

from svc_notebooks import Policy
from svc_notebooks.cli.conformance import rule_number
from svc_notebooks.core.api.operations import OPERATIONS, SESSION
from svc_notebooks.core.api.public_endpoints import PUBLIC_ENDPOINTS
from svc_notebooks.core.errors.catalogue import CATALOGUE
from svc_notebooks.core.uploads.transitions import TRANSITIONS
from tests.plugin_rules import read_rules

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
SETTINGS, _, CHOICES = PAGE.partition("## Choices without a setting")
NAMED = re.compile(r'\b(?:choice\(|\.note\()\s*"([^"]+)"')
WRITTEN = {name.strip() for name in re.findall(r"^\| ([^|`]+) \|", CHOICES, re.MULTILINE)}
POLICY = [field.name for field in fields(Policy)]
RULES = read_rules().keys()
KNOWN = {*RULES, *map(rule_number, RULES), *POLICY, *WRITTEN}


def test_every_setting_of_the_policy_has_one_row():
    assert sorted(re.findall(r"^\| `(\w+)` \|", SETTINGS, re.MULTILINE)) == sorted(POLICY)


def test_every_choice_of_a_test_has_a_row():
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "contract").rglob("*.py")]
    named = {name for text in texts for name in NAMED.findall(text)}

    assert named - {*POLICY, *WRITTEN} == set()
    assert len(named) > 30


def test_the_journal_names_rules_settings_and_choices_that_exist():
    named = {operation.name: operation.decided_by for operation in (*OPERATIONS, *PUBLIC_ENDPOINTS, SESSION)}
    named |= {str(key): transition.decided_by for key, transition in TRANSITIONS.items()}
    named |= {key: row.decided_by for key, row in CATALOGUE.items() if row.decided_by}
    code = [path.read_text(encoding="utf-8") for path in (ROOT / "svc_notebooks").rglob("*.py")]
    pattern = r'\b(?:decided_by(?:: str)? ?=|(?:rule|by) =) ?"([A-Z][a-z][^"]+)"'
    choices = {name for text in code for name in re.findall(pattern, text)}

    assert {name: by for name, by in named.items() if by not in KNOWN} == {}
    assert choices - WRITTEN == set()
    assert len(choices) > 5
