"""Builds HTML: `tag` escapes everything that is not `Markup` already.

An HTML widget runs what it is given, and file names, headers and error texts come from others. So
markup is built with `tag` alone, and `tag` has the one escape of the package.
"""

from __future__ import annotations

from html import escape

_VOID = frozenset({"br", "input", "meta", "hr"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def escape_html(value: object) -> Markup:
    """The value as HTML: markup as it is, everything else as the text that it is.

    >>> escaped("<b>")
    '&lt;b&gt;'
    """
    return value if isinstance(value, Markup) else Markup(escape(str(value), quote=True))


def join_html(*children: object) -> Markup:
    """Pieces one after the other."""
    return Markup("".join(escape_html(child) for child in children))


def tag(element: str, *children: object, **attributes: object) -> Markup:
    """One element.

    An underscore in an attribute's name is a hyphen, one behind it is nothing.

    >>> tag("p", "a < b", class_="note", aria_live="polite")
    '<p class="note" aria-live="polite">a &lt; b</p>'
    """
    opened = f"<{element}{_attributes(attributes)}>"
    return Markup(opened if element in _VOID else f"{opened}{join_html(*children)}</{element}>")


def _attributes(attributes: dict[str, object]) -> str:
    return "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape_html(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
