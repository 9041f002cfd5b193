"""Reads a file as a DataFrame with the pandas reader of its format, and detects what a CSV file is."""

from __future__ import annotations

import codecs
import csv
import gzip
import inspect
import io
import json
import os
import re
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from ...convert.spreadsheet.delimited import Dialect, detect, split_declaration
from ...core.http.media_types import sniff
from ...core.suggestions import nearest_name
from ..display import listed
from .formats import TableFormat, check_module, with_columns

if TYPE_CHECKING:
    from pandas import DataFrame, Series

Options: TypeAlias = Mapping[str, Any]

_GZIP_MARK = b"\x1f\x8b"
# The most bytes of unpacked content, or how many times the size of the packed content, whichever is more.
_MAX_UNPACKED, _MAX_RATIO = 100 * 1024 * 1024, 100

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
# Options with which the texts of a workbook become other values.
_CONVERSIONS = frozenset({"decimal", "false_values", "thousands", "true_values"})

_NUMBERS = frozenset({"integer", "floating", "mixed-integer-float"})
# The pandas function for each format. All other formats are workbooks, which `read_excel` reads.
_PANDAS_READERS = {
    "csv": "read_csv",
    "tsv": "read_csv",
    "json": "read_json",
    "jsonl": "read_json",
    "parquet": "read_parquet",
}


def check_options(table_format: TableFormat, options: Options, arguments: Sequence[str] = ()) -> None:
    """Raise ImportError if a package is missing, and TypeError for an option that the pandas reader does not have.

    `arguments` are the arguments of the calling function, which the user may have meant.
    """
    import pandas as pd

    check_module(table_format, table_format.reader, "read")
    reader = getattr(pd, _PANDAS_READERS.get(table_format.name, "read_excel"))
    parameters = [*inspect.signature(reader).parameters.values()][1:]  # without the source
    allowed = [parameter.name for parameter in parameters if parameter.name != "sheet_name"]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    for option in options:
        if option not in allowed:
            near = nearest_name(option, [*arguments, *allowed])
            hint = f"did you mean {near!r}?" if near else f"see the documentation of pandas.{reader.__name__}"
            raise TypeError(f"{option!r} is not an option of pandas.{reader.__name__}; {hint}")


def read_table(
    content: bytes | Path, table_format: TableFormat, name: str, sheet: str | int | None, options: Options
) -> DataFrame:
    """Return the table in a file, given as bytes or as a path. None as a sheet means the first sheet of a workbook.

    Raises ValueError, which names the file, if its content is not a table of this format or has no such sheet.
    """
    import pandas as pd

    with _reading(table_format, name), _open(content) as file:
        head = file.read(SAMPLE_SIZE)
        file.seek(0)
        _check_content(head, table_format, name)
        if table_format.is_workbook:
            table = _read_workbook(file, name, sheet, options)
        else:
            table = _READERS[table_format.name](file, head, options)
    if not isinstance(table, pd.DataFrame):
        raise ValueError(f"these options give a {type(table).__name__}, not a DataFrame: {', '.join(options)}")
    return table


class TableError(ValueError):
    """The content of a file is not a table of the expected format. The message names the file."""


@contextmanager
def _reading(table_format: TableFormat, name: str) -> Iterator[None]:
    """Raise TableError, which names the file and the format, in place of the errors of pandas and its packages."""
    try:
        yield
    except (ImportError, MemoryError, TableError):
        raise
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise TableError(
            f"{name!r} is not {error.encoding.upper()} text: it has the byte 0x{byte:02X}. "
            'Give its encoding, for example encoding="cp1252" for a file from Windows.'
        ) from None
    except Exception as error:  # each package that reads a format has its own exceptions
        raise TableError(f"{name!r} cannot be read as {table_format.title}: {str(error).strip()}") from error


@contextmanager
def _open(content: bytes | Path) -> Iterator[IO[bytes]]:
    """Open content that may be compressed by gzip."""
    with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as file:
        is_compressed = file.read(len(_GZIP_MARK)) == _GZIP_MARK
        file.seek(0)
        if not is_compressed:
            yield file
            return
        limit = max(_MAX_UNPACKED, _MAX_RATIO * file.seek(0, io.SEEK_END))
        file.seek(0)
        with _BoundedGzip(file, limit) as text:
            yield text  # type: ignore[misc]  # GzipFile has all methods of IO[bytes] that pandas calls


class _BoundedGzip(gzip.GzipFile):
    """A gzip file that raises TableError when more than `limit` bytes are read from it."""

    def __init__(self, file: IO[bytes], limit: int) -> None:
        super().__init__(fileobj=file, mode="rb")
        self._limit = limit

    def read(self, size: int | None = -1) -> bytes:
        return self._checked(super().read(self._limit + 1 if size is None or size < 0 else size))

    def read1(self, size: int = -1) -> bytes:
        return self._checked(super().read1(size))

    def _checked(self, data: bytes) -> bytes:
        if self.tell() > self._limit:
            raise TableError(f"unpacked, the file has more than {self._limit:,} bytes; unpack it to read it")
        return data


def _check_content(head: bytes, table_format: TableFormat, name: str) -> None:
    """Raise TableError if content is empty or encrypted, or begins like a file of another format."""
    if not head and table_format.name != "jsonl":
        raise TableError(f"{name!r} is empty: it has no table")
    if head.startswith(_OLE) and _ENCRYPTED in head:
        raise TableError(f"{name!r} is encrypted; save it without a password")
    expected: tuple[bytes, ...] = (b"PK", _OLE) if table_format.is_workbook else ()
    expected, sniffed = (b"PAR1",) if table_format.name == "parquet" else expected, sniff(head)
    if head.startswith(expected) if expected else sniffed is None:
        return
    begins = f", which begins like {sniffed}" if sniffed else ""
    raise TableError(
        f"{name!r} should be {table_format.title}, but has other content{begins}. "
        "Name the format of the content, for example format='csv'."
    )


# -- CSV and TSV files: the character set, the delimiter, the digits of numbers, and rows with too many cells


# The number of bytes at the start of a file from which the delimiter is detected.
SAMPLE_SIZE = 64 * 1024

_FIRST_ROWS = 16 * 1024 * 1024  # the number of bytes in which the header and the first row are expected

# The number of columns that are read. pandas needs quadratic time or much memory for more of them.
MAX_COLUMNS = 20_000

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_DELIMITERS = frozenset({"sep", "delimiter", "dialect"})
# Options with which pandas reads a file as it does, because its other parsers have not all options.
_OTHER_PARSERS = frozenset({"dialect", "engine", "skipfooter"})

# Options that say how rows with more cells than the header are read.
_SYNTAX = frozenset(
    ("comment", "doublequote", "escapechar", "header", "index_col", "lineterminator", "names",
     "on_bad_lines", "quotechar", "quoting", "skiprows", "usecols")
)  # fmt: skip

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
    file.seek(0)
    parts = iter(lambda: b"".join(file.readlines(SAMPLE_SIZE)), b"")  # a part of the file is in memory at a time
    has_zeros = any(map(_LEADING_ZERO.search, codecs.iterdecode(parts, arguments["encoding"], "ignore")))
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


# -- the readers of the formats


def _read_json(file: IO[bytes], head: bytes, options: Options) -> Any:
    """Read JSON with all digits and without guesses about types. A .json file may have one record in each line.

    With other options than `encoding` and `lines`, pandas reads the file with its own types.
    """
    import pandas as pd

    text = file.read().decode(options.get("encoding") or encoding_of(head))
    lines = bool(options.get("lines"))
    try:
        content = None if lines else json.loads(text)
    except json.JSONDecodeError as error:
        if not error.msg.startswith("Extra data") or "lines" in options:
            raise
        lines = True
    if not options.keys() <= {"encoding", "lines"}:
        return pd.read_json(io.StringIO(text), **{"dtype": False, "precise_float": True, **options, "lines": lines})
    if lines:
        records = ",\n".join(line for line in text.split("\n") if line.strip())
        content = json.loads(f"[{records}]")
    if isinstance(content, dict):
        check_width(len(content))
    elif isinstance(content, list):
        check_width(len({name for record in content if isinstance(record, dict) for name in record}))
    if isinstance(content, dict) and all(isinstance(values, dict) for values in content.values()):
        content = {name: pd.Series(values, dtype=object) for name, values in content.items()}
    try:
        table = _with_types(pd.DataFrame(content, dtype=object), whole=True)
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(_NOT_RECORDS) from error
    if len(table) and all(isinstance(label, str) and _ROW_NUMBER.fullmatch(label) for label in table.index):
        table.index = table.index.astype("int64")
    return table


# A Parquet file has at most `_MAX_CELLS` cells, or `_MAX_CELLS_PER_BYTE` for each byte of it if more.
_MAX_CELLS, _MAX_CELLS_PER_BYTE = 10_000_000, 50

_NOT_RECORDS = "it is no list of objects, and no object of lists of equal length; orient='table' may read it"
# Matches the labels "0", "1" that `DataFrame.to_json` writes for an index of numbers.
_ROW_NUMBER = re.compile("0|[1-9][0-9]{0,17}")


def read_parquet(file: IO[bytes], head: bytes = b"", options: Options = MappingProxyType({})) -> DataFrame:
    """Read Parquet with lists as lists, of which pandas makes arrays, and with all digits of whole numbers."""
    import pandas as pd

    options = {"engine": "pyarrow", **options}
    if options["engine"] == "pyarrow":
        from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]

        contents, size = ParquetFile(file), file.seek(0, os.SEEK_END)
        check_width(len(contents.schema_arrow))
        cells = contents.metadata.num_rows * contents.metadata.num_columns
        if cells > max(_MAX_CELLS, _MAX_CELLS_PER_BYTE * size):
            raise ValueError(f"its {size:,} bytes have {cells:,} cells, too many to read; use pandas")
        file.seek(0)
    table = pd.read_parquet(file, **options)
    floats = [name for name, dtype in table.dtypes.items() if dtype.kind == "f" and isinstance(name, str)]
    unsure = [name for name in floats if table[name].hasnans]
    if unsure and options["engine"] == "pyarrow":  # pandas makes floats of whole numbers beside missing values
        numbers = pd.read_parquet(file, **{**options, "columns": unsure, "dtype_backend": "numpy_nullable"})
        table = table.assign(**{name: numbers[name].array for name in unsure if numbers[name].dtype.kind in "iu"})
    lists = {
        position: pd.Series([plain_lists(value) for value in column], index=table.index, dtype=object)
        for position, (_, column) in enumerate(table.items())
        if pd.api.types.is_object_dtype(column.dtype)
    }
    return with_columns(table, lists)


def plain_lists(value: Any) -> Any:
    """Return a value in which all arrays and tuples, also those in lists and dicts, are lists."""
    if hasattr(value, "tolist") and hasattr(value, "shape"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain_lists(item) for item in value]
    return {key: plain_lists(item) for key, item in value.items()} if isinstance(value, dict) else value


_READERS: dict[str, Callable[[IO[bytes], bytes, Options], Any]] = {
    "csv": read_delimited,
    "tsv": lambda file, head, options: read_delimited(
        file, head, options if "delimiter" in options else {"sep": "\t", **options}
    ),
    "json": _read_json,
    "jsonl": lambda file, head, options: _read_json(file, head, {"lines": True, **options}),
    "parquet": read_parquet,
}


def _read_workbook(file: IO[bytes], name: str, sheet: str | int | None, options: Options) -> Any:
    """Read a sheet with the types of its cells: pandas would convert the text "007" to a number, and omit "NA"."""
    import pandas as pd

    check_area(file)
    engine = {key: options[key] for key in ("engine", "engine_kwargs") if key in options}
    backend = {key: options[key] for key in ("dtype_backend",) if key in options}
    others = {"keep_default_na": "na_values" in options, "na_values": [""], **options}
    others = {key: value for key, value in others.items() if key not in {*engine, *backend}}
    dtypes = {} if options.get("dtype") is None else options["dtype"]
    with pd.ExcelFile(file, **{"engine": "calamine", **engine}) as book:
        chosen = _sheet_name(book.sheet_names, name, sheet)
        is_typed = isinstance(dtypes, Mapping) and not isinstance(dtypes, defaultdict)
        if not is_typed or not _CONVERSIONS.isdisjoint(options):
            return pd.read_excel(book, sheet_name=chosen, **others, **backend)
        converted = dict.fromkeys(options.get("converters") or ())
        others["dtype"] = defaultdict(lambda: object, {**converted, **dtypes})
        table = _with_types(pd.read_excel(book, sheet_name=chosen, **others), whole=False, chosen=dtypes)
    return table.convert_dtypes(**backend) if backend else table


def _with_types(table: DataFrame, *, whole: bool, chosen: Container[Any] = ()) -> DataFrame:
    """Return a DataFrame of objects with the dtypes that hold the values of its columns without a change.

    `whole` says that whole numbers beside a missing value are Int64, and not float64. The columns in `chosen`, given by
    name or position, stay as they are.
    """
    columns: dict[int, Any] = {}
    for position, (name, column) in enumerate(table.items()):
        if name not in chosen and position not in chosen:
            with suppress(OverflowError, UnicodeEncodeError):  # the column stays one of objects
                columns[position] = _with_type(column, whole=whole)
    table = with_columns(table, columns)
    if table.index.nlevels == 1 and table.index.dtype == object:
        table.index = table.index.infer_objects()
    return table


def _with_type(column: Series[Any], *, whole: bool) -> Any:
    import pandas as pd

    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind == "integer" and whole:
        return column.astype("Int64") if column.hasnans else column.infer_objects()
    inferred = column.infer_objects()
    if kind not in _NUMBERS or inferred.dtype.kind in "iu":
        return inferred
    floats = column.astype("float64")
    return floats if (column.isna() | (floats == column)).all() else column


def _sheet_name(names: Sequence[Any], file_name: str, sheet: str | int | None) -> Any:
    """Return the name of a sheet, given by its name or by its number, counted from 0. None means the first sheet."""
    position = 0 if sheet is None else sheet
    if sheet in names:
        return sheet
    if isinstance(position, int) and 0 <= position < len(names):
        return names[position]
    shown = listed(map(repr, names), 20)
    raise TableError(f"{file_name!r} has no sheet {sheet!r}; its sheets are {shown} (numbers count from 0)")


# -- refuses workbooks that do not fit into memory: calamine allocates the whole rectangle from the first to the last
#    cell of a sheet, and ends the process if it cannot


_MAX_AREA = 10_000_000
_MAX_AREA_PER_CELL = 20
# A member of a workbook has at most `_MAX_MEMBER` bytes, or `_MAX_RATIO` times its compressed bytes if more.
_MAX_MEMBER = 64 << 20
_BLOCK = 1 << 20
_OVERLAP = 200  # the end of a block that is searched again with the next one, because a tag can be cut there
_ROW = re.compile(rb"<(?:\w+:)?row\b([^<>]*)>", re.IGNORECASE)
# A cell with content. calamine skips empty cells, which have a style only.
_CELL = re.compile(rb"<(?:\w+:)?c\b([^<>]*)(?<!/)>(?!</)", re.IGNORECASE)
_REFERENCE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{0,20})([0-9]{1,20})["']""")
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError)


def check_area(file: IO[bytes]) -> None:
    """Raise ValueError if a sheet spans far more cells than it contains, or if a member is far larger than the file."""
    with suppress(*_UNREADABLE), zipfile.ZipFile(file) as archive:  # calamine says what is wrong with the file
        for entry in archive.infolist():
            name, cells, rows, columns = entry.filename.lower(), 0, 0, 0
            most = max(_MAX_MEMBER, _MAX_RATIO * entry.compress_size)
            entry.file_size = most + 1  # the size in the directory can be wrong
            with archive.open(entry) as member:
                with suppress(zipfile.BadZipFile):  # at the limit, the checksum is wrong
                    if "worksheets/" in name and name.endswith(".bin"):
                        raise ValueError("the file is a binary workbook (xlsb); save it as xlsx")
                    if "worksheets/" in name:
                        cells, rows, columns = _size(member)
                    while member.read(_BLOCK):
                        pass
                if member.tell() > most:
                    growth = f"{entry.compress_size:,} bytes that become more than {most:,}"
                    raise ValueError(f"the file has {growth}; save it again")
            if rows * columns > max(_MAX_AREA, _MAX_AREA_PER_CELL * cells):
                raise ValueError(
                    f"a sheet has about {cells:,} cells, but spans {rows:,} rows and {columns:,} columns; "
                    "delete the cells that are far from the others"
                )
    file.seek(0)


def _size(sheet: IO[bytes]) -> tuple[int, int, int]:
    """Return the numbers of cells, rows and columns of a sheet in XML. Cells without a reference follow each other."""
    block, cells, rows, columns = b"", 0, 0, 0
    while more := sheet.read(_BLOCK):
        block = block[-_OVERLAP:] + more
        attributes = _CELL.findall(block)
        references = _REFERENCE.findall(b"\n".join(attributes))
        if len(references) < len(attributes):
            references += _REFERENCE.findall(b"\n".join(_ROW.findall(block)))
            columns = max(columns, *(len(_CELL.findall(piece)) for piece in _ROW.split(block)))
        cells += len(attributes)
        rows = max(rows, *map(int, {number for _, number in references}), 0)
        columns = max(columns, *map(_column, {name for name, _ in references}), 0)
    return cells, rows, columns


def _column(name: bytes) -> int:
    number = 0
    for letter in name.upper():
        number = number * 26 + letter - 64
    return number
