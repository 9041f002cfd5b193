"""Detects the Office format in an OLE compound file, and decrypts files that have the default password of Excel."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from ..job import ConversionError

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of Office files in the formats before 2007, and of encrypted Office files in newer formats."""
_MEDIA_TYPES = {
    "WordDocument": "application/msword",
    "Workbook": "application/vnd.ms-excel",
    "Book": "application/vnd.ms-excel",
    "PowerPoint Document": "application/vnd.ms-powerpoint",
}
_STREAMS = (*_MEDIA_TYPES, "EncryptedPackage", "Current User")
_DEFAULT_PASSWORD = "VelvetSweatshop"
"""The password with which Excel encrypts protected workbooks for which users set no password to open."""
_FIB_ENCRYPTED = 0x0100
_ENCRYPTED_PRESENTATION = b"\xdf\xc4\xd1\xf3"
_WRITE_PROTECT, _FILE_PASS = b"\x86\0", b"\x2f\0"


def load_xlrd() -> Any:
    """Import xlrd, and let it read streams with a ring of sectors or too many. Raises ImportError if it is missing."""
    import xlrd

    xlrd.compdoc.CompDoc._get_stream = _stream
    xlrd.compdoc.CompDoc._locate_stream = _locate
    return xlrd


def _locate(*arguments: Any) -> tuple[bytes, int, int]:
    """Return (bytes, position, length) of a stream. xlrd refuses a stream with more sectors than its size says."""
    stream = _stream(*arguments)
    return stream, 0, len(stream)


def _stream(
    container: Any, memory: bytes, base: int, table: list[int], sector_size: int, first: int,
    size: int | None = None, name: str = "", seen_id: int | None = None,
) -> bytes:  # fmt: skip
    """Return the bytes of a stream, for which `table` has the number of the sector after each sector."""
    sectors: list[bytes] = []
    while 0 <= first < len(table) and len(sectors) < len(table):
        sectors.append(memory[base + first * sector_size : base + (first + 1) * sector_size])
        first = table[first]
    return b"".join(sectors)[:size]


def _streams(source: bytes) -> dict[str, bytes]:
    """Return the streams of a file by name, which are empty if the file has no such stream or is damaged."""
    try:
        container = load_xlrd().compdoc.CompDoc(source, logfile=io.StringIO(), ignore_workbook_corruption=True)
        return {name: container.get_named_stream(name) or b"" for name in _STREAMS}
    except Exception:  # xlrd is missing, or the directory is damaged, for which xlrd raises errors of many types
        return dict.fromkeys(_STREAMS, b"")


def media_type(source: bytes) -> str | None:
    """Return the media type of an OLE file, or None if it is unknown."""
    streams = _streams(source)
    return next((media_type for name, media_type in _MEDIA_TYPES.items() if streams[name]), None)


def decrypted(source: bytes) -> bytes:
    """Decrypt an Office file that has the default password of Excel, and return other files as they are.

    Raises ConversionError if the file has another password.
    """
    if not source.startswith(SIGNATURE) or not _is_encrypted(_streams(source)):
        return source
    target = io.BytesIO()
    try:
        import msoffcrypto

        file = msoffcrypto.OfficeFile(io.BytesIO(source))
        file.load_key(password=_DEFAULT_PASSWORD)
        file.decrypt(target)
    except Exception as error:  # another password, msoffcrypto is missing, or one of many errors for damaged files
        raise ConversionError("the file is encrypted; save the file without a password.") from error
    return target.getvalue()


def _is_encrypted(streams: Mapping[str, bytes]) -> bool:
    """Return whether a stream says so: of MS-OFFCRYPTO, the FIB of Word, the user of PowerPoint, FilePass of Excel."""
    workbook = streams["Workbook"] or streams["Book"]
    second = 4 + int.from_bytes(workbook[2:4], "little")  # the record after the first, which is BOF
    if workbook[second : second + 2] == _WRITE_PROTECT:
        second += 4 + int.from_bytes(workbook[second + 2 : second + 4], "little")
    return bool(
        streams["EncryptedPackage"]
        or int.from_bytes(streams["WordDocument"][10:12], "little") & _FIB_ENCRYPTED
        or streams["Current User"][12:16] == _ENCRYPTED_PRESENTATION
        or workbook[second : second + 2] == _FILE_PASS
    )
