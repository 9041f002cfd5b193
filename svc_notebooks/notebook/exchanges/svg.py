"""Draws charts as HTML tables and SVG images, with the same content as text.

A notebook that was opened but not run is not trusted. JupyterLab removes every `<svg>` from its outputs and leaves
the text of the drawing as a heap of words. An `<img>` with the SVG as a `data:` address stays: it runs no script, and
follows light and dark by `prefers-color-scheme`. So every drawing here is an image. A chart is a table if it can be
one, with images beside the numbers that they draw (`bars`, without an alternative text); other charts have an
alternative text (`image`). Mermaid, which draws `Exchange.diagram`, places arrows by itself, and is not used where
labels would overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from ..widgets.html import Markup, join_html, tag

INK = "currentColor"
SENT = "#1976d2"
"""Blue with enough contrast in both themes, 4.6 to 1 on white and 4.1 to 1 on #111."""

LIGHT_AND_DARK = "svg{color:#212121}@media(prefers-color-scheme:dark){svg{color:#e0e0e0}}"

_LEFT = "text-align: left; padding: 2px 8px; white-space: nowrap; vertical-align: middle; font-weight: normal"
_RIGHT = _LEFT.replace("left", "right", 1)
_CAPTION = "text-align: left; font-weight: 600; padding: 4px 8px; caption-side: top"
_NOTE = "margin: 4px 8px"
_DATA_URL = "data:image/svg+xml,"


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart that is displayed as HTML in a notebook, and as the text `words` elsewhere."""

    words: str
    html: Markup

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return self.html


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table. `number` aligns it to the right."""

    name: str
    number: bool = False


def chart(title: str, columns: Sequence[TableColumn], rows: Sequence[Sequence[object]], *notes: object) -> Markup:
    """Return a table with a title, and a line of notes below it."""
    styles = [_RIGHT if column.number else _LEFT for column in columns]
    head = [tag("th", column.name, scope="col", style=style) for column, style in zip(columns, styles, strict=True)]
    body: list[Markup] = []
    for name, *values in rows:
        cells = [tag("td", value, style=style) for value, style in zip(values, styles[1:], strict=True)]
        body.append(tag("tr", tag("th", name, scope="row", style=_LEFT), *cells))
    caption = tag("caption", title, style=_CAPTION)
    table = tag("table", caption, tag("thead", tag("tr", *head)), tag("tbody", *body))
    below = tag("p", *notes, style=_NOTE) if notes else Markup()
    return tag("div", table, below, class_="svc-picture")


def bars(width: int, height: int, *shapes: object) -> Markup:
    """Return a drawing without text, for a place beside its numbers. Screen readers read the numbers."""
    svg = drawing(width, height, tag("style", Markup(LIGHT_AND_DARK)), *shapes)
    return tag("img", src=_address(svg), alt="", width=width, height=height, style="vertical-align: middle")


def drawing(width: int, height: int, *parts: object) -> Markup:
    """Return an SVG document."""
    box = f"0 0 {width} {height}"
    return tag("svg", *parts, xmlns="http://www.w3.org/2000/svg", width=width, height=height, viewBox=box)


def image(svg: Markup, words: str, width: int) -> Markup:
    """Return an SVG as an image with an alternative text."""
    return tag("img", src=_address(svg), alt=words, width=width, style="max-width: 100%; height: auto")


def _address(svg: Markup) -> str:
    return _DATA_URL + quote(svg, safe=" =:/;,.()*-+")


def text_table(title: str, names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table of plain text.

    >>> print(text_table("Sizes", ["name", "bytes"], [["one", 3], ["three", 12345]]))
    Sizes
      name   bytes
      one    3
      three  12,345
    """
    lines = [list(names)]
    lines += [[number(value) if isinstance(value, int) else str(value) for value in row] for row in rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(names))]
    shown = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "\n".join([title, *(f"  {line}".rstrip() for line in shown)])


def number(value: int | None) -> str:
    """Return a number with separated thousands, or an empty text for None.

    >>> number(262144), number(None)
    ('262,144', '')
    """
    return "" if value is None else f"{value:,}"


def swatch(*shapes: object) -> Markup:
    """Return a small drawing of a mark, for a legend."""
    return join_html(bars(16, 12, *shapes), " ")
