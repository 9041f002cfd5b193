"""Reads the scripts and the characters that a font file covers.

The table OS/2 lists a face's scripts, and `cmap` its characters (https://learn.microsoft.com/typography/opentype/).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_LAST_CODE_POINT = 0x10FFFF
_MAX_GROUPS = 100_000
"""The maximum number of character ranges that are read from one face. The largest fonts have 20,000 ranges."""


def unicode_ranges(path: str, index: int) -> int:
    """Return the 128 Unicode range bits in the table OS/2 of a face, or 0 if the table cannot be read."""
    try:
        with Path(path).open("rb") as file:
            offset = next((offset for tag, offset in _tables(file, index) if tag == b"OS/2"), None)
            if offset is None:
                return 0
            file.seek(offset + 42)
            parts = struct.unpack(">4I", file.read(16))
            return sum(part << 32 * number for number, part in enumerate(parts))
    except (OSError, struct.error):
        return 0


def character_ranges(path: str, index: int) -> list[tuple[int, int]]:
    """Return pairs (first, last code point) from the table `cmap` of a face, or [] if the table cannot be read."""
    try:
        with Path(path).open("rb") as file:
            offset = next((offset for tag, offset in _tables(file, index) if tag == b"cmap"), None)
            return [] if offset is None else _read_cmap(file, offset)
    except (OSError, struct.error):
        return []


def _tables(file: BinaryIO, index: int) -> Iterator[tuple[bytes, int]]:
    """Yield the tag and the file offset of each table of the face with this index in a font collection."""
    start = 0
    if file.read(4) == b"ttcf":
        file.seek(12 + 4 * index)
        (start,) = struct.unpack(">I", file.read(4))
    file.seek(start + 4)
    (count,) = struct.unpack(">H", file.read(2))
    file.seek(start + 12)
    directory = file.read(16 * count)
    for position in range(0, len(directory), 16):
        tag, _, offset, _ = struct.unpack_from(">4sIII", directory, position)
        yield tag, offset


def _read_cmap(file: BinaryIO, offset: int) -> list[tuple[int, int]]:
    """Return the character ranges in the format 12 subtable, or else in the format 4 subtable, or else []."""
    file.seek(offset + 2)
    (count,) = struct.unpack(">H", file.read(2))
    offsets = {subtable_offset for _, _, subtable_offset in struct.iter_unpack(">HHI", file.read(8 * count))}
    offsets_by_format: dict[int, int] = {}
    for subtable in sorted(offsets):
        file.seek(offset + subtable)
        (format,) = struct.unpack(">H", file.read(2))
        offsets_by_format[format] = offset + subtable
    if 12 in offsets_by_format:
        return _read_format_12(file, offsets_by_format[12])
    return _read_format_4(file, offsets_by_format[4]) if 4 in offsets_by_format else []


def _read_format_12(file: BinaryIO, offset: int) -> list[tuple[int, int]]:
    file.seek(offset + 12)
    (count,) = struct.unpack(">I", file.read(4))
    groups = struct.iter_unpack(">III", file.read(12 * min(count, _MAX_GROUPS)))
    return [(first, min(last, _LAST_CODE_POINT)) for first, last, _ in groups]


def _read_format_4(file: BinaryIO, offset: int) -> list[tuple[int, int]]:
    file.seek(offset + 6)
    (byte_count,) = struct.unpack(">H", file.read(2))
    file.seek(offset + 14)
    ends = struct.unpack(f">{byte_count // 2}H", file.read(byte_count))
    file.read(2)
    starts = struct.unpack(f">{byte_count // 2}H", file.read(byte_count))
    return [(first, last) for first, last in zip(starts, ends, strict=True) if first != 0xFFFF]
