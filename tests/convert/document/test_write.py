import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from svc_notebooks.convert.document import pandoc, pdf, read, write
from svc_notebooks.convert.document.model import Document, Node, paragraph, text_inlines
from svc_notebooks.convert.job import Job
from tests.convert import sources
from tests.convert.document.trees import NONE, para, table

WRITERS: dict[str, Callable[[Document, Job], bytes]] = {
    "html": write.html, "zip": write.zipped_html, "txt": write.text, "rtf": write.rtf, "odt": write.odt,
    "docx": write.docx, "epub": write.epub, "md": write.markdown, "pdf": pdf.write,
}  # fmt: skip
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
SVG = "{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}"
DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
WORDS = ("Annual report", "bold", "italic", "the link", "first", "second", "North", "22", *sources.SENTENCES)


def test_the_words_of_a_table_in_a_table_are_in_rtf_once(job: Job) -> None:
    inner = table(para(*text_inlines("inner words")))
    source = write.rtf(Document([table({"t": "Div", "c": [NONE, [para(*text_inlines("outer")), table(inner)]]})]), job)

    assert source.count(b"\\row") == 1
    assert [source.count(word) for word in (b"outer", b"inner words")] == [1, 1]


@pytest.fixture
def document(job: Job) -> Document:
    return read.docx(sources.docx(), job)


class Page(HTMLParser):
    """Collects the tags with attributes of a page, and its text outside of style elements."""

    def __init__(self, source: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._stack: list[str] = []
        self.feed(source.decode("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._stack and self._stack.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "style" not in self._stack and "script" not in self._stack:
            self.text += data

    def names(self) -> set[str]:
        return {tag for tag, _ in self.tags}

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def says_all(text: str) -> bool:
    plain = " ".join(text.split())
    return [words for words in WORDS if words not in plain] == []


def root_of(source: bytes, part: str) -> ElementTree.Element:
    with zipfile.ZipFile(io.BytesIO(source)) as file:
        return ElementTree.fromstring(file.read(part))


def markup(source: bytes, part: str) -> str:
    """Return the text of a member of a zip file after checking that it is well-formed XML."""
    return "".join(root_of(source, part).itertext())


@pytest.mark.spec("A7-01", "A7-01a")
def test_html(document: Document, job: Job) -> None:
    page = Page(write.html(document, job))

    assert says_all(page.text)
    assert {"h1", "strong", "em", "ul", "ol", "table", "img", "title"} <= page.names()
    assert "script" not in page.names()
    assert [a["href"] for a in page.all("a")] == ["https://a.example/"]
    assert all(str(image["src"]).startswith("data:image/png;base64,") for image in page.all("img"))


@pytest.mark.spec("A7-01", "A7-01a")
def test_zipped_html(document: Document, job: Job) -> None:
    made = write.zipped_html(document, replace(job, name="A/B: report"))

    with zipfile.ZipFile(io.BytesIO(made)) as file:
        names = file.namelist()
        page = Page(file.read("A_B_ report.html"))
        [picture] = [name for name in names if name.startswith("images/")]
        assert file.read(picture) == sources.png()
    assert says_all(page.text)
    assert [image["src"] for image in page.all("img")] == [picture]


@pytest.mark.spec("A7-01", "A7-01a")
def test_text(document: Document, job: Job) -> None:
    made = write.text(document, job)

    assert made.startswith(b"\xef\xbb\xbf")
    assert b"\n" not in made.replace(b"\r\n", b"")
    assert says_all(made.decode("utf-8-sig"))
    assert "Plain, bold and italic" in made.decode("utf-8-sig")


@pytest.mark.spec("A7-01", "A7-01a")
def test_rich_text(document: Document, job: Job) -> None:
    """Characters beyond ASCII are written as numbers of UTF-16 units."""
    made = write.rtf(document, job).decode("ascii")

    units = re.sub(r"((?:\\u-?\d+ ?\??)+)", _letters, made)
    assert made.startswith("{\\rtf1")
    assert all(sentence in units for sentence in sources.SENTENCES)
    assert "Annual report" in units
    assert 'HYPERLINK "https://a.example/"' in made
    assert sources.png().hex() in made.replace("\n", "").lower()
    assert made.count("{") - made.count("\\{") == made.count("}") - made.count("\\}")


def _letters(match: re.Match[str]) -> str:
    units = [int(number) % 65_536 for number in re.findall(r"\\u(-?\d+)", match[1])]
    return b"".join(unit.to_bytes(2, "little") for unit in units).decode("utf-16-le", "replace")


@pytest.mark.spec("A7-01", "A7-01a")
def test_open_document(document: Document, job: Job) -> None:
    made = write.odt(document, job)

    with zipfile.ZipFile(io.BytesIO(made)) as file:
        first = file.infolist()[0]
        assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
        assert file.read("mimetype") == b"application/vnd.oasis.opendocument.text"
        assert [file.read(name) for name in file.namelist() if name.startswith("Pictures/")] == [sources.png()]
    assert says_all(markup(made, "content.xml"))


@pytest.mark.spec("A7-01", "A7-01b")
def test_word(document: Document, job: Job) -> None:
    import docx

    made = docx.Document(io.BytesIO(write.docx(document, job)))

    paragraphs = [p.text for p in made.paragraphs]
    cells = [cell.text for row in made.tables[0].rows for cell in row.cells]
    assert says_all(" ".join([*paragraphs, *cells, *(h.text for p in made.paragraphs for h in p.hyperlinks)]))
    assert [p.text for p in made.paragraphs if p.style.name == "Heading 1"] == ["Annual report"]
    assert "bold" in [run.text for p in made.paragraphs for run in p.runs if run.bold]
    assert len(made.inline_shapes) == 1


@pytest.mark.spec("A7-01", "A7-01a")
def test_book(document: Document, job: Job) -> None:
    made = write.epub(document, job)

    with zipfile.ZipFile(io.BytesIO(made)) as file:
        assert file.infolist()[0].filename == "mimetype"
        assert file.read("mimetype") == b"application/epub+zip"
        pages = [name for name in file.namelist() if name.endswith(".xhtml")]
        text = " ".join(markup(made, name) for name in pages)
        package = file.read("EPUB/content.opf").decode()
    assert says_all(text)
    assert "urn:uuid:" in package
    assert 'version="3.0"' in package


@pytest.mark.spec("A7-01", "A7-01a")
def test_markdown(document: Document, job: Job) -> None:
    made = write.markdown(document, job).decode()

    assert says_all(made.replace("*", ""))
    assert all(words in made for words in ("# Annual report", "**bold**"))


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_document_is_the_same_file(name: str, document: Document, job: Job, tmp_path: Path) -> None:
    others = [replace(job, folder=tmp_path / number) for number in "12"]
    for other in others:
        other.folder.mkdir()

    first, second = (WRITERS[name](document, other) for other in others)

    assert first == second


@pytest.mark.parametrize("name", WRITERS)
def test_unusual_documents_are_written(name: str, job: Job) -> None:
    beginnings = {"html": b"<!DOCTYPE", "txt": b"\xef\xbb\xbf", "rtf": b"{\\rtf", "md": b"", "pdf": b"%PDF"}
    block = paragraph("words")
    for _ in range(59):
        block = table(block)
    odd = replace(job, name="a\0b\n--x \ud800 <&>'\"")

    assert WRITERS[name](Document(), job).startswith(beginnings.get(name, b"PK"))
    assert WRITERS[name](Document([block]), job)
    assert WRITERS[name](Document([paragraph("words")]), odd)


@pytest.mark.parametrize("name", ["docx", "odt", "html", "rtf"])
def test_written_documents_are_read_again(name: str, document: Document, job: Job) -> None:
    made = WRITERS[name](document, job)

    again = getattr(read, name)(made, job)

    assert says_all(write.text(again, job).decode("utf-8-sig"))
    assert set(again.resources) == set(document.resources)


def test_text_that_looks_like_markup_is_text(job: Job) -> None:
    source_text = '<script>alert(1)</script> \\input{x} ${y} `z` {\\rtf} #read("/etc/passwd") $x$ @ref </p>'
    document = read.text(source_text.encode(), job)

    page = Page(write.html(document, job))
    assert source_text in " ".join(page.text.split())
    assert "script" not in page.names()
    assert source_text in write.text(document, job).decode("utf-8-sig")


@pytest.mark.parametrize(
    "text,written",
    [
        ("- no list", r"\- no list"), ("1. no list", r"1\. no list"), ("write to @somebody", r"write to \@somebody"),
        ("the word [picture] is _text_", r"the word \[picture\] is \_text\_"),
    ],
)  # fmt: skip
def test_signs_of_markdown_in_words_are_escaped(text: str, written: str, job: Job) -> None:
    assert write.markdown(Document([para(*text_inlines(text))]), job).decode().strip() == written


def test_words_in_open_document_are_escaped(job: Job) -> None:
    nodes = [*text_inlines('both "a" & <b> are text'), {"t": "Space"}, {"t": "Strong", "c": text_inlines("<bold>")}]

    made = write.odt(Document([para(*nodes)]), job)

    assert markup(made, "content.xml").strip() == 'both "a" & <b> are text <bold>'


def test_pandoc_gets_few_nodes(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[bytes] = []
    monkeypatch.setattr(pandoc, "run", lambda options, tree, job: sent.append(tree) or b"")

    pandoc.write(Document([para(*text_inlines("word " * 100))]), "plain", job)

    assert sent[0].count(b'"t"') < 10
    assert sent[0].count(b"word") == 100


def test_direction_from_right_to_left(job: Job) -> None:
    document = read.text("שלום עולם\n\nplain\n\n\u0645\u0631\u062d\u0628\u0627".encode(), job)
    document = read.html(write.html(document, job), job)

    page = Page(write.html(document, job))
    assert [attributes.get("dir") for attributes in page.all("div")] == ["rtl", "rtl"]
    assert b"w:bidi" in zipfile.ZipFile(io.BytesIO(write.docx(document, job))).read("word/document.xml")


@pytest.mark.parametrize("name,part", [("docx", "word/document.xml"), ("odt", "content.xml"), ("txt", ""), ("rtf", "")])
def test_title_subtitle_and_author_are_written(name: str, part: str, job: Job) -> None:
    meta = {key: {"t": "MetaInlines", "c": text_inlines(f"The {key}")} for key in ("title", "subtitle")}

    made = WRITERS[name](Document([paragraph("text")], meta), job)

    shown = markup(made, part) if part else made.decode("utf-8-sig")
    assert [shown.count(heading) for heading in ("The title", "The subtitle")] == [1, 1]
    assert shown.index("The title") < shown.index("The subtitle") < shown.index("text", shown.index("The subtitle"))


def test_descriptions_of_pictures_in_open_document(job: Job) -> None:
    picture: Node = {"t": "Image", "c": [NONE, text_inlines('A <B> & "C"'), ["a.png", ""]]}
    missing: Node = {"t": "Image", "c": [NONE, text_inlines("missing"), ["b.png", ""]]}
    blocks = [para(picture, *text_inlines("after")), para(missing), table(para({"t": "Strong", "c": [picture]}))]

    root = root_of(write.odt(Document(blocks, {}, {"a.png": sources.png()}), job), "content.xml")

    descriptions = [frame.findtext(f"{SVG}desc") for frame in root.iter(f"{DRAW}frame")]
    assert descriptions == ['A <B> & "C"', 'A <B> & "C"']
    assert "after" in "".join(root.itertext())
    assert [*root.iter("description")] == []


@pytest.mark.parametrize(
    "writer, name, style", [("docx", "word/styles.xml", f"{W}style"), ("odt", "styles.xml", f"{STYLE}style")]
)
def test_files_have_the_styles_of_pandoc(job: Job, writer: str, name: str, style: str) -> None:
    def styles(body: bytes) -> list[str]:
        options: dict[str, Any] = {"strip_text": True, "rewrite_prefixes": True}
        nodes = root_of(body, name).iter(style)
        texts = [ElementTree.canonicalize(ElementTree.tostring(it), **options) for it in nodes]
        lacking = (':name="Formula"', ':name="Title"', ':name="Subtitle"')
        changed = ('styleId="Table"', 'styleId="SourceCode"', *lacking)  # borders, and what pandoc lacks
        return [text for text in texts if not any(name in text for name in changed)]

    assert styles(WRITERS[writer](Document(), job)) == styles(pandoc.write(Document(), writer, job)) != []


def test_paragraphs_from_right_to_left(job: Job) -> None:
    hebrew, mixed = paragraph("שלום עולם"), paragraph("plain שלום")
    terms: Node = {"t": "DefinitionList", "c": [[text_inlines("שלום"), [[paragraph("term")]]]]}
    document = Document([hebrew, mixed, table(paragraph("cell")), table(hebrew), terms])

    rtf, docx, odt = write.rtf(document, job), write.docx(document, job), write.odt(document, job)

    lines = [line for line in rtf.splitlines() if b"\\pard" in line and b"\\fi0 \\par" not in line]
    assert [line.count(b"\\rtlpar \\qr ") for line in lines] == [1, 0, 0, 1, 1, 0]
    paragraphs = [node for node in root_of(docx, "word/document.xml").iter(f"{W}p") if "".join(node.itertext())]
    assert [len(node.findall(f"{W}pPr/{W}bidi")) for node in paragraphs] == [1, 0, 0, 1, 1, 0]
    root = root_of(odt, "content.xml")
    styles = {
        style.get(f"{STYLE}name"): properties.get(f"{STYLE}writing-mode")
        for style in root.iter(f"{STYLE}style")
        for properties in style.iter(f"{STYLE}paragraph-properties")
    }
    modes = [styles.get(node.get(f"{TEXT}style-name")) for node in root.iter(f"{TEXT}p")]
    assert modes == ["rl-tb", None, None, "rl-tb", "rl-tb", None]


def test_tables_have_borders(job: Job) -> None:
    import docx

    document = read.html(b"<table><tr><td>a</td></tr></table>", job)

    style = docx.Document(io.BytesIO(write.docx(document, job))).tables[0].style
    assert style.element.xpath("w:tblPr/w:tblBorders/w:insideV/@w:val") == ["single"]
    assert b"\\clbrdrl\\brdrs" in write.rtf(document, job)


@pytest.mark.parametrize(
    "name,part", [("docx", "docProps/core.xml"), ("odt", "meta.xml"), ("epub", "EPUB/content.opf")]
)
def test_the_date_and_the_title_are_those_of_the_job(name: str, part: str, document: Document, job: Job) -> None:
    made = WRITERS[name](document, replace(job, name="A & B", now=datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)))

    with zipfile.ZipFile(io.BytesIO(made)) as file:
        part_text = file.read(part).decode()
    assert "2031-05-06T07:08:09Z" in part_text
    assert "A &amp; B</dc:title>" in part_text
    assert "1970" not in part_text


def test_header_and_footer_of_pages(job: Job) -> None:
    lines = {"header": ("Café {1}\t\tDraft",), "footer": ("\tPage \x01 of \x02", "\x01")}
    document = Document([{"t": "Para", "c": [{"t": "Str", "c": "Body"}]}], **lines)

    page = write.html(document, job).decode()
    again = read.rtf(write.rtf(document, job), job)

    assert '<div class="page-header"><p><span>Café {1}</span><span></span><span>Draft</span></p></div>' in page
    assert '<div class="page-footer"><p><span></span><span>Page 1 of 1</span></p></div>' in page
    assert (again.header, again.footer) == (lines["header"], ("\tPage \x01 of \x02", "\x01"))
    book = markup(write.epub(document, job), "EPUB/text/ch001.xhtml")
    assert book.index("Draft") < book.index("Body") < book.index("Page 1")
