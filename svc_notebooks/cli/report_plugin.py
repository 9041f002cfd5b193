"""The pytest plugin of a conformance run: it turns the report of each test into an outcome."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .rule_report import CaseOutcome, Failure, Result

if TYPE_CHECKING:
    from .conformance import ConformanceRun

_MAX_TEXT = 300
"""So many characters of a value are told."""

MARKS = (
    "spec(*ids): the rules that a test proves",
    "choice(*names): the test rests on what the interface leaves open",
)


class ReportPlugin:
    """The hooks of one run."""

    def __init__(self, command: ConformanceRun) -> None:
        self._command = command
        self._compared: tuple[str, str] | None = None
        self._reports: list[Any] = []
        self._statement = ""
        self._total = self._done = 0

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """The suite finds the command under its name; pytest's own reporter is silent, for there will be a table."""
        config.pluginmanager.register(self._command, "conformance")
        for line in MARKS:
            config.addinivalue_line("markers", line)
        config.pluginmanager.unregister(name="terminalreporter")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """How many tests there are, of each rule and in all."""
        self._total = len(session.items)
        for item in session.items:
            for rule in self._command.rules_of(item):
                self._command.tests[rule] = self._command.tests.get(rule, 0) + 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be read, for it needs what is not installed here, is said at the end."""
        if report.failed:
            last = str(report.longrepr).strip().splitlines()[-1]
            self._command.unreadable_files.append(f"{Path(report.nodeid).name}: {_short_text(last)}")

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
        """The suite itself went wrong; one sentence says where."""
        self._command.stop_reason = f"the suite met what it does not know: {_short_text(excinfo.exconly())}"
        return True

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """The run ends before its time: because the suite says so, or by Ctrl-C."""
        self._command.stop_reason = str(getattr(excinfo.value, "msg", "")) or "interrupted"

    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> None:
        """A comparison that does not hold: what came stands left in our tests, what was expected right."""
        expected = _short_repr(right) if op == "==" else f"{op} {_short_repr(right)}"
        self._compared = expected, _short_repr(left)

    def pytest_runtest_logstart(self) -> None:
        """A test begins."""
        self._reports, self._compared, self._statement = [], None, ""

    def pytest_exception_interact(self, call: pytest.CallInfo[Any]) -> None:
        """Where it happened, in the test's own words."""
        if call.excinfo is not None:
            entries = [entry for entry in call.excinfo.traceback if Path(entry.path).name.startswith("test_")]
            self._statement = " ".join(str(entries[-1].statement).split()) if entries else ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A part of a test is over: setup, call or teardown."""
        self._reports.append(report)
        if report.when == "teardown":
            self._done += 1
            self._command.outcomes.append(self._outcome())
            self._show_progress()

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
            return CaseOutcome(name, rules, Result.UNTESTABLE, reason=_reason(skipped))
        return CaseOutcome(name, rules, Result.PASS, differences=tuple(dict.fromkeys(differences)))

    def _failure(self, report: pytest.TestReport, log: tuple[str, ...]) -> Failure:
        crash = getattr(report.longrepr, "reprcrash", None)
        message = crash.message if crash else str(report.longrepr)
        if self._compared and "assert" in message:
            expected, came = self._compared
        else:
            expected, came = self._statement or "an answer", _short_text(message)
        hide = self._command.secrets.redact
        self._statement = hide(self._statement)
        return Failure(hide(expected), hide(came), tuple(hide(line) for line in log))

    def _show_progress(self) -> None:
        if sys.stderr.isatty():
            end = "\n" if self._done == self._total else ""
            sys.stderr.write(f"\r{self._done} of {self._total} tests{end}")
            sys.stderr.flush()


def _name(nodeid: str) -> str:
    """Without the folder, and without the way that it is spoken to, which is one here."""
    file, colons, rest = nodeid.partition("::")
    for word in ("in-process-", "[in-process]", "-in-process"):
        rest = rest.replace(word, "")
    return file.rpartition("/")[2] + colons + rest


def _reason(report: pytest.TestReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ").removeprefix("needs ")


def _short_repr(value: object) -> str:
    return _short_text(repr(value))


def _short_text(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]} ..."
