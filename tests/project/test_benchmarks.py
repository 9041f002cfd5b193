import re

import pytest

from bench import __main__ as command, pages
from bench.benches import BENCHES
from bench.machine import Speed
from bench.pages import SHOWN_IN_README, Table, page_table, read_table, readme_table
from bench.rounds import ROUNDS, Ratio, alternate
from bench.table import HELD, MISSED, PARTLY, Row, at_least, at_most, verdict

README = pages.README.read_text(encoding="utf-8")
TABLE = read_table(pages.PAGE.read_text(encoding="utf-8"))


def row(work: str, held: str) -> Row:
    return Row(work, "1 ms", "curl: 2 ms", "2.00 (1.00 to 3.00)", "≥ 1", held)


def cells(name: str, work: str) -> tuple[str, ...]:
    return (name, *row(work, HELD).cells(), "2026-01-01, 0123abcd")


def test_the_contenders_run_by_turns_and_the_first_round_is_not_counted():
    order = []

    def run(name):
        order.append(name)
        return float(len(order))

    costs = alternate({"a": lambda: run("a"), "b": lambda: run("b")})

    assert order[:6] == ["a", "b", "b", "a", "a", "b"]
    assert costs["a"][:2] == (4.0, 5.0)
    assert len(costs["a"]) == len(costs["b"]) == ROUNDS


@pytest.mark.parametrize(
    "goal,ratio,expected",
    [
        (at_least(1.5), Ratio(1.6, 1.2, 2.0), HELD),
        (at_least(1.5), Ratio(1.4, 1.2, 1.6), PARTLY),
        (at_least(1.5), Ratio(1.3, 1.2, 1.4), MISSED),
        (at_most(1.1), Ratio(1.1, 0.9, 1.4), HELD),
        (at_most(1.1), Ratio(1.2, 1.0, 1.4), PARTLY),
        (at_most(1.1), Ratio(1.3, 1.2, 1.4), MISSED),
        (at_least(1.5, stretch=2), Ratio(2.5, 1.2, 3), "yes, stretch too"),
    ],
    ids=str,
)
def test_a_goal_is_missed_if_the_median_and_the_whole_spread_miss_it(goal, ratio, expected):
    assert verdict(goal, ratio) == expected


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A page with rows of two benchmarks, and a README."""
    page, readme = tmp_path / "benchmarks.md", tmp_path / "README.md"
    table = Table("An old machine.", [cells("upload", "an upload"), cells("download", "a download")])
    page.write_text(f"Before\n<!-- bench -->\n{page_table(table)}<!-- /bench -->\nbehind\n", encoding="utf-8")
    readme.write_text("# It\n<!-- bench -->\n<!-- /bench -->\n", encoding="utf-8")
    monkeypatch.setattr(pages, "PAGE", page)
    monkeypatch.setattr(pages, "README", readme)
    return page, readme


def run(monkeypatch: pytest.MonkeyPatch, rows: dict[str, list[Row]], *arguments: str) -> int:
    speeds = iter([Speed(0.9, 5), Speed(1.2, 11), Speed(1.0, 7)])
    measured = ((name, rows[name], next(speeds)) for name in rows)
    monkeypatch.setattr(command, "_measured", lambda names, all_cores: measured)
    return command.main([*arguments, *rows])


@pytest.mark.parametrize("held,status", [(HELD, 0), (PARTLY, 0), (MISSED, 1)])
def test_check_exits_with_1_if_a_goal_is_missed(monkeypatch, capsys, held, status):
    rows = {"import": [row("one", HELD), row("other", held)]}

    assert run(monkeypatch, rows, "--check") == status
    assert run(monkeypatch, rows) == 0
    assert ("import: other: 1 ms, 2.00" in capsys.readouterr().out) == bool(status)


def test_write_replaces_the_rows_of_the_measured_benchmarks_only(monkeypatch, written):
    run(monkeypatch, {"download": [row("a faster download", HELD)]}, "--write")

    text = written[0].read_text(encoding="utf-8")
    kept, new = read_table(text).rows
    assert kept == cells("upload", "an upload")
    assert new[:2] == ("download", "a faster download")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d, [0-9a-f]{8}\+?(, real-time priority)?, one core", new[-1])
    assert text.startswith("Before\n")
    assert text.endswith("\nbehind\n")


def test_a_run_without_write_changes_no_page(monkeypatch, written):
    before = [path.read_bytes() for path in written]

    run(monkeypatch, {"download": [row("a faster download", HELD)]})

    assert [path.read_bytes() for path in written] == before


def test_each_row_has_the_name_of_its_benchmark_and_says_when_it_was_measured():
    assert {line[0] for line in TABLE.rows} <= BENCHES.keys()
    measured = re.compile(r"\d{4}-\d\d-\d\d, ([0-9a-f]{8}\+?(, real-time priority)?(, one core)?|commit not recorded)")
    assert [line for line in TABLE.rows if not measured.fullmatch(line[-1])] == []


def test_the_readme_repeats_rows_of_the_page():
    (shown,) = re.findall(r"(?<=<!-- bench -->\n).*?(?=<!-- /bench -->)", README, re.DOTALL)

    assert shown == readme_table(TABLE)
    assert shown.count("\n") == len(SHOWN_IN_README) + 2
