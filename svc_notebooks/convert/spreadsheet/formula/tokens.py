"""Splits formulas into tokens, removes unsafe formulas, and changes references and names in formulas.

The formulas are in the notation of xlsx ("SUM(A1:B2)*'My data'!C3"), with the prefix `_xlfn.` before newer functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...job import Job
from ..model import ErrorValue, Value
from . import address

MAX_LENGTH = 8192
"""The maximum length of a formula in spreadsheet programs, in characters."""

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


def name_set(text: str) -> frozenset[str]:
    """Split a text at white space, and return the set of words."""
    return frozenset(text.split())


_UNSAFE_FUNCTIONS = name_set(
    """
    WEBSERVICE FILTERXML RTD DDE CALL REGISTER REGISTER.ID EXEC EXECUTE RUN EVALUATE FOPEN FWRITE FWRITELN INITIATE POKE
    REQUEST TERMINATE SEND.KEYS SQL.REQUEST ECHO HALT ERROR DIRECTORY FILES DOCUMENTS PY STOCKHISTORY IMAGE IMPORTXML
    IMPORTHTML IMPORTDATA IMPORTFEED IMPORTRANGE GOOGLEFINANCE GOOGLETRANSLATE AI GEMINI COPILOT CUBEVALUE CUBESET
    CUBEMEMBER CUBEKPIMEMBER CUBERANKEDMEMBER CUBEMEMBERPROPERTY CUBESETCOUNT
    """
)
"""Functions that fetch, send or run something in any spreadsheet program."""

_UNSAFE_SIGNS = frozenset("|['\"")
"""Tokens that make a formula unsafe, since | calls a program (DDE), [ refers to a file, and quotes are unclosed."""

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
        return plain not in _UNSAFE_FUNCTIONS and not plain.startswith(("_XLL.", "GET.", "SET."))
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
    column = address.column_number(letters) + (0 if fixed else columns) if letters else 0
    row = int(digits) - 1 + (0 if row_fixed else rows) if digits else 0
    if not (0 <= column < address.MAX_COLUMNS and 0 <= row < address.MAX_ROWS):
        return None
    return f"{fixed}{address.column_letters(column) if letters else ''}{row_fixed}{row + 1 if digits else ''}"


def expand_names(formula: str, names: Mapping[str, str]) -> str:
    """Replace each defined name in a formula by its definition in parentheses. The keys of `names` are in upper case.

    >>> expand_names("price*Rate", {"RATE": "Data!$B$1"})
    'price*(Data!$B$1)'
    """
    if not names:
        return formula
    texts = (
        f"({names[t.text.upper()]})" if t.kind == "name" and t.text.upper() in names else t.text
        for t in tokens(formula)
    )
    return "".join(texts)


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
