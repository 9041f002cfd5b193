import json
import time
from typing import Any

import pytest

from svc_notebooks.convert.document import read, write
from svc_notebooks.convert.document.clean import plain_text
from svc_notebooks.convert.document.model import Document, Node, Page, paragraph, text_inlines
from svc_notebooks.convert.document.rtf import parser
from svc_notebooks.convert.job import Job, TooLarge
from tests.convert import sources
from tests.convert.document.trees import attributes, div, para, span, table

pytestmark = pytest.mark.spec("A5-01")


def rich(body: str, head: str = "", charset: str = r"\ansicpg1252") -> bytes:
    return rf"{{\rtf1\ansi{charset}\deff0{head} {body}}}".encode("latin-1")


def outline(document: Document) -> list[Any]:
    """Return a short form of the blocks with their type and text."""
    return [_short(block) for block in document.blocks]


def _short(block: dict[str, Any]) -> Any:
    kind, content = block["t"], block.get("c")
    if kind == "Header":
        return f"h{content[0]} {plain_text(content[2])}"
    if kind == "BulletList":
        return ["*", *([_short(inner) for inner in item] for item in content)]
    if kind == "OrderedList":
        (start, style, _), items = content
        return [f"{start} {style['t']}", *([_short(inner) for inner in item] for item in items)]
    if kind == "Table":
        rows = [*content[3][1], *(row for body in content[4] for row in body[3])]
        return [[(cell[2], cell[3], plain_text(cell[4])) for cell in cells] for _, cells in rows]
    return f"{kind}: {plain_text(block)}" if kind in ("BlockQuote", "CodeBlock") else plain_text(block)


@pytest.mark.parametrize(
    "body,charset,text",
    [
        (r"na\'efve", r"\ansicpg1252", "naïve"), (r"\'cf\'f0\'e8\'e2\'e5\'f2", r"\ansicpg1251", "Привет"),
        (r"\'93\'fa\'96\'7b\'8c\'ea", r"\ansicpg932", "日本語"), (r"\'8e", r"\mac", "é"),
        (r"\u26085 ?\u-26972 ?", r"\ansicpg1252", "日際"[:1] + chr(65536 - 26972)),
        (r"\u8364\'80 5", r"\ansicpg1252", "€ 5"), (r"{\uc0\u8364}{\uc2\u8364 xx}y", r"\ansicpg1252", "€€y"),
        (r"\u-10179 ?\u-8704 ?", "", "😀"), (r"\uc0 \u55357\uc1 \u56832\'3f", "", "😀"),
        (r"a\~b\_c\-d\emdash\lquote x\rquote\{\}\\", "", "a\u00a0b\u2011cd\u2014\u2018x\u2019{}\\"),
        (r"seen{\v hidden}{\*\unknown not}{\headerf not}{\info{\title not}}", "", "seen"),
        (r"\b1 x\b0 y{\deleted z}", "", "xy"),
    ],
)  # fmt: skip
def test_letters(body: str, charset: str, text: str, job: Job) -> None:
    assert plain_text(read.rtf(rich(body + r"\par", charset=charset), job).blocks) == text


def test_marks(job: Job) -> None:
    body = r"{\b a}{\i b}{\ul c}{\strike d}{\super e}{\sub f}{\scaps g}{\b\i h}\b i\plain j\par"

    marks = [(node["t"], plain_text(node)) for node in read.rtf(rich(body), job).blocks[0]["c"]]
    assert marks == [
        ("Strong", "a"), ("Emph", "b"), ("Underline", "c"), ("Strikeout", "d"), ("Superscript", "e"),
        ("Subscript", "f"), ("SmallCaps", "g"), ("Strong", "hi"), ("Str", "j"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "head,body",
    [
        ("", r"\pard\outlinelevel1 Head\par"),
        (r"{\stylesheet{\s0 Normal;}{\s2 heading 2;}}", r"\pard\s2\b Head\par"),
        (r"{\stylesheet{\s7\outlinelevel1 Rubrik;}}", r"\pard\s7 Head\par"),
    ],
)
def test_headings(head: str, body: str, job: Job) -> None:
    assert outline(read.rtf(rich(body + r"\pard text\par", head), job)) == ["h2 Head", "text"]


def test_title_styles_become_metadata(job: Job) -> None:
    head = r"{\stylesheet{\s1 Title;}{\s2 Subtitle;}{\s3 Quote;}}"

    document = read.rtf(rich(r"\s1 The title\par\s2 More\par\pard\s3 said\par", head), job)

    meta = {name: plain_text(value) for name, value in document.meta.items()}
    assert meta == {"title": "The title", "subtitle": "More"}
    assert outline(document) == ["BlockQuote: said"]


LISTS = (
    r"{\*\listtable{\list{\listlevel\levelnfc0\levelstartat3{\leveltext\'02\'00.;}}{\listlevel\levelnfc23}\listid7}}"
    r"{\*\listoverridetable{\listoverride\listid7\listoverridecount0\ls1}}"
)


OF_THE_HEADER = (
    r"{\listtext 3.\tab}\ls1\ilvl0\li720 three\par\pard{\listtext\'b7\tab}\ls1\ilvl1\li1440 deep\par"
    r"\pard{\listtext 4.\tab}\ls1\ilvl0\li720 four\par"
)


@pytest.mark.parametrize(
    "body,expected",
    [
        (OF_THE_HEADER, ["3 Decimal", ["three", ["*", ["deep"]]], ["four"]]),
        (r"{\pntext\f1\'B7\tab}{\*\pn\pnlvlblt}\fi-360\li720 x\par{\pntext\'B7\tab}y\par", ["*", ["x"], ["y"]]),
        (r"\fi-360\li360 i)\tab x\par ii)\tab y\par", ["1 LowerRoman", ["x"], ["y"]]),
        (r"\fi-360\li360\bullet\tab x\par\fi-360\li360\bullet\tab y\par", ["*", ["x"], ["y"]]),
        (r"\fi-360\li360 b.\tab x\par", ["2 LowerAlpha", ["x"]]),
    ],
)
def test_lists(body: str, expected: list[Any], job: Job) -> None:
    assert outline(read.rtf(rich(rf"\pard{body}\pard after\par", LISTS), job)) == [expected, "after"]


def test_a_table_with_merged_cells(job: Job) -> None:
    rows = (
        r"\trowd\trhdr\cellx4000\cellx6000\pard\intbl wide\cell c\cell\row"
        r"\trowd\cellx2000\cellx4000\clvmgf\cellx6000 a\cell b\cell tall\cell\row"
        r"\trowd\cellx2000\cellx4000\clvmrg\cellx6000 d\cell e\cell\cell\row"
        r"\trowd\clmgf\cellx2000\clmrg\cellx4000\cellx6000 both\cell\cell f\cell\row"
    )

    document = read.rtf(rich(rows + r"\pard after\par"), job)

    assert outline(document) == [
        [
            [(1, 2, "wide"), (1, 1, "c")], [(1, 1, "a"), (1, 1, "b"), (2, 1, "tall")], [(1, 1, "d"), (1, 1, "e")],
            [(1, 2, "both"), (1, 1, "f")],
        ],
        "after",
    ]  # fmt: skip
    assert len(document.blocks[0]["c"][3][1]) == 1  # the row that is repeated is the head


def test_a_nested_table(job: Job) -> None:
    inner = r"\pard\intbl\itap2 in\nestcell{\*\nesttableprops\trowd\cellx1000\nestrow}{\nonesttables\par}"
    body = rf"\trowd\cellx3000\cellx6000\pard\intbl before\par{inner}\pard\intbl\itap1 after\cell right\cell\row"

    cells = read.rtf(rich(body), job).blocks[0]["c"][4][0][3][0][1]
    assert [block["t"] for block in cells[0][4]] == ["Para", "Table", "Para"]
    assert [plain_text(cell[4]) for cell in cells] == ["beforeinafter", "right"]


def test_links_notes_pictures_and_bookmarks(job: Job) -> None:
    body = (
        r'{\field{\*\fldinst{HYPERLINK "https://a.example/?a=1"}}{\fldrslt{\ul web}}} '
        r'{\field{\*\fldinst HYPERLINK \\l "there"}{\fldrslt inside}} '
        r"said{\super\chftn}{\footnote\pard\plain{\super\chftn} the {\i note}\par} {\*\bkmkstart there}here\par "
        rf"{{\*\shppict{{\pict\pngblip\picwgoal1440\pichgoal720 {sources.png().hex()}}}}}"
        rf"{{\nonshppict{{\pict\wmetafile8 0102}}}}\par"
    )

    document = read.rtf(rich(body), job)

    stored = json.dumps(document.blocks)
    assert '["https://a.example/?a=1", ""]' in stored
    assert '["#there", ""]' in stored
    assert '{"t": "Span", "c": [["there", [], []], []]}' in stored
    [note] = [node for node in document.blocks[0]["c"] if node["t"] == "Note"]
    assert plain_text(note) == "the note"
    assert '[["width", "1.000in"], ["height", "0.500in"]]' in stored
    assert list(document.resources.values()) == [sources.png()]
    assert job.notes == []


def test_typewriter_fonts_mean_code(job: Job) -> None:
    fonts = r"{\fonttbl{\f0 Times;}{\f1\fmodern Courier New;}}"

    document = read.rtf(rich(r"Long text with {\f1 code} in it.\par\pard\f1 one\line  two\par three\par", fonts), job)

    assert outline(document)[1:] == ["CodeBlock: one\n two\nthree"]
    assert '"Code"' in json.dumps(document.blocks[0])


CHARSETS = r"{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial CYR;}{\f2\fcharset161 Arial Greek;}}"
FONTS = r"{\fonttbl{\f0 Arial;}{\f1\fmodern\fcharset128\fprq1 MS Mincho;}{\f2\fmodern Courier New;}}"
LABELS = r"{\listtext 1.1\tab}\pard\s1\outlinelevel0 One\par {\listtext Article 5.\tab}\pard\ls1 item\par "


@pytest.mark.parametrize(
    "head, body, expected",
    [
        (FONTS, r"plain text\par\f1 \'93\'fa\'96\'7b\par", ["plain text", "日本"]),
        (FONTS, r"\f2 one\par two\par", ["one", "two"]),
        (CHARSETS, r"\'e9 {\f1 \'cf} {\f2 \'e1}\par", ["é П α"]),
        (r"{\stylesheet{\s1\outlinelevel0 heading 1;}}", LABELS + r"{\listtext\'b7\tab}\pard\ls1 point\par",
         ["h1 1.1 One", "Article 5. item", ["*", ["point"]]]),
    ],
    ids=["Japanese typewriter font", "typewriter font of all text", "character sets of fonts",
         "labels with words and numbers of headings"],
)  # fmt: skip
def test_what_is_text(head: str, body: str, expected: list[Any], job: Job) -> None:
    assert outline(read.rtf(rich(body, head), job)) == expected


class TestHostile:
    @pytest.mark.parametrize(
        "body,text",
        [
            (r"a{\object\objemb{\*\objclass Excel}{\*\objdata 0105000002}{\result b}}c", "abc"),
            (r'a{\field{\*\fldinst INCLUDEPICTURE "file:///etc/passwd"}{\fldrslt b}}c', "abc"),
            (r'a{\field{\*\fldinst DDEAUTO c:\\cmd.exe "/k calc"}{\fldrslt b}}c', "abc"),
            (r'a{\field{\*\fldinst HYPERLINK "javascript:alert(1)"}{\fldrslt b}}c', "abc"),
            (r"a{\*\template http://h/}b", "ab"),
            (r"a{\shp{\*\shpinst{\sp{\sn pib}{\sv file:///etc}}{\shptxt \pard b\par}}{\shprslt no}}c", "abc"),
            (r"ab}}}}c", "abc"), (r"a{\*\fldinst HYPERLINK}{\fldrslt b}c", "abc"), (r"a\bin5 {{{{{b", "ab"),
            (r"a\u99999999999999999999 ?b\fs99999999999999999\li-99999999999 c", None),
        ],
    )  # fmt: skip
    def test_objects_and_fields_are_not_run(self, body: str, text: str | None, job: Job) -> None:
        document = read.rtf(rich(body), job)

        assert text in (None, plain_text(document.blocks))
        stored = json.dumps(document.tree)
        assert not any(word in stored for word in ("passwd", "cmd.exe", "javascript", "0105", "http://h", "Excel"))

    @pytest.mark.parametrize("cut", [20, 100, 400, 900])
    def test_truncated_files_are_read(self, cut: int, job: Job) -> None:
        assert isinstance(read.rtf(sources.rtf()[:cut], job), Document)

    def test_endless_table_nesting_is_flattened(self, job: Job) -> None:
        deep = "".join(rf"\itap{level}\intbl x\par" for level in range(1, 2000))

        assert plain_text(read.rtf(rich(deep), job).blocks).count("x") == 1999

    @pytest.mark.parametrize(
        "edges, rows, limit",
        [
            (r"\cellx9" * 2000, 1, "columns"),
            ("".join(rf"\cellx{100 * n}" for n in range(2000)), 1, "columns"),
            ("".join(rf"\cellx{100 * n}" for n in range(1, 451)), 450, "cells"),
        ],
        ids=["equal columns", "columns", "missing cells"],
    )
    def test_tables_without_end_are_refused(self, edges: str, rows: int, limit: str, job: Job) -> None:
        with pytest.raises(TooLarge, match=limit):
            read.rtf(rich(rf"\trowd{edges}" + r"\intbl x\cell\row" * rows), job)

    def test_tables_without_end_are_refused_early(self, job: Job, monkeypatch) -> None:
        source = rich("".join(rf"\trowd\cellx{100 * n}\intbl x\cell\row " for n in range(4000)))
        rows, end_row = list[int](), parser.FlowBuilder.end_row
        monkeypatch.setattr(parser.FlowBuilder, "end_row", lambda *it: (rows.append(it[1]), end_row(*it)))

        with pytest.raises(TooLarge, match="columns"):
            read.rtf(source, job)
        assert len(rows) == 512
        monkeypatch.setattr(parser, "_Parser", lambda *_: pytest.fail("the file was parsed"))
        with pytest.raises(TooLarge, match="more than 200000 cells"):
            read.rtf(rich(r"\nestcell\cell " * 100_001), job)

    def test_cells_beyond_the_columns_are_kept(self, job: Job) -> None:
        narrow = r"\trowd\cellx1000\cellx2000\intbl a\cell b\cell c\cell\row "
        other = r"\trowd\cellx500\cellx700\cellx2000\intbl d\cell\row \trowd\cellx2000\intbl e\cell f\cell\row"

        text = plain_text(read.rtf(rich(narrow + other), job).blocks)

        assert all(letter in text for letter in "abcdef")

    @pytest.mark.parametrize("body, blocks", [(r"{\pict\pngblip 89}", None), (r"{\b x}\par ", 20_000)])
    def test_many_pictures_and_paragraphs_take_seconds(self, body: str, blocks: int | None, job: Job) -> None:
        began = time.process_time()

        assert blocks in (None, len(read.rtf(rich(body * 20_000), job).blocks))
        assert time.process_time() - began < 10


def test_header_and_footer_of_pages(job: Job) -> None:
    field = r"{\field{\*\fldinst PAGE}{\fldrslt 7}}"
    body = rf"{{\header\qc Caf\'e9 \b re\'03port\par}}{{\footer Page {field} of \chpgn\par}}Word {field}\par"

    document = read.rtf(rich(body + r"\sect{\header other\par}Next\par"), job)

    assert (document.header, document.footer) == (("\tCafé report",), ("Page \x01 of \x01",))
    assert plain_text(document.blocks) == "Word 7Next"


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
