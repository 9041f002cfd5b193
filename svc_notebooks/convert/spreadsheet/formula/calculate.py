"""Calculates formulas that have no stored value, as in files from programs that do not calculate.

The engine (formualizer) is fast and has some 400 functions, but it ends the process if a hostile formula needs too much
memory. If the system has fork(), the engine therefore runs in a fork of this process.
"""

from __future__ import annotations

import json
import os
import re
import signal
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from itertools import groupby
from math import isfinite
from typing import Any, TypeAlias

from ...engines import available
from ...job import Job
from ..date_serial import from_serial, to_serial
from ..model import Area, Cell, ErrorValue, Rows, Sheet, Value, Workbook, value_from_json, value_to_json
from .address import MAX_COLUMNS, MAX_ROWS, column_letters, parse_area
from .tokens import FormulaToken, function_name, name_set, tokens

Position: TypeAlias = tuple[str, int, int]
"""The name of a sheet, a row and a column."""

_INEXACT_FUNCTIONS = name_set(
    "XIRR XNPV MULTINOMIAL BESSELI BESSELJ BESSELK BESSELY TBILLEQ MODE SUMX2MY2 SUMX2PY2 SUMXMY2 DOLLAR"
)
_CATCHING_FUNCTIONS = name_set(
    "ISERROR ISERR ISNA ISNUMBER ISTEXT ISNONTEXT ISLOGICAL ISBLANK ERROR.TYPE TYPE IFERROR IFNA COUNT COUNTA AGGREGATE"
)
"""Functions that give a value if an argument is an error."""
_RANGE_FUNCTIONS = name_set("COUNT COUNTA AGGREGATE IFERROR IFNA")
_SCALAR_FUNCTIONS = (_CATCHING_FUNCTIONS - _RANGE_FUNCTIONS) | name_set(
    "CONCATENATE EXACT LEFT RIGHT MID LEN LOWER UPPER TRIM"
)
"""Functions of which the engine calculates only one cell if an argument is a range."""
_SEARCH_FUNCTIONS = name_set("FIND FINDB SEARCH SEARCHB")
"""Functions that give #VALUE! in each program if the text is missing."""
_REFERENCE_FUNCTIONS = name_set("OFFSET INDIRECT")
_QUOTIENT = "({0})/({1})"
_CONDITIONS = {
    **dict.fromkeys(
        name_set("CEILING FLOOR CEILING.MATH FLOOR.MATH CEILING.PRECISE FLOOR.PRECISE ISO.CEILING"),
        f"IF(({{1}})>0,AND(({_QUOTIENT}=ROUND({_QUOTIENT},0))+(ABS({_QUOTIENT}-ROUND({_QUOTIENT},0))>1E-9)),FALSE)",
    ),
    "DATE": "MOD({0},1900)>0",
    "ISOWEEKNUM": "({0})>60",
    **dict.fromkeys(name_set("EDATE EOMONTH WORKDAY WORKDAY.INTL"), "AND(({0})>60,{call}>60)"),
    **dict.fromkeys(name_set("DATEDIF DAYS DAYS360 YEARFRAC NETWORKDAYS NETWORKDAYS.INTL"), "AND(({0})>60,({1})>60)"),
}
"""Conditions under which the engine is exact: no quotient near a whole number, and no date before March 1900."""
_MAX_DEPTH = 64
"""The number of levels of parentheses in formulas of Excel."""
_EXACT_FORMAT = re.compile(r'"(?:(?:#,##)?0+(?:\.0+)?%?|[dmyhs :/.,-]+(?:AM/PM)?|@)"', re.IGNORECASE)
"""The formats with which TEXT gives the same text in the engine."""
_ERROR_TEXT = re.compile(r'"[<>=]*#.*', re.DOTALL)

_CHECKED = re.compile("|".join(map(re.escape, [*_CATCHING_FUNCTIONS, *_CONDITIONS])), re.IGNORECASE)
_SUSPECT = re.compile(
    "|".join(map(re.escape, _INEXACT_FUNCTIONS | _CATCHING_FUNCTIONS | _SCALAR_FUNCTIONS | {"TEXT", "#", ":"})),
    re.IGNORECASE,
)
"""Matches each formula that may be inexact, and some others."""


def is_exact(cell: Cell) -> bool:
    """Return whether the engine calculates the formula of a cell as spreadsheet programs do.

    >>> [is_exact(Cell(None, formula=text)) for text in ("SUM(A1:A3)*2", "A1:A3*2", 'TEXT(A1,"?/?")')]
    [True, False, False]
    """
    formula = cell.formula or ""
    if not _SUSPECT.search(formula) and formula.count("(") <= _MAX_DEPTH:
        return True
    pieces = list(tokens(formula))
    depth = 0
    for kind, text in pieces:
        depth += (text == "(") - (text == ")")
        if (
            depth > _MAX_DEPTH
            or (kind == "function" and function_name(text) in _INEXACT_FUNCTIONS)
            or (kind == "string" and _ERROR_TEXT.match(text))
            or (kind == "range" and ":" in text and not depth and not cell.array)  # the cell of the same row or column
        ):
            return False
    return all(
        _is_exact_argument(name, number, argument)
        for name, arguments in _calls(pieces)
        for number, argument in enumerate(arguments)
    )


def _is_exact_argument(name: str, number: int, argument: list[FormulaToken]) -> bool:
    if name == "TEXT" and number == 1:
        return len(argument) == 1 and _EXACT_FORMAT.fullmatch(argument[0].text) is not None
    is_range = any(kind == "range" and ":" in text for kind, text in argument)
    is_calculated = name in _SCALAR_FUNCTIONS or (
        name in _CATCHING_FUNCTIONS and any(text in "+-*/^&=<>" for _, text in argument)
    )
    return not (is_range and is_calculated) or any(kind == "function" for kind, _ in argument)


def is_search(formula: str) -> bool:
    """Return whether a formula only searches in a text, so that #VALUE! is a reliable result.

    >>> is_search('FIND("x",A1)'), is_search('FIND("x",EDATE(A1,1))')
    (True, False)
    """
    pieces = list(tokens(formula))
    names = {function_name(text) for kind, text in pieces if kind == "function"}
    return bool(names) and names <= _SEARCH_FUNCTIONS and not any(text in "+-*/^%" for _, text in pieces)


def checks(formula: str) -> list[str]:
    """Return formulas that have an error of the engine if the engine does not calculate a formula reliably.

    These are the calculations whose errors the formula catches, and the conditions of its functions.

    >>> checks("IFERROR(A1/B1,0)+ISERROR(A1)+DATE(A1,1,1)")
    ['A1/B1', 'IF(MOD(A1,1900)>0,1,NOT_EXACT())']
    """
    formulas = []
    for name, arguments in _calls(list(tokens(formula))) if _CHECKED.search(formula) else ():
        if name in _CATCHING_FUNCTIONS:
            formulas += [_join(it) for it in arguments if len(it) > 1 or (it and it[0].kind == "name")]
        elif name in _CONDITIONS:
            texts = [*map(_join, arguments), "1"]  # the significance is 1 if it is missing
            condition = _CONDITIONS[name].format(*texts, call=f"{name}({','.join(texts[:-1])})")
            formulas.append(f"IF({condition},1,NOT_EXACT())")
    return [check for check in formulas if not is_search(check)]


def _join(pieces: list[FormulaToken]) -> str:
    return "".join(piece.text for piece in pieces)


def _calls(pieces: list[FormulaToken]) -> Iterator[tuple[str, list[list[FormulaToken]]]]:
    """Yield the function and the arguments, without their outer blanks, of each call and array in a formula."""
    calls: list[tuple[str, list[list[FormulaToken]]]] = []  # the open parentheses and braces
    name = ""
    for piece in pieces:
        kind, text = piece
        if calls and text in (")", "}"):
            yield calls.pop()
        elif calls and text == ",":
            calls[-1][1].append([])
        for _, arguments in calls if text != "," else calls[:-1]:
            if arguments[-1] or not text.isspace():
                arguments[-1].append(piece)
        if text in ("(", "{"):
            calls.append((name, [[]]))
        name = function_name(text) if kind == "function" else name if text.isspace() else ""


def dependents(formulas: Mapping[Position, str], cells: Iterable[Position]) -> set[Position]:
    """Return `cells` and all formulas that refer to one of them, also through other formulas."""
    marked = set(cells)
    if not marked:
        return marked
    by_cell: dict[Position, list[Position]] = defaultdict(list)
    by_area: dict[str, dict[Area, list[Position]]] = defaultdict(lambda: defaultdict(list))
    for position, formula in formulas.items():
        prefix = ""
        for kind, text in tokens(formula):
            if kind == "range":
                sheet, area = (prefix or position[0]).lower(), _area(text)
                if area[:2] == area[2:]:
                    by_cell[sheet, area.top, area.left].append(position)
                else:
                    by_area[sheet][area].append(position)
            elif text == ":" or (kind == "function" and function_name(text) in _REFERENCE_FUNCTIONS):
                marked.add(position)  # the formula calculates to which cells it refers
            prefix = text[:-1].strip("'").replace("''", "'") if kind == "sheet" else ""
    queue = list(marked)
    while queue:
        position = queue.pop()
        key, row, column = position[0].lower(), *position[1:]
        areas = by_area[key]
        over = [area for area in areas if area.top <= row <= area.bottom and area.left <= column <= area.right]
        readers = by_cell.pop((key, row, column), []) + [reader for area in over for reader in areas.pop(area)]
        queue += (new := set(readers) - marked)
        marked |= new
    return marked


def _area(text: str) -> Area:
    """Return the area of a reference such as "B3", "B3:C9", "$A:$B" or "1:3"."""
    first, _, last = text.replace("$", "").partition(":")
    if first.isalpha():
        first, last = f"{first}1", f"{last}{MAX_ROWS}"
    elif first.isdigit():
        first, last = f"A{first}", f"{column_letters(MAX_COLUMNS - 1)}{last}"
    try:
        return Area(*parse_area(f"{first}:{last or first}"))
    except ValueError:  # outside the sheet
        return Area(0, 0, 0, 0)


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
