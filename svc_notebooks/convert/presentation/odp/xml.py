"""Builds OpenDocument XML, and names automatic styles when they are first used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from .namespaces import NAMESPACES

_DECLARED = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
Attributes = Mapping[str, str]


def tag(name: str, attributes: Attributes | None = None, *inside: str) -> str:
    """An element; what is inside it is XML already.

    >>> tag("text:p", {"text:style-name": "P1"}, text_content("a & b"))
    '<text:p text:style-name="P1">a &amp; b</text:p>'
    """
    attribute_text = "".join(f' {key}="{escape(value)}"' for key, value in (attributes or {}).items())
    body = "".join(inside)
    return f"<{name}{attribute_text}>{body}</{name}>" if body else f"<{name}{attribute_text}/>"


def text_content(text: str) -> str:
    """Text inside a paragraph: spaces that follow others, tabs and line ends are elements there."""
    return "".join(
        _line(line) if n == 0 else "<text:line-break/>" + _line(line) for n, line in enumerate(text.split("\n"))
    )


def _line(text: str) -> str:
    parts = escape(text, quote=False).split("\t")
    return "<text:tab/>".join(_with_space_elements(part) for part in parts)


def _with_space_elements(text: str) -> str:
    """Two spaces are a space and an element; at the ends of a line a space may be lost, so it is one, too."""
    if text[:1] == " ":
        text = "\0" + text[1:]
    if text[-1:] == " ":
        text = text[:-1] + "\0"
    while "  " in text:
        text = text.replace("  ", " \0")
    return text.replace("\0", "<text:s/>")


def document(root: str, *inside: str) -> bytes:
    """A file of XML with all namespaces."""
    body = "".join(inside)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} {_DECLARED} office:version="1.2">{body}</{root}>'.encode()


class AutomaticStyles:
    """Automatic styles: equal ones have one name."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}

    def name(self, family: str, inside: Iterable[str], parent: str | None = None) -> str:
        """The name of the style of this family that has these properties."""
        key = (family, f"{parent}\n" + "".join(inside))
        return self._names.setdefault(key, f"{family.replace('-', '')}{len(self._names) + 1}")

    def styles(self) -> str:
        """All of them."""
        return "".join(_style(family, definition, name) for (family, definition), name in self._names.items())


def _style(family: str, definition: str, name: str) -> str:
    parent, _, inside = definition.partition("\n")
    parent_attribute = {} if parent == "None" else {"style:parent-style-name": parent}
    return tag("style:style", {"style:name": name, "style:family": family} | parent_attribute, inside)
