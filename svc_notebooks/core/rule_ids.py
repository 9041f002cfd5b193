"""The ids of rules, such as A6-04, and of their clauses, such as A6-04a.

The table is tests/rules.csv, in which a rule with clauses has a row for each clause and none of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase


def rule_number(id: str) -> str:
    """Return the number of a rule from its id or the id of a clause.

    >>> rule_number("A6-04b"), rule_number("A6-03")
    ('A6-04', 'A6-03')
    """
    return id.rstrip(ascii_lowercase)


def rows_of(id: str, ids: Iterable[str]) -> list[str]:
    """Return the row of an id, or those of the clauses of the rule. The list is empty for an unknown id.

    >>> rows_of("A6-04", ["A6-03", "A6-04a", "A6-04b"])
    ['A6-04a', 'A6-04b']
    """
    return [row for row in ids if id in (row, rule_number(row))]
