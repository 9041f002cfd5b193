"""Parses the texts of cells, and replaces sheet names that a spreadsheet program does not accept."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime, time
from math import isfinite

from .format_code import DATE, DATETIME, TIME
from .formulas import rename_sheets
from .model import Cell, CellStyle, ErrorValue, Rows, Sheet, Value, Workbook

_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_EXACT = 2**53


def clean(text: str) -> str:
    """Remove control characters and unpaired surrogates, which XML does not allow."""
    return text if text.isprintable() else _UNWRITABLE.sub("", text)


def parse_number(text: str) -> int | float | ErrorValue:
    """Parse a number as an int or a float, or as the error value #VALUE! (no number) or #NUM! (not finite)."""
    try:
        parsed = float(text)
    except ValueError:
        return ErrorValue("#VALUE!")
    if not isfinite(parsed):
        return ErrorValue("#NUM!")
    return int(parsed) if parsed.is_integer() and abs(parsed) < _EXACT else parsed


_ISO = re.compile(
    r"(?P<day>\d{4}-\d{2}-\d{2})?(?P<between>[ T])?(?P<clock>\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?", re.ASCII
)


def parse_moment(text: str) -> date | datetime | time | None:
    """Parse a date, a time, or a date with a time in ISO 8601 without a time zone. Return None for other text.

    >>> parse_moment("2024-02-29"), parse_moment("2024-02-30"), parse_moment("09:30")
    (datetime.date(2024, 2, 29), None, datetime.time(9, 30))
    """
    match = _ISO.fullmatch(text)
    if match is None or bool(match["between"]) != bool(match["day"] and match["clock"]):
        return None
    try:
        if match["day"] and match["clock"]:
            return datetime.fromisoformat(text)
        return date.fromisoformat(text) if match["day"] else time.fromisoformat(text)
    except ValueError:
        return None


_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)?(?:\.[0-9]+)?(?:[eE][+-][0-9]{1,3})?%?", re.ASCII)
_EXPONENT = re.compile(r"-?[0-9]\.[0-9]+[eE][0-9]{1,3}", re.ASCII)
_GROUPED = re.compile(r"-?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?", re.ASCII)
_SIMPLE = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]*[1-9])?", re.ASCII)  # most numbers; fast

_MAX_DIGITS = 15
_BOOLEANS = {"TRUE": True, "True": True, "true": True, "FALSE": False, "False": False, "false": False}
_FIRST_CHARACTERS = frozenset("-.0123456789 \tTFtf")
_SWAP = str.maketrans(",.", ".,")
_MOMENTS = {date: CellStyle(DATE), datetime: CellStyle(DATETIME), time: CellStyle(TIME)}
_SHORT_TIME, _PERCENT, _EXACT_PERCENT = CellStyle("hh:mm"), CellStyle("0%"), CellStyle("0.00%")
_THOUSANDS, _EXACT_THOUSANDS = CellStyle("#,##0"), CellStyle("#,##0.00")
_MAX_LENGTH = 40


def parse_cell(text: str, *, comma: bool = False) -> Cell:
    """Convert a text to a cell, as if a user typed the text. `comma` means decimal commas. Ambiguous text stays text.

    >>> [parse_cell(word).value for word in ("1.50", "007", "TRUE", "1,234", "12%", "=1+1", "2024-01-02")]
    [1.5, '007', True, 1234, 0.12, '=1+1', datetime.date(2024, 1, 2)]
    """
    if text[:1] not in _FIRST_CHARACTERS or len(text) > _MAX_LENGTH:
        return Cell(clean(text))
    if _SIMPLE.fullmatch(text) and not (comma and "." in text):
        return Cell(float(text) if "." in text else int(text))
    word = text.strip()
    if word in _BOOLEANS:
        return Cell(_BOOLEANS[word])
    cell = _parse_number(word.translate(_SWAP) if comma else word)
    return cell or _parse_moment(word) or Cell(clean(text))


def _parse_number(word: str) -> Cell | None:
    whole = sum(letter.isdigit() for letter in word.partition(".")[0])
    if whole > _MAX_DIGITS or not any(map(str.isdigit, word)):
        return None
    if _GROUPED.fullmatch(word):
        return Cell(parse_number(word.replace(",", "")), _EXACT_THOUSANDS if "." in word else _THOUSANDS)
    if not _DECIMAL.fullmatch(word) and not _EXPONENT.fullmatch(word):
        return None
    if word.endswith("%"):
        return Cell(round(float(word[:-1]) / 100, 15), _EXACT_PERCENT if "." in word else _PERCENT)
    value = parse_number(word)
    return None if isinstance(value, ErrorValue) else Cell(value)


def _parse_moment(word: str) -> Cell | None:
    value: Value = parse_moment(word)
    if value is None:
        return None
    style = _SHORT_TIME if isinstance(value, time) and len(word) == 5 else _MOMENTS[type(value)]
    return Cell(value, style)


_MAX_NAME = 31
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
        base = _FORBIDDEN.sub("_", clean(text)).strip("' ")[:_MAX_NAME].strip("' ") or f"Sheet{index + 1}"
        name, number = base, 1
        while name.casefold() in used or name.casefold() == "history":
            number += 1
            name = f"{base[: _MAX_NAME - len(str(number)) - 1]}_{number}"
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
