"""The table in docs/benchmarks.md and the short one in README.md, which only a run writes.

A row of the page has the name of its benchmark in front, and the date and the commit of its measurement in the end. A
run of some benchmarks replaces their rows and leaves the others. README.md repeats some rows of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.benches import BENCHES
from bench.table import HEADINGS

ROOT = Path(__file__).parents[1]
PAGE, README = ROOT / "docs" / "benchmarks.md", ROOT / "README.md"

PAGE_HEADINGS = ("name", *HEADINGS, "measured")

SHOWN_IN_README = {
    "upload": "google-api-python-client",
    "upload-small": "google-api-python-client",
    "download": "curl",
    "creates": "gcp-storage-emulator",
    "fan-out": "a loop over one requests session",
    "import": "import requests",
}
"""The name of a benchmark, and the beginning of the peer in the row of it that README.md shows: the first such row."""

_MARKED = re.compile(r"(?<=<!-- bench -->\n).*?(?=<!-- /bench -->)", re.DOTALL)
_README_HEADINGS = ("work", "ours", "peer", "ratio", "goal", "measured")


@dataclass(frozen=True, slots=True)
class Table:
    """The machine of the newest rows, and the rows as their cells."""

    machine: str
    rows: Sequence[tuple[str, ...]]

    def with_rows(self, machine: str, measured: Mapping[str, Sequence[tuple[str, ...]]]) -> Table:
        """The table with these rows in place of those of the same benchmarks, in the order of the benchmarks."""
        kept = [row for row in self.rows if row[0] in BENCHES and row[0] not in measured]
        new = [(name, *cells) for name, rows in measured.items() for cells in rows]
        order = list(BENCHES)
        return Table(machine, sorted([*kept, *new], key=lambda row: order.index(row[0])))


def read_table(text: str) -> Table:
    """Read the table of the page. Raises ValueError if the page has no markers or a row has other columns."""
    machine, _, table = _between_markers(text).strip().partition("\n\n")
    rows = [tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in table.splitlines()[2:]]
    if odd := [row for row in rows if len(row) != len(PAGE_HEADINGS)]:
        raise ValueError(f"docs/benchmarks.md has a row that is not of {len(PAGE_HEADINGS)} columns: {odd[0]}")
    return Table(machine, rows)


def page_table(table: Table) -> str:
    """The table as the page has it between its markers."""
    return f"{table.machine}\n\n{_markdown(PAGE_HEADINGS, table.rows)}"


def readme_table(table: Table) -> str:
    """The rows for README.md, as it has them between its markers."""
    cells = [dict(zip(PAGE_HEADINGS, row, strict=True)) for row in table.rows]
    shown = [
        next((row for row in cells if row["name"] == name and row["peer"].startswith(peer)), None)
        for name, peer in SHOWN_IN_README.items()
    ]
    return _markdown(_README_HEADINGS, [tuple(row[name] for name in _README_HEADINGS) for row in shown if row])


def write_pages(machine: str, measured: Mapping[str, Sequence[tuple[str, ...]]]) -> None:
    """Put measured rows, by the name of their benchmark, on the page, and repeat the page's rows in README.md."""
    page, readme = PAGE.read_text(encoding="utf-8"), README.read_text(encoding="utf-8")
    table = read_table(page).with_rows(machine, measured)
    texts = {PAGE: _put(page, page_table(table)), README: _put(readme, readme_table(table))}
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")


def _between_markers(text: str) -> str:
    matches = _MARKED.findall(text)
    if len(matches) != 1:
        raise ValueError("the page has no <!-- bench --> and <!-- /bench --> to write between")
    return str(matches[0])


def _put(page: str, table: str) -> str:
    _between_markers(page)
    return _MARKED.sub(lambda _: table, page)


def _markdown(headings: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    headings = tuple(headings)
    lines = [f"| {' | '.join(cells)} |" for cells in (headings, ("---",) * len(headings), *rows)]
    return "\n".join(lines) + "\n"
