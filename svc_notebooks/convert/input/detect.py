"""Detects the media type of a source from its first bytes."""

from __future__ import annotations

import io
import zipfile

from ...core.http import native_formats
from ...core.http.mime import UNKNOWN, sniff

GENERIC_TYPES = frozenset(
    {UNKNOWN, native_formats.ZIP, "application/x-zip-compressed", "application/x-ole-storage", "binary/octet-stream"}
)
"""Media types that do not determine the file format, such as application/zip."""

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of Office files in the formats before 2007, and of encrypted Office files in newer formats."""
_OLE_TYPES = {
    "document": "application/msword",
    "spreadsheet": "application/vnd.ms-excel",
    "presentation": "application/vnd.ms-powerpoint",
}
_MAIN_PARTS = (("word/", native_formats.DOCX), ("xl/", native_formats.XLSX), ("ppt/", native_formats.PPTX))
_MARKUP = (b"<!doctype html", b"<html", b"<head", b"<body")


def detect_source(source: bytes, native: str) -> str | None:
    """Return the media type of a source for the native type `native`, or None if the type is unknown.

    >>> detect_source(b"a,b", "spreadsheet"), detect_source(b"{}", "script")
    ('text/plain', 'application/json')
    """
    if source.startswith(OLE):
        return _OLE_TYPES.get(native)
    if source.startswith(b"PK"):
        return _detect_in_zip(source)
    if source.startswith(b"BM"):
        return "image/bmp"
    return sniff(source) or _detect_text(source, native)


def _detect_in_zip(source: bytes) -> str | None:
    try:
        with zipfile.ZipFile(io.BytesIO(source)) as archive:
            names = archive.namelist()
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 200:
                return archive.read("mimetype").decode("ascii", "replace").strip().removesuffix("-template")
    except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError, OSError, EOFError):
        return None
    parts = (media_type for folder, media_type in _MAIN_PARTS if any(name.startswith(folder) for name in names))
    return next(parts, None)


def _detect_text(source: bytes, native: str) -> str | None:
    head = source[:4096]
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    if native == "script":
        return native_formats.JSON
    if native == "drawing":
        return native_formats.SVG
    is_html = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_MARKUP)
    return native_formats.HTML if is_html else native_formats.TEXT
