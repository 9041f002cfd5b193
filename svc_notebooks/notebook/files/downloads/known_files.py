"""Reads the metadata of files from the rows of a file argument, so that a call need not request them again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from ...arguments import is_frame
from ...frames.frames import camel

if TYPE_CHECKING:
    from ....core.resources.files import File

_NEEDED = ("id", "name", "size", "mime_type")
_CHECKSUMS = {"sha256_checksum": 64, "md5_checksum": 32}
"""The columns with checksums, and their numbers of hexadecimal digits."""


def known_files(file: Any, *, checksum: bool = True) -> dict[str, File]:
    """Return the metadata by file id of the rows that have an id, a name, a size, a media type and a checksum.

    If `checksum` is False, a row needs no checksum.

    >>> row = {"id": "a", "name": "a.txt", "size": 1, "mime_type": "text/plain", "md5_checksum": "0" * 32}
    >>> known_files([row, {"id": "b", "name": "b.txt"}, "c"])["a"]["size"]
    '1'
    """
    return {row["id"]: row for row in _known(file) if not checksum or row.keys() & {"md5Checksum", "sha256Checksum"}}


def _known(value: Any) -> Iterator[File]:
    if isinstance(value, str):
        return
    if is_frame(value):
        columns = [column for column in (*_NEEDED, *_CHECKSUMS) if column in value.columns]
        if {*_NEEDED} <= {*columns}:
            for cells in zip(*(value[column].tolist() for column in columns), strict=True):
                yield from _known_row(dict(zip(columns, cells, strict=True)))
    elif (
        isinstance(value, Mapping) or hasattr(value, "_fields") or (hasattr(value, "index") and hasattr(value, "keys"))
    ):
        row = value._asdict() if hasattr(value, "_asdict") else value
        yield from _known_row({column: row[column] for column in (*_NEEDED, *_CHECKSUMS) if column in row})
    elif isinstance(value, Iterable):
        for member in value:
            yield from _known(member)


def _known_row(row: Mapping[str, Any]) -> Iterator[File]:
    """Yield the metadata in a row as a resource of the interface, unless a value is missing or not valid."""
    checksums = {
        camel(column): row[column]
        for column, digits in _CHECKSUMS.items()
        if isinstance(row.get(column), str) and len(row[column]) == digits
    }
    is_text = all(isinstance(row.get(column), str) and row[column] for column in ("id", "name", "mime_type"))
    size = str(row.get("size"))
    if is_text and size.isdecimal():
        known = {"id": row["id"], "name": row["name"], "size": size, "mimeType": row["mime_type"], **checksums}
        yield cast("File", known)
