"""Reads number formats, bold type, column widths and the visibility of tables from the styles of an ods file."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from ..model import DEFAULT_STYLE, CellStyle
from .number_formats import from_element

_CENTIMETRES = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 2.54 / 72, "pc": 2.54 / 6, "px": 2.54 / 96}
_CHARACTER_WIDTH = 0.19
_LENGTH = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,9})?)(cm|mm|in|pt|pc|px)", re.ASCII)
_MAX_PARENTS = 10


class Styles:
    """Collects the styles of cells, columns and tables from styles.xml and content.xml."""

    def __init__(self) -> None:
        self._formats: dict[str, str] = {}
        self._cells: dict[str, tuple[str, bool | None, str]] = {}  # format, bold, parent
        self._widths: dict[str, float] = {}
        self._hidden: set[str] = set()

    def take(self, element: Element) -> None:
        """Store the style that an XML element defines. Ignore other elements."""
        name = element.tag.rpartition("}")[2]
        if name.endswith("-style") and "datastyle" in element.tag:
            self._formats[_get(element, "name")] = from_element(element)
        elif name == "style":
            name, family = _get(element, "name"), _get(element, "family")
            if family == "table-cell":
                texts = (child for child in element if child.tag.endswith("}text-properties"))
                weight = next((_get(child, "font-weight") for child in texts), "")
                bold = None if not weight else weight in ("bold", "600", "700", "800", "900")
                self._cells[name] = (_get(element, "data-style-name"), bold, _get(element, "parent-style-name"))
            elif family == "table-column":
                match = _LENGTH.fullmatch(next((_get(child, "column-width") for child in element), ""))
                if match:
                    self._widths[name] = round(float(match[1]) * _CENTIMETRES[match[2]] / _CHARACTER_WIDTH, 2)
            elif family == "table" and any(_get(child, "display") == "false" for child in element):
                self._hidden.add(name)

    def cell(self, name: str) -> CellStyle:
        """Return the cell style with this name, including inherited properties, or the default style."""
        format, bold = "", None
        for _ in range(_MAX_PARENTS):
            data, own, parent = self._cells.get(name, ("", None, ""))
            format = format or self._formats.get(data, "")
            bold = own if bold is None else bold
            if not parent:
                break
            name = parent
        return CellStyle(format, bool(bold)) if format or bold else DEFAULT_STYLE

    def width(self, name: str) -> float | None:
        """Return the column width in characters that a style defines, or None if the style defines no width."""
        return self._widths.get(name)

    def hides(self, name: str) -> bool:
        """Return True if the table style with this name hides tables."""
        return name in self._hidden


def _get(element: Element, name: str) -> str:
    return next((value for key, value in element.items() if key.rpartition("}")[2] == name), "")
