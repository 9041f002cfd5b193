"""The pytest plugin of a conformance run, which converts the report of each test to an outcome."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .rule_report import CaseOutcome, Failure, Result

if TYPE_CHECKING:
    from .conformance import ConformanceRun

_MAX_TEXT = 300
"""The largest number of characters of a value in the report. The rest of a longer value is cut off."""

MARKS = ("spec(*ids): the rules that a test proves", "choice(*names): the test rests on what the interface leaves open")


class ReportPlugin:
    """The pytest hooks that record the test outcomes of a conformance run."""

    def __init__(self, command: ConformanceRun) -> None:
        self._command = command
        self._compared: tuple[str, str] | None = None
        self._reports: list[Any] = []
        self._statement = ""
        self._total = self._done = 0

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Register the conformance run as a plugin, and disable pytest's own report."""
        config.pluginmanager.register(self._command, "conformance")
        for line in MARKS:
            config.addinivalue_line("markers", line)
        config.pluginmanager.unregister(name="terminalreporter")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._total = len(session.items)
        for item in session.items:
            for rule in self._command.rules_of(item):
                self._command.tests[rule] = self._command.tests.get(rule, 0) + 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a test file that cannot be imported, usually because a package is not installed."""
        if report.failed:
            last = str(report.longrepr).strip().splitlines()[-1]
            self._command.unreadable_files.append(f"{Path(report.nodeid).name}: {_short_text(last)}")

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
        """Record an internal error of the test suite as the reason why the run was stopped."""
        self._command.stop_reason = f"error in the suite: {_short_text(excinfo.exconly())}"
        return True

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Record the suite's message, or "interrupted" after Ctrl-C, as the reason why the run was stopped."""
        self._command.stop_reason = str(getattr(excinfo.value, "msg", "")) or "interrupted"

    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> None:
        """Record the actual value (left operand) and the expected value (right operand) of a failed comparison."""
        expected = _short_repr(right) if op == "==" else f"{op} {_short_repr(right)}"
        self._compared = expected, _short_repr(left)

    def pytest_runtest_logstart(self) -> None:
        """Delete the data of the previous test."""
        self._reports, self._compared, self._statement = [], None, ""

    def pytest_exception_interact(self, call: pytest.CallInfo[Any]) -> None:
        """Record the source text of the statement at which the test failed."""
        if call.excinfo is not None:
            entries = [entry for entry in call.excinfo.traceback if Path(entry.path).name.startswith("test_")]
            self._statement = " ".join(str(entries[-1].statement).split()) if entries else ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a setup, call or teardown report, and after the teardown the outcome of the test."""
        self._reports.append(report)
        if report.when == "teardown":
            self._done += 1
            self._command.outcomes.append(self._outcome())
            if sys.stderr.isatty():
                end = "\n" if self._done == self._total else ""
                sys.stderr.write(f"\r{self._done} of {self._total} tests{end}")
                sys.stderr.flush()

    def _outcome(self) -> CaseOutcome:
        reports = self._reports
        known = [pair for report in reports for pair in report.user_properties]
        facts = {name: value for name, value in known if name != "difference"}
        differences = [value for name, value in known if name == "difference"]
        name, rules = _name(reports[0].nodeid), tuple(facts.get("rules", ()))
        failed = next((report for report in reports if report.failed), None)
        skipped = next((report for report in reports if report.skipped), None)
        self._command.failed |= failed is not None
        if failed is not None:
            failure = self._failure(failed, tuple(facts.get("log", ())))
            if choices := facts.get("choices"):
                difference = f"{failure.expected} here, {failure.actual} there"
                return CaseOutcome(
                    name, rules, Result.DIFFERS, differences=tuple((choice, difference) for choice in choices)
                )
            return CaseOutcome(f"{name}: {self._statement}", rules, Result.FAIL, failure=failure)
        if skipped is not None:
            text = skipped.longrepr[2] if isinstance(skipped.longrepr, tuple) else str(skipped.longrepr)
            reason = text.removeprefix("Skipped: ").removeprefix("needs ")
            return CaseOutcome(name, rules, Result.UNTESTABLE, reason=reason)
        return CaseOutcome(name, rules, Result.PASS, differences=tuple(dict.fromkeys(differences)))

    def _failure(self, report: pytest.TestReport, log: tuple[str, ...]) -> Failure:
        crash = getattr(report.longrepr, "reprcrash", None)
        message = crash.message if crash else str(report.longrepr)
        if self._compared and "assert" in message:
            expected, actual = self._compared
        else:
            expected, actual = self._statement or "a response", _short_text(message)
        redact = self._command.secrets.redact
        self._statement = redact(self._statement)
        return Failure(redact(expected), redact(actual), tuple(redact(line) for line in log))


def _name(nodeid: str) -> str:
    """Return the id of a test without its folder and its transport, which is the same for all tests of a run."""
    file, colons, rest = nodeid.partition("::")
    for word in ("in-process-", "[in-process]", "-in-process"):
        rest = rest.replace(word, "")
    return file.rpartition("/")[2] + colons + rest


def _short_repr(value: object) -> str:
    return _short_text(repr(value))


def _short_text(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]} ..."
