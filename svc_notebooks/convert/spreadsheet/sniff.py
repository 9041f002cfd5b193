"""Files that are not what they are called: browsers name every CSV an Excel file, shops send tables of HTML as xls."""

from __future__ import annotations

from ..input.detect import OLE
from ..job import ConversionError, Job
from .model import Workbook

_OLD = (b"\x09\x00\x04\x00", b"\x09\x02\x06\x00", b"\x09\x04\x06\x00", b"\x09\x08")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_HEAD = 4096


def read_other(source: bytes, job: Job) -> Workbook:
    """A workbook, by what its first bytes are, whatever it was said to be.

    Raises:
        ConversionError: these bytes are no spreadsheet.
    """
    from . import xls as read_xls
    from .html import read as read_html
    from .ods import read as read_ods
    from .text import read as read_text
    from .xlsx import read as read_xlsx

    if source.startswith(OLE) or source.startswith(_OLD):
        if _ENCRYPTED in source:
            raise ConversionError("the file is encrypted; send it without a password.")
        return read_xls.read_binary(source, job)
    if source.startswith(b"PK"):
        return (
            read_ods.read(source, job) if b"opendocument.spreadsheet" in source[:200] else read_xlsx.read(source, job)
        )
    head = source[:_HEAD].replace(b"\0", b"").lower()
    if b"urn:schemas-microsoft-com:office:spreadsheet" in head:
        raise ConversionError("this is a workbook as one XML file (Excel 2003); save it as xlsx.")
    if b"<table" in head or b"<html" in head or b"<!doctype html" in head:
        return read_html.read(source, job)
    return read_text.read_table(source, job)
