"""Reads CSV and TSV files: the character set, the delimiter, the digits of numbers, and rows with too many cells."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import defaultdict
from collections.abc import Mapping, Set
from contextlib import suppress
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

from ...convert.spreadsheet.delimited import Dialect, detect, split_declaration
from .formats import with_columns

if TYPE_CHECKING:
    from pandas import DataFrame, Series

SAMPLE_SIZE = 64 * 1024
"""The number of bytes at the start of a file from which the delimiter is detected."""

_FIRST_ROWS = 16 * 1024 * 1024
"""The number of bytes in which the header and the first row are expected."""

MAX_COLUMNS = 20_000
"""The number of columns that are read. pandas needs quadratic time or much memory for more of them."""

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_DELIMITERS = frozenset({"sep", "delimiter", "dialect"})
_OTHER_PARSERS = frozenset({"dialect", "engine", "skipfooter"})
"""Options with which pandas reads a file as it does, because its other parsers have not all options."""

_SYNTAX = frozenset(
    ("comment", "doublequote", "escapechar", "header", "index_col", "lineterminator", "names",
     "on_bad_lines", "quotechar", "quoting", "skiprows", "usecols")
)  # fmt: skip
"""Options that say how rows with more cells than the header are read."""

_LONG_ROWS = (
    "skiprows=1 omits a title; index_col=0 reads first cells without a heading; on_bad_lines='skip' omits rows."
)
_LEADING_ZERO = re.compile(r"0(?<![\w.:/]0)(?<!\w[+-]0)[0-9][0-9.]*(?![\w:/-])")  # a search for a fixed 0 is fast
_ZEROS = r"\s*[+-]?0[0-9]+(?:[.,][0-9]*)?\s*"
_WHOLE = r"\s*[+-]?[0-9]+\s*"


def encoding_of(head: bytes) -> str:
    """Return the encoding that the byte order mark names, else UTF-8.

    >>> encoding_of("é".encode("utf-16")), encoding_of(b"a,b")
    ('utf-16', 'utf-8-sig')
    """
    return "utf-16" if head.startswith(_UTF16_MARKS) else "utf-8-sig"


def csv_options(head: bytes, encoding: str) -> dict[str, Any]:
    """Return the options for a CSV file with these first bytes. Decimal commas are detected only beside semicolons.

    >>> csv_options(b"a;b\\n1,5;2\\n", "utf-8-sig")
    {'sep': ';', 'decimal': ',', 'skipinitialspace': False, 'skiprows': 0}
    """
    declared, text = split_declaration(head.decode(encoding, "ignore"))
    dialect = detect(text, delimiter=declared)
    return {
        "sep": dialect.delimiter,
        "decimal": "," if dialect.comma and dialect.delimiter == ";" else ".",
        "skipinitialspace": dialect.spaced,
        "skiprows": 1 if declared else 0,
    }


def read_delimited(file: IO[bytes], head: bytes, options: Mapping[str, Any]) -> Any:
    """Return what `pandas.read_csv` returns, with all digits of the numbers.

    Whole numbers beside a missing value are Int64, and a column is text if one of its numbers has a leading zero.
    Raises ValueError if a row has more cells than the header. One empty cell more is left out.
    """
    import pandas as pd

    options = {key: value for key, value in options.items() if key != "index_col" or value is not None}
    encoding = options.get("encoding") or encoding_of(head)
    detected = csv_options(head, encoding) if _DELIMITERS.isdisjoint(options) else {}
    arguments = {"encoding": encoding, **detected, **options}
    separator = arguments.get("sep", arguments.get("delimiter"))
    is_plain = _OTHER_PARSERS.isdisjoint(options) and isinstance(separator, str) and len(separator) == 1
    checks_rows = is_plain and _SYNTAX.isdisjoint(options)
    if is_plain:  # all digits of floats, and one type for all rows
        is_exact = tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)
        arguments = {"low_memory": False, **({} if is_exact else {"float_precision": "round_trip"}), **arguments}
    has_one_header = not pd.api.types.is_list_like(arguments.get("header"))
    if not checks_rows and has_one_header and arguments.get("engine") != "pyarrow":
        arguments.setdefault("index_col", False)  # longer rows do not shift the columns
    if is_plain:
        _check_first_rows(file, str(encoding), str(separator))
    table: Any = None
    try:
        table = pd.read_csv(file, **arguments)
    except pd.errors.ParserError as error:
        if " fields in line " not in str(error) or not checks_rows:
            raise
    if table is not None and not isinstance(table, pd.DataFrame):
        return table
    if checks_rows:
        dialect = Dialect(str(separator), spaced=bool(arguments.get("skipinitialspace")))
        if table is None or _begins_with_long_row(_decoded(file, encoding, _FIRST_ROWS), dialect):
            text = _without_last_cells(_decoded(file, encoding), dialect)
            file, arguments = io.BytesIO(text.encode()), {**arguments, "encoding": "utf-8", "skiprows": 0}
            table = pd.read_csv(file, **arguments)
    return table if arguments.get("engine") == "pyarrow" else _with_digits(table, file, arguments)


def check_width(columns: int) -> None:
    """Raise ValueError if a table has too many columns."""
    if columns > MAX_COLUMNS:
        raise ValueError(f"it has more than {MAX_COLUMNS:,} columns; split it, or exchange its rows and columns")


def _check_first_rows(file: IO[bytes], encoding: str, separator: str) -> None:
    """Raise ValueError if a row near the beginning has too many cells. A separator in quotes does not count."""
    file.seek(0)
    text = b"".join(file.readlines(SAMPLE_SIZE)).decode(encoding, "ignore")
    file.seek(0)
    if text.count(separator) >= MAX_COLUMNS:
        with suppress(csv.Error):
            check_width(max(map(len, csv.reader(io.StringIO(text, newline=""), delimiter=separator)), default=0))


def _decoded(file: IO[bytes], encoding: str, size: int = -1) -> str:
    file.seek(0)
    return file.read(size).decode(encoding, "ignore")


def _begins_with_long_row(text: str, dialect: Dialect) -> bool:
    """Return True if the first row is longer than the header, so that pandas takes its first cell for an index."""
    lengths = [len(row) for row in islice(filter(None, dialect.rows(split_declaration(text)[1])), 2)]
    return len(lengths) == 2 and lengths[1] > lengths[0]


def _without_last_cells(text: str, dialect: Dialect) -> str:
    """Return the text without a declared delimiter, and without an empty cell more than the header has.

    Raises ValueError, which names the line, if a row has other cells that belong to no column.
    """
    declared, text = split_declaration(text)
    target, width = io.StringIO(), 0
    writer = csv.writer(target, lineterminator="\n", delimiter=dialect.delimiter)
    rows: Any = dialect.rows(text)  # a csv.reader
    for row in rows:
        width = width or len(row)
        if row[width:] not in ([], [""]):
            line = rows.line_num + bool(declared)
            raise ValueError(f"line {line} has {len(row)} cells, but the header has {width}. {_LONG_ROWS}")
        writer.writerow(row[:width])
    return target.getvalue()


def _with_digits(table: DataFrame, file: IO[bytes], arguments: Mapping[str, Any]) -> DataFrame:
    """Return the table with whole numbers and leading zeros as in the text, except in columns with a dtype."""
    import pandas as pd

    dtypes = {} if arguments.get("dtype") is None else arguments["dtype"]
    if not isinstance(dtypes, Mapping) or isinstance(dtypes, defaultdict) or "dtype_backend" in arguments:
        return table
    has_zeros = _has_leading_zero(file, arguments["encoding"])
    chosen = {*dtypes, *(arguments.get("converters") or {})}  # names or positions
    positions = [
        position
        for position, (name, dtype) in enumerate(table.dtypes.items())
        if chosen.isdisjoint((name, position))
        and ((has_zeros and dtype.kind in "iuf") or _may_be_whole(table.iloc[:, position]))
    ]
    has_index = has_zeros and arguments.get("index_col", False) is not False
    if not positions and not has_index:
        return table
    unconverted = {key: value for key, value in arguments.items() if key not in ("converters", "parse_dates")}
    file.seek(0)
    texts = pd.read_csv(file, **{**unconverted, "dtype": defaultdict(lambda: "str")})
    changed: dict[int, Any] = {}
    for position in positions:
        column = texts.iloc[:, position]
        if _has_zeros(column):
            changed[position] = column.array
        elif column.hasnans and column.str.fullmatch(_WHOLE, na=True).all():
            numbers = [None if isinstance(value, float) else int(value) for value in column]
            fits = all(number is None or -(2**63) <= number < 2**63 for number in numbers)
            changed[position] = pd.array(numbers, dtype="Int64" if fits else object)
    table = with_columns(table, changed)
    if has_index:
        table.index = _index_with_zeros(table.index, texts.index, chosen)
    return table


def _has_leading_zero(file: IO[bytes], encoding: str) -> bool:
    """Return True if a number in a file may have a leading zero. A part of the file is in memory at a time."""
    file.seek(0)
    parts = iter(lambda: b"".join(file.readlines(SAMPLE_SIZE)), b"")
    return any(map(_LEADING_ZERO.search, codecs.iterdecode(parts, encoding, "ignore")))


def _index_with_zeros(index: Any, texts: Any, chosen: Set[Any]) -> Any:
    """Return the index, in which the levels of numbers with leading zeros are texts."""
    import pandas as pd

    levels = [(index.get_level_values(level), texts.get_level_values(level)) for level in range(index.nlevels)]
    kept = [
        text if level.dtype.kind in "iuf" and level.name not in chosen and _has_zeros(text) else level
        for level, text in levels
    ]
    return kept[0] if len(kept) == 1 else pd.MultiIndex.from_arrays(kept, names=index.names)


def _has_zeros(texts: Any) -> bool:
    return bool(texts.str.fullmatch(_ZEROS, na=False).any())


def _may_be_whole(column: Series[Any]) -> bool:
    """Return True for floats and missing values that the text may have as whole numbers.

    Beside numbers of more than 63 bits pandas reads missing values as empty texts.
    """
    if column.dtype.kind == "O":
        return bool((column == "").any())
    present = column.dropna()
    return column.dtype.kind == "f" and 0 < len(present) < len(column) and bool((present == present.round()).all())
