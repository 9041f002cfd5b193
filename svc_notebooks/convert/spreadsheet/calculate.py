"""Calculates simple formulas that have no stored value, as in workbooks that openpyxl has written.

The engine (formualizer) gives other results than Excel for some functions, and ends the process if a text becomes too
long. So all formulas without a value must be simple, or none of them is calculated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from math import isfinite
from typing import Any, TypeAlias

from ..engines import available
from ..job import Job
from .format_code import from_serial, to_serial
from .formulas import FUNCTIONS, function_name, tokens
from .model import Cell, ErrorValue, Sheet, Value, Workbook

Position: TypeAlias = tuple[str, int, int]  # the name of a sheet, a row and a column

_EARLY_DATE = re.compile(r"\bDATE\s*\((?!\s*(?:190[1-9]|19[1-9]\d|2\d{3})\s*,)", re.IGNORECASE)
"""Matches a date of which the year is not a number after 1900, the year in which Excel has a day too many."""
_MAX_DEPTH = 64  # the number of levels of parentheses in formulas of Excel
_MAX_SECONDS = 15
_MAX_GRID_CELLS = 20_000_000  # also empty ones, for which the engine uses memory
_ERROR_CODES = {"Null": "#NULL!", "Div": "#DIV/0!", "Ref": "#REF!", "Num": "#NUM!", "Na": "#N/A", "NA": "#N/A"}
"""The error values by the name of the engine's error. Other programs do not give all other errors of the engine."""


class _Unreliable(Exception):
    """Raised for a result that other programs may not give."""


def is_simple(formula: str) -> bool:
    """Return whether a formula has only numbers, references, operators and the simple functions of `FUNCTIONS`.

    >>> [is_simple(text) for text in ("SUM(A1:A3)*2", "A1:A3*2", 'REPT("x",9)', "A1&B1")]
    [True, False, False, False]
    """
    if _EARLY_DATE.search(formula):
        return False
    depth = 0
    for kind, text in tokens(formula):
        depth += (text == "(") - (text == ")")
        is_unknown = kind == "function" and function_name(text) not in FUNCTIONS["simple"]
        is_name = kind == "name" and text.upper() not in ("TRUE", "FALSE")
        is_area = kind == "range" and ":" in text and not depth  # means the cell of the same row or column
        if depth > _MAX_DEPTH or is_unknown or is_name or is_area or text in ("&", "{", ":"):
            return False
    return True


def with_calculated_values(workbook: Workbook, job: Job) -> Workbook:
    """Return the workbook with the results of simple formulas. Other formulas keep None, and the job gets a note."""
    cells = {
        (sheet.name, row, column): cell
        for sheet in workbook.sheets
        for row, column, cell in sheet.cells()
        if _needs_value(cell)
    }
    if not cells:
        return workbook
    grid_cells = sum((max(sheet.rows, default=0) + 1) * (sheet.last_column + 1) for sheet in workbook.sheets)
    is_possible = available.FORMUALIZER.is_available() and grid_cells <= _MAX_GRID_CELLS
    if is_possible and all(is_simple(cell.formula or "") and not cell.array for cell in cells.values()):
        try:
            values = _compute(workbook, cells, job.now)
            return Workbook(tuple(_with_results(sheet, values) for sheet in workbook.sheets))
        except Exception:  # _Unreliable, or one of many errors of the engine, such as its limit of time
            pass
    job.note("Formulas without a stored value are shown as text, since not all of them could be calculated.")
    return workbook


def _needs_value(cell: Cell) -> bool:
    return cell.formula is not None and cell.value is None


def _with_results(sheet: Sheet, values: Mapping[Position, Value]) -> Sheet:
    rows = {
        row: {
            column: cell._replace(value=values[sheet.name, row, column]) if _needs_value(cell) else cell
            for column, cell in columns.items()
        }
        for row, columns in sheet.rows.items()
    }
    return replace(sheet, rows=rows)


def _compute(workbook: Workbook, cells: Mapping[Position, Cell], now: datetime) -> dict[Position, Value]:
    import formualizer

    limits = formualizer.EvaluationConfig()
    limits.enable_parallel = False
    limits.warmup_enabled = False
    limits.max_eval_time_ms = _MAX_SECONDS * 1000
    mode = formualizer.WorkbookMode.Interactive
    config = formualizer.WorkbookConfig(mode=mode, eval_config=limits, enable_changelog=False)
    engine = formualizer.Workbook(config=config)
    engine.set_deterministic_clock(now)
    for sheet in workbook.sheets:
        engine.add_sheet(sheet.name)
        for row, column, cell in sheet.cells():
            if not _needs_value(cell):
                engine.set_value(sheet.name, row + 1, column + 1, _engine_value(cell))
    for (sheet_name, row, column), cell in cells.items():
        engine.set_formula(sheet_name, row + 1, column + 1, f"={cell.formula}")
    engine.evaluate_all()
    return {
        (name, row, column): _value(engine.get_value(name, row + 1, column + 1), cell)
        for (name, row, column), cell in cells.items()
    }


def _engine_value(cell: Cell) -> Any:
    if not isinstance(cell.value, ErrorValue):
        return cell.value
    code = cell.value.code
    return {"type": "Error", "kind": next((kind for kind, text in _ERROR_CODES.items() if text == code), "Value")}


def _value(result: Any, cell: Cell) -> Value:
    """Return the value of a result of the engine. Raises _Unreliable."""
    if isinstance(result, dict) and (code := _ERROR_CODES.get(result.get("kind", ""))):
        return ErrorValue(code)
    is_early = isinstance(result, date) and (result.year, result.month) < (1900, 3)  # one date for two serial numbers
    is_number = isinstance(result, (int, float)) and not isinstance(result, bool)
    if result is None or isinstance(result, (dict, list)) or is_early or (is_number and not isfinite(result)):
        raise _Unreliable
    if isinstance(result, (date, time, timedelta)) and cell.style.format:
        number = to_serial(result)
        result, is_number = (result, False) if number is None else (number, True)
    if not is_number:
        value: Value = result
        return value
    return from_serial(int(result) if float(result).is_integer() and abs(result) < 2**53 else result, cell.style.format)
