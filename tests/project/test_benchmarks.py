"""The benchmarks: their rounds, what a goal is, what a run writes, and that only a run writes it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench import __main__ as command, pages, rounds
from tests.bench.benches import BENCHES, BY_NAME_ONLY, rows_of
from tests.bench.machine import Speed
from tests.bench.pages import PAGE_HEADINGS, SHOWN_IN_README, Table, page_table, read_table, readme_table
from tests.bench.rounds import ROUNDS, Cost, Ratio, Stopwatch, alternate, processor_of, timed
from tests.bench.table import HELD, MISSED, PARTLY, Row, at_least, at_most, compare, milliseconds, verdict, within

README = pages.README.read_text(encoding="utf-8")
TABLE = read_table(pages.PAGE.read_text(encoding="utf-8"))


def row(work: str, held: str) -> Row:
    return Row(work, "1 ms", "curl: 2 ms", "2.00 (1.00 to 3.00)", "≥ 1", held)


def cells(name: str, work: str) -> tuple[str, ...]:
    return (name, *row(work, HELD).cells(), "2026-01-01, 0123abcd")


class TestRounds:
    def test_the_contenders_run_by_turns_and_the_first_round_is_not_counted(self):
        order: list[str] = []

        def run(name: str) -> float:
            order.append(name)
            return float(len(order))

        costs = alternate({"a": lambda: run("a"), "b": lambda: run("b")})

        assert order[:6] == ["a", "b", "b", "a", "a", "b"]
        assert costs["a"][:2] == (4.0, 5.0)
        assert len(costs["a"]) == len(costs["b"]) == ROUNDS

    def test_few_rounds_are_refused(self):
        with pytest.raises(ValueError, match="at least 9"):
            alternate({"a": lambda: 1.0}, 5)

    def test_the_ratio_is_the_median_of_the_ratios_of_the_rounds(self):
        assert Ratio.of((2.0, 8.0, 3.0), (1.0, 2.0, 1.0)) == Ratio(3.0, 2.0, 4.0)

    def test_the_processor_time_includes_that_of_children(self):
        busy = "import time\nwhile time.process_time() < 0.3: pass"
        watch = Stopwatch()
        with subprocess.Popen([sys.executable, "-c", f"{busy}\nprint(flush=True)\ninput()"], **PIPES) as child:
            child.stdout.readline()
            running = watch.stop()
            child.communicate("\n")
        ended = watch.stop()

        assert running.processor >= 0.25  # the system counts in ticks of 10 ms
        assert ended.processor >= 0.25

    def test_a_cost_of_many_is_divided_with_its_processor_time(self):
        cost = Cost(4.0, 2.0) / 4

        assert (cost, cost.processor) == (1.0, 0.5)

    def test_the_processor_time_is_unknown_if_one_round_lacks_it(self):
        assert processor_of((Cost(1, 0.5), Cost(1, 0.7), Cost(1, 0.6))) == 0.6
        assert processor_of((Cost(1, 0.5), 1.0)) is None

    def test_the_processor_time_of_the_stopwatch_is_left_out(self, monkeypatch: pytest.MonkeyPatch):
        used = 0.0

        def use(seconds: float) -> float:
            nonlocal used
            used += seconds
            return 0.0

        monkeypatch.setattr(rounds, "process_time", lambda: used)
        monkeypatch.setattr(rounds, "_processor_seconds_of_children", lambda: use(3))

        assert timed(lambda: use(1))().processor == 1

    def test_a_row_shows_the_processor_times(self):
        ours, theirs = (Cost(1, 0.0005),) * 3, (Cost(1, 2.5),) * 3

        assert compare("work", ours, theirs, "peer", at_most(2), milliseconds).processor == "500.0 µs, 2.5 s"


class TestGoals:
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
    def test_a_goal_is_missed_if_the_median_and_the_whole_spread_miss_it(self, goal, ratio, expected):
        assert verdict(goal, ratio) == expected

    def test_a_time_stands_beside_the_least_of_its_kind(self):
        start = within("start", (0.003, 0.005, 0.006), 0.004, (0.001, 0.001, 0.001), "sqlite3", milliseconds)

        assert (start.ours, start.peer, start.ratio) == ("5.0 ms", "sqlite3: 1.0 ms", "5.00 (3.00 to 6.00)")
        assert (start.goal, start.held) == ("≤ 4.0 ms", PARTLY)


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
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
    monkeypatch.setattr(
        command, "_measured", lambda names, all_cores: ((name, rows[name], next(speeds)) for name in names)
    )
    return command.main([*arguments, *rows])


class TestCommand:
    @pytest.mark.parametrize("held,status", [(HELD, 0), (PARTLY, 0), (MISSED, 1)])
    def test_check_exits_with_1_if_a_goal_is_missed(self, monkeypatch, capsys, held, status):
        rows = {"import": [row("one", HELD), row("other", held)]}

        assert run(monkeypatch, rows, "--check") == status
        assert run(monkeypatch, rows) == 0
        assert ("import: other: 1 ms, 2.00" in capsys.readouterr().out) == bool(status)

    def test_a_run_shows_how_quiet_the_machine_was(self, monkeypatch, capsys):
        run(monkeypatch, {"import": [row("one", HELD)], "download": [row("other", HELD)]})

        assert "arithmetic took 0.9 to 1.2 ms, and a copy of 64 MiB 5 to 11 ms" in capsys.readouterr().out

    def test_the_speed_of_the_machine_is_measured(self):
        assert min(Speed.now()) > 0

    def test_write_replaces_the_rows_of_the_measured_benchmarks_only(self, monkeypatch, written):
        run(monkeypatch, {"download": [row("a faster download", HELD)]}, "--write")

        text = written[0].read_text(encoding="utf-8")
        kept, new = read_table(text).rows
        assert kept == cells("upload", "an upload")
        assert new[:2] == ("download", "a faster download")
        assert re.fullmatch(r"\d{4}-\d\d-\d\d, [0-9a-f]{8}\+?(, real-time priority)?, one core", new[-1])
        assert text.startswith("Before\n")
        assert text.endswith("\nbehind\n")

    def test_a_row_that_was_measured_on_all_cores_does_not_name_one(self, monkeypatch, written):
        run(monkeypatch, {"download": [row("a faster download", HELD)]}, "--write", "--all-cores")

        _, new = read_table(written[0].read_text(encoding="utf-8")).rows
        assert "one core" not in new[-1]

    @pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system cannot choose a core")
    @pytest.mark.parametrize("all_cores", [True, False])
    def test_programs_that_wait_for_each_other_run_on_one_core(self, monkeypatch, all_cores):
        cores = os.sched_getaffinity(0)
        monkeypatch.setitem(BENCHES, "download", ("rounds", "cores"))
        monkeypatch.setattr(rounds, "cores", lambda: [len(os.sched_getaffinity(0))], raising=False)

        try:
            assert rows_of("download", all_cores=all_cores) == [len(cores) if all_cores else 1]
        finally:
            os.sched_setaffinity(0, cores)

    def test_write_repeats_rows_in_the_readme(self, monkeypatch, written):
        run(monkeypatch, {"download": [row("a faster download", HELD)]}, "--write")

        assert "| a faster download | 1 ms | curl: 2 ms |" in written[1].read_text(encoding="utf-8")

    def test_a_run_without_write_changes_no_page(self, monkeypatch, written):
        before = [path.read_bytes() for path in written]

        run(monkeypatch, {"download": [row("a faster download", HELD)]})

        assert [path.read_bytes() for path in written] == before

    def test_what_is_measured_by_name_only_is_a_benchmark(self):
        assert BENCHES.keys() > BY_NAME_ONLY


class TestPages:
    def test_each_row_has_the_name_of_its_benchmark_and_says_when_it_was_measured(self):
        assert {line[0] for line in TABLE.rows} <= BENCHES.keys()
        measured = re.compile(
            r"\d{4}-\d\d-\d\d, ([0-9a-f]{8}\+?(, real-time priority)?(, one core)?|commit not recorded)"
        )
        assert [line for line in TABLE.rows if not measured.fullmatch(line[-1])] == []

    def test_the_readme_repeats_rows_of_the_page(self):
        (shown,) = re.findall(r"(?<=<!-- bench -->\n).*?(?=<!-- /bench -->)", README, re.DOTALL)

        assert shown == readme_table(TABLE)
        assert shown.count("\n") == len(SHOWN_IN_README) + 2

    def test_a_written_table_is_read_again(self):
        table = Table("A machine.", [cells("upload", "an upload"), ("import", "x", "", "", "", "", "", "", "then")])

        assert read_table(f"<!-- bench -->\n{page_table(table)}<!-- /bench -->") == table

    def test_a_row_with_other_columns_is_refused(self):
        text = page_table(Table("A machine.", [cells("upload", "an upload")[1:]]))

        with pytest.raises(ValueError, match=f"not of {len(PAGE_HEADINGS)} columns"):
            read_table(f"<!-- bench -->\n{text}<!-- /bench -->")


PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
