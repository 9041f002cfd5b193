"""Writes the map of the course to docs/course.md and to the first notebook.

    python -m tools.course_map            writes both files
    python -m tools.course_map --check    writes nothing, and returns exit status 1 if a file is outdated

The map is built from the first cells of the notebooks and the tags of their code cells.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from svc_notebooks.core.rule_ids import rule_number
from tools.course_matchers import NOT_SEEN, how
from tools.course_pages import Page, pages

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "course.md"
HEADING = "## The map of the course"

_HEAD = """# The course

Ten notebooks, each with one story. Every one goes the same way: *predict* what a cell will do, *run* it, *look* at what
came. It opens with what you will be able to do, how long it takes and what comes before it, and ends with what you saw,
the exercises for it, and where to go next. This page is written by `python -m tools.course_map` from the notebooks
themselves.

"""
_RULES = """
## The rules, and where they can be seen

The interface has {rules} [rules](rules.md), each with a number. A rule that says several things has a row
for each clause, with a letter: {all} rows in all. A notebook shows {seen} of them: something that they decide happens
in the cell, and the last column says what to look at. A test runs the cells and fails when one of them no longer shows
its rule. It reads the journal of the service, what the cell shows, and what went over the wire.

"""
_UNSEEN = """
## The rules and clauses that no notebook shows

"""


def main(argv: Sequence[str]) -> int:
    first, *_ = every = pages()
    texts = {DOCUMENT: document(every), first.path: with_map(first.path, every)}
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in argv:
        return 1 if stale else 0
    for path in stale:
        path.write_text(texts[path], encoding="utf-8")
    return 0


def document(every: Sequence[Page]) -> str:
    rules = _rules()
    numbers = {rule_number(rule) for rule in rules}
    rules_section = _RULES.format(rules=len(numbers), seen=len(rules) - len(NOT_SEEN), all=len(rules))
    parts = [
        _HEAD,
        "## The map\n\n",
        map_of(every, "../notebooks/"),
        "\n",
        rules_section,
        seen_in(every),
        _UNSEEN,
        _unseen(),
    ]
    return "".join(parts)


def map_of(every: Sequence[Page], folder: str = "") -> str:
    """Return the table of the notebooks and a diagram of their order."""
    total = sum(page.minutes for page in every)
    rows = [
        f"| [{page.name}]({folder}{page.path.name}) | {page.title} | {page.minutes} | {len(_numbers([page]))} | "
        f"{', '.join(before[:2] for before in page.before) or '-'} |"
        for page in every
    ]
    head = ["| notebook | story | minutes | rules seen | needs |", "|---|---|--:|--:|---|"]
    foot = [f"| {len(every)} notebooks | | {total} | {len(_numbers(every))} | |"]
    boxes = [f'    n{page.name[:2]}["{page.name[:2]} {page.title}"]' for page in every]
    arrows = [f"    n{before[:2]} --> n{page.name[:2]}" for page in every for before in page.before]
    title = "    accTitle: What comes before what in the course"
    drawing = ["```mermaid", "flowchart LR", title, *boxes, *arrows, "```", ""]
    return "\n".join([*head, *rows, *foot]) + "\n\n" + "\n".join(drawing)


def _numbers(every: Sequence[Page]) -> set[str]:
    """Return the numbers of the rules of which these notebooks show a clause."""
    return {rule_number(rule) for page in every for rule in page.rules()}


def seen_in(every: Sequence[Page]) -> str:
    lines = ["| rule | it says | seen in | look at |", "|---|---|---|---|"]
    rules = _rules()
    for rule, says in rules.items():
        if rule in NOT_SEEN:
            continue
        cells = [
            f"{page.name}, cell {cell.number}" for page in every for cell in page.cells if rule in cell.rows(rules)
        ]
        lines.append(f"| {_link(rule)} | {_safe(says)} | {'; '.join(cells)} | {_safe(how(rule))} |")
    return "\n".join(lines) + "\n"


def _unseen() -> str:
    rules = _rules()
    lines = [f"| {_link(rule)} | {_safe(rules[rule])} | {_safe(why)} |" for rule, why in NOT_SEEN.items()]
    return "\n".join(["| rule | it says | why not |", "|---|---|---|", *lines]) + "\n"


def with_map(path: Path, every: Sequence[Page]) -> str:
    """Return the text of the notebook with the current map."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cell = next(cell for cell in notebook["cells"] if "".join(cell["source"]).startswith(HEADING))
    cell["source"] = f"{HEADING}\n\n{map_of(every)}".rstrip("\n").splitlines(keepends=True)
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _rules() -> dict[str, str]:
    with (ROOT / "tests" / "rules.csv").open(encoding="utf-8", newline="") as lines:
        return {row["id"]: row["rule"] for row in csv.DictReader(lines)}


def _link(rule: str) -> str:
    return f"[{rule}](rules.md#{rule.lower()})"


def _safe(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
