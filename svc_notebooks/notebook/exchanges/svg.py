"""Builds charts as HTML tables and SVG images. Every chart also has a text with the same content.

JupyterLab removes `<svg>` elements from the output of an untrusted notebook, so every drawing is an `<img>` whose
`data:` URL contains the SVG. If possible, a chart is a table with images beside the numbers (`bars`, without
alternative text). Other charts have an alternative text (`image`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from ..html import Markup, join_html, tag

INK = "currentColor"
SENT = "#1976d2"
"""A blue with sufficient contrast in both themes, which is 4.6 to 1 on white and 4.1 to 1 on #111."""

LIGHT_AND_DARK = "svg{color:#212121}@media(prefers-color-scheme:dark){svg{color:#e0e0e0}}"

_LEFT = "text-align: left; padding: 2px 8px; white-space: nowrap; vertical-align: middle; font-weight: normal"
_RIGHT = _LEFT.replace("left", "right", 1)
_CAPTION = "text-align: left; font-weight: 600; padding: 4px 8px; caption-side: top"
_NOTE = "margin: 4px 8px"
_DATA_URL = "data:image/svg+xml,"


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart that a notebook displays as HTML, and that other front ends display as the text `words`."""

    words: str
    html: Markup

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return self.html


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a chart table. If `number` is True, the cells are aligned to the right."""

    name: str
    number: bool = False


def chart(title: str, columns: Sequence[TableColumn], rows: Sequence[Sequence[object]], *notes: object) -> Markup:
    """Return an HTML table with a title. Notes follow in a paragraph. The first cell of each row is a row header."""
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
    """Return shapes as an SVG image without alternative text. Screen readers read the numbers beside the image."""
    svg = drawing(width, height, tag("style", Markup(LIGHT_AND_DARK)), *shapes)
    return tag("img", src=_address(svg), alt="", width=width, height=height, style="vertical-align: middle")


def drawing(width: int, height: int, *parts: object) -> Markup:
    box = f"0 0 {width} {height}"
    return tag("svg", *parts, xmlns="http://www.w3.org/2000/svg", width=width, height=height, viewBox=box)


def image(svg: Markup, words: str, width: int) -> Markup:
    """Return an `<img>` element that shows an SVG document. `words` is the alternative text."""
    return tag("img", src=_address(svg), alt=words, width=width, style="max-width: 100%; height: auto")


def _address(svg: Markup) -> str:
    return _DATA_URL + quote(svg, safe=" =:/;,.()*-+")


def text_table(title: str, names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a title and a table as plain text with aligned columns.

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
    """Return a number as text with thousands separators, or an empty str for None.

    >>> number(262144), number(None)
    ('262,144', '')
    """
    return "" if value is None else f"{value:,}"


def swatch(*shapes: object) -> Markup:
    return join_html(bars(16, 12, *shapes), " ")
