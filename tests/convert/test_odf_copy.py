"""Native documents with `conversion_engine="office"`: LibreOffice's OpenDocument file beside the canonical form."""

import dataclasses
import io
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from svc_notebooks.convert import odf_copy
from svc_notebooks.convert.document.clean import plain_text
from svc_notebooks.convert.document.model import Document
from svc_notebooks.convert.engines import available, libreoffice
from svc_notebooks.convert.engines.available import Engine
from svc_notebooks.convert.input.native_package import odf_of
from svc_notebooks.convert.input.odf_file import READ_NAMESPACES
from svc_notebooks.convert.job import ConversionError, Job, JobLimits, TooLarge
from svc_notebooks.convert.pool import worker
from svc_notebooks.convert.pool.converter import Converter
from svc_notebooks.core.http.media_types import DOCX, EPUB, HTML, ODT, PDF, TEXT, XLSX
from tests.convert import sources

_SPACES = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in READ_NAMESPACES.items() if prefix != "xml")
_PACKAGE = Document().pack()


def odf(content: str, **members: bytes) -> bytes:
    markup = f"<office:document-content {_SPACES}>{content}</office:document-content>"
    return sources.zipped({"mimetype": ODT, "content.xml": markup} | members)


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Pretend that LibreOffice is installed, except in tests that run LibreOffice."""
    if "opens" not in request.keywords:
        monkeypatch.setattr(available, "OFFICE", Engine("LibreOffice", lambda: True, "apt-get install libreoffice"))


def returning(result: bytes | Exception, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Replace LibreOffice by a function with this result. Returns the list of the formats of its calls."""
    calls: list[tuple[str, str]] = []

    def convert(source: bytes, extension: str, target: str, job: Job, *, isolated: bool, share: float) -> bytes:
        assert isolated
        assert 2 * share < 1
        calls.append((extension, target))
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr(libreoffice, "convert", convert)
    return calls


def sanitized(content: str, job: Job, monkeypatch: pytest.MonkeyPatch, **members: bytes) -> zipfile.ZipFile:
    returning(odf(content, **members), monkeypatch)
    return zipfile.ZipFile(io.BytesIO(odf_of(odf_copy.add_odf(_PACKAGE, sources.docx(), "document", job)) or b""))


@pytest.mark.parametrize(
    "source, media_type, native, formats",
    [
        (sources.docx(), DOCX, "document", ("docx", "odt")),
        (sources.odt(), ODT, "document", ("odt", "odt")),
        (sources.rtf(), "application/rtf", "document", ("rtf", "odt")),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/vnd.ms-powerpoint", "presentation", ("ppt", "odp")),
        (b"\x09\x04\x06\x00", "application/vnd.ms-excel", "spreadsheet", ("xls", "ods")),
    ],
    ids=["docx", "odt", "rtf", "ppt", "BIFF"],
)
def test_the_source_is_kept_as_opendocument(source, media_type, native, formats, job, monkeypatch):
    calls = returning(odf("<office:body/>"), monkeypatch)

    package = odf_copy.add_odf(_PACKAGE, source, native, replace(job, media_type=media_type))

    assert calls == [formats]
    assert odf_of(package)
    assert Document.unpack(package) == Document.unpack(_PACKAGE)


@pytest.mark.parametrize(
    "source, media_type, native",
    [
        (b"words", TEXT, "document"), (sources.html(), HTML, "document"),
        (sources.html(), "application/msword", "document"), (b"a,b", XLSX, "spreadsheet"),
        (b"{}", "application/json", "script"),
    ],
    ids=["text", "html", "html as doc", "csv as xlsx", "script"],
)  # fmt: skip
def test_libreoffice_gets_no_text_formats(source, media_type, native, job, monkeypatch):
    calls = returning(odf(""), monkeypatch)

    assert odf_copy.add_odf(_PACKAGE, source, native, replace(job, media_type=media_type)) == _PACKAGE
    assert calls == []


def test_exports_of_pages_come_from_the_opendocument_file(job, monkeypatch):
    returning(odf("<office:body/>"), monkeypatch)
    package = odf_copy.add_odf(_PACKAGE, sources.docx(), "document", job)
    calls = returning(b"%PDF", monkeypatch)

    exported = {
        media_type: odf_copy.export(package, "document", replace(job, media_type=media_type))
        for media_type in (PDF, TEXT, EPUB, HTML)
    }

    assert exported == {PDF: b"%PDF", TEXT: None, EPUB: None, HTML: None}
    assert calls == [("odt", "pdf")]
    returning(AssertionError(), monkeypatch)  # a package without such a file is exported from the canonical form
    assert odf_copy.export(_PACKAGE, "document", replace(job, media_type=PDF)) is None


@pytest.mark.parametrize("error", [ConversionError("it is damaged."), TooLarge("it took long."), MemoryError()])
def test_a_failure_of_libreoffice_is_a_note(error, job, monkeypatch):
    returning(error, monkeypatch)

    assert odf_copy.add_odf(_PACKAGE, sources.docx(), "document", job) == _PACKAGE
    assert job.notes == [f"The pages are not LibreOffice's: {error}"]


def test_notes_name_the_exports_that_they_are_about(job, monkeypatch):
    returning(odf("<office:body/>"), monkeypatch)
    job.note("Charts were left out.")

    odf_copy.add_odf(_PACKAGE, sources.docx(), "document", job)

    assert job.notes == ["In exports that LibreOffice does not make: Charts were left out."]


def test_the_worker_adds_and_exports_the_file(job, monkeypatch, tmp_path):
    returning(odf("<office:body/>"), monkeypatch)
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(sources.docx())
    fields = {**dataclasses.asdict(replace(job, office=True)), "folder": str(tmp_path), "now": job.now.isoformat()}
    request = {"native": "document", "model": ".document.model:Document", "source": str(source), "target": str(target)}

    read = {**request, "function": ".document.read:docx", "reads": True, "job": {**fields, "media_type": DOCX}}
    assert worker.run(read) == {"notes": []}
    source.write_bytes(target.read_bytes())
    write = {**request, "function": ".document.write:odt", "reads": False, "job": {**fields, "media_type": ODT}}
    assert worker.run(write) == {"notes": []}

    assert target.read_bytes() == odf_copy.export(source.read_bytes(), "document", replace(job, media_type=ODT))


def test_without_libreoffice_a_note_says_how_to_install_it(job, monkeypatch):
    monkeypatch.setattr(available, "OFFICE", Engine("LibreOffice", lambda: False, "apt-get install libreoffice"))

    assert odf_copy.add_odf(_PACKAGE, sources.docx(), "document", job) == _PACKAGE
    assert "apt-get install libreoffice" in job.notes[0]


@pytest.mark.parametrize(
    "content",
    [
        "<office:scripts><x/></office:scripts>",
        '<draw:object-ole xlink:href="./Object 1"/>',
        '<script:event-listener script:language="ooo:script"/>',
        '<draw:floating-frame xlink:href="file:///etc"/>',
        '<text:section-source xlink:href="file:///etc/passwd"/>',
        '<text:p><text:script>attack()</text:script></text:p>',
        "<table:dde-links><table:dde-link/></table:dde-links>",
        """<table:table table:name="'file:///tmp/a.ods'#$Sheet1"/>""",
        '<draw:image xlink:href="file:///etc/passwd"/>',
        '<draw:image xlink:href="/etc/passwd"/>',
        '<draw:image xlink:href="../secret.png"/>',
        '<draw:image xlink:href="Pictures/../../secret.png"/>',
        '<draw:image xlink:href="http://127.0.0.1/a.png"/>',
        '<text:a xlink:href="javascript:attack()">words</text:a>',
        '<text:a xlink:href=" FILE:///etc/passwd">words</text:a>',
        '<presentation:event-listener presentation:action="execute" xlink:href="file:///bin/sh"/>',
        '<table:table-cell table:formula="of:=WEBSERVICE(&quot;http://x&quot;)"/>',
        '<table:table-cell table:formula="of:=COM.MICROSOFT.WEBSERVICE(&quot;http://x&quot;)"/>',
        '<table:table-cell table:formula="of:=DDE(&quot;soffice&quot;;&quot;x&quot;;&quot;y&quot;)"/>',
        """<table:table-cell table:formula="of:=['file:///tmp/a.ods'#$Sheet1.A1]"/>""",
        '<field:fieldmark-start><field:param field:name="x.field.code" field:value="DDE x"/></field:fieldmark-start>',
        '<table:named-expression table:expression="of:=WEBSERVICE(&quot;http://x&quot;)"/>',
        '<calcext:condition calcext:value="formula-is(WEBSERVICE(&quot;http://x&quot;))"/>',
    ],
)  # fmt: skip
def test_nothing_outside_stays_in_the_opendocument_file(content, job, monkeypatch):
    kept = sanitized(f"<text:p/>{content}", job, monkeypatch).read("content.xml").decode()

    assert "<text:p/>" in kept
    assert not re.search(r"file:|attack|passwd|secret|127\.0|WEBSERVICE|DDE|dde|Object 1|scripts>", kept, re.IGNORECASE)


@pytest.mark.parametrize(
    "content",
    [
        '<text:a xlink:href="https://example.org/">words</text:a>',
        '<text:a xlink:href="#chapter">words</text:a>',
        '<draw:a xlink:href="mailto:a@example.org"/>',
        '<draw:image xlink:href="Pictures/a.png"/>',
        '<draw:object xlink:href="./Object 1"/>',
        '<table:table-cell table:formula="of:=SUM([.A1:.B2];[$\'My data\'.C3])"/>',
        '<table:content-validation table:condition="of:cell-content-is-in-list(&quot;a&quot;;&quot;b&quot;)"/>',
        '<calcext:condition calcext:value="formula-is([.A1]&gt;3)"/>',
        '<table:table-cell table:formula="ooow:&lt;A1&gt;+1"/>',
        '<text:p>before <text:span>file:///etc/passwd</text:span> after</text:p>',
    ],
)  # fmt: skip
def test_the_rest_stays_in_the_opendocument_file(content, job, monkeypatch):
    from lxml import etree

    kept = etree.fromstring(sanitized(content, job, monkeypatch).read("content.xml"))

    expected = etree.fromstring(f"<office:document-content {_SPACES}>{content}</office:document-content>")
    assert etree.tostring(kept, method="c14n") == etree.tostring(expected, method="c14n")


def test_macros_and_objects_of_programs_are_left_out(job, monkeypatch):
    removed = {"Basic/Standard/Module1.xml": b"", "Object 1": b"MZ", "Configurations2/x.xml": b""}
    kept = {"Pictures/a.png": b"p", "Obj2/content.xml": b"<math/>"}

    assert sanitized("", job, monkeypatch, **removed, **kept).namelist() == ["mimetype", "content.xml", *kept]


@pytest.fixture
def fake_office(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """Return a function that replaces LibreOffice by a shell script."""

    def write(script: str) -> None:
        program = tmp_path / "office" / "soffice"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}")
        program.chmod(0o755)
        monkeypatch.setattr(libreoffice, "soffice", lambda: str(program))

    libreoffice._bubblewrap.cache_clear()
    yield write
    libreoffice._bubblewrap.cache_clear()


_COPY = 'while [ "$1" != --outdir ]; do shift; done\nmkdir "$2"\n%s "$3" > "$2/source.odt"\n'


def test_the_program_converts_a_file_or_cannot_read_it(job, fake_office):
    fake_office(_COPY % "cat")
    assert libreoffice.convert(b"words", "rtf", "odt", job) == b"words"

    fake_office("exit 0\n")
    with pytest.raises(ConversionError, match="could not read this as a rtf file"):
        libreoffice.convert(b"words", "rtf", "odt", replace(job, folder=job.folder / "office"))


@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
def test_in_bubblewrap_the_program_reads_only_its_folder(job, fake_office, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    fake_office(f"cat {secret}\n" + _COPY % "ls /home $HOME; cat")

    assert b"secret" not in libreoffice.convert(b"words", "rtf", "odt", job, isolated=True)


def test_without_bubblewrap_what_must_be_isolated_is_not_converted(job, fake_office, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    fake_office(f"touch {tmp_path}/started\n")

    with pytest.raises(ConversionError, match="isolated"):
        libreoffice.convert(b"words", "rtf", "odt", job, isolated=True)
    assert not (tmp_path / "started").exists()


_INCLUDED = rb"{\rtf1 visible {\field{\*\fldinst INCLUDEPICTURE \"%s\" \\\\d}{\fldrslt old}}\par}"


@pytest.mark.opens
def test_a_picture_of_another_file_is_not_read(converter, tmp_path):
    secret = tmp_path / "secret.png"
    secret.write_bytes(sources.png())
    source = _INCLUDED % secret.as_uri().encode()

    package = odf_of(converter.read(source, "application/rtf", "document").body) or b""

    with zipfile.ZipFile(io.BytesIO(package)) as file:
        assert b"visible" in file.read("content.xml")
        assert not [name for name in file.namelist() if name.startswith("Pictures/")]


def test_a_program_that_hangs_is_ended(job, fake_office):
    fake_office("exec sleep 100\n")

    with pytest.raises(TooLarge, match="took more than 1 seconds"):
        libreoffice.convert(b"words", "rtf", "odt", replace(job, limits=JobLimits(seconds=1)))


@pytest.fixture
def converter() -> Iterator[Converter]:
    with closing(Converter(JobLimits(), office=True)) as converter:
        yield converter


_PRODUCER = "LibreOffice".encode("utf-16-be").hex().upper().encode()


@pytest.mark.opens
def test_each_engine_exports_the_documents_of_the_other(converter):
    with closing(Converter(JobLimits())) as embedded:
        by_office = converter.read(sources.docx(), DOCX, "document", name="Report").body
        by_us = embedded.read(sources.docx(), DOCX, "document", name="Report").body
        office = converter.write(by_office, "document", PDF).body
        ours = embedded.write(by_us, "document", PDF).body

        assert embedded.write(by_office, "document", PDF).body == ours == converter.write(by_us, "document", PDF).body
    assert (_PRODUCER in office, _PRODUCER in ours) == (True, False)
    assert plain_text(Document.unpack(by_office).blocks) == plain_text(Document.unpack(by_us).blocks)
