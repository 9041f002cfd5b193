"""Builds OpenDocument XML, and names automatic styles when they are first used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from .namespaces import NAMESPACES

_DECLARED = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
Attributes = Mapping[str, str]


def tag(name: str, attributes: Attributes | None = None, *inside: str) -> str:
    """Return an element, whose content is XML.

    >>> tag("text:p", {"text:style-name": "P1"}, text_content("a & b"))
    '<text:p text:style-name="P1">a &amp; b</text:p>'
    """
    attribute_text = "".join(f' {key}="{escape(value)}"' for key, value in (attributes or {}).items())
    body = "".join(inside)
    return f"<{name}{attribute_text}>{body}</{name}>" if body else f"<{name}{attribute_text}/>"


def text_content(text: str) -> str:
    """Return the content of a paragraph, in which repeated spaces, tabs and line ends are elements."""
    lines = (escape(line, quote=False).split("\t") for line in text.split("\n"))
    return "<text:line-break/>".join("<text:tab/>".join(map(_with_space_elements, parts)) for parts in lines)


def _with_space_elements(text: str) -> str:
    """Replace the second of two spaces by an element, and spaces at the ends, which may be lost."""
    if text[:1] == " ":
        text = "\0" + text[1:]
    if text[-1:] == " ":
        text = text[:-1] + "\0"
    while "  " in text:
        text = text.replace("  ", " \0")
    return text.replace("\0", "<text:s/>")


def document(root: str, *inside: str) -> bytes:
    """Return an XML file with all namespaces."""
    body = "".join(inside)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} {_DECLARED} office:version="1.2">{body}</{root}>'.encode()


class AutomaticStyles:
    """Automatic styles by their definition, so that equal ones have one name."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}

    def name(self, family: str, inside: Iterable[str], parent: str | None = None) -> str:
        """Return the name of the style of this family with these properties."""
        key = (family, f"{parent}\n" + "".join(inside))
        return self._names.setdefault(key, f"{family.replace('-', '')}{len(self._names) + 1}")

    def styles(self) -> str:
        """Return the elements of all styles."""
        elements = []
        for (family, definition), name in self._names.items():
            parent, _, inside = definition.partition("\n")
            parent_attribute = {} if parent == "None" else {"style:parent-style-name": parent}
            elements.append(tag("style:style", {"style:name": name, "style:family": family} | parent_attribute, inside))
        return "".join(elements)
