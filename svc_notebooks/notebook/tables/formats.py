"""The file formats of tables, with the media types and extensions that name them and the packages that they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ...core.http.media_types import CSV, IMPORTS, JSON, OCTET_STREAM, ODS, TEXT, TSV, X_ODS, XLSX, ZIP, by_name
from ...core.http.multipart import MediaType

if TYPE_CHECKING:
    from pandas import DataFrame


_EXCEL = "application/vnd.ms-excel"
_EXCEL_IMPORTS = next(row for row in IMPORTS if XLSX in row.media_types).media_types
GZIP = "application/gzip"
GZIP_EXTENSION = ".gz"
_INSTALL = "pip install 'svc-notebooks[frames]'"


@dataclass(frozen=True, slots=True)
class TableFormat:
    """A file format of tables.

    `media_types` begins with the type of a new file. `reader` and `writer` are the modules that pandas needs to read
    and to write the format, "" if it needs none. `writer` is None if the format is only read.
    """

    name: str
    title: str
    media_types: tuple[str, ...]
    extensions: tuple[str, ...]
    reader: str = ""
    writer: str | None = ""

    @property
    def is_workbook(self) -> bool:
        return self.reader == "python_calamine"

    @property
    def is_text(self) -> bool:
        return not self.reader

    def media_type(self, name: str | None) -> str:
        """Return the media type of a new file with this name."""
        return _SPECIAL_TYPES.get(_extension(name or ""), self.media_types[0])


_CSV_TYPES = (CSV, "text/comma-separated-values", "text/x-csv", "application/csv")
_LINES_TYPES = ("application/jsonl", "application/x-ndjson", "application/x-jsonlines")
_PARQUET_TYPES = ("application/vnd.apache.parquet", "application/x-parquet")
_VARIANT_TYPES = tuple(media_type for media_type in _EXCEL_IMPORTS if media_type != XLSX)

# fmt: off
FORMATS = (
    TableFormat("csv",     "CSV",                     _CSV_TYPES,     (".csv",)),
    TableFormat("tsv",     "TSV",                     (TSV,),         (".tsv", ".tab")),
    TableFormat("json",    "JSON",                    (JSON,),        (".json",)),
    TableFormat("jsonl",   "JSON Lines",              _LINES_TYPES,   (".jsonl", ".ndjson")),
    TableFormat("parquet", "Parquet",                 _PARQUET_TYPES, (".parquet", ".pq"), "pyarrow", "pyarrow"),
    TableFormat("xlsx",    "Excel",                   (XLSX,),        (".xlsx",), "python_calamine", "xlsxwriter"),
    TableFormat("xlsm",    "Excel",         _VARIANT_TYPES, (".xlsm", ".xltx", ".xltm"), "python_calamine", None),
    TableFormat("xls",     "Excel 97 to 2003",        (_EXCEL,),      (".xls", ".xlt"), "python_calamine", None),
    TableFormat("ods",     "OpenDocument spreadsheet", (ODS, X_ODS),  (".ods",), "python_calamine", None),
)
# fmt: on

BY_NAME: Mapping[str, TableFormat] = {row.name: row for row in FORMATS}
_BY_TYPE = {media_type: row for row in FORMATS for media_type in row.media_types}
_BY_EXTENSION = {extension: row for row in FORMATS for extension in row.extensions}
_SPECIAL_TYPES = {".ndjson": "application/x-ndjson"}
# Extensions of other formats for tables, in which this package writes no DataFrame.
_OTHER_EXTENSIONS = frozenset(
    (".avro", ".db", ".dta", ".feather", ".h5", ".hdf5", ".html", ".orc", ".pickle", ".pkl", ".sav", ".sqlite", ".xml")
)

# Media types that do not identify a format. Browsers on Windows call a CSV file `application/vnd.ms-excel`.
_GENERIC_TYPES = frozenset({OCTET_STREAM, TEXT, ZIP, GZIP, _EXCEL})


def format_of_name(name: str) -> TableFormat | None:
    """Return the format that the extension of a file name means, or None.

    >>> format_of_name("Survey.XLSX").title, format_of_name("survey.csv.gz").title, format_of_name("survey")
    ('Excel', 'CSV', None)
    """
    return _BY_EXTENSION.get(_extension(name.lower().removesuffix(GZIP_EXTENSION)))


def check_extension(name: str) -> None:
    """Raise ValueError if the extension of a file name means a format in which this package writes no DataFrame."""
    extension = _extension(name.lower().removesuffix(GZIP_EXTENSION))
    if extension in _OTHER_EXTENSIONS or by_name(extension and f"x{extension}") not in (None, OCTET_STREAM, TEXT, GZIP):
        raise ValueError(f"a DataFrame is not written as {extension}; name the file .xlsx, .parquet or .csv")


def format_of_type(media_type: str) -> TableFormat | None:
    return _BY_TYPE.get(MediaType.parse(media_type).essence)


def format_of_file(media_type: str, name: str) -> TableFormat | None:
    """Return the format of a stored file, or None if it is not a table. For a generic media type, the name decides."""
    by_type = format_of_type(media_type)
    if MediaType.parse(media_type).essence not in _GENERIC_TYPES:
        return by_type
    return format_of_name(name) or by_type


def check_module(table_format: TableFormat, module: str, participle: str) -> None:
    """Raise ImportError with the command that installs a module, if it is missing. It reads or writes the format."""
    if module and find_spec(module) is None:
        raise ImportError(f"{table_format.title} files are {participle} by the package {module}: {_INSTALL}")


def _extension(name: str) -> str:
    stem, dot, extension = name.rpartition(".")
    return (dot + extension).lower() if stem else ""


# -- replaces columns of a DataFrame by position


def with_columns(frame: DataFrame, changed: Mapping[int, Any]) -> DataFrame:
    """Return the DataFrame with other columns at some positions. `isetitem` would need quadratic time for all."""
    import pandas as pd

    columns = {position: changed.get(position, column) for position, (_, column) in enumerate(frame.items())}
    table = pd.DataFrame(columns, index=frame.index) if changed else frame.copy(deep=False)
    table.columns, table.attrs = frame.columns, frame.attrs
    return table
