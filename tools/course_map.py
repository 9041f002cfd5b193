"""Writes the map of the course to docs/course.md and to the first notebook.

    python -m tools.course_map            writes both files
    python -m tools.course_map --check    writes nothing, and returns exit status 1 if a file is outdated

The map is built from the first cells of the notebooks and the tags of their code cells.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from svc_notebooks.cli.conformance import rule_number
from tools.course_pages import Page, exercise_pages, pages
from tools.course_sentences import look_at
from tools.course_unseen import NOT_SEEN, proofs

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "course.md"
HEADING = "## The map of the course"

_HEAD = """# The course

The course has eleven notebooks. In each notebook you *predict* the result of a cell, *run* the cell, and *look* at the
output. A notebook begins with what you will be able to do, how long it takes, and which notebooks come before it. It
ends with a summary, the exercises and the next notebook. `python -m tools.course_map` writes this page from the
notebooks.

"""
_COUNTED = """
A *rule* is a numbered part of the description of the HTTP interface, such as A3-01. Its statements have letters, such
as A3-01a and A3-01b. A rule counts once in the column *rules seen*, even if a notebook shows several of its statements.
It also counts once in the last row if several notebooks show it.
"""
_MINUTES = """
The minutes are an estimate for readers with English as a second language: 150 words a minute, 1 minute for each
prediction, 1 minute for each look at an output, and 1 minute for 10 lines of code. In an exercise you also type 4 lines
a minute, and think at least 3 minutes or twice as long as you type.

"""
_RULES = """
## The rules, and where they can be seen

The interface has {rules} [rules](rules.md), each with a number. A rule with several statements has a row for each
statement, with a letter: {all} rows in all. The notebooks show {seen} of them, and the last column says where to look.
A test runs the cells, and fails if a cell no longer shows its rule. A form in a saved notebook is only a preview: run
its cell to see the controls.

"""
_SANDBOX = """
## The cells that need the sandbox

With `svc.connect(...)` in place of `svc.sandbox()` the notebooks use your own service. These cells can fail there,
because they use faults, the clock, the journal, other users or a receiver in the kernel, or a variable of such a cell.
Their first line is `# needs the sandbox`. All other cells run, which a test checks.

"""
_UNSEEN = """
## The rules and clauses that no notebook shows

The notebooks show {parts} in part, and nothing of {none}.

A test proves each of these clauses and rules, like all others. The last column has one of its tests.

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
        _MINUTES,
        exercises_map(),
        rules_section,
        seen_in(every),
        _SANDBOX,
        _sandbox_cells(every),
        _UNSEEN.format(**_incomplete(rules)),
        _unseen(),
    ]
    return "".join(parts)


def map_of(every: Sequence[Page], folder: str = "") -> str:
    """Return the table of the notebooks, what its numbers count, and a diagram of their order."""
    total = sum(page.minutes for page in every)
    rows = [
        f"| [{page.name}]({folder}{page.path.name}) | {page.title} | {page.minutes} | {len(_numbers([page]))} | "
        f"{', '.join(before[:2] for before in page.before) or '-'} |"
        for page in every
    ]
    head = ["| notebook | topic | minutes | rules seen | needs |", "|---|---|--:|--:|---|"]
    foot = [f"| {len(every)} notebooks | | {total} | {len(_numbers(every))} different | |", _COUNTED]
    boxes = [f'    n{page.name[:2]}["{page.name[:2]} {page.title}"]' for page in every]
    arrows = [f"    n{before[:2]} --> n{page.name[:2]}" for page in every for before in page.before]
    title = "    accTitle: The order of the notebooks"
    drawing = ["```mermaid", "flowchart LR", title, *boxes, *arrows, "```", ""]
    return "\n".join([*head, *rows, *foot, *drawing])


def exercises_map() -> str:
    """Return the table of the exercise notebooks with their minutes."""
    every = exercise_pages()
    folder = "../notebooks/exercises/"
    rows = [f"| [{page.name}]({folder}{page.name}.ipynb) | {page.title} | {page.minutes} |" for page in every]
    head = ["| exercises | topic | minutes |", "|---|---|--:|"]
    foot = f"| {len(every)} notebooks | | {sum(page.minutes for page in every)} |"
    return "\n".join([*head, *rows, foot]) + "\n"


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
        lines.append(f"| {_link(rule)} | {_safe(says)} | {'; '.join(cells)} | {_safe(look_at(rule))} |")
    return "\n".join(lines) + "\n"


def _sandbox_cells(every: Sequence[Page]) -> str:
    lines = ["| notebook | cells | of |", "|---|---|--:|"]
    for page in every:
        cells = ", ".join(str(cell.number) for cell in page.cells if cell.needs_sandbox)
        lines.append(f"| {page.name} | {cells or 'none'} | {len(page.cells)} |")
    return "\n".join(lines) + "\n"


def _incomplete(rules: Iterable[str]) -> dict[str, str]:
    """Return the numbers of the rules of which no notebook shows some clauses (`parts`), or any clause (`none`)."""
    seen = dict.fromkeys(rule_number(rule) for rule in rules if rule not in NOT_SEEN)
    unseen = dict.fromkeys(rule_number(rule) for rule in NOT_SEEN)
    return {
        "parts": ", ".join(number for number in unseen if number in seen),
        "none": ", ".join(number for number in unseen if number not in seen),
    }


def _unseen() -> str:
    rules = _rules()
    tests = proofs(NOT_SEEN)
    lines = [
        f"| {_link(rule)} | {_safe(rules[rule])} | {_safe(why)} | `{tests[rule]}` |" for rule, why in NOT_SEEN.items()
    ]
    return "\n".join(["| rule | it says | why not | a test |", "|---|---|---|---|", *lines]) + "\n"


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
