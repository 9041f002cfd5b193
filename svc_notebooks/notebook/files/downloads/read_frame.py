"""Reads stored files and native spreadsheets as a DataFrame."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....client.downloads.downloads import Download, read_export
from ....client.files import list_files, native_name
from ....client.session import Session, SessionLike, session_or_current
from ....core.http.media_types import XLSX
from ....core.http.multipart import MediaType
from ....core.platform import temporary_folder
from ...arguments import File, choice, files_at, optional_text
from ...batch.batch import Batch, Executor, Progress, Report, RowOperation, run
from ...display import MIB
from ...frames import Record, schema
from ...tables.formats import BY_NAME, TableFormat, format_of_file
from ...tables.read_table import check_options, read_table
from .downloads import Metadata, known_files, request_metadata

if TYPE_CHECKING:
    from pandas import DataFrame

    from ....core.resources.files import File as FileResource

_FIELDS = "id,name,mimeType,size"
_IN_MEMORY = 16 * MIB  # the size in bytes above which content is read from a temporary file

_READ = schema("id text, name text, frame any")
_ARGUMENTS = ("sheet", "format", "file_column", "acknowledge_abuse", "progress", "workers", "executor", "session")
# What a user can do with each native type that is not a table.
_INSTEAD = {
    "document": "svc.export(file, 'docx') saves it as a Word file",
    "presentation": "svc.export(file, 'pptx') saves it as a PowerPoint file",
    "drawing": "svc.export(file, 'png') saves it as a picture",
    "script": "svc.export(file, 'json') saves its source",
    "shortcut": "give the file to which it leads",
}


def read_frame(
    file: File,
    sheet: str | int | None = None,
    *,
    format: str | None = None,
    file_column: str | None = None,
    acknowledge_abuse: bool = False,
    progress: Progress = None,
    workers: int | None = None,
    executor: Executor | None = None,
    session: SessionLike = None,
    **options: Any,
) -> DataFrame:
    """Read stored CSV, TSV, JSON, Parquet and Excel files and native spreadsheets as one DataFrame.

    Args:
        file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
            Of a folder, all tables directly in it are read in the order of their names, and its other files are not.
        sheet: The sheet of a spreadsheet or workbook, as its name or its number, counted from 0. None means the first
            sheet. `sheet_name` of pandas is the same.
        format: "csv", "tsv", "json", "jsonl", "parquet", "xlsx", "xlsm", "xls" or "ods". None takes the format from the
            media type of the file, or from its name if the media type is generic, such as text/plain.
        file_column: The name of an additional first column with the name of the file of each row. None adds no column.
        acknowledge_abuse: Read a file although it was flagged as abusive, as for `download`.
        progress: None shows a progress bar for large files, True always, False never. A function is called with
            (bytes done, total bytes or None).
        workers, executor: The threads or the executor for several files. See docs/bulk.md. The metadata in a row are
            used as for `download`.
        **options: Options of the pandas reader: `read_csv` (CSV and TSV), `read_json`, `read_parquet` or `read_excel`,
            like `dtype={"zip": "str"}`, `usecols=["a"]`, `encoding="cp1252"` or `parse_dates=["day"]`.

    Returns:
        The rows of all files, numbered from 0 unless an option sets an index. The columns and dtypes are those of the
        pandas reader, but whole numbers beside a missing value are Int64 in text files, and a column of CSV with a
        leading zero such as "00123" is text unless `dtype` names its type. A column that a file does not have is
        missing in its rows. The delimiter of CSV files is detected. They are UTF-8 or UTF-16 unless `encoding` names
        another character set. gzip is decompressed.
        Dates in text files stay text: `parse_dates` converts them in CSV, and `pandas.to_datetime` in any frame.
        docs/recipes.md has a table of what each format keeps of an uploaded DataFrame.

    Raises:
        TypeError, ValueError: An argument is not valid, or a file is not a table; the message says what to use instead.
        ImportError: A package that reads the format is missing (`pip install 'svc-notebooks[frames]'`).
        NotFound: The file does not exist, or this user may not see it.
        NotAllowed: The file has no content that this user can download, or its export would be too large.

    The first error ends the call. Its attribute `result` is a DataFrame of the files that were read, with the columns
    id, name, frame (object) and outcome.

    See tests/rules.csv (A6, A7).

    >>> lab = svc.sandbox()
    >>> table = svc.upload(b"city;people\\nRiga;605000\\n", name="cities.csv", convert_to="spreadsheet")
    >>> svc.read_frame(table)["people"].tolist()
    [605000]
    >>> months = svc.upload([b"day,n\\n1,5\\n", b"day,n\\n2,7\\n"], name=["january.csv", "february.csv"])
    >>> svc.read_frame(months, file_column="month").values.tolist()
    [['january.csv', 1, 5], ['february.csv', 2, 7]]
    """
    if sheet is None and "sheet_name" in options:
        sheet = options.pop("sheet_name")
        if not isinstance(sheet, str | int):
            hint = "pandas.read_excel('svc://path', sheet_name=None) reads all as a dict"
            raise ValueError(
                f"sheet_name is {sheet!r:.60}; read_frame reads one sheet, the first without this argument; {hint}"
            )
    if sheet is not None and (isinstance(sheet, bool) or not isinstance(sheet, str | int)):
        raise TypeError(f"sheet must be the name or the number of one sheet, not {type(sheet).__name__}")
    optional_text("file_column", file_column)
    if format is not None:
        choice("format", format, BY_NAME)
    batch = Batch(workers, executor, progress=progress)
    session = session_or_current(session)
    ids = files_at(session, file)
    metadata = request_metadata(session, ids, known_files(file), _FIELDS, batch, _READ)
    tables = list(_tables(session, metadata, format))
    for table in tables:
        check_options(table.format, options, _ARGUMENTS)
        if sheet is not None and not table.format.is_workbook:
            raise ValueError(f"sheet is for workbooks; {table.name!r} is {table.format.title}, which has no sheets")
    operation = RowOperation(
        _READ,
        partial(_read_row, sheet=sheet, options=options, acknowledge_abuse=acknowledge_abuse),
        label=lambda n, table: table.name,
        row_errors=(),
        title=f"Read {tables[0].name}" if len(tables) == 1 else "Read",
        size=lambda table: None if table.export_type else table.size,
    )
    frames = run(operation, tables, session, batch)["frame"].tolist()
    return _combine(frames, [table.name for table in tables], file_column)


def _read_row(
    session: Session,
    table: StoredTable,
    report: Report,
    sheet: str | int | None,
    options: Mapping[str, Any],
    *,
    acknowledge_abuse: bool,
) -> Record:
    """Read the table in a file, and return a record with the DataFrame."""
    with table.content(session, report, acknowledge_abuse=acknowledge_abuse) as content:
        read = read_table(content, table.format, table.name, sheet, {**table.options, **options})
    return {"id": table.facts["id"], "name": table.name, "frame": read}


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A file that can be read as a table. `facts` are its metadata, with a checksum if that is known.

    `export_type` is the media type of its export, None to download its content. `options` are those of the pandas
    reader that follow from the media type.
    """

    facts: FileResource
    name: str
    size: int
    format: TableFormat
    export_type: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    @contextmanager
    def content(self, session: Session, report: Report, *, acknowledge_abuse: bool) -> Iterator[bytes | Path]:
        """Download the content, and yield the bytes, or the path of a temporary file for large content."""
        download = Download(session, self.facts, None, acknowledge_abuse, report)
        if self.export_type is not None:
            yield read_export(session, self.facts["id"], self.export_type, progress=report)
        elif self.size <= _IN_MEMORY:
            yield download.read()
        else:
            with temporary_folder("svc-") as folder:
                yield download.save(folder / "table").path


def _tables(session: Session, files: Iterable[Metadata], format: str | None) -> Iterator[StoredTable]:
    """Return an iterator over the files, and over the tables in folders. Raises ValueError if a file is no table."""
    folder = session.names.native("folder")
    for facts, error in files:
        if error is not None:
            raise error
        if facts.get("mimeType") == folder:
            q = f"'{facts['id']}' in parents and trashed = false"
            children = list(list_files(session, q=q, order_by="name", fields=_FIELDS))
            tables = [table for child in children if (table := _stored_table(session, child, format))]
            if not tables:
                names = ", ".join(repr(child.get("name")) for child in children[:5]) or "no file"
                raise ValueError(f"the folder {facts.get('name')!r} has no table; it has {names}")
            yield from tables
        elif table := _stored_table(session, facts, format):
            yield table
        else:
            raise ValueError(_not_a_table(session, facts))


def _stored_table(session: Session, facts: FileResource, format: str | None) -> StoredTable | None:
    """Return the table in a file, or None if the file is not a table."""
    name, media_type = str(facts.get("name")), str(facts.get("mimeType"))
    size = int(facts.get("size") or 0)
    if media_type == session.names.native("spreadsheet"):
        return StoredTable(facts, name, size, BY_NAME["xlsx"], XLSX)
    if session.names.is_native(media_type):
        return None
    table_format = format_of_file(media_type, name) if format is None else BY_NAME[format]
    if table_format is None:
        return None
    charset, options = MediaType.parse(media_type).parameters.get("charset", "utf-8"), {}
    with suppress(LookupError):  # of an unknown name of a character set
        if table_format.is_text and codecs.lookup(charset).name not in ("utf-8", "ascii"):  # which are detected
            options = {"encoding": charset}
    return StoredTable(facts, name, size, table_format, options=options)


def _not_a_table(session: Session, facts: FileResource) -> str:
    name, media_type = str(facts.get("name")), str(facts.get("mimeType"))
    if session.names.is_native(media_type):
        native = native_name(session.names, media_type)
        instead = _INSTEAD.get(native, "svc.export_formats(file) lists its formats")
        return f"{name!r} is a {native}, which is not a table; {instead}"
    return (
        f"{name!r} is {media_type}, which is not a table. svc.read(file) returns its bytes. "
        "If it is a table, name its format, for example format='csv'."
    )


def _combine(frames: Sequence[DataFrame], names: Sequence[str], file_column: str | None) -> DataFrame:
    """Return the rows of all DataFrames, with the name of the file in the first column if it is requested."""
    import pandas as pd

    if file_column is not None:
        for frame, name in zip(frames, names, strict=True):
            if file_column in frame.columns:
                raise ValueError(f"file_column is {file_column!r}, but {name!r} has a column of this name")
            frame.insert(0, file_column, pd.Series(name, index=frame.index, dtype="str"))
    if len(frames) == 1:
        return frames[0]
    if not frames:
        return pd.DataFrame()
    filled = [frame for frame in frames if len(frame)] or frames[:1]  # a table without rows has no dtypes to keep
    numbered = all(isinstance(frame.index, pd.RangeIndex) for frame in frames)
    return pd.concat(filled, ignore_index=numbered)
