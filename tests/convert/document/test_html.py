import re
import time

import pytest

from svc_notebooks.convert.document.clean import nodes_of, with_look
from svc_notebooks.convert.document.html import well_formed
from svc_notebooks.convert.document.model import Node
from svc_notebooks.convert.document.read import html
from svc_notebooks.convert.job import Job, TooLarge

BLOCKS = frozenset({"Para", "Plain", "Header", "CodeBlock", "LineBreak"})


def words_of(page: str, job: Job) -> list[str]:
    """Return the words in the tree of a page, in order. A word does not continue in the next block."""
    parts: list[str] = []

    def look(value: object) -> None:
        if isinstance(value, list):
            for inner in value:
                look(inner)
        elif isinstance(value, dict):
            if value["t"] in ("Str", "Code", "CodeBlock", "Math"):
                parts.append(value["c"] if value["t"] == "Str" else value["c"][1])
            elif value["t"] in ("Space", "SoftBreak"):
                parts.append(" ")
            look(value.get("c"))
            if value["t"] in BLOCKS:
                parts.append(" ")

    look(html(page.encode(), job).blocks)
    return re.findall(r"\w+", "".join(parts))


HIDDEN = (
    "a <p hidden>x</p>b <span style='color: red; DISPLAY : none'>x</span>c <i style='visibility:hidden'>x</i>"
    "<input type=hidden value=x><input type=password value=x><template>x</template><script>x</script>"
    '<iframe srcdoc="x">x</iframe><datalist><option>x</datalist><p style="display:nonesuch">d</p>'
)


@pytest.mark.parametrize(
    "body,expected",
    [
        ("<header>a</header><nav>b</nav><main>c</main><aside>d</aside><footer>e</footer>", "a b c d e"),
        ("a<main>b</main>c", "a b c"),
        ('a <div role="main">b</div> c', "a b c"),
        ('<label>a</label><input value="b"><input placeholder=c><input type=submit value=d>', "a b c d"),
        ("<button>a</button><button>b</button><p>c <textarea>d\ne</textarea> f</p>", "a b c d e f"),
        ("<select><optgroup label=a><option>b<option>c</optgroup><option label=d></select>", "a b c d"),
        ("<fieldset><legend>a</legend>b</fieldset><dialog open>c</dialog><marquee>d</marquee>", "a b c d"),
        ("<details><summary>a</summary>b</details><noscript>c</noscript><object>d</object>", "a b c d"),
        ("a <svg><title>x</title><g><text>b<tspan>c</tspan></text></g><text>d</text></svg> e", "a b c d e"),
        ("<p>a <foo>b</foo></p><bar>c</bar><figure><figcaption>d</figcaption><p>e</p></figure>", "a b c d e"),
        ("<dl>a<dt>b</dt>c<dd>d</dd>e</dl><dl><dd>f</dl>", "a b c d e f"),
        ("<table><col><tr><td>a<td>b</table>", "a b"),
        ("<table><colgroup><col span=2></colgroup><tr><td>a<td>b</table>", "a b"),
        ("<table><colgroup span=1></colgroup><tr><td>a<td>b</table>", "a b"),
        ("<table><tr><td rowspan=2>a</td></tr><tr><td>b</td></tr><tr><td>c</td></tr></table>", "a b c"),
        ("<table><tr><td>a<tr><td rowspan=2>b<td>c<tr><td>d<td>e</table>", "a b c d e"),
        ("<table><caption>a</caption><tr><td>b<table><tr><td rowspan=2>c<tr><td>d</table></table>", "a b c d"),
        ('<section role="doc-endnotes"><ol><li id="n">a</li></ol></section>', "a"),
        ('a<a href="#n" role="doc-noteref">b</a>', "ab"),
        ("<svg><text>a</text><svg><text>b</text></svg></svg><svg><text>c</text></svg>", "a b c"),
        ("<ul>a<li>b</li>c<ul><li>d</li></ul></ul><pre>e <b>f</b></pre>", "a b c d e f"),
        ("<frameset><frame src=x><noframes>a</noframes></frameset>", "a"),
        (HIDDEN, "a b c d"),
    ],
)
def test_visible_words_are_kept(body: str, expected: str, job: Job) -> None:
    assert words_of(f"<!DOCTYPE html><html>{body}", job) == expected.split()


@pytest.mark.parametrize(
    "page, notes",
    [
        (b"<div hidden> <p></p></div>a", []),
        (b"<div style='display:none'><h1>x</h1></div>a", ["Hidden text was left out."]),
        (b"<svg><text>a</text></svg>", ["The drawings (svg) in the page were left out; their text was kept."]),
    ],
)
def test_what_is_left_out_is_noted(page: bytes, notes: list[str], job: Job) -> None:
    html(page, job)

    assert job.notes == notes


def paragraph(look: dict[str, str], *inlines: Node) -> Node:
    return with_look({"t": "Para", "c": list(inlines)}, look)


def span(look: dict[str, str], text: str) -> Node:
    return {"t": "Span", "c": [["", [], [list(pair) for pair in look.items()]], [word(text)]]}


def word(text: str) -> Node:
    return {"t": "Str", "c": text}


@pytest.mark.parametrize(
    "body,expected",
    [
        ("<p align=RIGHT>a</p>", paragraph({"align": "right"}, word("a"))),
        ("<p style='TEXT-ALIGN: justify !important'>a</p>", paragraph({"align": "justify"}, word("a"))),
        ("<p style='text-align:left'>a</p>", paragraph({}, word("a"))),
        ("<center><p>a</p></center>", paragraph({"align": "center"}, word("a"))),
        ("<div align=center><p style='text-align:start'>a</p></div>", paragraph({}, word("a"))),
        ("<div style='color:Red'><p>a</p></div>", paragraph({"color": "#ff0000"}, word("a"))),
        ("<div style='color:red'><p style='color:inherit'>a</p></div>", paragraph({"color": "#ff0000"}, word("a"))),
        ("<div style='color:red'><p style='color:#000'>a</p></div>", paragraph({}, word("a"))),
        ("<p style='color:black'>a</p>", paragraph({}, word("a"))),
        ("<p style='background:#def'>a</p>", paragraph({"background": "#ddeeff"}, word("a"))),
        ("<p>a<font color=00ff00>b</font></p>", paragraph({}, word("a"), span({"color": "#00ff00"}, "b"))),
        ("<p>a<font size=+2>b</font></p>", paragraph({}, word("a"), span({"size": "18pt"}, "b"))),
        ("<p>a<span style='font-size:20px'>b</span></p>", paragraph({}, word("a"), span({"size": "15pt"}, "b"))),
        ("<p>a<mark style='background:yellow'>b</mark></p>",
         paragraph({}, word("a"), span({"background": "#ffff00"}, "b"))),
        ("<p>a<b style='font-weight:normal'>b</b></p>", paragraph({}, word("ab"))),
        ("<p style='font-weight:700'>a</p>", paragraph({}, {"t": "Strong", "c": [word("a")]})),
        ("<p><span style='text-decoration:line-through'>a</span></p>",
         paragraph({}, {"t": "Strikeout", "c": [word("a")]})),
        ("<p style='color:nonesuch;font-size:99em'>a</p>", paragraph({}, word("a"))),
        ("<pre class=python>a</pre>", {"t": "CodeBlock", "c": [["", ["python"], []], "a"]}),
    ],
)  # fmt: skip
def test_looks_of_elements_are_kept(body: str, expected: Node, job: Job) -> None:
    assert html(body.encode(), job).blocks == [expected]


def test_page_breaks_are_kept_once(job: Job) -> None:
    blocks = html(b"<p style='page-break-after:always'>a</p><div style='break-before:page'><p>b<p>c</div>", job).blocks

    assert blocks == [
        paragraph({}, word("a")), paragraph({"page-break": "before"}, word("b")), paragraph({}, word("c")),
    ]  # fmt: skip


def test_most_text_gives_the_size_and_a_page_without_looks_has_none(job: Job) -> None:
    document = html(b"<body style='font-size:10pt'><h1>a</h1><p>many words</p>", job)
    plain = html(b"<h1 class=a>a</h1><p class=b>b <span class=c>c</span></p>", job)

    assert document.text_size == 10
    assert ["size", "20pt"] in document.blocks[0]["c"][1][2]
    assert document.blocks[1]["t"] == "Para"
    assert (plain.text_size, plain.page) == (None, None)
    assert "Span" not in [node["t"] for node in nodes_of(plain.blocks)]


def test_ordered_lists_keep_their_first_number(job: Job) -> None:
    page = "<ol start=2><li>a<li>b</ol>after<ol><li>c<ol><li>d<li>e</ol></ol>"

    lists = [node for node in nodes_of(html(page.encode(), job).blocks) if node["t"] == "OrderedList"]

    numbers = {(node["c"][0][0], len(node["c"][1])) for node in lists}
    assert numbers == {(2, 2), (1, 1), (1, 2)}
    assert words_of(page, job) == [*"ab", "after", *"cde"]


@pytest.mark.parametrize(
    "page, letters",
    [
        ('<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><p><![CDATA[a < b & c]]></p><p/>d</html>',
         "abcd"),
        ("<p style='color:red'>a\x01b &#1;c&#12;d &#xfffe; \ufffee<button>\x02f</button></p>\0"
         "<font size=5>\x1bg</font>", "abcdefg"),
    ],
    ids=["character data", "control characters"],
)  # fmt: skip
def test_other_characters_are_kept_or_removed(page: str, letters: str, job: Job) -> None:
    assert "".join(words_of(page, job)) == letters


def test_footnotes_with_references_are_footnotes_and_links_have_the_base_address(job: Job) -> None:
    notes = b'a<a href="#n" role="doc-noteref">1</a><section role="doc-endnotes"><ol><li id="n">b</li></ol></section>'
    based = b'<head><title>t</title><base href="https://a.example/b/"><style>p {}</style></head><a href="c">d</a>'

    assert [node["t"] for node in nodes_of(html(notes, job).blocks)].count("Note") == 1
    [link] = [node for node in nodes_of(html(based, job).blocks) if node["t"] == "Link"]
    assert link["c"][2][0] == "https://a.example/b/c"


@pytest.mark.parametrize(
    "page, limit",
    [
        (b"<table><tr>" + b"<td rowspan=3 colspan=900>" + b"</tr><tr><td colspan=900>" * 2 + b"</table>", "columns"),
        (b"<table>" + b"<tr><td rowspan=999 colspan=99>" * 20 + b"</table>", "columns"),
        (b"<foo>a" * 5_000, "nested"),
        (b"<div>" * 100_000 + b"x", "nested"),
        (b"<blockquote>" * 300 + b"x", "nested"),
        (b"<i>x</i>" * 500_001, "tags"),
        (b"<p " + b"a=1 " * 5_001 + b">", "attributes"),
    ],
    ids=["wide table", "spans of rows", "unknown elements", "divisions", "quotes", "tags", "attributes"],
)
def test_pages_without_end_are_refused(job: Job, page: bytes, limit: str) -> None:
    with pytest.raises(TooLarge, match=limit):
        html(page, job)


def test_rows_with_spans_unclosed_sections_and_many_cells_take_linear_time(job: Job) -> None:
    page = b"<table><tr>" + b"<td rowspan=999>" * 500 + b"<tr><td>" * 20_000 + b"</table>"
    sections = '<?xml version="1.0"?>' + "<![CDATA[" * 200_000
    cells = "<table>" + ("<tr>" + "<td>" * 500) * 400 + "</table>"

    began = time.process_time()
    with pytest.raises(TooLarge):
        html(page + b"<table><tr><td colspan=999><td colspan=999></table>", job)
    assert time.process_time() - began < 5
    began = time.process_time()
    assert well_formed(sections, job)[0].count(b"CDATA") == 0
    assert well_formed(cells, job)[0].count(b"<td>") == 200_000
    assert time.process_time() - began < 10
