"""Reads a spreadsheet file in the format that its first bytes indicate, since many files have a wrong media type.

Browsers send CSV files as Excel files, and many programs export HTML tables as xls.
"""

from __future__ import annotations

from ..input.detect import OLE
from ..job import ConversionError, Job
from . import xls
from .html import read as html
from .model import Workbook
from .ods import read as ods
from .text import read as text
from .xlsx import read as xlsx

_BIFF = (b"\x09\x00\x04\x00", b"\x09\x02\x06\x00", b"\x09\x04\x06\x00", b"\x09\x08")
_ZIP = b"PK"
_HEAD = 4096


def read_xlsx(source: bytes, job: Job) -> Workbook:
    """Read a zip file as xlsx, or another file in the format of its first bytes. Raises ConversionError or TooLarge."""
    return xlsx.read(source, job) if source.startswith(_ZIP) else read_by_signature(source, job)


def read_ods(source: bytes, job: Job) -> Workbook:
    """Read a zip file as ods, or another file in the format of its first bytes. Raises ConversionError or TooLarge."""
    return ods.read(source, job) if source.startswith(_ZIP) else read_by_signature(source, job)


def read_by_signature(source: bytes, job: Job) -> Workbook:
    """Read a file in the format of its first bytes, else as CSV. Raises ConversionError or TooLarge."""
    if source.startswith((OLE, *_BIFF)):
        return xls.read(source, job)
    if source.startswith(_ZIP):
        return ods.read(source, job) if b"opendocument.spreadsheet" in source[:200] else xlsx.read(source, job)
    head = source[:_HEAD].replace(b"\0", b"").lower()
    if b"urn:oasis:names:tc:opendocument:xmlns:office" in head:
        return ods.read(source, job)
    if b"urn:schemas-microsoft-com:office:spreadsheet" in head:
        raise ConversionError("the file is a workbook of Excel 2003 XML; save it as xlsx.")
    if b"<table" in head or b"<html" in head or b"<!doctype html" in head:
        return html.read(source, job)
    return text.read_csv(source, job)
