"""Finds the formulas for which the engine may give another value than spreadsheet programs.

An error that only the engine gives is no result of a formula. A formula that refers to such a cell, or that catches
such an error, has no reliable result either.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from ..model import Area, Cell
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
