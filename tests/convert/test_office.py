import io
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from svc_notebooks.convert.document import read
from svc_notebooks.convert.document.clean import plain_text
from svc_notebooks.convert.document.model import Document
from svc_notebooks.convert.engines import available, libreoffice
from svc_notebooks.convert.job import MIB, ConversionError, Job, JobLimits, TooLarge
from svc_notebooks.convert.pool.converter import Converter
from tests.convert import sources

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@pytest.mark.spec("A5-02")
def test_without_libreoffice_only_newer_files_named_doc_are_read(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libreoffice, "soffice", lambda: None)

    for source in (sources.docx(), sources.odt(), sources.html(), sources.rtf()):
        assert "Annual report" in plain_text(read.doc(source, job).blocks)
    with pytest.raises(ConversionError, match="needs LibreOffice"):
        read.doc(OLE, job)
    for source in (b"", b"words", sources.png(), b"%PDF-1.4"):
        with pytest.raises(ConversionError, match="not a Word document"):
            read.doc(source, job)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the memory of a process")
def test_libreoffice_is_not_started_beside_a_large_worker(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libreoffice, "soffice", lambda: __file__)
    memory = available.process_memory("VmRSS") + 350 * MIB

    with pytest.raises(TooLarge, match="more memory than the limit"):
        libreoffice.convert(OLE, "doc", "docx", replace(job, limits=JobLimits(memory=memory)))


@pytest.mark.opens
@pytest.mark.spec("A5-01")
def test_in_a_worker_with_little_memory(converter: Converter, job: Job) -> None:
    old = libreoffice.convert(sources.docx(), "docx", "doc", job)

    made = converter.read(old, "application/msword", "document", name="old")

    document = Document.unpack(made.body)
    assert all(sentence in plain_text(document.blocks) for sentence in sources.SENTENCES)
    assert list(document.resources.values()) != []


@pytest.mark.opens
@pytest.mark.spec("A5-02")
def test_a_damaged_doc_file(converter: Converter) -> None:
    with pytest.raises(ConversionError):
        converter.read(OLE + bytes(100_000), "application/msword", "document", name="old")


@pytest.mark.opens
def test_linked_pictures_are_not_read(job: Job, tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(sources.png(colour="red"))
    old = libreoffice.convert(_linked(secret.as_uri()), "docx", "doc", _in(job, tmp_path / "a"))
    assert secret.name.encode("utf-16-le") in old or secret.name.encode() in old

    document = read.doc(old, _in(job, tmp_path / "b"))

    assert dict(document.resources) == {}
    assert "secret" not in json.dumps(document.tree)


def _in(job: Job, folder: Path) -> Job:
    folder.mkdir()
    return replace(job, folder=folder)


def _linked(uri: str) -> bytes:
    import docx
    from docx.oxml.ns import qn

    document = docx.Document(io.BytesIO(sources.docx()))
    [blip] = document.element.body.iter(qn("a:blip"))
    del blip.attrib[qn("r:embed")]
    blip.set(qn("r:link"), document.part.relate_to(uri, _IMAGE, is_external=True))
    return sources.saved(document)


_IMAGE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"
