import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from zipfile import ZipFile, ZipInfo

import pytest

from svc_notebooks.client.downloads.downloads import choose, export_target, read_export, same_export, save_export
from svc_notebooks.client.files import export_formats, import_formats
from svc_notebooks.core.errors.errors import BadRequest, Interrupted, PathExists, ServiceFailed
from svc_notebooks.core.http.messages import Disconnected, Headers, Request, Response
from tests.scripted import session_for

NATIVE = "application/vnd.svc-apps."
CONTENT = bytes(range(256)) * 1000
OFFERS = {
    "importFormats": {"image/tiff": [NATIVE + "drawing"], "text/csv": [NATIVE + "spreadsheet"]},
    "exportFormats": {NATIVE + "drawing": ["image/png", "image/tiff"], NATIVE + "song": ["audio/basic"]},
    "maxImportSizes": {NATIVE + "drawing": "7"},
}


@dataclass
class Office:
    """A service that exports `CONTENT`. `cuts` end responses after so many bytes."""

    cuts: list[int] = field(default_factory=list)
    about: object = field(default_factory=lambda: OFFERS)
    requests: list[Request] = field(default_factory=list)

    def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        if request.path.endswith("/about"):
            return Response(200, Headers(), json.dumps(self.about).encode())
        headers = Headers([("Content-Length", str(len(CONTENT)))])
        return Response(200, headers, self._cut() if self.cuts else CONTENT)

    def _cut(self) -> Iterator[bytes]:
        yield CONTENT[: self.cuts.pop(0)]
        raise Disconnected("cut")


@pytest.mark.spec("A7-01", "A7-01a")
def test_an_export_has_the_document_the_type_and_alt_media_and_is_requested_again_without_a_range():
    office = Office(cuts=[100, 0, 70_000])

    assert read_export(session_for(office), "a b", "image/svg+xml") == CONTENT
    assert office.requests[0].url.endswith("/storage/v3/files/a%20b/export?mimeType=image/svg%2Bxml&alt=media")
    assert [request.headers.get("Range") for request in office.requests] == [None] * 4


def test_an_export_that_breaks_each_time_is_given_up(tmp_path):
    office = Office(cuts=[100] * 50)

    with pytest.raises(Interrupted):
        save_export(session_for(office), "f", "image/png", tmp_path / "f.png")

    assert len(office.requests) == 4
    assert list(tmp_path.iterdir()) == []


def test_other_content_stays_unless_overwrite_is_given(tmp_path):
    path = tmp_path / "f.png"
    path.write_bytes(b"before")

    with pytest.raises(PathExists, match="6 bytes"):
        save_export(session_for(Office()), "f", "image/png", tmp_path / "f.png")
    left = [(path.name, path.read_bytes()) for path in tmp_path.iterdir()]
    outcomes = [save_export(session_for(Office()), "f", "image/png", path, overwrite=True).outcome for _ in range(2)]

    assert left == [("f.png", b"before")]
    assert outcomes == ["replaced", "unchanged"]


PDF = b"%%PDF-1.7\n<</ModDate(D:%s)/Title(Birds)>> %s /ID[<%s> <%s>]"


def archive(date: str, text: str) -> bytes:
    target = io.BytesIO()
    with ZipFile(target, "w") as file:
        file.writestr(ZipInfo("word/document.xml", (int(date[:4]), 1, 1, 0, 0, 0)), text)
        file.writestr("docProps/core.xml", f"<modified>{date}T09:00:00Z</modified>")
    return target.getvalue()


EXPORTS = {
    "dates of a PDF": (PDF % (b"20260105", b"text", b"aa", b"aa"), PDF % (b"20260106", b"text", b"bb", b"bb"), True),
    "text of a PDF": (PDF % (b"20260105", b"text", b"aa", b"aa"), PDF % (b"20260105", b"tent", b"aa", b"aa"), False),
    "dates of an archive": (archive("2026-01-05", "text"), archive("2027-01-06", "text"), True),
    "text of an archive": (archive("2026-01-05", "text"), archive("2026-01-05", "tent"), False),
    "damaged archives": (b"PK\3\4one", b"PK\3\4two", False),
    "an archive and a PDF": (archive("2026-01-05", "text"), PDF % (b"", b"", b"", b""), False),
    "dates in plain text": (b"2026-01-05T09:00:00Z", b"2026-01-06T09:00:00Z", False),
}


@pytest.mark.parametrize("first, second, same", EXPORTS.values(), ids=EXPORTS)
def test_dates_in_the_metadata_of_exports_are_ignored(first, second, same, tmp_path):
    (tmp_path / "first").write_bytes(first)
    (tmp_path / "second").write_bytes(second)

    assert same_export(tmp_path / "first", tmp_path / "second") == same


def test_the_part_file_of_another_export_is_discarded(tmp_path):
    (tmp_path / "f.png.part").write_bytes(b"of another export")
    (tmp_path / "f.png.part.json").write_text('{"base_url": "x", "id": "g"}')

    save_export(session_for(Office()), "f", "image/png", tmp_path / "f.png")

    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("f.png", CONTENT)]


@pytest.mark.spec("A7-04", "A7-05", "A7-05a")
def test_a_service_may_know_formats_and_types_that_the_interface_does_not():
    session = session_for(Office())

    drawing = export_formats(session, NATIVE + "drawing")
    (song,) = export_formats(session, NATIVE + "song")

    expected = [("PNG", "png", "image/png"), ("image/tiff", "tiff", "image/tiff")]
    assert [(row.title, row.extension, row.media_type) for row in drawing] == expected
    assert (song.native, song.extension) == ("song", "au")
    assert choose(drawing, "tiff") == choose(drawing, "image/tiff") == drawing[1]
    assert [(row[0], row[1]) for row in import_formats(session)] == [
        (NATIVE + "spreadsheet", "text/csv"),
        (NATIVE + "drawing", "image/tiff"),
    ]


@pytest.mark.spec("A5-05")
def test_import_formats_are_read_from_a_map_and_from_an_array():
    rows = [{"source": source, "targets": targets} for source, targets in OFFERS["importFormats"].items()]
    array = session_for(Office(about={**OFFERS, "importFormats": rows}))

    assert import_formats(array) == import_formats(session_for(Office())) != []


@pytest.mark.parametrize("formats", [["text/csv"], [{"source": "text/csv"}], [None], "text/csv", None])
def test_import_formats_of_another_shape_are_an_error(formats):
    session = session_for(Office(about={**OFFERS, "importFormats": formats}))

    with pytest.raises(ServiceFailed, match="field importFormats"):
        import_formats(session)


@pytest.mark.parametrize("about", [{}, {**OFFERS, "exportFormats": []}])
def test_missing_format_lists_are_an_error_of_the_service(about):
    with pytest.raises(ServiceFailed, match=r"fields? (im|ex)portFormats"):
        export_formats(session_for(Office(about=about)), NATIVE + "drawing")


@pytest.mark.spec("A7-05", "A7-05a")
def test_the_error_lists_the_formats_in_their_order():
    facts = {"name": "Plan", "mimeType": NATIVE + "drawing"}

    with pytest.raises(BadRequest, match=r"Plan is a drawing, which can be exported as png, tiff, but not as docx\."):
        export_target(session_for(Office()), facts, "docx")
