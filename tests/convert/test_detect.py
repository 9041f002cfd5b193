"""Detection of media types by content."""

from __future__ import annotations

import io
import zipfile

import pytest

from svc_notebooks.convert.input.detect import detect_source
from svc_notebooks.core.http import native_formats as f

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


def archive(*names: str, mimetype: str | None = None) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        if mimetype:
            made.writestr("mimetype", mimetype)
        for name in names:
            made.writestr(name, b"x")
    return file.getvalue()


@pytest.mark.parametrize(
    "source,native,expected",
    [
        (archive("[Content_Types].xml", "word/document.xml"), "document", f.DOCX),
        (archive("[Content_Types].xml", "xl/workbook.xml"), "spreadsheet", f.XLSX),
        (archive("[Content_Types].xml", "ppt/presentation.xml"), "presentation", f.PPTX),
        (archive("content.xml", mimetype=f.ODT), "document", f.ODT),
        (archive("content.xml", mimetype=f.ODS), "spreadsheet", f.ODS),
        (archive("content.xml", mimetype=f.ODP + "-template"), "presentation", f.ODP),
        (archive("readme"), "document", None),
        (b"PK\x03\x04 and no more", "document", None),
        (OLE, "document", "application/msword"),
        (OLE, "spreadsheet", "application/vnd.ms-excel"),
        (OLE, "presentation", "application/vnd.ms-powerpoint"),
        (OLE, "script", None),
        (b"%PDF-1.4", "document", f.PDF),
        (b"\x89PNG\r\n\x1a\n", "document", f.PNG),
        (b"\xff\xd8\xff\xe0", "document", f.JPEG),
        (b"GIF89a", "document", "image/gif"),
        (b"BM....", "document", "image/bmp"),
        (b"{\\rtf1 }", "document", f.RTF),
        (b"\xef\xbb\xbf \n<!DOCTYPE HTML><p>", "document", f.HTML),
        (b"<HTML><body>", "document", f.HTML),
        (b"a < b", "document", f.TEXT),
        (b"a,b", "spreadsheet", f.TEXT),
        ("a".encode("utf-16"), "document", f.TEXT),
        (b"{}", "script", f.JSON),
        (b"<svg/>", "drawing", f.SVG),
        (b"\0\1\2", "document", None),
        (b"", "document", f.TEXT),
    ],
)
def test_what_the_bytes_prove(source: bytes, native: str, expected: str | None) -> None:
    assert detect_source(source, native) == expected
