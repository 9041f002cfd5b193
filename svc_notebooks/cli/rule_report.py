"""The result of each rule in a conformance run, as a row of the JSON report and as lines of the table."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..core.rule_ids import rule_number

RESULTS = {"pass": "pass", "fail": "FAIL", "differs": "differs: choice", "untestable": "not testable"}
"""The results of tests and rules, with their texts in the table."""


class InterfaceRule(NamedTuple):
    """A row of tests/rules.csv, which is a rule of the interface or a clause of a rule."""

    id: str
    area: str
    side: str
    rule: str


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """The outcome of a test case, which is a test with its parameters. `result` is a key of `RESULTS`.

    `failure` has the test, the expected and the actual value and the last requests of a failed test, `reason` what a
    test that could not run needs. `differences` are pairs of a choice and the different behaviour.
    """

    rules: tuple[str, ...]
    result: str
    failure: Mapping[str, Any] | None = None
    reason: str = ""
    differences: tuple[tuple[str, str], ...] = ()


def rule_row(rule: InterfaceRule, outcomes: Sequence[CaseOutcome]) -> dict[str, Any]:
    """Return the row of a rule in the JSON report, with its result, the number of tests and the failures.

    >>> rule_row(InterfaceRule("A3-06", "resumable", "server", "..."), [])["result"]
    'untestable'
    """
    tests = {result: sum(outcome.result == result for outcome in outcomes) for result in RESULTS}
    result = next((result for result in ("fail", "pass", "differs") if tests[result]), "untestable")
    differences = dict.fromkeys(difference for outcome in outcomes for difference in outcome.differences)
    reasons = list(dict.fromkeys(outcome.reason for outcome in outcomes if outcome.reason))
    return {
        "id": rule.id,
        "number": rule_number(rule.id),
        "area": rule.area,
        "rule": rule.rule,
        "result": result,
        "tests": tests,
        "failures": [outcome.failure for outcome in outcomes if outcome.failure],
        "differences": [{"choice": choice, "what": difference} for choice, difference in differences],
        "not_testable": (reasons if outcomes else ["a test over HTTP, which the suite does not have"])
        if result != "pass"
        else [],
    }


def rule_rows(rules: Mapping[str, InterfaceRule], outcomes: Iterable[CaseOutcome]) -> list[dict[str, Any]]:
    """Return the row of each rule, in the order of the rules."""
    outcomes = list(outcomes)
    return [rule_row(rule, [outcome for outcome in outcomes if id in outcome.rules]) for id, rule in rules.items()]


def counts(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of rules for each possible result."""
    return {result: sum(row["result"] == result for row in rows) for result in RESULTS}


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a line with the numbers of rules and clauses, and the number of clauses for each result.

    >>> summary(rule_rows({id: InterfaceRule(id, "x", "server", "...") for id in ("A6-04a", "A6-04b")}, []))
    '1 rule, 2 clauses: 0 pass, 0 fail, 0 differ by choice, 2 not testable from outside'
    """
    count, rules = counts(rows), len({row["number"] for row in rows})
    return (
        f"{rules} rule{'s' * (rules != 1)}, {len(rows)} clause{'s' * (len(rows) != 1)}: {count['pass']} pass,"
        f" {count['fail']} fail, {count['differs']} differ by choice, {count['untestable']} not testable from outside"
    )


def table(rows: Iterable[Mapping[str, Any]], width: int | None = None) -> Iterator[str]:
    """Yield the lines of the result table. `width` is in characters, by default the width of the terminal."""
    width = max(60, width or shutil.get_terminal_size((100, 24)).columns)
    yield f"{'rule':<8}{'result':<17}text"
    for row in rows:
        head = f"{row['id']:<8}{RESULTS[row['result']]:<17}"
        yield from textwrap.wrap(row["rule"], width, initial_indent=head, subsequent_indent=" " * 25)
        for name, text in _details(row):
            head = " " * 8 + f"{name + ':':<10}"
            yield from (textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * 18) or [head])[:6]


_MAX_PRINTED = 3
"""The number of failures, differences or reasons that are printed for a rule. The JSON report has all of them."""


def _details(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for failure in row["failures"][:_MAX_PRINTED]:
        yield from (("test", failure["test"]), ("expected", failure["expected"]), ("actual", failure["came"]))
        yield from (("request", request) for request in failure["requests"])
    if more := len(row["failures"][_MAX_PRINTED:]):
        yield "more", f"{more} other tests of this rule failed"
    for difference in row["differences"][:_MAX_PRINTED]:
        yield "choice", f"{difference['choice']}: {difference['what']}"
    if row["result"] == "untestable":
        yield "needs", "; ".join(row["not_testable"][:_MAX_PRINTED])
