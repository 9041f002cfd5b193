"""Builds OpenDocument XML as text, and assigns names to automatic styles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from ...input.odf.namespaces import NAMESPACES

_DECLARED = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
Attributes = Mapping[str, str]


def tag(name: str, attributes: Attributes | None = None, *inside: str) -> str:
    """Return an XML element as text. Attribute values are escaped, but `inside` must already be valid XML.

    >>> tag("text:p", {"text:style-name": "P1"}, text_content("a & b"))
    '<text:p text:style-name="P1">a &amp; b</text:p>'
    """
    attribute_text = "".join(f' {key}="{escape(value)}"' for key, value in (attributes or {}).items())
    body = "".join(inside)
    return f"<{name}{attribute_text}>{body}</{name}>" if body else f"<{name}{attribute_text}/>"


def text_content(text: str) -> str:
    """Convert text to the XML content of a paragraph. Tabs, line ends and repeated spaces become elements."""
    lines = (escape(line, quote=False).split("\t") for line in text.split("\n"))
    return "<text:line-break/>".join("<text:tab/>".join(map(_with_space_elements, parts)) for parts in lines)


def _with_space_elements(text: str) -> str:
    """Replace spaces at the ends and after another space, which programs may drop, by `<text:s/>`."""
    if text[:1] == " ":
        text = "\0" + text[1:]
    if text[-1:] == " ":
        text = text[:-1] + "\0"
    while "  " in text:
        text = text.replace("  ", " \0")
    return text.replace("\0", "<text:s/>")


def document(root: str, *inside: str) -> bytes:
    """Return an XML document with the root element `root`, which declares all namespaces. `inside` is XML."""
    body = "".join(inside)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} {_DECLARED} office:version="1.2">{body}</{root}>'.encode()


class AutomaticStyles:
    """Assigns names to automatic styles. Styles with the same definition get the same name."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}
        self._lists: dict[str, str] = {}

    def name(self, family: str, inside: Iterable[str], parent: str | None = None) -> str:
        """Return the name of the style with these property elements (XML), which is created on first use."""
        key = (family, f"{parent}\n" + "".join(inside))
        return self._names.setdefault(key, f"{family.replace('-', '')}{len(self._names) + 1}")

    def list_name(self, level: str) -> str:
        """Return the name of the list style with this level (XML), which is created on first use."""
        return self._lists.setdefault(level, f"list{len(self._lists) + 1}")

    def styles(self) -> str:
        """Return the XML elements of all named styles."""
        elements = [tag("text:list-style", {"style:name": name}, level) for level, name in self._lists.items()]
        for (family, definition), name in self._names.items():
            parent, _, inside = definition.partition("\n")
            parent_attribute = {} if parent == "None" else {"style:parent-style-name": parent}
            elements.append(tag("style:style", {"style:name": name, "style:family": family} | parent_attribute, inside))
        return "".join(elements)
