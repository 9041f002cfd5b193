import pytest

from svc_notebooks.convert.document.clean import clean
from svc_notebooks.convert.document.looks import Looks
from svc_notebooks.convert.document.model import Document, Node, Page, paragraph, text_inlines
from svc_notebooks.convert.job import Job
from tests.convert.document.trees import NONE, attributes, div, para, span, table

A5 = Page(420, 595, 36, 36, 36, 36)


def marked(looks: Looks, job: Job, *blocks: Node, **meta: Node) -> Document:
    return clean(looks.apply({"meta": meta, "blocks": list(blocks)}), job)


@pytest.fixture
def looks() -> Looks:
    return Looks([], 12.0)


def test_look_of_words(looks: Looks, job: Job) -> None:
    red, plain = looks.marker({"color": "#ff0000"}), looks.marker({})
    strong: Node = {"t": "Strong", "c": text_inlines(f"{red}bold red")}
    text = [*text_inlines("a"), {"t": "Space"}, strong, *text_inlines(f"end{plain}b")]

    [block] = marked(looks, job, para(*text)).blocks

    coloured = {"t": "Strong", "c": [span("bold red", color="#ff0000")]}
    assert block == para(*text_inlines("a"), {"t": "Space"}, coloured, span("end", color="#ff0000"), *text_inlines("b"))


def test_background_of_text_and_of_paragraphs(looks: Looks, job: Job) -> None:
    text, block = looks.marker({"background": "#ffff00"}), looks.marker({"shading": "#d0d0d0", "color": "#ffffff"})

    blocks = marked(looks, job, paragraph(f"{text}two words"), paragraph(f"{block}white")).blocks

    assert blocks == [
        para(span("two words", background="#ffff00")),
        div(paragraph("white"), background="#d0d0d0", color="#ffffff"),
    ]


def test_page_breaks(looks: Looks, job: Job) -> None:
    page = looks.marker({"page-break": "before"})
    rule: Node = {"t": "HorizontalRule"}
    text = [*text_inlines(f"one {page}"), {"t": "LineBreak"}, *text_inlines("two")]
    empty_heading: Node = {"t": "Header", "c": [1, NONE, []]}

    blocks = marked(looks, job, para(*text), paragraph(page), empty_heading, rule).blocks

    assert blocks == [
        paragraph("one"),
        div(paragraph("two"), page_break="before"),
        {"t": "Div", "c": [attributes(page_break="before"), [rule]]},
    ]


def test_cells_and_footnotes(looks: Looks, job: Job) -> None:
    right = looks.marker({"align": "right", "color": "#00ff00"})
    page = looks.marker({"page-break": "before"})
    grid = table(paragraph(f"{right}{page}5"))
    grid["c"][2] = [[{"t": "AlignRight"}, {"t": "ColWidthDefault"}]]  # what pandoc makes of the first cell
    note: Node = {"t": "Note", "c": [paragraph(f"{page}inside")]}

    cells, block = marked(looks, job, grid, para(*text_inlines(f"{right}a"), note)).blocks

    assert cells["c"][2] == [[{"t": "AlignDefault"}, {"t": "ColWidthDefault"}]]
    assert cells["c"][4][0][3][0][1][0][1:] == [{"t": "AlignRight"}, 1, 1, [paragraph("5")]]
    inside = {"t": "Note", "c": [paragraph("inside")]}
    assert block == div(para(*text_inlines("a"), inside), align="right", color="#00ff00")


def test_no_marker_remains(looks: Looks, job: Job) -> None:
    mark = looks.marker({"align": "left", "color": "#00ff00"})
    image: Node = {"t": "Image", "c": [NONE, text_inlines(f"{mark}alt"), ["missing.png", mark]]}
    code: Node = {"t": "CodeBlock", "c": [NONE, f"a{mark}b"]}
    title: Node = {"t": "MetaInlines", "c": text_inlines(f"{mark}Title")}

    document = marked(looks, job, code, para(image), para({"t": "Emph", "c": text_inlines(mark)}), title=title)

    assert mark not in str(document)
    assert document.meta["title"]["c"] == [span("Title", align="left", color="#00ff00")]


def test_private_use_characters_of_the_text_are_kept(job: Job) -> None:
    icons = "\U00100000\U0010fffd"
    looks = Looks([icons])

    document = marked(looks, job, paragraph(looks.marker({"align": "right"}) + icons))

    assert document.blocks == [div(paragraph(icons), align="right")]


@pytest.mark.parametrize(
    "look",
    [
        {"align": "start"}, {"page-break": "after"}, {"size": "0.5pt"}, {"size": "401pt"}, {"size": "1e3pt"},
        {"size": "5"}, {"color": "red"}, {"color": "#12345"}, {"background": "url(x)"}, {"style": "color:red"},
    ],
)  # fmt: skip
def test_invalid_looks_are_removed(look: dict[str, str], job: Job) -> None:
    attribute_list = ["", [], [list(pair) for pair in look.items()]]
    blocks = [{"t": "Div", "c": [attribute_list, [para({"t": "Span", "c": [attribute_list, text_inlines("x")]})]]}]

    assert clean({"meta": {}, "blocks": blocks}, job).blocks == [paragraph("x")]


def test_white_text_without_a_background_becomes_visible_and_hebrew_has_its_direction(job: Job) -> None:
    white = para(span("white", color="#fafafa"))
    dark = div(para(span("white", color="#fafafa")), background="#000080")
    given = [white, dark, div(paragraph("title"), color="#ffffff"), div(paragraph("אבג"), align="center")]

    blocks = clean({"meta": {}, "blocks": given}, job).blocks

    assert blocks == [paragraph("white"), dark, paragraph("title"), div(paragraph("אבג"), align="center", dir="rtl")]


def test_look_of_several_blocks_goes_to_their_paragraphs(job: Job) -> None:
    items: Node = {"t": "BulletList", "c": [[{"t": "Plain", "c": text_inlines("item")}]]}
    heading: Node = {"t": "Header", "c": [1, NONE, text_inlines("x")]}
    inside = [items, heading, table(paragraph("cell")), div(paragraph("right"), align="right")]
    block: Node = {"t": "Div", "c": [attributes(align="center", size="9pt", page_break="before"), inside]}

    first, *others = clean({"meta": {}, "blocks": [block]}, job).blocks

    centred = {"align": "center", "size": "9pt"}
    item = div({"t": "Plain", "c": text_inlines("item")}, **centred)
    assert first == div({"t": "BulletList", "c": [[item]]}, page_break="before")
    assert others == [
        {"t": "Header", "c": [1, attributes(**centred), text_inlines("x")]},
        table(div(paragraph("cell"), size="9pt")),
        div(paragraph("right"), align="right", size="9pt"),
    ]


@pytest.mark.parametrize(
    "page",
    [
        Page(420, 71, 0, 0, 0, 0), Page(20_000, 595, 0, 0, 0, 0), Page(420, 595, 36, 200, 36, 200),
        Page(420, 595, -1, 0, 0, 0),
    ],
)  # fmt: skip
def test_invalid_pages_and_sizes_are_removed(page: Page, job: Job) -> None:
    tree = {"meta": {}, "blocks": [], "text-size": 12}

    assert clean(tree | {"page": A5}, job).page == A5
    assert clean(tree | {"page": page}, job).page is None
    assert clean(tree | {"text-size": 0.1}, job).text_size is None
