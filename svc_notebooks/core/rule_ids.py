"""The ids of interface rules, such as A6-04, and of their clauses, such as A6-04a.

In tests/rules.csv, a rule with clauses has one row for each clause and no row of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase


def rule_number(id: str) -> str:
    """Return the rule id for a rule id or clause id.

    >>> rule_number("A6-04b"), rule_number("A6-03")
    ('A6-04', 'A6-03')
    """
    return id.rstrip(ascii_lowercase)


def rows_of(id: str, ids: Iterable[str]) -> list[str]:
    """Return the row ids for a rule id, which may have several clauses, or for a clause id. Empty if the id is unknown.

    >>> rows_of("A6-04", ["A6-03", "A6-04a", "A6-04b"])
    ['A6-04a', 'A6-04b']
    """
    return [row for row in ids if id in (row, rule_number(row))]
