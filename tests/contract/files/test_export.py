"""Exports of native documents (A7). tests/convert has the tests of the content of the files."""

import csv
import io
from zipfile import ZipFile

import pytest

from svc_notebooks.convert.job import ConversionError, TooLarge
from svc_notebooks.convert.pool.converter import Converter
from tests.contract.conftest import Wire
from tests.contract.differences import choice

FILES = "/storage/v3/files"
NATIVE = "application/vnd.svc-apps."
TARGETS = [
    # native, target, how such a file begins
    ("document", "text/html", b"<!DOCTYPE html"),
    ("document", "application/zip", b"PK\x03\x04"),
    ("document", "text/plain", b"\xef\xbb\xbf"),
    ("document", "application/rtf", b"{\\rtf1"),
    ("document", "application/vnd.oasis.opendocument.text", b"PK\x03\x04"),
    ("document", "application/pdf", b"%PDF-1."),
    ("document", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", b"PK\x03\x04"),
    ("document", "application/epub+zip", b"PK\x03\x04"),
    ("spreadsheet", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", b"PK\x03\x04"),
    ("spreadsheet", "application/x-vnd.oasis.opendocument.spreadsheet", b"PK\x03\x04"),
    ("spreadsheet", "application/pdf", b"%PDF-1."),
    ("spreadsheet", "text/csv", b""),
    ("spreadsheet", "text/tab-separated-values", b""),
    ("spreadsheet", "application/zip", b"PK\x03\x04"),
    ("drawing", "image/jpeg", b"\xff\xd8\xff"),
    ("drawing", "image/png", b"\x89PNG"),
    ("drawing", "image/svg+xml", b"<"),
    ("drawing", "application/pdf", b"%PDF-1."),
    ("presentation", "application/vnd.openxmlformats-officedocument.presentationml.presentation", b"PK\x03\x04"),
    ("presentation", "application/vnd.oasis.opendocument.presentation", b"PK\x03\x04"),
    ("presentation", "application/pdf", b"%PDF-1."),
    ("presentation", "text/plain", b"\xef\xbb\xbf"),
    ("script", "application/vnd.svc-apps.script+json", b"{"),
]


PACKED = {
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "word/document.xml",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xl/workbook.xml",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "ppt/presentation.xml",
    "application/vnd.oasis.opendocument.text": b"application/vnd.oasis.opendocument.text",
    "application/x-vnd.oasis.opendocument.spreadsheet": b"application/vnd.oasis.opendocument.spreadsheet",
    "application/vnd.oasis.opendocument.presentation": b"application/vnd.oasis.opendocument.presentation",
    "application/epub+zip": b"application/epub+zip",
}
"""What tells the archives apart that begin alike: a part that each must have, or what it says that it is."""


def native(wire: Wire, native_type: str) -> str:
    return wire.post_json(FILES, {"name": "n", "mimeType": NATIVE + native_type}).json["id"]


def sheet(wire: Wire, content: bytes = b"a,b\n1,2\n") -> str:
    uri = wire.begin({"name": "n", "mimeType": NATIVE + "spreadsheet"}, X_Upload_Content_Type="text/csv")
    return wire.put(uri, content).json["id"]


def export(wire: Wire, file_id: str, media_type: str):
    return wire.send("GET", f"{FILES}/{file_id}/export?mimeType={media_type.replace('+', '%2B')}")


@pytest.mark.spec("A7-01", "A7-01a")
@pytest.mark.parametrize("native_type,target,begins", TARGETS)
def test_every_target_of_the_interface(wire: Wire, native_type: str, target: str, begins: bytes) -> None:
    answer = export(wire, native(wire, native_type), target)

    assert answer.status == 200, answer.body
    assert answer.headers["content-type"].split(";")[0] == target
    if not target.startswith("text/"):
        assert answer.body.startswith(begins)
    with choice("Content-Type of an export"):
        assert answer.headers["content-type"] == target
        assert answer.headers["content-length"] == str(len(answer.body))
    with choice("Text in plain text export"):
        assert answer.body.startswith(begins)
    if target in PACKED:
        with ZipFile(io.BytesIO(answer.body)) as archive:
            declared_type = archive.read("mimetype").strip() if "mimetype" in archive.namelist() else None
            assert PACKED[target] in (declared_type, *archive.namelist())


@pytest.mark.spec("A7-01", "A7-01b")
def test_another_library_finds_the_cells_and_the_words(wire: Wire) -> None:
    openpyxl, pypdf = pytest.importorskip("openpyxl"), pytest.importorskip("pypdf")
    file_id = sheet(wire, b"bird,count\ncoot,12\n")
    xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

    book = openpyxl.load_workbook(io.BytesIO(export(wire, file_id, xlsx).body))
    pages = pypdf.PdfReader(io.BytesIO(export(wire, file_id, "application/pdf").body)).pages

    assert [list(row) for row in book.active.values] == [["bird", "count"], ["coot", 12]]
    assert {"bird", "coot", "12"} <= set(pages[0].extract_text().split())


NOT_OFFERED = [("document", "text/csv"), ("spreadsheet", "text/plain"), ("drawing", "text/html"),
               ("script", "application/pdf"), ("document", "no%20type")]  # fmt: skip


@pytest.mark.spec("A7-02", "A7-02a", "A7-02b")
def test_a_target_that_is_not_offered_and_a_file_that_is_not_native(wire: Wire) -> None:
    for native_type, target in NOT_OFFERED:
        answer = export(wire, native(wire, native_type), target)
        assert (answer.status, answer.error["reason"]) == (400, "badRequest")
        assert NATIVE + native_type in answer.error["message"]
    with choice("extended_formats"):
        assert export(wire, native(wire, "document"), "text/markdown").error["reason"] == "badRequest"
    answer = export(wire, wire.create()["id"], "application/pdf")
    assert (answer.status, answer.error["reason"]) == (403, "fileNotExportable")


def test_a_missing_target_is_refused_before_the_file_is_looked_up(wire: Wire) -> None:
    answer = wire.send("GET", f"{FILES}/nowhere/export")

    assert (answer.status, answer.error["reason"], answer.error["location"]) == (400, "required", "mimeType")
    assert export(wire, "nowhere", "text/csv").status == 404


@pytest.mark.spec("A7-03")
def test_the_first_sheet_only(wire: Wire) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["first", 1])
    book.create_sheet("Two").append(["second", 2])
    file = io.BytesIO()
    book.save(file)
    xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    uri = wire.begin({"mimeType": NATIVE + "spreadsheet"}, X_Upload_Content_Type=xlsx)
    file_id = wire.put(uri, file.getvalue()).json["id"]

    for media_type, separator in (("text/csv", ","), ("text/tab-separated-values", "\t")):
        table = io.StringIO(export(wire, file_id, media_type).body.decode("utf-8-sig"))
        assert list(csv.reader(table, delimiter=separator)) == [["first", "1"]]


def test_links_to_every_format(wire: Wire) -> None:
    file_id = sheet(wire)
    links = wire.send("GET", f"{FILES}/{file_id}?fields=exportLinks").json["exportLinks"]

    answers = {media_type: wire.send("GET", link) for media_type, link in links.items()}

    assert "text/csv" in answers
    assert {answer.status for answer in answers.values()} == {200}
    assert [answer.headers["content-type"] for answer in answers.values()] == list(links)


@pytest.mark.policy(export_limit=1000)
def test_an_export_above_the_limit_is_refused(wire: Wire) -> None:
    small, large = sheet(wire, b"x" * 500), sheet(wire, b"x" * 1500)

    assert export(wire, small, "text/csv").status == 200
    answer = export(wire, large, "text/csv")
    assert (answer.status, answer.error["reason"]) == (403, "exportSizeLimitExceeded")


@pytest.mark.one_process("the test changes the code of its own process")
@pytest.mark.parametrize(
    "error,status,reason",
    [
        (ConversionError("the page could not be rendered."), 400, "badRequest"),
        (TooLarge("the conversion took more than 60 seconds."), 403, "exportSizeLimitExceeded"),
    ],
)
def test_a_failed_export_gives_its_reason_and_no_5xx(wire, error, status, reason, monkeypatch):
    def fail(*arguments: object, **options: object) -> None:
        raise error

    file_id = sheet(wire)
    monkeypatch.setattr(Converter, "write", fail)

    answer = export(wire, file_id, "text/csv")

    assert (answer.status, answer.error["reason"]) == (status, reason)
    assert str(error) in answer.error["message"]


@pytest.mark.spec("A7-06")
def test_alt_media_answers_the_same_bytes(wire: Wire) -> None:
    address = f"{FILES}/{native(wire, 'spreadsheet')}/export?mimeType=application/pdf"

    plain, media = wire.send("GET", address), wire.send("GET", f"{address}&alt=media")

    assert (media.status, media.headers["content-type"]) == (200, "application/pdf")
    assert media.body == plain.body != b""
    with choice("Invalid parameters and headers"):
        assert [wire.send("GET", f"{address}&alt={alt}").status for alt in ("json", "MEDIA", "")] == [200] * 3
        wrong = wire.send("GET", f"{address}&alt=xml")
        assert (wrong.status, wrong.error["location"]) == (400, "alt")
