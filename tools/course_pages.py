"""The notebooks of the course as they are written: what they promise, and the rules that their cells claim to show.

A cell claims a rule by a tag of its metadata that is the rule's id. The id is that of a clause (A6-04b), or the number
of a rule (A6-03) for all of its clauses. Whether the cell shows the rule, `tools.course_run` and
`tools.course_matchers` decide.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from svc_notebooks.cli.notebook_files import notebooks_folder
from svc_notebooks.core.rule_ids import rows_of

RULE = re.compile(r"[A-Z]\d*-\d\d[a-z]?")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell: its number among the code cells, its source, what a reader sees below it, the rules it claims."""

    number: int
    source: str
    shown: str
    rules: tuple[str, ...]
    raises: bool
    heading: str

    def rows(self, ids: Iterable[str]) -> list[str]:
        """The rows that the tags stand for: of these ids, all clauses of each number. Unknown tags stay."""
        ids = list(ids)
        return [row for rule in self.rules for row in rows_of(rule, ids) or [rule]]


@dataclass(frozen=True, slots=True)
class Page:
    """A notebook: its opening, which every one of them has alike, and its cells."""

    path: Path
    title: str
    story: str
    able: str
    minutes: int
    before: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        """What it is called in the table: 02-resumable-by-hand."""
        return self.path.stem

    def rules(self) -> list[str]:
        """The tags of its cells, in the order of the cells."""
        return list(dict.fromkeys(rule for cell in self.cells for rule in cell.rules))


def pages() -> list[Page]:
    """The notebooks of the course, in their order; the exercises are not among them."""
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
        shown = "\n".join(_shown(output) for output in cell["outputs"])
        cells.append(Cell(len(cells) + 1, text, shown, rules, "raises-exception" in tags, heading))
    return cells


def _shown(output: dict[str, Any]) -> str:
    """What a reader sees, as text: of a table the HTML, since the plain text is cut."""
    if output["output_type"] == "stream":
        return _joined(output["text"])
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}"
    data = output["data"]
    return "\n".join(_joined(data[kind]) for kind in ("text/plain", "text/html") if kind in data)


def _text(cell: dict[str, Any]) -> str:
    return _joined(cell["source"])


def _joined(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)
