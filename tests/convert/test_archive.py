import contextlib
import io
import os
import zipfile
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from xml.parsers import expat

import pytest

from svc_notebooks.convert.input import zip_file
from svc_notebooks.convert.input.zip_file import open_archive, open_markup
from svc_notebooks.convert.job import ConversionError, JobLimits, TooLarge

LIMITS = JobLimits()


def archive(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name.replace("__", "/").replace("_", "."), content)
    return file.getvalue()


def test_a_valid_archive_is_opened() -> None:
    with open_archive(archive(word__document_xml=b"<a/>"), LIMITS) as opened:
        assert opened.read("word/document.xml") == b"<a/>"


def test_a_bomb_is_not_unpacked() -> None:
    with pytest.raises(TooLarge, match="would have 50000000 bytes"):
        open_archive(archive(a_xml=bytes(50_000_000)), LIMITS)


def test_many_entries_are_a_bomb() -> None:
    with pytest.raises(TooLarge, match="more than 10 entries"):
        open_archive(archive(**{f"a{n}": b"" for n in range(11)}), replace(LIMITS, entries=10))


@pytest.mark.parametrize(
    "source", [b"", b"PK\x03\x04", b"no zip", archive(a=b"x")[:-10]], ids=["empty", "begun", "none", "cut"]
)
def test_damaged_archives_are_refused(source: bytes) -> None:
    with pytest.raises(ConversionError, match="damaged"):
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
        open_archive(archive(content_xml=markup.encode(encoding)), LIMITS)


@pytest.mark.parametrize("start", ["<!--", "<?app ", " "])
def test_a_declaration_cannot_be_put_out_of_sight(start: str) -> None:
    end = {"<!--": "-->", "<?app ": "?>"}.get(start, "")
    markup = f"{start}{'x' if end else ' '}{' ' * 3_000_000}{end}<!DOCTYPE a><a/>".encode()

    with pytest.raises(TooLarge, match="1048576 bytes before its first element"):
        open_archive(archive(content_xml=markup, other=os.urandom(100_000)), LIMITS)


@pytest.mark.parametrize("start", ["", " \n", "\ufeff"])
def test_blanks_before_the_xml_declaration_are_no_damage(start: str) -> None:
    open_archive(archive(content_xml=f"{start}<?xml version='1.0'?><a/>".encode()), LIMITS)


def test_the_word_doctype_in_a_comment_or_in_text_is_no_declaration() -> None:
    markup = b"<!-- <!DOCTYPE a> --><?b <!DOCTYPE a>?><a>&lt;!DOCTYPE a></a>"

    open_archive(archive(content_xml=markup), LIMITS)


@pytest.mark.parametrize("markup", [b"<!doctype a><a/>", b"no markup <a/>", b"<!DOCTYPE", b"<a", b""])
def test_no_declaration_follows_what_is_no_xml(markup: bytes) -> None:
    with contextlib.suppress(ConversionError), open_archive(archive(content_xml=markup), LIMITS):
        assert not markup.startswith((b"<!doctype", b"no"))


def test_encrypted_archives_are_refused() -> None:
    source = bytearray(archive(a_xml=b"<a/>"))
    local, central = source.find(b"PK\x03\x04"), source.find(b"PK\x01\x02")
    source[local + 6] |= 1
    source[central + 8] |= 1

    with pytest.raises(ConversionError, match="without a password"):
        open_archive(bytes(source), LIMITS)


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
    names = ("ExpatError", "ErrorString", "errors")
    monkeypatch.setattr(
        zip_file, "expat", SimpleNamespace(ParserCreate=Deferring, **{name: getattr(expat, name) for name in names})
    )

    open_archive(archive(content_xml=f"{prolog}<a/>".encode()), LIMITS)
    with pytest.raises(ConversionError, match="declares a document type"):
        open_archive(archive(content_xml=f"{prolog}<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>".encode()), LIMITS)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_the_readers_refuse_entities_too(encoding: str) -> None:
    source = archive(content_xml=("<!--" + "x" * 70_000 + "--><!DOCTYPE a [<!ENTITY b 'c'>]><a/>").encode(encoding))

    opened = zipfile.ZipFile(io.BytesIO(source))
    with pytest.raises(ConversionError, match="declares a document type"):
        open_markup(opened, opened.infolist()[0])
