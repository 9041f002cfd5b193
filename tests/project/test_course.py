"""The course speaks with one voice, its map is true, and each cell shows the rules that it claims to show."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

import svc_notebooks as svc
from svc_notebooks.cli.conformance import rule_number
from svc_notebooks.notebook.sandbox import sandbox_numbers as kernel
from tests.closing import closing
from tests.plugin_rules import read_rules
from tools import course_map
from tools.course_checks import decides
from tools.course_matchers import MATCHERS, shows_rule
from tools.course_pages import Cell, Page, pages
from tools.course_run import Seen, run
from tools.course_sentences import LOOK_AT
from tools.course_unseen import NOT_SEEN

PAGES = pages()
RULES = read_rules()
CLAIMED = {row for page in PAGES for cell in page.cells for row in cell.rows(RULES)}
MOST_CELLS = 12
FORMS = {"W-01", "W-02", "W-03", "W-04"}

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def markdown(page: Page) -> list[str]:
    cells = json.loads(page.path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def kinds(page: Page) -> str:
    """m and c, for markdown and code, in their order."""
    cells = json.loads(page.path.read_text(encoding="utf-8"))["cells"]
    return "".join(cell["cell_type"][0] for cell in cells)


@every_page
class TestVoice:
    """Every notebook opens, goes on and ends as all of them do."""

    def test_opens_with_what_it_gives_how_long_it_takes_and_what_comes_before(self, page: Page):
        assert page.title
        assert page.story.endswith(".")
        assert page.able
        assert 10 <= page.minutes <= 40
        assert set(page.before) <= {other.name for other in PAGES if other.name < page.name}
        assert bool(page.before) is (page.name != "00-start")

    def test_says_the_minutes_of_the_estimate_in_the_course(self, page: Page):
        text = "\n".join(cell for cell in markdown(page) if not cell.startswith(course_map.HEADING))
        lines = [line for cell in page.cells for line in cell.source.splitlines() if line.strip()]
        looks = text.count("**Predict:**") + text.count("**Look:**")

        assert page.minutes == pytest.approx(len(text.split()) / 150 + looks + len(lines) / 10, abs=4)

    def test_starts_a_service_of_its_own_first(self, page: Page):
        assert "svc.sandbox(" in page.cells[0].source

    def test_is_short(self, page: Page):
        assert len(page.cells) <= MOST_CELLS

    def test_no_cell_follows_another_without_a_word(self, page: Page):
        assert "cc" not in kinds(page)

    def test_asks_before_it_shows(self, page: Page):
        """Predict, run, look: only the first cell and a form need no question."""
        predictions = sum("**Predict" in text for text in markdown(page))
        shown = len([cell for cell in page.cells[1:] if not FORMS & set(cell.rules)])

        assert predictions >= shown - 2
        assert sum("**Look:**" in text for text in markdown(page)) >= predictions - 4

    def test_an_answer_follows_each_prediction(self, page: Page):
        questions = [place for place, text in enumerate(markdown(page)) if "**Predict" in text]

        assert [place for place in questions if "**Look:**" not in markdown(page)[place + 1]] == []

    def test_every_cell_shows_something(self, page: Page):
        assert [cell.number for cell in page.cells if not cell.shown.strip()] == []

    def test_ends_with_what_was_seen_exercises_and_the_next_page(self, page: Page):
        end = markdown(page)[-1]

        assert end.startswith("## What you saw\n\n* ")
        assert "\n**Exercises:** " in end
        assert "\n**Next:** " in end

    def test_ends_with_the_rules_of_its_cells(self, page: Page):
        (line,) = re.findall(r"^\*\*Rules of the interface seen here:\*\* (.*)\.$", markdown(page)[-1], re.MULTILINE)

        assert set(line.split(", ")) == set(page.rules())

    def test_links_lead_somewhere(self, page: Page):
        links = re.findall(r"\]\(([^)#]+\.ipynb)\)", "\n".join(markdown(page)))

        assert links
        assert [link for link in links if not (page.path.parent / link).exists()] == []

    def test_leaves_nothing_on_the_disk(self, page: Page):
        assert not any("mkdtemp" in cell.source for cell in page.cells)


class TestMap:
    """The map of the course, in the first notebook and in docs/course.md."""

    def test_is_not_stale(self):
        assert course_map.main(["--check"]) == 0, "run: python -m tools.course_map"

    def test_every_exercise_is_named_in_the_course(self):
        from svc_notebooks import course

        ends = "\n".join(markdown(page)[-1] for page in PAGES)

        assert [title for title in course.exercises()["title"] if f"*{title}*" not in ends] == []


class TestClaims:
    """The table of the rules, and what stands behind it."""

    def test_a_rule_is_seen_or_it_is_said_why_not(self):
        assert CLAIMED & NOT_SEEN.keys() == set()
        assert CLAIMED | NOT_SEEN.keys() == RULES.keys()

    def test_a_matcher_is_for_a_rule_that_is_claimed(self):
        assert MATCHERS.keys() <= CLAIMED

    def test_a_rule_with_a_matcher_has_a_sentence_that_says_where_to_look(self):
        assert LOOK_AT.keys() == MATCHERS.keys()
        assert [sentence for sentence in LOOK_AT.values() if not sentence.endswith(".")] == []

    def test_the_number_of_a_rule_claims_each_of_its_clauses(self):
        cell = Cell(1, "pass", "", ("A-2", "A-1"), False, "")

        assert cell.rows(["A-1a", "A-1b", "A-2"]) == ["A-2", "A-1a", "A-1b"]

    def test_a_journal_with_the_number_of_a_rule_does_not_prove_a_clause(self):
        row = {"decided_by": "A-1; retried", "status": 308, "method": "PUT"}
        seen = Seen(Cell(1, "pass", "", (), False, ""), (row,), (), (), {})

        assert [shows_rule(rule, seen) for rule in ("A-1", "A-1a")] == [True, False]
        assert [decides("A-1", status)(seen) for status in (308, 200)] == [True, False]

    def test_no_matcher_accepts_a_cell_in_which_nothing_happened(self):
        nothing = Seen(Cell(1, "pass", "", (), False, ""), (), (), (), {})

        assert [rule for rule in MATCHERS if shows_rule(rule, nothing)] == []


@every_page
def test_other_cells_than_those_that_need_the_sandbox_run_with_a_connected_session(
    page: Page, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    cells = tuple(cell for cell in page.cells if not cell.needs_sandbox)
    with closing(), svc.sandbox() as lab, lab.serve() as server:
        monkeypatch.setattr(svc, "sandbox", lambda *_: svc.connect(server.base_url, lab.service.sign_in()))

        assert len(list(run(replace(page, cells=cells)))) == len(cells)


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> dict[str, list[tuple[Cell, set[str]]]]:
    """Of each cell of each notebook the rules that it proves, of those that it claims or that have a matcher."""
    with pytest.MonkeyPatch.context() as patch, closing():
        patch.setenv("TZ", "UTC")
        patch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("course")))
        return {page.name: list(_proofs(page, patch)) for page in PAGES}


def _proofs(page: Page, patch: pytest.MonkeyPatch) -> Iterator[tuple[Cell, set[str]]]:
    patch.setattr(kernel, "_numbers", count(1))  # each notebook has a kernel of its own
    for seen in run(page):
        rules = set(seen.cell.rows(RULES)) | {rule for rule in STRICT if rule in MATCHERS}
        yield seen.cell, {rule for rule in rules if shows_rule(rule, seen)}


STRICT = [rule for rule in MATCHERS if rule_number(rule) not in {"D-04", "T-05"}]
"""What nearly every cell shows proves little; the others must be rare."""


@every_page
def test_each_cell_shows_the_rules_that_it_claims(course, page: Page):
    missed = {cell.number: set(cell.rows(RULES)) - shown for cell, shown in course[page.name]}

    assert {number: rules for number, rules in missed.items() if rules} == {}


def test_a_matcher_accepts_few_cells(course):
    """One that found its rule everywhere would find it in a cell that has lost it, too."""
    cells = [shown for every in course.values() for _, shown in every]
    seen = {rule: sum(rule in shown for shown in cells) for rule in STRICT}

    assert {rule: count for rule, count in seen.items() if count > len(cells) / 5} == {}


def test_the_folder_of_the_process_is_what_it_was(course):
    assert Path.cwd() != PAGES[0].path.parent
