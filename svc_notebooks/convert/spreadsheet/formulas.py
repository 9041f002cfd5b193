"""Parses, checks, converts and calculates the formulas of spreadsheets.

The formulas are in the notation of xlsx ("SUM(A1:B2)*'My data'!C3"), with the prefix `_xlfn.` before newer functions.
The notation of OpenDocument is "of:=SUM([.A1:.B2])*[$'My data'.C3]".

The engine that calculates (formualizer) gives other results than Excel for some functions, and ends the process if a
text becomes too long. So all formulas without a value must be simple, or none of them is calculated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from functools import cache
from importlib.resources import files
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

from ..engines import available
from ..job import Job
from .format_code import from_serial, to_serial
from .model import Cell, ErrorValue, Sheet, Value, Workbook

MAX_ROWS = 1_048_576
MAX_COLUMNS = 16_384  # the numbers of rows and columns of a sheet in Excel and LibreOffice are MAX_ROWS and MAX_COLUMNS

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@cache
def column_letters(column: int) -> str:
    """Convert a column number, which starts at 0, to the letters of the column.

    >>> column_letters(0), column_letters(26), column_letters(16_383)
    ('A', 'AA', 'XFD')
    """
    text = ""
    number = column + 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = _LETTERS[rest] + text
    return text


@cache
def column_number(text: str) -> int:
    """Convert the letters of a column, in upper or lower case, to the column number, which starts at 0."""
    number = 0
    for letter in text.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


def parse_cell_address(text: str) -> tuple[int, int]:
    """Return the row and column (from 0) of a cell name. Raises ValueError if the name is invalid or outside a sheet.

    >>> parse_cell_address("$B$3")
    (2, 1)
    """
    plain = text.replace("$", "")
    digits = plain.lstrip(_LETTERS + _LETTERS.lower())
    row, column = int(digits) - 1, column_number(plain[: len(plain) - len(digits)])
    if not (0 <= row < MAX_ROWS and 0 <= column < MAX_COLUMNS):
        raise ValueError(f"{text[:20]!r} is outside the limits of a sheet")
    return row, column


def parse_area(text: str) -> tuple[int, int, int, int]:
    """Return (top, left, bottom, right) of an area such as "B3:C9". Raises ValueError if invalid or outside a sheet."""
    first, _, last = text.partition(":")
    (top, left), (bottom, right) = parse_cell_address(first), parse_cell_address(last or first)
    return min(top, bottom), min(left, right), max(top, bottom), max(left, right)


def printed_areas(definition: str) -> list[tuple[int, int, int, int]]:
    """Return (top, left, bottom, right) of the areas, rows and columns in the definition of a name such as Print_Area.

    >>> printed_areas("'My data'!$A$1:$B$9,Data!$2:$3")
    [(0, 0, 8, 1), (1, 0, 2, 16383)]
    """
    areas = []
    for text in (token.text.replace("$", "") for token in tokens(definition) if token.kind == "range"):
        rows = re.sub(r"^(\d+):(\d+)$", r"A\1:XFD\2", text)
        with suppress(ValueError):
            areas.append(parse_area(re.sub(r"^([A-Za-z]+):([A-Za-z]+)$", rf"\g<1>1:\g<2>{MAX_ROWS}", rows)))
    return areas


MAX_LENGTH = 8192  # the maximum length of a formula in spreadsheet programs, in characters

LINKS = ("http://", "https://", "mailto:")

_CELL = r"\$?[A-Za-z]{1,3}\$?[0-9]{1,7}(?![\w(.])"
_COLUMN = r"\$?[A-Za-z]{1,3}"
_ROW = r"\$?[0-9]{1,7}"
_FAULTS = r"\#(?:NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!|N/A|SPILL!|CALC!|GETTING_DATA)"
_FAULT = re.compile(_FAULTS)
_TOKEN = re.compile(
    rf"""(?P<string>"(?:[^"]|"")*+")
    |(?P<outside>(?:'(?:[^']|'')*+'|\[[^\]'!]*\][^\s'!()\[\]+*/^&=<>,;-]*)!)
    |(?P<sheet>[^\W\d][\w.]*(?::[^\W\d][\w.]*)?!)
    |(?P<range>{_CELL}:{_CELL}|{_COLUMN}:{_COLUMN}(?![\w(.!$])|{_ROW}:{_ROW}(?![\w.])|{_CELL})
    |(?P<function>[^\W\d][\w.]*(?=\s*\())
    |(?P<number>[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    |(?P<fault>{_FAULTS})
    |(?P<name>[^\W\d]\w*(?:[.\\?]\w+)*)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


class FormulaToken(NamedTuple):
    """A token of a formula. `kind` is the name of the matching group in `_TOKEN`, such as "range" or "function"."""

    kind: str
    text: str


def tokens(formula: str) -> Iterator[FormulaToken]:
    """Yield the tokens of a formula. The concatenated texts of all tokens are the formula.

    >>> [token.text for token in tokens('SUM(A1:$B2)&"A1"')]
    ['SUM', '(', 'A1:$B2', ')', '&', '"A1"']
    """
    for match in _TOKEN.finditer(formula):
        kind, text = match.lastgroup or "other", match.group()
        if kind == "outside" and text[0] == "'" and not re.search(r"[\[\]\\/:|#?*]", text):
            kind = "sheet"
        yield FormulaToken(kind, text)


_NAMES: dict[str, str] = json.loads((files(__package__) / "functions.json").read_text("utf-8"))

# Names of functions by kind.
#
# unsafe: functions that fetch, send or run something in any spreadsheet program. microsoft: functions that OpenFormula
# does not define. In OpenDocument files, their names begin with "COM.MICROSOFT.". prefixed: functions whose names begin
# with "_xlfn." in xlsx files. simple: the functions that the engine calculates as spreadsheet programs do.
FUNCTIONS = {kind: frozenset(names.split()) for kind, names in _NAMES.items()}

_UNSAFE_SIGNS = frozenset("|['\"")  # calls of programs (DDE), references to files, and unclosed quotes

_PREFIX = re.compile(r"(?:_xlfn\.|_xlws\.|_xludf\.|COM\.MICROSOFT\.|COM\.SUN\.STAR\.|ORG\.[A-Z]+\.)+", re.IGNORECASE)


def function_name(text: str) -> str:
    """Return the name of a function in upper case, without the prefixes of programs.

    >>> function_name("_xlfn.Concat")
    'CONCAT'
    """
    return _PREFIX.sub("", text).upper()


def is_safe_formula(formula: str) -> bool:
    """Return whether a formula is not too long and cannot fetch, open or run anything outside its workbook.

    >>> is_safe_formula("SUM(A1:A9)"), is_safe_formula("cmd|'/C calc'!A0"), is_safe_formula('WEBSERVICE("http://x")')
    (True, False, False)
    """
    formula_tokens = list(tokens(formula[: MAX_LENGTH + 1]))
    indexes = range(len(formula_tokens))
    return len(formula) <= MAX_LENGTH and all(_is_safe_token(formula_tokens, index) for index in indexes)


def _is_safe_token(formula_tokens: list[FormulaToken], index: int) -> bool:
    kind, text = formula_tokens[index]
    if kind == "outside" or text in _UNSAFE_SIGNS:
        return False
    if kind == "function":
        plain = function_name(text)
        if plain == "HYPERLINK":
            arguments = [token for token in formula_tokens[index + 1 : index + 4] if not token.text.isspace()]
            is_text = len(arguments) > 1 and arguments[1].kind == "string"
            return is_text and safe_link(arguments[1].text[1:-1].replace('""', '"')) is not None
        return plain not in FUNCTIONS["unsafe"] and not plain.startswith(("_XLL.", "GET.", "SET."))
    return True


def safe_link(target: str | None) -> str | None:
    """Return a web address, email address or cell reference ("#Sheet2!A1") stripped, or None for other targets."""
    target = (target or "").strip()
    return target if target.lower().startswith((*LINKS, "#")) and len(target) <= 2000 else None


def sanitize(value: Value, formula: str | None, job: Job) -> tuple[Value, str | None]:
    """Return the value and the formula of a cell, without an unsafe formula.

    An unsafe formula adds a note and becomes None, and the value is then the last value or the formula as text. A
    formula that is only an error code becomes an error value.
    """
    if formula is None:
        return value, None
    if _FAULT.fullmatch(formula):
        return ErrorValue(formula), None
    if is_safe_formula(formula):
        return value, formula
    job.note("Formulas that access data or programs outside of the workbook were replaced by their last values.")
    return (f"={formula[:MAX_LENGTH]}" if value is None else value), None


_CORNER = re.compile(r"(\$?)([A-Za-z]*)(\$?)([0-9]*)")


def shift(formula: str, rows: int, columns: int) -> str:
    """Shift the relative references in a formula down and to the right. References outside the sheet become #REF!.

    >>> shift("A1+$B$1+Data!C:C", 1, 2)
    'C2+$B$1+Data!E:E'
    """
    if not rows and not columns:
        return formula
    shifted = ""
    for kind, text in tokens(formula):
        if kind == "range":
            corners = [_shift_corner(corner, rows, columns) for corner in text.split(":")]
            text = "#REF!" if None in corners else ":".join(filter(None, corners))
        shifted += text
    return shifted


def _shift_corner(text: str, rows: int, columns: int) -> str | None:
    match = _CORNER.fullmatch(text)
    if match is None:
        return None
    fixed, letters, row_fixed, digits = match.groups()
    if not letters:  # in a reference to whole rows, the first dollar sign belongs to the row
        fixed, row_fixed = "", fixed
    column = column_number(letters) + (0 if fixed else columns) if letters else 0
    row = int(digits) - 1 + (0 if row_fixed else rows) if digits else 0
    if not (0 <= column < MAX_COLUMNS and 0 <= row < MAX_ROWS):
        return None
    return f"{fixed}{column_letters(column) if letters else ''}{row_fixed}{row + 1 if digits else ''}"


def expand_names(formula: str, names: Mapping[str, str]) -> str:
    """Replace each defined name in a formula by its definition in parentheses. The keys of `names` are in upper case.

    >>> expand_names("price*Rate", {"RATE": "Data!$B$1"})
    'price*(Data!$B$1)'
    """
    if not names:
        return formula
    pairs = ((token.text, names.get(token.text.upper()) if token.kind == "name" else None) for token in tokens(formula))
    return "".join(text if definition is None else f"({definition})" for text, definition in pairs)


def rename_sheets(formula: str, names: Mapping[str, str]) -> str:
    """Replace the old names of sheets in a formula by the new names. `names` maps old names to new names.

    >>> rename_sheets("Old!A1+'My old'!B2", {"Old": "New", "My old": "It's"})
    "'New'!A1+'It''s'!B2"
    """
    renamed = ""
    for kind, text in tokens(formula):
        plain = text[:-1]
        name = plain[1:-1].replace("''", "'") if plain.startswith("'") else plain
        quoted = names.get(name, "").replace("'", "''") if kind == "sheet" else ""
        renamed += f"'{quoted}'!" if quoted else text
    return renamed


_OPEN_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"]|"")*+")
    |(?P<outside>'[^']*'\#)
    |(?P<reference>\[(?:'(?:[^']|'')*+'|[^\]'])*+\])
    |(?P<name>[^\W\d][\w.]*)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_OPEN_CORNER = re.compile(r"(?P<sheet>\$?(?:'(?:[^']|'')*'|[^.':]*))\.(?P<cell>[^:]+)")


def to_openformula(formula: str) -> str:
    """Convert a formula from the notation of xlsx to the notation of OpenDocument.

    >>> to_openformula("SUM(A1:B2,'My data'!C3)")
    "of:=SUM([.A1:.B2];[$'My data'.C3])"
    """
    text, sheet, braces = "", "", 0
    for kind, piece in tokens(formula):
        if kind == "sheet":
            sheet = f"${piece[:-1]}"
            continue
        braces += (piece == "{") - (piece == "}")
        text += _to_openformula_token(kind, piece, sheet, braces > 0)
        sheet = ""
    return f"of:={text}"


def _to_openformula_token(kind: str, piece: str, sheet: str, in_braces: bool) -> str:
    if kind == "range":
        first, *last = piece.split(":")
        return f"[{sheet}.{first}{''.join(f':.{corner}' for corner in last)}]"
    if kind == "function":
        plain = re.sub(r"(?:_xlfn\.|_xlws\.)+", "", piece, flags=re.IGNORECASE)
        return f"COM.MICROSOFT.{plain.upper()}" if plain.upper() in FUNCTIONS["microsoft"] else plain
    if kind == "name":
        return f"{piece.upper()}()" if piece.upper() in ("TRUE", "FALSE") else piece
    if piece == ",":
        return ";"
    return "|" if piece == ";" and in_braces else piece


def from_openformula(formula: str) -> str | None:
    """Convert a formula from OpenDocument to xlsx, or return None for other languages and external references.

    >>> from_openformula("of:=SUM([.A1:.B2];[$'My data'.C3])")
    "SUM(A1:B2,'My data'!C3)"
    """
    prefix, equals, rest = formula.partition("=")
    if not equals or prefix not in ("of:", "oooc:", "msoxl:", ""):
        return None
    if prefix == "msoxl:":
        return rest
    text, braces = "", 0
    for match in _OPEN_TOKEN.finditer(rest):
        kind, piece = match.lastgroup or "other", match.group()
        braces += (piece == "{") - (piece == "}")
        converted: str | None = piece
        if kind == "outside":
            return None
        if kind == "reference":
            converted = _reference(piece)
        elif kind == "name":
            plain = re.sub(r"^COM\.MICROSOFT\.", "", piece, flags=re.IGNORECASE).upper()
            converted = f"_xlfn.{plain}" if plain in FUNCTIONS["prefixed"] else piece
        elif piece == "|" and braces > 0:
            converted = ";"
        elif piece in (";", "~"):
            converted = ","
        if converted is None:
            return None
        text += converted
    return text


def _reference(piece: str) -> str | None:
    corners = [_OPEN_CORNER.fullmatch(corner) for corner in re.findall(r"(?:'(?:[^']|'')*+'|[^':])++", piece[1:-1])]
    matched = [corner for corner in corners if corner]
    if len(matched) != len(corners) or not matched:
        return "#REF!" if "#REF!" in piece else None
    if any("#" in corner["cell"] for corner in matched):
        return "#REF!"
    sheet = matched[0]["sheet"].lstrip("$")
    return (f"{sheet}!" if sheet else "") + ":".join(corner["cell"] for corner in matched)


Position: TypeAlias = tuple[str, int, int]  # the name of a sheet, a row and a column

# Matches a date of which the year is not a number after 1900, the year in which Excel has a day too many.
_EARLY_DATE = re.compile(r"\bDATE\s*\((?!\s*(?:190[1-9]|19[1-9]\d|2\d{3})\s*,)", re.IGNORECASE)
_MAX_DEPTH = 64  # the number of levels of parentheses in formulas of Excel
_MAX_SECONDS = 15
_MAX_GRID_CELLS = 20_000_000  # also empty ones, for which the engine uses memory
# The error values by the name of the engine's error. Other programs do not give all other errors of the engine.
_ERROR_CODES = {"Null": "#NULL!", "Div": "#DIV/0!", "Ref": "#REF!", "Num": "#NUM!", "Na": "#N/A", "NA": "#N/A"}


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
    cells: dict[Position, Cell] = {}
    for sheet in workbook.sheets:
        cells |= {(sheet.name, row, column): cell for row, column, cell in sheet.cells() if _needs_value(cell)}
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
    rows = {row: dict(cells) for row, cells in sheet.rows.items()}
    for row, column, cell in sheet.cells():
        if _needs_value(cell):
            rows[row][column] = cell._replace(value=values[sheet.name, row, column])
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
    results = {key: engine.get_value(key[0], key[1] + 1, key[2] + 1) for key in cells}
    return {key: _value(results[key], cell) for key, cell in cells.items()}


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
