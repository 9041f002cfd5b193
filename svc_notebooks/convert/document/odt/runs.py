"""Formats the text of OpenDocument paragraphs with HTML tags."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby

from ...input.odf.namespaces import name
from ...input.odf.styles import StyleProperties

_FORMATS: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    ("b", name("fo:font-weight"), lambda value: value == "bold" or value[:1] in tuple("6789")),
    ("i", name("fo:font-style"), lambda value: value in ("italic", "oblique")),
    ("u", name("style:text-underline-style"), lambda value: value != "none"),
    ("s", name("style:text-line-through-style"), lambda value: value != "none"),
    ("sup", name("style:text-position"), lambda value: value.startswith("super") or "1" <= value[:1] <= "9"),
    ("sub", name("style:text-position"), lambda value: value.startswith(("sub", "-"))),
    ('span class="smallcaps"', name("fo:font-variant"), lambda value: value == "small-caps"),
)
"""HTML tags, from the outermost, the text property that each depends on, and a test of the property's value."""
FORMAT_KEYS = frozenset(f"text/{key}" for _, key, _ in _FORMATS)
_TAGS = (*(tag for tag, _, _ in _FORMATS), "code")

Run = tuple[tuple[str, ...], str]
"""The tags that format a piece of a paragraph, and the piece as HTML."""


def formats(properties: StyleProperties) -> tuple[str, ...]:
    """Return the tags for text with these properties. The keys "code" and "link" mean text in code or in a link."""
    tags = [tag for tag, key, test in _FORMATS if (value := properties.get(f"text/{key}")) and test(value)]
    return tuple(tag for tag in tags if tag != "u" or "link" not in properties) + ("code",) * ("code" in properties)


def join(runs: Iterable[Run], tags: tuple[str, ...] = _TAGS) -> str:
    """Put each tag around the runs that it formats. The first tag in `tags` is the outermost."""
    if not tags:
        return "".join(piece for _, piece in runs)
    markup = ""
    for is_formatted, group in groupby(runs, lambda run: tags[0] in run[0]):
        inside = join(group, tags[1:])
        markup += f"<{tags[0]}>{inside}</{tags[0].split()[0]}>" if is_formatted and inside.strip() else inside
    return markup
