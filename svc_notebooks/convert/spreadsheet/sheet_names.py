"""Makes the names of sheets valid and unique for every program."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from .formula.tokens import with_sheets
from .model import Cell, Rows, Sheet, Workbook
from .values import clean

_LONGEST = 31
_FORBIDDEN = re.compile(r"[\[\]:*?/\\\t\r\n]")


def workbook(sheets: Iterable[Sheet]) -> Workbook:
    """A workbook of these sheets, renamed where needed, in the formulas too; of one empty sheet, if there are none."""
    given = list(sheets)
    names = _names([sheet.name for sheet in given])
    changed = {sheet.name: name for sheet, name in zip(given, names, strict=True) if sheet.name != name}
    renamed = (
        replace(sheet, name=name, rows=_rows(sheet.rows, changed)) for sheet, name in zip(given, names, strict=True)
    )
    return Workbook(tuple(renamed)) if given else Workbook()


def _names(given: list[str]) -> list[str]:
    taken: set[str] = set()
    names = []
    for index, text in enumerate(given):
        wanted = _FORBIDDEN.sub("_", clean(text)).strip("' ")[:_LONGEST].strip("' ") or f"Sheet{index + 1}"
        name, number = wanted, 1
        while name.casefold() in taken or name.casefold() == "history":
            number += 1
            name = f"{wanted[: _LONGEST - len(str(number)) - 1]}_{number}"
        taken.add(name.casefold())
        names.append(name)
    return names


def _rows(rows: Rows, changed: dict[str, str]) -> Rows:
    if not changed:
        return rows
    return {row: {column: _cell(cell, changed) for column, cell in columns.items()} for row, columns in rows.items()}


def _cell(cell: Cell, changed: dict[str, str]) -> Cell:
    return cell._replace(formula=with_sheets(cell.formula, changed)) if cell.formula else cell
