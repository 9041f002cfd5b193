"""What readers of OpenDocument texts must not lose. The markup is that of LibreOffice and of the specification."""

import io
import re
from collections.abc import Iterable
from typing import Any

import pypdf
import pytest

from svc_notebooks.convert.document import pdf, read, write
from svc_notebooks.convert.document.clean import nodes_of, plain_text
from svc_notebooks.convert.document.model import Document
from svc_notebooks.convert.job import ConversionError, Job, TooLarge
from tests.convert.sources import ODF_SPACES, png, zipped

_STYLES = """
<style:style style:name="Bold" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>
<style:style style:name="Line" style:family="text"><style:text-properties style:text-underline-style="solid"/>
</style:style>
<style:style style:name="Caps" style:family="text"><style:text-properties fo:font-variant="small-caps"/></style:style>
<style:style style:name="Hidden" style:family="text"><style:text-properties text:display="none"/></style:style>
<style:style style:name="Loud" style:family="paragraph"><style:text-properties fo:font-weight="bold"/></style:style>
<style:style style:name="Soft" style:family="text"><style:text-properties fo:font-weight="normal"/></style:style>
<style:style style:name="Quoted" style:family="paragraph"><style:paragraph-properties fo:margin-left="1cm"/>
</style:style>
<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1"/>
<text:list-level-style-number text:level="2" style:num-format="a" text:start-value="3"/></text:list-style>
"""


def odt(body: str, members: dict[str, str | bytes] | None = None, styles: str = _STYLES) -> bytes:
    content = (
        f"<office:document-content {ODF_SPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    return zipped({"content.xml": content} | (members or {}))


def styles_of(styles: str = "", automatic: str = "", master: str = "") -> str:
    return (
        f"<office:document-styles {ODF_SPACES}><office:styles>{styles}</office:styles><office:automatic-styles>"
        f"{automatic}</office:automatic-styles><office:master-styles>{master}</office:master-styles>"
        "</office:document-styles>"
    )


def text_of(body: str, job: Job) -> str:
    return " ".join(plain_text(read.odt(odt(body), job).blocks).split())


def nodes(document: Document, kind: str) -> list[Any]:
    return [node.get("c") for node in nodes_of(document.blocks) if node["t"] == kind]


@pytest.mark.parametrize(
    "body, words",
    [
        ("<text:p>Page <text:page-number>3</text:page-number> of <text:page-count>9</text:page-count></text:p>",
         "Page 3 of 9"),
        ("<text:h>Part <text:sequence>2</text:sequence></text:h>", "Part 2"),
        ("<text:p>a<text:a xlink:href='https://b.example/'>b<text:s/>c<text:line-break/>d</text:a></text:p>", "ab c d"),
        ("<text:p><text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>kanji</text:ruby-text></text:ruby>.</text:p>",
         "漢字(kanji)."),
        ("<text:p>a<text:change-start/>new<text:change-end/></text:p><text:tracked-changes><text:changed-region>"
         "<text:deletion><text:p>old</text:p></text:deletion></text:changed-region></text:tracked-changes>", "anew"),
        ("<text:p>a<text:span text:style-name='Hidden'>b</text:span><text:hidden-text text:is-hidden='true'>c"
         "</text:hidden-text>d</text:p><text:section text:display='none'><text:p>e</text:p></text:section>"
         "<text:p>f<text:hidden-paragraph text:is-hidden='true'/></text:p>", "ad"),
        ("<text:table-of-content><text:table-of-content-source><text:index-title-template>template"
         "</text:index-title-template></text:table-of-content-source><text:index-body><text:index-title><text:p>In"
         "</text:p></text:index-title><text:p>One 1</text:p></text:index-body></text:table-of-content>", "InOne 1"),
        ("<text:p>a<draw:custom-shape><svg:title>t</svg:title><text:p>shape</text:p></draw:custom-shape>b</text:p>",
         "abshape"),
        ("<draw:g><draw:rect><text:p>in a group</text:p></draw:rect></draw:g>", "in a group"),
        ("<text:p>a<foreign>b</foreign>c</text:p><foreign>d</foreign>", "abcd"),
        ("<text:p>a&lt;b&gt; &amp;amp; $x$</text:p>", "a<b> &amp; $x$"),
        ('<office:forms><form:form><form:checkbox form:id="c" form:label="agreed" form:current-state="checked"/>'
         '<form:text form:id="t" form:current-value="Ada"/><form:password form:id="p" form:current-value="secret"/>'
         '</form:form></office:forms><text:p><draw:control draw:control="c"/> <draw:control draw:control="t"/> '
         '<draw:control draw:control="p"/></text:p>', "☒ agreed Ada"),
        # pandoc's odt reader takes twice the time for each further level
        ("<text:list text:style-name='L'><text:list-item><text:p>a</text:p>" * 40
         + "</text:list-item></text:list>" * 40, "a" * 40),
        ("<text:section>" * 100 + "<text:p>" + "<text:span text:style-name='Bold'>" * 100 + "deep"
         + "</text:span>" * 100 + "</text:p>" + "</text:section>" * 100, "deep"),
    ],
    ids=["fields", "sequence", "link", "ruby", "changes", "hidden", "contents", "shape", "group", "foreign", "markup",
         "forms", "deep lists", "deep sections"],
)  # fmt: skip
def test_words_are_kept(body: str, words: str, job: Job) -> None:
    assert text_of(body, job) == words


def test_text_boxes_follow_their_paragraph(job: Job) -> None:
    items = "<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>"
    box = f"<draw:frame><draw:text-box><text:p>box</text:p>{items}</draw:text-box></draw:frame>"

    document = read.odt(odt(f"<text:p>before {box}after</text:p><text:p>next</text:p>"), job)

    assert [block["t"] for block in document.blocks] == ["Para", "Para", "BulletList", "Para"]
    assert [plain_text(block) for block in document.blocks] == ["before after", "box", "item", "next"]


def test_tables_keep_spans_headers_and_nested_tables(job: Job) -> None:
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    inner = f"<table:table><table:table-row>{cell.format('inner')}</table:table-row></table:table>"
    body = (
        f"<table:table><table:table-header-rows><table:table-row>{cell.format('head')}"
        "<table:table-cell table:number-columns-spanned='2'><text:h>wide</text:h></table:table-cell>"
        "<table:covered-table-cell/></table:table-row></table:table-header-rows><table:table-rows><table:table-row>"
        f"<table:table-cell table:number-columns-repeated='2'><text:p>same</text:p></table:table-cell>"
        f"<table:table-cell><text:p>last</text:p>{inner}</table:table-cell></table:table-row></table:table-rows>"
        "</table:table>"
    )

    document = read.odt(odt(body), job)

    outer = document.blocks[0]["c"]
    assert [plain_text(row) for row in outer[3][1]] == ["headwide"]
    assert [[cell[3] for cell in row[1]] for row in outer[3][1]] == [[1, 2]]
    assert plain_text(outer[4]) == "samesamelastinner"
    assert len(nodes(document, "Table")) == 2


def _list(numbers: Iterable[str], attributes: str = "", item: str = "") -> str:
    items = "".join(f"<text:list-item {item}><text:p>{word}</text:p></text:list-item>" for word in numbers)
    return f'<text:list text:style-name="L" {attributes}>{items}</text:list>'


@pytest.mark.parametrize(
    "body, starts",
    [
        (_list("ab") + _list("cd"), [1, 1]),
        (_list("ab") + "<text:p>x</text:p>" + _list("cd", 'text:continue-numbering="true"'), [1, 3]),
        (_list("ab", 'xml:id="one"') + _list("x") + _list("c", 'text:continue-list="one"'), [1, 1, 3]),
        (_list("a", item='text:start-value="0"'), [0]),
        (_list("a") + _list("b", item='text:start-value="7"'), [1, 7]),
        ('<text:list text:style-name="L"><text:list-item><text:p>a</text:p>' + _list("bc") + "</text:list-item>"
         "</text:list>" + '<text:list text:style-name="L" text:continue-numbering="true"><text:list-item>' + _list("d")
         + "</text:list-item></text:list>", [1, 3, 5]),
    ],
    ids=["new", "continued", "continued by id", "from 0", "restarted", "continued below"],
)  # fmt: skip
def test_lists_have_the_numbers_of_the_page(body: str, starts: list[int], job: Job) -> None:
    assert [start for (start, _, _), _ in _ordered_lists(read.odt(odt(body), job).blocks)] == starts


def _ordered_lists(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [content for inner in value for content in _ordered_lists(inner)]
    if not isinstance(value, dict):
        return []
    here = [value["c"]] if value["t"] == "OrderedList" else []
    return here + _ordered_lists(value.get("c", []))


def test_formats_are_those_of_the_text(job: Job) -> None:
    body = (
        '<text:p>a <text:span text:style-name="Line">under</text:span> '
        '<text:span text:style-name="Caps">caps</text:span></text:p>'
        '<text:p text:style-name="Loud">loud <text:span text:style-name="Soft">soft</text:span></text:p>'
        '<text:p><text:span text:style-name="Bold">o</text:span><text:span text:style-name="Bold">ne</text:span>'
        "</text:p>"
        '<text:p text:style-name="Quoted">quote</text:p>'
    )

    document = read.odt(odt(body), job)

    assert plain_text(nodes(document, "Underline")) == "under"
    assert plain_text(nodes(document, "SmallCaps")) == "caps"
    assert [plain_text(node) for node in nodes(document, "Strong")].count("loud") == 1
    assert [plain_text(node) for node in nodes(document, "Strong")].count("one") == 1
    assert "soft" not in plain_text(nodes(document, "Strong"))
    assert plain_text(nodes(document, "BlockQuote")) == "quote"


def test_code_keeps_its_blanks_and_lines(job: Job) -> None:
    line = '<text:p text:style-name="Preformatted_20_Text">{}</text:p>'

    document = read.odt(odt(line.format('if:<text:line-break/><text:s text:c="2"/>x') + line.format("y")), job)

    assert [text for _, text in nodes(document, "CodeBlock")] == ["if:\n  x\ny"]


def test_notes_keep_their_lists(job: Job) -> None:
    note = "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>see</text:p>" \
        f"{_list('ab')}</text:note-body></text:note>"  # fmt: skip

    document = read.odt(odt(f"<text:p>text{note} more</text:p>"), job)

    (content,) = nodes(document, "Note")
    assert [plain_text(block) for block in content] == ["see", "ab"]
    assert plain_text(document.blocks) == "textseeab more"


def test_a_picture_and_its_caption_are_kept(job: Job) -> None:
    picture = '<draw:frame svg:width="2cm"><draw:image xlink:href="Pictures/a.png"/></draw:frame>'
    box = f"<draw:frame><draw:text-box><text:p>{picture}Figure <text:sequence>17</text:sequence>: A square</text:p>" \
        "</draw:text-box></draw:frame>"  # fmt: skip

    document = read.odt(odt(f"<text:p>{box}</text:p>", {"Pictures/a.png": png()}), job)

    assert plain_text(document.blocks) == "Figure 17: A square"
    assert len(document.resources) == 1


def content(body: str) -> str:
    return f"<office:document-content {ODF_SPACES}><office:body>{body}</office:body></office:document-content>"


def table_of(*rows: tuple[str, ...]) -> str:
    cell, row = "<table:table-cell><text:p>{}</text:p></table:table-cell>", "<table:table-row>{}</table:table-row>"
    made = "".join(row.format("".join(cell.format(text) for text in texts)) for texts in rows)
    return f"<table:table><table:table-rows>{made}</table:table-rows></table:table>"


def test_formulas_and_charts_are_kept(job: Job) -> None:
    formula = (
        '<!DOCTYPE math:math PUBLIC "-//OpenOffice.org//DTD" "math.dtd"><math:math '
        'xmlns:math="http://www.w3.org/1998/Math/MathML"><math:mi>x</math:mi><math:mo>=</math:mo><math:mn>1</math:mn>'
        "</math:math>"
    )
    title = "<chart:title><text:p>Sales</text:p></chart:title>"
    chart = content(f"<office:chart><chart:chart>{title}{table_of(('North',))}</chart:chart></office:chart>")
    objects = '<draw:object xlink:href="./{0}"/><draw:image xlink:href="./ObjectReplacements/{0}"/>'
    frame = f"<text:p>a <draw:frame>{objects}</draw:frame></text:p>"
    members: dict[str, str | bytes] = {"F/content.xml": formula, "C/content.xml": chart}

    document = read.odt(odt(frame.format("F") + frame.format("C"), members), job)

    assert [tex for _, tex in nodes(document, "Math")] == ["x = 1"]
    assert plain_text(document.blocks[1:]) == "aSalesNorth"
    assert job.notes == ["a chart is kept as a table."]


def test_a_chart_is_drawn_in_a_pdf_and_is_a_table_elsewhere(job: Job) -> None:
    rows = table_of(("", "Sales"), ("North", "4,5"), ("South", "3"))
    chart = content(f'<office:chart><chart:chart chart:class="chart:circle">{rows}</chart:chart></office:chart>')
    body = '<text:p>a <draw:frame><draw:object xlink:href="./C"/></draw:frame></text:p>'

    document = read.odt(odt(body, {"C/content.xml": chart}), job)

    text = write.text(document, job).decode("utf-8-sig")
    assert re.findall(r"[\w,]+", text) == ["a", "Sales", "North", "4,5", "South", "3"]
    page = pypdf.PdfReader(io.BytesIO(pdf.write(document, job))).pages[0].extract_text()
    assert ("North" in page, "South" in page, "4,5" in page) == (True, True, False)


def test_an_embedded_document_without_a_picture_keeps_its_text(job: Job) -> None:
    box = "<draw:frame><draw:text-box><text:p>slide</text:p></draw:text-box></draw:frame>"
    inner = content(f"<office:presentation><draw:page>{box}</draw:page></office:presentation>")
    body = '<text:p>a<draw:frame><draw:object xlink:href="./O"/><draw:image xlink:href="./R"/></draw:frame></text:p>'

    shown = read.odt(odt(body, {"O/content.xml": inner, "R": png()}), job)
    unknown = read.odt(odt(body, {"O/content.xml": inner, "R": b"VCLMTF"}), job)

    assert plain_text(shown.blocks) == "a"
    assert plain_text(unknown.blocks).replace("[picture]", "") == "aslide"


def test_links_within_the_document_have_a_target(job: Job) -> None:
    body = (
        '<text:p><text:a xlink:href="#my mark">one</text:a> <text:bookmark-ref text:ref-name="my mark">two'
        '</text:bookmark-ref> <text:a xlink:href="#Gone|outline">three</text:a></text:p>'
        '<text:p><text:bookmark-start text:name="my mark"/>target<text:bookmark text:name="unused"/></text:p>'
    )

    document = read.odt(odt(body), job)

    assert [target for _, _, (target, _) in nodes(document, "Link")] == ["#my-mark", "#my-mark"]
    assert [attributes[0] for attributes, _ in nodes(document, "Span")] == ["my-mark"]


def test_what_is_left_out_is_noted(job: Job) -> None:
    header = "<text:p>Draft<text:tab/><text:tab/>Page <text:page-number>1</text:page-number></text:p>"
    first = "<style:header-first><text:p>Cover</text:p></style:header-first>"
    master = f"<style:master-page><style:header>{header}</style:header>{first}</style:master-page>"
    body = "<text:p>a<office:annotation><text:p>b</text:p></office:annotation></text:p>"

    document = read.odt(odt(body, {"styles.xml": styles_of(master=master)}), job)

    others = "Headers and footers of first pages, of even pages and of other sections were left out."
    assert job.notes == ["Comments were left out.", others]
    assert document.header == ("Draft\t\tPage \x01",)


def test_repeated_spaces_and_cells_are_limited(job: Job) -> None:
    spaces = '<text:p text:style-name="Preformatted_20_Text">a<text:s text:c="999999999"/>b</text:p>'
    cells = (
        '<table:table><table:table-row table:number-rows-repeated="999999999"><table:table-cell '
        'table:number-columns-repeated="999999999"><text:p>a</text:p></table:table-cell></table:table-row>'
        "</table:table>"
    )

    assert len(text_of(spaces, job)) < 10_000
    many_tables = cells.replace("999999999", "90") * 20
    for tables in (cells, many_tables):
        with pytest.raises(TooLarge, match="repeated table cells"):
            read.odt(odt(tables), job)


def test_equal_words_take_memory_once(job: Job) -> None:
    """A node is a dict of 200 bytes, so that a book of 300,000 words would exceed the limit of memory."""
    document = read.odt(odt('<text:p>word word <text:span text:style-name="Bold">word</text:span></text:p>' * 3), job)

    for tree in (document, Document.unpack(document.pack())):
        words = [node for node in nodes_of(tree.blocks) if node["t"] == "Str"]
        assert (len(words), len({id(word) for word in words})) == (9, 1)


def test_deeper_documents_are_refused(job: Job) -> None:
    with pytest.raises(ConversionError, match="damaged"):
        read.odt(odt("<text:section>" * 5_000 + "</text:section>" * 5_000), job)


_LOOKS = """
<style:default-style style:family="paragraph"><style:text-properties fo:font-size="12pt"/></style:default-style>
<style:style style:name="Standard" style:family="paragraph"/>
<style:style style:name="Center" style:family="paragraph" style:parent-style-name="Standard">
<style:paragraph-properties fo:text-align="center"/></style:style>
<style:style style:name="End" style:family="paragraph"><style:paragraph-properties fo:text-align="end"/></style:style>
<style:style style:name="Before" style:family="paragraph" style:parent-style-name="Center">
<style:paragraph-properties fo:break-before="page"/></style:style>
<style:style style:name="After" style:family="paragraph"><style:paragraph-properties fo:break-after="page"/>
</style:style>
<style:style style:name="Title" style:family="paragraph" style:parent-style-name="Standard">
<style:text-properties fo:font-size="200%" fo:color="#C00000"/></style:style>
<style:style style:name="Wide" style:family="paragraph" style:master-page-name="Landscape"/>
<style:style style:name="Half" style:family="text"><style:text-properties fo:font-size="50%"/></style:style>
<style:style style:name="Auto" style:family="text"><style:text-properties style:use-window-font-color="true"/>
</style:style>
<style:style style:name="Marked" style:family="text"><style:text-properties fo:background-color="#ffff00"/>
</style:style>
<style:style style:name="Split" style:family="table"><style:table-properties fo:break-before="page"/></style:style>
"""
_PAGES = """
<style:page-layout style:name="A"><style:page-layout-properties fo:page-width="21cm" fo:page-height="29.7cm"
fo:margin="2cm" fo:margin-left="1in"/><style:header-style><style:header-footer-properties fo:min-height="1cm"
fo:margin-bottom="0.5cm"/></style:header-style></style:page-layout>
<style:page-layout style:name="B"><style:page-layout-properties fo:page-width="29.7cm" fo:page-height="21cm"
fo:margin="1cm"/></style:page-layout>
"""


_MASTERS = """
<style:master-page style:name="Standard" style:page-layout-name="A"><style:header/></style:master-page>
<style:master-page style:name="Landscape" style:page-layout-name="B"/>
"""


def _with_looks(body: str, job: Job) -> Document:
    return read.odt(odt(body, {"styles.xml": styles_of(_LOOKS, _PAGES, _MASTERS)}), job)


def _looks(block: Any) -> tuple[str, dict[str, str]]:
    """Return the text of a block, and the attributes of its Div or Header."""
    attributes = {"Div": lambda: block["c"][0], "Header": lambda: block["c"][1]}.get(block["t"], lambda: ["", [], []])()
    return plain_text(block), dict(attributes[2])


@pytest.mark.parametrize(
    "body, looks",
    [
        ('<text:p>a</text:p><text:p text:style-name="Center">b</text:p>', [("a", {}), ("b", {"align": "center"})]),
        ('<text:p text:style-name="End">a</text:p>', [("a", {"align": "right"})]),
        ('<text:p text:style-name="Before">a</text:p><text:p text:style-name="Before">b</text:p>',
         [("a", {"align": "center"}), ("b", {"align": "center", "page-break": "before"})]),
        ('<text:p text:style-name="After">a</text:p><text:p>b</text:p><text:p>c</text:p>',
         [("a", {}), ("b", {"page-break": "before"}), ("c", {})]),
        ('<text:p>a</text:p><text:p text:style-name="Wide">b</text:p>', [("a", {}), ("b", {"page-break": "before"})]),
        ('<text:p>a</text:p><text:p text:style-name="Before"/><text:p>b</text:p>',
         [("a", {}), ("b", {"page-break": "before"})]),
        ('<text:p>a</text:p><text:p text:style-name="Before"><text:span text:style-name="Bold">b</text:span></text:p>',
         [("a", {}), ("b", {"page-break": "before", "align": "center"})]),
        ('<text:p>a</text:p><table:table table:style-name="Split"><table:table-row><table:table-cell><text:p '
         'text:style-name="Before">b</text:p></table:table-cell></table:table-row></table:table>',
         [("a", {}), ("b", {"page-break": "before"})]),
        ('<text:h text:style-name="Title">a</text:h>', [("a", {"size": "24pt", "color": "#c00000"})]),
    ],
    ids=["center", "end", "before", "after", "master page", "empty", "bold", "table", "heading"],
)  # fmt: skip
def test_blocks_have_their_looks(body: str, looks: list[tuple[str, dict[str, str]]], job: Job) -> None:
    assert [_looks(block) for block in _with_looks(body, job).blocks] == looks


@pytest.mark.parametrize("format", ["html", "docx", "odt"])
def test_the_background_of_cells_is_in_exports_and_is_read_again(format: str, job: Job) -> None:
    styles = (
        '<style:style style:name="Y" style:family="text"><style:text-properties fo:color="#ffff00"/></style:style>'
        '<style:style style:name="D" style:family="table-cell"><style:table-cell-properties '
        'fo:background-color="#203864"/></style:style><style:style style:name="R" style:family="table-row">'
        '<style:table-row-properties fo:background-color="#ffe0e0"/></style:style>'
    )
    yellow = '<text:p><text:span text:style-name="Y">{}</text:span></text:p>'
    dark = f'<table:table-row><table:table-cell table:style-name="D">{yellow.format("a")}<text:p>b</text:p>'
    row = '<table:table-row table:style-name="R"><table:table-cell><text:p>c</text:p>'
    end = "</table:table-cell></table:table-row>"
    body = f"{yellow.format('page')}<table:table>{dark}{end}{row}{end}</table:table>"

    document = read.odt(odt(body, styles=styles), job)
    again = getattr(read, format)(getattr(write, format)(document, job), job)

    for shown in (write.html(document, job).decode(), write.html(again, job).decode()):
        assert re.findall(r'<td style="background-color: (#\w+)"', shown) == ["#203864", "#ffe0e0"]
        assert re.findall(r"; color: (#\w+)\"", shown) == ["#ffff00", "#ffffff"]  # yellow on white is black


def test_cells_with_lists_have_their_background(job: Job) -> None:
    properties = '<style:table-cell-properties fo:background-color="#ff3333"/>'
    styles = f'<style:style style:name="D" style:family="table-cell">{properties}</style:style>'
    cells = "".join(f'<table:table-cell table:style-name="D">{_list([text])}</table:table-cell>' for text in ("a", ""))
    body = f"<table:table><table:table-row>{cells}</table:table-row></table:table>"

    page = write.html(read.odt(odt(body, styles=styles), job), job).decode()

    assert page.count('<td style="background-color: #ff3333"') == 2


def test_a_floating_picture_stands_after_its_paragraph(job: Job) -> None:
    properties = '<style:graphic-properties style:horizontal-pos="right"/>'
    style = f'<style:style style:name="G" style:family="graphic">{properties}</style:style>'
    picture = '<draw:frame text:anchor-type="{}" draw:style-name="G"><draw:image xlink:href="p.png"/></draw:frame>'
    body = f"<text:p>{picture.format('paragraph')}floats</text:p><text:p>in {picture.format('as-char')} line</text:p>"

    document = read.odt(odt(body, {"styles.xml": styles_of(style), "p.png": png()}), job)

    assert [_looks(block) for block in document.blocks] == [("floats", {}), ("", {"align": "right"}), ("in  line", {})]


def test_columns_have_their_share_of_the_text(job: Job) -> None:
    properties = '<style:table-column-properties style:column-width="{0}cm"/>'
    style = f'<style:style style:name="C{{0}}" style:family="table-column">{properties}</style:style>'
    cells = "<table:table-cell><text:p>a</text:p></table:table-cell>" * 3
    columns = '<table:table-column table:style-name="C2" table:number-columns-repeated="2"/>{}'
    table = "<table:table>{}<table:table-row>{}</table:table-row></table:table>"
    last = '<table:table-column table:style-name="C4"/>'
    body = table.format(columns.format(last), cells) + table.format(columns.format(""), cells)

    document = read.odt(odt(body, {"styles.xml": styles_of(style.format(2) + style.format(4))}), job)

    widths = [[width.get("c") for _, width in columns] for _, _, columns, *_ in nodes(document, "Table")]
    assert sorted(widths, key=str) == [[0.25, 0.25, 0.5], [None, None, None]]


def test_text_has_its_looks(job: Job) -> None:
    span = '<text:span text:style-name="{}">{}</text:span>'
    body = (
        f'<text:p text:style-name="Title">red {span.format("Half", "small")} {span.format("Auto", "black")}</text:p>'
        f"<text:p>plain {span.format('Marked', 'marked')} plain</text:p>"
    )

    document = _with_looks(body, job)

    spans = [(plain_text(inside).strip(), dict(attributes[2])) for attributes, inside in nodes(document, "Span")]
    assert sorted(spans) == [
        ("black", {"size": "24pt"}),
        ("marked", {"background": "#ffff00"}),
        ("red", {"size": "24pt", "color": "#c00000"}),
        ("small", {"color": "#c00000"}),
    ]


@pytest.mark.parametrize(
    "body, size",
    [
        ("<text:p>a</text:p>", (595.28, 841.89, 56.69 + 28.35 + 14.17, 56.69, 56.69, 72)),
        ('<text:p>a</text:p><text:p text:style-name="Wide">b</text:p><text:p>c</text:p>',
         (841.89, 595.28, 28.35, 28.35, 28.35, 28.35)),
    ],
    ids=["portrait", "mostly landscape"],
)  # fmt: skip
def test_the_page_is_that_of_most_paragraphs(body: str, size: tuple[float, ...], job: Job) -> None:
    document = _with_looks(body, job)

    page = document.page
    assert page is not None
    sides = (page.width, page.height, page.top, page.right, page.bottom, page.left)
    assert (sides, document.text_size) == (pytest.approx(size, abs=0.1), 12)
