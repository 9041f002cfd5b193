"""Writes documents with pandoc in all export formats except PDF, which pdf.py writes."""

from __future__ import annotations

import base64
import binascii
import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import as_file, files
from uuid import NAMESPACE_URL, uuid5

from ..engines.images import encode_image, load_pixels, open_image
from ..input.native_package import ZIP_EPOCH
from ..job import Job
from . import pandoc, postprocess
from .clean import plain_text
from .model import Document, Node, replace_nodes, text_inlines
from .placeholders import Placeholders
from .reference_files import reference_option
from .write_looks import DocxLooks, LookWriter, OdtLooks, RtfLooks, css

_FORMATTING = ("Emph", "Strong", "SmallCaps", "Underline", "Strikeout")


def html(document: Document, job: Job) -> bytes:
    """Return the document as one HTML page with embedded pictures and without scripts."""
    placeholders = Placeholders(document.resources, job)
    page = _page(_with_image_targets(css(document), placeholders.uris), job)
    return placeholders.insert(page, base64.b64encode)


def zipped_html(document: Document, job: Job) -> bytes:
    """Return the document as a zip file with one HTML page and the folder `images` with the pictures."""
    page = _page(_with_image_targets(css(document), {name: f"images/{name}" for name in document.resources}), job)
    images = {f"images/{name}": data for name, data in document.resources.items()}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name, data in {f"{_file_stem(postprocess.title_of(job))}.html": page, **images}.items():
            file.writestr(zipfile.ZipInfo(name, ZIP_EPOCH), data, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def _file_stem(name: str) -> str:
    """Convert a name to a file name that every operating system accepts.

    >>> _file_stem("Annual report 2026/27: final"), _file_stem("..")
    ('Annual report 2026_27_ final', 'document')
    """
    return re.sub(r'[\x00-\x1f<>:"/\\|?*]', "_", name).strip(" .")[:100] or "document"


def _page(document: Document, job: Job) -> bytes:
    with as_file(files(__package__) / "page.html") as template:
        options = ("--standalone", f"--metadata=pagetitle:{postprocess.title_of(job)}", "--mathml", "--wrap=none")
        # The sandbox lets pandoc read the files that its options name.
        return pandoc.write(document, "html5", job, *options, f"--template={template}")


def text(document: Document, job: Job) -> bytes:
    """Return the document as UTF-8 text with a byte order mark, CRLF line ends, and alternative texts for pictures."""
    unformatted = _without_formatting(LookWriter().document(_with_subtitle(document)))
    plain = pandoc.write(unformatted, "plain", job, "--wrap=none", "--columns=100", *_standalone(document))
    lines = plain.decode("utf-8").replace("\u00a0", " ").splitlines()
    return "\r\n".join([*lines, ""]).encode("utf-8-sig") if lines else b"\xef\xbb\xbf"


def markdown(document: Document, job: Job) -> bytes:
    """Return the document as Markdown in UTF-8 with embedded pictures."""
    text, placeholders = _embedded(
        LookWriter().document(document), "markdown", job, "--wrap=none", *_standalone(document)
    )
    return placeholders.insert(text, base64.b64encode)


def rtf(document: Document, job: Job) -> bytes:
    """Return the document as an RTF file."""
    looks = RtfLooks()
    tree = looks.document(_with_png_for_gif(_with_subtitle(_without_inner_tables(document)), job))
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
        content = replace_nodes(Document(blocks=table["c"]), {"Table": as_blocks}).blocks
        return {"t": "Table", "c": content}

    return replace_nodes(document, {"Table": flat})


def _with_png_for_gif(document: Document, job: Job) -> Document:
    """Convert the GIF pictures to PNG, since RTF has no GIF. The names stay the same."""

    def as_png(data: bytes) -> bytes:
        return encode_image(load_pixels(open_image(data, job.limits)), "PNG").data

    resources = {name: as_png(data) if name.endswith(".gif") else data for name, data in document.resources.items()}
    return replace(document, resources=resources)


def _with_subtitle(document: Document) -> Document:
    """Insert the subtitle and the abstract, which pandoc's templates for RTF and plain text do not show."""
    values = [document.meta[name] for name in ("subtitle", "abstract") if name in document.meta]
    blocks: list[Node] = [{"t": "Para", "c": text_inlines(plain_text(value))} for value in values]
    return replace(document, blocks=[*blocks, *document.blocks])


def odt(document: Document, job: Job) -> bytes:
    """Return the document as an OpenDocument text (odt)."""
    archive, placeholders = _embedded(OdtLooks().document(document), "odt", job, reference_option("odt", job))
    return postprocess.odt(archive, placeholders, document, job)


def docx(document: Document, job: Job) -> bytes:
    """Return the document as a Word document (docx)."""
    archive, placeholders = _embedded(DocxLooks().document(document), "docx", job, reference_option("docx", job))
    return postprocess.docx(archive, placeholders, document, job)


def epub(document: Document, job: Job) -> bytes:
    """Return the document as an EPUB 3 book. The book's identifier is a hash of the document."""
    identifier = f"--metadata=identifier:urn:uuid:{uuid5(NAMESPACE_URL, document.pack().hex())}"
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
    return pandoc.write(_with_image_targets(document, placeholders.uris), writer, job, *options), placeholders


def _with_image_targets(document: Document, targets: Mapping[str, str]) -> Document:
    def with_target(image: Node) -> Node:
        attributes, alt, (name, title) = image["c"]
        return {"t": "Image", "c": [attributes, alt, [targets.get(name, ""), title]]}

    return replace_nodes(document, {"Image": with_target})


def _without_formatting(document: Document) -> Document:
    def alt_text(image: Node) -> Node:
        description = plain_text(image["c"][1])
        return {"t": "Str", "c": f"[{description}]" if description else ""}

    def plain(node: Node) -> Node:
        return {"t": "Span", "c": [["", [], []], node["c"]]}

    return replace_nodes(document, dict.fromkeys(_FORMATTING, plain) | {"Image": alt_text})
