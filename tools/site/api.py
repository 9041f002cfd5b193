"""The page of the public names, from their signatures and docstrings."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from html import escape

import svc_notebooks as svc

from .markdown import code

_SECTIONS = ("Args", "Returns", "Raises", "Columns")
_LISTS = ("Args:", "Raises:")


def body() -> str:
    """Return the HTML with a list of all public names and a section for each name."""
    names = sorted(svc.__all__, key=str.lower)
    toc = " ".join(f'<a href="#{name}"><code>{name}</code></a>' for name in names)
    head = '<h1 id="public-names">Public names</h1>\n<p>Each of them is found as <code>svc_notebooks.NAME</code>.</p>\n'
    return head + f'<p class="names">{toc}</p>\n' + "".join(map(_part, names))


def _part(name: str) -> str:
    value = getattr(svc, name)
    parts = [f'<section><h2 id="{name}"><a class="anchor" href="#{name}">{name}</a></h2>\n{_signature(name, value)}']
    parts += _prose(inspect.getdoc(value) or "")
    if inspect.isclass(value) and not issubclass(value, Exception):
        parts += [part for method, attribute in _methods(value) for part in _method(name, method, attribute)]
    return "".join(parts) + "</section>\n"


def _methods(value: type) -> Iterator[tuple[str, object]]:
    """Yield the public attributes of a class that have a docstring, sorted by name."""
    for name in sorted(dir(value)):
        attribute = inspect.getattr_static(value, name)
        ours = getattr(attribute, "__module__", None) or getattr(getattr(attribute, "fget", None), "__module__", "")
        if not name.startswith("_") and str(ours).startswith("svc_notebooks") and inspect.getdoc(attribute):
            yield name, attribute


def _method(owner: str, name: str, attribute: object) -> Iterator[str]:
    anchor = f"{owner}.{name}"
    yield f'<h3 id="{anchor}"><a class="anchor" href="#{anchor}">{anchor}</a></h3>\n'
    if not isinstance(attribute, property):
        yield _signature(name, attribute)
    yield from _prose(inspect.getdoc(attribute) or "")


def _signature(name: str, value: object) -> str:
    if isinstance(value, classmethod | staticmethod):
        value = value.__func__
    try:
        shown = str(inspect.signature(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    shown = re.sub(r"\(self(, )?", "(", shown).replace("'", "")
    if len(shown) >= 90:  # an argument on each line
        inside, behind = shown[1:].rsplit(")", 1)
        parts = re.split(r", (?![^\[(]*[\])])", inside)
        shown = "(\n" + "".join(f"    {part},\n" for part in parts) + ")" + behind
    return code(f"{name}{shown}", "python")


def _prose(text: str) -> Iterator[str]:
    """Yield the paragraphs, sections and examples of a docstring as HTML."""
    for block in re.split(r"\n\s*\n", text):
        first = block.strip().split("\n")[0]
        if block.lstrip().startswith(">>>"):
            yield code(textwrap.dedent(block), "pycon")
        elif first.rstrip(":") in _SECTIONS and first.endswith(":"):
            yield f"<h4>{first.rstrip(':')}</h4>\n{_section(block.strip().split(chr(10))[1:], first in _LISTS)}"
        elif block.startswith("    "):
            yield f"<pre>{escape(textwrap.dedent(block))}</pre>\n"
        else:
            yield f"<p>{_inline(' '.join(block.split()))}</p>\n"


def _section(lines: list[str], entries: bool) -> str:
    """Return entries `name: description` as a list, or other text as a paragraph."""
    text = textwrap.dedent("\n".join(lines))
    if not entries:
        return f"<p>{_inline(' '.join(text.split()))}</p>\n"
    sections = re.findall(r"^(\S[^:\n]*):\s+((?:.|\n(?=\s))*)", text, re.MULTILINE)
    rows = (
        f"<dt><code>{escape(name)}</code></dt><dd>{_inline(' '.join(words.split()))}</dd>" for name, words in sections
    )
    return f"<dl>{''.join(rows)}</dl>\n"


def _inline(text: str) -> str:
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
    return re.sub(r"docs/(\w+)\.md(#[\w-]+)", r'<a href="docs/\1.html\2">docs/\1.md\2</a>', text)
