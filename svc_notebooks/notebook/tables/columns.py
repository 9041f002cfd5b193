"""Decides how the values of a DataFrame are written in each format (docs/recipes.md has the same table).

A value is kept, is written as a text that has all of it, or is refused with what to do instead. Parquet has the types
of pandas, and is not in the table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

from ...convert.spreadsheet.values import clean

if TYPE_CHECKING:
    from pandas import DataFrame, Series

Rule: TypeAlias = Callable[[Any], Any] | None
"""Returns what is written for a value, or raises ValueError. None writes the value itself."""

MAX_TEXT = 32_766
"""The maximum number of UTF-16 units of a text in a cell of Excel."""

_EXACT_IN_EXCEL = 10**15
"""The smallest whole number that Excel, which keeps 15 digits, may show with other digits."""

_FIRST_YEAR = 1900
"""The year of the first date in Excel."""


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


def with_columns(frame: DataFrame, changed: Mapping[int, Any]) -> DataFrame:
    """Return the DataFrame with other columns at some positions. `isetitem` would need quadratic time for all."""
    import pandas as pd

    columns = {position: changed.get(position, column) for position, (_, column) in enumerate(frame.items())}
    table = pd.DataFrame(columns, index=frame.index) if changed else frame.copy(deep=False)
    table.columns, table.attrs = frame.columns, frame.attrs
    return table


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


def listed(items: Iterable[object]) -> str:
    """Return at most five items for a message."""
    texts = list(map(str, items))
    return ", ".join(texts[:5]) + (f" and {len(texts) - 5} more" if len(texts) > 5 else "")
