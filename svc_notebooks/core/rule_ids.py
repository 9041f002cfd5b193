"""Ids of rules: a rule has a number (A6-04), and its clauses have letters behind it (A6-04a, A6-04b).

The table is tests/rules.csv. A rule with clauses has one row for each clause and no row of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase


def rule_number(id: str) -> str:
    """The number of a rule, from the id of the rule or of one of its clauses.

    >>> rule_number("A6-04b"), rule_number("A6-03")
    ('A6-04', 'A6-03')
    """
    return id.rstrip(ascii_lowercase)


def rows_of(id: str, ids: Iterable[str]) -> list[str]:
    """The rows that an id stands for: itself, or the clauses of the rule with this number. Empty if it is unknown.

    >>> rows_of("A6-04", ["A6-03", "A6-04a", "A6-04b"])
    ['A6-04a', 'A6-04b']
    """
    return [row for row in ids if id in (row, rule_number(row))]
