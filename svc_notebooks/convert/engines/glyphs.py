"""Reads the characters that a font file covers from its table `cmap` (https://learn.microsoft.com/typography/opentype/)."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

_LAST_CODE_POINT = 0x10FFFF
_MAX_GROUPS = 100_000
"""The maximum number of character ranges that are read from one face. The largest fonts have 20,000 ranges."""


def character_ranges(path: str, index: int) -> list[tuple[int, int]]:
    """Return pairs (first, last code point) from the table `cmap` of a face, or [] if the table cannot be read."""
    try:
        with Path(path).open("rb") as file:
            offset = _cmap_offset(file, index)
            return [] if offset is None else _read_cmap(file, offset)
    except (OSError, struct.error):
        return []


def _cmap_offset(file: BinaryIO, index: int) -> int | None:
    """Return the offset of the table `cmap` of the face with this index in a font collection, or None."""
    start = 0
    if file.read(4) == b"ttcf":
        file.seek(12 + 4 * index)
        (start,) = struct.unpack(">I", file.read(4))
    file.seek(start + 4)
    (count,) = struct.unpack(">H", file.read(2))
    file.seek(start + 12)
    tables = struct.iter_unpack(">4sIII", file.read(16 * count))
    return next((offset for tag, _, offset, _ in tables if tag == b"cmap"), None)


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
