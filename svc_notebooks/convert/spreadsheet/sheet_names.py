"""Replaces sheet names that are duplicate, or that a spreadsheet program does not accept."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from .formula.tokens import rename_sheets
from .model import Rows, Sheet, Workbook
from .values import clean

_MAX_LENGTH = 31
_FORBIDDEN = re.compile(r"[\[\]:*?/\\\t\r\n]")


def with_valid_sheet_names(sheets: Iterable[Sheet]) -> Workbook:
    """Create a workbook, and replace invalid or duplicate sheet names, including in formulas."""
    sheet_list = list(sheets)
    names = _names([sheet.name for sheet in sheet_list])
    new_names = {sheet.name: name for sheet, name in zip(sheet_list, names, strict=True) if sheet.name != name}
    renamed = (
        replace(sheet, name=name, rows=_rename_in_formulas(sheet.rows, new_names))
        for sheet, name in zip(sheet_list, names, strict=True)
    )
    return Workbook(tuple(renamed)) if sheet_list else Workbook()


def _names(requested: list[str]) -> list[str]:
    used: set[str] = set()
    names = []
    for index, text in enumerate(requested):
        base = _FORBIDDEN.sub("_", clean(text)).strip("' ")[:_MAX_LENGTH].strip("' ") or f"Sheet{index + 1}"
        name, number = base, 1
        while name.casefold() in used or name.casefold() == "history":
            number += 1
            name = f"{base[: _MAX_LENGTH - len(str(number)) - 1]}_{number}"
        used.add(name.casefold())
        names.append(name)
    return names


def _rename_in_formulas(rows: Rows, new_names: dict[str, str]) -> Rows:
    if not new_names:
        return rows
    return {
        row: {
            column: cell._replace(formula=rename_sheets(cell.formula, new_names)) if cell.formula else cell
            for column, cell in columns.items()
        }
        for row, columns in rows.items()
    }
