"""The count of rules says what is true: of passes, failures, parameters, and unknown ids."""

import textwrap
from string import ascii_lowercase

import pytest

from svc_notebooks.cli.conformance import rule_number
from tests import plugin_rules
from tests.plugin_rules import read_floor, read_rules

pytest_plugins = ["pytester"]


# What these small runs do not need and pay for at every end: an import, and five collections of garbage.
SLOW = ("hypothesispytest", "unraisableexception", "cacheprovider")


@pytest.fixture
def suite(pytester, monkeypatch, tmp_path):
    """A suite of its own with four rules, one of them with two clauses, and a floor."""
    (tmp_path / "rules.csv").write_text(
        "id,area,side,rule\nA-1,alpha,server,one\nA-2,alpha,server,two\nB-1,beta,client,three\n"
        "C-1a,gamma,client,four\nC-1b,gamma,client,five\n"
    )
    monkeypatch.setattr(plugin_rules, "FLOOR", tmp_path / "rules_floor.txt")
    rules = read_rules(tmp_path / "rules.csv")
    monkeypatch.setattr(plugin_rules, "read_rules", lambda: rules)
    monkeypatch.setattr(plugin_rules, "read_floor", lambda: read_floor(tmp_path / "rules_floor.txt"))
    pytester.makeini("[pytest]\ntestpaths = .\nmarkers = spec(*ids): rules\naddopts = -m 'not slow'\n")
    return pytester


def run(suite: pytest.Pytester, tests: str, *arguments: str) -> pytest.RunResult:
    suite.makepyfile(test_it="import pytest\n" + textwrap.dedent(tests))
    without = [word for plugin in SLOW for word in ("-p", f"no:{plugin}")]
    return suite.runpytest_inprocess("-p", "tests.plugin_rules", *without, *arguments)


PROVES_ONE = """
    @pytest.mark.spec("A-1")
    @pytest.mark.parametrize("n", [1, 2])
    def test_one(n): pass
"""


def test_a_passed_test_proves_its_rules(suite):
    result = run(suite, PROVES_ONE)

    result.stdout.fnmatch_lines(
        ["*rules: 1 of 4 proved by this run (1 of 5 clauses)*", "*alpha*1/2*missing A-2", "*beta*0/1*missing B-1"]
    )


@pytest.mark.parametrize(
    "old, new",
    [
        ("pass", "assert n == 1"),
        ("@pytest.mark.spec", "@pytest.mark.skip\n    @pytest.mark.spec"),
        ("@pytest.mark.spec", "@pytest.mark.xfail\n    @pytest.mark.spec"),
    ],
    ids=["one parameter failed", "skipped", "expected to fail"],
)
def test_nothing_is_proved_by_a_test_that_did_not_pass(suite, old, new):
    run(suite, PROVES_ONE.replace(old, new)).stdout.fnmatch_lines(["*rules: 0 of 4*"])


def test_an_unknown_id_stops_the_run_and_names_the_test(suite):
    result = run(suite, PROVES_ONE.replace("A-1", "A-9"))

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*test_it.py::test_one*'A-9'*"])


def test_a_rule_is_proved_when_all_of_its_clauses_are(suite):
    half = run(suite, '@pytest.mark.spec("C-1", "C-1a")\ndef test_half(): pass')
    whole = run(suite, '@pytest.mark.spec("C-1", "C-1a", "C-1b")\ndef test_whole(): pass')

    half.stdout.fnmatch_lines(["*rules: 0 of 4 proved by this run (1 of 5 clauses)*", "*gamma*1/2*missing C-1b"])
    whole.stdout.fnmatch_lines(["*rules: 1 of 4 proved by this run (2 of 5 clauses)*"])


def test_the_floor_is_kept_by_a_whole_run_alone_and_never_moves_down(suite):
    plugin_rules.FLOOR.write_text("A-1\nB-1\n")

    whole = run(suite, PROVES_ONE)
    part = run(suite, PROVES_ONE, "-k", "one")

    assert whole.ret == pytest.ExitCode.TESTS_FAILED
    whole.stdout.fnmatch_lines(["proved before and not by this run: B-1*"])
    assert part.ret == pytest.ExitCode.OK
    plugin_rules.FLOOR.write_text("B-1\n")
    run(suite, PROVES_ONE, "--write-rules-floor")
    assert plugin_rules.FLOOR.read_text() == "A-1\nB-1\n"


def test_the_table_has_each_id_once_and_a_module_that_exists():
    assert len(read_rules()) == len(plugin_rules.RULES.read_text(encoding="utf-8").splitlines()) - 1
    assert read_floor() <= read_rules().keys()
    modules = {module for rule in read_rules().values() for module in rule.module.split()}
    assert [each for each in modules if not (plugin_rules.RULES.parents[1] / "svc_notebooks" / each).is_file()] == []


def test_the_clauses_of_a_rule_are_lettered_from_a_on_and_replace_its_row():
    rows = list(read_rules())
    letters = {}
    for row in rows:
        number = rule_number(row)
        letters[number] = letters.get(number, "") + row.removeprefix(number)

    assert {number: text for number, text in letters.items() if text not in ("", ascii_lowercase[: len(text)])} == {}
    assert {number for number, text in letters.items() if text == "a" or (text and number in rows)} == set()
    assert rows == sorted(rows, key=lambda row: list(letters).index(rule_number(row)))
