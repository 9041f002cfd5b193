import csv
import io
from base64 import b64decode
from zipfile import ZipFile

import pytest

from svc_notebooks.convert.registry import exporters, importers
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from tests.contract.conftest import InProcess, Wire
from tests.contract.differences import choice

FILES = "/storage/v3/files"
UPLOAD = "/upload/storage/v3/files"
NATIVE = "application/vnd.svc-apps."
DOT = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")
"""A picture of one pixel."""


def convert(wire: Wire, content: bytes, kind: str | None, native: str, query: str = "", **metadata: object):
    body = {"name": "n", "mimeType": NATIVE + native, **metadata}
    return wire.multipart(f"{UPLOAD}?uploadType=multipart&fields=*{query}", body, content, kind)


def export(wire: Wire, file_id: str, kind: str):
    return wire.send("GET", f"{FILES}/{file_id}/export?mimeType={kind.replace('+', '%2B')}")


def rows(wire: Wire, file_id: str) -> list[list[str]]:
    answer = export(wire, file_id, "text/csv")
    assert answer.status == 200, answer.body
    return list(csv.reader(io.StringIO(answer.body.decode("utf-8-sig"), newline="")))


def text(wire: Wire, file_id: str) -> str:
    answer = export(wire, file_id, "text/plain")
    assert answer.status == 200, answer.body
    return answer.body.decode("utf-8-sig")


def imports(wire: Wire) -> dict[str, list[str]]:
    return dict(wire.send("GET", "/storage/v3/about?fields=importFormats").json["importFormats"])


@pytest.mark.spec("A5-01")
def test_resumable_in_several_chunks(wire: Wire) -> None:
    content = "\n".join(f"{n},{'x' * 60}" for n in range(9000)).encode()
    uri = wire.begin({"name": "long", "mimeType": NATIVE + "spreadsheet"}, X_Upload_Content_Type="text/csv")

    first = wire.put(uri, content[:262_144], f"bytes 0-262143/{len(content)}")
    last = wire.put(uri, content[262_144:], f"bytes 262144-{len(content) - 1}/{len(content)}")

    assert (first.status, last.status) == (308, 200), last.body
    assert last.json["mimeType"] == NATIVE + "spreadsheet"
    table = rows(wire, last.json["id"])
    assert (len(table), table[-1]) == (9000, ["8999", "x" * 60])


class TestRefused:
    @pytest.mark.spec("A5-02")
    @pytest.mark.parametrize(
        "kind,native",
        [
            *(("text/plain", native) for native in ("presentation", "folder", "form")),
            *((kind, "document") for kind in ("text/csv", "video/mp4", "application/json")),
            ("image/png", "spreadsheet"),
        ],
    )
    def test_an_impossible_conversion_is_refused_before_the_bytes(self, wire: Wire, kind: str, native: str) -> None:
        if NATIVE + native in imports(wire).get(kind, []):
            pytest.skip(f"that {kind} cannot become a {native}, which about.importFormats says it can")
        uri = wire.initiate({"mimeType": NATIVE + native}, X_Upload_Content_Type=kind)
        made = convert(wire, b"x", kind, native)

        assert made.status == 400
        with choice("When a conversion is refused"):
            assert uri.status == 400
        assert made.error["reason"] == "badRequest"
        assert native in made.error["message"]
        assert wire.names() == []

    @pytest.mark.spec("A5-02")
    def test_unreadable_content_is_refused_and_nothing_is_stored(self, wire: Wire) -> None:
        damaged = convert(wire, b'{"files": [', "application/json", "script")
        for made in (damaged, convert(wire, b"\0\1\2\3" * 100, None, "document")):
            assert (made.status, made.error["reason"]) == (400, "badRequest")
        with choice("A conversion that fails at the end of a resumable upload"):
            uri = wire.begin({"mimeType": NATIVE + "script"}, X_Upload_Content_Type="application/json")
            for _ in range(2):
                answer = wire.put(uri, b"{", "bytes 0-0/1")
                assert (answer.status, answer.error["reason"]) == (400, "badRequest")
            assert wire.put(uri, b"", "bytes */1").status == 308
        assert wire.names() == []

    @pytest.mark.parametrize("size", [10_485_761, 12_000_000])
    def test_content_above_the_limit_is_refused(self, wire: Wire, size: int) -> None:
        headers = {"X_Upload_Content_Type": "text/plain", "X_Upload_Content_Length": str(size)}
        made = convert(wire, b" " * size, "text/plain", "document")
        session = wire.initiate({"mimeType": NATIVE + "document"}, **headers)

        assert (made.status, session.status) == (400, 400)
        assert "10485760" in made.error["message"]
        assert wire.names() == []


GREETING = "Grüße, 日本"
RTF = "{\\rtf1 words}"
TEXTS = [
    pytest.param(RTF.encode(), "text/plain", RTF, marks=pytest.mark.spec("A5-01")),
    pytest.param(b"{\\rtf1 \\{\\\\rtf1 words\\}\\par}", "application/rtf", RTF, marks=pytest.mark.spec("A5-01")),
    pytest.param(b"<p>{\\rtf1 <i>words</i>}</p>", "text/html", RTF, marks=pytest.mark.spec("A5-01")),
    *(
        pytest.param(GREETING.encode(charset), kind, GREETING, marks=pytest.mark.spec("A5-06", "A5-06a"))
        for charset, kind in (
            ("utf-8", "text/plain"),
            ("utf-8-sig", "text/plain"),
            ("utf-16", "text/plain"),
            ("utf-16-le", "text/plain; charset=utf-16le"),
        )
    ),
]
TABLES = [
    ("a\tb\n1\t2\n", None, "t.tsv", [["a", "b"], ["1", "2"]]),
    ("a\tb\n1\t2\n", "application/octet-stream", "t.tsv", [["a", "b"], ["1", "2"]]),
    *(
        pytest.param(
            f'name{mark}note\nAda{mark}"a, b; c"\n', "text/csv", "n", [["name", "note"], ["Ada", "a, b; c"]],
            marks=pytest.mark.spec("A5-01", "A5-06", "A5-06b"),
        )
        for mark in (",", ";", "\t", "|")
    ),
]  # fmt: skip


class TestWhatTheSourceIs:
    """The type of the source is the declared one, else the one of the bytes and the name."""

    @pytest.mark.parametrize("content, kind, words", TEXTS)
    def test_a_text_has_its_declared_type_and_its_character_set(self, wire, content, kind, words):
        made = convert(wire, content, kind, "document")

        assert text(wire, made.json["id"]).strip() == words

    @pytest.mark.parametrize("content, kind, name, table", TABLES)
    def test_a_table_has_the_type_of_its_name_and_its_dialect(self, wire, content, kind, name, table):
        made = convert(wire, content.encode(), kind, "spreadsheet", name=name)

        assert made.json["mimeType"] == NATIVE + "spreadsheet"
        assert rows(wire, made.json["id"]) == table


class TestReplace:
    @pytest.mark.spec("A5-04")
    @pytest.mark.parametrize("verb", ["PUT", "PATCH"])
    def test_everything(self, wire: Wire, verb: str) -> None:
        made = convert(wire, b"old,words\r\n1,2\r\n3,4\r\n", "text/csv", "spreadsheet").json
        target = f"{UPLOAD}/{made['id']}?uploadType=media&fields=*"

        answer = wire.send(verb, target, b"new\tone", {"Content-Type": "text/plain"})

        assert (answer.status, answer.json["mimeType"]) == (200, made["mimeType"])
        with choice("Default fields of a response"):
            assert int(answer.json["version"]) > int(made["version"])
        assert rows(wire, made["id"]) == [["new", "one"]]

    @pytest.mark.spec("A5-04", "A5-02")
    def test_by_a_session_and_not_by_what_cannot_be_converted(self, wire: Wire) -> None:
        made = convert(wire, b"old", "text/plain", "document").json
        target = f"{UPLOAD}/{made['id']}?uploadType="

        refused = wire.send("PUT", f"{target}media", b"x", {"Content-Type": "video/mp4"})
        before = text(wire, made["id"]).strip()
        begun = wire.send("PUT", f"{target}resumable", b"", {"X-Upload-Content-Type": "text/plain"})
        answer = wire.put(begun.headers["location"], b"new")

        assert (refused.status, refused.error["reason"]) == (400, "badRequest")
        assert (answer.status, answer.json["id"]) == (200, made["id"])
        assert (before, text(wire, made["id"]).strip()) == ("old", "new")


class TestLanguage:
    @pytest.mark.spec("A5-03", "A5-03b")
    def test_only_a_known_tag_is_accepted(self, wire: Wire) -> None:
        for tag in ("not%20a%20tag", "english", "x", "de_DE_", "qqq"):
            refused = convert(wire, b"x", "text/plain", "document", f"&ocrLanguage={tag}")
            assert (refused.status, refused.error["location"]) == (400, "ocrLanguage")
        assert wire.names() == []
        for tag in ("de", "pt-BR", "zh-Hant-TW", "EN-us"):
            assert convert(wire, b"x", "text/plain", "document", f"&ocrLanguage={tag}").status == 200

    @pytest.mark.spec("A5-03", "A5-03b")
    @pytest.mark.parametrize("kind", ["media", "multipart", "resumable"])
    def test_an_unknown_tag_is_refused_where_nothing_is_converted(self, wire: Wire, kind: str) -> None:
        made = wire.create(b"old")

        for verb, target in (("POST", UPLOAD), ("PUT", f"{UPLOAD}/{made['id']}")):
            address = f"{target}?uploadType={kind}&ocrLanguage=english"
            if kind == "multipart":
                answer = wire.multipart(address, {}, b"x", "image/png", verb)
            else:
                answer = wire.send(verb, address, b"")

            assert (answer.status, answer.error["location"]) == (400, "ocrLanguage")
        assert wire.download(made["id"]).body == b"old"

    @pytest.mark.spec("A5-03", "A5-03c")
    def test_it_is_the_language_of_the_text_in_a_picture(self, wire: Wire, service: Service) -> None:
        """Without a model for the language, the journal notes which one was used instead."""
        pytest.importorskip("tesserocr")

        assert convert(wire, DOT, "image/png", "document", "&ocrLanguage=xh").status == 200

        assert "; ocrLanguage xh: no model" in service.journal()[-1]["decided_by"]


@pytest.mark.spec("A5-03", "A5-03a")
@pytest.mark.parametrize("kind", ["png", "pdf"])
def test_a_picture_is_in_the_document_with_its_text_beside_it(wire: Wire, kind: str) -> None:
    pillow, draw, font = (pytest.importorskip(f"PIL.{name}") for name in ("Image", "ImageDraw", "ImageFont"))
    pytest.importorskip("tesserocr")
    image, source = pillow.new("RGB", (1000, 120), "white"), io.BytesIO()
    draw.Draw(image).text((40, 40), "Seven green bottles", "black", font.load_default(40))
    image.save(source, kind.upper())

    made = convert(wire, source.getvalue(), {"png": "image/png", "pdf": "application/pdf"}[kind], "document")

    assert "Seven green bottles" in text(wire, made.json["id"])
    with ZipFile(io.BytesIO(export(wire, made.json["id"], "application/zip").body)) as archive:
        assert [name for name in archive.namelist() if name.startswith("images/")]


class TestAbout:
    @pytest.mark.spec("A5-05", "A7-04")
    def test_every_working_conversion_is_listed(self, wire: Wire, service: Service) -> None:
        about, name = wire.send("GET", "/storage/v3/about?fields=*").json, service.names.media_type
        read = {(name(importer.media_type), NATIVE + importer.native) for importer in importers()}
        written = {(NATIVE + exporter.native, name(exporter.media_type)) for exporter in exporters()}

        for listed, working in (("importFormats", read), ("exportFormats", written)):
            assert {(source, target) for source, targets in about[listed].items() for target in targets} == working

    @pytest.mark.spec("A5-05", "A7-04")
    def test_what_it_lists_works_and_nothing_else(self, wire: Wire) -> None:
        about = wire.send("GET", "/storage/v3/about?fields=importFormats,exportFormats,maxImportSizes").json

        with choice("Default fields of a response"):
            assert set(about) == {"importFormats", "exportFormats", "maxImportSizes"}
        for source in ("text/csv", "text/plain"):
            assert NATIVE + "spreadsheet" in about["importFormats"][source]
        for kind, natives in about["importFormats"].items():
            for native in natives:
                begun = wire.initiate({"mimeType": native}, X_Upload_Content_Type=kind)
                assert begun.status == 200, (kind, native, begun.body)


@pytest.mark.policy(import_formats="array")
@pytest.mark.spec("A5-05")
@pytest.mark.choice("import_formats")
def test_each_entry_has_a_source_and_its_targets(wire: Wire, service: Service) -> None:
    name = service.names.media_type
    expected = {(name(importer.media_type), NATIVE + importer.native) for importer in importers()}

    rows = wire.send("GET", "/storage/v3/about?fields=importFormats").json["importFormats"]

    assert all(set(row) == {"source", "targets"} for row in rows)
    assert {(row["source"], target) for row in rows for target in row["targets"]} == expected
    assert len({row["source"] for row in rows}) == len(rows)


@pytest.mark.policy(extended_formats=True)
def test_more_formats_by_policy(wire: Wire) -> None:
    about = wire.send("GET", "/storage/v3/about?fields=importFormats,exportFormats").json

    refused = wire.send("GET", "/storage/v3/about")
    assert (refused.status, refused.error["reason"], refused.error["location"]) == (400, "required", "fields")
    assert "text/markdown" in about["importFormats"]
    assert "application/vnd.oasis.opendocument.spreadsheet" in about["exportFormats"][NATIVE + "spreadsheet"]


@pytest.mark.spec("A5-02")
def test_a_conversion_that_takes_too_long_is_refused_and_the_next_is_done() -> None:
    with open_service(seed=0, policy=Policy(conversion_seconds=0.2)) as service:
        wire = InProcess(service, "http://svc.local")
        slow = b"<p>" + b"word " * 1_500_000

        made = convert(wire, slow, "text/html", "document")

        assert (made.status, made.error["reason"]) == (400, "badRequest")
        assert "0.2 seconds" in made.error["message"]
        assert wire.names() == []
