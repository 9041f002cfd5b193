"""The report of a conformance run as a table or as JSON, with a result for each rule that follows from its tests."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from ..core.rule_ids import rule_number


class InterfaceRule(NamedTuple):
    """A row of tests/rules.csv, which is a rule of the interface or a clause of a rule."""

    id: str
    area: str
    side: str
    rule: str


class Result(Enum):
    """The result of a test or of a rule. The value is the text in the table."""

    PASS = "pass"
    FAIL = "FAIL"
    DIFFERS = "differs: choice"
    UNTESTABLE = "not testable"


@dataclass(frozen=True, slots=True)
class Failure:
    """The expected and the actual value of a failed test, with lines about the test's requests."""

    expected: str
    actual: str
    requests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """The outcome of a test case, which is a test with its parameters."""

    test: str
    rules: tuple[str, ...]
    result: Result
    reason: str = ""
    """The missing requirement of a test that could not run. Empty for other tests."""
    failure: Failure | None = None
    differences: tuple[tuple[str, str], ...] = ()

    @property
    def verdict(self) -> Result:
        """The result that this test contributes to its rules. A passed test with differences counts as DIFFERS."""
        return Result.DIFFERS if self.result is Result.PASS and self.differences else self.result


@dataclass(slots=True)
class RuleVerdict:
    """A rule or a clause of a rule, with the outcomes of its tests and the result."""

    id: str
    area: str
    text: str
    outcomes: list[CaseOutcome] = field(default_factory=list)

    @property
    def result(self) -> Result:
        """The first of FAIL, PASS and DIFFERS that is the result of a test of this rule, else UNTESTABLE.

        >>> RuleVerdict("A3-06", "resumable", "...").result
        <Result.UNTESTABLE: 'not testable'>
        """
        results = {outcome.verdict for outcome in self.outcomes}
        order = (Result.FAIL, Result.PASS, Result.DIFFERS)
        return next((result for result in order if result in results), Result.UNTESTABLE)

    @property
    def failures(self) -> list[CaseOutcome]:
        """The outcomes of the rule's failed tests."""
        return [outcome for outcome in self.outcomes if outcome.result is Result.FAIL]

    @property
    def differences(self) -> list[tuple[str, str]]:
        """Pairs of a choice and a description of the deployment's different behaviour, without duplicates."""
        return list(dict.fromkeys(difference for outcome in self.outcomes for difference in outcome.differences))

    @property
    def reasons(self) -> list[str]:
        """The missing requirements of the tests that could not run, without duplicates."""
        if not self.outcomes:
            return ["a test over HTTP, which the suite does not have"]
        return list(dict.fromkeys(outcome.reason for outcome in self.outcomes if outcome.reason))

    def row(self) -> dict[str, object]:
        """Return the rule with its result, test counts and failures, for the JSON report."""
        count = {result.name.lower(): sum(o.verdict is result for o in self.outcomes) for result in Result}
        return {
            "id": self.id,
            "number": rule_number(self.id),
            "area": self.area,
            "rule": self.text,
            "result": self.result.name.lower(),
            "tests": count,
            "failures": [
                {"test": outcome.test, "expected": outcome.failure.expected, "came": outcome.failure.actual,
                 "requests": list(outcome.failure.requests)}
                for outcome in self.failures if outcome.failure
            ],
            "differences": [{"choice": choice, "what": difference} for choice, difference in self.differences],
            "not_testable": self.reasons if self.result is not Result.PASS else [],
        }  # fmt: skip


def verdicts(rules: Mapping[str, InterfaceRule], outcomes: Iterable[CaseOutcome]) -> list[RuleVerdict]:
    """Return a RuleVerdict for each rule, in the order of the rules."""
    rule_verdicts = {id: RuleVerdict(id, rule.area, rule.rule) for id, rule in rules.items()}
    for outcome in outcomes:
        for rule in outcome.rules:
            if rule in rule_verdicts:
                rule_verdicts[rule].outcomes.append(outcome)
    return list(rule_verdicts.values())


def counts(rule_verdicts: Iterable[RuleVerdict]) -> dict[Result, int]:
    """Return the number of rules for each possible result."""
    results = [verdict.result for verdict in rule_verdicts]
    return {result: results.count(result) for result in Result}


def summary(rule_verdicts: Iterable[RuleVerdict]) -> str:
    """Return a line with the numbers of rules and clauses, and the number of clauses for each result.

    >>> summary([RuleVerdict("A6-04a", "x", "..."), RuleVerdict("A6-04b", "x", "...")])
    '1 rule, 2 clauses: 0 pass, 0 fail, 0 differ by choice, 2 not testable from outside'
    """
    rule_verdicts = list(rule_verdicts)
    count = counts(rule_verdicts)
    rules = _plural("rule", len({rule_number(verdict.id) for verdict in rule_verdicts}))
    return (
        f"{rules}, {_plural('clause', len(rule_verdicts))}: {count[Result.PASS]} pass, {count[Result.FAIL]} fail, "
        f"{count[Result.DIFFERS]} differ by choice, {count[Result.UNTESTABLE]} not testable from outside"
    )


def _plural(noun: str, number: int) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def table(rule_verdicts: Iterable[RuleVerdict], width: int | None = None) -> Iterable[str]:
    """Yield the lines of the result table. `width` is in characters, by default the width of the terminal."""
    width = max(60, width or shutil.get_terminal_size((100, 24)).columns)
    yield f"{'rule':<8}{'result':<17}text"
    for verdict in rule_verdicts:
        head = f"{verdict.id:<8}{verdict.result.value:<17}"
        yield from textwrap.wrap(verdict.text, width, initial_indent=head, subsequent_indent=" " * 25)
        for name, text in _details(verdict):
            head = " " * 8 + f"{name + ':':<10}"
            lines = textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * 18) or [head]
            yield from lines[:6]


_MAX_PRINTED = 3
"""The number of failures, differences or reasons that are printed for a rule. The JSON report has all of them."""


def _details(verdict: RuleVerdict) -> Iterable[tuple[str, str]]:
    for outcome in verdict.failures[:_MAX_PRINTED]:
        if outcome.failure:
            yield "test", outcome.test
            yield "expected", outcome.failure.expected
            yield "actual", outcome.failure.actual
            for request in outcome.failure.requests:
                yield "request", request
    if len(verdict.failures) > _MAX_PRINTED:
        yield "more", f"{len(verdict.failures) - _MAX_PRINTED} other tests of this rule failed"
    for choice, difference in verdict.differences[:_MAX_PRINTED]:
        yield "choice", f"{choice}: {difference}"
    if verdict.result is Result.UNTESTABLE:
        yield "needs", "; ".join(verdict.reasons[:_MAX_PRINTED])
