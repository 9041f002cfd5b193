"""Implements `svc-notebooks conformance`, which runs the contract tests of this project against any deployment."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import ssl
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from string import ascii_lowercase
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlsplit

from .. import __version__
from ..core.brand_names import Names
from ..core.platform import temporary_folder
from ..core.printable_text import terminal_text
from .options import check_output_paths, fail, names_of, write_report

if TYPE_CHECKING:
    import pytest


def rule_number(id: str) -> str:
    """Return the rule id of a clause id. A rule id is returned unchanged.

    >>> rule_number("A6-04b"), rule_number("A6-03")
    ('A6-04', 'A6-03')
    """
    return id.rstrip(ascii_lowercase)


@dataclass(frozen=True, slots=True)
class Deployment:
    """The address of a deployment, the tokens of its users, and the options of a conformance run.

    >>> Deployment("https://files.example.org/api/", "secret").base_url
    'https://files.example.org/api'
    """

    base_url: str
    token: str = field(repr=False)
    second_token: str | None = field(default=None, repr=False)
    names: Names = field(default_factory=Names)
    # A receiving URL whose domain is registered at the deployment. The URL need not respond.
    address: str | None = None
    ca: Path | None = None
    timeout: float = 30.0
    # True if the run may use the control interface of the deployment.
    control: bool = True
    control_token: str | None = field(default=None, repr=False)
    # True if the run may empty the trash of the user's account.
    destructive: bool = False

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            advice = "give an address such as https://files.example.org"
            raise ValueError(f"{self.base_url!r} is not a base address; {advice}")
        object.__setattr__(self, "base_url", self.base_url.rstrip("/"))

    @property
    def is_tls(self) -> bool:
        return self.base_url.startswith("https://")

    def context(self) -> ssl.SSLContext:
        """Return a TLS context that trusts the authorities of `ca`. Raises OSError for an unreadable file."""
        return ssl.create_default_context(cafile=None if self.ca is None else str(self.ca))


class Secrets:
    """A set of secret texts that `redact` replaces by "<token>" in output.

    >>> hidden = Secrets(["abc/def"]); hidden.redact("t=abc/def&u=abc%2Fdef")
    't=<token>&u=<token>'
    """

    def __init__(self, texts: Iterable[str | None]) -> None:
        self._texts: set[str] = set()
        for text in texts:
            self.add(text)

    def add(self, text: str | None) -> None:
        """Add a secret text and its percent-encoded form. Ignore None and an empty text."""
        if text:
            self._texts |= {text, quote(text, safe="")}

    def redact(self, text: str) -> str:
        """Return the text with "<token>" for each secret. A short secret is replaced only as a whole word."""
        patterns = [
            re.escape(secret) if len(secret) >= 6 else rf"(?<!\w){re.escape(secret)}(?!\w)"
            for secret in sorted(self._texts, key=len, reverse=True)  # a secret may begin with another secret
        ]
        return re.sub("|".join(patterns), "<token>", text) if patterns else text


# The results of tests and rules, with their texts in the table.
RESULTS = {"pass": "pass", "fail": "FAIL", "differs": "differs: choice", "untestable": "not testable"}


class InterfaceRule(NamedTuple):
    """A row of tests/rules.csv, which is a rule of the interface or a clause of a rule, with its modules."""

    id: str
    area: str
    side: str
    rule: str
    module: str = ""


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """The outcome of a test case, which is a test with its parameters. `result` is a key of `RESULTS`.

    `text` is pytest's message about a failed test with the last requests, or what a test that could not run needs.
    `differences` name a choice and the different behaviour.
    """

    rules: tuple[str, ...]
    result: str
    text: str = ""
    differences: tuple[str, ...] = ()


def rule_rows(rules: Mapping[str, InterfaceRule], outcomes: Sequence[CaseOutcome]) -> list[dict[str, Any]]:
    """Return the row of each rule, in the order of the rules."""
    return [_rule_row(rule, [outcome for outcome in outcomes if id in outcome.rules]) for id, rule in rules.items()]


def _rule_row(rule: InterfaceRule, outcomes: Sequence[CaseOutcome]) -> dict[str, Any]:
    """Return the row of a rule in the JSON report, with its result, the number of tests and the failures."""
    tests = {result: sum(outcome.result == result for outcome in outcomes) for result in RESULTS}
    result = next((result for result in ("fail", "pass", "differs") if tests[result]), "untestable")

    def texts(name: str) -> list[str]:
        return list(dict.fromkeys(outcome.text for outcome in outcomes if outcome.result == name and outcome.text))

    return {
        "id": rule.id,
        "area": rule.area,
        "rule": rule.rule,
        "result": result,
        "tests": tests,
        "failures": texts("fail"),
        "differences": list(dict.fromkeys(text for outcome in outcomes for text in outcome.differences)),
        "needs": [] if result != "untestable" else texts("untestable") or ["a test over HTTP"],
    }


def counts(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of rules for each possible result."""
    return {result: sum(row["result"] == result for row in rows) for result in RESULTS}


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a line with the number of clauses for each result.

    >>> summary(rule_rows({id: InterfaceRule(id, "x", "server", "...") for id in ("A6-04a", "A6-04b")}, []))
    '2 clauses: 0 pass, 0 fail, 0 differ by choice, 2 not testable from outside'
    """
    count = counts(rows)
    return (
        f"{len(rows)} clauses: {count['pass']} pass, {count['fail']} fail, {count['differs']} differ by choice,"
        f" {count['untestable']} not testable from outside"
    )


def table(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of the result table, with some failures, differences and needs below a rule."""
    yield f"{'rule':<8}{'result':<17}text"
    for row in rows:
        yield f"{row['id']:<8}{RESULTS[row['result']]:<17}{row['rule']}"
        for key, name in (("failures", "test"), ("differences", "choice"), ("needs", "needs")):
            for text in row[key][:_MAX_PRINTED]:
                yield f"        {name}: {text}"


# The number of failures, differences or needs that are printed for a rule. The JSON report has all of them.
_MAX_PRINTED = 3


PACKAGE = Path(__file__).parents[1]

# The environment variables of an outer pytest run, which are removed during the conformance run. If CI is set, pytest
# prints complete differences, which takes hours for two contents of a megabyte.
PYTEST_VARIABLES = ("CI", "BUILD_NUMBER", "PYTEST_ADDOPTS", "PYTEST_PLUGINS")


def suite_folder() -> Path:
    """Return the folder that contains the suite's folder `tests`, the package in a wheel, its parent in a checkout.

    >>> (suite_folder() / "tests" / "rules.csv").is_file()
    True
    """
    inside = PACKAGE / "suite_shipped"
    return inside if inside.is_dir() else PACKAGE.parent


def conformance(options: argparse.Namespace) -> int:
    """Run the contract tests. Return 0 if no rule fails, 1 if a rule fails, or 2 if nothing could be tested."""
    missing = [name for name in ("pytest", "trustme") if find_spec(name) is None]
    if missing:
        return fail("conformance", f'{missing[0]} is not installed: pip install "svc-notebooks[conformance]"')
    try:
        rules = _select_rules(_rules(), options.rules)
        target = None if options.list else _target(options)
    except (OSError, ValueError) as error:
        return fail("conformance", str(error))
    if problem := check_output_paths(options.json, overwrite=options.overwrite):
        return fail("conformance", problem)
    command = ConformanceRun(target, rules)
    command.execute()
    if options.list:
        for id, rule in rules.items():
            print(f"{id:<8}{command.tests[id]:>4} tests  {rule.rule}")
        return 0
    if command.stop_reason:
        sys.stderr.write(f"svc-notebooks conformance: {command.secrets.redact(command.stop_reason)}\n")
    return command.report(options.json, overwrite=options.overwrite)


def _target(options: argparse.Namespace) -> Deployment:
    names = ("token", "second_token", "control_token")
    tokens: Any = {name: getattr(options, name) or os.environ.get(f"SVC_{name.upper()}") for name in names}
    if not options.base_url:
        raise ValueError("BASE_URL is missing; give an address such as https://files.example.org")
    if not tokens["token"]:
        raise ValueError("the token is missing; give --token or set SVC_TOKEN")
    own = {name: getattr(options, name) for name in ("base_url", "address", "ca", "timeout", "destructive")}
    return Deployment(names=names_of(options.names), control=not options.no_control, **tokens, **own)


def _rules() -> dict[str, InterfaceRule]:
    """Return the rules that apply to services by id, without the rules that apply only to clients or notebooks."""
    import csv

    path = suite_folder() / "tests" / "rules.csv"
    with path.open(newline="", encoding="utf-8") as lines:
        rows = [InterfaceRule(**row) for row in csv.DictReader(lines)]
    return {row.id: row for row in rows if row.side in ("server", "both")}


def _select_rules(rules: dict[str, InterfaceRule], ids: Sequence[str]) -> dict[str, InterfaceRule]:
    """Return the rules that the `--rules` options select, by default all. Raises ValueError for an unknown id.

    >>> from types import SimpleNamespace as Rule
    >>> list(_select_rules({"A3-01": Rule(), "A3-02a": Rule(), "A3-02b": Rule(), "E-01": Rule()}, ["A3-02,E"]))
    ['A3-02a', 'A3-02b', 'E-01']
    """
    words = [word.strip().upper() for text in ids for word in text.split(",") if word.strip()]
    for word in words:
        if not any(_matches(id, word) for id in rules):
            raise ValueError(f"--rules has {word}, which is not a rule of the suite; --list prints all rules")
    return {id: rule for id, rule in rules.items() if not words or any(_matches(id, word) for word in words)}


def _matches(id: str, word: str) -> bool:
    return word in (id.upper(), rule_number(id)) or id.startswith(word if word.endswith("-") else f"{word}-")


class ConformanceRun:
    """A run of the contract tests, and its pytest plugin "conformance", from which the tests read the deployment."""

    __name__ = "conformance"  # pytest's name of the plugin

    def __init__(self, target: Deployment | None, rules: Mapping[str, InterfaceRule]) -> None:
        self.target = target
        self.rules = rules
        tokens = [target.token, target.second_token, target.control_token] if target else []
        self.secrets = Secrets(tokens)
        self.run: Any = None
        self.site: Any = None
        self.leftovers: Sequence[str] = ()
        # Messages about test files that cannot be imported, usually because a package is not installed.
        self.unreadable_files: list[str] = []
        self.stop_reason = ""
        # True if a test failed after the suite last set this attribute to False.
        self.failed = False
        self.interrupted = False
        # True after an interrupt, while the suite removes the files and events that it has created.
        self.cleaning_up = False
        self.outcomes: list[CaseOutcome] = []
        self.tests: Counter[str] = Counter()
        self._reports: list[pytest.TestReport] = []

    def execute(self) -> None:
        """Run the contract tests in this process with a temporary folder, and record the outcomes."""
        variables = {name: os.environ.pop(name) for name in PYTEST_VARIABLES if name in os.environ}
        try:
            with temporary_folder("svc-conformance-") as folder:
                self._run_pytest(folder / "tests")
        finally:
            os.environ.update(variables)

    def _run_pytest(self, base: Path) -> None:
        import pytest

        folder = suite_folder()
        package = ModuleType("tests")  # so that `tests` is the suite, even if another package `tests` is installed
        package.__path__ = [str(folder / "tests")]
        sys.modules["tests"] = package
        unused = ("cacheprovider", "doctest", "faulthandler", "terminal")  # this command prints its own report
        arguments = [
            f"--basetemp={base}",
            str(folder / "tests" / "contract"),
            f"--rootdir={folder}",
            f"--config-file={os.devnull}",
            "--override-ini=pythonpath=" + str(folder),
            "--import-mode=importlib",
            "--capture=no",
            "--continue-on-collection-errors",
            "--disable-plugin-autoload",
            *(word for plugin in unused for word in ("-p", f"no:{plugin}")),
            *(["--collect-only"] if self.target is None else []),
        ]
        with _interruptible(self):
            code = pytest.main(arguments, plugins=[self])
        if code not in (0, 1, pytest.ExitCode.NO_TESTS_COLLECTED) and not self.stop_reason:
            self.stop_reason = "the suite could not be run" if code != pytest.ExitCode.INTERRUPTED else "interrupted"

    def raise_interrupt(self) -> None:
        """Raise KeyboardInterrupt once, between two requests of the suite, after the user has interrupted the run."""
        if self.interrupted and not self.cleaning_up:
            self.cleaning_up = True
            raise KeyboardInterrupt

    def rules_of(self, item: pytest.Item) -> tuple[str, ...]:
        """Return the ids of the rules that a test proves, from its `spec` markers."""
        return tuple(str(rule) for mark in item.iter_markers("spec") for rule in mark.args)

    # -- hooks of pytest

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "spec(*ids): the rules that a test proves")
        config.addinivalue_line("markers", "choice(*names): the test rests on what the interface leaves open")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.tests.update(rule for item in session.items for rule in self.rules_of(item))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            last = str(report.longrepr).strip().splitlines()[-1]
            self.unreadable_files.append(f"{Path(report.nodeid).name}: {_short_text(last)}")

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
        self.stop_reason = f"error in the suite: {_short_text(excinfo.exconly())}"
        return True

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Record the suite's message, or "interrupted" after Ctrl-C, as the reason why the run was stopped."""
        self.stop_reason = str(getattr(excinfo.value, "msg", "")) or "interrupted"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a setup, call or teardown report, and after the teardown the outcome of the test."""
        self._reports.append(report)
        if report.when == "teardown":
            self.outcomes.append(self._outcome(self._reports))
            self._reports = []

    def _outcome(self, reports: Sequence[pytest.TestReport]) -> CaseOutcome:
        known: list[tuple[str, Any]] = [pair for report in reports for pair in report.user_properties]
        facts: dict[str, Any] = dict(known)
        rules = facts.get("rules", ())
        failed = next((report for report in reports if report.failed), None)
        skipped = next((report for report in reports if report.skipped), None)
        self.failed |= failed is not None
        if failed is not None:
            crash = getattr(failed.longrepr, "reprcrash", None)
            message = self.secrets.redact(_short_text(crash.message if crash else str(failed.longrepr)))
            if choices := facts.get("choices"):
                return CaseOutcome(rules, "differs", differences=tuple(f"{choice}: {message}" for choice in choices))
            requests = "".join(f"\n            {self.secrets.redact(line)}" for line in facts.get("log", ()))
            return CaseOutcome(rules, "fail", f"{failed.nodeid.rpartition('/')[2]}: {message}{requests}")
        if skipped is not None:
            text = skipped.longrepr[2] if isinstance(skipped.longrepr, tuple) else str(skipped.longrepr)
            return CaseOutcome(rules, "untestable", text.removeprefix("Skipped: ").removeprefix("needs "))
        differences = tuple(f"{value[0]}: {value[1]}" for name, value in known if name == "difference")
        return CaseOutcome(rules, "differs" if differences else "pass", differences=differences)

    # -- the report

    def report(self, path: Path | None, *, overwrite: bool) -> int:
        """Print and write the report. Return 0 if no rule fails, 1 if a rule fails, or 2 if the run was stopped."""
        rows = rule_rows(self.rules, self.outcomes)
        lines = [*table(rows), "", summary(rows)] if self.outcomes else []
        lines += [f"not read: {line}" for line in self.unreadable_files]
        lines += [f"left behind: {line}" for line in self.leftovers]
        for line in lines:
            print("\n".join(terminal_text(self.secrets.redact(part)) for part in line.split("\n")))
        if path:
            report = {
                "base_url": self.target.base_url if self.target else None,
                "suite": __version__,
                "stopped": self.stop_reason or None,
                "counts": counts(rows),
                "rules": rows,
                "not_read": self.unreadable_files,
                "left_behind": list(self.leftovers),
            }
            write_report(path, self.secrets.redact(json.dumps(report, indent=2)) + "\n", overwrite=overwrite)
        if self.stop_reason:
            return 2
        return 1 if counts(rows)["fail"] else 0


_MAX_TEXT = 300  # the largest number of characters of a value in the report. The rest of a longer value is cut off.


def _short_text(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]} ..."


@contextmanager
def _interruptible(command: ConformanceRun) -> Iterator[None]:
    """Handle Ctrl-C and SIGTERM. The first signal ends the run before the next request, the second signal at once."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def end(number: int, frame: object) -> None:
        if command.interrupted or command.cleaning_up:
            raise KeyboardInterrupt
        command.interrupted = True
        sys.stderr.write("\nremoving what the run has created ...\n")

    for number in before:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
