"""Reads the looks of cells, column widths, and the visibility and the grid of tables from the styles of an ods file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element

from ...input.odf.namespaces import length, name
from ...input.odf.styles import MASTER_PAGE, OdfStyles
from ..model import DEFAULT_STYLE, SIDES, CellStyle
from .number_formats import from_element

_CHARACTER_WIDTH = 68_400
"""The width of a digit in EMU (0.19 cm)."""
_COLOR = re.compile("#[0-9a-fA-F]{6}")
_THICK = 15_000
"""The width from which a line is thick, in EMU."""


class Styles:
    """The styles of cells, columns and tables in styles.xml and content.xml."""

    def __init__(self, roots: Iterable[Element]) -> None:
        roots = list(roots)
        elements = [element for root in roots for element in root.iter()]
        data = (element for element in elements if element.tag.startswith(name("number:")) and len(element))
        self._formats = {code: from_element(style) for style in data if (code := style.get(name("style:name")))}
        self._styles = OdfStyles(roots)
        self._cells = {"": DEFAULT_STYLE}
        self._with_grid = _masters_with_grid(elements)

    def cell(self, style: str) -> CellStyle:
        """Return the cell style with this name, including inherited properties."""
        if style not in self._cells:
            properties = self._styles.properties("table-cell", style)
            weight = properties.get(f"text/{name('fo:font-weight')}")
            self._cells[style] = CellStyle(
                self._formats.get(self._styles.attribute("table-cell", style, "style:data-style-name"), ""),
                weight in ("bold", "600", "700", "800", "900"),
                _color(properties.get(f"text/{name('fo:color')}"), "#000000"),
                _color(properties.get(f"table-cell/{name('fo:background-color')}"), "#ffffff"),
                "".join(_border_letters(properties)),
            )
        return self._cells[style]

    def width(self, style: str) -> float | None:
        """Return the column width in characters that a style defines, or None if the style defines no width."""
        width = length(self._styles.properties("table-column", style).get(f"table-column/{name('style:column-width')}"))
        return width and round(width / _CHARACTER_WIDTH, 2)

    def hides(self, style: str) -> bool:
        """Return True if the table style with this name hides tables."""
        return self._styles.properties("table", style).get(f"table/{name('table:display')}") == "false"

    def has_grid(self, style: str) -> bool:
        """Return True if tables of the table style with this name are printed with a grid."""
        return self._styles.properties("table", style).get(MASTER_PAGE) in self._with_grid


def _masters_with_grid(elements: list[Element]) -> set[str]:
    layouts = {
        element.get(name("style:name"))
        for element in elements
        for child in element
        if element.tag == name("style:page-layout") and "grid" in child.get(name("style:print"), "").split()
    }
    pages = (element for element in elements if element.tag == name("style:master-page"))
    return {page.get(name("style:name"), "") for page in pages if page.get(name("style:page-layout-name")) in layouts}


def _color(value: str | None, default: str) -> str:
    color = (value or "").lower()
    return color if _COLOR.fullmatch(color) and color != default else ""


def _border_letters(properties: dict[str, str]) -> Iterable[str]:
    for letter, side in SIDES.items():
        own, all_sides = name(f"fo:border-{side}"), name("fo:border")
        words = (properties.get(f"table-cell/{own}") or properties.get(f"table-cell/{all_sides}") or "none").split()
        if "none" not in words and "hidden" not in words:
            thick = "double" in words or any((length(word) or 0) > _THICK for word in words)
            yield letter.upper() if thick else letter
