"""Reads the notebooks of the course, with their introductions and the rules that their cells show.

A tag in the metadata of a cell is the id of a clause (A6-04b) or of a rule with all of its clauses (A6-03).
`tools.course_run` and `tools.course_matchers` check the tags.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from svc_notebooks.cli.conformance import rows_of
from svc_notebooks.cli.notebook_files import notebooks_folder

RULE = re.compile(r"[A-Z]\d*-\d\d[a-z]?")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_EXERCISE_MINUTES = re.compile(r"The exercises take about (\d+) minutes\.")


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell with its number among the code cells, its source, its output as text, and its rules."""

    number: int
    source: str
    shown: str
    rules: tuple[str, ...]
    raises: bool
    heading: str

    @property
    def needs_sandbox(self) -> bool:
        """True if the cell can fail with `connect()`, such as a cell with faults, or a cell that uses its names."""
        return self.source.startswith("# needs the sandbox\n")

    def rows(self, ids: Iterable[str]) -> list[str]:
        """Return the ids of the cell's rules, with all clauses for a rule number, and unknown tags."""
        ids = list(ids)
        return [row for rule in self.rules for row in rows_of(rule, ids) or [rule]]


@dataclass(frozen=True, slots=True)
class Page:
    """A notebook with the parts of its introduction, and its cells."""

    path: Path
    title: str
    story: str
    able: str
    minutes: int
    before: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        return self.path.stem

    def rules(self) -> list[str]:
        return list(dict.fromkeys(rule for cell in self.cells for rule in cell.rules))


@dataclass(frozen=True, slots=True)
class ExercisePage:
    """A notebook with exercises, and the minutes that they take."""

    name: str
    title: str
    minutes: int


def exercise_pages() -> list[ExercisePage]:
    """Return the notebooks with exercises in order. Raises ValueError if a notebook does not say its minutes."""
    return [_exercise_page(path) for path in sorted((notebooks_folder() / "exercises").glob("e*.ipynb"))]


def _exercise_page(path: Path) -> ExercisePage:
    text = _text(json.loads(path.read_text(encoding="utf-8"))["cells"][0])
    if not (match := _EXERCISE_MINUTES.search(text)):
        raise ValueError(f"{path.name} must say in its first cell: The exercises take about N minutes.")
    title = text.partition("\n")[0].removeprefix("# Exercises: ")
    return ExercisePage(path.stem, title.capitalize(), int(match[1]))


def pages() -> list[Page]:
    """Return the notebooks of the course in order, without the exercises."""
    return [_page(path) for path in sorted(notebooks_folder().glob("[0-9][0-9]-*.ipynb"))]


def _page(path: Path) -> Page:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    title, story, table = _text(cells[0]).split("\n\n")
    able, minutes, before = (part.strip() for part in table.splitlines()[2].strip("|").split("|"))
    links = tuple(_LINK.findall(before))
    return Page(path, title.removeprefix("# "), story, able, int(minutes.split()[0]), links, tuple(_cells(cells)))


def _cells(raw_cells: list[dict[str, Any]]) -> list[Cell]:
    cells: list[Cell] = []
    heading = ""
    for cell in raw_cells:
        text = _text(cell)
        if cell["cell_type"] == "markdown":
            heading = next((line[3:] for line in text.splitlines() if line.startswith("## ")), heading)
            continue
        tags = cell["metadata"].get("tags", [])
        rules = tuple(tag for tag in tags if RULE.fullmatch(tag))
        shown = "\n".join(_output_text(output) for output in cell["outputs"])
        cells.append(Cell(len(cells) + 1, text, shown, rules, "raises-exception" in tags, heading))
    return cells


def _output_text(output: dict[str, Any]) -> str:
    """Return an output as text. A table is HTML, because its plain text is truncated."""
    if output["output_type"] == "stream":
        return "".join(output["text"])
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}"
    data = output["data"]
    return "\n".join("".join(data[kind]) for kind in ("text/plain", "text/html") if kind in data)


def _text(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])
