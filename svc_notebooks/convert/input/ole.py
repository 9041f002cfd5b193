"""Reads the streams of OLE compound files, and decrypts Office files that have the default password of Excel."""

from __future__ import annotations

import io

from ..job import ConversionError

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of Office files in the formats before 2007, and of encrypted Office files in newer formats."""
WORKBOOKS = ("Workbook", "Book")
"""The names that the stream of a workbook may have."""
_MEDIA_TYPES = {
    "WordDocument": "application/msword",
    **dict.fromkeys(WORKBOOKS, "application/vnd.ms-excel"),
    "PowerPoint Document": "application/vnd.ms-powerpoint",
}
_DEFAULT_PASSWORD = "VelvetSweatshop"
"""The password with which Excel encrypts protected workbooks for which users set no password to open."""


def stream(source: bytes, *names: str) -> bytes:
    """Return the first stream with one of the names, or b"" if there is none or the file is damaged."""
    try:
        import olefile

        with olefile.OleFileIO(io.BytesIO(source)) as file:
            name = next(filter(file.exists, names), None)
            return b"" if name is None else bytes(file.openstream(name).read())
    except Exception:  # olefile is missing, or raises one of many errors for damaged files
        return b""


def media_type(source: bytes) -> str | None:
    """Return the media type of an OLE file, or None if it is unknown."""
    return next((media_type for name, media_type in _MEDIA_TYPES.items() if stream(source, name)), None)


def decrypted(source: bytes) -> bytes:
    """Decrypt an Office file that has the default password of Excel, and return other files as they are.

    Raises ConversionError if the file has another password.
    """
    if not source.startswith(SIGNATURE):
        return source
    try:
        import msoffcrypto

        file = msoffcrypto.OfficeFile(io.BytesIO(source))
        is_encrypted = file.is_encrypted()
    except Exception:  # msoffcrypto is missing, or raises one of many errors for damaged and other files
        is_encrypted = bool(stream(source, "EncryptedPackage"))
    if not is_encrypted:
        return source
    target = io.BytesIO()
    try:
        file.load_key(password=_DEFAULT_PASSWORD)
        file.decrypt(target)
    except Exception as error:  # another password, or what is above
        raise ConversionError("the file is encrypted; save the file without a password.") from error
    return target.getvalue()
