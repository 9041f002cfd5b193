import contextlib
import io
import os
import zipfile
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from xml.parsers import expat

import pytest

from svc_notebooks.convert.document import read as document
from svc_notebooks.convert.input import zip_file
from svc_notebooks.convert.input.zip_file import OpcPackage, Relationship, open_archive, open_markup
from svc_notebooks.convert.job import ConversionError, Job, JobLimits, TooLarge
from svc_notebooks.convert.presentation.odp.read import read as read_odp
from svc_notebooks.convert.presentation.pptx.read import read as read_pptx
from svc_notebooks.convert.spreadsheet import xls
from tests.convert import sources
from tests.convert.presentation import decks
from tests.convert.sources import rezipped, zipped
from tests.convert.spreadsheet.test_read import open_document, package

LIMITS = JobLimits()
PARTS: dict[str, tuple[Callable[[bytes, Job], object], Callable[[], bytes], str]] = {
    "docx": (document.docx, sources.docx, "word/document.xml"),
    "relationships of a docx": (document.docx, sources.docx, "word/_rels/document.xml.rels"),
    "odt": (document.odt, sources.odt, "content.xml"),
    "styles of an odt": (document.odt, sources.odt, "styles.xml"),
    "xlsx": (xls.read_xlsx, lambda: package(sheet="<sheetData/>"), "xl/worksheets/sheet1.xml"),
    "ods": (xls.read_ods, lambda: open_document(""), "content.xml"),
    "styles of an ods": (xls.read_ods, lambda: open_document(""), "styles.xml"),
    "pptx": (read_pptx, decks.full_pptx, "ppt/slides/slide1.xml"),
    "odp": (read_odp, lambda: decks.odp(""), "content.xml"),
    "styles of an odp": (read_odp, lambda: decks.odp(""), "styles.xml"),
    "metadata of an odp": (read_odp, lambda: decks.odp(""), "meta.xml"),
}
"""A reader, a file that it reads, and a part of the file."""
ENTITY = b"<!DOCTYPE a [<!ENTITY b %s>]><a>&b;</a>"
HARMS: dict[str, tuple[Callable[[bytes, str], bytes], str]] = {
    "cut": (lambda source, part: source[: len(source) * 9 // 10], "damaged"),
    "bomb": (lambda source, part: rezipped(source, {part: b" " * 40_000_000}), "would have|unpacked"),
    "entities": (lambda source, part: rezipped(source, {part: ENTITY % b"'c'"}), "declares a document type"),
    "external entity": (
        lambda source, part: rezipped(source, {part: ENTITY % b"SYSTEM 'file:///etc/passwd'"}),
        "declares a document type",
    ),
}
"""What is done to the part, and the words of the refusal."""


@pytest.mark.spec("A5-02")
@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("name", PARTS)
def test_every_reader_refuses_archives_that_do_harm(name: str, harm: str, job: Job) -> None:
    reader, source, part = PARTS[name]
    change, words = HARMS[harm]

    with pytest.raises(ConversionError, match=words):
        reader(change(source(), part), job)


@pytest.mark.parametrize(
    "members, limit",
    [
        ({"a.xml": bytes(50_000_000)}, "would have 50000000 bytes"),
        ({f"a{n}": b"" for n in range(11)}, "more than 10 entries"),
    ],
    ids=["bytes", "entries"],
)
def test_bombs_are_not_unpacked(members: dict[str, bytes], limit: str) -> None:
    with pytest.raises(TooLarge, match=limit):
        open_archive(zipped(members), replace(LIMITS, entries=10))


def with_password() -> bytes:
    source = bytearray(zipped({"a.xml": b"<a/>"}))
    source[source.find(b"PK\x03\x04") + 6] |= 1
    source[source.find(b"PK\x01\x02") + 8] |= 1
    return bytes(source)


@pytest.mark.parametrize(
    "source, words",
    [
        *((source, "damaged") for source in (b"", b"PK\x03\x04", b"no zip", zipped({"a": b"x"})[:-10])),
        (with_password(), "without a password"),
    ],
    ids=["empty", "begun", "none", "cut", "encrypted"],
)
def test_damaged_and_encrypted_archives_are_refused(source: bytes, words: str) -> None:
    with pytest.raises(ConversionError, match=words):
        open_archive(source, LIMITS)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "iso-8859-1"])
@pytest.mark.parametrize(
    "prolog",
    ["", f"<!-- {'x' * 900_000} -->", f"<?app {'<a>' * 200_000}?>", "\n \t" * 200_000, "<!-- > <a> --><?b?>\n" * 9],
    ids=["nothing", "comment", "instruction", "blanks", "several"],
)
def test_document_type_declarations_are_refused(prolog: str, encoding: str) -> None:
    name = encoding.removesuffix("-sig").removesuffix("-be")
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    prolog = prolog if len(prolog) < 1000 or "16" not in encoding else prolog[: len(prolog) // 2] + prolog[-3:]
    markup = f"{mark}<?xml version='1.0' encoding='{name}'?>\n{prolog}<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"

    with pytest.raises(ConversionError, match="declares a document type"):
        open_archive(zipped({"content.xml": markup.encode(encoding)}), LIMITS)


@pytest.mark.parametrize("start", ["<!--", "<?app ", " "])
def test_a_declaration_cannot_be_put_out_of_sight(start: str) -> None:
    end = {"<!--": "-->", "<?app ": "?>"}.get(start, "")
    markup = f"{start}{'x' if end else ' '}{' ' * 3_000_000}{end}<!DOCTYPE a><a/>".encode()

    with pytest.raises(TooLarge, match="1048576 bytes before its first element"):
        open_archive(zipped({"content.xml": markup, "other": os.urandom(100_000)}), LIMITS)


@pytest.mark.parametrize(
    "markup",
    [
        *(f"{start}<?xml version='1.0'?><a/>" for start in ("", " \n", "\ufeff")),
        "<!-- <!DOCTYPE a> --><?b <!DOCTYPE a>?><a>&lt;!DOCTYPE a></a>",
    ],
)
def test_blanks_before_the_xml_declaration_and_the_word_doctype_are_no_damage(markup: str) -> None:
    open_archive(zipped({"content.xml": markup}), LIMITS)


@pytest.mark.parametrize("markup", [b"<!doctype a><a/>", b"no markup <a/>", b"<!DOCTYPE", b"<a", b""])
def test_no_declaration_follows_what_is_no_xml(markup: bytes) -> None:
    with contextlib.suppress(ConversionError), open_archive(zipped({"content.xml": markup}), LIMITS):
        assert not markup.startswith((b"<!doctype", b"no"))


class Deferring:
    """A parser such as that of expat 2.6 without SetReparseDeferralEnabled, which may delay all events to the end."""

    def __init__(self) -> None:
        self.blocks: list[bytes] = []

    def Parse(self, block: bytes, is_final: bool = False) -> None:
        self.blocks.append(block)
        if is_final:
            parser: Any = expat.ParserCreate()
            parser.StartDoctypeDeclHandler = vars(self)["StartDoctypeDeclHandler"]
            parser.StartElementHandler = vars(self)["StartElementHandler"]
            parser.Parse(b"".join(self.blocks), True)


@pytest.mark.parametrize("prolog", [f"<!-- {'x' * 9000} -->", f"<?app {'x' * 900_000}?>", "<!-- -->" * 2000])
def test_a_parser_that_delays_its_events_is_asked_to_the_end(prolog: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {name: getattr(expat, name) for name in ("ExpatError", "ErrorString", "errors")}
    monkeypatch.setattr(zip_file, "expat", SimpleNamespace(ParserCreate=Deferring, **names))

    open_archive(zipped({"content.xml": f"{prolog}<a/>"}), LIMITS)
    with pytest.raises(ConversionError, match="declares a document type"):
        open_archive(zipped({"content.xml": f"{prolog}<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"}), LIMITS)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_the_readers_refuse_entities_too(encoding: str) -> None:
    markup = f"<!--{'x' * 70_000}--><!DOCTYPE a [<!ENTITY b 'c'>]><a/>"

    opened = zipfile.ZipFile(io.BytesIO(zipped({"content.xml": markup.encode(encoding)})))
    with pytest.raises(ConversionError, match="declares a document type"):
        open_markup(opened, opened.infolist()[0])


_TYPES = "http://purl.oclc.org/ooxml/officeDocument/relationships"


RELATIONSHIPS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'


def opened(relationships: str, name: str = "xl/_rels/Book one.xml.rels") -> OpcPackage:
    files = {"XL\\Book one.xml": b"<x/>", name: RELATIONSHIPS.format(relationships)}
    return OpcPackage(zipfile.ZipFile(io.BytesIO(sources.zipped(files))))


def test_relationships_lead_to_parts_and_to_addresses() -> None:
    package = opened(
        f'<Relationship Id="a" Type="{_TYPES}/worksheet" Target="../sheets/my%20sheet.xml"/>'
        f'<Relationship Id="b" Type="{_TYPES}/theme" Target="/theme.xml"/>'
        f'<Relationship Id="c" Type="{_TYPES}/hyperlink" Target="https://x.org/%20" TargetMode="External"/>'
    )

    assert package.member("xl/book ONE.xml") == "XL\\Book one.xml"
    assert package.main_part() is None
    assert package.relationships("xl/Book one.xml") == {
        "a": Relationship("worksheet", "sheets/my sheet.xml"),
        "b": Relationship("theme", "theme.xml"),
        "c": Relationship("hyperlink", "https://x.org/%20", is_external=True),
    }


def test_a_package_without_its_main_part_names_none_and_damaged_relationships_are_named() -> None:
    for relationships in ("<", '<Relationship Id="a" Type="x/officeDocument" Target="none.xml"/>'):
        assert opened(relationships, "_rels/.rels").main_part() is None
    with pytest.raises(ConversionError, match=r"damaged at 'xl/_rels/Book one.xml.rels'"):
        opened("<").relationships("xl/Book one.xml")
