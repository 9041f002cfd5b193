"""Converts a notebook with its saved outputs to HTML."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from .markdown import Links, code, html


def body(notebook: Any, links: Links) -> str:
    seen: dict[str, int] = {}
    return "".join(part for cell in notebook.cells for part in _cell(cell, links, seen))


def _cell(cell: Any, links: Links, seen: dict[str, int]) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield html(cell.source, links, seen)
    elif cell.cell_type == "code":
        yield f'<div class="cell">{code(cell.source, "python")}'
        for output in cell.get("outputs", []):
            yield _output(output, links)
        yield "</div>\n"


def _output(output: Any, links: Links) -> str:
    if output.output_type == "stream":
        return f'<pre class="out" tabindex="0">{escape(output.text)}</pre>\n'
    if output.output_type == "error":
        return f'<pre class="out error" tabindex="0">{escape(f"{output.ename}: {output.evalue}")}</pre>\n'
    data = output.data
    if "text/html" in data:
        return f'<div class="out rich" tabindex="0">{data["text/html"]}</div>\n'
    if "text/markdown" in data:
        return f'<div class="out">{html(data["text/markdown"], links)}</div>\n'
    if "image/svg+xml" in data:
        return f'<div class="out">{data["image/svg+xml"]}</div>\n'
    if "image/png" in data:
        words, source = escape(data.get("text/plain", "")), "".join(data["image/png"].split())
        return f'<div class="out"><img alt="{words}" src="data:image/png;base64,{source}"></div>\n'
    return f'<pre class="out" tabindex="0">{escape(data.get("text/plain", ""))}</pre>\n'
