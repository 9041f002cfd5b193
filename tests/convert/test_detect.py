import pytest

from svc_notebooks.convert.input.detect import detect_source
from svc_notebooks.core.http import native_formats
from tests.convert.sources import zipped

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


def archive(*names: str, mimetype: str | None = None) -> bytes:
    return zipped(({"mimetype": mimetype} if mimetype else {}) | dict.fromkeys(names, "x"))


@pytest.mark.parametrize(
    "source,native,expected",
    [
        (archive("[Content_Types].xml", "word/document.xml"), "document", native_formats.DOCX),
        (archive("[Content_Types].xml", "xl/workbook.xml"), "spreadsheet", native_formats.XLSX),
        (archive("[Content_Types].xml", "ppt/presentation.xml"), "presentation", native_formats.PPTX),
        (zipped({"[Content_Types].xml": "application/vnd.ms-word.document.macroEnabled.main+xml", "a/b.xml": ""}),
         "document", native_formats.DOCX),
        (archive("content.xml", mimetype=native_formats.ODT), "document", native_formats.ODT),
        (archive("content.xml", mimetype=native_formats.ODS), "spreadsheet", native_formats.ODS),
        (archive("content.xml", mimetype=native_formats.ODP + "-template"), "presentation", native_formats.ODP),
        (archive("content.xml"), "document", native_formats.ODT),
        (archive("content.xml"), "spreadsheet", native_formats.ODS),
        (b'<?xml version="1.0"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0">',
         "presentation", native_formats.ODP),
        (archive("readme"), "document", None),
        (b"PK\x03\x04 and no more", "document", None),
        (OLE, "document", "application/msword"),
        (OLE, "spreadsheet", "application/vnd.ms-excel"),
        (OLE, "presentation", "application/vnd.ms-powerpoint"),
        (OLE, "script", None),
        (b"%PDF-1.4", "document", native_formats.PDF),
        (b"\x89PNG\r\n\x1a\n", "document", native_formats.PNG),
        (b"\xff\xd8\xff\xe0", "document", native_formats.JPEG),
        (b"GIF89a", "document", "image/gif"),
        (b"BM\x1e\0\0\0\0\0\0\0", "document", "image/bmp"),
        (b"BMW, sold, stock\n", "spreadsheet", native_formats.TEXT),
        (b"{\\rtf1 }", "document", native_formats.RTF),
        (b"\xef\xbb\xbf \n<!DOCTYPE HTML><p>", "document", native_formats.HTML),
        (b"<HTML><body>", "document", native_formats.HTML),
        (b"a < b", "document", native_formats.TEXT),
        (b"a,b", "spreadsheet", native_formats.TEXT),
        ("a".encode("utf-16"), "document", native_formats.TEXT),
        (b"{}", "script", native_formats.JSON),
        (b"<svg/>", "drawing", native_formats.SVG),
        (b"\0\1\2", "document", None),
        (b"", "document", native_formats.TEXT),
    ],
)  # fmt: skip
def test_media_types_of_first_bytes(source: bytes, native: str, expected: str | None) -> None:
    assert detect_source(source, native) == expected
