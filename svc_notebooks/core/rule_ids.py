"""The ids of interface rules, such as A6-04, and of the clauses of a rule, such as A6-04a (tests/rules.csv)."""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase


def rule_number(id: str) -> str:
    """Return the rule id of a clause id. A rule id is returned unchanged.

    >>> rule_number("A6-04b"), rule_number("A6-03")
    ('A6-04', 'A6-03')
    """
    return id.rstrip(ascii_lowercase)


def rows_of(id: str, ids: Iterable[str]) -> list[str]:
    """Return the row ids of a rule (one row per clause) or of a clause. Empty if the id is unknown.

    >>> rows_of("A6-04", ["A6-03", "A6-04a", "A6-04b"])
    ['A6-04a', 'A6-04b']
    """
    return [row for row in ids if id in (row, rule_number(row))]
