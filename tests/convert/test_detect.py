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
        (zipped({"[Content_Types].xml": "application/vnd.ms-word.document.macroEnabled.main+xml", "a/b.xml": ""}),
         "document", media_types.DOCX),
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
        (b"\xff\xd8\xff\xe0", "document", media_types.JPEG),
        (b"GIF89a", "document", "image/gif"),
        (b"BMW, sold, stock\n", "spreadsheet", media_types.TEXT),
        (b"\xef\xbb\xbf \n<!DOCTYPE HTML><p>", "document", media_types.HTML),
        (b"<HTML><body>", "document", media_types.HTML),
        (b"a < b", "document", media_types.TEXT),
        (b"a,b", "spreadsheet", media_types.TEXT),
    ],
)  # fmt: skip
def test_media_types_of_first_bytes(source: bytes, native: str, expected: str | None) -> None:
    assert detect_source(source, native) == expected
