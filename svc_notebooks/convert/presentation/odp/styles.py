"""Resolves OpenDocument styles through their parents (ODF 1.2, section 16)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..model import Marker
from .namespaces import name

_MAX_PARENTS = 30
_PROPERTY_KINDS = ("graphic", "paragraph", "text", "drawing-page", "table-cell", "table-column", "table-row")
_PROPERTIES = {name(f"style:{kind}-properties"): kind for kind in _PROPERTY_KINDS} | {
    name("loext:graphic-properties"): "graphic"
}
StyleProperties = Mapping[str, str]
"""Attribute values by key. A key consists of the property group and the attribute, such as `text/{...}font-size`."""


class OdpStyles:
    """The styles of an odp file by family and name. A later definition in `roots` replaces an earlier definition."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self._styles: dict[tuple[str, str], Any] = {}
        self._lists: dict[str, Any] = {}
        self._known: dict[tuple[str, str], dict[str, str]] = {}
        for root in roots:
            for style in root.iter(name("style:style"), name("style:default-style")):
                key = (style.get(name("style:family"), ""), style.get(name("style:name"), ""))
                self._styles[key] = style
            for style in root.iter(name("text:list-style")):
                self._lists[style.get(name("style:name"), "")] = style

    def properties(self, family: str, style: str | None) -> dict[str, str]:
        """Return the own and inherited properties of a style, or the family's defaults if `style` is None."""
        key = (family, style or "")
        if key not in self._known:
            merged: dict[str, str] = {}
            for element in reversed(self._ancestry(key)):
                for child in element:
                    if kind := _PROPERTIES.get(child.tag):
                        merged |= {f"{kind}/{key}": value for key, value in child.attrib.items()}
            self._known[key] = merged
        return self._known[key]

    def _ancestry(self, key: tuple[str, str]) -> list[Any]:
        elements: list[Any] = []
        while key in self._styles and len(elements) < _MAX_PARENTS:
            element = self._styles[key]
            elements.append(element)
            parent = element.get(name("style:parent-style-name"))
            key = (key[0], parent) if parent else (key[0], "")
            if element in elements[:-1]:
                break
        return elements

    def parent(self, family: str, style: str) -> str:
        """Return the name of a style's parent, or "" if the style has no parent."""
        element = self._styles.get((family, style))
        return "" if element is None else str(element.get(name("style:parent-style-name"), ""))

    def text_properties(self, family: str, style: str) -> StyleProperties:
        """Return the text properties of a style, such as font size and colour, including inherited properties."""
        return {key: value for key, value in self.properties(family, style).items() if key.startswith("text/")}

    def marker(self, style: str | None, level: int) -> Marker:
        """Return the marker of list items ("bullet", "number" or "") in a list style at a level (from 0)."""
        element = self._lists.get(style or "")
        if element is None:
            return "bullet"
        child = next((child for child in element if child.get(name("text:level")) == str(level + 1)), None)
        if child is None:
            return ""
        if child.tag == name("text:list-level-style-number"):
            return "number" if child.get(name("style:num-format")) else ""
        if child.tag == name("text:list-level-style-bullet"):
            return "bullet" if child.get(name("text:bullet-char"), "").strip() else ""
        return "bullet"
