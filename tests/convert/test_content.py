import dataclasses
import gzip
import re

import pytest

from svc_notebooks.convert.engines import available
from svc_notebooks.convert.input.detect import decrypted, detect_source
from svc_notebooks.convert.job import ConversionError, Job
from svc_notebooks.convert.registry import reader_for, readers
from svc_notebooks.core.http import media_types
from svc_notebooks.core.http.media_types import CSV, DOCX, IMPORTS, PNG, XLSX
from tests.convert import sources
from tests.convert.sources import zipped

ODF = "application/vnd.oasis.opendocument."
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF\n"
BOF = b"\x09\x08\x10\0" + bytes(16)
CONTENTS: dict[str, bytes] = {
    "empty": b"",
    "text": b"a,b\n1,2\n",
    "utf16": "слово, ещё слово".encode("utf-16-le"),
    "html": b"<!DOCTYPE html><p>words",
    "json": b"{}",
    "svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    "rtf": b"{\\rtf1 words}",
    "docx": sources.zipped({"[Content_Types].xml": "", "word/document.xml": ""}),
    "xlsx": sources.zipped({"[Content_Types].xml": "", "xl/workbook.xml": ""}),
    "pptx": sources.zipped({"[Content_Types].xml": "", "ppt/presentation.xml": ""}),
    "odt": sources.zipped({"mimetype": ODF + "text"}),
    "ods": sources.zipped({"mimetype": ODF + "spreadsheet"}),
    "odp": sources.zipped({"mimetype": ODF + "presentation"}),
    "doc": sources.ole({"WordDocument": b"\xec\xa5\xc1\0"}),
    "xls": sources.ole({"Workbook": BOF}),
    "ppt": sources.ole(
        {"Current User": b"\0\0\xf6\x0f\x14\0\0\0\x14\0\0\0\x5f\xc0\x91\xe3", "PowerPoint Document": b"x"}
    ),
    "pdf": PDF,
    "png": sources.png(),
    "bmp": sources.picture_of("x", "BMP"),
    "tiff": sources.picture_of("x", "TIFF"),
    "zip": sources.zipped({"readme": "words"}),
    "gzip": gzip.compress(b"words", mtime=0),
    "other": bytes(range(256)) * 20,
}
"""A small content of each format. "other" is binary content of an unknown format."""

OUTCOMES = (
    # A column for each of CONTENTS. "=": read as declared (or refused by that reader), "r": read as what it is,
    # "x": refused as another format, "0": refused as empty
    ("document", "MS Word", "0=====r=xxrxxrxxrrrx=x="),
    ("document", "MS Word 97 to 2003", "0=====rrxxrxx=xxrrrx=x="),
    ("document", "OpenDocument text", "0=====rrxx=xxrxxrrrx=x="),
    ("document", "HTML", "=======rxxrxxrxxrrrxxxx"),
    ("document", "Rich text", "0======rxxrxxrxxrrrx=x="),
    ("document", "Plain text", "=======rxxrxxrxxrrrxxxx"),
    ("document", "Markdown", "=======rxxrxxrxxrrrxxxx"),
    ("spreadsheet", "MS Excel", "0=====xx=xxrxxrxxxxx=x="),
    ("spreadsheet", "MS Excel 97 to 2003", "0=====xxrxxrxx=xxxxx=x="),
    ("spreadsheet", "OpenDocument spreadsheet", "0=====xxrxx=xxrxxxxx=x="),
    ("spreadsheet", "CSV", "=======xrxxrxxrxxxxxxxx"),
    ("spreadsheet", "TSV", "=======xrxxrxxrxxxxxxxx"),
    ("spreadsheet", "Plain text", "=======xrxxrxxrxxxxxxxx"),
    ("presentation", "MS PowerPoint", "0=====xxx=xxrxxrxxxx=x="),
    ("presentation", "MS PowerPoint 97 to 2003", "0=====xxxrxxrxx=xxxx=x="),
    ("presentation", "OpenDocument presentation", "0=====xxxrxx=xxrxxxx=x="),
    ("document", "JPEG", "0=====rrxxrxxrxxr====x="),
    ("document", "PNG", "0=====rrxxrxxrxxr====x="),
    ("document", "GIF", "0=====rrxxrxxrxxr====x="),
    ("document", "BMP", "0=====rrxxrxxrxxr====x="),
    ("document", "PDF", "0=====rrxxrxxrxx=rrx=x="),
    ("script", "Plain text of a script", "=======xxxxxxxxxxxxxxxx"),
    ("script", "JSON", "0======xxxxxxxxxxxxxxxx"),
    ("drawing", "SVG", "0======xxxxxxxxxxxxxxxx"),
)  # fmt: skip
DOCUMENT = 'upload it with convert_to="document", or without conversion.'
PAIRS = [
    pytest.param(native, title, name, outcome, id=f"{native}-{title}-{name}")
    for native, title, outcomes in OUTCOMES
    for name, outcome in zip(CONTENTS, outcomes, strict=True)
]


def test_each_import_format_has_a_row() -> None:
    assert [row[:2] for row in OUTCOMES] == [(row.native, row.title) for row in IMPORTS]


@pytest.mark.parametrize("native,title,name,outcome", PAIRS)
def test_a_source_is_read_as_declared_or_as_what_it_is(native, title, name, outcome, job, monkeypatch):
    monkeypatch.setattr(available, "soffice", lambda: "soffice")  # also where LibreOffice is not installed
    media_type = next(row.media_types[0] for row in IMPORTS if (row.native, row.title) == (native, title))
    declared = f".{readers(extended=True)[native, media_type].function}"
    job = dataclasses.replace(job, media_type=media_type)

    if outcome in "0x":
        message = "the file is empty, " if outcome == "0" else f"the file is .+, not {re.escape(title)}"
        with pytest.raises(ConversionError, match=message):
            reader_for(CONTENTS[name], native, declared, job)
        return
    reader = reader_for(CONTENTS[name], native, declared, job)

    assert ("=" if reader == declared else "r") == outcome
    assert bool(job.notes) == (outcome == "r")


def test_without_libreoffice_the_message_names_it_if_the_content_needs_it(job, monkeypatch):
    monkeypatch.setattr(available, "soffice", lambda: None)
    message = "the file is MS Word 97 to 2003, not MS Word; the conversion needs LibreOffice, which is not installed"
    with pytest.raises(ConversionError, match=message):
        reader_for(CONTENTS["doc"], "document", ".docx", dataclasses.replace(job, media_type=DOCX))

    job = dataclasses.replace(job, media_type="application/msword")
    assert reader_for(CONTENTS["doc"], "document", ".document.read:doc", job) == ".document.read:doc"


@pytest.mark.parametrize(
    "source,native,media_type,message",
    [
        (PDF, "spreadsheet", CSV, f"the file is PDF, not CSV; {DOCUMENT}"),
        (b"\xef\xbb\xbf\r\n" + PDF, "spreadsheet", CSV, f"the file is PDF, not CSV; {DOCUMENT}"),
        (b"%PDF-1.4 and other words", "spreadsheet", XLSX, f"the file is PDF, not MS Excel; {DOCUMENT}"),
        (CONTENTS["docx"], "spreadsheet", XLSX, f"the file is MS Word, not MS Excel; {DOCUMENT}"),
        (CONTENTS["gzip"], "spreadsheet", CSV, "the file is compressed (gzip), not CSV; upload it without conversion."),
        (b"", "document", DOCX, "the file is empty, and MS Word cannot be empty; upload it without conversion."),
        (b"", "document", PNG, "the file is empty, and PNG cannot be empty; upload it without conversion."),
    ],
)
def test_the_message_names_both_formats(source: bytes, native: str, media_type: str, message: str, job: Job) -> None:
    with pytest.raises(ConversionError) as caught:
        reader_for(source, native, ".none", dataclasses.replace(job, media_type=media_type))
    assert str(caught.value) == message


def test_the_note_names_both_formats(job: Job) -> None:
    assert reader_for(CONTENTS["xlsx"], "spreadsheet", ".none", dataclasses.replace(job, media_type=CSV)) == (
        ".spreadsheet.xls:read_xlsx"
    )
    assert job.notes == ["The file is MS Excel, not CSV, and was read as such."]


@pytest.mark.parametrize(
    "text",
    ["%PDF-1.4 is a header", "PK is a signature", "GIF89a is a format", "BM is a signature", "{\\rtf1 begins RTF",
     "한국어 이 가 는 을", "RIFF and WEBP", "PK\\x03\\x04", "II*", "MM", "%PDF-"],
)  # fmt: skip
@pytest.mark.parametrize("charset", ["utf-8", "utf-16", "iso2022_kr", "utf-32-be"])
def test_text_that_begins_like_another_format_is_text(text: str, charset: str, job: Job) -> None:
    job = dataclasses.replace(job, media_type="text/plain")

    assert reader_for(text.encode(charset), "document", ".text", job) == ".text"


ENCRYPTED = {
    "docx": {"EncryptionInfo": b"x", "EncryptedPackage": b"x"}, "upper case": {"ENCRYPTEDPACKAGE": b"x"},
    "doc": {"1Table": b"x", "WordDocument": b"\xec\xa5\xc1\0\x71\x60\x09\x04\0\0\xf0\x13"},
    "xls": {"Workbook": BOF + b"\x2f\0\x36\0"}, "write-protected xls": {"Workbook": BOF + b"\x86\0\0\0\x2f\0\x36\0"},
}  # fmt: skip


@pytest.mark.spec("A5-02")
@pytest.mark.parametrize("name", ENCRYPTED)
def test_encrypted_office_files_are_said_to_be_encrypted(name: str) -> None:
    with pytest.raises(ConversionError, match=r"^the file is encrypted; save the file without a password\.$"):
        decrypted(sources.ole(ENCRYPTED[name]))


def test_a_package_with_another_password_is_said_to_be_encrypted() -> None:
    with pytest.raises(ConversionError, match="is encrypted"):
        decrypted(sources.encrypted(sources.docx(), "secret"))


def test_damaged_directories_are_left_to_the_reader(job: Job) -> None:
    job = dataclasses.replace(job, media_type="application/msword")
    container = sources.ole({"WordDocument": b"x"})

    for source in (container[:8], container[:600], container[:512] + bytes(4096), container[:48] + b"\xff" * 9999):
        assert reader_for(source, "document", ".doc", job) == ".doc"


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
