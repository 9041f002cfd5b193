"""Writes a DataFrame as the bytes of a file (CSV, TSV, JSON, JSON Lines, Parquet or Excel).

What a reader would not return is refused, or a warning names it. Numbers, booleans and dates are kept by construction.
Texts that look like other values and columns of several types are read again and compared before anything is sent.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ...convert.spreadsheet.cell_texts import clean
from ...core.errors.errors import warn_caller
from ..display import listed
from .formats import TableFormat, check_module, with_columns
from .read_table import SAMPLE_SIZE, csv_options, plain_lists, read_delimited, read_parquet

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from ...convert.spreadsheet.model import Sheet


# Returns what is written for a value, or raises ValueError. None writes the value itself.
Rule: TypeAlias = Callable[[Any], Any] | None

# The maximum number of UTF-16 units of a text in a cell of Excel.
MAX_TEXT = 32_766

_EXACT_IN_EXCEL = 10**15  # the smallest whole number that Excel, which keeps 15 digits, may show with other digits

_FIRST_YEAR = 1900  # the year of the first date in Excel


def kinds_of(column: Series[Any]) -> frozenset[str]:
    """Return the kinds of values (the rows of RULES) that a column has, without missing values."""
    import pandas as pd

    if kind := _KINDS_OF_DTYPES.get(column.dtype.kind):
        return frozenset({kind})
    if isinstance(column.dtype, pd.StringDtype):
        return frozenset({"text"})
    present = column.dropna()
    return frozenset(map(_kind_of, set(map(type, present.astype(object)))))


_KINDS_OF_DTYPES = {"b": "boolean", "i": "integer", "u": "integer", "f": "float", "M": "datetime", "m": "timedelta"}


def _kind_of(value_type: type) -> str:
    classes = {name: kind for kind, row in RULES.items() for name in row[0].split()}
    return next((classes[base.__name__] for base in value_type.__mro__ if base.__name__ in classes), "other")


def values_of(column: Series[Any]) -> list[Any]:
    """Return the values of a column, with None for each missing value."""
    missing = column.isna()
    values: list[Any] = column.astype(object).tolist()
    return [None if m else v for v, m in zip(values, missing, strict=True)] if missing.any() else values


def apply_rules(frame: DataFrame, format_name: str) -> DataFrame:
    """Return the DataFrame with the values that are written in a format. Raises ValueError, which names the column."""
    import pandas as pd

    changed: dict[int, Any] = {}
    for position, name in enumerate(frame.columns):
        column = frame.iloc[:, position]
        rules: dict[str, Any] = {kind: RULES[kind][_POSITIONS[format_name]] for kind in kinds_of(column)}
        if any(rules.values()):
            try:
                values = _written(values_of(column), rules)
            except ValueError as error:
                raise ValueError(f"column {name!r} {error}") from error
            changed[position] = pd.Series(values, index=frame.index, dtype=object)  # an array would have dates
    return with_columns(frame, changed)


def _written(values: list[Any], rules: Mapping[str, Rule]) -> list[Any]:
    of_types = {value_type: rules.get(_kind_of(value_type)) for value_type in set(map(type, values))}
    written = [value if (rule := of_types[type(value)]) is None else rule(value) for value in values]
    if rules.keys() in ({"integer"}, {"decimal"}) and any(isinstance(value, str) for value in written):
        return [None if value is None else str(value) for value in values]  # a column of numbers or of texts
    return written


def _refuse(value: object) -> None:
    raise ValueError(f"has {type(value).__name__} values; convert them to texts or numbers (.parquet has bytes)")


def _finite(value: float) -> float:
    if not isfinite(value):
        raise ValueError("has infinite numbers; replace them, or name the file .parquet")
    return float(value)


def _iso(value: Any) -> str:
    return str(value.isoformat())


def _duration(value: timedelta) -> str:
    import pandas as pd

    return str(pd.Timedelta(value))


def _plain(value: Any) -> Any:
    """Return a list or dict as JSON stores it. Raises ValueError if JSON would change a value in it."""
    plain = list(value) if isinstance(value, tuple) else value.tolist() if hasattr(value, "tolist") else value
    try:
        if json.loads(json.dumps(plain, allow_nan=False)) == plain:
            return plain
    except (TypeError, ValueError):
        pass
    raise ValueError(f"has {str(value)[:60]!r}, which JSON would change; use texts, finite numbers and lists in it")


def _json(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False)


def _excel_json(value: Any) -> str:
    return excel_text(_json(value))


def _excel_integer(value: int) -> int | str:
    return int(value) if abs(value) <= _EXACT_IN_EXCEL else str(value)


def _excel_decimal(value: Decimal) -> float | str:
    number = float(value)
    is_exact = value.is_finite() and Decimal(repr(number)) == value and len(value.normalize().as_tuple().digits) <= 15
    return number if is_exact else str(value)


def excel_text(value: str) -> str:
    if clean(value) != value:
        raise ValueError(f"has {value[:60]!r} with a character that Excel does not have; name the file .parquet")
    if len(value.encode("utf-16-le")) > 2 * MAX_TEXT:
        raise ValueError(f"has a text of more than {MAX_TEXT} characters")
    return value


def _excel_time(value: date | time) -> Any:
    """Return a date, time or clock time without its zone, or a text for a date before 1900."""
    import pandas as pd

    if isinstance(value, date) and value.year < _FIRST_YEAR:
        return value.isoformat()
    if isinstance(value, pd.Timestamp):
        value = value.to_pydatetime(warn=False)
    return value.replace(tzinfo=None) if isinstance(value, datetime | time) else value


def _excel_duration(value: timedelta) -> timedelta:
    return timedelta(microseconds=value // timedelta(microseconds=1))


_POSITIONS = {"csv": 1, "tsv": 1, "json": 2, "jsonl": 2, "xlsx": 3}

# fmt: off
RULES: Mapping[str, tuple[str, Rule, Rule, Rule]] = {
    #            classes                      CSV, TSV     JSON         Excel, native spreadsheet
    "boolean":   ("bool bool_",               None,        bool,        bool),
    "integer":   ("int integer",              None,        int,         _excel_integer),
    "float":     ("float floating",           None,        _finite,     _finite),
    "text":      ("str",                      None,        None,        excel_text),
    "datetime":  ("datetime",                 None,        _iso,        _excel_time),
    "date":      ("date",                     _iso,        _iso,        _excel_time),
    "time":      ("time",                     _iso,        _iso,        _excel_time),
    "timedelta": ("timedelta",                _duration,   _duration,   _excel_duration),
    "decimal":   ("Decimal",                  str,         str,         _excel_decimal),
    "list":      ("list tuple ndarray",       _json,       _plain,      _excel_json),
    "dict":      ("dict",                     _json,       _plain,      _excel_json),
    "period":    ("Period Interval",          str,         str,         str),
    "bytes":     ("bytes bytearray",          _refuse,     _refuse,     _refuse),
    "other":     ("",                         _refuse,     _refuse,     _refuse),
}
# fmt: on


def lost_in_excel(frame: DataFrame) -> list[str]:
    """Return a description of what a cell of Excel cannot hold, for each column with such values."""
    lost = []
    for position, name in enumerate(frame.columns):
        values = values_of(frame.iloc[:, position])
        losses = [loss for loss, is_lost in _LOSSES.items() if any(map(is_lost, values))]
        lost += [f"column {name!r} without {' and '.join(losses)}"] if losses else []
    return lost


def _is_finer(value: object) -> bool:
    microsecond = getattr(value, "microsecond", getattr(value, "microseconds", 0))
    return bool(microsecond % 1000 or getattr(value, "nanosecond", getattr(value, "nanoseconds", 0)))


_LOSSES: Mapping[str, Callable[[Any], bool]] = {
    "the time zone": lambda value: getattr(value, "tzinfo", None) is not None,
    "what is shorter than a millisecond": _is_finer,
    "empty texts, which are missing values": lambda value: isinstance(value, str) and not value,
}


# The kinds of values that an object column of a Parquet file has if its values are of one kind.
_SINGLE = frozenset(map(frozenset, ([], ["boolean"], ["float"], ["text"], ["date"], ["time"], ["decimal"], ["bytes"])))

# The texts that `pandas.read_csv` reads as missing values.
_MISSING = frozenset(
    ("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
     "NULL", "NaN", "None", "n/a", "nan", "null")
)  # fmt: skip

# Matches each text that `pandas.read_csv` may read as a number or a boolean, if all texts of its column match.
_NOT_A_TEXT = re.compile(r"\s*(?:[+-]?(?:[0-9.]+(?:e[+-]?[0-9]*)?|inf(?:inity)?|nan)|true|false)?\s*", re.IGNORECASE)


_NO_CHARACTERS = re.compile("[\0\ud800-\udfff]")
_BLANK_LINE = re.compile(rb"\n[ \t]+\n")


def write_table(
    table: DataFrame | Mapping[str, DataFrame], table_format: TableFormat, *, compressed: bool = False
) -> bytes:
    """Return the bytes of a file with the rows of a DataFrame, and with its index if that is more than row numbers.

    A dict of DataFrames becomes a workbook of these sheets. One UserWarning names the columns whose values
    `read_frame` would not return. Raises ImportError if a package is missing, and ValueError, which names the column,
    if the format cannot hold the DataFrame.
    """
    if table_format.writer is None:
        raise ValueError(f"a DataFrame is not written as {table_format.title}; name the file .xlsx, .parquet or .csv")
    check_module(table_format, table_format.writer, "written")
    try:
        if table_format.name == "xlsx":
            content, notes = _write_sheets(table if isinstance(table, Mapping) else {"Sheet1": table})
        elif isinstance(table, Mapping):
            raise ValueError("a dict of DataFrames has several sheets; name the file .xlsx")
        elif table_format.name == "parquet":
            content, notes = _write_parquet(table)
        else:
            content, notes = _write_rows(table_format.name, table)
    except (ValueError, TypeError, NotImplementedError, OverflowError) as error:
        problem = str(error) if isinstance(error, UnicodeError) else "; ".join(map(str, error.args))
        raise ValueError(f"the DataFrame cannot be written as {table_format.title}: {problem}") from error
    if notes:
        warn_caller(" ".join(notes))
    return gzip.compress(content, mtime=0) if compressed else content


def with_index(frame: DataFrame) -> tuple[DataFrame, list[str]]:
    """Return the DataFrame with its index as the first columns, or without its index if that has only row numbers.

    A sentence says that row numbers were left out if they do not count from 0, such as after a filter.
    """
    import pandas as pd

    index = frame.index
    are_default = isinstance(index, pd.RangeIndex) or index.empty
    are_numbers = index.nlevels == 1 and pd.api.types.is_integer_dtype(index.dtype)
    if any(name is not None for name in index.names) or not (are_default or are_numbers):
        return frame.reset_index(), []
    return frame, [] if are_default else [_ROW_NUMBERS]


_ROW_NUMBERS = (
    "The index of the DataFrame (numbers without a name) is not sent. "
    "frame.reset_index() keeps it as a column, frame.reset_index(drop=True) removes it."
)


def _write_rows(format_name: str, frame: DataFrame) -> tuple[Any, list[str]]:
    """Return the bytes of a file, or of a workbook the sheet, and notes about what readers do not get back."""
    if frame.columns.nlevels > 1:
        raise ValueError("its columns have several levels; join them: frame.columns = frame.columns.map('_'.join)")
    if not frame.shape[1] and (len(frame) or format_name in ("csv", "tsv")):
        raise ValueError("it has no columns")
    frame, notes = with_index(frame)
    is_workbook = format_name == "xlsx"
    columns: list[Any] = frame.columns.tolist()
    columns = [name if is_workbook and type(name) is int else str(name) for name in columns]
    frame = frame.set_axis(columns, axis="columns")
    if not frame.columns.is_unique or "" in columns or any("\ufeff" in str(name) for name in columns):
        notes.append(f"read_frame returns other names than {listed(map(repr, columns))}: each needs a name of its own.")
    if is_workbook and (lost := lost_in_excel(frame)):
        notes.append(f"Excel stores {listed(lost)}; a .parquet file keeps all.")
    content, other = _WRITERS[format_name](apply_rules(frame, format_name))
    return content, notes + other


def _write_csv(frame: DataFrame, delimiter: str = ",") -> tuple[bytes, list[str]]:
    content = _delimited(frame, delimiter)
    unsure = [position for position in range(frame.shape[1]) if _may_change(frame.iloc[:, position])]
    read = partial(read_delimited, head=b"", options={"sep": delimiter})
    changes = _changes(frame.iloc[:, unsure], lambda part: read(io.BytesIO(_delimited(part, delimiter))))
    if not changes:
        return content, []
    dtype = dict.fromkeys([*changes][:5], "str")
    how = f"With dtype={dtype} and keep_default_na=False it returns the texts; a .parquet file keeps the types."
    return content, [f"read_frame returns other values for {listed(changes.values())}. {how}"]


def _delimited(frame: DataFrame, delimiter: str) -> bytes:
    """Return CSV. All texts are quoted if without quotes a reader would take a part of one for a delimiter or a line.

    Python before 3.13 does not quote a text because of a carriage return, and readers skip a line of blanks.
    """
    write: Any = partial(frame.to_csv, index=False, sep=delimiter, lineterminator="\n")
    content = _encoded(write(), frame)
    if b"\r" in content or content[:1].isspace() or _BLANK_LINE.search(content) or not _is_detected(content, delimiter):
        content = _encoded(write(quoting=csv.QUOTE_NONNUMERIC), frame)
        if not _is_detected(content, delimiter):
            raise ValueError(f"its first column has the name {frame.columns[0]!r}, which means a delimiter")
    return content


def _is_detected(content: bytes, delimiter: str) -> bool:
    head = content[:SAMPLE_SIZE]
    plain = {"sep": ",", "decimal": ".", "skipinitialspace": False, "skiprows": 0}
    return not head.startswith(BOM_UTF8) and (delimiter == "\t" or csv_options(head, "utf-8") == plain)


def _encoded(text: str, frame: DataFrame) -> bytes:
    """Return a text in UTF-8. Raises ValueError, which names the column, for NUL and for half of a surrogate pair."""
    with suppress(UnicodeEncodeError):
        content = text.encode()
        if b"\0" not in content:
            return content
    cells = ((name, str(cell)) for n, name in enumerate(frame.columns) for cell in (name, *frame.iloc[:, n]))
    name, cell = next((pair for pair in cells if _NO_CHARACTERS.search(pair[1])), ("of lists", ""))
    raise ValueError(f"column {name!r} has the text {cell[:60]!r}: NUL and surrogates not allowed")


def _may_change(column: Series[Any]) -> bool:
    """Return True if a reader of CSV may return other values than those of a column."""
    if column.dtype.kind == "M" and column.min().year < 1000:  # pandas 2 writes the year 99 with two digits
        return True
    kinds = kinds_of(column)
    if kinds != {"text"}:
        return len(kinds) > 1 or (kinds == {"integer"} and column.dtype.kind in "Ou")
    present = column.dropna()
    return bool(present.isin(_MISSING).any()) or all(map(_NOT_A_TEXT.fullmatch, present))


def _changes(frame: DataFrame, read_back: Callable[[DataFrame], DataFrame]) -> dict[str, str]:
    """Return a description of the first other value that is read, for each column with other values."""
    changes = {}
    table = read_back(frame) if frame.shape[1] else frame
    for n, name in enumerate(frame.columns):
        pairs = zip(values_of(frame.iloc[:, n]), values_of(table.iloc[:, n]), strict=True)
        if other := next((pair for pair in pairs if not _is_same(plain_lists(pair[0]), pair[1])), None):
            changes[name] = f"column {name!r} ({other[0]!r:.50} as {other[1]!r:.50})"
    return changes


def _is_same(value: Any, read: Any) -> bool:
    """Compare values of the same kind. 1 and 1.0 are equal, and all missing values are equal."""
    if isinstance(value, list) and isinstance(read, list):
        return len(value) == len(read) and all(map(_is_same, value, read))
    if isinstance(value, dict) and isinstance(read, dict):
        return value.keys() == read.keys() and all(_is_same(value[key], read[key]) for key in value)
    if value is None or read is None or value != value or read != read:
        return (value is None or value != value) and (read is None or read != read)
    return isinstance(value, bool) == isinstance(read, bool) and bool(value == read)


def _write_json(frame: DataFrame, *, lines: bool = False) -> tuple[bytes, list[str]]:
    if not frame.columns.is_unique:
        raise ValueError(f"names of columns must be unique, and are {listed(map(repr, frame.columns))}")
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    columns = [values_of(frame.iloc[:, position]) for position in range(frame.shape[1])]
    keys = frame.columns.tolist()
    records = [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)] or [{}] * len(frame)
    if lines:
        notes = [] if records or not columns else ["JSON Lines without rows have no names of columns."]
        return _encoded("".join(f"{encode(record)}\n" for record in records), frame), notes
    return _encoded(encode(records or {key: [] for key in keys} or []), frame), []


def _write_parquet(frame: DataFrame) -> tuple[bytes, list[str]]:
    import pandas as pd

    notes = []
    if len(frame) and not frame.shape[1]:
        raise ValueError("it has no columns")
    if frame.columns.nlevels == 1 and set(map(type, frame.columns)) not in (set(), {str}, {int}, {pd.Timestamp}):
        frame = frame.set_axis(list(map(str, frame.columns)), axis="columns")
        notes.append("Names of columns that are not texts become texts.")
    content = frame.to_parquet(engine="pyarrow")
    objects = [n for n, dtype in enumerate(frame.dtypes) if dtype.kind == "O"]
    unsure = frame.iloc[:, [n for n in objects if kinds_of(frame.iloc[:, n]) not in _SINGLE]]
    changes = _changes(unsure, lambda part: read_parquet(io.BytesIO(part.to_parquet(engine="pyarrow"))))
    if changes:
        raise ValueError(f"{listed(changes.values())}; frame.convert_dtypes() may help, or name the file .json")
    return content, notes


def _write_sheets(frames: Mapping[str, DataFrame]) -> tuple[bytes, list[str]]:
    from ...convert.job import Job
    from ...convert.spreadsheet.model import Workbook
    from ...convert.spreadsheet.xlsx.write import write

    sheets, notes = list["Sheet"](), list[str]()
    for name, frame in frames.items():
        is_name = isinstance(name, str) and _SHEET_NAME.fullmatch(name) and len(name.encode("utf-16-le")) <= 62
        if not is_name or name.lower() in [other.name.lower() for other in sheets]:
            allowed = f"1 to 31 characters, without {_NOT_IN_NAMES}"
            raise ValueError(f"{name!r} cannot name a sheet; give each another name of {allowed}")
        sheet, own_notes = _write_rows("xlsx", frame)
        sheets.append(replace(sheet, name=name))
        notes += own_notes
    return write(Workbook(tuple(sheets)), Job("", Path())), notes


_NOT_IN_NAMES = "[]:*?/\\"
_SHEET_NAME = re.compile(r"(?!')[^\[\]:*?/\\\x00-\x1f\ud800-\udfff\ufffe\uffff]{1,31}(?<!')")


def _excel_sheet(frame: DataFrame) -> tuple[Sheet, list[str]]:
    from ...convert.spreadsheet.formulas import MAX_COLUMNS, MAX_ROWS
    from ...convert.spreadsheet.model import Cell, CellStyle, Sheet

    if len(frame) >= MAX_ROWS or frame.shape[1] > MAX_COLUMNS:
        raise ValueError(f"it is too large: a sheet has {MAX_ROWS} rows and {MAX_COLUMNS} columns")
    columns = [values_of(frame.iloc[:, position]) for position in range(frame.shape[1])]
    names = [excel_text(name) if isinstance(name, str) else name for name in frame.columns]
    rows = {0: {position: Cell(name, CellStyle(bold=True)) for position, name in enumerate(names)}}
    for number, row in enumerate(zip(*columns, strict=True), 1):
        if cells := {position: Cell(value) for position, value in enumerate(row) if value is not None}:
            rows[number] = cells
    rows.setdefault(len(frame), {0: Cell("")})  # an empty text, which readers count as a row
    return Sheet(rows=rows), []


_WRITERS: dict[str, Callable[[DataFrame], tuple[Any, list[str]]]] = {
    "csv": _write_csv,
    "tsv": partial(_write_csv, delimiter="\t"),
    "json": _write_json,
    "jsonl": partial(_write_json, lines=True),
    "xlsx": _excel_sheet,
}
