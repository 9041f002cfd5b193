"""Calculates formulas that have no stored value, as in files from programs that do not calculate.

The engine (formualizer) is fast and has some 400 functions, but it ends the process if a hostile formula needs too much
memory. If the system has fork(), the engine therefore runs in a fork of this process.
"""

from __future__ import annotations

import json
import os
import signal
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from itertools import groupby
from math import isfinite
from typing import Any

from ...engines import available
from ...job import Job
from ..date_serial import from_serial, to_serial
from ..model import Cell, ErrorValue, Rows, Sheet, Value, Workbook, value_from_json, value_to_json
from .reliable import Position, checks, dependents, is_exact, is_search

_MAX_SECONDS = 15
_MAX_GRID_CELLS = 20_000_000
"""The maximum number of cells for the engine, including empty cells, since the engine uses memory for empty cells."""

_DISTANCE = 64
"""The number of columns between the cells of a sheet and the calculations beside them."""

_ERROR_CODES = {
    "Null": "#NULL!", "Div": "#DIV/0!", "Value": "#VALUE!", "Ref": "#REF!", "Num": "#NUM!", "Na": "#N/A", "NA": "#N/A",
}  # fmt: skip
"""The error values by the name of the engine's error. Other engine errors mean that there is no result."""

Results = list[list[Any]]
"""An entry [kind, value] for each formula without a stored value in workbook order, or [] without a result."""


def with_calculated_values(workbook: Workbook, job: Job) -> Workbook:
    """Return the workbook with formula results. Formulas that cannot be calculated keep None and add a job note."""
    if not any(_needs_value(cell) for sheet in workbook.sheets for _, _, cell in sheet.cells()):
        return workbook
    grid_cells = sum((max(sheet.rows, default=0) + 1) * (sheet.last_column + 1) for sheet in workbook.sheets)
    results: Results = []
    if available.FORMUALIZER.is_available() and grid_cells <= _MAX_GRID_CELLS:
        results = _compute_in_child(workbook, job) if hasattr(os, "fork") else _compute(workbook, job.now)
    pending = iter(results)
    workbook_with_values = Workbook(tuple(_with_results(sheet, pending) for sheet in workbook.sheets))
    if any(_needs_value(cell) for sheet in workbook_with_values.sheets for _, _, cell in sheet.cells()):
        job.note("Some formulas without a stored value could not be computed and are shown as text.")
    return workbook_with_values


def _needs_value(cell: Cell) -> bool:
    return cell.formula is not None and cell.value is None


def _with_results(sheet: Sheet, results: Iterator[list[Any]]) -> Sheet:
    rows: Rows = {
        row: {
            column: cell._replace(value=_decode_result(next(results, []), cell)) if _needs_value(cell) else cell
            for column, cell in columns.items()
        }
        for row, columns in sheet.rows.items()
    }
    return replace(sheet, rows=rows)


def _decode_result(encoded: list[Any], cell: Cell) -> Value:
    if not encoded:
        return None
    value = value_from_json(*encoded)
    if isinstance(value, (date, time, timedelta)):
        number = to_serial(value)
        value = value if number is None or not cell.style.format else number
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return from_serial(value, cell.style.format)


def _compute_in_child(workbook: Workbook, job: Job) -> Results:
    """Call `_compute` in a fork of this process, and return the results. Return [] if the fork ends without results."""
    inlet, outlet = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the fork starts no thread and waits for none
        child = os.fork()
    if child == 0:
        _run_child(workbook, job, outlet)
    os.close(outlet)
    with os.fdopen(inlet, "rb") as pipe:
        output = pipe.read()
    os.waitpid(child, 0)
    results: Results = json.loads(output) if output else []
    return results


def _run_child(workbook: Workbook, job: Job, outlet: int) -> None:
    """Call `_compute`, write the results to the pipe as JSON, and end the process without running exit handlers.

    The system ends the process after `_MAX_SECONDS` of processor time, and after half of the job's limit of time.
    """
    try:
        import resource

        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # hides the engine's error messages
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        limit = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2])) + _MAX_SECONDS
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, job.limits.seconds / 2)
        output = json.dumps(_compute(workbook, job.now)).encode()
        with os.fdopen(outlet, "wb") as pipe:
            pipe.write(output)
    finally:
        os._exit(0)


def _compute(workbook: Workbook, now: datetime) -> Results:
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
    for sheet in workbook.sheets:
        _load_sheet(engine, sheet)
    engine.evaluate_all()
    cells = {
        (sheet.name, row, column): cell
        for sheet in workbook.sheets
        for row, column, cell in sheet.cells()
        if _needs_value(cell)
    }
    results = {position: _result(engine, position, cell.formula or "") for position, cell in cells.items()}
    wrong = {position for position, cell in cells.items() if not results[position] or not is_exact(cell)}
    wrong |= _unreliable_cells(engine, workbook, {position: cells[position] for position in cells.keys() - wrong})
    unreliable = dependents({position: cell.formula or "" for position, cell in cells.items()}, wrong)
    return [[] if position in unreliable else result for position, result in results.items()]


def _unreliable_cells(engine: Any, workbook: Workbook, cells: Mapping[Position, Cell]) -> set[Position]:
    """Return the positions of the cells of which a check has an error that only the engine gives.

    The checks are calculated beside the cells of the sheet.
    """
    ends = {sheet.name: sheet.last_column + _DISTANCE for sheet in workbook.sheets}
    used: Counter[tuple[str, int]] = Counter()
    checked: dict[Position, Position] = {}
    for position, cell in cells.items():
        sheet, row, _ = position
        for check in checks(cell.formula or ""):
            column = ends[sheet] + used[sheet, row]
            used[sheet, row] += 1
            checked[sheet, row, column] = position
            _load_formulas(engine, sheet, row + 1, column + 1, [f"={check}"])
    engine.evaluate_all()
    return {position for place, position in checked.items() if not _result(engine, place, "")}


def _result(engine: Any, position: Position, formula: str) -> list[Any]:
    sheet, row, column = position
    return _encode_result(engine.get_value(sheet, row + 1, column + 1), formula)


def _load_sheet(engine: Any, sheet: Sheet) -> None:
    """Load the values of a sheet and then its formulas into the engine, in fast batches of adjacent cells."""
    for row, columns in sheet.rows.items():
        values = {column: _engine_value(cell) for column, cell in columns.items() if not _needs_value(cell)}
        for first, run in _runs(values):
            engine.set_values_batch(sheet.name, row + 1, first + 1, [run])
    formulas_by_column: dict[int, dict[int, str]] = {}
    for row, column, cell in sheet.cells():
        if _needs_value(cell):
            formulas_by_column.setdefault(column, {})[row] = f"={cell.formula}"
    for column, formulas in formulas_by_column.items():
        for first, run in _runs(formulas):
            _load_formulas(engine, sheet.name, first + 1, column + 1, run)


def _load_formulas(engine: Any, sheet: str, row: int, column: int, formulas: list[str]) -> None:
    try:
        engine.set_formulas_batch(sheet, row, column, [[formula] for formula in formulas])
    except Exception:  # the engine cannot parse one of the formulas
        for offset, formula in enumerate(formulas):
            try:
                engine.set_formula(sheet, row + offset, column, formula)
            except Exception:  # a formula that refers to this cell must get an error, not the value of an empty cell
                engine.set_formula(sheet, row + offset, column, "=NOT_UNDERSTOOD()")


def _runs(items: Mapping[int, Any]) -> Iterator[tuple[int, list[Any]]]:
    """Group the values of consecutive keys. Yield the first key and the list of values for each group.

    >>> list(_runs({1: "a", 2: "b", 7: "c"}))
    [(1, ['a', 'b']), (7, ['c'])]
    """
    for _, group in groupby(enumerate(items), key=lambda pair: pair[1] - pair[0]):
        keys = [key for _, key in group]
        yield keys[0], [items[key] for key in keys]


def _engine_value(cell: Cell) -> Any:
    value = cell.value
    if isinstance(value, ErrorValue):
        codes = {**_ERROR_CODES, "Name": "#NAME?"}
        kind = next((kind for kind, code in codes.items() if code == value.code), "Value")
        return {"type": "Error", "kind": kind}
    return value


def _encode_result(value: Any, formula: str) -> list[Any]:
    if isinstance(value, dict):
        code = _ERROR_CODES.get(value.get("kind", ""))
        is_reliable = code and (code != "#VALUE!" or is_search(formula))  # see docs/decisions.md
        return value_to_json(ErrorValue(code)) if code and is_reliable else []
    if isinstance(value, date) and (value.year, value.month) < (1900, 3):
        return []  # the engine gives the same date for two serial numbers
    if isinstance(value, float) and not isfinite(value):
        return []
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return [] if value is None or isinstance(value, list) else value_to_json(value)
