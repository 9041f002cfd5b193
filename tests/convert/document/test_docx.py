"""Word documents keep every visible word, whatever elements their text is in."""

import io
import time
import zipfile
from typing import Any

import pytest

from svc_notebooks.convert.document import read
from svc_notebooks.convert.document.clean import nodes_of, plain_text
from svc_notebooks.convert.document.docx.rewrite import rewrite
from svc_notebooks.convert.document.model import Document, Page
from svc_notebooks.convert.job import ConversionError, Job, TooLarge
from tests.convert import sources

_ADDRESS = "http://schemas.openxmlformats.org/"
_NAMESPACES = {
    "w": f"{_ADDRESS}wordprocessingml/2006/main", "r": f"{_ADDRESS}officeDocument/2006/relationships",
    "m": f"{_ADDRESS}officeDocument/2006/math", "wp": f"{_ADDRESS}drawingml/2006/wordprocessingDrawing",
    "a": f"{_ADDRESS}drawingml/2006/main", "pic": f"{_ADDRESS}drawingml/2006/picture",
    "c": f"{_ADDRESS}drawingml/2006/chart", "dgm": f"{_ADDRESS}drawingml/2006/diagram",
    "mc": f"{_ADDRESS}markup-compatibility/2006", "v": "urn:schemas-microsoft-com:vml",
    "o": "urn:schemas-microsoft-com:office:office", "x": "urn:unknown",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "cx": "http://schemas.microsoft.com/office/drawing/2014/chartex",
}  # fmt: skip
_PACKAGE = f"{_ADDRESS}package/2006/relationships"


def docx(body: str, main: str = "word/document.xml", relations: str = "", **parts: str | bytes) -> bytes:
    """Return a docx file. `parts` are the root elements of styles, numbering, footnotes and endnotes, by name."""
    declared = " ".join(f'xmlns:{name}="{uri}"' for name, uri in _NAMESPACES.items())
    folder, _, file = main.rpartition("/")
    links = "".join(
        f'<Relationship Id="part-{name}" Type="{_NAMESPACES["r"]}/{name}" Target="{name}.xml"/>' for name in parts
    )
    members: dict[str, str | bytes] = {
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="rId1" '
        f'Type="{_NAMESPACES["r"]}/officeDocument" Target="/{main}"/></Relationships>',
        main: f"<w:document {declared}><w:body>{body}</w:body></w:document>",
        f"{folder}/_rels/{file}.rels": f'<Relationships xmlns="{_PACKAGE}">{links}{relations}</Relationships>',
    }
    for name, content in parts.items():
        assert isinstance(content, str)
        members[f"{folder}/{name}.xml"] = content.replace(">", f" {declared}>", 1)
    return sources.zipped(members)


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*texts: str, properties: str = "") -> str:
    runs = "".join(text if text.startswith("<") else run(text) for text in texts)
    return f"<w:p><w:pPr>{properties}</w:pPr>{runs}</w:p>"


def lines(document: Document) -> list[str]:
    leaves: list[str] = []

    def look(value: Any) -> None:
        if isinstance(value, list):
            for inner in value:
                look(inner)
        elif isinstance(value, dict) and value["t"] in ("Para", "Plain", "Header", "CodeBlock"):
            leaves.append(" ".join(plain_text(value).split()))
        elif isinstance(value, dict):
            look(value.get("c"))

    look(document.blocks)
    return leaves


def field(instruction: str, result: str, data: str = "") -> str:
    return (
        f'<w:r><w:fldChar w:fldCharType="begin">{data}</w:fldChar></w:r><w:r><w:instrText>{instruction}</w:instrText>'
        f'</w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>{result}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


_BOX = "<w:txbxContent>" + paragraph("in the box") + "</w:txbxContent>"
_SHAPE = f"<w:drawing><wp:anchor><wps:wsp><wps:txbx>{_BOX}</wps:txbx></wps:wsp></wp:anchor></w:drawing>"
_VML = f"<w:pict><v:shape><v:textbox>{_BOX}</v:textbox></v:shape></w:pict>"
_CHOICE = (
    '<mc:AlternateContent><mc:Choice Requires="{}">{}</mc:Choice><mc:Fallback>{}</mc:Fallback></mc:AlternateContent>'
)
_DROP_DOWN = (
    '<w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="no"/><w:listEntry w:val="yes"/></w:ddList></w:ffData>'
)
_CHECK_BOX = '<w:ffData><w:checkBox><w:default w:val="1"/></w:checkBox></w:ffData>'
_WIDE_TABLE = '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="{}"/></w:tcPr><w:p/></w:tc></w:tr></w:tbl>'
_BEGIN = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
_DELETED = '<w:rPr><w:del w:id="1"/></w:rPr>'

KEPT = {
    "text box of DrawingML": (paragraph("before ", f"<w:r>{_SHAPE}</w:r>", "after"), ["before after", "in the box"]),
    "text box of VML": (paragraph("before ", f"<w:r>{_VML}</w:r>", "after"), ["before after", "in the box"]),
    "text box in both": (
        paragraph("a ", f"<w:r>{_CHOICE.format('wps', _SHAPE, _VML)}</w:r>", "z"), ["a z", "in the box"]
    ),
    "alternative that is not read": (
        paragraph(f"<w:r>{_CHOICE.format('cx', '<cx:chart/>', '<w:t>instead</w:t>')}</w:r>"), ["instead"]
    ),
    "alternative around runs": (paragraph(_CHOICE.format("wps", run("new"), run("old"))), ["new"]),
    "nested text boxes": (
        paragraph("a", "<w:r><w:pict><v:rect><v:textbox><w:txbxContent>"
                  + paragraph("b", f"<w:r>{_VML}</w:r>") + "</w:txbxContent></v:textbox></v:rect></w:pict></w:r>"),
        ["a", "b", "in the box"],
    ),
    "text box in a cell": (
        f"<w:tbl><w:tr><w:tc>{paragraph('cell', f'<w:r>{_VML}</w:r>')}</w:tc></w:tr></w:tbl>", ["cell", "in the box"]
    ),
    "text beside a picture": (paragraph("<w:r><w:t>a </w:t><w:drawing/><w:t>b</w:t></w:r>"), ["a b"]),
    "simple field": (
        paragraph("Figure ", f'<w:fldSimple w:instr=" SEQ Figure ">{run("17")}</w:fldSimple>', ": caption",
                  properties='<w:pStyle w:val="Caption"/>'), ["Figure 17: caption"],
    ),
    "complex field": (paragraph("Table ", field("SEQ Table", run("3")), ": caption"), ["Table 3: caption"]),
    "field without an instruction": (
        paragraph(_BEGIN, '<w:r><w:fldChar w:fldCharType="separate"/></w:r>', "shown",
                  '<w:r><w:fldChar w:fldCharType="end"/></w:r>', " next") + paragraph("last"), ["shown next", "last"],
    ),
    "field that does not end": (paragraph(_BEGIN, "<w:r><w:instrText>X</w:instrText></w:r>", "all"), ["all"]),
    "field within an instruction": (
        paragraph(_BEGIN, field("MERGEFIELD a", run("not shown")),
                  '<w:r><w:fldChar w:fldCharType="separate"/></w:r>', "shown",
                  '<w:r><w:fldChar w:fldCharType="end"/></w:r>'), ["shown"],
    ),
    "20,000 nested fields": (
        paragraph("a", *[_BEGIN] * 20_000, *['<w:r><w:fldChar w:fldCharType="end"/></w:r>'] * 20_000, "z"), ["az"]
    ),
    "two bodies": (paragraph("a") + "</w:body><w:body>" + paragraph("b"), ["a", "b"]),
    "button": (paragraph(field("MACROBUTTON NoMacro [Click here]", "")), ["[Click here]"]),
    "drop-down list": (paragraph("is ", field("FORMDROPDOWN", "", _DROP_DOWN)), ["is yes"]),
    "check box": (paragraph(field("FORMCHECKBOX", "", _CHECK_BOX), " done"), ["☒ done"]),
    "custom XML around a paragraph": (f'<w:customXml w:uri="u">{paragraph("kept")}</w:customXml>', ["kept"]),
    "custom XML, direction and tags around runs": (
        paragraph(*(f"<w:{name}>{run(name + ' ')}</w:{name}>" for name in ("customXml", "bdo", "dir", "smartTag"))),
        ["customXml bdo dir smartTag"],
    ),
    "content control": (
        paragraph(f"<w:sdt><w:sdtPr/><w:sdtContent>{run('control')}</w:sdtContent></w:sdt>"), ["control"]
    ),
    "unknown elements": (f"<x:y>{paragraph('<x:z>' + run('kept') + '</x:z>')}</x:y>", ["kept"]),
    "runs in no paragraph": (f"{run('a')}{run('b')}{paragraph('c')}", ["ab", "c"]),
    "paragraph in a paragraph": (paragraph("outer", paragraph("inner")), ["outer", "inner"]),
    "changes without an author": (
        paragraph(f"<w:ins>{run('new ')}</w:ins>", f"<w:del>{run('gone')}</w:del>",
                  f"<w:moveTo>{run('here')}</w:moveTo>", f"<w:moveFrom>{run('there')}</w:moveFrom>"), ["new here"],
    ),
    "deleted end of a paragraph": (paragraph("one ", properties=_DELETED) + paragraph("two"), ["one two"]),
    "deleted end of the last paragraph": (paragraph("one", properties=_DELETED), ["one"]),
    "large initial": (
        paragraph("D", properties='<w:framePr w:dropCap="drop"/>') + paragraph("rop"), ["Drop"]
    ),
    "characters": (
        paragraph("<w:r><w:t>a</w:t><w:cr/><w:t>b</w:t><w:ptab/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t>"
                  '<w:sym w:font="Wingdings" w:char="F0FC"/></w:r>'), ["a b c\u2011d✔"],
    ),
    "ruby": (
        paragraph(f"<w:r><w:ruby><w:rt>{run('kan')}</w:rt><w:rubyBase>{run('漢')}</w:rubyBase></w:ruby></w:r>"),
        ["漢(kan)"],
    ),
    "WordArt": (
        paragraph("a", '<w:r><w:pict><v:shape><v:textpath string="art"/></v:shape></w:pict></w:r>'), ["a", "art"]
    ),
    "hyperlink without a target": (paragraph(f"<w:hyperlink>{run('words')}</w:hyperlink>"), ["words"]),
    "hidden text": (paragraph("seen", run("no", "<w:vanish/>"), run(" too", '<w:vanish w:val="0"/>')), ["seen too"]),
    "table without a grid": (
        "<w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr>"
        f"<w:tr><w:tc>{paragraph('a')}</w:tc><w:tc>{paragraph('b')}</w:tc></w:tr></w:tbl>", ["", "", "a", "b"],
    ),
    "rows and cells in other elements": (
        "<w:tbl><w:sdt><w:sdtContent><w:tr><w:customXml>"
        f"<w:tc>{paragraph('a')}</w:tc></w:customXml></w:tr></w:sdtContent></w:sdt></w:tbl>", ["a"],
    ),
    "merge without a cell above": (
        f"<w:tbl><w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr>{paragraph('a')}</w:tc></w:tr></w:tbl>", ["a"]
    ),
    "row that begins in a later column": (
        f"<w:tbl><w:tr><w:tc>{paragraph('a')}</w:tc></w:tr>"
        f'<w:tr><w:trPr><w:gridBefore w:val="2"/></w:trPr><w:tc>{paragraph("b")}</w:tc></w:tr></w:tbl>', ["a", "b"],
    ),
    "nested tables": (
        f"<w:tbl><w:tr><w:tc><w:tbl><w:tr><w:tc>{paragraph('inner')}</w:tc></w:tr></w:tbl>"
        f"{paragraph('outer')}</w:tc></w:tr></w:tbl>", ["inner", "outer"],
    ),
}  # fmt: skip


@pytest.mark.spec("A5-01")
@pytest.mark.parametrize("name", KEPT)
def test_words_are_kept(name: str, job: Job) -> None:
    body, expected = KEPT[name]

    document = read.docx(docx(body), job)

    assert [line for line in lines(document) if line] == [line for line in expected if line]


@pytest.mark.parametrize("space", [_NAMESPACES["w"], "http://purl.oclc.org/ooxml/wordprocessingml/main"])
def test_strict_documents_are_read_whatever_their_prefixes_are(space: str, job: Job) -> None:
    body = "<d:p><d:r><d:t>one</d:t></d:r></d:p><d:customXml><d:p><d:r><d:t>two</d:t></d:r></d:p></d:customXml>"
    source = f'<d:document xmlns:d="{space}"><d:body>{body}</d:body></d:document>'

    assert lines(read.docx(sources.zipped({"word/document.xml": source}), job)) == ["one", "two"]


def test_parts_are_found_by_their_relationships(job: Job) -> None:
    picture = '<w:drawing><wp:inline><pic:pic><a:blip r:embed="p"/></pic:pic></wp:inline></w:drawing>'
    note = paragraph("note", f"<w:r>{_VML}</w:r>")
    source = docx(
        paragraph("text", '<w:r><w:footnoteReference w:id="2"/><w:t>, more</w:t></w:r>', f"<w:r>{picture}</w:r>"),
        "content/main.xml",
        f'<Relationship Id="p" Type="{_NAMESPACES["r"]}/image" Target="../art/p.png"/>',
        footnotes=f'<w:footnotes><w:footnote w:id="2">{note}</w:footnote></w:footnotes>',
    )

    document = read.docx(sources.rezipped(source, {"art/p.png": sources.png()}), job)

    assert plain_text(document.blocks) == "textnotein the box, more"
    assert list(document.resources.values()) == [sources.png()]


HIDING = (
    '<w:styles><w:style w:type="{0}" w:styleId="a"><w:rPr><w:vanish/></w:rPr></w:style>'
    '<w:style w:type="{0}" w:styleId="b"><w:basedOn w:val="a"/></w:style></w:styles>'
)
CHART = '<w:r><w:drawing><c:chart r:id="part-chart"/></w:drawing></w:r>'
NO_VALUES = "<c:chartSpace><c:ser><c:val><c:numRef><c:f>Data!$A$1</c:f></c:numRef></c:val></c:ser></c:chartSpace>"
HEADER, COMMENTS = f"<w:hdr>{paragraph('head')}</w:hdr>", f"<w:comments>{paragraph('c')}</w:comments>"


@pytest.mark.parametrize(
    "body, parts, notes",
    [
        (paragraph("hidden", properties='<w:pStyle w:val="b"/>'), {"styles": HIDING.format("paragraph")},
         ["Hidden text was left out."]),
        (paragraph(run("hidden", '<w:rStyle w:val="b"/>')), {"styles": HIDING.format("character")},
         ["Hidden text was left out."]),
        (CHART, {"chart": NO_VALUES}, ["A chart without stored values was left out."]),
        ("", {"header": HEADER, "comments": COMMENTS},
         ["Headers and footers of first pages, of even pages and of other sections were left out.",
          "Comments were left out."]),
    ],
    ids=["hidden paragraph", "hidden characters", "chart", "header and comments"],
)  # fmt: skip
def test_what_is_left_out_is_noted(body: str, parts: dict[str, str], notes: list[str], job: Job) -> None:
    document = read.docx(docx(paragraph("seen") + body, **parts), job)

    assert [line for line in lines(document) if line] == ["seen"]
    assert job.notes == notes


def test_links_and_bookmarks_between_paragraphs_have_targets(job: Job) -> None:
    styles = '<w:styles><w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 1"/></w:style></w:styles>'
    head = '<w:bookmarkStart w:id="1" w:name="here"/>' + paragraph("Head", properties='<w:pStyle w:val="H"/>')
    links = field(' HYPERLINK "https://a.example/x" ', run("first")), field(" REF here \\h ", run("second"))

    heading, text = read.docx(docx(head + paragraph(*links), styles=styles), job).blocks

    targets = [(plain_text(node["c"][1]), node["c"][2][0]) for node in nodes_of(text) if node["t"] == "Link"]
    assert heading["t"] == "Header"
    assert sorted(targets) == [("first", "https://a.example/x"), ("second", "#" + heading["c"][1][0])]


@pytest.mark.parametrize(
    "name,text,expected",
    [
        ("", run("a"), ["Strong", "Underline"]),
        ("", run("a", '<w:b w:val="0"/>'), ["Underline"]),
        ("", run("a", '<w:rStyle w:val="C"/>'), ["Underline"]),  # both styles have the toggle property
        ("heading 1", run("a"), []),
    ],
)
def test_formats_of_paragraph_styles_are_kept(name: str, text: str, expected: list[str], job: Job) -> None:
    styles = (
        f'<w:styles><w:style w:type="paragraph" w:styleId="P"><w:name w:val="{name}"/>'
        '<w:rPr><w:b/><w:u w:val="double"/></w:rPr></w:style>'
        '<w:style w:type="character" w:styleId="C"><w:rPr><w:b/><w:u w:val="single"/></w:rPr></w:style></w:styles>'
    )

    document = read.docx(docx(paragraph(text, properties='<w:pStyle w:val="P"/>'), styles=styles), job)

    assert sorted(node["t"] for node in nodes_of(document.blocks) if node["t"] in ("Strong", "Underline")) == expected


def test_charts_become_tables_and_diagrams_become_paragraphs(job: Job) -> None:
    diagrams = '<w:r><w:drawing><dgm:relIds r:dm="part-diagramData"/></w:drawing></w:r>'
    point = '<c:{0}><c:pt idx="0"><c:v>{1}</c:v></c:pt></c:{0}>'
    values = point.format("tx", "S") + point.format("cat", "C") + point.format("val", "7")
    chart = f"<c:chartSpace><c:ser>{values}</c:ser></c:chartSpace>"
    diagram = "<dgm:dataModel><dgm:pt><dgm:t><a:p><a:r><a:t>point</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>"

    document = read.docx(docx(paragraph("text", CHART + diagrams), chart=chart, diagramData=diagram), job)

    assert list(filter(None, lines(document))) == ["text", "S", "C", "7", "point"]


def test_all_titles_are_kept(job: Job) -> None:
    styles = '<w:styles><w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style></w:styles>'
    title = '<w:pStyle w:val="T"/>'

    body = paragraph("One", properties=title) + "<w:p/>" + paragraph("Two", properties=title)

    assert plain_text(read.docx(docx(body, styles=styles), job).meta["title"]) == "One Two"


@pytest.mark.parametrize(
    "inside,lines",
    [
        (paragraph("left", "<w:r><w:tab/></w:r>", "middle", "<w:r><w:tab/></w:r>", "right"), ["left\tmiddle\tright"]),
        (paragraph("Title", properties='<w:jc w:val="right"/>') + "<w:p/>" + paragraph("b"), ["\t\tTitle", "b"]),
        (paragraph(field(" PAGE ", run("3")), " of ", field("NUMPAGES", run("9"))), ["\x01 of \x02"]),
        (paragraph(f'<w:fldSimple w:instr="PAGE \\* roman">{run("iii")}</w:fldSimple>', "."), ["\x01."]),
        (paragraph(field(' DATE \\@ "yyyy" ', run("2024"))), ["2024"]),
        (f"<w:tbl><w:tr><w:tc>{paragraph('a')}</w:tc><w:tc>{paragraph('b')}</w:tc></w:tr></w:tbl>", ["a", "b"]),
    ],
)
def test_header_and_columns(inside: str, lines: list[str], job: Job) -> None:
    cover = '<w:sectPr><w:headerReference w:type="default" r:id="part-header"/></w:sectPr>'
    section = (
        '<w:sectPr><w:footerReference w:type="first" r:id="part-footer"/><w:pgSz w:w="9000" w:h="9000"/>'
        '<w:pgMar w:top="900" w:right="900" w:bottom="900" w:left="900"/><w:cols w:num="2"/></w:sectPr>'
    )
    body = paragraph("cover", properties=cover) + paragraph("one") + paragraph("two") + section
    parts = {"header": f"<w:hdr>{inside}</w:hdr>", "footer": f"<w:ftr>{paragraph('foot')}</w:ftr>"}

    document = read.docx(docx(body, **parts), job)

    assert (list(document.header), document.footer) == (lines, ("foot",))
    assert document.page
    assert document.page.columns == 2
    assert job.notes == []


_STYLES = (
    '<w:styles><w:docDefaults><w:rPrDefault><w:rPr><w:sz w:val="22"/></w:rPr></w:rPrDefault></w:docDefaults>'
    '<w:style w:type="paragraph" w:styleId="N" w:default="1"><w:rPr><w:sz w:val="24"/></w:rPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Base"><w:pPr><w:jc w:val="center"/></w:pPr>'
    '<w:rPr><w:sz w:val="40"/><w:color w:val="FF0000"/></w:rPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Child"><w:basedOn w:val="Base"/>'
    '<w:rPr><w:color w:val="auto"/></w:rPr></w:style>'
    '<w:style w:type="character" w:styleId="Word"><w:rPr><w:color w:val="00ff00"/></w:rPr></w:style></w:styles>'
)


@pytest.mark.parametrize(
    "properties,text,expected",
    [
        ("", run("plain"), {}),
        ('<w:jc w:val="left"/>', run("left", '<w:sz w:val="24"/><w:color w:val="000000"/>'), {}),
        ('<w:jc w:val="end"/>', run("end"), {"align": "right"}),
        ('<w:bidi/><w:jc w:val="right"/>', run("end"), {"align": "left"}),
        ('<w:jc w:val="both"/>', run("wide"), {"align": "justify"}),
        ('<w:pStyle w:val="Base"/>', run("style"), {"align": "center", "size": "20pt", "color": "#ff0000"}),
        ('<w:pStyle w:val="Child"/>', run("chain"), {"align": "center", "size": "20pt"}),
        ('<w:pStyle w:val="Base"/><w:jc w:val="start"/>', run("direct", '<w:sz w:val="24"/>'), {"color": "#ff0000"}),
        ("", run("word", '<w:rStyle w:val="Word"/><w:highlight w:val="yellow"/>'),
         {"color": "#00ff00", "background": "#ffff00"}),
        ('<w:shd w:val="clear" w:fill="123456"/>', run("auto"), {"color": "#ffffff", "background": "#123456"}),
        ("<w:pageBreakBefore/>", run("next"), {"page-break": "before"}),
        ('<w:pageBreakBefore w:val="0"/>', run("same"), {}),
    ],
)  # fmt: skip
def test_looks_are_resolved(properties: str, text: str, expected: dict[str, str], job: Job) -> None:
    body = paragraph("much more text " * 9) + paragraph(text, properties=properties)

    document = read.docx(docx(body, styles=_STYLES), job)

    block = document.blocks[-1]
    node = block["c"][0] if block["t"] == "Para" else block
    assert document.text_size == 12
    assert (dict(node["c"][0][2]) if node["t"] in ("Div", "Span") else {}) == expected


def test_cells_have_the_colour_of_their_shading(job: Job) -> None:
    cells = '<w:tc><w:tcPr><w:shd w:val="clear" w:fill="{}"/></w:tcPr>{}</w:tc>'
    row = cells.format("00FFFF", "<w:p/>" * 2) + cells.format("auto", "<w:p/>") + cells.format("0000FF", paragraph("x"))

    document = read.docx(docx(f"<w:tbl><w:tr>{row}</w:tr></w:tbl>"), job)

    looks = [dict(node["c"][0][2]) for node in nodes_of(document.blocks) if node["t"] == "Div"]
    assert sorted(look["background"] for look in looks) == ["#0000ff", "#00ffff"]
    assert plain_text(document.blocks).strip() == "x"


def test_the_font_of_the_body_text_is_that_of_the_theme(job: Job) -> None:
    fonts = (
        '<w:styles><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:asciiTheme="minorHAnsi"/></w:rPr></w:rPrDefault>'
        "</w:docDefaults></w:styles>"
    )
    theme = '<a:theme><a:fontScheme><a:minorFont><a:latin typeface="Calibri"/></a:minorFont></a:fontScheme></a:theme>'

    document = read.docx(docx(paragraph("words"), styles=fonts, theme=theme), job)

    assert document.font == "Calibri"
    assert Document.unpack(document.pack()).font == "Calibri"


def test_words_have_looks_of_their_own(job: Job) -> None:
    body = paragraph("a ", run("  large", '<w:sz w:val="48"/>'), "b" * 20)

    [block] = read.docx(docx(body, styles=_STYLES), job).blocks

    [span] = [node for node in nodes_of(block) if node["t"] == "Span"]
    assert (block["t"], dict(span["c"][0][2]), plain_text(span)) == ("Para", {"size": "24pt"}, "large")


def test_page_breaks_and_sections_start_pages(job: Job) -> None:
    margins = '<w:pgMar w:top="-720" w:right="720" w:bottom="720" w:left="720" w:gutter="360"/>'
    page = '<w:sectPr>{}<w:pgSz w:w="{}" w:h="16838"/>' + margins + "</w:sectPr>"
    page_break = '<w:r><w:t>b</w:t><w:br w:type="page"/><w:t>c</w:t></w:r>'
    table = f"<w:tbl><w:tr><w:tc>{paragraph('e')}</w:tc></w:tr></w:tbl>"
    body = (
        paragraph("a") + paragraph(page_break, properties=page.format("", 11906)) + table
        + paragraph("f", properties=page.format("", 20000)) + paragraph("g")
        + page.format('<w:type w:val="continuous"/>', 20000)
    )  # fmt: skip

    document = read.docx(docx(body), job)

    starts = [block for block in document.blocks if block["t"] == "Div"]
    assert [plain_text(block) for block in starts] == ["c", "e"]
    assert all(dict(block["c"][0][2]) == {"page-break": "before"} for block in starts)
    assert document.page == Page(595.3, 841.9, 36, 36, 36, 54)


def test_numbers_of_headings_and_labels_with_words_are_text(job: Job) -> None:
    def numbered(text: str, number: int, level: int = 0) -> str:
        properties = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
        return paragraph(text, properties=properties)

    def heading(text: str, style: str) -> str:
        return paragraph(text, properties=f'<w:pStyle w:val="{style}"/>')

    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="H{level}"><w:name w:val="heading {level}"/><w:pPr><w:numPr>'
        f'<w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
        for level in (1, 2)
    )
    level = '<w:lvl w:ilvl="{}"><w:start w:val="{}"/><w:numFmt w:val="{}"/>{}<w:lvlText w:val="{}"/></w:lvl>'
    headings = level.format(0, 3, "upperRoman", '<w:pStyle w:val="H1"/>', "Part %1:") + level.format(
        1, 1, "decimal", '<w:pStyle w:val="H2"/>', "%1.%2"
    )
    articles = level.format(0, 1, "upperLetter", "", "Article %1.") + level.format(1, 1, "decimal", "", "%2.")
    numbering = (
        f'<w:numbering><w:abstractNum w:abstractNumId="0">{headings}</w:abstractNum>'
        f'<w:abstractNum w:abstractNumId="1">{articles}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
        '<w:num w:numId="3"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/>'
        "</w:lvlOverride></w:num></w:numbering>"
    )
    body = heading("a", "H1") + heading("b", "H2") + heading("c", "H2") + heading("d", "H1") + heading("e", "H2")
    lists = numbered("f", 2) + numbered("g", 2) + numbered("h", 2, 1) + numbered("i", 3) + numbered("j", 2)

    blocks = read.docx(docx(body + lists, styles=f"<w:styles>{styles}</w:styles>", numbering=numbering), job).blocks

    assert [plain_text(block) for block in blocks] == [
        "Part III: a", "III.1 b", "III.2 c", "Part IV: d", "IV.1 e",
        "Article A. f", "Article B. g", "h", "Article G. i", "Article H. j",
    ]  # fmt: skip
    assert [block["t"] for block in blocks[5:9]] == ["Para", "Para", "OrderedList", "Para"]


class TestHostile:
    @pytest.mark.parametrize("damaged", [None, b"<Relationships", b"", b"nope"])
    def test_a_package_whose_relationships_are_lost_is_read(self, job: Job, damaged: bytes | None) -> None:
        source = sources.rezipped(docx(paragraph("words")), {"_rels/.rels": damaged})

        assert plain_text(read.docx(source, job).blocks) == "words"

    def test_a_document_whose_footnotes_cannot_be_found_is_refused(self, job: Job) -> None:
        source = docx(paragraph("words", '<w:r><w:footnoteReference w:id="2"/></w:r>'))

        with pytest.raises(ConversionError, match="the relationships of the document are missing"):
            read.docx(sources.rezipped(source, {"word/_rels/document.xml.rels": None}), job)

    @pytest.mark.parametrize(
        "body, limit",
        [
            ("<w:sdt>" * 300 + "</w:sdt>" * 300, "nested"),
            (_WIDE_TABLE.format(999_999_999), "columns"),
            (_WIDE_TABLE.format(900) * 112, "100000 columns in all"),
        ],
        ids=["deep", "a million columns", "many wide tables"],
    )
    def test_large_elements_are_refused(self, body: str, limit: str, job: Job) -> None:
        with pytest.raises(TooLarge, match=limit):
            read.docx(docx(body), job)

    @pytest.mark.parametrize(
        "body",
        [
            paragraph("a", properties=_DELETED) * 10_000,
            paragraph(*["a"] * 20_000),
            "<w:tbl>" + f"<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr>{paragraph('a')}</w:tc></w:tr>" * 10_000 + "</w:tbl>",
            "<w:tbl>" + '<w:tr><w:trPr><w:gridBefore w:val="900"/></w:trPr></w:tr>' * 2_000 + "</w:tbl>",
        ],
        ids=["deleted ends", "runs of a paragraph", "merged cells", "empty columns"],
    )
    def test_large_elements_need_linear_time(self, body: str, job: Job) -> None:
        with zipfile.ZipFile(io.BytesIO(docx(body))) as archive:
            started = time.process_time()
            rewrite(archive, io.BytesIO(), job)

        assert time.process_time() - started < 5

    @pytest.mark.parametrize(
        "parts",
        [
            {"theme": "not XML"},
            {"styles": '<w:styles><w:style w:type="paragraph" w:styleId="a"><w:basedOn w:val="b"/></w:style>'
             '<w:style w:type="paragraph" w:styleId="b"><w:basedOn w:val="a"/></w:style></w:styles>'},
        ],
        ids=["broken theme", "styles in a circle"],
    )  # fmt: skip
    def test_harmless_damage_is_ignored(self, parts: dict[str, str], job: Job) -> None:
        assert lines(read.docx(docx(paragraph("x", properties='<w:pStyle w:val="a"/>'), **parts), job)) == ["x"]
