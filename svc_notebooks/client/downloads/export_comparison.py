"""Comparison of two exports of a document that ignores the dates in their metadata, such as the export time."""

from __future__ import annotations

import re
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from ...local.saving import same_bytes

_MAX_COMPARED = 16 * 1024 * 1024
"""The maximum size in bytes for a comparison without dates. Exports of the interface have at most 10 MB."""

_MAX_MEMBERS, _MAX_METADATA = 20_000, 1024 * 1024

_PDF_DATES = re.compile(
    rb"/(?:Creation|Mod)Date\s*\([^)]*\)"
    rb"|/ID\s*\[[^\]]*\]"
    rb"|<xmp:(?:Create|Modify|Metadata)Date>[^<]*</xmp:\w+>"
    rb"|<xmpMM:(?:Document|Instance)ID>[^<]*</xmpMM:\w+>"
    rb"|<pdf:(?:Creation|Mod)Date>[^<]*</pdf:\w+>"
    rb'|\bxmp:(?:Create|Modify|Metadata)Date="[^"]*"'
)
_ISO_DATES = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?")
_METADATA = ("docProps/core.xml", "docProps/app.xml", "meta.xml")


def same_export(first: Path, second: Path) -> bool:
    """Return True if two files are the same export, apart from the dates in their metadata."""
    if same_bytes(first, second):
        return True
    if max(path.stat().st_size for path in (first, second)) > _MAX_COMPARED:
        return False
    left, right = first.read_bytes(), second.read_bytes()
    if left.startswith(b"%PDF-") and right.startswith(b"%PDF-"):
        return _PDF_DATES.sub(b"", left) == _PDF_DATES.sub(b"", right)
    if left.startswith(b"PK") and right.startswith(b"PK"):
        if max(content.count(b"PK\1\2") for content in (left, right)) > _MAX_MEMBERS:  # an entry begins with this
            return False
        try:
            return _members(first) == _members(second)
        except (BadZipFile, OSError, NotImplementedError, RuntimeError, ValueError):
            return False
    return False


def _members(path: Path) -> list[tuple[str, object]]:
    """Return names in a ZIP archive with size and checksum, or for metadata files with the bytes without dates."""
    members: list[tuple[str, object]] = []
    with ZipFile(path) as archive:
        for entry in archive.infolist():
            members.append((entry.filename, (entry.file_size, entry.CRC)))
            if entry.filename in _METADATA or entry.filename.endswith(".opf"):
                with archive.open(entry) as file:  # which does not decompress more than is read
                    members[-1] = entry.filename, _ISO_DATES.sub(b"", file.read(_MAX_METADATA))
    return members
