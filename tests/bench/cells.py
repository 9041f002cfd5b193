"""`python -m tests.bench.cells FOLDER ...`: compares every cell of spreadsheets with what another program reads.

The other program is openpyxl for xlsx, xlrd for xls and LibreOffice for ods; `--office` takes LibreOffice for xls, too.
LibreOffice writes xlsx, which openpyxl reads. Compared are the position, type and value of each cell, the merged areas,
and the names and visibility of sheets. One line of JSON for each file goes to the file that `--report` names.
"""

from __future__ import annotations

import argparse
import datetime as dt
import io
import json
import multiprocessing
import re
import subprocess
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from svc_notebooks.convert.job import ConversionError, Job
from svc_notebooks.convert.spreadsheet import xls
from svc_notebooks.convert.spreadsheet.format_code import from_serial, to_serial
from svc_notebooks.convert.spreadsheet.model import Area, ErrorValue, Workbook, disjoint
from svc_notebooks.convert.spreadsheet.values import clean

_OOXML = {".xlsx", ".xlsm", ".xltx", ".xltm"}
_READERS = {".xls": xls.read_by_signature, ".ods": xls.read_ods, **dict.fromkeys(_OOXML, xls.read_xlsx)}
_SECONDS = 120
_EPOCH = dt.datetime(1899, 12, 30)  # noqa: DTZ001  spreadsheets have no time zones
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_SHOWN = 6

Key = tuple[str, Any]


@dataclass
class Grid:
    """A sheet as another program reads it: cells by (row, column) from 0, merged areas, and whether it is hidden."""

    name: str
    cells: dict[tuple[int, int], Key]
    merges: set[Area] = field(default_factory=set)
    hidden: bool = False


def key_of(value: Any) -> Key | None:
    """Return (type, comparable value) of a cell, or None for an empty cell. Dates are serial numbers."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, (int, float)):
        return "number", float(value)
    if isinstance(value, ErrorValue):
        return "error", value.code
    if isinstance(value, (dt.date, dt.time, dt.timedelta)):
        serial = to_serial(value)
        if serial is None and isinstance(value, dt.datetime):  # we keep negative numbers of days as numbers
            return "number", (value - _EPOCH) / dt.timedelta(days=1)
        return ("text", str(value)) if serial is None else ("date", serial)
    text = clean(str(value))
    return ("text", text.replace("\r\n", "\n").replace("\r", "\n")) if text else None


def equal(ours: Key | None, theirs: Key | None) -> bool:
    """Return whether two cells have the same type and value. Numbers are equal to 14 digits, dates to 1 ms."""
    if ours is None or theirs is None or ours[0] != theirs[0]:
        return ours is theirs
    if ours[0] == "date":
        return bool(abs(ours[1] - theirs[1]) < 1.5e-8)
    return bool(ours[1] == theirs[1] or (ours[0] == "number" and abs(ours[1] - theirs[1]) <= 1e-14 * abs(theirs[1])))


def by_us(path: Path) -> tuple[list[Grid], Workbook]:
    """Read a file with our reader."""
    with tempfile.TemporaryDirectory() as folder:
        book = _READERS[path.suffix.lower()](path.read_bytes(), Job("", Path(folder)))
    book = Workbook.unpack(book.pack())
    return [
        Grid(
            sheet.name,
            {(row, column): key for row, column, cell in sheet.cells() if (key := key_of(cell.value)) is not None},
            set(sheet.merges),
            sheet.hidden,
        )
        for sheet in book.sheets
    ], book


def by_openpyxl(path: Path) -> list[Grid]:
    """Read a file with openpyxl, without its removal of the values that merged areas cover."""
    import openpyxl
    from openpyxl.worksheet.worksheet import Worksheet

    Worksheet._clean_merge_range = lambda self, area: None
    book = openpyxl.load_workbook(path, data_only=True)
    return [
        Grid(
            sheet.title,
            {
                (cell.row - 1, cell.column - 1): key
                for cell in sheet._cells.values()  # iter_rows() also makes the empty cells between those that exist
                if (key := key_of(_openpyxl_value(cell))) is not None
            },
            _areas((area.min_row, area.min_col, area.max_row, area.max_col) for area in sheet.merged_cells.ranges),
            sheet.sheet_state != "visible",
        )
        for sheet in book.worksheets
    ]


def _openpyxl_value(cell: Any) -> Any:
    if cell.data_type == "e":
        return ErrorValue(cell.value)
    if isinstance(cell.value, str):
        return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), cell.value)
    return cell.value


def _areas(areas: Iterable[tuple[int, int, int, int]]) -> set[Area]:
    return set(disjoint([Area(*(number - 1 for number in area)) for area in areas]))


def by_xlrd(path: Path) -> list[Grid]:
    """Read a file with xlrd."""
    import xlrd

    book = xlrd.open_workbook(path, formatting_info=True, logfile=io.StringIO())
    return [
        Grid(
            sheet.name,
            {
                (row, column): key
                for row in range(sheet.nrows)
                for column in range(sheet.ncols)
                if (key := key_of(_xlrd_value(book, sheet.cell(row, column)))) is not None
            },
            _areas((top + 1, left + 1, bottom, right) for top, bottom, left, right in sheet.merged_cells),
            sheet.visibility != 0,
        )
        for sheet in book.sheets()
    ]


def _xlrd_value(book: Any, cell: Any) -> Any:
    import xlrd

    if cell.ctype == xlrd.XL_CELL_ERROR:
        return ErrorValue(xlrd.error_text_from_code[cell.value])
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return bool(cell.value)
    if cell.ctype == xlrd.XL_CELL_DATE:
        code = book.format_map[book.xf_list[cell.xf_index].format_key].format_str
        return from_serial(cell.value, code, since_1904=bool(book.datemode))
    return cell.value


def differences(ours: list[Grid], theirs: list[Grid]) -> Iterator[str]:
    """Yield a line for each difference between two workbooks."""
    if len(ours) != len(theirs):
        yield f"sheets: {[sheet.name for sheet in ours]} {[sheet.name for sheet in theirs]}"
    for mine, other in zip(ours, theirs, strict=False):
        if mine.hidden != other.hidden:
            yield f"hidden: {mine.name} {mine.hidden} {other.hidden}"
        for area in sorted(mine.merges ^ other.merges):
            yield f"merge: {mine.name} {tuple(area)} {'ours' if area in mine.merges else 'theirs'}"
        for place in sorted({*mine.cells, *other.cells}):
            if not equal(mine.cells.get(place), other.cells.get(place)):
                yield f"cell: {mine.name} {place} {mine.cells.get(place)!r:.200} {other.cells.get(place)!r:.200}"


def computed(book: Workbook, theirs: list[Grid]) -> None:
    """Take over our values of formulas for which the file has no value, which we calculate and others leave empty."""
    for sheet, other in zip(book.sheets, theirs, strict=False):
        for row, column, cell in sheet.cells():
            if cell.formula and (row, column) not in other.cells and (key := key_of(cell.value)):
                other.cells[row, column] = key


def compare(path: Path, office: Mapping[Path, Path]) -> dict[str, Any]:
    """Return the differences of a file, or why it could not be compared."""
    warnings.simplefilter("ignore")
    try:
        ours, book = by_us(path)
    except Exception as error:
        ours, book = [], None
        refusal = f"{'' if isinstance(error, ConversionError) else type(error).__name__ + ': '}{error}"
    try:
        if path in office:
            theirs = by_openpyxl(office[path])
        else:
            theirs = by_xlrd(path) if path.suffix.lower() == ".xls" else by_openpyxl(path)
    except Exception as error:
        return {"refused": "both" if book is None else "theirs", "why": f"{type(error).__name__}: {error}"[:150]}
    if book is None:
        return {"refused": "ours", "why": refusal[:150]}
    computed(book, theirs)
    lines = list(differences(ours, theirs))
    return {"cells": sum(len(sheet.cells) for sheet in theirs), "count": len(lines), "first": lines[:_SHOWN]}


def _send(path: Path, office: Mapping[Path, Path], pipe: Any) -> None:
    pipe.send(compare(path, office))


def in_process(path: Path, office: Mapping[Path, Path]) -> dict[str, Any]:
    """Compare a file in a process of its own, which a hostile file cannot keep busy."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_send, args=(path, office, sender))
    process.start()
    sender.close()
    try:
        result: dict[str, Any] = receiver.recv() if receiver.poll(_SECONDS) else {"refused": "time", "why": ""}
    except EOFError:
        result = {"refused": "crash", "why": ""}
    process.kill()
    process.join()
    return result


def by_libreoffice(paths: list[Path], folder: Path) -> dict[Path, Path]:
    """Convert files to xlsx with LibreOffice, and return the path of each result."""
    links = {}
    for number, path in enumerate(paths):
        links[path] = folder / f"{number}{path.suffix}"
        links[path].symlink_to(path.resolve())
    results = {path: folder / "out" / f"{link.stem}.xlsx" for path, link in links.items()}
    command = ["soffice", f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", "xlsx"]
    for size in (20, 1):  # what follows a file that LibreOffice cannot open is converted alone
        waiting = [str(links[path]) for path, result in results.items() if not result.exists()]
        for first in range(0, len(waiting), size):
            files = waiting[first : first + size]
            timed = ["timeout", "--kill-after=5", "200", *command, "--outdir", str(folder / "out"), *files]
            subprocess.run(timed, check=False, capture_output=True)
    return {path: result for path, result in results.items() if result.exists()}


def main() -> None:
    """Compare the files of the folders, print those that differ, and count."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.cells", description=__doc__)
    parser.add_argument("folder", nargs="+", type=Path, help="folders or files")
    parser.add_argument("--office", action="store_true", help="compare xls with LibreOffice")
    parser.add_argument("--report", type=Path, help="the file to write a line of JSON for each file to")
    options = parser.parse_args()
    files = [path for folder in options.folder for path in ([folder] if folder.is_file() else folder.rglob("*"))]
    files = sorted(path for path in files if path.suffix.lower() in _READERS)
    totals: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for_office = {".ods", ".xls"} if options.office else {".ods"}
        office = by_libreoffice([path for path in files if path.suffix.lower() in for_office], Path(folder))
        lines = []
        for path in files:
            result = in_process(path, office)
            lines.append(json.dumps({"file": str(path), **result}))
            outcome = (
                f"refused: {result['refused']}" if "refused" in result else "differ" if result["count"] else "equal"
            )
            totals.update(
                {f"{path.suffix.lower()} {outcome}": 1, f"{path.suffix.lower()} cells": result.get("cells", 0)}
            )
            if result.get("count") or result.get("refused") in ("ours", "crash", "time"):
                print(path.name, result.get("count", outcome), result.get("why", ""))
                print("".join(f"    {line}\n" for line in result.get("first", ())), end="", flush=True)
    if options.report:
        options.report.write_text("\n".join(lines) + "\n")
    for name, number in sorted(totals.items()):
        print(f"{name}: {number}")


if __name__ == "__main__":
    main()
