"""Detects the media type of a source from its first bytes, and reads and decrypts OLE compound files."""

from __future__ import annotations

import io
import re
import zipfile
import zlib

from ...core.http import media_types
from ...core.http.media_types import OCTET_STREAM, sniff
from ..job import ConversionError
from .charset import detect_utf16_or_utf32

GENERIC_TYPES = frozenset(  # which do not determine the format
    {OCTET_STREAM, media_types.ZIP, "application/x-zip-compressed", "application/x-ole-storage", "binary/octet-stream"}
)

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # the first bytes of Office files before 2007, and of encrypted ones
WORKBOOKS = ("Workbook", "Book")  # the names that the stream of a workbook may have
_OLE_STREAMS = {
    "WordDocument": "application/msword",
    **dict.fromkeys(WORKBOOKS, "application/vnd.ms-excel"),
    "PowerPoint Document": "application/vnd.ms-powerpoint",
}
_DEFAULT_PASSWORD = "VelvetSweatshop"  # that of protected workbooks with no password to open


_OLE_TYPES = {
    "document": "application/msword",
    "spreadsheet": "application/vnd.ms-excel",
    "presentation": "application/vnd.ms-powerpoint",
}
_ODF_TYPES = {"document": media_types.ODT, "spreadsheet": media_types.ODS, "presentation": media_types.ODP}
_ODF_NAMESPACE = b"urn:oasis:names:tc:opendocument:xmlns:office:1.0"
_OFFICE_TYPES = {  # the usual folder of the parts, and the content type of the main part
    media_types.DOCX: ("word/", re.compile(rb"(?:wordprocessingml|ms-word)\.[\w.]+\.main\+xml")),
    media_types.XLSX: ("xl/", re.compile(rb"(?:spreadsheetml|ms-excel)\.[\w.]+\.main\+xml")),
    media_types.PPTX: ("ppt/", re.compile(rb"(?:presentationml|ms-powerpoint)\.[\w.]+\.main\+xml")),
}
_CONTENT_TYPES, _MAX_CONTENT_TYPES = "[Content_Types].xml", 1_000_000
_MARKUP = (b"<!doctype html", b"<html", b"<head", b"<body")
_PICTURES = (
    (re.compile(rb"BM.{4}\0{4}", re.DOTALL), "image/bmp"), (re.compile(rb"II\*\0|MM\0\*"), "image/tiff"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/webp"),
)  # fmt: skip
_CONTROLS = re.compile(rb"[\0-\x08\x10-\x1a\x1c-\x1f]")
_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
_HEAD = 4096


def detect_source(source: bytes, native: str) -> str | None:
    """Return the media type of a source for the native type `native`, or None if the type is unknown.

    >>> detect_source(b"a,b", "spreadsheet"), detect_source(b"{}", "script")
    ('text/plain', 'application/json')
    """
    if source.startswith(OLE):
        return _OLE_TYPES.get(native)
    if source.startswith(b"PK\x03\x04"):
        return _detect_in_zip(source, native)
    return _signature(source) or _detect_text(source, native)


def detect_binary(source: bytes, *, may_be_text: bool = True) -> str | None:
    """Return the media type of content that is not plain text, or None.

    RTF counts as such content, and text that begins by chance like another format does not if the content may be text.
    The type is "" for binary content of an unknown format.
    """
    if source.startswith(OLE):
        return next((media_type for name, media_type in _OLE_STREAMS.items() if ole_stream(source, name)), "")
    head = source[:_HEAD].lstrip(b"\xef\xbb\xbf\t\r\n ")
    media_type = _signature(head)
    if media_type == media_types.ZIP and zipfile.is_zipfile(io.BytesIO(source)):
        return _detect_in_zip(source) or media_types.ZIP
    if media_type == media_types.RTF and source.rstrip(b"\0\t\r\n ").endswith(b"}"):
        return media_type
    is_wide = detect_utf16_or_utf32(source) or head.startswith(_BYTE_ORDER_MARKS)
    controls = 0 if is_wide else len(_CONTROLS.findall(head))
    if media_type and (controls or not may_be_text or (media_type == media_types.PDF and b"startxref" in source)):
        return media_type
    return "" if controls > len(head) // 20 else None


def _signature(head: bytes) -> str | None:
    return sniff(head) or next((media_type for pattern, media_type in _PICTURES if pattern.match(head)), None)


def _detect_in_zip(source: bytes, native: str = "") -> str | None:
    try:
        with zipfile.ZipFile(io.BytesIO(source)) as archive:
            names = archive.namelist()
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 200:
                return archive.read("mimetype").decode("ascii", "replace").strip().removesuffix("-template")
            has_types = _CONTENT_TYPES in names and archive.getinfo(_CONTENT_TYPES).file_size < _MAX_CONTENT_TYPES
            types = archive.read(_CONTENT_TYPES) if has_types else b""
    except (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, RuntimeError, OSError, EOFError):
        return None
    if "content.xml" in names:
        return _ODF_TYPES.get(native)
    for media_type, (folder, content_type) in _OFFICE_TYPES.items():
        if content_type.search(types) or any(name.startswith(folder) for name in names):
            return media_type
    return None


def _detect_text(source: bytes, native: str) -> str | None:
    head = source[:4096]
    if b"\0" in head and not head.startswith(_BYTE_ORDER_MARKS):
        return None
    if native == "script":
        return media_types.JSON
    if native == "drawing":
        return media_types.SVG
    if native in _ODF_TYPES and _ODF_NAMESPACE in head.replace(b"\0", b""):
        return _ODF_TYPES[native]
    is_html = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_MARKUP)
    return media_types.HTML if is_html else media_types.TEXT


def ole_stream(source: bytes, *names: str) -> bytes:
    """Return the first stream with one of the names, or b"" if there is none or the file is damaged."""
    try:
        import olefile

        with olefile.OleFileIO(io.BytesIO(source)) as file:
            name = next(filter(file.exists, names), None)
            return b"" if name is None else bytes(file.openstream(name).read())
    except Exception:  # olefile is missing, or raises one of many errors for damaged files
        return b""


def decrypted(source: bytes) -> bytes:
    """Decrypt an Office file that has the default password of Excel, and return other files as they are.

    Raises ConversionError if the file has another password.
    """
    if not source.startswith(OLE):
        return source
    try:
        import msoffcrypto

        file = msoffcrypto.OfficeFile(io.BytesIO(source))
        is_encrypted = file.is_encrypted()
    except Exception:  # msoffcrypto is missing, or raises one of many errors for damaged and other files
        is_encrypted = bool(ole_stream(source, "EncryptedPackage"))
    if not is_encrypted:
        return source
    target = io.BytesIO()
    try:
        file.load_key(password=_DEFAULT_PASSWORD)
        file.decrypt(target)
    except Exception as error:  # another password, or what is above
        raise ConversionError("the file is encrypted; save the file without a password.") from error
    return target.getvalue()
