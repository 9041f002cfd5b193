"""Builds HTML with `tag`, which escapes everything that is not `Markup`.

An HTML widget runs the scripts in its value, and file names, headers and error texts come from others. So all markup is
built with `tag`, and `escape_html` is the only escape of the package.
"""

from __future__ import annotations

from html import escape

_VOID = frozenset({"br", "input", "meta", "hr"})


class Markup(str):
    """Text that is HTML."""

    __slots__ = ()


def escape_html(value: object) -> Markup:
    """Return a value as HTML. Markup stays as it is, and any other value is escaped.

    >>> escape_html("<b>")
    '&lt;b&gt;'
    """
    return value if isinstance(value, Markup) else Markup(escape(str(value), quote=True))


def join_html(*children: object) -> Markup:
    """Return values as HTML, one after the other."""
    return Markup("".join(escape_html(child) for child in children))


def tag(element: str, *children: object, **attributes: object) -> Markup:
    """Return an element with children and attributes.

    In the name of an attribute, `_` stands for `-`; a `_` at its end is dropped, as in `class_`. An attribute that is
    None is left out.

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
