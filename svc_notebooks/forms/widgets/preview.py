"""Converts exported content to HTML. Scripts in the content, which comes from other people, do not run."""

import base64
import csv
import io
from collections.abc import Callable
from functools import partial

from ...core.http.media_types import CSV, HTML, JPEG, PNG, SVG, TEXT, TSV
from ...notebook.display import KIB, MIB, Markup, join_html, size_text, tag

MAX_TEXT = 64 * KIB
MAX_ROWS, MAX_COLUMNS = 50, 20

# The maximum size in bytes of a page or picture that is shown. The content is sent to the browser in one message.
MAX_SIZE = 4 * MIB

_BOX = "border: 1px solid var(--jp-border-color1, #bdbdbd); border-radius: 4px; background: #fff; color: #212121"
_SCROLL = f"{_BOX}; overflow: auto; max-height: 26em; padding: 6px 12px"
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:"
_CELL = "border: 1px solid #e0e0e0; padding: 2px 8px; text-align: left; vertical-align: top; white-space: pre-wrap"


def preview(media_type: str, body: bytes) -> Markup | None:
    """Convert exported content to HTML. Return None if the media type cannot be shown.

    >>> preview("text/csv", b"a,<b>").count("&lt;b&gt;"), preview("application/rtf", b"")
    (1, None)
    """
    view = _text if media_type.endswith("json") else _VIEWS.get(media_type)
    return None if view is None else view(body)


def _text(body: bytes) -> Markup:
    shown = body[:MAX_TEXT].decode("utf-8-sig", "replace")
    text = tag("pre", shown, style="margin: 0; white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere")
    return tag("div", text, _more_line(len(body) - MAX_TEXT, "bytes"), style=_SCROLL, tabindex="0")


def _more_line(count: int, unit: str) -> Markup:
    """Return a line with the number of items that are not shown, or empty HTML for 0."""
    return tag("p", f"… and {count} more {unit}", style="font-style: italic") if count > 0 else Markup()


def _table(body: bytes, *, separator: str) -> Markup:
    if len(body) > MAX_SIZE:
        return _text(body)
    lines = io.StringIO(body.decode("utf-8-sig", "replace"), newline="")
    try:
        rows = list(csv.reader(lines, delimiter=separator))
    except csv.Error:  # a cell is longer than the csv module allows
        return _text(body)
    longest = max((len(cell) for row in rows for cell in row), default=0)
    return _text(body) if longest > MAX_TEXT else _cells(rows)


def _cells(rows: list[list[str]]) -> Markup:
    cells = [[tag("td", cell, style=_CELL) for cell in row[:MAX_COLUMNS]] for row in rows[:MAX_ROWS]]
    table = tag("table", *(tag("tr", *row) for row in cells), style="border-collapse: collapse")
    extra_columns = max((len(row) for row in rows), default=0) - MAX_COLUMNS
    omitted = join_html(_more_line(len(rows) - MAX_ROWS, "rows"), _more_line(extra_columns, "columns"))
    return tag("div", table, omitted, style=_SCROLL, tabindex="0")


def _page(body: bytes) -> Markup:
    if len(body) > MAX_SIZE:
        return _too_large(body)
    policy_tag = tag("meta", http_equiv="Content-Security-Policy", content=_POLICY)
    page = "<!DOCTYPE html>" + policy_tag + body.decode("utf-8-sig", "replace")
    style = f"{_BOX}; width: 100%; height: 26em; resize: vertical"
    return tag("iframe", sandbox="", srcdoc=page, title="The exported page", style=style)


def _picture(body: bytes, *, media_type: str) -> Markup:
    if len(body) > MAX_SIZE:
        return _too_large(body)
    style = f"{_BOX}; max-width: 100%; max-height: 26em"
    url = f"data:{media_type};base64,{base64.b64encode(body).decode()}"
    return tag("img", src=url, alt="The exported picture", style=style)


def _too_large(body: bytes) -> Markup:
    return tag("p", f"This export has {size_text(len(body))}; more than {size_text(MAX_SIZE)} are not shown here.")


_VIEWS: dict[str, Callable[[bytes], Markup]] = {
    TEXT: _text,
    CSV: partial(_table, separator=","),
    TSV: partial(_table, separator="\t"),
    HTML: _page,
    PNG: partial(_picture, media_type=PNG),
    JPEG: partial(_picture, media_type=JPEG),
    SVG: partial(_picture, media_type=SVG),
}
