"""Refuses workbooks that do not fit into memory, because their few cells are far apart or their text is compressed.

calamine allocates the whole rectangle from the first to the last cell of a sheet, and ends the process if it cannot.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from contextlib import suppress
from typing import IO

_MAX_AREA = 10_000_000
_MAX_AREA_PER_CELL = 20
_MAX_UNPACKED = 64 << 20
_MAX_RATIO = 100
"""A member of a workbook has at most `_MAX_UNPACKED` bytes, or `_MAX_RATIO` times its compressed bytes if more."""
_BLOCK = 1 << 20
_OVERLAP = 200
"""The end of a block that is searched again with the next one, because a tag can be cut there."""
_ROW = re.compile(rb"<(?:\w+:)?row\b([^<>]*)>", re.IGNORECASE)
_CELL = re.compile(rb"<(?:\w+:)?c\b([^<>]*)(?<!/)>(?!</)", re.IGNORECASE)
"""A cell with content. calamine skips empty cells, which have a style only."""
_REFERENCE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{0,20})([0-9]{1,20})["']""")
_ROW_RECORD, _LAST_CELL_RECORD = 0, 11
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError)


def check_area(file: IO[bytes]) -> None:
    """Raise ValueError if a sheet spans far more cells than it contains, or if a member is far larger than the file."""
    with suppress(*_UNREADABLE), zipfile.ZipFile(file) as archive:  # calamine says what is wrong with the file
        for entry in archive.infolist():
            name, cells, rows, columns = entry.filename.lower(), 0, 0, 0
            most = max(_MAX_UNPACKED, _MAX_RATIO * entry.compress_size)
            entry.file_size = most + 1  # the size in the directory can be wrong
            with archive.open(entry) as member:
                with suppress(zipfile.BadZipFile):  # at the limit, the checksum is wrong
                    if "worksheets/" in name:
                        cells, rows, columns = _binary_size(member) if name.endswith(".bin") else _size(member)
                    while member.read(_BLOCK):
                        pass
                if member.tell() > most:
                    raise ValueError(
                        f"the file has {entry.compress_size:,} bytes that become more than {most:,}; save it again"
                    )
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


def _binary_size(sheet: IO[bytes]) -> tuple[int, int, int]:
    """Return the numbers of cells, rows and columns of a sheet of records ([MS-XLSB] 2.1.4)."""
    cells = rows = columns = 0
    while first := sheet.read(1):
        kind = first[0] if first[0] < 128 else first[0] % 128 + int.from_bytes(sheet.read(1)) * 128
        size = shift = 0
        while byte := sheet.read(1):
            size |= byte[0] % 128 << shift
            shift += 7
            if byte[0] < 128:
                break
        number = int.from_bytes(sheet.read(size)[:4], "little") + 1
        if kind == _ROW_RECORD:
            rows = max(rows, number)
        elif kind <= _LAST_CELL_RECORD:
            cells, columns = cells + 1, max(columns, number)
    return cells, rows, columns
