import io
import zipfile
from contextlib import closing
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pypdfium2
import pytest

from svc_notebooks.convert.document import pdf, read, write
from svc_notebooks.convert.document.model import Document, Node, Page, paragraph, text_inlines
from svc_notebooks.convert.job import Job
from tests.convert.document.trees import NONE, attributes, div, para, span, table

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
LANDSCAPE = Page(600, 400, 30, 40, 50, 60)
LINK: Node = {"t": "Link", "c": [NONE, text_inlines("link"), ["https://a.example/", ""]]}
NOTE: Node = {"t": "Note", "c": [div(paragraph("noted"), color="#0000ff")]}
HEADING_LOOK = attributes(page_break="before", align="center", color="#c00000")
HEADING: Node = {"t": "Header", "c": [1, HEADING_LOOK, text_inlines("Head")]}
TINY: Node = {"t": "Span", "c": [attributes(size="8pt", color="#00aa00"), [*text_inlines("tiny"), LINK]]}
ITEMS: Node = {"t": "BulletList", "c": [[div({"t": "Plain", "c": text_inlines("item")}, align="right")]]}
BLOCKS = [
    div(paragraph("Cover"), align="center", size="32pt", background="#d9e2f3"),
    HEADING,
    para(*text_inlines("body"), {"t": "Space"}, TINY, *text_inlines("end"), NOTE),
    div(ITEMS, page_break="before"),
    div(table(paragraph("cell")), page_break="before"),
    div(paragraph("שלום"), dir="rtl", align="left"),
]
TITLE: dict[str, Node] = {"title": {"t": "MetaInlines", "c": [span("Title", align="left", size="30pt")]}}


@pytest.fixture
def document() -> Document:
    return Document(BLOCKS, TITLE, {}, LANDSCAPE, 10.0)


def part(source: bytes, name: str) -> ElementTree.Element:
    with zipfile.ZipFile(io.BytesIO(source)) as file:
        return ElementTree.fromstring(file.read(name))


def element_text(element: ElementTree.Element) -> str:
    return "".join(element.itertext()).strip()


def docx_properties(root: ElementTree.Element, name: str) -> dict[str, dict[str, str]]:
    """Return the names and values of the properties of each paragraph (p) or run (r), by its text."""
    values = {}
    for node in root.iter(W + name):
        properties = node.find(f"{W}{name}Pr")
        children = [] if properties is None else list(properties)
        values[element_text(node)] = {child.tag[len(W) :]: child.get(f"{W}val", "") for child in children}
    return values


def test_docx_has_the_looks_the_page_and_the_default_size(document: Document, job: Job) -> None:
    made = write.docx(document, job)

    root = part(made, "word/document.xml")
    paragraphs, runs = docx_properties(root, "p"), docx_properties(root, "r")
    assert paragraphs["Title"]["jc"] == "left"
    assert paragraphs["Cover"] == {"pStyle": "FirstParagraph", "shd": "clear", "jc": "center"}
    assert list(paragraphs["Head"]) == ["pStyle", "pageBreakBefore", "jc"]
    assert list(paragraphs["item"]) == ["pStyle", "pageBreakBefore", "numPr", "jc"]
    assert paragraphs[""] == {"pStyle": "FirstParagraph", "pageBreakBefore": ""}  # before the table
    assert paragraphs["שלום"]["jc"] == "right"  # "left" is the start side of a right-to-left paragraph
    assert runs["Cover"] == {"sz": "64", "szCs": "64"}
    assert runs["Head"] == {"color": "c00000"}
    assert runs["tiny"] == {"color": "00aa00", "sz": "16", "szCs": "16"}
    assert runs["link"] == {"rStyle": "Hyperlink", "sz": "16", "szCs": "16"}
    assert runs["end"] == {}
    assert docx_properties(part(made, "word/footnotes.xml"), "r")["noted"] == {"color": "0000ff"}
    section = root.find(f".//{W}sectPr")
    assert section is not None
    size, margins = section[-2:]
    assert list(size.attrib.values()) == ["12000", "8000", "landscape"]
    assert [margins.get(W + side) for side in ("top", "right", "bottom", "left")] == ["600", "800", "1000", "1200"]
    styles = part(made, "word/styles.xml")
    defaults = styles.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr/{W}sz")
    assert defaults is not None
    assert defaults.get(f"{W}val") == "20"
    assert "look" not in ElementTree.tostring(styles, "unicode")


def odt_properties(root: ElementTree.Element, element: ElementTree.Element) -> dict[str, str]:
    """Return the attributes of the automatic style of an element, without namespaces."""
    name = element.get(f"{TEXT}style-name")
    [style] = [style for style in root.iter(f"{STYLE}style") if style.get(f"{STYLE}name") == name]
    return {key.rpartition("}")[2]: value for child in style for key, value in child.attrib.items()}


def test_odt(document: Document, job: Job) -> None:
    root = part(write.odt(document, job), "content.xml")
    elements = {element_text(element): element for name in ("h", "p", "span") for element in root.iter(TEXT + name)}
    assert odt_properties(root, elements["Title"])["text-align"] == "left"
    cover = odt_properties(root, elements["Cover"])
    assert (cover["text-align"], cover["background-color"], cover["font-size"]) == ("center", "#d9e2f3", "32pt")
    head = odt_properties(root, elements["Head"])
    assert (head["break-before"], head["color"]) == ("page", "#c00000")
    assert odt_properties(root, elements["tinylink"])["font-size"] == "8pt"
    assert odt_properties(root, elements["item"])["margin-top"] == "0in"  # from the style of the list
    assert odt_properties(root, elements["שלום"])["text-align"] == "left"
    assert odt_properties(root, elements["noted"])["color"] == "#0000ff"
    assert [*root.iter("paragraph")] == []


def test_odt_page_and_default_size(document: Document, job: Job) -> None:
    root = part(write.odt(document, job), "styles.xml")

    layout = next(root.iter(f"{STYLE}page-layout-properties"))
    names = ("page-width", "page-height", "margin-top", "margin-right", "margin-bottom", "margin-left")
    # the bottom is that of the page without its footer
    assert [layout.get(FO + name) for name in names] == ["600pt", "400pt", "30pt", "40pt", "14.4pt", "60pt"]
    [default] = [style for style in root.iter(f"{STYLE}default-style") if style.get(f"{STYLE}family") == "paragraph"]
    assert default[-1].get(f"{FO}font-size") == "10pt"


def test_rtf(document: Document, job: Job) -> None:
    made = write.rtf(document, job).decode("ascii")

    assert r"\red217\green226\blue243;" in made
    assert r"\fs20\landscape\paperw12000\paperh8000\margt600\margr800\margb1000\margl1200" in made
    assert r"\qc \fs64 \shading0\cbpat3 Cover" in made
    assert r"\pagebb " in made


@pytest.mark.parametrize("writer", [write.html, write.zipped_html, write.epub])
def test_css(document: Document, job: Job, writer: Any) -> None:
    made = writer(document, job)

    if made.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(made)) as file:
            made = b"".join(file.read(name) for name in file.namelist() if name.endswith("html"))
    page = made.decode()
    assert 'style="text-align: center; size' not in page
    assert 'style="text-align: center; font-size: 3.2rem; background-color: #d9e2f3"' in page
    assert "break-before: page; text-align: center; color: #c00000" in page
    assert '<span style="font-size: 0.8rem; color: #00aa00">' in page


@pytest.mark.parametrize("writer", [write.markdown, write.text])
def test_text_formats_have_no_looks(document: Document, job: Job, writer: Any) -> None:
    made = writer(document, job).decode()

    assert "Cover" in made
    assert not [word for word in ("align", "center", "32pt", "#c0", "page", "break", "look") if word in made]


def places(made: bytes, *words: str) -> list[tuple[int, float, float]]:
    positions = []
    with closing(pypdfium2.PdfDocument(made)) as document:
        texts = [page.get_textpage() for page in document]
        for word in words:
            number, index = next(
                (n, match[0]) for n, text in enumerate(texts) if (match := text.search(word).get_next())
            )
            left = texts[number].get_charbox(index, loose=True)[0]
            positions.append((number, round(left), pypdfium2.raw.FPDFText_GetFontSize(texts[number], index)))
    return positions


def test_pdf(document: Document, job: Job) -> None:
    made = pdf.write(document, job)

    words = ("Title", "Cover", "Head", "tiny", "body", "item", "cell")
    [title, cover, heading, tiny, body, item, cell] = places(made, *words)
    assert title == (0, 60, 30)
    assert cover == (0, pytest.approx(270, abs=10), 32)
    assert heading[0] == 1
    assert tiny[2] == 8
    assert body == (1, 60, 10)
    assert item == (2, pytest.approx(542, abs=10), 10)
    assert cell[0] == 3
    with closing(pypdfium2.PdfDocument(made)) as file:
        assert file[0].get_size() == (600, 400)


def test_pdf_page_break_in_a_list(job: Job) -> None:
    items = [[{"t": "Plain", "c": text_inlines("one")}], [div(paragraph("two"), page_break="before")]]
    numbers: Node = {"t": "OrderedList", "c": [[4, {"t": "Decimal"}, {"t": "Period"}], items]}

    made = pdf.write(Document([numbers]), job)

    assert [number for number, *_ in places(made, "4.", "one", "5.", "two")] == [0, 0, 1, 1]


LINES = {"header": ("Draft\t\tSecret", "\tsecond"), "footer": ("\tPage \x01 of \x02",)}


@pytest.mark.parametrize("name", ["docx", "odt"])
def test_header_footer_and_columns_come_back(document: Document, job: Job, name: str) -> None:
    document = replace(document, page=Page(600, 400, 60, 40, 60, 60, columns=2), **LINES)

    back = getattr(read, name)(getattr(write, name)(document, job), job)

    assert (back.header, back.footer) == (LINES["header"], LINES["footer"])
    assert back.page == document.page


def test_pdf_header_footer_and_columns(document: Document, job: Job) -> None:
    made = pdf.write(replace(document, page=replace(LANDSCAPE, columns=2), **LINES), job)

    [draft, secret, second, page, body] = places(made, "Draft", "Secret", "second", "Page 1 of 4", "body")
    assert draft[:2] == (0, 60)
    assert secret[1] > 500
    assert second[1] == pytest.approx(page[1], abs=40)
    assert body[1] == 60


def test_plain_documents_have_no_traces_of_looks(job: Job) -> None:
    document = Document([paragraph("plain")])

    assert b"look" not in write.docx(document, job) + write.odt(document, job)
    assert [*part(write.docx(document, job), "word/document.xml").iter(f"{W}pgSz")] == []
