import json
from dataclasses import replace

import pytest

from svc_notebooks.convert.document import read
from svc_notebooks.convert.document.clean import nodes_of, plain_text
from svc_notebooks.convert.document.model import Document
from svc_notebooks.convert.engines import available
from svc_notebooks.convert.job import ConversionError, Job, JobLimits, TooLarge
from tests.convert import sources

ARROWS = {
    "docx": (read.docx, sources.docx), "odt": (read.odt, sources.odt), "html": (read.html, sources.html),
    "rtf": (read.rtf, sources.rtf),
}  # fmt: skip


def node_types_of(document: Document) -> set[str]:
    return {node["t"] for node in nodes_of(document.blocks)}


@pytest.mark.spec("A5-01")
@pytest.mark.parametrize("name", ARROWS)
def test_formatting_is_kept(name: str, job: Job) -> None:
    reader, source = ARROWS[name]

    document = reader(source(), job)

    text = " ".join(plain_text(document.blocks).split())
    for words in ("Annual report", "bold", "italic", "the link", "first", "second", "North", "22", *sources.SENTENCES):
        assert words in text, words
    node_types = node_types_of(document)
    assert {"Header", "Strong", "Emph", "Link", "Table", "Image"} <= node_types
    assert name == "rtf" or node_types & {"BulletList", "OrderedList"}
    assert "Not on the page" not in text + plain_text(list(document.meta.values()))
    assert len(document.resources) == 1
    assert Document.unpack(document.pack()) == document
    assert job.notes == []


@pytest.mark.spec("A5-06", "A5-06a")
@pytest.mark.parametrize(
    "source,charset",
    [
        ("<p>naïve</p>".encode(), None),
        ("<p>naïve</p>".encode("utf-16"), None),
        ("<p>naïve</p>".encode("cp1252"), "windows-1252"),
        ('<meta charset="iso-8859-1"><p>naïve</p>'.encode("latin-1"), None),
        ('<?xml version="1.0" encoding="cp850"?><p>naïve</p>'.encode("cp850"), None),
        ("<?xml encoding='cp850' version='1.0'?><meta charset=cp1251><p>naïve</p>".encode("cp850"), None),
        ('<meta content="text/html; charset=cp850" http-equiv=Content-Type><p>naïve</p>'.encode("cp850"), None),
        ('<!-- <meta charset="cp1251"> --><meta charset="cp850"><p>naïve</p>'.encode("cp850"), None),
        ('<meta charset="utf-16"><p>naïve</p>'.encode("cp1252"), None),
        ('<meta charset="utf-8"><p>naïve</p>'.encode("utf-16-le"), None),
        ('<meta charset="cp1251"><p>naïve</p>'.encode("utf-8-sig"), None),
    ],
)
def test_the_character_set_of_a_page(source: bytes, charset: str | None, job: Job) -> None:
    assert plain_text(read.html(source, replace(job, charset=charset)).blocks) == "naïve"


@pytest.mark.spec("A5-01", "A5-06", "A5-06a")
def test_plain_text_keeps_its_lines_and_blanks(job: Job) -> None:
    document = read.text("a\r\nb\r\n\r\n\r\n  c   d\te\r\n".encode("utf-8-sig"), job)

    first, second = ([node.get("c", node["t"]) for node in block["c"]] for block in document.blocks)
    assert first == ["a", "LineBreak", "b"]
    assert second == ["\u00a0\u00a0c\u00a0\u00a0", "Space", "d", "Space", "e"]
    with pytest.raises(ConversionError, match="not text"):
        read.text(bytes(1000), job)


@pytest.mark.parametrize("source", [b"", b"   \r\n"])
def test_an_empty_source_is_an_empty_document(source: bytes, job: Job) -> None:
    assert read.text(source, job) == Document() == read.html(source, job)


def test_markdown_has_no_html(job: Job) -> None:
    document = read.markdown(b"# Head\n\n<script>alert(1)</script>\n\n*word*\n\n```{=html}\n<b>raw</b>\n```\n", job)

    assert {"Header", "Emph"} <= node_types_of(document)
    assert not node_types_of(document) & {"RawBlock", "RawInline"}
    assert "alert" not in plain_text(document.blocks)
    assert "HTML" in job.notes[0]


class TestHostile:
    @pytest.mark.parametrize(
        "markup",
        [
            '<img src="/etc/passwd" alt="words">', '<img src="file:///etc/passwd" alt="words">',
            '<img src="http://127.0.0.1:9/x.png" alt="words">', '<img src="../../../../etc/passwd" alt="words">',
            '<img src="media/../../../etc/passwd" alt="words">', '<img src="data:image/png;base64,AAAA" alt="words">',
            '<img src="data:image/svg+xml,<svg/>" alt="words">', '<img src="data:text/html,x" alt="words">',
        ],
    )  # fmt: skip
    def test_invalid_and_external_pictures_are_removed(self, markup: str, job: Job) -> None:
        document = read.html(f"<p>{markup}</p>".encode(), job)

        assert (plain_text(document.blocks), dict(document.resources)) == ("words", {})
        assert job.notes

    def test_scripts_and_frames_are_removed(self, job: Job) -> None:
        source = b"""<html><head><script>alert(1)</script><style>p{}</style></head><body onload="alert(1)">
<p onclick="alert(1)" style="background:url(http://h/)" class="x" data-y="z">words</p>
<iframe src="file:///etc/passwd"></iframe><object data="/etc/passwd"></object><embed src="/etc/passwd">
<meta http-equiv="refresh" content="0;url=http://h/"><base href="http://h/"><link rel="stylesheet" href="//h/"></body>
"""
        document = read.html(source, job)

        stored = json.dumps(document.tree)
        assert plain_text(document.blocks).strip() == "words"
        assert not any(word in stored for word in ("alert", "root:", "http", "onclick", "style", "data-y", "passwd"))

    def test_endless_groups_of_rtf_are_refused_and_spans_beyond_a_table_are_cut(self, job: Job) -> None:
        source = b"<table><tr><td colspan=99999999 rowspan='88888888'>words</td></tr><tr><td>x</td></tr></table>"

        assert "words" in plain_text(read.html(source, job).blocks)
        with pytest.raises(TooLarge, match="nested"):
            read.rtf(rb"{\rtf1 " + b"{" * 100_000 + b"x", job)

    def test_external_targets_of_word_files_are_not_read(self, job: Job) -> None:
        outside = (b'Target="media/image1.png"', b'Target="file:///etc/passwd" TargetMode="External"')
        link = (b"https://a.example/", b"file:///etc/passwd")
        source = sources.changed(sources.docx(), "word/_rels/document.xml.rels", outside, link)

        document = read.docx(source, job)

        assert "passwd" not in json.dumps(document.tree)
        assert dict(document.resources) == {}
        assert "Annual report" in plain_text(document.blocks)


@pytest.mark.opens
@pytest.mark.spec("A5-01")
def test_old_word_files_go_through_libreoffice(job: Job, tmp_path_factory: pytest.TempPathFactory) -> None:
    from svc_notebooks.convert.engines import libreoffice

    other = replace(job, folder=tmp_path_factory.mktemp("doc"))
    old = libreoffice.convert(sources.docx(), "docx", "doc", other)

    document = read.doc(old, job)

    assert old.startswith(b"\xd0\xcf\x11\xe0")
    assert {"Header", "Table", "Image", "Strong"} <= node_types_of(document)
    assert "한국어" in plain_text(document.blocks)


def test_a_document_that_needs_more_memory_than_pandoc_has_left_is_too_large(job: Job) -> None:
    source = b"<p>" + b"word " * 300_000 + b"</p>"

    with pytest.raises(TooLarge, match="more memory than the limit"):
        read.html(source, replace(job, limits=JobLimits(memory=available.process_memory("VmRSS") + 150 * 1024 * 1024)))
