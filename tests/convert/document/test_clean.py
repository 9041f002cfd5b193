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


def test_small_lengths(job: Job) -> None:
    raw = ["", [], [["width", "3.125e-2in"], ["height", "1e-9in"]]]

    [block] = cleaned(job, {"t": "Div", "c": [raw, [para(*text_inlines("x"))]]}).blocks

    assert block["c"][0][2] == [["width", "0.031250in"]]


def test_attributes(job: Job) -> None:
    raw = ["a b<c>'\"&", ["evil"], [
        ["width", "50%"], ["height", "2.00000000001in"], ["dir", "RTL"], ["lang", "en-GB"], ["onclick", "x"],
        ["style", "x"], ["width", "expression(1)"], ["lang", "<b>"],
    ]]  # fmt: skip

    [block] = cleaned(job, {"t": "Div", "c": [raw, [para(*text_inlines("x"))]]}).blocks

    identifier, classes, pairs = block["c"][0]
    assert (identifier, classes) == ("abc", [])
    assert dict(pairs) == {"width": "50%", "height": "2.000000in", "dir": "rtl", "lang": "en-GB"}


def test_empty_nodes_are_removed(job: Job) -> None:
    span = {"t": "Span", "c": [["", ["x"], [["style", "x"]]], text_inlines("a")]}
    division = {"t": "Div", "c": [NONE, [{"t": "Plain", "c": [span]}, para(*text_inlines("b"))]]}

    heading = {"t": "Header", "c": [1, ["section", [], []], []]}

    assert cleaned(job, division, heading).blocks == [para(*text_inlines("a")), para(*text_inlines("b"))]


def test_raw_code_is_removed(job: Job) -> None:
    inline = {"t": "RawInline", "c": ["html", "<script>"]}

    document = cleaned(job, {"t": "RawBlock", "c": ["html", "<script>"]}, para(inline, *text_inlines("x")))

    assert document.blocks == [para(*text_inlines("x"))]
    assert len(job.notes) == 1


def test_control_characters_are_removed(job: Job) -> None:
    node = {"t": "Str", "c": "a\x00\x0b\ud800\uffffb"}
    code = {"t": "CodeBlock", "c": [["", ["python", "x"], [["k", "v"]]], "c\x00"]}

    assert cleaned(job, para(node), code).blocks == [
        para({"t": "Str", "c": "ab"}),
        {"t": "CodeBlock", "c": [["", ["python"], []], "c"]},
    ]


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


def test_too_many_columns_are_refused(job: Job) -> None:
    columns = [[{"t": "AlignDefault"}, {"t": "ColWidthDefault"}]] * 1001
    empty = [NONE, []]

    with pytest.raises(TooLarge, match="columns"):
        cleaned(job, {"t": "Table", "c": [NONE, [None, []], columns, empty, [], empty]})


@pytest.mark.parametrize(
    "shares,kept", [([0.25, 0.75], True), ([-0.1, 0.5], False), ([1e-5, 1e-5], False), ([9, 9], False)]
)
def test_columns_too_narrow_to_see_get_default_widths(shares: list[float], kept: bool, job: Job) -> None:
    columns = [[{"t": "AlignDefault"}, {"t": "ColWidth", "c": share}] for share in shares]
    empty = [NONE, []]

    [table] = cleaned(job, {"t": "Table", "c": [NONE, [None, []], columns, empty, [], empty]}).blocks

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
        [
            "../a.png", "/etc/hostname", "%2e%2e/a.png", "a\x00.png", "a" * 5000, "", ".", "file:///etc/passwd",
            "link.png",
        ],
    )  # fmt: skip
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
