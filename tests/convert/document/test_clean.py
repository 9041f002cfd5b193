import json

import pytest

from svc_notebooks.convert.document import read
from svc_notebooks.convert.document.clean import MAX_DEPTH, clean, is_safe_link, plain_text
from svc_notebooks.convert.document.model import Document, Node, paragraph, text_inlines
from svc_notebooks.convert.input.native_package import resource_name
from svc_notebooks.convert.job import Job, TooLarge
from tests.convert import sources
from tests.convert.document.trees import NONE, para


def cleaned(job: Job, *blocks: Node) -> Document:
    return clean({"meta": {}, "blocks": list(blocks)}, job)


def link(target: str) -> Node:
    return {"t": "Link", "c": [NONE, text_inlines("words"), [target, ""]]}


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)", "JavaScript:alert(1)", "java\tscript:alert(1)", "\x01javascript:alert(1)",
        " javascript:alert(1)", "data:text/html,<script>", "vbscript:x", "file:///etc/passwd", "ftp://a.example/",
        "//a.example/x", "\\\\host\\share", "/etc/passwd", "../up", "http:", "https://", "about:blank", "ms-word:x", "",
        "http://a.example/\njavascript:x",
    ],
)  # fmt: skip
def test_unsafe_links_become_text(target: str, job: Job) -> None:
    assert not is_safe_link(target)
    assert cleaned(job, para(link(target))).blocks == [para(*text_inlines("words"))]


@pytest.mark.parametrize("target", ["https://a.example/", "HTTP://A.EXAMPLE", " mailto:a@b.example", "#", "#place"])
def test_safe_links_are_kept(target: str, job: Job) -> None:
    assert cleaned(job, para(link(target))).blocks == [para(link(target.strip()))]


@pytest.mark.parametrize(
    "pairs, kept",
    [
        ([["width", "3.125e-2in"], ["height", "1e-9in"]], {"width": "0.031250in"}),
        ([["width", "50%"], ["height", "2.00000000001in"], ["dir", "RTL"], ["lang", "en-GB"], ["onclick", "x"],
          ["style", "x"], ["width", "expression(1)"], ["lang", "<b>"]],
         {"width": "50%", "height": "2.000000in", "dir": "rtl", "lang": "en-GB"}),
    ],
    ids=["small lengths", "other attributes"],
)  # fmt: skip
def test_attributes(pairs: list[list[str]], kept: dict[str, str], job: Job) -> None:
    raw = ["a b<c>'\"&", ["evil"], pairs]

    [block] = cleaned(job, {"t": "Div", "c": [raw, [paragraph("x")]]}).blocks

    identifier, classes, left = block["c"][0]
    assert (identifier, classes, dict(left)) == ("abc", [], kept)


RAW = ["html", "<script>"]
SPAN = {"t": "Span", "c": [["", ["x"], [["style", "x"]]], text_inlines("a")]}


@pytest.mark.parametrize(
    "blocks, kept, notes",
    [
        ([{"t": "Div", "c": [NONE, [{"t": "Plain", "c": [SPAN]}, paragraph("b")]]},
          {"t": "Header", "c": [1, ["section", [], []], []]}], [paragraph("a"), paragraph("b")], 0),
        ([{"t": "RawBlock", "c": RAW}, para({"t": "RawInline", "c": RAW}, *text_inlines("x"))], [paragraph("x")], 1),
        ([para({"t": "Str", "c": "a\x00\x0b\ud800\uffffb"}),
          {"t": "CodeBlock", "c": [["", ["python", "x"], [["k", "v"]]], "c\x00"]}],
         [paragraph("ab"), {"t": "CodeBlock", "c": [["", ["python"], []], "c"]}], 0),
    ],
    ids=["empty nodes", "raw code", "control characters"],
)  # fmt: skip
def test_what_is_removed(blocks: list[Node], kept: list[Node], notes: int, job: Job) -> None:
    assert cleaned(job, *blocks).blocks == kept
    assert len(job.notes) == notes


@pytest.mark.parametrize("kind", ["BlockQuote", "BulletList", "Emph", "Note"])
def test_deep_nesting_is_flattened(kind: str, job: Job) -> None:
    block = paragraph("deep")
    for _ in range(300):
        inner = {"BulletList": [[block]], "Emph": block["c"], "Note": [block]}.get(kind, [block])
        block = para({"t": kind, "c": inner}) if kind in ("Emph", "Note") else {"t": kind, "c": inner}

    document = cleaned(job, block)

    assert plain_text(document.blocks).strip(" ()") == "deep"  # a note in a note is in parentheses
    assert json.dumps(document.blocks).count(f'"{kind}"') <= MAX_DEPTH
    assert "nested" in job.notes[0]


@pytest.mark.parametrize("start,kept", [(-5, 0), (3, 3), (10**30, 32_767)])
def test_numbers_of_lists(start: int, kept: int, job: Job) -> None:
    items = [[paragraph("x")]]

    [block] = cleaned(job, {"t": "OrderedList", "c": [[start, {"t": "Decimal"}, {"t": "Period"}], items]}).blocks

    assert block["c"][0][0] == kept


def table_of(widths: list[Node]) -> Node:
    columns = [[{"t": "AlignDefault"}, width] for width in widths]
    return {"t": "Table", "c": [NONE, [None, []], columns, [NONE, []], [], [NONE, []]]}


def test_too_many_columns_are_refused(job: Job) -> None:
    with pytest.raises(TooLarge, match="columns"):
        cleaned(job, table_of([{"t": "ColWidthDefault"}] * 1001))


@pytest.mark.parametrize(
    "shares,kept", [([0.25, 0.75], True), ([-0.1, 0.5], False), ([1e-5, 1e-5], False), ([9, 9], False)]
)
def test_columns_too_narrow_to_see_get_default_widths(shares: list[float], kept: bool, job: Job) -> None:
    [table] = cleaned(job, table_of([{"t": "ColWidth", "c": share} for share in shares])).blocks

    assert [width.get("c") for _, width in table["c"][2]] == (shares if kept else [None, None])


class TestPictures:
    def image(self, target: str) -> Node:
        return para({"t": "Image", "c": [NONE, text_inlines("alt"), [target, ""]]})

    @pytest.mark.parametrize("target", ["a.png", "sub folder/a.png", "sub%20folder/a.png"])
    def test_extracted_pictures_are_kept(self, target: str, job: Job) -> None:
        for name in ("a.png", "sub folder/a.png"):
            file = job.folder / "media" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(sources.png())

        document = cleaned(job, self.image(target), self.image(target))

        name = resource_name(sources.png(), "png")
        assert dict(document.resources) == {name: sources.png()}
        assert document.blocks[0]["c"][0]["c"][2] == [name, ""]
        assert job.notes == []

    @pytest.mark.parametrize(
        "target",
        ["../a.png", "/etc/hostname", "%2e%2e/a.png", "a\0.png", "a" * 5000, "", ".", "file:///etc/passwd", "link.png"],
    )
    def test_external_pictures_are_removed(self, target: str, job: Job) -> None:
        (job.folder / "a.png").write_bytes(sources.png())
        (job.folder / "media").mkdir()
        (job.folder / "media" / "link.png").symlink_to(job.folder / "a.png")

        document = cleaned(job, self.image(target))

        assert (document.blocks, dict(document.resources)) == ([para(*text_inlines("alt"))], {})
        assert job.notes


@pytest.mark.parametrize("kind", ["Bullet", "Number"])
def test_list_levels_from_styles(kind: str, job: Job) -> None:
    """Templates like python-docx's have a style and a list for each level."""
    import docx

    made = docx.Document()
    for style in (f"List {kind}", f"List {kind} 2", f"List {kind} 3", f"List {kind}"):
        made.add_paragraph(style, style)

    [block] = read.docx(sources.saved(made), job).blocks

    items = block["c"] if kind == "Bullet" else block["c"][1]
    assert [plain_text(item[0]) for item in items] == [f"List {kind}", f"List {kind}"]
    [deeper] = items[0][1:]
    assert plain_text(deeper) == f"List {kind} 2List {kind} 3"


@pytest.mark.parametrize("source", [b"> " * 1000 + b"x", b"- " * 1000 + b"x"])
def test_markdown_nested_without_end(source: bytes, job: Job) -> None:
    with pytest.raises(TooLarge, match="nested"):
        read.markdown(source, job)


@pytest.mark.parametrize("tag", ["embed src=x", "object data=x", "param", "frame src=x", "video", "foo", "font"])
def test_text_after_an_embedded_object_is_kept(tag: str, job: Job) -> None:
    assert "after" in plain_text(read.html(f"<p>before</p><{tag}><p>after</p>".encode(), job).blocks)
