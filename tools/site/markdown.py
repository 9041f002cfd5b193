"""Converts Markdown to HTML, with tables, anchors of headings, highlighted code and Mermaid diagrams."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape, unescape
from typing import Any
from urllib.parse import urlsplit

import mistune
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

Links = Callable[[str], str | None]
"""Converts a link of the source to one of the site, or to None if there is no page, so that only its text stays."""

_LANGUAGES = {"console": "bash", "ipython": "python", "": "text"}


def code(text: str, language: str) -> str:
    """Return highlighted code as HTML, or a Mermaid diagram."""
    if language == "mermaid":
        return f'<pre class="mermaid">{escape(text)}</pre>\n'
    try:
        lexer = get_lexer_by_name(_LANGUAGES.get(language, language))
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    return f'<div class="code" tabindex="0">{highlight(text, lexer, HtmlFormatter(nowrap=False))}</div>\n'


def slug(words: str, seen: dict[str, int]) -> str:
    """Return the anchor of a heading, as on GitHub."""
    base = re.sub(r"[^\w\- ]", "", unescape(re.sub("<[^>]+>", "", words)).lower()).replace(" ", "-")
    count = seen[base] = seen.get(base, -1) + 1
    return base if count == 0 else f"{base}-{count}"


class _Renderer(mistune.HTMLRenderer):
    def __init__(self, links: Links, seen: dict[str, int]) -> None:
        super().__init__(escape=False)  # the pages are ours, and some have tags
        self._links = links
        self._seen = seen

    def heading(self, text: str, level: int, **attributes: Any) -> str:
        anchor = slug(text, self._seen)
        return f'<h{level} id="{anchor}"><a class="anchor" href="#{anchor}">{text}</a></h{level}>\n'

    def link(self, text: str, url: str, title: str | None = None) -> str:
        target = self._links(url)
        return text if target is None else f'<a href="{escape(target)}">{text}</a>'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        target = (
            None if urlsplit(url).scheme not in ("", "data") else self._links(url)
        )  # nothing is fetched from elsewhere
        return escape(text) if target is None else f'<img alt="{escape(text)}" src="{escape(target)}">'

    def block_code(self, code_text: str, info: str | None = None) -> str:
        return code(code_text, (info or "").split()[0] if info else "")

    def table(self, text: str) -> str:
        return f'<div class="wide" tabindex="0"><table>{text}</table></div>\n'


def html(text: str, links: Links, seen: dict[str, int] | None = None) -> str:
    """Return the HTML of a page or a cell. `seen` counts the anchors of the page so far."""
    renderer = _Renderer(links, {} if seen is None else seen)
    made = mistune.create_markdown(renderer=renderer, plugins=["table", "strikethrough", "task_lists"])(text)
    return str(made).replace("<table><table>", "<table>").replace("</table>\n</table>", "</table>")


def title(text: str) -> str:
    match = re.search(r"^#\s+(.+)$", text, re.MULTILINE)
    return re.sub("[`*_]", "", match.group(1)).strip() if match else "Untitled"
