"""Draws charts as HTML tables and SVG images, with the same as text.

A notebook that somebody opens and has not run yet is not trusted: JupyterLab takes every `<svg>` out of its outputs
and leaves the letters that stood in it, in a heap. An `<img>` stays, with its SVG as a `data:` address: it is never in
pieces, runs no script, and follows light and dark by `prefers-color-scheme`. So all that is drawn here is an image.
What can be a table is one, with images beside the numbers that they draw (`bars`, without a text: the numbers are it);
what cannot has a text in its place (`image`). Mermaid, which draws `Exchange.diagram`, lays its arrows out by itself
and is not used where that puts one label over another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from ..widgets.html import Markup, join_html, tag

INK = "currentColor"
SENT = "#1976d2"
"""Blue that can be told from the paper in both themes: 4.6 to 1 on white, 4.1 to 1 on #111."""

LIGHT_AND_DARK = "svg{color:#212121}@media(prefers-color-scheme:dark){svg{color:#e0e0e0}}"

_LEFT = "text-align: left; padding: 2px 8px; white-space: nowrap; vertical-align: middle; font-weight: normal"
_RIGHT = _LEFT.replace("left", "right", 1)
_CAPTION = "text-align: left; font-weight: 600; padding: 4px 8px; caption-side: top"
_NOTE = "margin: 4px 8px"
_DATA_URL = "data:image/svg+xml,"


@dataclass(frozen=True, slots=True)
class Picture:
    """Something to look at: HTML in a notebook, and `words`, the same as text, everywhere else."""

    words: str
    html: Markup

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return self.html


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table: its name, and whether it holds numbers."""

    name: str
    number: bool = False


def chart(title: str, columns: Sequence[TableColumn], rows: Sequence[Sequence[object]], *notes: object) -> Markup:
    """A table with its title, and a line of notes below."""
    head = tag("tr", *(tag("th", column.name, scope="col", style=_style(column)) for column in columns))
    body = [tag("tr", *_cells(columns, row)) for row in rows]
    caption = tag("caption", title, style=_CAPTION)
    table = tag("table", caption, tag("thead", head), tag("tbody", *body))
    below = tag("p", *notes, style=_NOTE) if notes else Markup()
    return tag("div", table, below, class_="svc-picture")


def _cells(columns: Sequence[TableColumn], row: Sequence[object]) -> list[Markup]:
    first, *rest = zip(columns, row, strict=True)
    name = tag("th", first[1], scope="row", style=_LEFT)
    return [name, *(tag("td", value, style=_style(column)) for column, value in rest)]


def _style(column: TableColumn) -> str:
    return _RIGHT if column.number else _LEFT


def bars(width: int, height: int, *shapes: object) -> Markup:
    """A drawing without a letter in it, beside the numbers that it draws; who listens is told the numbers."""
    svg = drawing(width, height, tag("style", Markup(LIGHT_AND_DARK)), *shapes)
    return tag("img", src=_address(svg), alt="", width=width, height=height, style="vertical-align: middle")


def drawing(width: int, height: int, *parts: object) -> Markup:
    """An SVG of its own."""
    box = f"0 0 {width} {height}"
    return tag("svg", *parts, xmlns="http://www.w3.org/2000/svg", width=width, height=height, viewBox=box)


def image(svg: Markup, words: str, width: int) -> Markup:
    """An SVG as an image, with these words where it cannot be seen."""
    return tag("img", src=_address(svg), alt=words, width=width, style="max-width: 100%; height: auto")


def _address(svg: Markup) -> str:
    return _DATA_URL + quote(svg, safe=" =:/;,.()*-+")


def text_table(title: str, names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of plain text.

    >>> print(text_table("Sizes", ["name", "bytes"], [["one", 3], ["three", 12345]]))
    Sizes
      name   bytes
      one    3
      three  12,345
    """
    lines = [list(names), *([_plain(value) for value in row] for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(names))]
    shown = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "\n".join([title, *(f"  {line}".rstrip() for line in shown)])


def _plain(value: object) -> str:
    return number(value) if isinstance(value, int) else str(value)


def number(value: int | None) -> str:
    """A number of bytes, with its thousands apart; nothing for none.

    >>> number(262144), number(None)
    ('262,144', '')
    """
    return "" if value is None else f"{value:,}"


def swatch(*shapes: object) -> Markup:
    """What a mark looks like, in the line that says what it means."""
    return join_html(bars(16, 12, *shapes), " ")
