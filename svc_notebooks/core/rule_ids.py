"""The ids of interface rules, such as A6-04, and of their clauses, such as A6-04a.

The rules are in tests/rules.csv. A rule with clauses has one row for each clause, and no row of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase


def rule_number(id: str) -> str:
    """Return the id of the rule to which a rule id or a clause id belongs.

    >>> rule_number("A6-04b"), rule_number("A6-03")
    ('A6-04', 'A6-03')
    """
    return id.rstrip(ascii_lowercase)


def rows_of(id: str, ids: Iterable[str]) -> list[str]:
    """Return the ids of the table rows for a rule or clause id.

    A rule with clauses has one row for each clause. Return an empty list if the id is unknown.

    >>> rows_of("A6-04", ["A6-03", "A6-04a", "A6-04b"])
    ['A6-04a', 'A6-04b']
    """
    return [row for row in ids if id in (row, rule_number(row))]
