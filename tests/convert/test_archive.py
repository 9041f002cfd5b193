"""Zip files are checked before anything is unpacked."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace

import pytest

from svc_notebooks.convert.input.zip_file import open_archive
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


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("declaration", ["<!DOCTYPE a>", "<!doctype a [<!ENTITY b 'c'>]>"])
def test_document_type_declarations_are_refused(declaration: str, encoding: str) -> None:
    markup = f"<?xml version='1.0'?>\n<!-- {'x' * 9000} -->\n{declaration}<a/>".encode(encoding)

    with pytest.raises(ConversionError, match="declares a document type"):
        open_archive(archive(content_xml=markup), LIMITS)


def test_encrypted_archives_are_refused() -> None:
    source = bytearray(archive(a_xml=b"<a/>"))
    local, central = source.find(b"PK\x03\x04"), source.find(b"PK\x01\x02")
    source[local + 6] |= 1
    source[central + 8] |= 1

    with pytest.raises(ConversionError, match="without a password"):
        open_archive(bytes(source), LIMITS)
