"""Which rules of the interface did this run prove?

A test says what it proves with `@pytest.mark.spec("A3-12")`, with one or many ids of `rules.csv`.
A rule that says several things has one row for each clause (A6-04a, A6-04b). A mark names the rule by its number and,
behind it, the clauses that the test proves: `@pytest.mark.spec("A6-04", "A6-04b")`. A row is proved by a run in which a
test with its mark passed and none failed; a rule is proved when all of its rows are. The end of the run counts them.

`rules_floor.txt` keeps the rows that were proved once. A run of the whole suite in which one of them is no longer
proved fails: coverage does not go down unseen. A run of a part of the suite (a path, -k, --lf, another -m) is measured
and never judged, and a skipped test is no loss. `pytest --write-rules-floor` moves the floor up.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from svc_notebooks.cli.conformance import rule_number

RULES = Path(__file__).with_name("rules.csv")
FLOOR = Path(__file__).with_name("rules_floor.txt")
PROVES = "rules that this test proves"


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of `rules.csv`: a rule, or a clause of one."""

    id: str
    area: str
    side: str
    rule: str
    module: str = ""


def read_rules(path: Path = RULES) -> dict[str, Rule]:
    with path.open(newline="", encoding="utf-8") as lines:
        return {row["id"]: Rule(**row) for row in csv.DictReader(lines)}


def read_floor(path: Path = FLOOR) -> frozenset[str]:
    return frozenset(path.read_text(encoding="utf-8").split()) if path.exists() else frozenset()


def spec_ids(item: pytest.Item) -> tuple[str, ...]:
    return tuple(rule for mark in item.iter_markers("spec") for rule in mark.args)


def complaints(items: list[pytest.Item], rules: dict[str, Rule]) -> list[str]:
    """What is wrong with the marks, in sentences: no id, an unknown id, a number or a clause alone."""
    marks = {item.nodeid: spec_ids(item) for item in items}
    problems = {ids: _problems(ids, rules) for ids in set(marks.values())}
    unknown = [
        f"{nodeid}: spec mark with {rule!r}, {problem}"
        for nodeid, ids in marks.items()
        for rule, problem in problems[ids].items()
    ]
    empty = [
        f"{item.nodeid}: spec mark without an id"
        for item in items
        if any(not mark.args or mark.kwargs for mark in item.iter_markers("spec"))
    ]
    return unknown + empty


def _problems(ids: tuple[str, ...], rules: dict[str, Rule]) -> dict[str, str]:
    """The ids of a test that are wrong, each with its problem. Thousands of tests have the same few hundred marks."""
    return {rule: problem for rule in ids if (problem := _problem(rule, ids, rules))}


def _problem(rule: str, named: tuple[str, ...], rules: dict[str, Rule]) -> str:
    """What is wrong with an id beside the other ids of its test; empty if nothing is."""
    if rule in rules:
        number = rule_number(rule)
        return "" if number in named else f"and without {number!r}, the number of its rule"
    clauses = [row for row in rules if rule == rule_number(row)]
    if not clauses:
        return f"which is not an id of {RULES.name}"
    return (
        ""
        if set(clauses) & set(named)
        else f"which has clauses: name those that the test proves ({', '.join(clauses)})"
    )


def is_whole(config: pytest.Config) -> bool:
    """Whether this is the default suite: no path, no -k, no --lf, and the tiers that it always has."""
    option = config.option
    narrowed = option.keyword or option.deselect or getattr(option, "lf", False)
    return (
        config.args_source is pytest.Config.ArgsSource.TESTPATHS
        and option.markexpr in config.getini("addopts")
        and not (narrowed or option.collectonly)
    )


@dataclass(slots=True, eq=False)
class RuleCoverage:
    rules: dict[str, Rule]
    floor: frozenset[str]
    passed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    lost: tuple[str, ...] = ()
    measures: bool = False

    @property
    def proved(self) -> set[str]:
        return self.passed - self.failed

    @property
    def proved_rules(self) -> set[str]:
        """The numbers of the rules of which every row is proved."""
        return self.numbers - {rule_number(row) for row in self.counted.keys() - self.proved}

    @property
    def numbers(self) -> set[str]:
        return {rule_number(row) for row in self.counted}

    @property
    def counted(self) -> dict[str, Rule]:
        """The rows that this run can prove: a row of the side "browser" only where a browser was tried."""
        tried = self.passed | self.failed | self.skipped
        return {row: rule for row, rule in self.rules.items() if rule.side != "browser" or row in tried}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if problems := complaints(items, self.rules):
            raise pytest.UsageError("\n".join(problems))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[None]:
        """The ids travel in the report: the tests may run in processes of their own."""
        report: pytest.TestReport = yield  # type: ignore[misc]
        report.user_properties.append((PROVES, tuple(rule for rule in spec_ids(item) if rule in self.rules)))
        return report  # type: ignore[return-value]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, ids in report.user_properties:
            if name == PROVES:
                self.note(tuple(map(str, ids)), report)  # type: ignore[arg-type]

    def note(self, ids: tuple[str, ...], report: pytest.TestReport) -> None:
        self.measures |= bool(ids)
        if report.failed:
            self.failed.update(ids)
        elif report.skipped:  # an expected failure counts as skipped: it proves nothing either
            self.skipped.update(ids)
        elif report.when == "call" and report.passed and not hasattr(report, "wasxfail"):  # "rerun" is no pass
            self.passed.update(ids)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        finished = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        stopped = session.shouldstop or session.shouldfail
        is_worker = hasattr(session.config, "workerinput")
        if not (is_whole(session.config) and finished) or stopped or is_worker:
            return
        if session.config.option.write_rules_floor:
            self.write_floor()
        self.lost = tuple(sorted(self.floor - self.proved - self.skipped))
        if self.lost:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def write_floor(self) -> None:
        kept = [rule for rule in self.rules if rule in self.proved | self.floor]
        FLOOR.write_text("\n".join(kept) + "\n", encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.measures or terminalreporter.config.option.collectonly:
            return
        rules = f"{len(self.proved_rules)} of {len(self.numbers)}"
        clauses = f"{len(self.proved)} of {len(self.counted)}"
        terminalreporter.section(f"rules: {rules} proved by this run ({clauses} clauses)")
        for line in self.missing_by_area():
            terminalreporter.write_line(line)
        if left := self.rules.keys() - self.counted.keys():
            terminalreporter.write_line(f"not counted, needs `make browser`: {', '.join(sorted(left))}")
        if self.lost:
            terminalreporter.write_line(
                f"proved before and not by this run: {', '.join(self.lost)} ({FLOOR.name})", red=True
            )

    def missing_by_area(self) -> Iterator[str]:
        for area in dict.fromkeys(rule.area for rule in self.rules.values()):
            rules = [rule.id for rule in self.counted.values() if rule.area == area]
            missing = [rule for rule in rules if rule not in self.proved]
            if missing:
                have = f"{len(rules) - len(missing)}/{len(rules)}"
                yield f"  {area:<10} {have:>6}  missing {' '.join(missing)}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-rules-floor",
        action="store_true",
        help=f"after a whole run, add the rows that it proved to {FLOOR.name}",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(RuleCoverage(read_rules(), read_floor()), "rule-coverage")
