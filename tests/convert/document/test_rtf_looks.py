import pytest

from svc_notebooks.convert.document import read, write
from svc_notebooks.convert.document.model import Document, Node, Page, paragraph, text_inlines
from svc_notebooks.convert.job import Job
from tests.convert.document.trees import attributes, div, para, span, table

COLORS = r"{\colortbl;\red255\green0\blue0;\red0\green0\blue0;\red255\green255\blue0;}"
BODY = r"\pard\plain\fs20 body text of the document\par "


def document_of(body: str, job: Job) -> Document:
    return read.rtf((r"{\rtf1\ansi" + COLORS + body + BODY + "}").encode(), job)


LINK = r"{\field{\*\fldinst HYPERLINK \"https://a.example/\"}{\fldrslt x}}"
LINK_NODE: Node = {"t": "Link", "c": [attributes(), text_inlines("x"), ["https://a.example/", ""]]}
WORDS = [*text_inlines("a"), {"t": "Space"}, span("red", color="#ff0000"), *text_inlines("b")]
TITLE: Node = {"t": "Header", "c": [1, attributes(size="10pt", color="#000000", align="center"), text_inlines("Title")]}
ITEM = div({"t": "Plain", "c": text_inlines("first")}, color="#ff0000")


@pytest.mark.parametrize(
    "body,block",
    [
        (r"\qc\fs48 large\par ", div(paragraph("large"), align="center", size="24pt")),
        (r"\qj\plain\fs20 even\par ", div(paragraph("even"), align="justify")),
        (r"\rtlpar\qr\plain\fs20 \u1488?\par ", div(paragraph("א"), dir="rtl")),
        (r"\fs20 a {\cf1 red}b\par ", para(*WORDS)),
        (r"\fs20 {\cf2 black}\par ", paragraph("black")),
        (r"\fs20\cb1\highlight0\cf0 plain\par ", paragraph("plain")),  # Word ignores \cb
        (r"\fs20 {\highlight3 note}\par ", para(span("note", background="#ffff00"))),
        (r"\cbpat3\fs20 note\par ", div(paragraph("note"), background="#ffff00")),
        (rf"\fs20\cf1 {LINK}\par ", para(LINK_NODE)),
        (r"\fs20\pagebb next\par ", div(paragraph("next"), page_break="before")),
        (r"\fs20\qr\u-9280?\u-9216?\par ", div(paragraph("\U00100000"), align="right")),  # for private use
        (r"\fs20\outlinelevel0\qc Title\par ", TITLE),
        (
            r"\fs20\fi-360\li360 1.\tab\cf1 first\par ",
            {"t": "OrderedList", "c": [[1, {"t": "Decimal"}, {"t": "Period"}], [[ITEM]]]},
        ),
    ],
)
def test_look(body: str, block: Node, job: Job) -> None:
    document = document_of(r"\pard" + body, job)

    assert document.blocks[0] == block
    assert document.text_size == 10


@pytest.mark.parametrize(
    "between,breaks",
    [
        (r"\page ", True), (r"\par\page ", True), (r"\par\sect\sectd ", True), (r"\par\sect\sectd\sbknone ", False),
        (r"\par ", False),
    ],
)  # fmt: skip
def test_page_breaks(between: str, breaks: bool, job: Job) -> None:
    first, second, _ = document_of(rf"\pard\fs20 one{between}two\par", job).blocks

    assert first == paragraph("one")
    assert second == (div(paragraph("two"), page_break="before") if breaks else paragraph("two"))


def test_alignment_of_cells(job: Job) -> None:
    document = document_of(
        r"\trowd\cellx1000\cellx2000\pard\intbl\fs20\qr 5\cell\pard\intbl\fs20 x\cell\row\pard ", job
    )

    [cells] = document.blocks[0]["c"][4][0][3]
    assert [cell[1]["t"] for cell in cells[1]] == ["AlignRight", "AlignDefault"]


def test_page(job: Job) -> None:
    assert document_of(r"\paperw16840\paperh11900\landscape\margl1000 ", job).page == Page(842, 595, 72, 90, 72, 50)
    assert document_of("", job).page is None


def test_an_exported_document_has_the_same_looks(job: Job) -> None:
    look = {"align": "right", "size": "20pt", "color": "#ff0000"}
    heading: Node = {"t": "Header", "c": [1, attributes(**look), text_inlines("x")]}
    items = {"t": "BulletList", "c": [[div({"t": "Plain", "c": text_inlines("item")}, page_break="before")]]}
    blocks = [
        div(paragraph("title"), align="center", size="24pt", color="#0000aa"),
        heading,
        para(*text_inlines("the plain text of the body"), {"t": "Space"}, span("blue", color="#0000ff")),
        div(paragraph("shaded"), page_break="before", background="#eeeeee"),
        items,
        div(table({"t": "Plain", "c": text_inlines("cell")}), page_break="before"),
    ]
    document = Document(blocks, page=Page(595, 842, 50, 60, 70, 80), text_size=9.0)

    again = read.rtf(write.rtf(document, job), job)

    assert [again.page, again.text_size] == [document.page, 9]
    assert again.blocks[:1] + again.blocks[2:5] == blocks[:1] + blocks[2:5]
    assert again.blocks[5]["c"][0] == attributes(page_break="before")
    assert again.blocks[5]["c"][1][0]["t"] == "Table"
    assert dict(again.blocks[1]["c"][1][2]) == look
