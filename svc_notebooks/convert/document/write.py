"""Writes documents with pandoc in all export formats except PDF, which pdf.py writes."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib.resources import as_file, files
from itertools import groupby
from typing import Any
from uuid import NAMESPACE_URL, uuid5
from xml.sax.saxutils import escape

from ..engines.images import encode_image, load_pixels, open_image
from ..input.native_package import zipped
from ..job import Job
from . import pandoc, postprocess
from .clean import PARAGRAPH_LOOKS, cell_background, is_rtl, look_of, plain_text
from .looks import Look, is_cell
from .model import PAGE_COUNT, PAGE_NUMBER, SPACE, Document, Node, deep_recursion, replace_nodes, text_inlines
from .postprocess import Placeholders, reference_option

_NO_ATTRIBUTES: list[Any] = ["", [], []]
_WHITE_SPACE = re.compile(r" {2}|[\t\r\n]")  # white space that is more than a space between words
_STYLES = {  # the CSS property of each attribute
    "align": "text-align", "page-break": "break-before", "size": "font-size", "color": "color",
    "background": "background-color",
}  # fmt: skip
_WITHOUT_PAGE_BREAK = ("Table", "CodeBlock", "HorizontalRule", "LineBlock")  # an empty paragraph has it


def css(document: Document) -> Document:
    """Return a copy of the document in which attributes `style` have the looks.

    Sizes are relative to the size of the body text, so that the reader's size of text applies.
    """

    def rule(name: str, value: str) -> str:
        if name == "size" and document.text_size:
            value = f"{float(value[:-2]) / document.text_size:.3g}rem"
        return f"{_STYLES[name]}: {'page' if name == 'page-break' else value}"

    def styled(node: Node) -> Node:
        content, place = list(node["c"]), 1 if node["t"] == "Header" else 0
        rules = [rule(name, text) for name, text in look_of(content[place]).items()]
        identifier, classes, pairs = _without_look(content[place])
        content[place] = [identifier, classes, pairs + [["style", "; ".join(rules)]] * bool(rules)]
        return {"t": node["t"], "c": content}

    document = replace_nodes(document, {"Table": lambda table: {"t": "Table", "c": _with_backgrounds(table["c"])}})
    return replace_nodes(document, dict.fromkeys(("Div", "Span", "Header"), styled))


def _with_backgrounds(value: Any) -> Any:
    """Return a part of a table in which the cells have the background of their blocks."""
    if not isinstance(value, list):
        return value
    if not is_cell(value):
        return [_with_backgrounds(part) for part in value]
    (identifier, classes, pairs), *others, blocks = value
    color = cell_background(blocks)
    style = [["style", f"background-color: {color}"]] if color else []
    return [[identifier, classes, [*pairs, *style]], *others, blocks]


def _without_look(attributes: list[Any]) -> list[Any]:
    identifier, classes, pairs = attributes
    return [identifier, classes, [pair for pair in pairs if pair[0] not in _STYLES]]


def _markup(look: Look) -> str:
    return "".join(f' {name}="{value}"' for name, value in look.items())


class LookWriter:
    """Replaces looks with raw code of a pandoc format, or removes looks if `format` is empty."""

    format = ""

    def __init__(self, job: Job) -> None:
        self._leaving_out = job.leaving_out("The look of a text")
        self._page_break: Look = {}  # for the next paragraph

    def paragraph(self, look: Look) -> str:
        """Return the code at the start of a paragraph. The look of right-to-left text has the key `direction`."""
        return f"<paragraph{_markup(look)}/>" if look else ""

    def text(self, look: Look, outer: Look) -> tuple[str, str]:
        """Return the code before and after text. `look` and `outer` are the looks in and around the text."""
        return "", ""

    def description(self, text: str) -> str:
        """Return the code after a picture with a description that pandoc does not write."""
        return ""

    def words(self, text: str) -> str:
        """Return the code of words in a paragraph, or "" if pandoc writes them."""
        return ""

    @deep_recursion()
    def document(self, document: Document) -> Document:
        """Return a copy of the document without looks and with raw code."""
        meta = {name: self._nodes([value], {})[0] for name, value in document.meta.items()}
        return replace(document, blocks=self._nodes(document.blocks, {}), meta=meta)

    def _value(self, value: Any, look: Look) -> Any:
        if isinstance(value, list):
            return self._nodes(value, look)
        if not isinstance(value, dict):
            return value
        return {key: self._value(inner, look) for key, inner in value.items()}

    def _nodes(self, values: list[Any], look: Look) -> list[Any]:
        nodes: list[Any] = []
        for value in values:
            node_type = value.get("t", "") if isinstance(value, dict) else ""
            if node_type in ("Str", "Space"):
                nodes.append(value)
                continue
            write = _NODE_WRITERS.get(node_type)
            if self._page_break and node_type in _WITHOUT_PAGE_BREAK:
                nodes += self._leaf({"t": "Para", "c": []}, {})
            with self._leaving_out:
                nodes += write(self, value, look) if write else [self._value(value, look)]
                continue
            nodes.append(value)
        return nodes

    def _raw(self, code: str) -> list[Node]:
        return [{"t": "RawInline", "c": [self.format, code]}] if code and self.format else []

    def _div(self, node: Node, look: Look) -> list[Node]:
        attributes, blocks = node["c"]
        own = look_of(attributes)
        self._page_break |= {name: own.pop(name) for name in list(own) if name == "page-break"}
        inside, others = self._nodes(blocks, look | own), _without_look(attributes)
        return inside if others == _NO_ATTRIBUTES else [{"t": "Div", "c": [others, inside]}]

    def _leaf(self, node: Node, look: Look) -> list[Node]:
        """Write a paragraph, heading or title with the look around it."""
        *others, inlines = node["c"] if node["t"] == "Header" else [node["c"]]
        if others:
            look, others[1] = look | look_of(others[1]), _without_look(others[1])
        elif node["t"] == "MetaInlines" and [inner["t"] for inner in inlines] == ["Span"]:
            look, inlines = look_of(inlines[0]["c"][0]), inlines[0]["c"][1]
        direction = {"direction": "rtl"} if is_rtl(plain_text(inlines)) else {}
        code = self._raw(self.paragraph(look | self._page_break | direction))
        self._page_break = {}
        inside = self._nodes(inlines, {name: look[name] for name in ("size", "color") if name in look})
        inside = [*code, *(self._phrases(inside) if node["t"] in ("Para", "Plain") else inside)]
        return [{"t": node["t"], "c": [*others, inside] if others else inside}]

    def _phrases(self, inlines: list[Node]) -> Iterator[Node]:
        for is_text, group in groupby(inlines, lambda node: node["t"] in ("Str", "Space")):
            nodes = list(group)
            text = "".join(node.get("c", " ") for node in nodes) if is_text else ""
            if code := self._raw(self.words(text.strip(" "))):
                nodes = [*[SPACE] * text.startswith(" "), *code, *[SPACE] * text.endswith(" ")]
            yield from nodes

    def _span(self, node: Node, look: Look) -> list[Node]:
        attributes, inlines = node["c"]
        inner, others = look | look_of(attributes), _without_look(attributes)
        inside = self._nodes(inlines, inner)
        if inner != look:
            before, after = self.text(inner, look)
            inside = [*self._raw(before), *inside, *self._raw(after)]
        return inside if others == _NO_ATTRIBUTES else [{"t": "Span", "c": [others, inside]}]

    def _definition_list(self, node: Node, look: Look) -> list[Node]:
        items = []
        for term, definitions in node["c"]:
            [paragraph] = self._leaf({"t": "Plain", "c": term}, look)
            items.append([paragraph["c"], self._nodes(definitions, look)])
        return [{"t": "DefinitionList", "c": items}]

    def _image(self, node: Node, look: Look) -> list[Node]:
        return [node, *self._raw(self.description(plain_text(node["c"][1])))]

    def _note(self, node: Node, look: Look) -> list[Node]:
        return [{"t": "Note", "c": self._nodes(node["c"], {})}]


_NODE_WRITERS = {
    "Div": LookWriter._div, "Header": LookWriter._leaf, "Para": LookWriter._leaf, "Plain": LookWriter._leaf,
    "MetaInlines": LookWriter._leaf, "Span": LookWriter._span, "Note": LookWriter._note,
    "DefinitionList": LookWriter._definition_list, "Image": LookWriter._image,
}  # fmt: skip


class DocxLooks(LookWriter):
    """Writes the elements `paragraph` and `text` into a docx file. Both change the look until the paragraph ends."""

    format = "openxml"

    def text(self, look: Look, outer: Look) -> tuple[str, str]:
        return f"<text{_markup(look)}/>", f"<text{_markup(outer)}/>"


class OdtLooks(LookWriter):
    """Writes the elements `paragraph` and `description`, and spans with looks as attributes, into an odt file."""

    format = "opendocument"

    def text(self, look: Look, outer: Look) -> tuple[str, str]:
        return f'<text:span look="1"{_markup(look)}>', "</text:span>"

    def description(self, text: str) -> str:
        return f"<description>{escape(text)}</description>" if text else ""

    def words(self, text: str) -> str:
        """Return escaped text, since pandoc 3.9 needs 200 bytes for each letter, or "" for successive spaces."""
        return "" if _WHITE_SPACE.search(text) else escape(text, {'"': "&quot;"})


_RTF_WORDS = {
    "left": r"\ql ", "center": r"\qc ", "right": r"\qr ", "justify": r"\qj ", "before": r"\pagebb ", "rtl": r"\rtlpar ",
}  # fmt: skip


class RtfLooks(LookWriter):
    """Writes RTF control words. `colors` are the colours after the two colours that pandoc defines."""

    format = "rtf"

    def __init__(self, job: Job) -> None:
        LookWriter.__init__(self, job)
        self.colors: dict[str, int] = {}

    def paragraph(self, look: Look) -> str:
        if "direction" in look:
            look = {"align": "right"} | look
        words = [_RTF_WORDS[look[name]] for name in ("direction", *PARAGRAPH_LOOKS) if name in look]
        shading = {"shading": look["background"]} if "background" in look else {}
        return "".join(words) + self._words({name: look[name] for name in ("size", "color") if name in look} | shading)

    def text(self, look: Look, outer: Look) -> tuple[str, str]:
        return "{" + self._words(look), "}"

    def _words(self, look: Look) -> str:
        size = rf"\fs{round(2 * float(look['size'][:-2]))} " if "size" in look else ""
        words = (("color", "cf"), ("background", r"chshdng0\chcbpat"), ("shading", r"shading0\cbpat"))
        return size + "".join(rf"\{word}{self._color(look[name])} " for name, word in words if name in look)

    def _color(self, color: str) -> int:
        return self.colors.setdefault(color, len(self.colors) + 3)


_BESIDE_TITLE = ("subtitle", "author", "date", "abstract")
_NOT_IN_TEMPLATE = ("subtitle", "abstract")  # the metadata that pandoc's templates for RTF and plain text do not show
_FORMATTING = ("Emph", "Strong", "SmallCaps", "Underline", "Strikeout")


def html(document: Document, job: Job) -> bytes:
    """Return the document as one HTML page with embedded pictures and without scripts."""
    placeholders = Placeholders(document.resources, job)
    page = _page(document, placeholders.uris, job)
    return placeholders.insert(page, base64.b64encode)


def zipped_html(document: Document, job: Job) -> bytes:
    """Return the document as a zip file with one HTML page and the folder `images` with the pictures."""
    targets = {name: f"images/{name}" for name in document.resources}
    page = _page(document, targets, job)
    images = {f"images/{name}": data for name, data in document.resources.items()}
    return zipped({f"{_file_stem(postprocess.title_of(job))}.html": page, **images})


def _file_stem(name: str) -> str:
    """Convert a name to a file name that every operating system accepts.

    >>> _file_stem("Annual report 2026/27: final"), _file_stem("..")
    ('Annual report 2026_27_ final', 'document')
    """
    return re.sub(r'[\x00-\x1f<>:"/\\|?*]', "_", name).strip(" .")[:100] or "document"


def _page(document: Document, targets: Mapping[str, str], job: Job) -> bytes:
    document = _with_image_targets(css(_with_metadata_as_text(document)), targets)
    parts = {"page-header": _page_lines(document.header), "page-footer": _page_lines(document.footer)}
    document = replace(document, meta=document.meta | parts)
    with as_file(files(__package__) / "page.html") as template:
        options = ("--standalone", f"--metadata=pagetitle:{postprocess.title_of(job)}", "--mathml", "--wrap=none")
        # The sandbox lets pandoc read the files that its options name.
        return pandoc.write(document, "html5", job, *options, f"--template={template}")


def _page_lines(lines: tuple[str, ...]) -> Node:
    """Return the lines of a header or footer for the template. A web page is the page 1 of 1."""
    texts = [line.translate({ord(PAGE_NUMBER): "1", ord(PAGE_COUNT): "1"}) for line in lines if re.search(r"\w", line)]
    parts = ([text_inlines(part) for part in text.split("\t")] for text in texts)
    spans = ([{"t": "Span", "c": [_NO_ATTRIBUTES, inlines]} for inlines in line] for line in parts)
    return {"t": "MetaBlocks", "c": [{"t": "Para", "c": line} for line in spans]}


def text(document: Document, job: Job) -> bytes:
    """Return the document as UTF-8 text with a byte order mark, CRLF line ends, and alternative texts for pictures."""
    unformatted = _without_formatting(LookWriter(job).document(_with_metadata_as_text(document, _NOT_IN_TEMPLATE)))
    plain = pandoc.write(unformatted, "plain", job, "--wrap=none", "--columns=100", *_standalone(document))
    lines = plain.decode("utf-8").replace("\u00a0", " ").splitlines()
    return "\r\n".join([*lines, ""]).encode("utf-8-sig") if lines else b"\xef\xbb\xbf"


_MARKDOWN = "markdown-simple_tables-multiline_tables"  # tables are of pipes, or of grids for cells of several lines


def markdown(document: Document, job: Job) -> bytes:
    """Return the document as Markdown in UTF-8 with embedded pictures."""
    tree = LookWriter(job).document(document)
    text, placeholders = _embedded(tree, _MARKDOWN, job, "--wrap=none", *_standalone(document))
    return placeholders.insert(text, base64.b64encode)


def rtf(document: Document, job: Job) -> bytes:
    """Return the document as an RTF file."""
    looks = RtfLooks(job)
    prepared = _with_metadata_as_text(_without_inner_tables(document), _NOT_IN_TEMPLATE)
    tree = looks.document(_with_png_for_gif(prepared, job))
    text, placeholders = _embedded(tree, "rtf", job, "--standalone")
    return placeholders.insert(postprocess.rtf(text, document, looks.colors), binascii.hexlify)


def _without_inner_tables(document: Document) -> Document:
    """Replace the tables in tables by their blocks, since pandoc's RTF has their cells as cells of the outer table."""

    def as_blocks(table: Node) -> Node:
        _, (_, caption), _, (_, head), bodies, (_, foot) = table["c"]
        rows = [*head, *(row for _, _, upper, lower in bodies for row in (*upper, *lower)), *foot]
        inner = [block for _, cells in rows for cell in cells for block in cell[4]]
        return {"t": "Div", "c": [["", [], []], [*caption, *inner]]}

    def flat(table: Node) -> Node:
        return {"t": "Table", "c": replace_nodes(Document(table["c"]), {"Table": as_blocks}).blocks}

    return replace_nodes(document, {"Table": flat})


def _with_png_for_gif(document: Document, job: Job) -> Document:
    """Convert the GIF pictures to PNG, since RTF has no GIF. The names stay the same."""

    gifs = {name: open_image(data, job.limits) for name, data in document.resources.items() if name.endswith(".gif")}
    pngs = {name: encode_image(load_pixels(image), "PNG").data for name, image in gifs.items()}
    return replace(document, resources={**document.resources, **pngs})


def _with_metadata_as_text(document: Document, never_shown: tuple[str, ...] = ()) -> Document:
    """Move metadata that a template does not show to the text: `never_shown`, and all if there is no title."""
    moved = never_shown if "title" in document.meta else _BESIDE_TITLE
    values = [document.meta[name] for name in _BESIDE_TITLE if name in moved and name in document.meta]
    parts = (part for value in values for part in (value["c"] if value["t"] == "MetaList" else [value]))
    blocks = [{"t": "Para", "c": text_inlines(plain_text(part))} for part in parts]
    meta = {name: value for name, value in document.meta.items() if name not in moved}
    return replace(document, blocks=[*blocks, *document.blocks], meta=meta)


def odt(document: Document, job: Job) -> bytes:
    """Return the document as an OpenDocument text (odt)."""
    archive, placeholders = _embedded(OdtLooks(job).document(document), "odt", job)
    return postprocess.odt(archive, placeholders, document, job)


def docx(document: Document, job: Job) -> bytes:
    """Return the document as a Word document (docx)."""
    archive, placeholders = _embedded(DocxLooks(job).document(document), "docx", job)
    return postprocess.docx(archive, placeholders, document, job)


def epub(document: Document, job: Job) -> bytes:
    """Return the document as an EPUB 3 book. The book's identifier is a hash of the document."""
    identifier = f"--metadata=identifier:urn:uuid:{uuid5(NAMESPACE_URL, document.pack().hex())}"
    above, below = (_page_lines(lines)["c"] for lines in (document.header, document.footer))
    document = _with_metadata_as_text(document)
    document = replace(document, blocks=[*above, *document.blocks, *below])
    options = [identifier, "--metadata=lang:und", "--mathml"]
    if "title" not in document.meta:  # a book must have a title, but this title needs no title page
        options += [f"--metadata=title:{postprocess.title_of(job)}", "--epub-title-page=false"]
    return postprocess.epub(*_embedded(css(document), "epub3", job, *options), job)


def _standalone(document: Document) -> tuple[str, ...]:
    """Return ("--standalone",), with which pandoc writes the title, or () if the document has no metadata."""
    return ("--standalone",) if document.meta else ()


def _embedded(document: Document, writer: str, job: Job, *options: str) -> tuple[bytes, Placeholders]:
    """Return the file that pandoc writes with placeholders for the pictures, and the placeholders."""
    placeholders = Placeholders(document.resources, job)
    reference = [reference_option(writer, document, job)] if writer in ("docx", "odt") else []
    tree = _with_image_targets(document, placeholders.uris)
    return pandoc.write(tree, writer, job, *options, *reference), placeholders


def _with_image_targets(document: Document, targets: Mapping[str, str]) -> Document:
    def with_target(image: Node) -> Node:
        attributes, alt, (name, title) = image["c"]
        return {"t": "Image", "c": [attributes, alt, [targets.get(name, ""), title]]}

    return replace_nodes(document, {"Image": with_target}) if document.resources else document


def _without_formatting(document: Document) -> Document:
    def alt_text(image: Node) -> Node:
        description = plain_text(image["c"][1])
        return {"t": "Str", "c": f"[{description}]" if description else ""}

    changes: dict[str, Callable[[Node], Node]] = {
        **dict.fromkeys(_FORMATTING, lambda node: {"t": "Span", "c": [_NO_ATTRIBUTES, node["c"]]}), "Image": alt_text,
        "Figure": lambda it: {"t": "Div", "c": [_NO_ATTRIBUTES, [*it["c"][2], *it["c"][1][1]]]},  # the caption below
    }  # fmt: skip
    return replace_nodes(document, changes)
