"""Formats the values of cells as texts with their number formats, and parses the texts of cells.

Sheet names that a spreadsheet program does not accept are replaced.
"""

from __future__ import annotations

import calendar
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from math import floor, isfinite, log10

from ..job import Job
from . import format_code
from .formulas import rename_sheets
from .model import Cell, CellStyle, ErrorValue, Rows, Sheet, Value, Workbook

_DAY_OF_TIMES = datetime(1899, 12, 31)  # noqa: DTZ001  spreadsheets have no time zones
_DAY_PARTS = {"h": 24, "m": 1440, "s": 86_400}
_CONDITIONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "<>": operator.ne,
}  # fmt: skip
_EXACT = Context(prec=1200, rounding=ROUND_HALF_UP)  # holds the largest float with all decimals of a format


def format_cell(cell: Cell, job: Job | None = None) -> str:
    """Return the text that a spreadsheet program displays for a cell. With a job, an error becomes a note.

    >>> format_cell(Cell(1234.5, CellStyle("#,##0.00"))), format_cell(Cell(True))
    ('1,234.50', 'TRUE')
    >>> format_cell(Cell(date(2024, 1, 2), CellStyle("d mmm yyyy")))
    '2 Jan 2024'
    """
    value = cell.display_value
    with job.leaving_out("The format of a cell") if job else nullcontext():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return _format_number(value, cell.style.format)
        if isinstance(value, (date, time, timedelta)):
            return _format_moment(value, cell.style)
        if isinstance(value, str):
            return _format_text(clean(value), cell.style.format)
    return to_text(value)


def to_text(value: Value) -> str:
    """Convert a value to machine-readable text, with ISO 8601 dates and all digits of numbers. None becomes "".

    >>> to_text(0.1), to_text(1e21), to_text(date(2024, 1, 2)), to_text(timedelta(hours=30)), to_text(False)
    ('0.1', '1e+21', '2024-01-02', '30:00:00', 'FALSE')
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        minutes, rest = divmod(abs(value), timedelta(minutes=1))
        sign, seconds = "-" if value < timedelta() else "", str(rest)[5:]
        return f"{sign}{minutes // 60:02d}:{minutes % 60:02d}:{seconds}"
    return value.code if isinstance(value, ErrorValue) else "" if value is None else str(value)


def _format_text(text: str, format: str) -> str:
    """Apply the section for text, which contains the sign "@"."""
    section = next((parts for parts in format_code.sections(format) if any(part.kind == "at" for part in parts)), None)
    if section is None or not text:
        return text
    return "".join(text if part.kind == "at" else part.literal for part in section)


def _format_number(value: float, format: str) -> str:
    if not format or format_code.value_kind(format) != "number":
        return format_general(value)
    section, shows_sign = _section(value, format_code.sections(format))
    text = "".join(_number_parts(abs(value), section))
    return f"-{text}" if shows_sign and value < 0 and re.search("[1-9]", text) else text


def _section(value: float, all_sections: tuple[format_code.Section, ...]) -> tuple[format_code.Section, bool]:
    """Return the section for a number, and whether a negative number has a minus sign, which is not in its own section.

    Sections can have conditions, such as "[>=1000]". The section after them is for other numbers.
    """
    conditions = [[part.text[1:-1] for part in section if part.kind == "condition"] for section in all_sections]
    if not any(conditions):
        index = 1 if value < 0 else 2 if value == 0 else 0
        return all_sections[index if index < len(all_sections) else 0], index != 1 or len(all_sections) == 1
    for section, texts in zip(all_sections, conditions, strict=True):
        sign = texts[0].rstrip("-.0123456789") if texts else ""
        if not texts or _CONDITIONS[sign](value, float(texts[0].removeprefix(sign))):
            return section, True
    return all_sections[-1], True


def _number_parts(value: float, section: format_code.Section) -> Iterator[str]:
    number = Decimal(value) if isinstance(value, int) else Decimal(f"{value:.15g}")
    number = number.scaleb(2 * sum(part.kind == "percent" for part in section), _EXACT)
    patterns = [part.text for part in section if part.kind in ("number", "fraction")]
    ratio = next((part.text for part in section if part.kind == "ratio"), "")
    ratio_text = ""
    if ratio:
        number, ratio_text = _split_ratio(number, ratio, has_whole=bool(patterns))
    digits = iter(_digits(number, patterns))
    for part in section:
        if part.kind in ("number", "fraction"):
            yield next(digits)
        elif part.kind == "ratio":
            yield ratio_text
        else:
            yield format_general(value) if part.kind in ("general", "at") else part.literal


def _split_ratio(number: Decimal, pattern: str, *, has_whole: bool) -> tuple[Decimal, str]:
    """Return the whole part of a number, and the rest as a fraction, such as "1/4" for the pattern "?/?"."""
    below = pattern.partition("/")[2].strip()
    whole = int(number) if has_whole else 0
    rest = Fraction(number) - whole
    if below.isdecimal() and int(below):
        denominator = int(below)
        numerator = floor(rest * denominator + Fraction(1, 2))
    else:
        numerator, denominator = rest.limit_denominator(10 ** min(len(below), 9) - 1).as_integer_ratio()
    if has_whole and numerator == denominator:
        whole, numerator = whole + 1, 0
    return Decimal(whole), f"{numerator}/{denominator}" if numerator or not has_whole else ""


def _digits(number: Decimal, patterns: list[str]) -> list[str]:
    """Return the digits for each of the patterns, which share the digits of the number ("000-00-0000")."""
    if len(patterns) < 2:
        return [_format_digits(number, format_code.DigitPattern.of(pattern)) for pattern in patterns]
    before, point, after = _format_digits(number, format_code.DigitPattern.of("".join(patterns))).partition(".")
    last = next((index for index, pattern in enumerate(patterns) if "." in pattern), len(patterns) - 1)
    texts = [""] * len(patterns)
    texts[last] = point + after
    for index in range(last, 0, -1):
        cut = max(len(before) - len(format_code.DigitPattern.of(patterns[index]).whole), 0)
        before, texts[index] = before[:cut], before[cut:] + texts[index]
    return [before + texts[0], *texts[1:]]


def _format_digits(number: Decimal, pattern: format_code.DigitPattern) -> str:
    if pattern.exponent:
        return _format_scientific(number, pattern)
    unit = Decimal(1).scaleb(-len(pattern.decimals))
    rounded = number.scaleb(-3 * pattern.thousands, _EXACT).quantize(unit, context=_EXACT)
    before, _, after = f"{rounded:{',' if pattern.is_grouped else ''}f}".partition(".")
    after = after[: pattern.min_decimals] + after[pattern.min_decimals :].rstrip("0")
    minimum = pattern.whole.count("0")
    before = before.rjust(minimum, "0") if before != "0" or minimum else ""
    return f"{before}.{after}" if after else before


def _format_scientific(number: Decimal, pattern: format_code.DigitPattern) -> str:
    step = max(len(pattern.whole), 1)
    exponent = number.adjusted() // step * step if number else 0
    fixed = pattern._replace(exponent="")
    mantissa = _format_digits(number.scaleb(-exponent, _EXACT), fixed)
    if len(mantissa.partition(".")[0]) > step:  # rounding has added a digit
        exponent += step
        mantissa = _format_digits(number.scaleb(-exponent, _EXACT), fixed)
    sign = "-" if exponent < 0 else "+" if pattern.exponent.startswith("+") else ""
    return f"{mantissa}E{sign}{str(abs(exponent)).rjust(len(pattern.exponent) - 1, '0')}"


def format_general(value: float) -> str:
    """Format a number as the General number format does, which rounds decimals and shortens very large numbers.

    >>> format_general(0.1 + 0.2), format_general(1e20), format_general(5.0), format_general(-3)
    ('0.3', '1E+20', '5', '-3')
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if isinstance(value, int) and abs(value) < 10**15:
        return str(value)
    size = floor(log10(abs(value)))
    if -5 <= size < 15:
        return f"{value:.12g}" if size < 11 else f"{value:.15g}"
    return f"{value:.6g}".upper()


def _format_moment(value: date | time | timedelta, style: CellStyle) -> str:
    format = format_code.DEFAULTS[type(value)] if format_code.value_kind(style.format) == "number" else style.format
    moment, number = _as_moment(value), format_code.to_serial(value)
    if moment is None:
        return to_text(value)
    parts = format_code.sections(format)[0]
    hours = 12 if any(part.kind == "noon" for part in parts) else 24
    return "".join(_moment_part(part, moment, number or 0, hours) for part in parts)


def _as_moment(value: date | time | timedelta) -> datetime | None:
    if isinstance(value, datetime):
        return value
    if isinstance(value, timedelta):
        return _DAY_OF_TIMES + value % timedelta(days=1) if value >= timedelta() else None
    if isinstance(value, time):
        return datetime.combine(_DAY_OF_TIMES, value)
    return datetime(value.year, value.month, value.day)  # noqa: DTZ001  spreadsheets have no time zones


def _moment_part(part: format_code.FormatPart, moment: datetime, serial: float, hours: int) -> str:
    kind, size = part.kind, len(part.text)
    if kind == "elapsed":
        return str(floor(round(serial * _DAY_PARTS[part.text[0]], 6))).rjust(size, "0")
    if kind == "noon":
        return ("AM" if moment.hour < 12 else "PM")[: 1 if size == 3 else 2]
    if kind == "fraction":
        return f".{moment.microsecond:06d}"[:size]
    if kind == "year":
        return f"{moment.year % 100:02d}" if size < 3 else f"{moment.year:04d}"
    if kind in ("month", "day") and size > 2:
        name = calendar.month_name[moment.month] if kind == "month" else calendar.day_name[moment.weekday()]
        return name[: {3: 3, 5: 1}.get(size)] if kind == "month" or size == 3 else name
    if kind == "hour" and hours == 12:
        return str((moment.hour - 1) % 12 + 1).rjust(min(size, 2), "0")
    if kind in ("month", "day", "hour", "minute", "second"):
        return str(getattr(moment, kind)).rjust(min(size, 2), "0")
    return part.literal


_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_EXACT_INTEGERS = 2**53


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
    return int(parsed) if parsed.is_integer() and abs(parsed) < _EXACT_INTEGERS else parsed


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
_MOMENTS = {
    date: CellStyle(format_code.DATE),
    datetime: CellStyle(format_code.DATETIME),
    time: CellStyle(format_code.TIME),
}
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
    named = list(zip(sheet_list, _names([sheet.name for sheet in sheet_list]), strict=True))
    changes = {sheet.name: name for sheet, name in named if sheet.name != name}
    renamed = (replace(sheet, name=name, rows=_rename_in_formulas(sheet.rows, changes)) for sheet, name in named)
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

    def renamed(cell: Cell) -> Cell:
        return cell._replace(formula=rename_sheets(cell.formula, new_names)) if cell.formula else cell

    return {row: {column: renamed(cell) for column, cell in cells.items()} for row, cells in rows.items()}
