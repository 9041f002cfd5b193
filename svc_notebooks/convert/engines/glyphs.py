"""What a font says it has: two tables of its file, read without a library.

OS/2 tells the scripts that a face is made for, `cmap` each letter (https://learn.microsoft.com/typography/opentype/).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

_LAST = 0x10FFFF
_MOST = 100_000
"""Stretches of letters in one face; the largest fonts have 20,000."""


def ranges(path: str, index: int) -> int:
    """The Unicode ranges that a face says it covers (ulUnicodeRange), as bits; 0 for a file that cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return next((_os2(file, offset) for tag, offset in _tables(file, index) if tag == b"OS/2"), 0)
    except (OSError, struct.error):
        return 0


def letters(path: str, index: int) -> list[tuple[int, int]]:
    """The letters of a face, as first and last of each stretch; none for a file that cannot be read."""
    try:
        with Path(path).open("rb") as file:
            offset = next((offset for tag, offset in _tables(file, index) if tag == b"cmap"), None)
            return [] if offset is None else _stretches(file, offset)
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
    for at in range(0, len(directory), 16):
        tag, _, offset, _ = struct.unpack_from(">4sIII", directory, at)
        yield tag, offset


def _os2(file: BinaryIO, offset: int) -> int:
    file.seek(offset + 42)
    parts = struct.unpack(">4I", file.read(16))
    return sum(part << 32 * place for place, part in enumerate(parts))


def _stretches(file: BinaryIO, offset: int) -> list[tuple[int, int]]:
    """By the subtable that knows most: format 12 has all planes, format 4 the first."""
    file.seek(offset + 2)
    (count,) = struct.unpack(">H", file.read(2))
    places = {place for _, _, place in struct.iter_unpack(">HHI", file.read(8 * count))}
    kinds = {_kind(file, offset + place): offset + place for place in sorted(places)}
    readers = {12: partial(_segments, file), 4: partial(_pairs, file)}
    return next((read(kinds[kind]) for kind, read in readers.items() if kind in kinds), [])


def _kind(file: BinaryIO, offset: int) -> int:
    file.seek(offset)
    (kind,) = struct.unpack(">H", file.read(2))
    return int(kind)


def _segments(file: BinaryIO, offset: int) -> list[tuple[int, int]]:
    file.seek(offset + 12)
    (count,) = struct.unpack(">I", file.read(4))
    found = struct.iter_unpack(">III", file.read(12 * min(count, _MOST)))
    return [(first, min(last, _LAST)) for first, last, _ in found]


def _pairs(file: BinaryIO, offset: int) -> list[tuple[int, int]]:
    file.seek(offset + 6)
    (twice,) = struct.unpack(">H", file.read(2))
    file.seek(offset + 14)
    ends = struct.unpack(f">{twice // 2}H", file.read(twice))
    file.read(2)
    starts = struct.unpack(f">{twice // 2}H", file.read(twice))
    return [(first, last) for first, last in zip(starts, ends, strict=True) if first != 0xFFFF]
