"""Builds HTML with `tag`, which escapes everything that is not `Markup`, because HTML widgets run scripts."""

from __future__ import annotations

from html import escape

_VOID = frozenset({"br", "input", "meta", "hr"})


class Markup(str):
    """A string that contains HTML. `escape_html` does not escape a Markup."""

    __slots__ = ()


def escape_html(value: object) -> Markup:
    """Return a value as HTML. Markup is returned unchanged, the text of any other value is escaped.

    >>> escape_html("<b>")
    '&lt;b&gt;'
    """
    return value if isinstance(value, Markup) else Markup(escape(str(value), quote=True))


def join_html(*children: object) -> Markup:
    """Return the values as one HTML text. Values that are not Markup are escaped."""
    return Markup("".join(escape_html(child) for child in children))


def tag(element: str, *children: object, **attributes: object) -> Markup:
    """Return an HTML element with children and attributes.

    In an attribute name, `_` stands for `-`. A `_` at the end of the name is dropped, as in `class_`. Attributes
    with the value None are omitted, and a link that could run a script.

    >>> tag("p", "a < b", class_="note", aria_live="polite")
    '<p class="note" aria-live="polite">a &lt; b</p>'
    >>> tag("a", "x", href="javascript:alert(1)")
    '<a>x</a>'
    """
    opened = f"<{element}{_attributes(attributes)}>"
    return Markup(opened if element in _VOID else f"{opened}{join_html(*children)}</{element}>")


def _attributes(attributes: dict[str, object]) -> str:
    return "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape_html(value)}"'
        for name, value in attributes.items()
        if value is not None and (name != "href" or str(value).startswith(("https://", "http://")))
    )
