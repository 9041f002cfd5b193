"""Reads normal, shared and array formulas of an xlsx sheet."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ..formula import address
from ..formula.tokens import MAX_LENGTH, shift


class SharedFormulas:
    """Formulas that the file has only in the first of several cells."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[str, int, int]] = {}

    def formula(self, key: str, text: str | None, row: int, column: int) -> str | None:
        """Return the formula of a cell, whose `text` is None except in the first cell."""
        if text:
            self._first[key] = (text, row, column)
            return text
        if key not in self._first:
            return None
        text, first_row, first_column = self._first[key]
        return shift(text, row - first_row, column - first_column)


def formula_of(
    element: Element, shared: SharedFormulas, row: int, column: int
) -> tuple[str | None, tuple[int, int] | None]:
    """Return the formula of an element f, and the rows and columns that an array formula fills."""
    text = (element.text or "").strip().removeprefix("=") or None
    if text and len(text) > MAX_LENGTH:
        return text, None
    kind = element.get("t", "normal")
    if kind == "shared":
        return shared.formula(element.get("si", ""), text, row, column), None
    if kind == "array":
        return text, _size(element.get("ref", ""))
    return (None, None) if kind == "dataTable" else (text, None)


def _size(reference: str) -> tuple[int, int]:
    try:
        top, left, bottom, right = address.parse_area(reference)
    except ValueError:
        return 1, 1
    return bottom - top + 1, right - left + 1
