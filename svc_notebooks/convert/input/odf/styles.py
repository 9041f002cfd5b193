"""Resolves OpenDocument styles through their parents (ODF 1.2, section 16)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .namespaces import length, name

_MAX_PARENTS = 30
_PROPERTY_KINDS = ("graphic", "paragraph", "text", "drawing-page", "table", "table-cell", "table-column", "table-row")
_PROPERTIES = {name(f"style:{kind}-properties"): kind for kind in _PROPERTY_KINDS} | {
    name("loext:graphic-properties"): "graphic"
}
MASTER_PAGE = "master-page"
"""The key of the master page that begins before a paragraph or a table."""
_FONT_SIZE, _COLOR = "text/" + name("fo:font-size"), "text/" + name("fo:color")
_AUTOMATIC_COLOR = "text/" + name("style:use-window-font-color")
StyleProperties = Mapping[str, str]
"""Attribute values by key. A key consists of the property group and the attribute, such as `text/{...}font-size`."""


class OdfStyles:
    """The styles of an OpenDocument file by family and name. A later definition in `roots` replaces an earlier one."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self._styles: dict[tuple[str, str], Any] = {}
        self._lists: dict[str, Any] = {}
        self._known: dict[tuple[str, str], dict[str, str]] = {}
        for root in roots:
            for style in (*root.iter(name("style:default-style")), *root.iter(name("style:style"))):
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
                own = {
                    f"{_PROPERTIES[child.tag]}/{key}": value
                    for child in element
                    if child.tag in _PROPERTIES
                    for key, value in child.attrib.items()
                }
                if (master := element.get(name("style:master-page-name"))) is not None:
                    own[MASTER_PAGE] = master
                merged = inherited(merged, own)
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

    def derives(self, family: str, style: str | None, base: str) -> bool:
        """Return whether a style is the style `base`, or inherits from it."""
        names = (element.get(name("style:name")) for element in self._ancestry((family, style or "")))
        return style == base or base in names

    def attribute(self, family: str, style: str, short: str) -> str:
        """Return the attribute `short` of a style or of its nearest ancestor with this attribute, or ""."""
        return next((value for element in self._ancestry((family, style)) if (value := element.get(name(short)))), "")

    def text_properties(self, family: str, style: str) -> StyleProperties:
        """Return the text properties of a style, such as font size and colour, including inherited properties."""
        return {key: value for key, value in self.properties(family, style).items() if key.startswith("text/")}

    def list_level(self, style: str | None, level: int) -> Any:
        """Return the element that formats a level (from 1) of a list style, or None if there is none."""
        elements = self._lists.get(style or "", ())
        return next((element for element in elements if element.get(name("text:level")) == str(level)), None)

    def has_list(self, style: str | None) -> bool:
        """Return whether there is a list style with this name."""
        return style in self._lists


def inherited(outer: StyleProperties, own: StyleProperties) -> dict[str, str]:
    """Return the properties of an element with its own properties inside `outer`. A font size in % becomes absolute."""
    merged = {**outer, **own}
    size, share = length(outer.get(_FONT_SIZE)), own.get(_FONT_SIZE, "").removesuffix("%")
    if size and merged.get(_FONT_SIZE) == f"{share}%":
        merged[_FONT_SIZE] = f"{size * float(share) / 100 / 12_700:.2f}pt" if share.isdecimal() else outer[_FONT_SIZE]
    if _COLOR in own and _AUTOMATIC_COLOR not in own:
        merged.pop(_AUTOMATIC_COLOR, None)
    return merged
