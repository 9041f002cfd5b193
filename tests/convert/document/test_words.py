"""No export loses a word: each block and each inline alone, and in each container, has a word of its own."""

import io
import re
import zipfile
from collections.abc import Callable
from typing import Any

import pypdfium2
import pytest

from svc_notebooks.convert.document import pdf, write
from svc_notebooks.convert.document.clean import clean
from svc_notebooks.convert.document.model import Document, Node
from svc_notebooks.convert.job import Job
from tests.convert import sources
from tests.convert.document.trees import NONE, para

RTL: list[Any] = ["", [], [["dir", "rtl"]]]
LOOK: list[Any] = ["", [], [["color", "#c00000"]]]


def text(word: str) -> Node:
    return {"t": "Str", "c": word}


def table(*cells: list[Node], caption: str = "") -> Node:
    def row(blocks: list[Node]) -> list[Any]:
        return [NONE, [[NONE, {"t": "AlignDefault"}, 1, 1, blocks]]]

    head, body, foot = ([row(it)] if it else [] for it in cells)
    columns = [[{"t": "AlignDefault"}, {"t": "ColWidthDefault"}]]
    captions = [{"t": "Plain", "c": [text(caption)]}] if caption else []
    return {"t": "Table", "c": [NONE, [None, captions], columns, [NONE, head], [[NONE, 0, [], body]], [NONE, foot]]}


def figure(caption: str, *blocks: Node) -> Node:
    return {"t": "Figure", "c": [NONE, [None, [{"t": "Plain", "c": [text(caption)]}]], list(blocks)]}


def numbered(*blocks: Node) -> Node:
    return {"t": "OrderedList", "c": [[1, {"t": "Decimal"}, {"t": "Period"}], [list(blocks)]]}


INLINES: dict[str, Callable[[str], Node]] = {
    **{
        name: lambda word, name=name: {"t": name, "c": [text(word)]}
        for name in ("Emph", "Strong", "Underline", "Strikeout", "Superscript", "Subscript", "SmallCaps")
    },
    "Str": text,
    "Quoted": lambda word: {"t": "Quoted", "c": [{"t": "DoubleQuote"}, [text(word)]]},
    "Code": lambda word: {"t": "Code", "c": [NONE, word]},
    "Math": lambda word: {"t": "Math", "c": [{"t": "InlineMath"}, rf"\text{{{word}}}"]},
    "Link": lambda word: {"t": "Link", "c": [NONE, [text(word)], ["https://a.example/", ""]]},
    "Note": lambda word: {"t": "Note", "c": [para(text(word))]},
    "Span": lambda word: {"t": "Span", "c": [LOOK, [text(word)]]},
}
BLOCKS: dict[str, Callable[[str], Node]] = {
    **{name: lambda word, inline=inline: para(text("a"), inline(word)) for name, inline in INLINES.items()},
    "Plain": lambda word: {"t": "Plain", "c": [text(word)]},
    "LineBlock": lambda word: {"t": "LineBlock", "c": [[text(word)]]},
    "CodeBlock": lambda word: {"t": "CodeBlock", "c": [NONE, word]},
    "Header": lambda word: {"t": "Header", "c": [2, NONE, [text(word)]]},
    "BlockQuote": lambda word: {"t": "BlockQuote", "c": [para(text(word))]},
    "BulletList": lambda word: {"t": "BulletList", "c": [[para(text(word))]]},
    "OrderedList": lambda word: numbered(para(text(word))),
    "term": lambda word: {"t": "DefinitionList", "c": [[[text(word)], [[para(text("b"))]]]]},
    "definition": lambda word: {"t": "DefinitionList", "c": [[[text("c")], [[para(text(word))]]]]},
    "Div": lambda word: {"t": "Div", "c": [RTL, [para(text(word))]]},
    "look": lambda word: {"t": "Div", "c": [LOOK, [para(text(word))]]},
    "Figure": lambda word: figure("d", para(text(word))),
    "figure caption": lambda word: figure(word, para(text("e"))),
    "picture caption": lambda word: figure(word, {"t": "Plain", "c": [{"t": "Image", "c": [NONE, [], ["p.png", ""]]}]}),
    "table head": lambda word: table([para(text(word))], [para(text("f"))], []),
    "table body": lambda word: table([], [para(text(word))], []),
    "table foot": lambda word: table([], [para(text("g"))], [para(text(word))]),
    "table caption": lambda word: table([], [para(text("h"))], [], caption=word),
}
CONTAINERS: dict[str, Callable[[Node], Node]] = {
    "page": lambda block: block,
    "in a quote": lambda block: {"t": "BlockQuote", "c": [block]},
    "in an item": lambda block: {"t": "BulletList", "c": [[para(text("i")), block]]},
    "in a definition": lambda block: {"t": "DefinitionList", "c": [[[text("j")], [[para(text("k")), block]]]]},
    "in a cell": lambda block: table([], [block], []),
    "in a note": lambda block: para(text("l"), {"t": "Note", "c": [block]}),
    "in a Div": lambda block: {"t": "Div", "c": [RTL, [block]]},
    "in a numbered item": lambda block: numbered(para(text("m")), block),
    "in a figure": lambda block: figure("n", block),
    "in a head": lambda block: table([block], [para(text("o"))], []),
    "in a foot": lambda block: table([], [para(text("p"))], [block]),
    "in a look": lambda block: {"t": "Div", "c": [LOOK, [block]]},
}


def packed(data: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return "".join(archive.read(name).decode() for name in archive.namelist() if re.search("xml$|html$", name))


def printed(data: bytes) -> str:
    return "".join(page.get_textpage().get_text_bounded() for page in pypdfium2.PdfDocument(data))


FORMATS: dict[str, tuple[Callable[[Document, Job], bytes], Callable[[bytes], str]]] = {
    **{name: (getattr(write, name), bytes.decode) for name in ("html", "text", "rtf", "markdown")},
    **{name: (getattr(write, name), packed) for name in ("zipped_html", "docx", "odt", "epub")},
    "pdf": (pdf.write, printed),
}


@pytest.mark.parametrize("format", FORMATS)
def test_every_word_is_in_the_export(job: Job, format: str) -> None:
    names = [(container, block) for container in CONTAINERS for block in BLOCKS]
    words = {f"word{number}x": name for number, name in enumerate(names)}
    blocks = [CONTAINERS[container](BLOCKS[block](word)) for word, (container, block) in words.items()]
    beside_title = ("subtitle", "author", "date", "abstract")
    meta = {name: {"t": "MetaInlines", "c": [text(f"meta{name}")]} for name in beside_title}
    (job.folder / "media").mkdir()
    (job.folder / "media" / "p.png").write_bytes(sources.png())
    document = clean({"meta": meta, "blocks": blocks}, job)
    writer, reader = FORMATS[format]

    shown = reader(writer(document, job))

    assert [name for word, name in words.items() if word not in shown] == []
    assert [name for name in meta if f"meta{name}" not in shown] == []
