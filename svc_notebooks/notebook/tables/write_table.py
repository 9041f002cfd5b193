"""Writes a DataFrame as the bytes of a file (CSV, TSV, JSON, JSON Lines, Parquet or Excel)."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable
from datetime import date, datetime
from numbers import Integral
from typing import TYPE_CHECKING, Any

from ...core.errors.caller_warning import warn_caller
from .formats import TableFormat, check_writer

if TYPE_CHECKING:
    from pandas import DataFrame

_MAX_TEXT = 32_767
"""The maximum number of characters in a cell of Excel."""

_CREATED = datetime(1980, 1, 1)  # noqa: DTZ001 - a workbook has no time zone
"""The time of creation in every workbook, so that the same DataFrame gives the same bytes and an upload can resume."""

_FIRST_YEAR = 1900
"""The year of the first date in Excel."""

_EXACT_IN_EXCEL = 10**15
"""The smallest whole number that Excel, which keeps 15 digits, may show with other digits."""


def write_table(frame: DataFrame, table_format: TableFormat, *, compressed: bool = False) -> bytes:
    """Return the bytes of a file with the rows of a DataFrame, and with its index if that is more than row numbers.

    Raises ImportError if a package is missing, and ValueError if the format cannot hold the DataFrame.
    """
    check_writer(table_format)
    try:
        content = _WRITERS[table_format.name](frame)
    except (ValueError, TypeError, NotImplementedError, OverflowError) as error:
        problem = "; ".join(map(str, error.args))
        raise ValueError(f"the DataFrame cannot be written as {table_format.title}: {problem}") from error
    return gzip.compress(content, mtime=0) if compressed else content


def with_index(frame: DataFrame) -> DataFrame:
    """Return the DataFrame with its index as the first columns, or without its index if that has only row numbers.

    A UserWarning says that row numbers were left out if they do not count from 0, such as after a filter.
    """
    import pandas as pd

    index = frame.index
    if any(name is not None for name in index.names):
        return frame.reset_index()
    if isinstance(index, pd.RangeIndex) or index.empty:
        return frame
    if index.nlevels == 1 and pd.api.types.is_integer_dtype(index.dtype):
        warn_caller(_ROW_NUMBERS)
        return frame
    return frame.reset_index()


_ROW_NUMBERS = (
    "The index of the DataFrame (numbers without a name) is not sent. "
    "frame.reset_index() keeps it as a column, frame.reset_index(drop=True) removes it."
)


def _write_csv(frame: DataFrame) -> bytes:
    return _delimited_text(frame, ",")


def _write_tsv(frame: DataFrame) -> bytes:
    return _delimited_text(frame, "\t")


def _delimited_text(frame: DataFrame, delimiter: str) -> bytes:
    frame = with_index(frame)
    text = frame.to_csv(index=False, sep=delimiter, lineterminator="\n")
    if "\r" in text:  # Python before 3.13 does not quote a text because of \r, which readers take for a new line
        text = frame.to_csv(index=False, sep=delimiter, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    return text.encode()


def _write_json(frame: DataFrame, *, lines: bool = False) -> bytes:
    frame = with_index(frame)
    _check_columns(frame)
    if frame.select_dtypes("float").isin([float("inf"), float("-inf")]).any(axis=None):
        raise ValueError("JSON has no infinite numbers")
    text = frame.to_json(
        orient="records",
        lines=lines,
        date_format="iso",
        date_unit="ns" if any("[ns" in str(dtype) for dtype in frame.dtypes) else "us",
        double_precision=15,
        force_ascii=False,
    )
    return text.encode()


def _write_json_lines(frame: DataFrame) -> bytes:
    return _write_json(frame, lines=True)


def _write_parquet(frame: DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer, engine="pyarrow")
    return buffer.getvalue()


def _write_excel(frame: DataFrame) -> bytes:
    import pandas as pd

    frame = with_index(frame)
    _check_columns(frame)
    buffer = io.BytesIO()
    as_text: dict[str, Any] = {"options": {"strings_to_formulas": False, "strings_to_urls": False}}
    with pd.ExcelWriter(buffer, engine="xlsxwriter", engine_kwargs=as_text) as writer:
        writer.book.set_properties({"created": _CREATED})
        _for_excel(frame).to_excel(writer, index=False)
    return buffer.getvalue()


def _check_columns(frame: DataFrame) -> None:
    if frame.columns.nlevels > 1:
        raise ValueError("its columns have several levels; join them: frame.columns = frame.columns.map('_'.join)")


def _for_excel(frame: DataFrame) -> DataFrame:
    """Return the DataFrame with clock times without their zone, and as text what a cell of Excel cannot hold.

    A cell has no time zone, 15 digits and no date before 1900. Raises ValueError for a text that is too long.
    """
    import pandas as pd

    frame = frame.copy(deep=False)
    for position, dtype in enumerate(frame.dtypes):
        column = frame.iloc[:, position]
        if isinstance(dtype, pd.DatetimeTZDtype):
            column = column.dt.tz_localize(None)
            frame.isetitem(position, column.array)
        if pd.api.types.is_integer_dtype(dtype) and not column.between(-_EXACT_IN_EXCEL, _EXACT_IN_EXCEL).all():
            frame.isetitem(position, column.astype("str").array)
        elif not pd.api.types.is_numeric_dtype(dtype):
            if any(map(_is_too_long, column)):
                raise ValueError(f"column {frame.columns[position]!r} has a text of more than {_MAX_TEXT} characters")
            if any(map(_needs_text, column)):
                frame.isetitem(position, [str(value) if _needs_text(value) else value for value in column])
    return frame


def _needs_text(value: object) -> bool:
    """Return True for a whole number of 16 digits and more, and for a date before 1900."""
    if isinstance(value, date):  # a Timestamp, too
        return value.year < _FIRST_YEAR
    return isinstance(value, Integral) and abs(int(value)) > _EXACT_IN_EXCEL


def _is_too_long(value: object) -> bool:
    return isinstance(value, str) and len(value) > _MAX_TEXT


_WRITERS: dict[str, Callable[[DataFrame], bytes]] = {
    "csv": _write_csv,
    "tsv": _write_tsv,
    "json": _write_json,
    "jsonl": _write_json_lines,
    "parquet": _write_parquet,
    "xlsx": _write_excel,
}
