import pytest

from svc_notebooks.convert.input.detect import detect_source
from svc_notebooks.core.http import media_types
from tests.convert.sources import zipped

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


def archive(*names: str, mimetype: str | None = None) -> bytes:
    return zipped(({"mimetype": mimetype} if mimetype else {}) | dict.fromkeys(names, "x"))


@pytest.mark.parametrize(
    "source,native,expected",
    [
        (archive("[Content_Types].xml", "word/document.xml"), "document", media_types.DOCX),
        (archive("[Content_Types].xml", "xl/workbook.xml"), "spreadsheet", media_types.XLSX),
        (archive("[Content_Types].xml", "ppt/presentation.xml"), "presentation", media_types.PPTX),
        (zipped({"[Content_Types].xml": "application/vnd.ms-word.document.macroEnabled.main+xml", "a/b.xml": ""}),
         "document", media_types.DOCX),
        (archive("content.xml", mimetype=media_types.ODT), "document", media_types.ODT),
        (archive("content.xml", mimetype=media_types.ODS), "spreadsheet", media_types.ODS),
        (archive("content.xml", mimetype=media_types.ODP + "-template"), "presentation", media_types.ODP),
        (archive("content.xml"), "document", media_types.ODT),
        (archive("content.xml"), "spreadsheet", media_types.ODS),
        (b'<?xml version="1.0"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0">',
         "presentation", media_types.ODP),
        (archive("readme"), "document", None),
        (b"PK\x03\x04 and no more", "document", None),
        (OLE, "document", "application/msword"),
        (OLE, "spreadsheet", "application/vnd.ms-excel"),
        (OLE, "presentation", "application/vnd.ms-powerpoint"),
        (OLE, "script", None),
        (b"%PDF-1.4", "document", media_types.PDF),
        (b"\x89PNG\r\n\x1a\n", "document", media_types.PNG),
        (b"\xff\xd8\xff\xe0", "document", media_types.JPEG),
        (b"GIF89a", "document", "image/gif"),
        (b"BM\x1e\0\0\0\0\0\0\0", "document", "image/bmp"),
        (b"BMW, sold, stock\n", "spreadsheet", media_types.TEXT),
        (b"{\\rtf1 }", "document", media_types.RTF),
        (b"\xef\xbb\xbf \n<!DOCTYPE HTML><p>", "document", media_types.HTML),
        (b"<HTML><body>", "document", media_types.HTML),
        (b"a < b", "document", media_types.TEXT),
        (b"a,b", "spreadsheet", media_types.TEXT),
        ("a".encode("utf-16"), "document", media_types.TEXT),
        (b"{}", "script", media_types.JSON),
        (b"<svg/>", "drawing", media_types.SVG),
        (b"\0\1\2", "document", None),
        (b"", "document", media_types.TEXT),
    ],
)  # fmt: skip
def test_media_types_of_first_bytes(source: bytes, native: str, expected: str | None) -> None:
    assert detect_source(source, native) == expected
