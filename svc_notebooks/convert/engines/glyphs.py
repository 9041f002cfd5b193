"""Reads from a font file which scripts and characters the font covers.

OS/2 tells the scripts that a face is made for, `cmap` each letter (https://learn.microsoft.com/typography/opentype/).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

_LAST_CODE_POINT = 0x10FFFF
_MAX_GROUPS = 100_000
"""Stretches of letters in one face; the largest fonts have 20,000."""


def unicode_ranges(path: str, index: int) -> int:
    """The Unicode ranges that a face says it covers (ulUnicodeRange), as bits; 0 for a file that cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return next((_read_os2(file, offset) for tag, offset in _tables(file, index) if tag == b"OS/2"), 0)
    except (OSError, struct.error):
        return 0


def character_ranges(path: str, index: int) -> list[tuple[int, int]]:
    """The letters of a face, as first and last of each stretch; none for a file that cannot be read."""
    try:
        with Path(path).open("rb") as file:
            offset = next((offset for tag, offset in _tables(file, index) if tag == b"cmap"), None)
            return [] if offset is None else _read_cmap(file, offset)
    except (OSError, struct.error):
        return []


def _tables(file: BinaryIO, index: int) -> Iterator[tuple[bytes, int]]:
    """The tables of a face, and where they are; a collection has several faces."""
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


def _read_os2(file: BinaryIO, offset: int) -> int:
    file.seek(offset + 42)
    parts = struct.unpack(">4I", file.read(16))
    return sum(part << 32 * index for index, part in enumerate(parts))


def _read_cmap(file: BinaryIO, offset: int) -> list[tuple[int, int]]:
    """By the subtable that knows most: format 12 has all planes, format 4 the first."""
    file.seek(offset + 2)
    (count,) = struct.unpack(">H", file.read(2))
    offsets = {subtable_offset for _, _, subtable_offset in struct.iter_unpack(">HHI", file.read(8 * count))}
    offsets_by_format = {_subtable_format(file, offset + place): offset + place for place in sorted(offsets)}
    readers = {12: partial(_read_format_12, file), 4: partial(_read_format_4, file)}
    return next(
        (read(offsets_by_format[format]) for format, read in readers.items() if format in offsets_by_format), []
    )


def _subtable_format(file: BinaryIO, offset: int) -> int:
    file.seek(offset)
    (format,) = struct.unpack(">H", file.read(2))
    return int(format)


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
